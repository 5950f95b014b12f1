//! Construction of segments: header, options, and the updates of the state.

use crate::config::{MssCounts, OldSegments, ReceiveMemory, StateMachine};
use crate::connection::Connection;
use crate::opening::negotiate::syn_options;
use crate::opening::reply::Reply;
use crate::opening::state::State;
use crate::record::event::Event;
use crate::record::reason::{Hold, Reason};
use crate::send::space::{Decision, Plan};
use crate::time::Time;
use crate::wire::options::{OPTION_SPACE, Options, Timestamps, timestamp};
use crate::wire::segment::{Ecn, Flags, Payload, Segment};
use crate::wire::seq::Seq;

/// The header length of a segment with timestamps and nothing else but perhaps SACK-permitted (RFC 7323, appendix A).
const WITH_TIMESTAMPS: u8 = 32;

/// Replaces the timestamps of a segment with a header of [`WITH_TIMESTAMPS`] bytes that has no other options. Returns whether
/// it is one.
#[inline]
fn replace_only_timestamps(segment: &mut Segment, stamps: Timestamps) -> bool {
    let Options { timestamps: Some(old), sack_permitted: false, .. } = &mut segment.options else {
        return false;
    };
    *old = stamps;
    true
}

/// How many SACK blocks fit beside options of `used` bytes.
#[inline]
fn room_for_blocks(used: usize) -> usize {
    (OPTION_SPACE.saturating_sub(used + 4) / 8).min(4)
}

impl Connection {
    /// Sends the segment of a plan.
    #[inline]
    pub(super) fn emit(&mut self, now: Time, mut plan: Plan, segment: &mut Segment) -> Reason {
        let syn = plan.flags.has(Flags::SYN);
        if syn {
            *segment = self.syn_segment(now, plan.len);
        } else {
            self.ordinary_segment(now, &mut plan, segment);
            self.write_ecn(&mut plan, segment);
        }
        segment.seq = self.snd.space().seq(plan.start);
        if plan.len == 0 && self.cx.config.state_machine == StateMachine::Freebsd && self.repeats_fin(&plan) {
            segment.flags = segment.flags | Flags::FIN;
            segment.seq = segment.seq.minus(1);
            segment.payload.offset -= 1;
        }
        if self.cx.config.push_bursts && !syn && plan.len > 0 && plan.start >= self.snd.space().max() {
            self.push_at_burst_end(segment);
        }
        if let Some(urgent) = self.snd.urgent_behind(plan.start).filter(|_| !syn) {
            segment.flags = segment.flags | Flags::URG;
            segment.urgent = urgent;
        }
        self.rcv.segment_leaves(&self.cx, now, plan.len);
        self.rcv.stop_delayed_ack();
        self.snd.departs(&mut self.cx, now, &plan, segment.header_len);
        plan.reason
    }

    /// Whether an ACK repeats our FIN, which is not acknowledged (FreeBSD, `tcp_output()`). If data before the peer's FIN is
    /// missing, it does not: two such ends would answer each other's FINs without end.
    #[cold]
    fn repeats_fin(&self, plan: &Plan) -> bool {
        let space = self.snd.space();
        let waits = match self.cx.state() {
            State::Closing | State::LastAck => true,
            State::FinWait1 => self.rcv.is_in_order(),
            _ => false,
        };
        let at_end = space.nxt() == space.max() && plan.start == space.max();
        let ordinary = !matches!(plan.reason, Reason::ChallengeAck | Reason::KeepAlive | Reason::WindowProbe);
        waits && space.fin_sent() && at_end && ordinary
    }

    /// Writes a reset, which is independent of the send sequence.
    #[cold]
    pub(super) fn send_reply(&mut self, now: Time, reply: Reply, segment: &mut Segment) -> Reason {
        self.cx.stats.segments_sent += 1;
        self.cx.note(now, Event::Sent { offset: 0, len: 0, reason: Reason::Reset });
        *segment = reply.segment();
        if reply.connected {
            self.write_options_of_abort(now, segment);
        }
        Reason::Reset
    }

