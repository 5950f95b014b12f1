//! What a delayed-ACK policy is given, and what it answers.

use crate::time::{Span, Time};

/// When the ACK of a segment in order is due.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Due {
    /// Now.
    Now,
    /// At this instant, unless another segment carries it earlier.
    At(Time),
}

/// The input of a policy with state when data arrives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    /// Payload bytes of the segment.
    pub(crate) len: u32,
    /// Bytes received in order since the start of the connection, with this segment.
    pub(crate) received: u64,
    /// How many of them are not acknowledged.
    pub(crate) unacknowledged: u64,
    /// Bytes that the application has not read, with this segment.
    pub(crate) unread: u64,
    /// How many of them do not make the window smaller than at the last ACK, besides those that are not acknowledged.
    pub(crate) headroom: u32,
    /// The window that is open.
    pub(crate) window: u32,
    /// Payload bytes of a full segment of ours.
    pub(crate) mss: u32,
    /// Payload bytes of a segment that the MSS that we announced permits.
    pub(crate) announced: u32,
    /// The present RTO, and the smoothed RTT if there is one.
    pub(crate) rto: Span,
    pub(crate) srtt: Option<Span>,
    /// The deadline of the running delayed ACK timer.
    pub(crate) armed: Time,
}
