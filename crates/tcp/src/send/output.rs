//! Carrying out a plan: where segments are made, but for the ordinary ones ([`crate::prediction::departing`]).

use crate::ack::process::timestamp;
use crate::config::{MssCounts, Recovery};
use crate::connection::Connection;
use crate::opening::handshake::Reply;
use crate::opening::negotiate::syn_options;
use crate::opening::state::State;
use crate::ranges::Range;
use crate::record::event::{Event, Phase};
use crate::record::reason::Reason;
use crate::recovery;
use crate::send::space::Plan;
use crate::time::{Coarse, Time};
use crate::wire::options::{Options, Timestamps};
use crate::wire::segment::{Ecn, Flags, Payload, Segment};
use crate::wire::seq::Seq;

/// Octets that options may take (RFC 9293, section 3.1: the data offset has four bits).
pub(crate) const OPTION_SPACE: usize = 40;

impl Connection {
    /// Sends what was decided.
    #[inline]
    pub(crate) fn emit(&mut self, now: Time, mut plan: Plan, segment: &mut Segment) -> Reason {
        let syn = plan.flags.has(Flags::SYN);
        if syn {
            *segment = self.syn_segment(now, plan.len);
        } else {
            self.ordinary_segment(now, &mut plan, segment);
            self.write_ecn(&mut plan, segment);
        }
        segment.seq = self.snd.seq(plan.start);
        if let Some(rare) = &mut self.rare {
            if rare.send_urgent > plan.start && !syn {
                segment.flags = segment.flags | Flags::URG;
                segment.urgent = u16::try_from(rare.send_urgent - plan.start).unwrap_or(u16::MAX);
            }
            if let Some(memory) = &mut rare.acking {
                memory.leaves(now, plan.len);
            }
            if let Some(interface) = &mut rare.interface {
                interface.take(now, u64::from(segment.header_len) + u64::from(plan.len));
            }
        }
        self.timers.delayed_ack = Time::NEVER;
        let occupied = plan.len + u32::from(plan.flags.any(Flags::SYN | Flags::FIN));
        if occupied > 0 {
            self.occupy(now, &plan, occupied);
        }
        self.count(now, &plan);
        plan.reason
    }

    /// A reset, which stands outside the sequence.
    #[cold]
    pub(crate) fn send_reply(&mut self, now: Time, reply: Reply, segment: &mut Segment) -> Reason {
        self.stats.segments_sent += 1;
        self.note(now, Event::Sent { offset: 0, len: 0, reason: Reason::Reset });
        *segment = reply.segment();
        if reply.connected && self.agreed.timestamps {
            segment.options = Options { timestamps: Some(self.timestamps(now)), ..Options::NONE };
            segment.header_len = 20 + segment.options.wire_len(self.config.layout);
        }
        Reason::Reset
    }

    /// A SYN, with the ACK of the peer's if that has come. Its window is never scaled.
    #[cold]
    fn syn_segment(&mut self, now: Time, len: u32) -> Segment {
        let timestamps = self.timestamps(now);
        let answering = self.state == State::SynReceived;
        let offered = answering.then(|| self.agreed.as_offer());
        let mut options = syn_options(&self.config, offered.as_ref(), timestamps, self.path_mtu());
        if let Some(fast_open) = self.fast_open_option() {
            options = options.with_fast_open(fast_open);
        }
        if answering {
            options = self.with_first_counters(options);
        }
        self.note_syn_data(len);
        let (flags, ack) =
            if answering { (Flags::ACK, self.rcv.acknowledged()) } else { (Flags::NONE, Seq(0)) };
        Segment {
            ack,
            flags: flags | Flags::SYN | self.ecn_on_syn(),
            header_len: 20 + options.wire_len(self.config.layout),
            window: self.rcv.syn_window(&self.config),
            payload: Payload { offset: 0, len },
            options,
            ..Segment::default()
        }
    }

    /// Any other segment: all of them acknowledge.
    #[inline]
    fn ordinary_segment(&mut self, now: Time, plan: &mut Plan, segment: &mut Segment) {
        let (window, announced) = self.rcv.announce(&self.agreed, self.config.window_growth);
        segment.window = window;
        self.write_options(now, announced, segment);
        if self.rcv.has_reports(self.agreed.sack) {
            segment.header_len = self.add_reports(&mut segment.options, plan);
        }
        segment.ack = self.rcv.acknowledged();
        segment.flags = Flags::ACK | plan.flags;
        segment.ecn = Ecn::NotEct;
        segment.urgent = 0;
        segment.payload = Payload { offset: plan.start.saturating_sub(1), len: plan.len };
    }

    /// The options that every segment carries, `announced` being the window. A header without room for options had none
    /// before: there is nothing to be cleared.
    #[inline]
    pub(crate) fn write_options(&self, now: Time, announced: u32, segment: &mut Segment) {
        let before = core::mem::replace(&mut segment.header_len, self.agreed.header_len);
        if segment.header_len > 20 {
            segment.options = self.agreed.every_segment(self.timestamps(now), announced);
        } else if before > 20 {
            segment.options = Options::NONE;
        }
    }

    /// Adds a NAK and SACK blocks where there is room; returns the header length. Where the MSS counts options, the
    /// payload makes room for them.
    #[cold]
    fn add_reports(&mut self, options: &mut Options, plan: &mut Plan) -> u8 {
        options.nak = self.rcv.take_nak();
        if options.nak.is_some() {
            self.rare().counters.naks_sent += 1;
        }
        if self.agreed.sack && self.rcv.has_blocks() {
            let used = usize::from(options.wire_len(self.config.layout));
            let room = OPTION_SPACE.saturating_sub(used + 4) / 8;
            options.sack = self.rcv.take_blocks(room.min(4));
        }
        self.make_room(options, plan)
    }

