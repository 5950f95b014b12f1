//! When a short segment is sent. Each policy has one file. The pure function [`judge`] applies them after the windows
//! have determined the permitted length.
//!
//! Three rules precede every policy:
//!
//! * A full segment that the windows permit is sent. This is rule 1 of every policy.
//! * Silly window avoidance decides about a segment that the *window* makes short (RFC 9293, section 3.8.6.2.1). A
//!   policy decides about a segment that is short because the *data* ends.
//! * No policy delays the last data before a FIN, urgent data or retransmissions: [`End::Released`].

mod cork;
mod doupnik;
mod doupnik_liberal;
mod linux22;
mod minshall;
mod nagle_liberal;
mod nagle_strict;
mod silly;
mod situation;

pub use situation::{Before, End, Policy, Situation};

use crate::record::reason::Hold;
use crate::time::Span;

/// The longest time for which a short segment waits for the application. It applies to corked data (Linux, tcp(7): "a
/// 200 millisecond ceiling") and, as an addition to the draft, to announced data that does not follow. It starts when
/// the segment starts to wait, and it is checked when nothing is unacknowledged. The kernel has only the timer for zero-window
/// probes, which runs in that state: where ACKs count as in Linux, it takes the place of this ceiling.
pub(crate) const CEILING: Span = Span::from_ms(200);

/// The choice of a transmission policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transmit {
    /// Immediately, without Nagle's rule.
    NoDelay,
    /// Nagle's rule for each segment alone: a short one waits while anything is unacknowledged (RFC 896; RFC 9293,
    /// section 3.7.4).
    NagleStrict,
    /// Nagle's rule for all data of a sending opportunity: a short segment follows the full segments before it
    /// (draft-doupnik-tcpimpl-nagle-mode-00, section 1.5).
    NagleLiberal,
    /// A short segment waits only while an earlier *short* one is unacknowledged (draft-minshall-nagle-01).
    Minshall,
    /// Nagle's rule only for segments below half an MSS (Linux 2.2).
    Linux22,
    /// A short segment is sent if it includes the end of application data (draft-doupnik-tcpimpl-nagle-mode-00, section
    /// 2.1, rules 1 and 2).
    Doupnik,
    /// The same, and a short segment follows the full segments before it (rules 1 to 3).
    DoupnikLiberal,
    /// Full segments only, until [`uncork`](crate::Connection::uncork), close, or 200 ms (Linux, TCP_CORK).
    Cork,
}

impl Policy for Transmit {
    #[inline]
    fn hold(&self, s: &Situation) -> Option<Hold> {
        match self {
            Self::NoDelay => None,
            Self::NagleStrict => nagle_strict::hold(s),
            Self::NagleLiberal => nagle_liberal::hold(s),
            Self::Minshall => minshall::hold(s),
            Self::Linux22 => linux22::hold(s),
            Self::Doupnik => doupnik::hold(s),
            Self::DoupnikLiberal => doupnik_liberal::hold(s),
            Self::Cork => cork::hold(),
        }
    }

    #[inline]
    fn is_released_by_acks(&self) -> bool {
        match self {
            Self::NagleStrict | Self::NagleLiberal | Self::Minshall | Self::Linux22 => true,
            Self::NoDelay | Self::Doupnik | Self::DoupnikLiberal | Self::Cork => false,
        }
    }
}

/// The decision.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Send a segment of this length now.
    Send(u32),
    /// Wait.
    Hold(Hold),
}

/// Decides about the next segment.
#[inline]
pub fn judge<P: Policy + ?Sized>(policy: &P, s: &Situation) -> Verdict {
    if s.available.min(s.allowed) >= u64::from(s.mss) {
        return Verdict::Send(s.mss);
    }
    if s.available > s.allowed {
        let worth = silly::is_worth(policy, s);
        return if worth { Verdict::Send(s.allowed as u32) } else { Verdict::Hold(Hold::SillyWindow) };
    }
    let hold = if s.end == End::Released { None } else { policy.hold(s) };
    hold.map_or(Verdict::Send(s.available as u32), Verdict::Hold)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::config::choices::Cutting;

    pub(crate) const BASE: Situation = Situation {
        available: 0,
        allowed: 10_000,
        mss: 1000,
        unacknowledged: 0,
        short_unacknowledged: 0,
        before: Before::Nothing,
        end: End::Marked,
        max_window: 10_000,
        cutting: Cutting::AtSend,
    };

    pub(crate) const ALL: [Transmit; 8] = [
        Transmit::NoDelay,
        Transmit::NagleStrict,
        Transmit::NagleLiberal,
        Transmit::Minshall,
        Transmit::Linux22,
        Transmit::Doupnik,
        Transmit::DoupnikLiberal,
        Transmit::Cork,
    ];

    /// All conditions that delay a short segment: data and a short segment outstanding, more data announced, no full
    /// segment before it.
    const AGAINST: Situation = Situation {
        available: 300,
        unacknowledged: 1100,
        short_unacknowledged: 1100,
        end: End::More,
        ..BASE
    };

    #[test]
    fn every_policy_sends_a_full_segment() {
        for policy in ALL {
            assert_eq!(judge(&policy, &Situation { available: 5000, ..AGAINST }), Verdict::Send(1000));
        }
    }

    #[test]
    fn no_policy_holds_back_released_data() {
        for policy in ALL {
            assert_eq!(judge(&policy, &Situation { end: End::Released, ..AGAINST }), Verdict::Send(300));
        }
    }

    #[test]
    fn each_policy_returns_what_it_waits_for() {
        let verdicts = ALL.map(|policy| judge(&policy, &AGAINST));
        assert_eq!(
            verdicts,
            [
                Verdict::Send(300),
                Verdict::Hold(Hold::Nagle),
                Verdict::Hold(Hold::Nagle),
                Verdict::Hold(Hold::Minshall),
                Verdict::Hold(Hold::Nagle),
                Verdict::Hold(Hold::EndOfData),
                Verdict::Hold(Hold::EndOfData),
                Verdict::Hold(Hold::Cork),
            ]
        );
    }

    #[test]
    fn policies_do_not_apply_to_segments_that_the_window_makes_short() {
        for policy in ALL {
            for end in [End::More, End::Marked, End::Released] {
                let s = Situation { available: 5000, allowed: 300, end, ..AGAINST };
                assert_eq!(judge(&policy, &s), Verdict::Hold(Hold::SillyWindow), "{policy:?} {end:?}");
            }
        }
    }

    #[test]
    fn an_idle_connection_holds_back_the_end_of_data_only_if_corked() {
        for policy in ALL {
            let verdict = judge(&policy, &Situation { available: 300, ..BASE });
            let expected =
                if policy == Transmit::Cork { Verdict::Hold(Hold::Cork) } else { Verdict::Send(300) };
            assert_eq!(verdict, expected, "{policy:?}");
        }
    }
}
