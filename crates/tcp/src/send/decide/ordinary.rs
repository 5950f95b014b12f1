//! The fast path of the sender. On an open connection without losses, nearly every departing segment is a full segment
//! of new data or an ACK without data. This is the counterpart of header prediction for arriving segments.
//!
//! The effect is the same as that of the full path, without the tests whose results are known. A test sends the same
//! segments by both paths.

use crate::config::Grows;
use crate::context::Context;
use crate::prediction::Prediction;
use crate::record::reason::Hold;
use crate::recovery::Calm;
use crate::send::{CLOSING, MTU_SEARCH, PACED, Sender};
use crate::time::Time;
use crate::wire::segment::Segment;

/// The decision of the fast path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ordinary {
    /// Send a full segment of new data. If it fills the window, `then` is the reason why no other follows.
    Data { then: Option<Hold> },
    /// Send no data, for this reason; an ACK may be due.
    NoData(Hold),
    /// The full path must decide.
    Other,
}

impl Sender {
    /// Decides by the fast path. If it decides, the result is the same as that of [`Self::decide`].
    #[inline]
    pub(crate) fn decide_ordinary(&self, cx: &Context) -> Ordinary {
        let undisturbed = self.sends_in_turn() && self.recovery.is_quiet();
        if undisturbed { self.decide_undisturbed(cx) } else { Ordinary::Other }
    }

    /// Whether only new data is sent, if nothing is lost.
    #[inline(always)]
    pub(crate) fn sends_in_turn(&self) -> bool {
        self.unusual.is_empty() && self.space.nxt == self.space.max
    }

    /// Whether there is nothing to send, if only new data is sent.
    #[inline(always)]
    pub(crate) fn has_sent_all(&self) -> bool {
        self.sends_in_turn() && self.space.max == self.space.data_end()
    }

    /// [`Self::decide_ordinary`] where nothing is lost and only new data is sent.
    #[inline(always)]
    pub(crate) fn decide_undisturbed(&self, cx: &Context) -> Ordinary {
        let snd = &self.space;
        let (mss, waiting) = (u64::from(cx.agreed.payload), snd.data_end() - snd.nxt);
        if waiting == 0 {
            return Ordinary::NoData(Hold::NoData);
        }
        if waiting < mss || cx.config.whole_segments {
            return Ordinary::Other;
        }
        let unacknowledged = snd.nxt - snd.una;
        let (window, limit) = self.tightest_window(cx);
        if unacknowledged + mss > window {
            // If the data exceeds more than one window, the full path determines the limit.
            let waits = unacknowledged > 0
                && unacknowledged <= window
                && !self.is_worth_half(cx, window - unacknowledged);
            return if waits { Ordinary::NoData(limit) } else { Ordinary::Other };
        }
        // The segment fills the window, although more data waits. No other call is needed. The rest of the window is
        // less than half of it, because a segment is more than half.
        let fills = unacknowledged + 2 * mss > window && waiting >= 2 * mss;
        Ordinary::Data { then: fills.then_some(limit) }
    }

    /// Whether silly window avoidance may permit a segment that the window limits to `room` bytes, because the largest
    /// window of the peer is small (RFC 9293, section 3.8.6.2.1, condition 3). The policy then decides.
    #[inline]
    pub(super) fn is_worth_half(&self, cx: &Context, room: u64) -> bool {
        let reaches_half = |window: u32| room >= u64::from(window / 2);
        reaches_half(self.space.max_wnd) || cx.config.send_window.is_some_and(reaches_half)
    }

    /// The smallest of the windows from SND.UNA, and its kind.
    #[inline]
    pub(in crate::send) fn tightest_window(&self, cx: &Context) -> (u64, Hold) {
        // One segment may always be in flight; otherwise no ACK would arrive.
        let mut window = self.congestion.cwnd().max(u32::from(cx.agreed.payload));
        let mut limit = Hold::CongestionWindow;
        if self.space.wnd < window {
            (window, limit) = (self.space.wnd, Hold::ReceiveWindow);
        }
        if let Some(cap) = cx.config.send_window
            && cap < window
        {
            (window, limit) = (cap, Hold::SendWindow);
        }
        (u64::from(window), limit)
    }

    /// What [`end_opportunity`](Self::end_opportunity) does, for the reasons that
    /// [`decide_ordinary`](Self::decide_ordinary) gives: none of them
    /// is a transmission policy's.
    #[inline(always)]
    pub(crate) fn hold_ordinary(&mut self, cx: &mut Context, now: Time, why: Hold) {
        if self.run > 0 {
            if cx.config.growth.grows == Grows::WhenUsed {
                if why == Hold::CongestionWindow {
                    self.space.usage.note_limited(self.space.max);
                } else {
                    self.note_usage(cx, why);
                }
            }
            self.run = 0;
        } else if why == Hold::CongestionWindow {
            self.note_full_cwnd(cx);
        }
        self.timers.hold = why;
        match why {
            Hold::NoData => self.let_buffer_grow(cx, why),
            Hold::CongestionWindow => self.cwnd_limited = true,
            _ => {
                self.let_buffer_grow(cx, why);
                self.end_opportunity(cx, now, why);
            }
        }
    }