    /// The reset of an abort has timestamps. In Linux it is made like any other segment: it reports data behind a gap, and
    /// echoes a mark (`tcp_send_active_reset()`).
    fn write_options_of_abort(&mut self, now: Time, segment: &mut Segment) {
        let timestamps = self.cx.agreed.timestamps.then(|| self.timestamps(now));
        let mut options = Options { timestamps, ..Options::NONE };
        let layout = self.cx.config.layout;
        if self.cx.config.old_segments == OldSegments::Linux {
            if self.cx.agreed.sack && self.rcv.has_blocks() {
                options.sack = self.rcv.take_blocks(room_for_blocks(usize::from(options.wire_len(layout))));
            }
            segment.flags = segment.flags | self.echo_on_abort();
            if self.cx.config.receive_memory == ReceiveMemory::Linux {
                segment.window = self.rcv.announce_at_close(&self.cx.agreed);
            }
        }
        segment.header_len = 20 + options.wire_len(layout);
        segment.options = options;
    }

    /// A SYN, or a SYN-ACK if the peer's SYN has arrived. Its window is never scaled.
    #[cold]
    fn syn_segment(&mut self, now: Time, len: u32) -> Segment {
        let timestamps = self.timestamps(now);
        let answering = self.cx.state() == State::SynReceived;
        let offered = answering.then(|| self.cx.agreed.as_offer());
        let mut options = syn_options(&self.cx.config, offered.as_ref(), timestamps, self.snd.path_mtu());
        if let Some(fast_open) = self.snd.fast_open_option(&self.cx) {
            options = options.with_fast_open(fast_open);
        }
        if answering {
            options = self.with_first_counters(options);
        }
        self.snd.note_syn_data(&mut self.cx, len);
        let (flags, ack) =
            if answering { (Flags::ACK, self.rcv.acknowledged()) } else { (Flags::NONE, Seq(0)) };
        Segment {
            ack,
            flags: flags | Flags::SYN | self.ecn_on_syn(),
            header_len: 20 + options.wire_len(self.cx.config.layout),
            window: self.rcv.syn_window(&self.cx),
            payload: Payload { offset: 0, len },
            options,
            ..Segment::default()
        }
    }

    /// Any other segment. All of them carry an ACK.
    #[inline]
    fn ordinary_segment(&mut self, now: Time, plan: &mut Plan, segment: &mut Segment) {
        let (window, announced) = self.rcv.announce(&self.cx.agreed, self.cx.config.window_growth);
        segment.window = window;
        self.write_options(now, announced, segment);
        if self.rcv.has_reports(self.cx.agreed.sack) {
            segment.header_len = self.add_reports(&mut segment.options, plan);
        }
        segment.ack = self.rcv.acknowledged();
        segment.flags = Flags::ACK | plan.flags;
        segment.ecn = Ecn::NotEct;
        segment.urgent = 0;
        segment.payload = Payload { offset: plan.start.saturating_sub(1), len: plan.len };
    }

    /// Writes the options that every segment carries; `announced` is the window. If the header length of the old
    /// segment was 20, it had no options to clear.
    #[inline(always)]
    pub(super) fn write_options(&self, now: Time, announced: u32, segment: &mut Segment) {
        let before = core::mem::replace(&mut segment.header_len, self.cx.agreed.header_len);
        if segment.header_len > 20 {
            self.write_some_options(now, announced, before, segment);
        } else if before > 20 {
            segment.options = Options::NONE;
        }
    }

    /// The same if there are options. Most often the old segment had the same, and only the values change.
    #[inline(always)]
    fn write_some_options(&self, now: Time, announced: u32, before: u8, segment: &mut Segment) {
        let agreed = &self.cx.agreed;
        let stamps = Timestamps { value: timestamp(now), echo: self.rcv.ts_recent() };
        let alike = before == WITH_TIMESTAMPS && segment.header_len == before && agreed.timestamps;
        if !alike || !replace_only_timestamps(segment, stamps) {
            segment.options = agreed.every_segment(stamps, announced);
        }
        debug_assert_eq!(segment.options, agreed.every_segment(stamps, announced));
    }

    /// Adds a NAK and SACK blocks if there is space; returns the header length. If the MSS includes options, they
    /// reduce the payload.
    #[cold]
    fn add_reports(&mut self, options: &mut Options, plan: &mut Plan) -> u8 {
        options.nak = self.rcv.take_nak();
        if options.nak.is_some() {
            self.cx.counters().naks_sent += 1;
        }
        if self.cx.agreed.sack && self.rcv.has_blocks() {
            let used = usize::from(options.wire_len(self.cx.config.layout));
            options.sack = self.rcv.take_blocks(room_for_blocks(used));
        }
        let whole = plan.len;
        let header_len = self.make_room(options, plan);
        if plan.len < whole {
            self.snd.move_push_behind_cut(&self.cx, plan, whole);
        }
        header_len
    }

