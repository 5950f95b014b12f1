//! The policy of draft-doupnik-tcpimpl-nagle-mode-00, section 2.1, with its optional rule 3: a short segment without
//! the end of data is also sent, if more than a full segment may be sent at this opportunity.
//!
//! Rule 3 uses min(available, allowed). Silly window avoidance still decides about a segment that the window makes
//! short. RFC 1122, section 4.2.3.4, requires this, and the draft permits that it changes `allowed` ("heuristics in the
//! transmitter may modify the calculation", section 2.0).

use super::{Before, Situation, doupnik};
use crate::record::reason::Hold;

pub(super) fn hold(s: &Situation) -> Option<Hold> {
    match s.before {
        Before::FullSegments => None,
        Before::Nothing => doupnik::hold(s),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{End, Transmit, Verdict, judge, tests::BASE};
    use super::*;

    #[test]
    fn a_short_segment_without_the_end_follows_full_segments() {
        let s = Situation { available: 1, end: End::More, before: Before::FullSegments, ..BASE };
        assert_eq!(judge(&Transmit::DoupnikLiberal, &s), Verdict::Send(1));
    }

    #[test]
    fn a_short_segment_alone_waits_for_more() {
        let s = Situation { available: 999, end: End::More, ..BASE };
        assert_eq!(judge(&Transmit::DoupnikLiberal, &s), Verdict::Hold(Hold::EndOfData));
        assert_eq!(
            judge(&Transmit::DoupnikLiberal, &Situation { end: End::Marked, ..s }),
            Verdict::Send(999)
        );
    }
}
