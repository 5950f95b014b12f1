//! Whether a sender paces: single full segments at even gaps that no ACK explains.

/// So many gaps in succession show a pace.
const LEAST_GAPS: u32 = 3;
/// A sender that paces sends so many segments in a round trip, or more. An application may write fewer at even intervals.
const IN_ROUND: u64 = 4;
/// Gaps of one pace differ by less than one of so many parts, and the jitter of a timer.
const SAME: u64 = 16;
const JITTER_NS: u64 = 20_000;
/// A pace changes with the rate of delivery: a gap that is longer by one of so many parts is still of it.
const LONGER: u64 = 4;

/// The gaps between the full segments of a sender.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    /// The last gap, in nanoseconds, and how many equal ones came in succession.
    gap: u64,
    equal: u32,
    /// How many of their segments came without an ACK.
    free: u32,
    /// The gap of the latest pace; 0 without one.
    known: u64,
}

impl Pace {
    /// A full segment was sent `gap` nanoseconds after the one before it; `woken` if an ACK came just before it. A round trip takes `round`
    /// now. Returns whether the segment came at the pace of its sender.
    pub(super) fn note(&mut self, gap: u64, woken: bool, round: u64) -> bool {
        let same = gap.abs_diff(self.gap) <= self.gap / SAME + JITTER_NS;
        if !same || gap <= 2 * JITTER_NS {
            (self.equal, self.free) = (0, 0);
        }
        self.gap = gap;
        self.equal += 1;
        self.free += u32::from(!woken);
        if self.equal >= LEAST_GAPS && self.free >= LEAST_GAPS && gap * IN_ROUND <= round {
            self.known = gap;
        }
        self.known > 0 && gap <= self.known + self.known / LONGER
    }

    /// Something other than a full segment of new data was sent: the next gap shows nothing.
    pub(super) fn interrupt(&mut self) {
        (self.gap, self.equal, self.free) = (0, 0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which of the segments at these gaps, in microseconds, came at a pace.
    fn paced(gaps: &[(u64, bool)]) -> Vec<bool> {
        let mut pace = Pace::default();
        gaps.iter().map(|&(gap, woken)| pace.note(gap * 1000, woken, 10_000_000)).collect()
    }

    #[test]
    fn even_gaps_that_no_ack_explains_show_a_pace() {
        let gaps = [2000, 2010, 1990, 2000, 2200].map(|gap| (gap, false));
        assert_eq!(paced(&gaps), [false, false, true, true, true]);
    }

    #[test]
    fn segments_that_acks_release_and_uneven_ones_show_none() {
        assert_eq!(paced(&[(2000, true); 5]), [false; 5]);
        assert_eq!(paced(&[(4000, false); 5]), [false; 5], "an application may write so");
        assert_eq!(paced(&[(2000, false), (0, false), (2000, false), (0, false), (2000, false)]), [false; 5]);
    }

    #[test]
    fn a_gap_that_is_much_longer_than_the_pace_is_not_of_it() {
        let gaps = [(2000, false), (2000, false), (2000, false), (9000, false), (2100, false)];
        assert_eq!(paced(&gaps), [false, false, true, false, true]);
    }
}
