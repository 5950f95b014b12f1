//! Nagle's rule, strictly (RFC 896; RFC 1122, section 4.2.3.4; RFC 9293, section 3.7.4): the rule applies to each
//! segment alone. A short one waits while anything is unacknowledged.
//!
//! 4.4BSD and its descendants work in this way. They evaluate `idle` once for a run of segments, so that the last
//! segment of a write into an idle connection may follow. draft-doupnik-tcpimpl-nagle-mode-00, section 1.4, describes
//! the rule without this exception, as here.

use super::Situation;
use crate::record::reason::Hold;

pub(super) fn hold(s: &Situation) -> Option<Hold> {
    (s.unacknowledged > 0).then_some(Hold::Nagle)
}

#[cfg(test)]
mod tests {
    use super::super::{Before, Transmit, Verdict, judge, tests::BASE};
    use super::*;

    #[test]
    fn a_short_segment_waits_while_anything_is_unacknowledged() {
        let s = Situation { available: 999, unacknowledged: 1, ..BASE };
        assert_eq!(judge(&Transmit::NagleStrict, &s), Verdict::Hold(Hold::Nagle));
        let idle = Situation { unacknowledged: 0, ..s };
        assert_eq!(judge(&Transmit::NagleStrict, &idle), Verdict::Send(999));
    }

    #[test]
    fn a_short_segment_waits_even_after_full_segments_of_the_same_write() {
        let s = Situation { available: 999, unacknowledged: 3000, before: Before::FullSegments, ..BASE };
        assert_eq!(judge(&Transmit::NagleStrict, &s), Verdict::Hold(Hold::Nagle));
    }
}
