//! Sums over the life of one direction, and what they show of its receiver.

/// Sums over the life of the direction.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::diagnosis) struct Totals {
    /// Payload bytes acknowledged.
    pub(in crate::diagnosis) bytes: u64,
    /// Segments with new data.
    pub(in crate::diagnosis) segments: u64,
    /// Retransmissions.
    pub(in crate::diagnosis) resent: u64,
    /// The first retransmission, in nanoseconds since the begin.
    pub(in crate::diagnosis) first_loss: Option<u64>,
    /// The largest payload of a segment.
    pub(in crate::diagnosis) segment: u32,
    /// Whether data was larger than a segment may be, because the capture was taken above segmentation offload.
    pub(in crate::diagnosis) offload: bool,
    /// The last time at which data was acknowledged.
    pub(in crate::diagnosis) last_ack: u64,
    /// Whether bursts show the round trip between here and the sender, in place of timestamps.
    pub(in crate::diagnosis) by_bursts: bool,
    /// The round trip from here to the receiver in nanoseconds, by the handshake; 0 if it is not known.
    pub(in crate::diagnosis) handshake: u64,
    /// Whether the handshake shows that the capture was taken in the host of the sender.
    pub(in crate::diagnosis) in_host: bool,
    /// The time in nanoseconds that a link which others use needs for a segment, if segments have passed such a link before.
    pub(in crate::diagnosis) shared_link: Option<u64>,
    /// Whether segments that follow each other come at even times.
    pub(in crate::diagnosis) even: bool,
    /// Whether segments had passed the bottleneck before they were captured.
    pub(in crate::diagnosis) behind_bottleneck: bool,
    /// How regularly data is acknowledged.
    pub(in crate::diagnosis) regular: Regular,
}

/// How many ACKs come outside of repairs, and how many of them stand for others that are missing.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::diagnosis) struct Regular {
    acks: u64,
    /// Those of more segments than a receiver acknowledges together.
    stretched: u64,
}

/// So many ACKs show whether some are lost.
const LEAST_ACKS: u64 = 50;

impl Regular {
    /// An ACK of `fresh` new bytes.
    pub(in crate::diagnosis) fn note(&mut self, fresh: i64, segment: i64) {
        self.acks += 1;
        self.stretched += u64::from(fresh > 3 * segment);
    }

    /// Whether there were enough ACKs, and hardly any was missing: of 40 at most one.
    pub(in crate::diagnosis) const fn is_sure(&self) -> bool {
        self.acks >= LEAST_ACKS && self.stretched * 40 <= self.acks
    }
}

/// Whether a receiver delays its ACKs, by how many segments they cover.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::diagnosis) struct DelayedAcks {
    /// ACKs of one and of two segments.
    single: u64,
    double: u64,
}

impl DelayedAcks {
    /// Whether an ACK of this many new bytes was sent at once: a receiver that delays ACKs sends those of single segments late.
    pub(in crate::diagnosis) fn is_at_once(&mut self, fresh: i64, segment: i64) -> bool {
        let single = fresh * 2 < 3 * segment;
        if single && fresh > 0 {
            self.single += 1;
        } else if fresh > 0 && fresh * 2 < 5 * segment {
            self.double += 1;
        }
        !single || self.double * 8 < self.single
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_acks_or_some_of_many_segments_are_not_regular() {
        let of = |acks: &[(u64, i64)]| {
            let mut regular = Regular::default();
            for &(count, segments) in acks {
                (0..count).for_each(|_| regular.note(segments * 1000, 1000));
            }
            regular.is_sure()
        };
        assert!(of(&[(100, 2)]) && of(&[(99, 2), (1, 20)]));
        assert!(!of(&[(20, 2)]), "too few");
        assert!(!of(&[(90, 2), (10, 5)]), "one of ten stands for others");
    }
}
