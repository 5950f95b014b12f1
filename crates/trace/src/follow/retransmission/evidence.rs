//! What is known when data is seen again. Must not live here: what follows from it.

use crate::follow::rtt::estimate::Estimate;
use crate::follow::stream::delivered::Overtaken;
use netspurt_tcp::time::Span;

/// The kind of the sender's loss recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in crate::follow) enum Phase {
    /// No recovery.
    #[default]
    Open,
    /// Recovery after duplicate ACKs or SACK.
    Fast,
    /// Recovery after a timeout.
    Timeout,
}

/// The facts when data is seen again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in crate::follow) struct Evidence {
    /// The segment is a SYN.
    pub(in crate::follow) opening: bool,
    /// Time since its last transmission; `None` if it was acknowledged too long ago.
    pub(in crate::follow) after: Option<Span>,
    /// Time since the last ACK or its last transmission, whichever is later.
    pub(in crate::follow) quiet: Span,
    /// Time since the last packet of the sender.
    pub(in crate::follow) idle: Span,
    /// Time since the last retransmission of the sender.
    pub(in crate::follow) repaired: Span,
    /// No data before it is outstanding.
    pub(in crate::follow) first: bool,
    /// No data after it was sent.
    pub(in crate::follow) last: bool,
    /// All of it was acknowledged or reported.
    pub(in crate::follow) arrived: bool,
    /// It was reported lost, and that may be the latest report the sender has received.
    pub(in crate::follow) lately: bool,
    /// It is the last outstanding segment, SACK is in use, and it was not retransmitted in this recovery.
    pub(in crate::follow) rescue: bool,
    /// It was retransmitted in this recovery.
    pub(in crate::follow) again: bool,
    /// Whether the IP identifications are equal; `None` if the sender does not use them.
    pub(in crate::follow) same_packet: Option<bool>,
    /// By its timestamp, in the usual unit of 1 ms, so much later than the transmission before it left: it is no copy of that.
    /// `None` if it did not, or without timestamps.
    pub(in crate::follow) left_after: Option<Span>,
    /// By its timestamp, so much later than the transmission before it, or than the one that opened its gap.
    pub(in crate::follow) by_clock: Option<Span>,
    /// A NAK has requested it since.
    pub(in crate::follow) asked: bool,
    /// Time since three duplicate ACKs or SACK reported a loss at the left edge; `None` if none did.
    pub(in crate::follow) known_for: Option<Span>,
    /// Consecutive duplicate ACKs.
    pub(in crate::follow) dup_acks: u32,
    /// Bytes after it that SACK has reported.
    pub(in crate::follow) reported_above: u64,
    /// No transmission of it was captured before.
    pub(in crate::follow) unseen: bool,
    /// SACK is in use.
    pub(in crate::follow) sacks: bool,
    /// The receiver has sent neither a duplicate ACK nor SACK so far.
    pub(in crate::follow) unasked: bool,
    /// Time since data after it was retransmitted in this recovery; `None` if none was.
    pub(in crate::follow) passed: Option<Span>,
    /// SACK is in use, and a segment sent after it was delivered.
    pub(in crate::follow) overtaken: Option<Overtaken>,
    /// The largest segment so far.
    pub(in crate::follow) segment: u32,
    /// The sender's recovery.
    pub(in crate::follow) phase: Phase,
    /// RTT from the capture point to the receiver.
    pub(in crate::follow) ahead: Estimate,
    /// RTT from the capture point to the sender.
    pub(in crate::follow) behind: Estimate,
}
