//! Accurate ECN, carried out (RFC 9768): where a connection counts marks, tells of them and hears of them.

use super::Memory;
use super::handshake::{Mode, ace_of, first_ack};
use super::option::{AccurateEcn, ByteCounters, Order};
use super::receiver::{Receiver, Trial};
use super::sender::{Heard, Sender};
use super::{Agreement, Answer, Echo, is_capable};
use crate::config::SynOptions;
use crate::congestion::{self, Signal};
use crate::connection::Connection;
use crate::opening::state::State;
use crate::receive::space::AckDue;
use crate::record::reason::Reason;
use crate::send::output::OPTION_SPACE;
use crate::send::space::Plan;
use crate::time::Time;
use crate::wire::options::Options;
use crate::wire::segment::{Ecn, Flags, Segment};

/// SACK blocks that are told rather than counters (section 3.2.3.3).
const BLOCKS_FIRST: usize = 2;

/// What both halves of a connection remember.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Accurate {
    pub(crate) receiver: Receiver,
    pub(crate) sender: Sender,
    /// The SYN-ACK has gone out with counters: not again.
    tried_on_syn_ack: bool,
}

impl Accurate {
    /// The flags of our SYN-ACK, which has gone out `before` so many times: the third goes without, in case a box on the way drops
    /// the others; then nothing that can be marked follows (sections 3.1.5 and 3.2.3.2.2).
    pub(super) const fn on_syn_ack(&mut self, before: u8) -> Flags {
        if before <= 1 {
            return self.receiver.syn_ack();
        }
        self.sender.stop_sending();
        Flags::NONE
    }

    /// The peer's SYN has come again, under this codepoint and asking for this (section 3.1.5).
    pub(super) fn syn_again(&mut self, arrived: Ecn, asks: Mode) {
        self.receiver.syn_again(arrived);
        self.tried_on_syn_ack = true;
        if asks == Mode::Off {
            self.sender.stop_sending();
        }
    }
}

/// What both ends of a connection with accurate ECN have counted. Bytes are of payload; they wrap at 2^32.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccurateEcnInfo {
    /// Packets that came with a mark.
    pub marks_received: u32,
    /// Bytes received, by codepoint.
    pub received: ByteCounters,
    /// Packets of ours that the peer has seen marked.
    pub marks_delivered: u32,
    /// Bytes of ours that the peer has received, by codepoint, as far as its options told.
    pub delivered: ByteCounters,
    /// Whether what we send can be marked.
    pub sends: bool,
}

impl Connection {
    /// What this connection remembers of accurate ECN, if it uses that.
    pub(super) fn accurate(&mut self) -> Option<&mut Accurate> {
        self.ecn()?.accurate.as_deref_mut()
    }

    /// Both ends agree on accurate ECN: `syn` is the peer's SYN or SYN-ACK, `told` the codepoint under which ours arrived.
    pub(super) fn begin_accurate(&mut self, now: Time, syn: &Segment, told: Option<Ecn>) {
        let (mut receiver, mut sender) = (Receiver::new(syn.ecn), Sender::new());
        if syn.flags.has(Flags::ACK) {
            receiver.syn_ack_arrives(syn.ecn);
            sender.try_option(syn.options.accurate_ecn());
        }
        sender.came(told.unwrap_or(Ecn::NotEct));
        let accurate = Accurate { receiver, sender, tried_on_syn_ack: false };
        let mut memory = Memory::new(Agreement::Accurate(told), Echo::Counted);
        memory.in_proportion = self.config.congestion == congestion::Kind::Dctcp;
        memory.accurate = Some(Box::new(accurate));
        self.rare().ecn = Some(memory);
        if told == Some(Ecn::Ce) {
            self.heed_opening_mark(now);
        }
    }

    /// A segment of the handshake was marked: the window has not been used yet, but it shrinks.
    fn heed_opening_mark(&mut self, now: Time) {
        let cwnd = u64::from(self.congestion.cwnd());
        self.rare().counters.marks_told += 1;
        self.signal(now, Signal::EcnCe, cwnd);
    }

    /// The bare ACK that tells under which codepoint the SYN-ACK has come leaves before any data (section 3.2.2.1).
    #[inline]
    pub(crate) fn handshake_ack(&self) -> Option<Plan> {
        let memory = self.rare.as_ref()?.ecn.as_ref()?;
        let owes = memory.accurate.as_ref().is_some_and(|accurate| accurate.receiver.owes());
        let AckDue::Now(reason) = self.rcv.due else { return None };
        let bare = self.rcv.is_in_order() && self.state.is_synchronized();
        (owes && bare && self.state != State::Closed).then(|| Plan {
            start: self.ack_position(reason),
            len: 0,
            flags: Flags::NONE,
            reason,
        })
    }

    /// The options of our SYN-ACK with the counters, which try the path the first time (section 3.2.3.2.1).
    pub(crate) fn with_first_counters(&mut self, options: Options) -> Options {
        let (layout, announced) = (self.config.layout, self.config.syn_options == SynOptions::Announced);
        let again = self.unanswered > 0;
        let Some(accurate) = self.accurate() else { return options };
        if again || accurate.tried_on_syn_ack || options.fast_open.is_some() || !announced {
            return options;
        }
        let with = [1, 0].map(|len| {
            let counters = AccurateEcn::new(Order::Ect0First, accurate.receiver.bytes, len);
            options.with_accurate_ecn(counters)
        });
        accurate.tried_on_syn_ack = true;
        let fits = |with: &Options| usize::from(with.wire_len(layout)) <= OPTION_SPACE;
        with.into_iter().find(fits).unwrap_or(options)
    }

