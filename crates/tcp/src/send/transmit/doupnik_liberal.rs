//! The policy of draft-doupnik-tcpimpl-nagle-mode-00, section 2.1, with its optional rule 3: a partial segment also leaves if all
//! that may be sent at this opportunity is more than a full segment, though data does not end in it.
//!
//! Rule 3 speaks of min(available, allowed). A piece that the window cuts short is left to silly-window avoidance all the
//! same: RFC 1122, section 4.2.3.4, makes that a MUST, and the draft lets it shape `allowed` ("heuristics in the transmitter
//! may modify the calculation", section 2.0).

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
    fn a_piece_within_the_data_follows_full_segments() {
        let s = Situation { available: 1, end: End::More, before: Before::FullSegments, ..BASE };
        assert_eq!(judge(&Transmit::DoupnikLiberal, &s), Verdict::Send(1));
    }

    #[test]
    fn alone_it_waits_for_more() {
        let s = Situation { available: 999, end: End::More, ..BASE };
        assert_eq!(judge(&Transmit::DoupnikLiberal, &s), Verdict::Hold(Hold::EndOfData));
        assert_eq!(
            judge(&Transmit::DoupnikLiberal, &Situation { end: End::Marked, ..s }),
            Verdict::Send(999)
        );
    }
}
