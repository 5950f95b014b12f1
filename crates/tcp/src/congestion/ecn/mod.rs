//! Explicit congestion notification (RFC 3168, section 6.1): what stands on SYN segments, which segments are ECN-capable,
//! how the receiver tells of marks, and what they mean to the sender. Accurate feedback (RFC 9768) differs in what is told, and lies
//! in files of its own; congestion control hears of both by the same signals.
//!
//! A connection that has agreed on it has a `Memory`; one that has not pays for none of it. Which codepoint a segment has in
//! its IP header stands in [`Segment::ecn`], and is the driver's to carry.

pub(crate) mod accurate;
mod ace;
pub(crate) mod handshake;
mod option;
pub(crate) mod receiver;
pub(crate) mod sender;

pub use accurate::AccurateEcnInfo;
pub use option::{AccurateEcn, ByteCounters, Order};

use crate::config::{Config, EcnUse};
use crate::congestion::{self, Signal};
use crate::record::reason::Reason;
use crate::send::space::Plan;
use crate::wire::segment::{Ecn, Flags, Segment};
use accurate::Accurate;
use handshake::{ACE, Mode, answered, asked};

/// The two flags of an ECN-setup SYN (RFC 3168, section 6.1.1).
pub(crate) const BOTH: Flags = Flags(Flags::ECE.0 | Flags::CWR.0);

/// What our own SYN segments have said so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Said {
    /// Nothing: none has left.
    Nothing,
    /// That we would use ECN.
    Setup,
    /// That we would use accurate ECN.
    Accurate,
    /// The last of them, that we would not.
    Plain,
}

/// What holds once the peer's SYN is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Agreement {
    /// No ECN.
    None,
    /// We tell of marks, but what we send is not ECN-capable.
    Receives,
    /// Both.
    Full,
    /// Accurate feedback; and the codepoint under which our SYN has arrived, if the peer has told.
    Accurate(Option<Ecn>),
}

/// The flags of our SYN, which has been sent `before` so many times. A SYN without an answer may have met a host or a
/// firewall that drops ECN-setup SYNs: it goes again without (section 6.1.1.1; one that asks for accurate ECN tries twice,
/// RFC 9768, section 3.1.4.1).
pub(crate) const fn on_syn(choice: EcnUse, before: u8) -> Flags {
    match choice {
        EcnUse::Rfc3168 if before == 0 => BOTH,
        EcnUse::Rfc9768 if before <= 1 => ACE,
        EcnUse::Rfc9768 | EcnUse::AcceptRfc9768 | EcnUse::Rfc3168 | EcnUse::Accept | EcnUse::Off => {
            Flags::NONE
        }
    }
}

/// What we and the peer agree on: `flags` are those of its SYN or SYN-ACK (section 6.1.1). A SYN-ACK with both flags is the
/// echo of a host that knows neither (section 6.1.1.2). Who has fallen back sends nothing ECN-capable, but what it has said
/// before may have been heard.
pub(crate) const fn agree(choice: EcnUse, said: Said, flags: Flags) -> Agreement {
    match choice {
        EcnUse::Rfc9768 => return agree_accurately(said, flags),
        EcnUse::AcceptRfc9768 => {
            return if matches!(said, Said::Nothing) {
                agree_accurately(said, flags)
            } else {
                Agreement::None
            };
        }
        EcnUse::Off | EcnUse::Accept | EcnUse::Rfc3168 => {}
    }
    let wanted = if flags.has(Flags::ACK) { Flags::ECE } else { BOTH };
    if flags.0 & BOTH.0 != wanted.0 {
        return Agreement::None;
    }
    match (choice, said) {
        (EcnUse::Off, _) | (EcnUse::Accept, Said::Setup | Said::Plain) => Agreement::None,
        (_, Said::Nothing) | (EcnUse::Rfc3168, Said::Setup) => Agreement::Full,
        (_, Said::Plain) => Agreement::Receives,
        (_, Said::Setup | Said::Accurate) => Agreement::None,
    }
}

