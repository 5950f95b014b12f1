//! ECN on a connection: negotiation, fields of departing segments, and feedback of arriving segments (RFC 3168, RFC
//! 9768).

use crate::config::{Config, EcnUse, SynOptions};
use crate::congestion::ecn::accurate::Accurate;
use crate::congestion::ecn::handshake::{ACE, Mode, accepted_mode, ace_of, first_ack, requested_mode};
use crate::congestion::ecn::receiver::{Receiver, Trial};
use crate::congestion::ecn::sender::{Feedback, Sender};
use crate::congestion::ecn::{AccurateEcn, Agreement, BOTH, Echo, Memory, Order, SentRequest, agree, on_syn};
use crate::congestion::{self, Signal};
use crate::connection::Connection;
use crate::opening::state::State;
use crate::receive::receiver::AckDue;
use crate::record::reason::Reason;
use crate::send::space::Plan;
use crate::time::Time;
use crate::wire::options::{OPTION_SPACE, Options};
use crate::wire::segment::{Ecn, Flags, Segment};

/// This number of SACK blocks has priority over counters (RFC 9768, section 3.2.3.3).
const BLOCKS_FIRST: usize = 2;

/// Whether a segment may be ECN-capable: only a segment with new data is. Segments without data and window probes are not
/// (sections 6.1.4 to 6.1.6), nor are retransmissions, unless `resends` is set. `max` is SND.MAX.
fn is_capable(plan: &Plan, max: u64, resends: bool) -> bool {
    plan.len > 0 && (resends || plan.start >= max) && plan.reason != Reason::WindowProbe
}

/// Whether retransmissions are ECN-capable (draft-ietf-tcpm-generalized-ecn, which the draft of Prague refers to). Without
/// ECT(1) they would wait in the queue of classic traffic.
fn resends_capable(config: &Config) -> bool {
    config.congestion == congestion::Kind::Prague
}

/// The form of the feedback, for a peer with the same configuration.
fn echo_for(config: &Config) -> Echo {
    match config.congestion {
        congestion::Kind::Dctcp => Echo::Exact,
        _ => Echo::UntilReduced,
    }
}

/// The codepoint of ECN-capable segments with accurate feedback. ECT(1) requests the treatment of L4S (RFC 9331, section
/// 4.1). Without accurate feedback Prague behaves like Reno, and sends ECT(0).
fn ect_for(config: &Config) -> Ecn {
    match config.congestion {
        congestion::Kind::Prague => Ecn::Ect1,
        _ => Ecn::Ect0,
    }
}

impl Connection {
    /// State of accurate ECN, if this connection uses it.
    fn accurate(&mut self) -> Option<&mut Accurate> {
        self.cx.ecn()?.accurate()
    }

    /// Negotiates ECN when the peer's SYN arrives, in any state.
    pub(super) fn agree_on_ecn(&mut self, now: Time, syn: &Segment) {
        let choice = self.cx.config.ecn;
        let said = match self.cx.state() {
            State::SynSent => match on_syn(choice, self.snd.unanswered()) {
                BOTH => SentRequest::Setup,
                ACE => SentRequest::Accurate,
                _ => SentRequest::Plain,
            },
            _ => SentRequest::Nothing,
        };
        match agree(choice, said, syn.flags) {
            Agreement::None => {}
            Agreement::Accurate(arrived) => self.begin_accurate(now, syn, arrived),
            agreement => {
                let memory = Memory::new(agreement, echo_for(&self.cx.config));
                self.cx.set_ecn(Some(memory));
            }
        }
    }

    /// Handles a retransmitted SYN. If it no longer requests ECN, the peer has fallen back (section 6.1.1.1). Returns
    /// `false` on an illegal change: the SYN must not switch between classic and accurate feedback (RFC 9768, section
    /// 3.1.5).
    pub(super) fn process_repeated_syn(&mut self, syn: &Segment) -> bool {
        let knows_accurate = matches!(self.cx.config.ecn, EcnUse::Rfc9768 | EcnUse::AcceptRfc9768);
        let mode = requested_mode(syn.flags);
        let Some(memory) = self.cx.ecn() else { return true };
        if let Some(accurate) = memory.accurate() {
            accurate.syn_again(syn.ecn, mode);
            return mode != Mode::Classic;
        }
        if syn.flags.0 & BOTH.0 != BOTH.0 {
            self.cx.set_ecn(None);
        }
        !(knows_accurate && matches!(mode, Mode::Accurate(_)))
    }

