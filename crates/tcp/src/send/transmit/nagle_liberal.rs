//! Nagle's rule, liberally (draft-doupnik-tcpimpl-nagle-mode-00, section 1.5; Solaris): what is held against a full segment
//! is all that may be sent at this opportunity, so that a tail follows the full segments before it.
//!
//! Where the windows end a run of full segments before the data does, the rest comes to be judged at a later opportunity; if
//! it is short, it waits then: the held tail that the draft finds in the liberal form.

use super::{Before, Situation, nagle_strict};
use crate::record::reason::Hold;

pub(super) fn hold(s: &Situation) -> Option<Hold> {
    match s.before {
        Before::FullSegments => None,
        Before::Nothing => nagle_strict::hold(s),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Transmit, Verdict, judge, tests::BASE};
    use super::*;

    #[test]
    fn a_tail_follows_full_segments_of_the_same_opportunity() {
        let s = Situation { available: 1, unacknowledged: 3000, before: Before::FullSegments, ..BASE };
        assert_eq!(judge(&Transmit::NagleLiberal, &s), Verdict::Send(1));
    }

    #[test]
    fn a_piece_that_comes_alone_waits_like_any_other() {
        let s = Situation { available: 999, unacknowledged: 3000, ..BASE };
        assert_eq!(judge(&Transmit::NagleLiberal, &s), Verdict::Hold(Hold::Nagle));
    }
}
