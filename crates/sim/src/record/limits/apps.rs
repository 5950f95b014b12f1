//! What applications contribute to the limit of a sender.

/// The state of the applications at both ends when a sender is served.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Apps {
    /// Bytes that have arrived at the other end and that its application has not read.
    pub(crate) unread: u64,
    /// Whether the sender's application has more to send but no credit from its own protocol.
    pub(crate) waits_for_credit: bool,
    /// Whether the sender's application has more to write and waits until enough of the send buffer is free.
    pub(crate) waits_for_room: bool,
}
