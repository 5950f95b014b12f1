//! Explicit congestion notification (RFC 3168, section 6.1): the flags of SYN segments, the ECN-capable segments, the
//! feedback of the receiver, and the reaction of the sender. Accurate feedback (RFC 9768) has files of its own.
//! Congestion control receives the same signals for both.
//!
//! A connection with ECN has a `Memory`; others need no space for it. [`Segment::ecn`] is the codepoint for the IP
//! header; the driver copies it.

pub(crate) mod accurate;
mod ace;
pub(crate) mod handshake;
pub(crate) mod receiver;
pub(crate) mod sender;

pub use crate::wire::accurate_ecn::{AccurateEcn, ByteCounters, Order};
pub use accurate::AccurateEcnInfo;

use crate::config::choices::EcnUse;
use crate::congestion::Signal;
use crate::wire::segment::{Ecn, Flags, Segment};
use accurate::Accurate;
use handshake::{ACE, Mode, accepted_mode, requested_mode};
pub(crate) use receiver::Answer;

/// The two flags of an ECN-setup SYN (RFC 3168, section 6.1.1).
pub(crate) const BOTH: Flags = Flags(Flags::ECE.0 | Flags::CWR.0);

/// The request on our last SYN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SentRequest {
    /// No SYN was sent.
    Nothing,
    /// ECN.
    Setup,
    /// Accurate ECN.
    Accurate,
    /// No ECN.
    Plain,
}

/// The result of the negotiation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Agreement {
    /// No ECN.
    None,
    /// We report marks, but our segments are not ECN-capable.
    Receives,
    /// Both.
    Full,
    /// Accurate feedback; with the codepoint of our SYN, if the peer has reported it.
    Accurate(Option<Ecn>),
}

/// The flags of our SYN after `before` transmissions. A host or firewall may drop ECN-setup SYNs, so the retransmission
/// does not request ECN (section 6.1.1.1). A request for accurate ECN is sent twice (RFC 9768, section 3.1.4.1).
pub(crate) const fn on_syn(choice: EcnUse, before: u8) -> Flags {
    match choice {
        EcnUse::Rfc3168 if before == 0 => BOTH,
        EcnUse::Rfc9768 if before <= 1 => ACE,
        EcnUse::Rfc9768 | EcnUse::AcceptRfc9768 | EcnUse::Rfc3168 | EcnUse::Accept | EcnUse::Off => {
            Flags::NONE
        }
    }
}

/// The result of the negotiation; `flags` are those of the peer's SYN or SYN-ACK (section 6.1.1). A SYN-ACK with both
/// flags comes from a host that reflects reserved bits (section 6.1.1.2). After a fallback our segments are not
/// ECN-capable, but the peer may have received the earlier request.
pub(crate) const fn agree(choice: EcnUse, said: SentRequest, flags: Flags) -> Agreement {
    match choice {
        EcnUse::Rfc9768 => return agree_accurately(said, flags),
        EcnUse::AcceptRfc9768 => {
            return if matches!(said, SentRequest::Nothing) {
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
        (EcnUse::Off, _) | (EcnUse::Accept, SentRequest::Setup | SentRequest::Plain) => Agreement::None,
        (_, SentRequest::Nothing) | (EcnUse::Rfc3168, SentRequest::Setup) => Agreement::Full,
        (_, SentRequest::Plain) => Agreement::Receives,
        (_, SentRequest::Setup | SentRequest::Accurate) => Agreement::None,
    }
}

/// The same for a host with accurate ECN (RFC 9768, sections 3.1.2 and 3.1.3). In a simultaneous open our own request
/// has no effect.
const fn agree_accurately(said: SentRequest, flags: Flags) -> Agreement {
    let mode = if flags.has(Flags::ACK) { accepted_mode(flags) } else { requested_mode(flags) };
    match (mode, said) {
        (Mode::Off, _) => Agreement::None,
        (Mode::Accurate(syn), _) => Agreement::Accurate(syn),
        (Mode::Classic, SentRequest::Plain) => Agreement::Receives,
        (Mode::Classic, _) => Agreement::Full,
    }
}

/// The reaction to an ACK with ECE.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OnEcho {
    /// Reduce cwnd, as for a loss.
    Reduce,
    /// Ignore it: cwnd was already reduced for this window of data.
    Wait,
}

/// The form of the receiver's feedback.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Echo {
    /// ECE from a mark until CWR (RFC 3168, section 6.1.3).
    UntilReduced,
    /// ECE reflects the mark of each segment (RFC 8257, section 3.2).
    Exact,
    /// Counters of packets and bytes (RFC 9768).
    Counted,
}