    /// The payload of a full segment of a burst that begins or goes on now.
    #[inline]
    pub(super) fn payload_of_burst(&self) -> u32 {
        if self.rcv.has_reports(self.cx.agreed.sack) {
            return self.payload_beside_reports().min(self.cx.burst_payload());
        }
        self.cx.burst_payload()
    }

    /// The payload of a full segment with the SACK blocks that wait.
    pub(super) fn payload_beside_reports(&self) -> u32 {
        let full = u32::from(self.cx.agreed.payload);
        let counts = self.cx.config.mss_counts == MssCounts::DataAndOptions && self.cx.agreed.sack;
        if !counts || !self.rcv.has_reports(true) {
            return full;
        }
        let blocks = self.rcv.waiting_blocks().min(self.room_for_blocks());
        // The option with its padding.
        full.saturating_sub(4 + 8 * blocks as u32).max(1)
    }

    /// Whether SACK blocks shorten the new data that is about to leave, as the first of a burst. Linux chooses the size of a burst
    /// before its first segment (`tcp_current_mss()` in `tcp_push_pending_frames()`): a D-SACK is reported once, but all segments
    /// of the burst are as long as the one that reports it.
    #[inline]
    pub(super) fn shortens_burst(&mut self, decision: &Decision) -> bool {
        let space = self.snd.space();
        let in_window = || (space.una() + u64::from(space.wnd())).saturating_sub(space.nxt());
        let room = match decision {
            Decision::Send(plan) | Decision::Short(plan) if plan.start >= space.max() => {
                if plan.len > 0 && plan.start > 0 { u64::MAX } else { 0 }
            }
            // New data would leave first (`tcp_xmit_recovery()`).
            Decision::Send(_) if self.snd.tries_new_data() => in_window(),
            // The peer's window may permit the shorter segment (`tcp_snd_wnd_test()`).
            Decision::Hold(Hold::ReceiveWindow) | Decision::Last(_, Hold::ReceiveWindow) => in_window(),
            // What the cork or Nagle's rule holds back may be a full segment beside reports (`tcp_nagle_test()`).
            Decision::Hold(hold) | Decision::Last(_, hold)
                if hold.is_policy() && space.nxt() == space.max() =>
            {
                self.snd.unsent()
            }
            Decision::Send(_) | Decision::Short(_) | Decision::Hold(_) | Decision::Last(..) => 0,
        };
        room > 0 && self.rcv.has_reports(self.cx.agreed.sack) && self.begins_short_burst(room)
    }

    /// The same if there are reports, and `room` in the window for new data.
    #[cold]
    fn begins_short_burst(&mut self, room: u64) -> bool {
        let payload = self.payload_beside_reports();
        let begins = payload < u32::from(self.cx.agreed.payload)
            && room >= u64::from(payload)
            && !self.cx.is_short_burst()
            && self.cx.config.counts_as_linux();
        if begins {
            self.cx.begin_short_burst(payload);
        }
        begins
    }

    /// How many SACK blocks fit beside the options that every segment carries.
    #[inline]
    pub(super) fn room_for_blocks(&self) -> usize {
        room_for_blocks(usize::from(self.cx.agreed.header_len).saturating_sub(20))
    }

    /// The header length with these options. If the MSS includes options, they reduce the payload of the plan.
    pub(super) fn make_room(&self, options: &Options, plan: &mut Plan) -> u8 {
        let header_len = 20 + options.wire_len(self.cx.config.layout);
        let most = match self.cx.config.mss_counts {
            // A small window of the peer may limit segments further.
            MssCounts::DataAndOptions => {
                let agreed = &self.cx.agreed;
                u32::from(agreed.mss).min(u32::from(agreed.payload) + u32::from(agreed.header_len) - 20)
            }
            MssCounts::Data => self.snd.path_room(),
        };
        let spare = most.saturating_sub(u32::from(header_len) - 20).max(1);
        if plan.len > spare {
            let spare = self.snd.part_that_fits(&self.cx, plan, spare);
            plan.len = spare;
            // An end of application data before the cut still counts.
            let ends = self.snd.space().is_marked(plan.start, plan.start + u64::from(spare));
            plan.flags = plan.flags.without(if ends { Flags::FIN } else { Flags::FIN | Flags::PSH });
        }
        header_len
    }

    /// Our timestamp and the echo of the peer's.
    #[inline]
    fn timestamps(&self, now: Time) -> Timestamps {
        if self.cx.config.timestamps {
            Timestamps { value: timestamp(now), echo: self.rcv.ts_recent() }
        } else {
            Timestamps::default()
        }
    }
}