    /// The flags of our SYN, or of the SYN-ACK.
    pub(super) fn ecn_on_syn(&mut self) -> Flags {
        if self.cx.state() != State::SynReceived {
            return on_syn(self.cx.config.ecn, self.snd.unanswered());
        }
        let again = self.snd.unanswered();
        if let Some(accurate) = self.accurate() {
            return accurate.on_syn_ack(again);
        }
        if self.cx.ecn().is_some_and(|memory| memory.sends()) { Flags::ECE } else { Flags::NONE }
    }

    /// Sets the codepoint and the flags of a departing segment where flags echo the marks. `capable`: it has new data.
    #[inline]
    pub(super) fn write_mark(&mut self, capable: bool, segment: &mut Segment) {
        let Some(memory) = self.cx.ecn() else { return };
        let (codepoint, flags) = memory.fields_of_departure(capable);
        segment.ecn = codepoint;
        segment.flags = segment.flags | flags;
        self.cx.counters().ecn_capable_sent += u32::from(codepoint != Ecn::NotEct);
    }

    /// Sets the codepoint and the flags of a departing segment.
    #[inline]
    pub(super) fn write_ecn(&mut self, plan: &mut Plan, segment: &mut Segment) {
        let max = self.snd.space().max();
        let Some(memory) = self.cx.ecn() else { return };
        if memory.accurate().is_none() {
            return self.write_mark(is_capable(plan, max, false), segment);
        }
        self.write_accurate(plan, segment);
        self.cx.counters().ecn_capable_sent += u32::from(segment.ecn != Ecn::NotEct);
    }

    /// The echo of a mark that the reset of an abort carries.
    pub(super) fn echo_on_abort(&mut self) -> Flags {
        let memory = self.cx.ecn().filter(|memory| memory.accurate_state().is_none());
        memory.map_or(Flags::NONE, |memory| memory.fields_of_departure(false).1)
    }

    /// Returns whether an ACK reports a mark, before the ACK is processed.
    #[inline]
    pub(super) fn note_echo(&mut self, segment: &Segment) -> bool {
        let Some(memory) = self.cx.ecn() else { return false };
        if memory.accurate().is_some() {
            return self.process_ecn_counters(segment);
        }
        memory.note_echo(segment.flags)
    }

    /// Starts accurate ECN. `syn` is the peer's SYN or SYN-ACK; `arrived` is the codepoint with which our SYN arrived.
    pub(super) fn begin_accurate(&mut self, now: Time, syn: &Segment, arrived: Option<Ecn>) {
        let (mut receiver, mut sender) = (Receiver::new(syn.ecn), Sender::new());
        if syn.flags.has(Flags::ACK) {
            receiver.syn_ack_arrives(syn.ecn);
            sender.try_option(syn.options.accurate_ecn());
        }
        sender.check_not_ect(arrived.unwrap_or(Ecn::NotEct));
        let in_proportion = self.cx.config.congestion.reduces_in_proportion();
        let memory =
            Memory::counting(Agreement::Accurate(arrived), Accurate::new(receiver, sender), in_proportion);
        self.cx.set_ecn(Some(memory));
        if arrived == Some(Ecn::Ce) {
            self.react_to_handshake_mark(now);
        }
    }

    /// Reduces cwnd because a segment of the handshake was marked.
    fn react_to_handshake_mark(&mut self, now: Time) {
        let cwnd = u64::from(self.snd.cwnd());
        self.cx.counters().marks_reported += 1;
        self.snd.signal(&mut self.cx, now, Signal::EcnCe, cwnd);
    }