/// The ECN state of a connection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Memory {
    agreement: Agreement,
    echo: Echo,
    /// An ACK that reports a mark may still increase cwnd, because the reduction is proportional to the marks.
    in_proportion: bool,
    /// The state of accurate ECN, if it was negotiated.
    accurate: Option<Box<Accurate>>,
    /// Data that could be marked has arrived.
    seen_capable: bool,
    /// Our ACKs carry ECE.
    echoing: bool,
    /// The current ACK, or the last one, reported a mark.
    echo_marked: bool,
    /// The next segment with new data carries CWR.
    cwr_due: bool,
    /// SND.MAX at the last reduction of cwnd.
    reduced_at: u64,
    /// The same for reductions due to marks.
    marked_at: u64,
    /// The end of the current round, the bytes acknowledged in it, and the bytes acknowledged by ACKs with ECE
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
            seen_capable: false,
            echoing: false,
            echo_marked: false,
            cwr_due: false,
            reduced_at: 0,
            marked_at: 0,
            round_end: 0,
            acked: 0,
            marked: 0,
        }
    }

    /// Creates the state of a connection with accurate ECN.
    pub(crate) fn counting(agreement: Agreement, accurate: Accurate, in_proportion: bool) -> Self {
        let accurate = Some(Box::new(accurate));
        Self { accurate, in_proportion, ..Self::new(agreement, Echo::Counted) }
    }

    /// The state of accurate ECN, if it was negotiated.
    #[inline]
    pub(crate) fn accurate(&mut self) -> Option<&mut Accurate> {
        self.accurate.as_deref_mut()
    }

    /// The same for reading.
    pub(crate) fn accurate_state(&self) -> Option<&Accurate> {
        self.accurate.as_deref()
    }

    /// Whether the share of marks of a round is known, for a congestion control that depends on it: by the counters, or by ECE
    /// as DCTCP sends it.
    pub(crate) const fn knows_share(&self) -> bool {
        self.in_proportion
    }

    /// Returns whether an ACK with these flags reports a mark, where flags echo marks.
    pub(crate) fn note_echo(&mut self, flags: Flags) -> bool {
        let echo = flags.0 & (Flags::ECE.0 | Flags::SYN.0) == Flags::ECE.0;
        self.echo_marked = echo && self.sends();
        self.echo_marked
    }

    /// Sets whether the current ACK reports a mark.
    pub(crate) fn set_marked(&mut self, marked: bool) {
        self.echo_marked = marked;
    }

    /// Whether the peers have agreed on ECN.
    pub(crate) fn is_agreed(&self) -> bool {
        self.agreement != Agreement::None
    }

    /// Whether our segments may be ECN-capable.
    pub(crate) fn sends(&self) -> bool {
        match (self.agreement, &self.accurate) {
            (_, Some(accurate)) => accurate.sender.sends(),
            (agreement, None) => agreement == Agreement::Full,
        }
    }

    /// Whether data that could be marked has arrived.
    pub(crate) fn has_seen_capable(&self) -> bool {
        self.seen_capable
    }

    /// Processes CWR, and then the mark, of a data segment of the peer (section 6.1.3 and erratum 3639). `looks`: whether its mark
    /// counts.
    ///
    /// The first mark asks for quick ACKs, because the peer's cwnd may be small. So does a segment that cannot be marked behind
    /// others that could, because it is probably a retransmission (Linux, `__tcp_ecn_check_ce()`).
    pub(crate) fn process_data(&mut self, segment: &Segment, looks: bool) -> Answer {
        let before = self.echoing;
        let marked = looks && segment.ecn == Ecn::Ce;
        let is_incapable = looks && segment.ecn == Ecn::NotEct && self.seen_capable;
        self.seen_capable |= looks && segment.ecn != Ecn::NotEct;
        match self.echo {
            Echo::UntilReduced => {
                let reduced = segment.flags.has(Flags::CWR);
                self.echoing = marked || (before && !reduced);
                let is_first = marked && (!before || reduced);
                if is_first || is_incapable { Answer::Quickly } else { Answer::Ordinary }
            }
            Echo::Exact => {
                self.echoing = marked;
                if marked == before { Answer::Ordinary } else { Answer::AtOnce }
            }
            Echo::Counted => Answer::Ordinary,
        }
    }

    /// No later segment echoes a mark.
    pub(crate) fn stop_echo(&mut self) {
        self.echoing = false;
    }

    /// The codepoint and the flags of a departing segment.
    pub(crate) fn fields_of_departure(&mut self, capable: bool) -> (Ecn, Flags) {
        let mut flags = if self.echoing { Flags::ECE } else { Flags::NONE };
        if !(capable && self.sends()) {
            return (Ecn::NotEct, flags);
        }
        // Section 6.1.2: only on the first new data after the reduction.
        if core::mem::take(&mut self.cwr_due) {
            flags = flags | Flags::CWR;
        }
        (Ecn::Ect0, flags)
    }

    /// Decides on an ACK with ECE that acknowledges up to `una`. One reduction per window of data is permitted (section
    /// 6.1.2). The segment with CWR is the first one after `reduced_at`. The peer repeats ECE until it has received
    /// that segment.
    ///
    /// `ended`: the ACK has ended a recovery. In Linux it may begin another reduction (`tcp_try_to_open()`), while that of a mark
    /// lasts until higher data is acknowledged (`TCP_CA_CWR` in `tcp_fastretrans_alert()`).
    pub(crate) const fn on_echo(&self, una: u64, ended: bool) -> OnEcho {
        let is_over = una > self.reduced_at || (ended && una == self.reduced_at);
        if is_over { OnEcho::Reduce } else { OnEcho::Wait }
    }

    /// Whether the current ACK, up to `una`, does not increase cwnd. With classic ECN the repeated ECE prevents an
    /// increase for a round trip; with accurate ECN the effect is the same.
    pub(crate) const fn prevents_growth(&self, una: u64) -> bool {
        let lasts = matches!(self.echo, Echo::Counted) && una <= self.marked_at;
        !self.in_proportion && (self.echo_marked || lasts)
    }

    /// Records a signal to congestion control; `max` is SND.MAX. Every reduction is announced to the peer by CWR,
    /// unless it is undone and `withdraws` says so.
    pub(crate) fn note_signal(&mut self, signal: Signal, max: u64, withdraws: bool) {
        match signal {
            Signal::EnterRecovery | Signal::Timeout { .. } | Signal::EcnCe => {
                self.cwr_due = true;
                self.reduced_at = max;
                if signal == Signal::EcnCe {
                    self.marked_at = max;
                }
            }
            // What was undone prevents no other reduction (`tcp_try_to_open()`).
            Signal::Undo => (self.cwr_due, self.reduced_at) = (self.cwr_due && !withdraws, 0),
            _ => {}
        }
    }

    /// Counts an ACK of `bytes` up to `una`, of which `marked` were marked; `nxt` is SND.NXT. At the end of a round it
    /// returns the acknowledged and the marked bytes of the round.
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

