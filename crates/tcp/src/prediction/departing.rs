//! The ordinary segment on its way out: on an open connection without losses nearly every one is a full segment of new
//! data or an acknowledgment without any. What [`crate::prediction::arriving`] is for arriving segments, this is for departing ones.
//!
//! What is decided and done here is what [`crate::send::space`] and [`crate::send::output`] would decide and do, less the questions
//! whose answers are known; a test sends the same segments both ways.

use crate::connection::{Connection, Departure};
use crate::opening::state::State;
use crate::receive::space::AckDue;
use crate::record::reason::{Hold, Reason};
use crate::time::Time;
use crate::wire::segment::{Ecn, Flags, Payload, Segment};

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

impl Connection {
    /// The ordinary case, and nearly all of them. [`Self::decide`], which knows all others, would say the same of this
    /// one.
    #[inline]
    pub(crate) fn decide_ordinary(&self) -> Ordinary {
        let snd = &self.snd;
        let undisturbed = self.state == State::Established
            && self.loss.is_quiet()
            && self.rcv.is_in_order()
            && self.rare.as_ref().is_none_or(|rare| rare.is_calm())
            && snd.nxt == snd.max
            && !snd.probe
            && !snd.closing;
        if !undisturbed {
            return Ordinary::Other;
        }
        let (mss, waiting) = (u64::from(self.agreed.payload), snd.data_end() - snd.nxt);
        if waiting == 0 {
            return Ordinary::NoData(Hold::NoData);
        }
        if waiting < mss || self.config.whole_segments {
            return Ordinary::Other;
        }
        let unacknowledged = snd.nxt - snd.una;
        let (window, limit) = self.tightest_window();
        if unacknowledged + mss > window {
            // Beyond more than one window, which of them counts is for the full procedure to say.
            let waits = unacknowledged > 0
                && unacknowledged <= window
                && !self.is_worth_half(window - unacknowledged);
            return if waits { Ordinary::NoData(limit) } else { Ordinary::Other };
        }
        // The window is full behind it, though there is another one to send: no need to ask again.
        // What room is left is less than half of it, as a segment is more.
        let fills = unacknowledged + 2 * mss > window && waiting >= 2 * mss;
        Ordinary::Data { then: fills.then_some(limit) }
    }

    /// Whether a piece that the window cuts to `room` bytes may be worth sending, as the largest window ever offered is small
    /// (RFC 9293, section 3.8.6.2.1, condition 3): then the policy has a say.
    #[inline]
    fn is_worth_half(&self, room: u64) -> bool {
        room >= u64::from(self.snd.max_wnd.min(self.config.send_window.unwrap_or(u32::MAX)) / 2)
    }

    /// The smallest of the windows that count from SND.UNA, and which it is.
    #[inline]
    fn tightest_window(&self) -> (u64, Hold) {
        // One segment may always be out, or nothing would ever come back.
        let mut window = self.congestion.cwnd().max(u32::from(self.agreed.payload));
        let mut limit = Hold::CongestionWindow;
        if self.snd.wnd < window {
            (window, limit) = (self.snd.wnd, Hold::ReceiveWindow);
        }
        if let Some(cap) = self.config.send_window
            && cap < window
        {
            (window, limit) = (cap, Hold::SendWindow);
        }
        (u64::from(window), limit)
    }

    /// Sends a full segment of new data.
    #[inline]
    pub(crate) fn send_data(&mut self, now: Time, segment: &mut Segment) -> Reason {
        let (start, len) = (self.snd.nxt, u32::from(self.agreed.payload));
        let end = start + u64::from(len);
        self.write_header(now, start, segment);
        segment.flags = if self.snd.marks.lies_in(start, end) { Flags::ACK | Flags::PSH } else { Flags::ACK };
        segment.payload = Payload { offset: start - 1, len };
        self.occupy_anew(now, end);
        Reason::NewData
    }

    /// Sends the acknowledgment that is due, if one is.
    #[inline]
    pub(crate) fn send_ack(&mut self, now: Time, segment: &mut Segment) -> Option<Reason> {
        let AckDue::Now(reason) = self.rcv.due else { return None };
        let position = self.ack_position(reason);
        self.write_header(now, position, segment);
        segment.flags = Flags::ACK;
        segment.payload = Payload { offset: position.saturating_sub(1), len: 0 };
        Some(reason)
    }

    /// What the headers of both have in common: all acknowledge, none has anything else to report.
    #[inline(always)]
    fn write_header(&mut self, now: Time, position: u64, segment: &mut Segment) {
        let (window, announced) = self.rcv.announce(&self.agreed, self.config.window_growth);
        self.write_options(now, announced, segment);
        segment.window = window;
        segment.seq = self.snd.seq(position);
        segment.ack = self.rcv.acknowledged();
        segment.ecn = Ecn::NotEct;
        segment.urgent = 0;
        self.timers.delayed_ack = Time::NEVER;
        self.stats.segments_sent += 1;
    }

    /// Carries out what [`Self::decide_ordinary`] says, or the full procedure.
    #[inline]
    pub(crate) fn transmit_ordinary(&mut self, now: Time, segment: &mut Segment) -> Option<Departure> {
        match self.decide_ordinary() {
            Ordinary::Data { then } => {
                let reason = self.send_data(now, segment);
                self.run = self.run.saturating_add(segment.payload.len);
                if let Some(why) = then {
                    self.hold_back(now, why);
                }
                Some(Departure { reason, last: then.is_some() })
            }
            Ordinary::NoData(why) => {
                let reason = self.send_ack(now, segment);
                self.hold_back(now, why);
                reason.map(|reason| Departure { reason, last: true })
            }
            Ordinary::Other => self.transmit_any(now, segment),
        }
    }
}
