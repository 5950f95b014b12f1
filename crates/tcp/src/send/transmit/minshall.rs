//! Minshall's rule (draft-minshall-nagle-01; Linux since 2.4, `tcp_minshall_check()`): a short segment waits only while
//! an earlier *short* segment is unacknowledged. Therefore at most one short segment is in flight, and a short segment
//! after full ones is sent immediately.

use super::Situation;
use crate::record::reason::Hold;

pub(super) fn hold(s: &Situation) -> Option<Hold> {
    (s.short_unacknowledged > 0).then_some(Hold::Minshall)
}

#[cfg(test)]
mod tests {
    use super::super::{Transmit, Verdict, judge, tests::BASE};
    use super::*;

    #[test]
    fn full_segments_do_not_delay_a_short_one() {
        let s = Situation { available: 1, unacknowledged: 9000, ..BASE };
        assert_eq!(judge(&Transmit::Minshall, &s), Verdict::Send(1));
    }

    #[test]
    fn a_short_segment_delays_the_next() {
        let s = Situation { available: 999, unacknowledged: 9000, short_unacknowledged: 1, ..BASE };
        assert_eq!(judge(&Transmit::Minshall, &s), Verdict::Hold(Hold::Minshall));
    }
}
