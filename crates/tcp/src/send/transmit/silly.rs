//! The sender's silly-window avoidance (RFC 813; RFC 9293, section 3.8.6.2.1, conditions 1 and 3): a piece that the window makes
//! short is worth sending only if it is at least half of the largest window that the peer ever offered.

use super::{Policy, Situation};
use crate::config::Cutting;

/// Whether a segment as long as the window permits, shorter than the data behind it, shall leave.
pub(super) fn is_worth<P: Policy + ?Sized>(policy: &P, s: &Situation) -> bool {
    // In brackets in the RFC, since it is Nagle's condition: [SND.NXT = SND.UNA].
    let idle = !policy.heeds_acks() || s.unacknowledged == 0;
    // What was cut when it was written is not cut again.
    let divisible = s.cutting == Cutting::AtSend;
    divisible && idle && s.allowed > 0 && s.allowed >= u64::from(s.max_window) / 2
}

#[cfg(test)]
mod tests {
    use super::super::{Transmit, Verdict, judge, tests::BASE};
    use super::*;
    use crate::record::reason::Hold;

    #[test]
    fn a_sliver_of_window_is_not_used() {
        let s = Situation { available: 5000, allowed: 300, ..BASE };
        assert_eq!(judge(&Transmit::NoDelay, &s), Verdict::Hold(Hold::SillyWindow));
        let closed = Situation { allowed: 0, max_window: 0, ..s };
        assert_eq!(judge(&Transmit::NoDelay, &closed), Verdict::Hold(Hold::SillyWindow));
    }

    #[test]
    fn half_of_the_largest_window_is_used_under_nagles_rule_when_nothing_is_out() {
        let s = Situation { available: 5000, allowed: 300, max_window: 600, ..BASE };
        assert_eq!(judge(&Transmit::NagleStrict, &s), Verdict::Send(300));
        let busy = Situation { unacknowledged: 100, ..s };
        assert_eq!(judge(&Transmit::NagleStrict, &busy), Verdict::Hold(Hold::SillyWindow));
        assert_eq!(judge(&Transmit::NoDelay, &busy), Verdict::Send(300), "the condition is Nagle's");
    }

    #[test]
    fn what_was_cut_when_written_waits_for_a_window_that_takes_it_whole() {
        let s =
            Situation { available: 5000, allowed: 900, max_window: 1000, cutting: Cutting::AtWrite, ..BASE };
        assert_eq!(judge(&Transmit::NoDelay, &s), Verdict::Hold(Hold::SillyWindow));
        assert_eq!(judge(&Transmit::NoDelay, &Situation { available: 900, ..s }), Verdict::Send(900));
    }
}
