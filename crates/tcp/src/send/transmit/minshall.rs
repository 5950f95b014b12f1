//! Minshall's rule (draft-minshall-nagle-01; Linux since 2.4, `tcp_minshall_check()`): a short segment waits only while an
//! earlier *short* segment is unacknowledged. So there is never more than one of them in the network, and a tail behind full
//! segments leaves at once.

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
    fn full_segments_hold_nothing_up() {
        let s = Situation { available: 1, unacknowledged: 9000, ..BASE };
        assert_eq!(judge(&Transmit::Minshall, &s), Verdict::Send(1));
    }

    #[test]
    fn a_short_segment_holds_up_the_next() {
        let s = Situation { available: 999, unacknowledged: 9000, short_unacknowledged: 1, ..BASE };
        assert_eq!(judge(&Transmit::Minshall, &s), Verdict::Hold(Hold::Minshall));
    }
}
