//! What applications contribute to the limit of a sender.

/// How the applications at both ends stand when a sender is served.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Apps {
    /// Bytes that have arrived at the other end and that its application has not read.
    pub(crate) unread: u64,
    /// Whether the sender's application has more to send, and no credit for it from its own protocol.
    pub(crate) waits_for_credit: bool,
}
