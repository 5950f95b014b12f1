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
    /// Recoveries and timeouts that turned out a mistake, and were undone.
    pub undone: u32,
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
    /// Segments received whose data came with a congestion mark (RFC 3168).
    pub marks_received: u32,
    /// Packets of ours that the peer tells it has received with a mark, where it counts them (RFC 9768).
    pub marks_told: u32,
    /// Times the window shrank because the peer told of marks.
    pub ecn_reductions: u32,
    /// Segments sent to learn whether the path takes longer ones (RFC 4821).
    pub mtu_probes: u32,
    /// Of these, lost for their length.
    pub mtu_probes_lost: u32,
    /// Round-trip samples taken.
    pub rtt_samples: u64,
    /// Sum of the samples in nanoseconds.
    pub rtt_sum_ns: u64,
    /// Bytes delivered in place of others: an old duplicate taken for new data (RFC 1110). Only a driver whose payload
    /// offsets are the sender's own can know; a real network cannot.
    pub foreign_bytes: u64,
}

impl core::ops::AddAssign for Stats {
    /// The counters of both together.
    fn add_assign(&mut self, other: Self) {
        // Taken apart, so that a counter that is added to the type is not forgotten here.
        let Self {
            segments_sent,
            segments_received,
            retransmitted,
            timeouts,
            fast_retransmits,
            undone,
            naks_sent,
            naks_received,
            dup_acks_received,
            duplicates_received,
            challenge_acks,
            paws_drops,
            marks_received,
            marks_told,
            ecn_reductions,
            mtu_probes,
            mtu_probes_lost,
            rtt_samples,
            rtt_sum_ns,
            foreign_bytes,
        } = other;
        self.segments_sent += segments_sent;
        self.segments_received += segments_received;
        self.retransmitted += retransmitted;
        self.timeouts += timeouts;
        self.fast_retransmits += fast_retransmits;
        self.undone += undone;
        self.naks_sent += naks_sent;
        self.naks_received += naks_received;
        self.dup_acks_received += dup_acks_received;
        self.duplicates_received += duplicates_received;
        self.challenge_acks += challenge_acks;
        self.paws_drops += paws_drops;
        self.marks_received += marks_received;
        self.marks_told += marks_told;
        self.ecn_reductions += ecn_reductions;
        self.mtu_probes += mtu_probes;
        self.mtu_probes_lost += mtu_probes_lost;
        self.rtt_samples += rtt_samples;
        self.rtt_sum_ns += rtt_sum_ns;
        self.foreign_bytes += foreign_bytes;
    }
}