    /// The length of the header with these options, for which the payload makes room where the MSS counts them.
    pub(crate) fn make_room(&self, options: &Options, plan: &mut Plan) -> u8 {
        let header_len = 20 + options.wire_len(self.config.layout);
        let most = match self.config.mss_counts {
            MssCounts::DataAndOptions => u32::from(self.agreed.mss),
            MssCounts::Data => self.path_room(),
        };
        let spare = most.saturating_sub(u32::from(header_len) - 20).max(1);
        if plan.len > spare {
            plan.len = spare;
            plan.flags = Flags(plan.flags.0 & !(Flags::FIN.0 | Flags::PSH.0));
        }
        header_len
    }

    #[inline]
    fn timestamps(&self, now: Time) -> Timestamps {
        if self.config.timestamps {
            Timestamps { value: timestamp(now), echo: self.ts_recent }
        } else {
            Timestamps::default()
        }
    }

    /// Sequence numbers leave: moves the edges, times the segment, arms the timer.
    #[inline]
    fn occupy(&mut self, now: Time, plan: &Plan, seq_len: u32) {
        let end = plan.start + u64::from(seq_len);
        let again = plan.start < self.snd.max;
        self.snd.last_sent = now;
        if plan.reason == Reason::WindowProbe {
            self.snd.probe = false;
            self.snd.max = self.snd.max.max(end);
            return;
        }
        self.note_departure(now, plan, end);
        if again {
            self.note_resent(now, plan, end);
        } else {
            self.note_first_transmission(now, plan.start, end);
            match plan.reason {
                Reason::TailProbeData => self.loss.trouble().resend = None,
                Reason::MtuProbe => self.note_mtu_probe(now, plan, end),
                _ => {}
            }
            // Of a SYN that carries data, it is the SYN whose answer tells the round trip.
            self.time_segment(now, if plan.flags.has(Flags::SYN) { 1 } else { end });
        }
        // What recovery resends ahead of SND.NXT, after a timeout, leaves it where it is.
        let in_turn =
            matches!(plan.reason, Reason::Timeout | Reason::GoBackN) || !plan.reason.is_retransmission();
        if in_turn || plan.start <= self.snd.nxt {
            self.snd.nxt = self.snd.nxt.max(end);
        }
        if plan.flags.has(Flags::SYN) {
            if self.snd.max == 0 {
                self.first_sent = Coarse::at(now);
            }
            // A SYN-ACK that goes again leaves what was sent before the handshake was over where it is.
            self.snd.nxt = self.snd.nxt.max(if self.is_open_early() { self.snd.max } else { 0 });
        }
        self.move_max(now, self.snd.max.max(end));
        if plan.flags.has(Flags::FIN) && self.state == State::CloseWait {
            self.enter(now, State::LastAck);
        }
    }

    /// The same for what follows all that was sent before.
    #[inline]
    pub(crate) fn occupy_anew(&mut self, now: Time, end: u64) {
        self.snd.last_sent = now;
        self.time_segment(now, end);
        self.note_first_transmission(now, self.snd.max, end);
        self.snd.nxt = end;
        self.move_max(now, end);
    }

    /// When what is out left is not known: its ACK tells no round trip, and its timer runs from whenever it is asked.
    pub(crate) fn forget_timing(&mut self) {
        self.snd.timed_end = 0;
        self.first_sent = Coarse::default();
    }

    /// Times what leaves for the first time, if nothing is being timed.
    #[inline]
    fn time_segment(&mut self, now: Time, end: u64) {
        if self.snd.timed_end == 0 {
            self.snd.timed_end = end;
            self.snd.timed_at = now;
        }
    }

    /// Something is outstanding: someone must wait for its acknowledgment.
    #[inline]
    fn move_max(&mut self, now: Time, max: u64) {
        let first = !self.snd.is_outstanding();
        self.snd.max = max;
        if !self.timers.retransmit_is_armed() {
            self.restart_retransmit(now);
            self.note_retransmit_timer(now);
        } else if self.rack.is_some() {
            self.probe_before_timeout(now);
        }
        if first {
            self.start_patience(now);
        }
    }

    /// What was sent before leaves again.
    #[cold]
    fn note_resent(&mut self, now: Time, plan: &Plan, end: u64) {
        self.snd.timed_end = 0;
        // What was sent before draws no tail along: it is not what was available.
        self.run = 0;
        let sent = Range::new(plan.start, end);
        if let Some(resend) = self.loss.resend
            && resend.start == plan.start
        {
            self.loss.trouble().resend = resend.rest(end);
        }
        if self.loss.phase == recovery::Phase::Fast
            && self.config.recovery == Recovery::Sack
            && let Some(board) = &mut self.loss.trouble().scoreboard
        {
            board.resent(sent, plan.reason);
        }
        self.forget_mtu_probe();
        self.note_resent_by_time(now, sent);
        self.rare().counters.retransmitted += 1;
    }

    #[inline]
    fn count(&mut self, now: Time, plan: &Plan) {
        self.stats.segments_sent += 1;
        if self.is_heard() {
            self.note(now, Event::Sent { offset: plan.start.max(1) - 1, len: plan.len, reason: plan.reason });
            if plan.reason == Reason::Timeout {
                self.note(now, Event::Phase(Phase::TimeoutRecovery));
            }
        }
    }
}