/// The same for a host that knows accurate ECN (RFC 9768, sections 3.1.2 and 3.1.3). A SYN in answer to ours is taken as if ours
/// had never been.
const fn agree_accurately(said: Said, flags: Flags) -> Agreement {
    let mode = if flags.has(Flags::ACK) { answered(flags) } else { asked(flags) };
    match (mode, said) {
        (Mode::Off, _) => Agreement::None,
        (Mode::Accurate(syn), _) => Agreement::Accurate(syn),
        (Mode::Classic, Said::Plain) => Agreement::Receives,
        (Mode::Classic, _) => Agreement::Full,
    }
}

/// Whether a segment may be ECN-capable: only one with new data, not one sent again, not one without any, not a probe
/// (sections 6.1.4 to 6.1.6). `max` is behind all that was ever sent.
pub(crate) fn is_capable(plan: &Plan, max: u64) -> bool {
    plan.len > 0 && plan.start >= max && plan.reason != Reason::WindowProbe
}

/// What an ACK with ECE means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OnEcho {
    /// The window shrinks, as for a loss.
    Reduce,
    /// It has shrunk for this window of data already.
    Wait,
}

/// How the receiver tells of marks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Echo {
    /// From a mark until CWR (RFC 3168, section 6.1.3).
    UntilReduced,
    /// Each ACK tells what the last segment was (RFC 8257, section 3.2).
    Exact,
    /// Packets and bytes are counted (RFC 9768).
    Counted,
}

/// What follows from a segment with text for the ACK of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    /// Nothing.
    Ordinary,
    /// It leaves at once.
    AtOnce,
}

/// What a connection with ECN remembers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Memory {
    agreement: Agreement,
    echo: Echo,
    /// An ACK that tells of a mark may open the window all the same: the window shrinks by no more than was marked.
    in_proportion: bool,
    /// What is counted, where that is agreed on.
    accurate: Option<Box<Accurate>>,
    /// Our ACKs have ECE.
    echoing: bool,
    /// The ACK that is being taken in, or was last, told of a mark.
    told: bool,
    /// The next new data has CWR.
    cwr_due: bool,
    /// SND.MAX when the window shrank last.
    reduced_at: u64,
    /// The same, where a mark was the reason.
    marked_at: u64,
    /// The round that is being counted: up to where it goes, bytes acknowledged in it, and those of them by ACKs with ECE
    /// (`WindowEnd`, `BytesAcked`, `BytesMarked` of RFC 8257, section 3.3).
    round_end: u64,
    acked: u32,
    marked: u32,
}

impl Memory {
    pub(crate) const fn new(agreement: Agreement, echo: Echo) -> Self {
        Self {
            agreement,
            echo,
            in_proportion: matches!(echo, Echo::Exact),
            accurate: None,
            echoing: false,
            told: false,
            cwr_due: false,
            reduced_at: 0,
            marked_at: 0,
            round_end: 0,
            acked: 0,
            marked: 0,
        }
    }

    /// Accurate feedback is agreed on, and its counters begin.
    pub(crate) fn counting(agreement: Agreement, accurate: Accurate, in_proportion: bool) -> Self {
        let accurate = Some(Box::new(accurate));
        Self { accurate, in_proportion, ..Self::new(agreement, Echo::Counted) }
    }

    /// The counters of accurate feedback, where that is agreed on.
    #[inline]
    pub(crate) fn accurate(&mut self) -> Option<&mut Accurate> {
        self.accurate.as_deref_mut()
    }

    /// The same, to be read.
    pub(crate) fn accurate_state(&self) -> Option<&Accurate> {
        self.accurate.as_deref()
    }

    /// The ACK that is being taken in reports a mark, or does not.
    pub(crate) fn set_told(&mut self, told: bool) {
        self.told = told;
    }

    /// Whether our segments may be ECN-capable.
    pub(crate) fn sends(&self) -> bool {
        match (self.agreement, &self.accurate) {
            (_, Some(accurate)) => accurate.sender.sends(),
            (agreement, None) => agreement == Agreement::Full,
        }
    }

