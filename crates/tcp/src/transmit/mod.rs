//! When a short segment may leave.

/// The choice of a transmission policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transmit {
    /// At once.
    NoDelay,
    /// Nagle's rule, each segment judged alone: a short one waits while anything is unacknowledged (RFC 896;
    /// RFC 9293, section 3.7.4).
    NagleStrict,
}