    /// The ACK without data that reports the codepoint of the SYN-ACK. It precedes any data (section 3.2.2.1).
    #[inline]
    pub(super) fn handshake_ack(&self) -> Option<Plan> {
        let memory = self.cx.ecn_state()?;
        let must_report_syn_ack =
            memory.accurate_state().is_some_and(|accurate| accurate.receiver.must_report_syn_ack());
        let AckDue::Now(reason) = self.rcv.due() else { return None };
        let bare = self.rcv.is_in_order() && self.cx.state().is_synchronized();
        (must_report_syn_ack && bare && self.cx.state() != State::Closed).then(|| Plan {
            start: self.snd.ack_position(&self.cx, reason),
            len: 0,
            flags: Flags::NONE,
            reason,
        })
    }

    /// Adds the counters to the options of our SYN-ACK. They test whether the path passes the option (section
    /// 3.2.3.2.1).
    pub(super) fn with_first_counters(&mut self, options: Options) -> Options {
        let (layout, announced) =
            (self.cx.config.layout, self.cx.config.syn_options == SynOptions::Announced);
        let again = self.snd.unanswered() > 0;
        let Some(accurate) = self.accurate() else { return options };
        if again || options.fast_open.is_some() || !announced || !accurate.tries_on_syn_ack() {
            return options;
        }
        let with = [1, 0].map(|len| {
            let counters = AccurateEcn::new(Order::Ect0First, accurate.receiver.bytes, len);
            options.with_accurate_ecn(counters)
        });
        let fits = |with: &Options| usize::from(with.wire_len(layout)) <= OPTION_SPACE;
        with.into_iter().find(fits).unwrap_or(options)
    }

    /// Handles a retransmitted SYN-ACK; its ACK reports the codepoint again.
    pub(super) fn process_repeated_syn_ack(&mut self, segment: &Segment, start: i64) {
        let opened = !self.cx.passive && start == 0 && segment.flags.has(Flags::ACK);
        if let Some(accurate) = self.accurate().filter(|_| opened) {
            accurate.receiver.syn_ack_arrives(segment.ecn);
        }
    }

    /// Handles the peer's SYN-ACK in a simultaneous open. It reports the codepoint of our SYN; its ACK, and the peer's
    /// of ours, report that of the SYN-ACK (section 3.2.2.1).
    pub(super) fn process_crossing_syn_ack(&mut self, now: Time, syn_ack: &Segment) {
        let Some(accurate) = self.accurate() else { return };
        accurate.receiver.syn_ack_arrives(syn_ack.ecn);
        accurate.sender.expect_handshake_ack();
        accurate.sender.try_option(syn_ack.options.accurate_ecn());
        if let Mode::Accurate(Some(reported)) = accepted_mode(syn_ack.flags) {
            accurate.sender.check_not_ect(reported);
            if reported == Ecn::Ce {
                self.react_to_handshake_mark(now);
            }
        }
    }

    /// Handles the ACK of our SYN-ACK. An ACK without data reports the codepoint of the SYN-ACK and no count (table 4).
    pub(super) fn process_handshake_ack(&mut self, now: Time, segment: &Segment) {
        let bare = segment.seq_len() == 0 && segment.options.sack.is_empty();
        let Some(accurate) = self.accurate().filter(|_| bare) else { return };
        if accurate.sender.process_handshake_ack(first_ack(ace_of(segment.flags))) {
            self.react_to_handshake_mark(now);
        }
    }

    /// Writes the count of marked packets, and the byte counters if they have changed and there is space.
    pub(super) fn write_accurate(&mut self, plan: &mut Plan, segment: &mut Segment) {
        let max = self.snd.space().max();
        let fresh = plan.len > 0 && plan.start >= max && plan.reason != Reason::WindowProbe;
        self.add_counters(plan, segment, fresh);
        let capable = is_capable(plan, max, resends_capable(&self.cx.config));
        let ect = ect_for(&self.cx.config);
        let Some(accurate) = self.accurate() else { return };
        let bare = plan.len == 0 && !plan.flags.has(Flags::FIN) && segment.options.sack.is_empty();
        segment.ecn = if capable && accurate.sender.sends() { ect } else { Ecn::NotEct };
        segment.flags = segment.flags | accurate.receiver.flags(bare);
    }

