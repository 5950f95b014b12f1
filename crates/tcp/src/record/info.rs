//! What a connection is doing: a look at the state, in the terms of Linux's TCP_INFO where it has one.

use crate::congestion::PathModel;
use crate::congestion::ecn::AccurateEcnInfo;
use crate::record::event::Phase;
use crate::time::Span;

/// The state of a connection as its user may see it. Lengths are in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Info {
    /// Which phase the sender is in.
    pub phase: Phase,
    /// Bytes sent and not acknowledged.
    pub unacknowledged: u64,
    /// Of these, reported as received by SACK (RFC 2018).
    pub sacked: u64,
    /// Of these, taken for lost and not yet sent again.
    pub lost: u64,
    /// Of these, sent again and not yet known to have arrived.
    pub resent: u64,
    /// Duplicate ACKs in a row.
    pub dup_acks: u32,
    /// Retransmissions in a row without an answer.
    pub unanswered: u8,
    /// How often the retransmission timeout has been doubled.
    pub backoff: u8,
    /// The shift of the windows that the peer announces.
    pub peer_shift: u8,
    /// The shift of the windows that we announce.
    pub own_shift: u8,
    /// Whether both sides use timestamps.
    pub timestamps: bool,
    /// Whether both sides use SACK.
    pub sack: bool,
    /// The least round-trip time of late, where losses are noticed by time.
    pub min_rtt: Option<Span>,
    /// How many ACKs have shown that segments overtake each other, where losses are noticed by time.
    pub reorderings: u32,
    /// The most bytes by which one has got ahead of another, where losses are noticed by time.
    pub reordering_extent: u64,
    /// Bytes per second at which segments leave, if that is limited.
    pub pacing_rate: Option<u64>,
    /// Bytes per second that were last delivered, where that is measured: of the samples that the application limited only
    /// one that is no lower counts.
    pub delivery_rate: Option<u64>,
    /// Whether the application limited it.
    pub is_app_limited: bool,
    /// What congestion control knows of the path, if it goes by that.
    pub path: Option<PathModel>,
    /// The longest packets that leave because of what is known of the path, in bytes; 0 if nothing is.
    pub path_mtu: u32,
    /// What both ends have counted of marks, where ECN is accurate.
    pub accurate_ecn: Option<AccurateEcnInfo>,
}
