//! Nagle's rule as Linux 2.2 had it (`tcp_snd_test()`): a segment of at least half an MSS is sent, shorter ones wait
//! while anything is unacknowledged. Urgent data and the last segment before a FIN are exempt, as under every policy
//! here.

use super::{Situation, nagle_strict};
use crate::record::reason::Hold;

pub(super) fn hold(s: &Situation) -> Option<Hold> {
    if s.available >= u64::from(s.mss / 2) { None } else { nagle_strict::hold(s) }
}

#[cfg(test)]
mod tests {
    use super::super::{Before, Transmit, Verdict, judge, tests::BASE};
    use super::*;

    #[test]
    fn half_a_segment_is_sent_and_one_byte_less_waits() {
        let s = Situation { available: 500, unacknowledged: 1, ..BASE };
        assert_eq!(judge(&Transmit::Linux22, &s), Verdict::Send(500));
        let less = Situation { available: 499, before: Before::FullSegments, ..s };
        assert_eq!(judge(&Transmit::Linux22, &less), Verdict::Hold(Hold::Nagle));
    }

    #[test]
    fn half_of_an_odd_mss_is_rounded_down() {
        let s = Situation { available: 730, mss: 1461, unacknowledged: 1, ..BASE };
        assert_eq!(judge(&Transmit::Linux22, &s), Verdict::Send(730));
    }
}
