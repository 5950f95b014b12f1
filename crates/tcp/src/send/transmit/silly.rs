//! Silly window avoidance of the sender (RFC 813; RFC 9293, section 3.8.6.2.1, conditions 1 and 3): a segment that the
//! window makes short is sent only if it is at least half of the largest window that the peer ever announced.

use super::{Policy, Situation};
use crate::config::choices::Cutting;

/// Whether to send a segment that is as long as the window permits and shorter than the unsent data.
pub(super) fn is_worth<P: Policy + ?Sized>(policy: &P, s: &Situation) -> bool {
    // In brackets in the RFC, since it is Nagle's condition: [SND.NXT = SND.UNA].
    let idle = !policy.is_released_by_acks() || s.unacknowledged == 0;
    // A segment that was cut at the write is not cut again.
    let divisible = s.cutting == Cutting::AtSend;
    divisible && idle && s.allowed > 0 && s.allowed >= u64::from(s.max_window) / 2
}

#[cfg(test)]
mod tests {
    use super::super::{Transmit, Verdict, judge, tests::BASE};
    use super::*;
    use crate::record::reason::Hold;

    #[test]
    fn a_small_part_of_the_window_is_not_used() {
        let s = Situation { available: 5000, allowed: 300, ..BASE };
        assert_eq!(judge(&Transmit::NoDelay, &s), Verdict::Hold(Hold::SillyWindow));
        let closed = Situation { allowed: 0, max_window: 0, ..s };
        assert_eq!(judge(&Transmit::NoDelay, &closed), Verdict::Hold(Hold::SillyWindow));
    }

    #[test]
    fn nagles_rule_uses_half_of_the_largest_window_when_nothing_is_unacknowledged() {
        let s = Situation { available: 5000, allowed: 300, max_window: 600, ..BASE };
        assert_eq!(judge(&Transmit::NagleStrict, &s), Verdict::Send(300));
        let busy = Situation { unacknowledged: 100, ..s };
        assert_eq!(judge(&Transmit::NagleStrict, &busy), Verdict::Hold(Hold::SillyWindow));
        assert_eq!(judge(&Transmit::NoDelay, &busy), Verdict::Send(300), "the condition is Nagle's");
    }

    #[test]
    fn a_segment_cut_at_the_write_waits_for_a_window_that_fits_it() {
        let s =
            Situation { available: 5000, allowed: 900, max_window: 1000, cutting: Cutting::AtWrite, ..BASE };
        assert_eq!(judge(&Transmit::NoDelay, &s), Verdict::Hold(Hold::SillyWindow));
        assert_eq!(judge(&Transmit::NoDelay, &Situation { available: 900, ..s }), Verdict::Send(900));
    }
}
