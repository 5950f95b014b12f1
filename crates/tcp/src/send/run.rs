//! The sender in a *run*: nothing is lost, and ACKs of whole segments arrive, each of which may set new data free. What holds
//! for all of a run is looked at once, when it begins. The calls for a single segment look at it each time.

use crate::config::{Grows, TimerGrain};
use crate::congestion::AvoidanceAck;
use crate::context::Context;
use crate::record::reason::Hold;
use crate::recovery::{Whole, tail_probe};
use crate::send::Sender;
use crate::send::decide::ordinary::Ordinary;
use crate::time::Time;
use crate::wire::segment::Segment;

/// What follows from cwnd and the window of the peer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SendRun {
    cwnd: u32,
    /// The smallest window from SND.UNA, and its kind.
    window: u64,
    limit: Hold,
    /// The size of the send buffer in bytes; `None` if it counts memory, and the writer sleeps.
    pub(crate) buffer: Option<u64>,
}

impl Sender {
    /// A run, if one can begin: CUBIC of Linux is past slow start, losses are detected by time, bursts end with PSH, and the
    /// state is ordinary.
    pub(crate) fn begin_run(&self, cx: &Context) -> Option<SendRun> {
        let config = &*cx.config;
        let is_for_runs = config.tail_loss_probe
            && config.push_bursts
            && !config.whole_segments
            && config.user_timeout.is_none()
            && config.timer_grain == TimerGrain::Continuous
            && config.growth.grows == Grows::WhenUsed;
        let is_ordinary = self.sends_in_turn()
            && self.predicts_arrival()
            && self.run == 0
            && self.recovery.begins_run(self.space.una, self.space.max)
            && self.congestion.takes_avoidance_ack()
            && self.extras.as_ref().is_none_or(|extras| extras.deadline().is_never());
        if is_for_runs && is_ordinary { self.size_run(cx) } else { None }
    }

    /// The peer announces another window.
    pub(crate) fn set_window_in_run(&mut self, window: u32) {
        self.space.wnd = window;
    }

    /// What follows from cwnd and the window of the peer. `None` if the send buffer counts memory, and its writer does not sleep.
    #[cold]
    pub(crate) fn size_run(&self, cx: &Context) -> Option<SendRun> {
        let (window, limit) = self.tightest_window(cx);
        let counts_memory = Self::counts_memory(cx);
        let buffer = (!counts_memory).then(|| self.send_buffer(cx));
        let run = SendRun { cwnd: self.congestion.cwnd(), window, limit, buffer };
        (!counts_memory || self.sleeps()).then_some(run)
    }

    /// Whether cwnd is still that of the run.
    #[inline(always)]
    pub(crate) fn keeps_size(&self, run: &SendRun) -> bool {
        self.congestion.cwnd() == run.cwnd
    }

    /// Processes an ACK of a part of the outstanding data that ends with a segment. Returns false, without any change, for any
    /// other ACK. The timers are armed by [`Self::arm_in_run`].
    #[inline(always)]
    pub(crate) fn take_ack_in_run(&mut self, cx: &mut Context, now: Time, segment: &Segment) -> bool {
        let before = self.space.una;
        let bytes = segment.ack.distance_from(self.space.seq(before));
        if bytes <= 0 || bytes as u64 >= self.space.max - before {
            return false;
        }
        let ack = before + bytes as u64;
        let Some(Whole { first, rtt, ends_round }) = self.recovery.take_in_run(now, ack) else {
            return false;
        };
        self.learn_sample(cx, now, now - first, ends_round);
        self.advance_calmly(segment, ack);
        self.congestion.acked_in_avoidance(AvoidanceAck {
            bytes: bytes as u32,
            now,
            mss: u32::from(cx.agreed.payload).max(1),
            rtt: Some(rtt),
            cwnd_limited: self.space.usage.is_limited(),
        });
        self.cwnd_limited = false;
        true
    }

    /// [`Self::decide_undisturbed`] in a run.
    #[inline(always)]
    pub(crate) fn decide_in_run(&self, cx: &Context, run: &SendRun) -> Ordinary {
        let snd = &self.space;
        let (mss, waiting) = (u64::from(cx.agreed.payload), snd.data_end() - snd.nxt);
        let after_one = snd.nxt - snd.una + mss;
        if waiting < 2 * mss || after_one > run.window {
            return self.decide_undisturbed(cx);
        }
        Ordinary::Data { then: (after_one + mss > run.window).then_some(run.limit) }
    }

    /// A full segment of `len` bytes is sent. If it fills the window, `then` is the reason why no other follows.
    #[inline(always)]
    pub(crate) fn conclude_in_run(&mut self, cx: &mut Context, now: Time, len: u32, then: Option<Hold>) {
        if then == Some(Hold::CongestionWindow) {
            // The only segment of its sending opportunity.
            self.space.usage.note_limited(self.space.max);
            self.timers.hold = Hold::CongestionWindow;
            self.cwnd_limited = true;
            return;
        }
        self.count_run(len);
        if let Some(why) = then {
            self.hold_ordinary(cx, now, why);
        }
    }

    /// The retransmission timer and the tail loss probe start anew. `has_sent`: behind new data.
    #[inline(always)]
    pub(crate) fn arm_in_run(&mut self, cx: &Context, now: Time, has_sent: bool) {
        let timeout = now + self.timers.rto();
        self.recovery.set_timeout_calmly(timeout);
        let timeout = if has_sent { self.timeout_behind_new_data(cx, now, timeout) } else { timeout };
        let is_lone = self.space.max - self.space.una <= u64::from(cx.agreed.payload);
        self.timers.probe(now + tail_probe::timeout(self.srtt(cx), is_lone), timeout);
    }

    /// [`Self::next_deadline`] in a run: no other timer is armed.
    #[inline(always)]
    pub(crate) fn deadline_in_run(&self) -> Time {
        self.timers.main().0
    }
}
