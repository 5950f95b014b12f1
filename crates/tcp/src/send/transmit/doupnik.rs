//! The policy of draft-doupnik-tcpimpl-nagle-mode-00, section 2.1, rules 1 and 2: full segments are sent, and a short
//! one only if it includes the end of application data. Unacknowledged data has no effect.
//!
//! The end is that of *all* unsent data. If several writes are queued, only the segment that reaches the end of the
//! last one includes the end. An incomplete write has no end yet.

use super::{End, Situation};
use crate::record::reason::Hold;

pub(super) fn hold(s: &Situation) -> Option<Hold> {
    (s.end == End::More).then_some(Hold::EndOfData)
}

#[cfg(test)]
mod tests {
    use super::super::{Before, Transmit, Verdict, judge, tests::BASE};
    use super::*;

    #[test]
    fn the_end_of_data_is_sent_regardless_of_unacknowledged_data() {
        let s = Situation { available: 1, unacknowledged: 9000, short_unacknowledged: 9000, ..BASE };
        assert_eq!(judge(&Transmit::Doupnik, &s), Verdict::Send(1));
    }

    #[test]
    fn a_short_segment_without_the_end_waits_even_if_nothing_is_unacknowledged() {
        let s = Situation { available: 999, end: End::More, ..BASE };
        assert_eq!(judge(&Transmit::Doupnik, &s), Verdict::Hold(Hold::EndOfData));
        let behind = Situation { before: Before::FullSegments, ..s };
        assert_eq!(judge(&Transmit::Doupnik, &behind), Verdict::Hold(Hold::EndOfData));
    }
}
