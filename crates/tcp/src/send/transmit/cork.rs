//! Linux's TCP_CORK (tcp(7)): full segments only, until the application clears the option or closes, or until the
//! [ceiling](super::CEILING) of 200 ms is reached.

use crate::record::reason::Hold;

pub(super) const fn hold() -> Option<Hold> {
    Some(Hold::Cork)
}

#[cfg(test)]
mod tests {
    use super::super::{Before, End, Situation, Transmit, Verdict, judge, tests::BASE};
    use super::*;

    #[test]
    fn a_short_segment_waits_although_all_is_acknowledged_and_data_ends() {
        let s = Situation { available: 999, before: Before::FullSegments, ..BASE };
        assert_eq!(judge(&Transmit::Cork, &s), Verdict::Hold(Hold::Cork));
        assert_eq!(judge(&Transmit::Cork, &Situation { available: 1000, ..s }), Verdict::Send(1000));
    }

    #[test]
    fn an_uncorked_segment_is_sent() {
        let s = Situation { available: 999, end: End::Released, ..BASE };
        assert_eq!(judge(&Transmit::Cork, &s), Verdict::Send(999));
    }
}
