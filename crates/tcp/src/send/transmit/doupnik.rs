//! The policy of draft-doupnik-tcpimpl-nagle-mode-00, section 2.1, rules 1 and 2: all full segments, and a partial one at once
//! if it includes the end of application data, otherwise not. What is unacknowledged plays no part.
//!
//! The end meant is that of *all* that waits: where several writes are queued, the ends between them are joined, and only the
//! piece that reaches the last one includes the end. A write that was handed over in part has not ended yet.

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
    fn the_end_of_data_leaves_whatever_is_unacknowledged() {
        let s = Situation { available: 1, unacknowledged: 9000, short_unacknowledged: 9000, ..BASE };
        assert_eq!(judge(&Transmit::Doupnik, &s), Verdict::Send(1));
    }

    #[test]
    fn a_piece_within_the_data_waits_for_more_even_if_nothing_is_unacknowledged() {
        let s = Situation { available: 999, end: End::More, ..BASE };
        assert_eq!(judge(&Transmit::Doupnik, &s), Verdict::Hold(Hold::EndOfData));
        let behind = Situation { before: Before::FullSegments, ..s };
        assert_eq!(judge(&Transmit::Doupnik, &behind), Verdict::Hold(Hold::EndOfData));
    }
}
