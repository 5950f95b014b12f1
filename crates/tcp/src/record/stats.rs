//! Counters of a connection.

/// The counters of a connection. They only grow and never overflow in practice.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Segments sent, of every kind.
    pub segments_sent: u64,
    /// Segments received, of every kind.
    pub segments_received: u64,
    /// Segments sent with data or a FIN that was sent before.
    pub retransmitted: u32,
    /// Expirations of the retransmission timer with data outstanding.
    pub timeouts: u32,
    /// Fast retransmits: entries into recovery without a timeout.
    pub fast_retransmits: u32,
    /// Recoveries and timeouts that were spurious and were undone.
    pub undone: u32,
    /// NAKs sent.
    pub naks_sent: u32,
    /// NAKs received.
    pub naks_received: u32,
    /// Duplicate ACKs received.
    pub dup_acks_received: u32,
    /// Segments received without new data.
    pub duplicates_received: u32,
    /// Challenge ACKs sent.
    pub challenge_acks: u32,
    /// Segments dropped because the timestamp was old (PAWS).
    pub paws_drops: u32,
    /// Data segments received with CE (RFC 3168).
    pub marks_received: u32,
    /// Our packets that the peer reports as received with CE (RFC 9768).
    pub marks_reported: u32,
    /// Segments sent with an ECN-capable codepoint. None: ECN was not negotiated, or the connection fell back.
    pub ecn_capable_sent: u32,
    /// Reductions of cwnd due to ECN feedback.
    pub ecn_reductions: u32,
    /// Path MTU probes sent (RFC 4821).
    pub mtu_probes: u32,
    /// Path MTU probes lost because of their length.
    pub mtu_probes_lost: u32,
    /// Round-trip samples taken.
    pub rtt_samples: u64,
    /// Sum of the samples in nanoseconds.
    pub rtt_sum_ns: u64,
    /// Bytes of an old duplicate that were accepted as new data (RFC 1110). Only a simulator can detect them, because
    /// its payload offsets are those of the sender.
    pub foreign_bytes: u64,
}

impl core::ops::AddAssign for Stats {
    /// Adds all counters.
    fn add_assign(&mut self, other: Self) {
        // The pattern names every field, so that the compiler reports a new counter that is missing here.
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
            marks_reported,
            ecn_capable_sent,
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
        self.marks_reported += marks_reported;
        self.ecn_capable_sent += ecn_capable_sent;
        self.ecn_reductions += ecn_reductions;
        self.mtu_probes += mtu_probes;
        self.mtu_probes_lost += mtu_probes_lost;
        self.rtt_samples += rtt_samples;
        self.rtt_sum_ns += rtt_sum_ns;
        self.foreign_bytes += foreign_bytes;
    }
}