    /// Updates cwnd validation after an opportunity without a transmission: a recovery may have reduced cwnd to what is in
    /// flight, or below.
    #[cold]
    fn note_full_cwnd(&mut self, cx: &Context) {
        if cx.config.growth.grows == Grows::WhenUsed {
            self.space.usage.note_limited(self.space.max);
        }
    }

    /// Whether the state of the sender permits the fast path for an arriving segment.
    #[inline]
    pub(crate) fn predicts_arrival(&self) -> bool {
        self.is_calm_without(CLOSING.and(PACED).and(MTU_SEARCH))
    }

    /// The same after the application has closed.
    #[inline]
    pub(crate) fn predicts_ack_in_closing(&self) -> bool {
        self.is_calm_without(PACED.and(MTU_SEARCH))
    }

    /// The same for a sender that may pace or sample its delivery rate.
    #[inline]
    pub(crate) fn predicts_measured_arrival(&self) -> bool {
        self.is_calm_without(MTU_SEARCH)
    }

    /// Whether an ACK of the next data changes nothing but what is usual, and none of `conditions` is set.
    #[inline(always)]
    fn is_calm_without(&self, conditions: Prediction) -> bool {
        self.recovery.is_calm() && !self.unusual.has(conditions) && !self.timers.is_persisting()
    }

    /// Processes an ACK of a part of the outstanding data. An ACK of all of it stops a timer and takes the full path.
    /// Returns whether it was processed.
    #[inline(always)]
    pub(crate) fn take_predicted_ack(&mut self, cx: &mut Context, now: Time, segment: &Segment) -> bool {
        let taken = self.take_predicted_ack_unprobed(cx, now, segment);
        if taken {
            self.probe_calmly(cx, now, false);
        }
        taken
    }

    /// The same, but the caller arms the tail loss probe: with [`Self::probe_calmly`], after it has sent what it can.
    #[inline(always)]
    pub(crate) fn take_predicted_ack_unprobed(
        &mut self,
        cx: &mut Context,
        now: Time,
        segment: &Segment,
    ) -> bool {
        let bytes = segment.ack.distance_from(self.space.seq(self.space.una));
        let flight = self.space.max - self.space.una;
        if bytes <= 0 || bytes as u64 >= flight {
            return false;
        }
        let ack = self.space.una + bytes as u64;
        if self.recovery.is_by_time() {
            return self.take_predicted_ack_by_time(cx, now, segment, ack);
        }
        if self.recovery.timed().permits_sample(ack) {
            self.take_sample(cx, now, ack, segment.options.timestamps.map(|t| t.echo));
        }
        self.advance_calmly(segment, ack);
        self.open_window(cx, now, bytes as u32, flight);
        self.cwnd_limited = false;
        self.timers.restart(now, cx.config.timer_grain);
        self.start_user_timeout(cx, now);
        true
    }

    /// The same if losses are detected by time: all of it in one function, which other connections do not have on their path.
    #[inline(never)]
    fn take_predicted_ack_by_time(
        &mut self,
        cx: &mut Context,
        now: Time,
        segment: &Segment,
        ack: u64,
    ) -> bool {
        let Some(Calm { first, rtt, part }) = self.recovery.take_calmly(now, ack) else { return false };
        let echo = segment.options.timestamps.map(|t| t.echo);
        self.take_sample_since(cx, now, ack, (first, echo));
        let before = self.space.una;
        // Linux counts a segment when all of it is acknowledged (`tcp_clean_rtx_queue()`).
        let uncounted = if cx.config.growth.grows == Grows::WhenUsed { part } else { 0 };
        if uncounted > 0 {
            self.note_rest(cx, ack, part);
        }
        self.advance_calmly(segment, ack);
        self.open_window_calmly(cx, now, before + uncounted, rtt);
        self.cwnd_limited = false;
        self.restart_unprobed(cx, now);
        self.start_user_timeout(cx, now);
        true
    }

    /// Moves SND.UNA to `ack`, which is below SND.MAX.
    #[inline(always)]
    pub(in crate::send) fn advance_calmly(&mut self, segment: &Segment, ack: u64) {
        self.space.una = ack;
        self.space.nxt = self.space.nxt.max(ack);
        self.note_window_source(segment.seq, segment.ack);
        self.timers.unanswered = 0;
        self.space.marks.forget(ack);
    }
}