    /// The SYN-ACK has come again: its ACK is told as the first one was.
    pub(crate) fn hear_syn_ack_again(&mut self, segment: &Segment, start: i64) {
        let opened = !self.passive && start == 0 && segment.flags.has(Flags::ACK);
        if let Some(accurate) = self.accurate().filter(|_| opened) {
            accurate.receiver.syn_ack_arrives(segment.ecn);
        }
    }

    /// Our SYN-ACK is acknowledged. If by a bare ACK, that tells how it arrived, and counts nothing (table 4).
    pub(crate) fn hear_first_ack(&mut self, now: Time, segment: &Segment) {
        let bare = segment.seq_len() == 0 && segment.options.sack.is_empty();
        let Some(accurate) = self.accurate().filter(|_| bare) else { return };
        if accurate.sender.take_first(first_ack(ace_of(segment.flags))) {
            self.heed_opening_mark(now);
        }
    }

    /// A segment is about to leave: the count of marked packets, and where there is news and room the counters of bytes.
    pub(super) fn write_accurate(&mut self, plan: &mut Plan, segment: &mut Segment) {
        let max = self.snd.max;
        let fresh = plan.len > 0 && plan.start >= max && plan.reason != Reason::WindowProbe;
        self.add_counters(plan, segment, fresh);
        let capable = is_capable(plan, max);
        let Some(accurate) = self.accurate() else { return };
        let bare = plan.len == 0 && !plan.flags.has(Flags::FIN) && segment.options.sack.is_empty();
        segment.ecn = if capable && accurate.sender.sends() { Ecn::Ect0 } else { Ecn::NotEct };
        segment.flags = segment.flags | accurate.receiver.flags(bare);
    }

    /// Adds the counters of bytes. Two SACK blocks come first, others give way (section 3.2.3.3).
    fn add_counters(&mut self, plan: &mut Plan, segment: &mut Segment, fresh: bool) {
        let layout = self.config.layout;
        let Some(accurate) = self.accurate() else { return };
        let receiver = &mut accurate.receiver;
        if plan.len > 0 && !fresh {
            return receiver.note_resent(plan.start);
        }
        let trial = match (receiver.owes(), fresh) {
            (true, false) => Trial::Opening,
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
        receiver.note_told(fresh.then_some(plan.start));
        segment.options = options;
        segment.header_len = self.make_room(&options, plan);
        segment.payload.len = plan.len;
        segment.flags = Flags::ACK | plan.flags;
    }

    /// An acceptable segment has come.
    pub(super) fn count_mark(&mut self, segment: &Segment) {
        let unacknowledged = segment.payload.len > 0 || self.rcv.progress().1 > 0;
        let Some(accurate) = self.accurate() else { return };
        if accurate.receiver.arrives(segment, unacknowledged) == Answer::AtOnce {
            self.rcv.acknowledge(Reason::Ack);
        }
    }

    /// Bytes of ours that are known to have arrived.
    fn bytes_delivered(&self) -> u64 {
        self.snd.una + self.loss.sacked()
    }

    /// An ACK is about to be taken in: whether it tells of a mark. One that acknowledges nothing new may be older than one that came
    /// before it (appendix A.1).
    pub(super) fn hear_counts(&mut self, segment: &Segment) -> bool {
        let delivered = self.bytes_delivered();
        let stamp = segment.options.timestamps.filter(|_| self.agreed.timestamps);
        let is_latest = self.snd.position(segment.ack) > self.snd.una as i64
            || segment.seq.distance_from(self.snd.wl1) > 0
            || stamp.is_some_and(|stamp| (stamp.value.wrapping_sub(self.ts_recent) as i32) > 0);
        let (ace, data_was_sent) = (ace_of(segment.flags), self.snd.max > 1);
        let Some(memory) = self.ecn() else { return false };
        memory.told = false;
        let Some(accurate) = &mut memory.accurate else { return false };
        let heard = Heard { ace, option: segment.options.accurate_ecn(), is_latest };
        // Before the first data nothing can have been marked: an ACK that tells of the SYN-ACK once more is no count.
        if segment.flags.has(Flags::SYN) || !data_was_sent {
            return false;
        }
        memory.told = accurate.sender.hear(heard, delivered);
        memory.told
    }

    /// It has been taken in: bytes delivered, bytes of them that were marked, and whether any packet was.
    pub(super) fn conclude_counts(&mut self) -> (u32, u32, bool) {
        let (delivered, mss) = (self.bytes_delivered(), u32::from(self.agreed.payload));
        let Some(accurate) = self.accurate() else { return (0, 0, false) };
        let (marks, newly) = accurate.sender.conclude(delivered, mss);
        self.rare().counters.marks_told += marks.packets;
        (newly, marks.bytes, marks.packets > 0)
    }

    /// What has been counted, if ECN is accurate here.
    pub(crate) fn accurate_ecn_info(&self) -> Option<AccurateEcnInfo> {
        let memory = self.rare.as_ref()?.ecn.as_ref()?;
        let Accurate { receiver, sender, .. } = memory.accurate.as_deref()?;
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
