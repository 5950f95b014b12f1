//! The ordinary segment on its way out: on an open connection without losses nearly every one is a full segment of new
//! data or an acknowledgment without any. What [`crate::prediction::arriving`] is for arriving segments, this is for departing ones.
//!
//! What is decided and done here is what [`crate::send::space`] and [`crate::send::output`] would decide and do, less the questions
//! whose answers are known; a test sends the same segments both ways.

use crate::config::Grows;
use crate::context::Context;
use crate::record::reason::Hold;
use crate::send::{MTU_SEARCH, PACED, Sender};
use crate::time::Time;
use crate::wire::segment::Segment;

/// What an undisturbed connection would do if it were asked now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ordinary {
    /// A full segment of new data; and if it fills the window, why nothing follows, though there is more to send.
    Data { then: Option<Hold> },
    /// No data, and why; perhaps an acknowledgment.
    NoData(Hold),
    /// What is to be done is out of the ordinary.
    Other,
}

impl Sender {
    /// The ordinary case, and nearly all of them. [`Self::decide`], which knows all others, would say the same of this
    /// one.
    #[inline]
    pub(crate) fn decide_ordinary(&self, cx: &Context) -> Ordinary {
        let snd = &self.space;
        let undisturbed = self.unusual.is_empty() && self.loss.is_quiet() && snd.nxt == snd.max;
        if !undisturbed {
            return Ordinary::Other;
        }
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
            // Beyond more than one window, which of them counts is for the full procedure to say.
            let waits = unacknowledged > 0
                && unacknowledged <= window
                && !self.is_worth_half(cx, window - unacknowledged);
            return if waits { Ordinary::NoData(limit) } else { Ordinary::Other };
        }
        // The window is full behind it, though there is another one to send: no need to ask again.
        // The room that is left is less than half of it, as a segment is more.
        let fills = unacknowledged + 2 * mss > window && waiting >= 2 * mss;
        Ordinary::Data { then: fills.then_some(limit) }
    }

    /// Whether a piece that the window cuts to `room` bytes may be worth sending, as the largest window ever offered is small
    /// (RFC 9293, section 3.8.6.2.1, condition 3): then the policy has a say.
    #[inline]
    fn is_worth_half(&self, cx: &Context, room: u64) -> bool {
        room >= u64::from(self.space.max_wnd.min(cx.config.send_window.unwrap_or(u32::MAX)) / 2)
    }

    /// The smallest of the windows that count from SND.UNA, and which it is.
    #[inline]
    fn tightest_window(&self, cx: &Context) -> (u64, Hold) {
        // One segment may always be out, or nothing would ever come back.
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

    /// What [`hold_back`](Self::hold_back) does, for the reasons that [`decide_ordinary`](Self::decide_ordinary) gives: none of them
    /// is a transmission policy's.
    #[inline(always)]
    pub(crate) fn hold_ordinary(&mut self, cx: &mut Context, now: Time, why: Hold) {
        if self.run > 0 {
            if cx.config.growth.grows == Grows::WhenUsed {
                self.note_usage(cx, why);
            }
            self.run = 0;
        }
        self.timers.hold = why;
        match why {
            Hold::NoData => {}
            Hold::CongestionWindow => self.cwnd_limited = true,
            _ => self.hold_back(cx, now, why),
        }
    }

    /// Nothing about the sender makes an arriving segment unusual.
    #[inline]
    pub(crate) fn is_undisturbed(&self) -> bool {
        self.loss.is_quiet()
            && !self.unusual.has(PACED.and(MTU_SEARCH))
            && self.rack.as_ref().is_none_or(|rack| rack.is_calm())
            && !self.timers.is_persisting()
    }

    /// Takes in an ACK of some, not all, of what is outstanding: the end of a flight stops a timer, and takes the full
    /// procedure. Returns whether it was one.
    #[inline(always)]
    pub(crate) fn take_predicted_ack(&mut self, cx: &mut Context, now: Time, segment: &Segment) -> bool {
        let bytes = segment.ack.distance_from(self.space.seq(self.space.una));
        let flight = self.space.max - self.space.una;
        if bytes <= 0 || bytes as u64 >= flight {
            return false;
        }
        let ack = self.space.una + bytes as u64;
        if self.rack.as_ref().is_some_and(|rack| !rack.is_in_order(ack)) {
            return false;
        }
        if self.space.timed_end <= ack || self.rack.is_some() {
            self.take_sample(cx, now, ack, segment.options.timestamps.map(|t| t.echo));
        }
        if let Some(rack) = &mut self.rack {
            rack.take_calmly(now, ack);
        }
        self.space.una = ack;
        self.space.nxt = self.space.nxt.max(ack);
        self.note_window_source(segment.seq, segment.ack);
        self.timers.unanswered = 0;
        self.space.marks.forget(ack);
        self.open_window(cx, now, bytes as u32, flight);
        self.cwnd_limited = false;
        self.restart_retransmit(cx, now);
        self.start_patience(cx, now);
        true
    }
}
