//! What a transmission policy is given.

use crate::config::choices::Cutting;
use crate::record::reason::Hold;

/// Decides whether a short segment waits. It is a pure function of the [`Situation`] and is evaluated again after every
/// change.
pub trait Policy: core::fmt::Debug + Send {
    /// What a short segment waits for; `None` if it is sent. If no ACK can end the wait ([`Hold::waits_for_ack`]), it
    /// ends after 200 ms without unacknowledged data.
    fn hold(&self, s: &Situation) -> Option<Hold>;

    /// Whether an ACK can release a segment that this policy holds back. Only then does the condition in brackets of
    /// RFC 9293, section 3.8.6.2.1, apply: nothing is unacknowledged.
    fn is_released_by_acks(&self) -> bool;
}

/// The kind of end of the unsent data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The last write is incomplete, so more data will follow.
    More,
    /// Application data ends here.
    Marked,
    /// No policy may hold it back. The application has closed or uncorked, the data is urgent or a retransmission, the
    /// send buffer has no space for more, or the ceiling is reached.
    Released,
}

/// What was sent at this opportunity, that is since the last write, segment or timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Before {
    /// No full segment.
    Nothing,
    /// At least one full segment, which precedes the short one.
    FullSegments,
}

/// The input of a policy.
#[derive(Clone, Copy, Debug)]
pub struct Situation {
    /// Bytes written and not yet sent.
    pub available: u64,
    /// Bytes that the windows permit.
    pub allowed: u64,
    /// Bytes of a full segment.
    pub mss: u32,
    /// Bytes sent and not acknowledged.
    pub unacknowledged: u64,
    /// Of these, the bytes before the end of the last short segment sent; zero if no short segment is outstanding.
    pub short_unacknowledged: u64,
    /// What was sent at this opportunity.
    pub before: Before,
    /// The kind of end of the data.
    pub end: End,
    /// The largest window that the peer ever announced.
    pub max_window: u32,
    /// When data is cut into segments.
    pub cutting: Cutting,
}