    /// The peer's text has come: its CWR first, then its mark (section 6.1.3 and erratum 3639).
    pub(crate) fn hears(&mut self, segment: &Segment) -> Answer {
        let before = self.echoing;
        let marked = segment.ecn == Ecn::Ce;
        match self.echo {
            Echo::UntilReduced => {
                self.echoing = marked || (before && !segment.flags.has(Flags::CWR));
                Answer::Ordinary
            }
            Echo::Exact => {
                self.echoing = marked;
                if marked == before { Answer::Ordinary } else { Answer::AtOnce }
            }
            Echo::Counted => Answer::Ordinary,
        }
    }

    /// The codepoint and the flags of a segment that leaves.
    pub(crate) fn leaves(&mut self, capable: bool) -> (Ecn, Flags) {
        let mut flags = if self.echoing { Flags::ECE } else { Flags::NONE };
        if !(capable && self.sends()) {
            return (Ecn::NotEct, flags);
        }
        // Section 6.1.2: on the first new data after the reduction, and on no more than that.
        if core::mem::take(&mut self.cwr_due) {
            flags = flags | Flags::CWR;
        }
        (Ecn::Ect0, flags)
    }

    /// An ACK with ECE has come, which acknowledges up to `una`: not more than once for each window of data (section 6.1.2).
    /// The segment with CWR is the first behind `reduced_at`, and until it is acknowledged the peer repeats itself.
    pub(crate) const fn on_echo(&self, una: u64) -> OnEcho {
        if una > self.reduced_at { OnEcho::Reduce } else { OnEcho::Wait }
    }

    /// Whether the ACK up to `una` that is being taken in opens no window. A mark that is told until the sender has reduced keeps it
    /// shut for a round trip; one that is counted does as much.
    pub(crate) const fn is_shut(&self, una: u64) -> bool {
        let lasts = matches!(self.echo, Echo::Counted) && una <= self.marked_at;
        !self.in_proportion && (self.told || lasts)
    }

    /// Congestion control hears of this; `max` is SND.MAX. Whatever shrinks the window is told to the peer, unless it is
    /// taken back.
    pub(crate) fn note_signal(&mut self, signal: Signal, max: u64) {
        match signal {
            Signal::EnterRecovery | Signal::Timeout { .. } | Signal::EcnCe => {
                self.cwr_due = true;
                self.reduced_at = max;
                if signal == Signal::EcnCe {
                    self.marked_at = max;
                }
            }
            Signal::Undo => self.cwr_due = false,
            _ => {}
        }
    }

    /// An ACK of `bytes`, `marked` of them marked, up to `una`, SND.NXT being `nxt`: the bytes of a round that is over, acknowledged and marked.
    pub(crate) fn count(&mut self, una: u64, nxt: u64, bytes: u32, marked: u32) -> Option<(u32, u32)> {
        self.acked = self.acked.saturating_add(bytes);
        self.marked = self.marked.saturating_add(marked);
        if una <= self.round_end {
            return None;
        }
        self.round_end = nxt;
        Some((core::mem::take(&mut self.acked), core::mem::take(&mut self.marked)))
    }
}

