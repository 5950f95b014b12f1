//! A snapshot of the connection state, in the terms of Linux's TCP_INFO where it has one.

use crate::congestion::PathModel;
use crate::congestion::ecn::AccurateEcnInfo;
use crate::record::event::Phase;
use crate::time::Span;

/// The outstanding segments of a sender that knows each of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Segments {
    /// Sent and not acknowledged.
    pub unacknowledged: u32,
    /// Of these, reported by SACK.
    pub sacked: u32,
    /// Of these, marked lost and not yet retransmitted.
    pub lost: u32,
    /// Of these, retransmitted, and neither acknowledged, reported nor marked lost since; not what only tail loss probes have
    /// sent again.
    pub resent: u32,
    /// Of the retransmitted ones, those that no longer count as lost: an undo has removed the mark.
    pub spared: u32,
}

/// A snapshot of a connection for its user. Lengths are in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Info {
    /// The phase of the sender.
    pub phase: Phase,
    /// Bytes sent and not acknowledged.
    pub unacknowledged: u64,
    /// Of these, reported as received by SACK (RFC 2018), or counted by duplicate ACKs where these count as reports.
    pub sacked: u64,
    /// Of these, marked lost and not yet retransmitted.
    pub lost: u64,
    /// Of these, retransmitted and not yet acknowledged or reported by SACK.
    pub resent: u64,
    /// Of these, what only tail loss probes have sent again. Linux counts it neither as lost nor as retransmitted.
    pub probed: u64,
    /// The window of a recovery with PRR, which takes the place of cwnd, in bytes.
    pub recovery_window: Option<u64>,
    /// Whether a congestion mark is reducing the window gradually (TCP_CA_CWR).
    pub reduces_for_mark: bool,
    /// Bytes received out of order.
    pub out_of_order: u64,
    /// Consecutive duplicate ACKs.
    pub dup_acks: u32,
    /// Consecutive retransmissions without an ACK. In Linux those into a closed window do not count.
    pub unanswered: u8,
    /// How often the retransmission timeout has been doubled.
    pub backoff: u8,
    /// How often of these a window probe has doubled it.
    pub backoff_of_probes: u8,
    /// Whether the timer probes a closed window.
    pub probes_window: bool,
    /// The shift of the windows that the peer announces.
    pub peer_shift: u8,
    /// The shift of the windows that we announce.
    pub own_shift: u8,
    /// Whether both sides use timestamps.
    pub timestamps: bool,
    /// Whether both sides use SACK.
    pub sack: bool,
    /// The mean deviation of the RTT, if the estimator of the timeout has one.
    pub rtt_deviation: Option<Span>,
    /// The least recent RTT, if losses are detected by time.
    pub min_rtt: Option<Span>,
    /// The number of ACKs that have shown reordering, if losses are detected by time.
    pub reorderings: u32,
    /// The largest reordering distance in bytes, if losses are detected by time.
    pub reordering_extent: u64,
    /// The number of duplicate ACKs that reveal a loss, if they are counted as reports of a peer without SACK.
    pub dup_acks_needed: Option<u64>,
    /// The pacing rate in bytes per second, if the sender paces.
    pub pacing_rate: Option<u64>,
    /// The last delivery rate in bytes per second, if it is measured. An application-limited sample counts only if it
    /// is not lower.
    pub delivery_rate: Option<u64>,
    /// Whether the delivery rate was application-limited.
    pub is_app_limited: bool,
    /// The path model of congestion control, if it has one.
    pub path: Option<PathModel>,
    /// The path MTU in bytes; 0 if it is unknown.
    pub path_mtu: u32,
    /// Whether ECN was negotiated.
    pub ecn: bool,
    /// Whether data of the peer that could be marked has arrived since.
    pub ecn_seen: bool,
    /// The counters of both ends, if accurate ECN is in use.
    pub accurate_ecn: Option<AccurateEcnInfo>,
}