    /// Adds the byte counters. They replace SACK blocks beyond the second (section 3.2.3.3).
    fn add_counters(&mut self, plan: &mut Plan, segment: &mut Segment, fresh: bool) {
        let layout = self.cx.config.layout;
        let Some(accurate) = self.accurate() else { return };
        let receiver = &mut accurate.receiver;
        if plan.len > 0 && !fresh {
            return receiver.note_retransmission(plan.start);
        }
        let trial = match (receiver.must_report_syn_ack(), fresh) {
            (true, false) => Trial::Handshake,
            (_, true) => Trial::Data,
            _ => Trial::No,
        };
        let Some(counters) = receiver.option(trial) else { return };
        let mut options = segment.options.with_accurate_ecn(counters);
        let blocks = options.sack.as_slice().len();
        let fits = (BLOCKS_FIRST.min(blocks)..=blocks).rev().any(|blocks| {
            options.sack.keep(blocks);
            usize::from(options.wire_len(layout)) <= OPTION_SPACE
        });
        if !fits {
            return;
        }
        receiver.note_option_sent(fresh.then_some(plan.start));
        segment.options = options;
        segment.header_len = self.make_room(&options, plan);
        segment.payload.len = plan.len;
        segment.flags = Flags::ACK | plan.flags;
    }

    /// Returns whether an ACK reports a mark, before the ACK is processed. An ACK without new information may be older
    /// than an earlier one (appendix A.1).
    pub(super) fn process_ecn_counters(&mut self, segment: &Segment) -> bool {
        let delivered = self.snd.bytes_delivered();
        let stamp = segment.options.timestamps.filter(|_| self.cx.agreed.timestamps);
        let is_latest = self.snd.space().position(segment.ack) > self.snd.space().una() as i64
            || segment.seq.distance_from(self.snd.space().wl1()) > 0
            || stamp.is_some_and(|stamp| self.rcv.is_newer(stamp.value));
        let acknowledged = self.snd.space().position(segment.ack);
        let (ace, data_was_sent) = (ace_of(segment.flags), self.snd.space().max() > 1);
        let Some(memory) = self.cx.ecn() else { return false };
        memory.set_marked(false);
        let Some(accurate) = memory.accurate() else { return false };
        let feedback = Feedback { ace, option: segment.options.accurate_ecn(), is_latest };
        // Before the first data no packet can be marked. The ACE field then repeats the codepoint of the SYN-ACK and is
        // no count.
        if segment.flags.has(Flags::SYN) {
            return false;
        }
        // In a simultaneous open, data may be in flight before the ACK of our SYN-ACK arrives.
        if accurate.sender.expects_handshake_ack() {
            let bare = segment.seq_len() == 0 && segment.options.sack.is_empty();
            if bare && accurate.sender.ends_handshake(acknowledged) {
                let marked = accurate.sender.process_handshake_ack(first_ack(ace));
                accurate.sender.receive_feedback(feedback, delivered);
                memory.set_marked(marked);
                return marked;
            }
        }
        if !data_was_sent {
            return false;
        }
        let marked = accurate.sender.receive_feedback(feedback, delivered);
        memory.set_marked(marked);
        marked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_new_data_is_ecn_capable() {
        let plan = Plan { start: 1001, len: 1000, flags: Flags::NONE, reason: Reason::NewData };
        assert!(is_capable(&plan, 1001, false));
        assert!(!is_capable(&plan, 1002, false), "part of it was sent before");
        assert!(is_capable(&plan, 1002, true), "unless retransmissions are");
        for resends in [false, true] {
            assert!(!is_capable(&Plan { len: 0, reason: Reason::Fin, ..plan }, 1001, resends));
            assert!(!is_capable(&Plan { len: 1, reason: Reason::WindowProbe, ..plan }, 1001, resends));
        }
    }
}
