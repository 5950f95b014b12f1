//! Nagle's rule, liberally (draft-doupnik-tcpimpl-nagle-mode-00, section 1.5; Solaris): the rule compares all data of a
//! sending opportunity with a full segment, so that a short segment follows the full segments before it.
//!
//! If the windows end a run of full segments before the end of the data, the rest is sent at a later opportunity. If it
//! is short, it waits then. The draft describes this delay of the liberal form.

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
    fn a_short_segment_follows_full_segments_of_the_same_opportunity() {
        let s = Situation { available: 1, unacknowledged: 3000, before: Before::FullSegments, ..BASE };
        assert_eq!(judge(&Transmit::NagleLiberal, &s), Verdict::Send(1));
    }

    #[test]
    fn a_short_segment_alone_waits() {
        let s = Situation { available: 999, unacknowledged: 3000, ..BASE };
        assert_eq!(judge(&Transmit::NagleLiberal, &s), Verdict::Hold(Hold::Nagle));
    }
}
