//! Counters of a connection, the same for every world.

/// What a connection has done so far. Counters only grow; they wrap never in practice.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Segments sent, of every kind.
    pub segments_sent: u64,
    /// Segments received, of every kind.
    pub segments_received: u64,
    /// Segments sent that carried data or FIN already sent before.
    pub retransmitted: u32,
    /// Times the retransmission timer ran out with something outstanding.
    pub timeouts: u32,
    /// Fast retransmits: entries into recovery without a timeout.
    pub fast_retransmits: u32,
    /// NAKs sent.
    pub naks_sent: u32,
    /// NAKs received.
    pub naks_received: u32,
    /// Duplicate ACKs received.
    pub dup_acks_received: u32,
    /// Segments received that carried nothing new.
    pub duplicates_received: u32,
    /// Challenge ACKs sent.
    pub challenge_acks: u32,
    /// Segments dropped because the timestamp was old (PAWS).
    pub paws_drops: u32,
    /// Round-trip samples taken.
    pub rtt_samples: u32,
    /// Sum of the samples in nanoseconds.
    pub rtt_sum_ns: u64,
    /// Bytes delivered in place of others: an old duplicate taken for new data (RFC 1110). Only a driver whose payload
    /// offsets are the sender's own can know; a real network cannot.
    pub foreign_bytes: u64,
}
