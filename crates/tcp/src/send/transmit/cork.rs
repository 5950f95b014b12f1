//! Linux's TCP_CORK (tcp(7)): full segments only, until the application takes the cork out or
//! closes, or the [ceiling](super::CEILING) of 200 ms is reached.

use crate::record::reason::Hold;

pub(super) const fn hold() -> Option<Hold> {
    Some(Hold::Cork)
}

#[cfg(test)]
mod tests {
    use super::super::{Before, End, Situation, Transmit, Verdict, judge, tests::BASE};
    use super::*;

    #[test]
    fn only_full_segments_leave_though_all_is_acknowledged_and_data_ends() {
        let s = Situation { available: 999, before: Before::FullSegments, ..BASE };
        assert_eq!(judge(&Transmit::Cork, &s), Verdict::Hold(Hold::Cork));
        assert_eq!(judge(&Transmit::Cork, &Situation { available: 1000, ..s }), Verdict::Send(1000));
    }

    #[test]
    fn out_of_the_cork_it_leaves() {
        let s = Situation { available: 999, end: End::Released, ..BASE };
        assert_eq!(judge(&Transmit::Cork, &s), Verdict::Send(999));
    }
}