impl Memory {
    /// The counters, if accurate ECN is in use.
    pub(crate) fn accurate_info(&self) -> Option<AccurateEcnInfo> {
        let Accurate { receiver, sender, .. } = self.accurate_state()?;
        let from_zero = |bytes: ByteCounters| ByteCounters {
            ect0: bytes.ect0.wrapping_sub(1),
            ect1: bytes.ect1.wrapping_sub(1),
            ..bytes
        };
        Some(AccurateEcnInfo {
            marks_received: receiver.packets.wrapping_sub(5),
            received: from_zero(receiver.bytes),
            marks_delivered: sender.packets.wrapping_sub(5),
            delivered: from_zero(sender.bytes),
            sends: sender.sends(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ECE: Flags = Flags::ECE;

    #[test]
    fn the_first_syn_requests_ecn_and_retransmissions_fall_back() {
        assert_eq!(on_syn(EcnUse::Rfc3168, 0), BOTH);
        assert_eq!(on_syn(EcnUse::Rfc3168, 1), Flags::NONE);
        assert_eq!([0, 1, 2].map(|before| on_syn(EcnUse::Rfc9768, before)), [ACE, ACE, Flags::NONE]);
        assert_eq!(on_syn(EcnUse::AcceptRfc9768, 0), Flags::NONE);
        assert_eq!(on_syn(EcnUse::Accept, 0), Flags::NONE);
        assert_eq!(on_syn(EcnUse::Off, 0), Flags::NONE);
    }

    #[test]
    fn ecn_is_used_only_if_both_ends_negotiate_it() {
        use EcnUse::{Accept, Off, Rfc3168};
        let (syn, syn_ack) = (Flags::SYN, Flags::SYN | Flags::ACK);
        for (choice, said, flags, expected) in [
            (Accept, SentRequest::Nothing, syn | BOTH, Agreement::Full),
            (Rfc3168, SentRequest::Nothing, syn | BOTH, Agreement::Full),
            (Off, SentRequest::Nothing, syn | BOTH, Agreement::None),
            (Accept, SentRequest::Nothing, syn | ECE, Agreement::None),
            (Accept, SentRequest::Nothing, syn, Agreement::None),
            (Rfc3168, SentRequest::Setup, syn_ack | ECE, Agreement::Full),
            (Rfc3168, SentRequest::Setup, syn_ack | BOTH, Agreement::None),
            (Rfc3168, SentRequest::Setup, syn_ack, Agreement::None),
            (Rfc3168, SentRequest::Plain, syn_ack | ECE, Agreement::Receives),
            (Accept, SentRequest::Plain, syn_ack | ECE, Agreement::None),
            (Rfc3168, SentRequest::Setup, syn | BOTH, Agreement::Full),
            (Accept, SentRequest::Plain, syn | BOTH, Agreement::None),
        ] {
            assert_eq!(agree(choice, said, flags), expected, "{choice:?} {said:?} {flags:?}");
        }
    }

    #[test]
    fn the_ack_that_ends_a_recovery_may_begin_another_reduction() {
        let mut memory = Memory::new(Agreement::Full, Echo::UntilReduced);
        memory.note_signal(Signal::EnterRecovery, 5001, true);
        assert_eq!(memory.on_echo(5001, true), OnEcho::Reduce, "tcp_try_to_open()");
        assert_eq!(memory.on_echo(5000, true), OnEcho::Wait);
        assert_eq!(memory.on_echo(5001, false), OnEcho::Wait, "TCP_CA_CWR");
        assert_eq!(memory.on_echo(5002, false), OnEcho::Reduce);
    }

    #[test]
    fn a_segment_with_both_cwr_and_a_mark_is_a_new_mark() {
        let mut memory = Memory::new(Agreement::Full, Echo::UntilReduced);
        let arrives = |ecn, flags| Segment { ecn, flags, ..Segment::default() };
        let mut echoing = |ecn, flags| {
            memory.process_data(&arrives(ecn, flags), true);
            memory.echoing
        };
        assert!(!echoing(Ecn::Ect0, Flags::ACK));
        assert!(echoing(Ecn::Ce, Flags::ACK));
        assert!(echoing(Ecn::Ect0, Flags::ACK), "until the sender sends CWR");
        assert!(echoing(Ecn::Ce, Flags::ACK | Flags::CWR));
        assert!(!echoing(Ecn::Ect0, Flags::ACK | Flags::CWR));
    }

    #[test]
    fn an_exact_echo_acknowledges_immediately_at_each_change() {
        let mut memory = Memory::new(Agreement::Full, Echo::Exact);
        let mut arrives = |ecn| memory.process_data(&Segment { ecn, ..Segment::default() }, true);
        use Answer::{AtOnce, Ordinary};
        let answers = [Ecn::Ect0, Ecn::Ce, Ecn::Ce, Ecn::Ect0, Ecn::Ect0].map(&mut arrives);
        assert_eq!(answers, [Ordinary, AtOnce, Ordinary, AtOnce, Ordinary]);
    }

    #[test]
    fn a_round_ends_when_the_data_in_flight_at_its_start_is_acknowledged() {
        let mut memory = Memory::new(Agreement::Full, Echo::Exact);
        assert_eq!(memory.count(1001, 10_001, 1000, 0), Some((1000, 0)), "the first begins the next");
        assert_eq!(memory.count(6001, 15_001, 5000, 5000), None);
        assert_eq!(memory.count(10_001, 20_001, 4000, 0), None, "not past the end");
        assert_eq!(memory.count(11_001, 21_001, 1000, 1000), Some((10_000, 6000)));
    }

    #[test]
    fn a_first_mark_and_a_segment_that_cannot_be_marked_behind_others_ask_for_quick_acks() {
        let mut memory = Memory::new(Agreement::Full, Echo::UntilReduced);
        let mut answer =
            |ecn, flags, looks| memory.process_data(&Segment { ecn, flags, ..Segment::default() }, looks);
        assert_eq!(answer(Ecn::NotEct, Flags::ACK, true), Answer::Ordinary, "no other was capable");
        assert_eq!(answer(Ecn::Ce, Flags::ACK, false), Answer::Ordinary, "old data");
        assert_eq!(answer(Ecn::Ect0, Flags::ACK, true), Answer::Ordinary);
        assert_eq!(answer(Ecn::NotEct, Flags::ACK, true), Answer::Quickly);
        assert_eq!(answer(Ecn::Ce, Flags::ACK, true), Answer::Quickly);
        assert_eq!(answer(Ecn::Ce, Flags::ACK, true), Answer::Ordinary, "the peer has not reduced yet");
        assert_eq!(answer(Ecn::Ce, Flags::ACK | Flags::CWR, true), Answer::Quickly);
        assert!(memory.echoing);
    }
}
