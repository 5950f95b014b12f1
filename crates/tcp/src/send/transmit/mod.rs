//! When a segment that is not full may leave. Each policy is a file with its rule; all are judged through one pure
//! function, [`judge`], after the windows have said how much is allowed.
//!
//! Three things come before any policy, and are the same for all of them:
//!
//! * A full segment that the windows permit leaves. This is rule 1 of every policy.
//! * Of a piece that the *window* cuts short, silly-window avoidance says whether it is worth sending
//!   (RFC 9293, section 3.8.6.2.1): a policy judges what the *data* leaves short.
//! * Nothing holds up what nothing will follow, what is urgent, or what was sent before: [`End::Released`].

mod cork;
mod doupnik;
mod doupnik_liberal;
mod linux22;
mod minshall;
mod nagle_liberal;
mod nagle_strict;
mod silly;

use crate::config::Cutting;
use crate::record::reason::Hold;
use crate::time::Span;

/// The longest that a piece waits for the application: to be uncorked (Linux, tcp(7): "a 200 millisecond ceiling"), or, as a
/// safeguard that the draft does not have, to keep its promise of more. It counts from when the piece began to wait, and is
/// looked at when nothing is unacknowledged: Linux keeps it with the timer that probes a closed window, which runs only then.
pub(crate) const CEILING: Span = Span::from_ms(200);

/// The choice of a transmission policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transmit {
    /// At once: Nagle's rule is off.
    NoDelay,
    /// Nagle's rule, each segment judged alone: a short one waits while anything is unacknowledged (RFC 896;
    /// RFC 9293, section 3.7.4).
    NagleStrict,
    /// Nagle's rule on all that may be sent at this opportunity: a tail follows the full segments before it
    /// (draft-doupnik-tcpimpl-nagle-mode-00, section 1.5).
    NagleLiberal,
    /// A short segment waits only while an earlier *short* one is unacknowledged (draft-minshall-nagle-01).
    Minshall,
    /// Nagle's rule, which half a segment passes (Linux 2.2).
    Linux22,
    /// A short segment leaves if it includes the end of application data (draft-doupnik-tcpimpl-nagle-mode-00,
    /// section 2.1, rules 1 and 2).
    Doupnik,
    /// The same, and a tail follows the full segments before it (rules 1 to 3).
    DoupnikLiberal,
    /// Full segments only, until [`uncork`](crate::Connection::uncork), close, or 200 ms (Linux, TCP_CORK).
    Cork,
}

/// Says whether a segment that is not full waits. A pure function of the [`Situation`]: it is asked again whenever anything has
/// moved.
pub trait Policy: core::fmt::Debug + Send {
    /// What a short segment waits for; `None` if it leaves. A wait that no ACK ends, by [`Hold::waits_for_ack`], ends after
    /// 200 ms without anything unacknowledged.
    fn hold(&self, s: &Situation) -> Option<Hold>;

    /// Whether an ACK can set free what this policy holds. Only then does the condition in brackets of RFC 9293,
    /// section 3.8.6.2.1, apply: nothing unacknowledged.
    fn heeds_acks(&self) -> bool;
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
    fn heeds_acks(&self) -> bool {
        match self {
            Self::NagleStrict | Self::NagleLiberal | Self::Minshall | Self::Linux22 => true,
            Self::NoDelay | Self::Doupnik | Self::DoupnikLiberal | Self::Cork => false,
        }
    }
}

/// What is known of the end of what is available.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The application has promised more: the last write has been handed over in part.
    More,
    /// Application data ends here, for all that is known.
    Marked,
    /// No policy may hold it: the application has closed or uncorked, the data is urgent or was sent before, the send buffer
    /// has no room for what is being waited for, or the ceiling on that wait is reached.
    Released,
}

/// What left at this sending opportunity: since a write, a segment or a timer last gave occasion to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Before {
    /// No full segment.
    Nothing,
    /// A full segment at least: the piece in question is a tail behind it.
    FullSegments,
}

/// What a policy may look at.
#[derive(Clone, Copy, Debug)]
pub struct Situation {
    /// Bytes written and not yet sent.
    pub available: u64,
    /// Bytes that the windows permit.
    pub allowed: u64,
    /// Bytes of a full segment.
    pub mss: u32,
    /// Bytes sent and not acknowledged.
    pub unacknowledged: u64,
    /// Of these, how many lie before the end of the last short segment sent: zero if none is outstanding.
    pub short_unacknowledged: u64,
    /// What left at this opportunity.
    pub before: Before,
    /// Where the data ends.
    pub end: End,
    /// The largest window that the peer ever offered.
    pub max_window: u32,
    /// When data is cut into segments.
    pub cutting: Cutting,
}

/// What a policy says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Send a segment of so many bytes now.
    Send(u32),
    /// Wait.
    Hold(Hold),
}

/// Judges the next segment.
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

    /// Everything against a tail at once: data outstanding, a short segment among it, more to come, nothing before it.
    const AGAINST: Situation = Situation {
        available: 300,
        unacknowledged: 1100,
        short_unacknowledged: 1100,
        end: End::More,
        ..BASE
    };

    #[test]
    fn a_full_segment_leaves_under_every_policy() {
        for policy in ALL {
            assert_eq!(judge(&policy, &Situation { available: 5000, ..AGAINST }), Verdict::Send(1000));
        }
    }

    #[test]
    fn nothing_holds_up_what_is_released() {
        for policy in ALL {
            assert_eq!(judge(&policy, &Situation { end: End::Released, ..AGAINST }), Verdict::Send(300));
        }
    }

    #[test]
    fn each_policy_names_what_it_waits_for() {
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
    fn what_the_window_cuts_short_is_no_policys_business() {
        for policy in ALL {
            for end in [End::More, End::Marked, End::Released] {
                let s = Situation { available: 5000, allowed: 300, end, ..AGAINST };
                assert_eq!(judge(&policy, &s), Verdict::Hold(Hold::SillyWindow), "{policy:?} {end:?}");
            }
        }
    }

    #[test]
    fn an_idle_connection_holds_an_ended_piece_only_if_it_is_corked() {
        for policy in ALL {
            let verdict = judge(&policy, &Situation { available: 300, ..BASE });
            let expected =
                if policy == Transmit::Cork { Verdict::Hold(Hold::Cork) } else { Verdict::Send(300) };
            assert_eq!(verdict, expected, "{policy:?}");
        }
    }
}