impl Config {
    /// How this receiver tells of marks: as its peer, configured alike, wants to hear it.
    pub(crate) fn ecn_echo(&self) -> Echo {
        match self.congestion {
            congestion::Kind::Dctcp => Echo::Exact,
            _ => Echo::UntilReduced,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ECE: Flags = Flags::ECE;

    #[test]
    fn a_syn_asks_once_and_falls_back() {
        assert_eq!(on_syn(EcnUse::Rfc3168, 0), BOTH);
        assert_eq!(on_syn(EcnUse::Rfc3168, 1), Flags::NONE);
        assert_eq!([0, 1, 2].map(|before| on_syn(EcnUse::Rfc9768, before)), [ACE, ACE, Flags::NONE]);
        assert_eq!(on_syn(EcnUse::AcceptRfc9768, 0), Flags::NONE);
        assert_eq!(on_syn(EcnUse::Accept, 0), Flags::NONE);
        assert_eq!(on_syn(EcnUse::Off, 0), Flags::NONE);
    }

    #[test]
    fn both_must_have_said_so() {
        use EcnUse::{Accept, Off, Rfc3168};
        let (syn, syn_ack) = (Flags::SYN, Flags::SYN | Flags::ACK);
        for (choice, said, flags, expected) in [
            (Accept, Said::Nothing, syn | BOTH, Agreement::Full),
            (Rfc3168, Said::Nothing, syn | BOTH, Agreement::Full),
            (Off, Said::Nothing, syn | BOTH, Agreement::None),
            (Accept, Said::Nothing, syn | ECE, Agreement::None),
            (Accept, Said::Nothing, syn, Agreement::None),
            (Rfc3168, Said::Setup, syn_ack | ECE, Agreement::Full),
            (Rfc3168, Said::Setup, syn_ack | BOTH, Agreement::None),
            (Rfc3168, Said::Setup, syn_ack, Agreement::None),
            (Rfc3168, Said::Plain, syn_ack | ECE, Agreement::Receives),
            (Accept, Said::Plain, syn_ack | ECE, Agreement::None),
            (Rfc3168, Said::Setup, syn | BOTH, Agreement::Full),
            (Accept, Said::Plain, syn | BOTH, Agreement::None),
        ] {
            assert_eq!(agree(choice, said, flags), expected, "{choice:?} {said:?} {flags:?}");
        }
    }

    #[test]
    fn only_new_data_is_capable() {
        let plan = Plan { start: 1001, len: 1000, flags: Flags::NONE, reason: Reason::NewData };
        assert!(is_capable(&plan, 1001));
        assert!(!is_capable(&plan, 1002), "part of it was sent before");
        assert!(!is_capable(&Plan { len: 0, reason: Reason::Fin, ..plan }, 1001));
        assert!(!is_capable(&Plan { len: 1, reason: Reason::WindowProbe, ..plan }, 1001));
    }

    #[test]
    fn a_segment_with_both_cwr_and_a_mark_is_a_new_mark() {
        let mut memory = Memory::new(Agreement::Full, Echo::UntilReduced);
        let arrives = |ecn, flags| Segment { ecn, flags, ..Segment::default() };
        let mut echoing = |ecn, flags| {
            memory.hears(&arrives(ecn, flags));
            memory.echoing
        };
        assert!(!echoing(Ecn::Ect0, Flags::ACK));
        assert!(echoing(Ecn::Ce, Flags::ACK));
        assert!(echoing(Ecn::Ect0, Flags::ACK), "until the sender has said that it has reduced");
        assert!(echoing(Ecn::Ce, Flags::ACK | Flags::CWR));
        assert!(!echoing(Ecn::Ect0, Flags::ACK | Flags::CWR));
    }

    #[test]
    fn an_exact_echo_changes_at_once_with_what_comes() {
        let mut memory = Memory::new(Agreement::Full, Echo::Exact);
        let mut hears = |ecn| memory.hears(&Segment { ecn, ..Segment::default() });
        use Answer::{AtOnce, Ordinary};
        let answers = [Ecn::Ect0, Ecn::Ce, Ecn::Ce, Ecn::Ect0, Ecn::Ect0].map(&mut hears);
        assert_eq!(answers, [Ordinary, AtOnce, Ordinary, AtOnce, Ordinary]);
    }

    #[test]
    fn a_round_is_over_when_all_that_was_out_at_its_beginning_is_acknowledged() {
        let mut memory = Memory::new(Agreement::Full, Echo::Exact);
        assert_eq!(memory.count(1001, 10_001, 1000, 0), Some((1000, 0)), "the first begins the next");
        assert_eq!(memory.count(6001, 15_001, 5000, 5000), None);
        assert_eq!(memory.count(10_001, 20_001, 4000, 0), None, "not behind it yet");
        assert_eq!(memory.count(11_001, 21_001, 1000, 1000), Some((10_000, 6000)));
    }
}
