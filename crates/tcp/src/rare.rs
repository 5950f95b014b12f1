//! What hardly any connection ever needs, kept out of the way of all others.

use crate::handshake::Reply;
use crate::time::Time;

/// Made when first needed.
#[derive(Debug, Default)]
pub(crate) struct Rare {
    /// A segment that stands outside the sequence: a reset.
    pub(crate) reply: Option<Reply>,
    /// SND.UP: position behind urgent data that we send, 0 if none.
    pub(crate) send_urgent: u64,
    /// Position behind the last short segment sent, under the policy that asks for it.
    pub(crate) short_end: u64,
    /// Position behind the data that a policy may hold no longer: uncorked, or kept back up to the ceiling.
    pub(crate) released: u64,
    /// What the delayed-ACK policy remembers, if it is one that does.
    pub(crate) acking: Option<Box<crate::acking::Memory>>,
    /// RCV.UP: position behind urgent data that the peer sends, 0 if none.
    pub(crate) receive_urgent: u64,
    /// Challenge ACKs sent in the second that began at the instant (RFC 5961, section 7).
    pub(crate) challenged: u32,
    pub(crate) challenged_since: Time,
    /// Keep-alive probes in a row without an answer.
    pub(crate) keep_alives: u8,
    /// Counters of what is out of the ordinary.
    pub(crate) counters: RareCounters,
}

/// See [`crate::stats::Stats`], of which these are a part.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RareCounters {
    pub(crate) naks_sent: u32,
    pub(crate) naks_received: u32,
    pub(crate) dup_acks_received: u32,
    pub(crate) duplicates_received: u32,
    pub(crate) challenge_acks: u32,
    pub(crate) paws_drops: u32,
    pub(crate) foreign_bytes: u64,
}

/// Counters that every connection moves.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counters {
    pub(crate) segments_sent: u64,
    pub(crate) segments_received: u64,
    pub(crate) retransmitted: u32,
    pub(crate) timeouts: u32,
    pub(crate) fast_retransmits: u32,
    pub(crate) rtt_samples: u32,
    pub(crate) rtt_sum_ns: u64,
}
