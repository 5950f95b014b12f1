//! Short segments: the input of a transmission policy, the segment that it holds back, and the events that release it.

use crate::config::Cutting;
use crate::context::Context;
use crate::record::event::Event;
use crate::record::reason::{Held, Hold};
use crate::send::Sender;
use crate::send::transmit::{Before, CEILING, End, Transmit};
use crate::send::write::packets::half_window;
use crate::time::{Stamp, Time};

impl Sender {
    /// The short segment that the transmission policy held back when [`poll_transmit`](Self::poll_transmit) last
    /// returned `None`. `None` if there is no such segment, or if something other than the policy holds it back.
    pub(crate) fn held(&self, now: Time) -> Option<Held> {
        let why = self.timers.hold;
        why.is_policy().then(|| Held {
            offset: self.space.nxt - 1,
            len: self.space.data_end().saturating_sub(self.space.nxt) as u32,
            why,
            waits_for: match why {
                Hold::Minshall => self.short_unacknowledged(),
                Hold::Nagle => self.space.nxt - self.space.una,
                _ => 0,
            },
            since: self.timers.held_since.instant(now),
        })
    }

    /// Ends application data after all written bytes, so that they may be sent. An application does this when it clears
    /// TCP_CORK or flushes its buffer. A policy that waits for ACKs still waits for them (RFC 1122, section 4.2.3.4:
    /// "regardless of the PSH bit").
    pub(crate) fn uncork(&mut self, cx: &Context) {
        self.mark_end();
        self.release(cx);
    }

    /// The same without an end of application data. Linux does this with data held by MSG_MORE when TCP_NODELAY is set.
    pub(crate) fn release(&mut self, cx: &Context) {
        if cx.config.transmit == Transmit::Cork {
            self.extras().released = self.space.data_end();
        }
        self.look_for_data();
    }

    /// The application makes the sender look for data that may leave, in a recovery that a timer has begun, too
    /// (`tcp_push_pending_frames()`).
    pub(crate) fn look_for_data(&mut self) {
        self.recovery.note_timer(false);
    }

    /// Segments that are cut at the write have at most half of the smaller of the peer's first window and our own cap. Linux
    /// limits them to half of the peer's largest window.
    pub(crate) fn bound_segments(&mut self, cx: &mut Context) {
        if cx.config.half_window_segments {
            let most = half_of_small(self.space.max_wnd, u32::from(cx.agreed.header_len));
            cx.agreed.payload = most.map_or(cx.agreed.payload, |most| cx.agreed.payload.min(most));
        }
        if cx.config.cutting == Cutting::AtWrite {
            // A zero window in the SYN gives no information about later windows.
            let offered = if self.space.max_wnd == 0 { u32::MAX } else { self.space.max_wnd };
            let window = offered.min(cx.config.send_window.unwrap_or(u32::MAX));
            let half = u16::try_from(window / 2).unwrap_or(u16::MAX).max(1);
            cx.agreed.payload = cx.agreed.payload.min(half);
        }
    }

    /// The unacknowledged bytes before the end of the last short segment.
    pub(crate) fn short_unacknowledged(&self) -> u64 {
        self.extras.as_ref().map_or(0, |rare| rare.short_end.saturating_sub(self.space.una))
    }

    /// What was sent at this opportunity. Short segments do not add up to a full one, because no data follows a short
    /// segment.
    #[inline]
    pub(crate) fn before(&self, cx: &Context) -> Before {
        if self.run >= u32::from(cx.agreed.payload) { Before::FullSegments } else { Before::Nothing }
    }

    /// The kind of end of the data, for a segment at `start` that reaches it.
    pub(crate) fn end_of_data(&self, cx: &Context, start: u64, closing: bool) -> End {
        let snd = &self.space;
        let end = snd.data_end();
        // The application cannot write more before this data is sent.
        let stuck = snd.una == start && end - start >= self.send_buffer(cx);
        // A retransmission, or a segment that a SACK report limits, does not wait.
        if closing || stuck || start < snd.max {
            return End::Released;
        }
        if let Some(rare) = &self.extras
            && (rare.send_urgent > start || rare.released >= end)
        {
            return End::Released;
        }
        if snd.marks.ends_at(end) { End::Marked } else { End::More }
    }

    /// The policy holds back the rest of the data; before, another reason may have applied.
    #[cold]
    pub(crate) fn hold_tail(&mut self, cx: &mut Context, now: Time, why: Hold) {
        let before = core::mem::replace(&mut self.timers.hold, why);
        if before != why || self.run > 0 {
            self.timers.held_since = Stamp::at(now);
            if let Some(held) = self.held(now) {
                cx.note(now, Event::Held(held));
            }
        }
        // An ACK or a timeout always follows, but the application may never write the announced data.
        if !why.waits_for_ack() && cx.config.counts_as_linux() {
            // Linux has no other timer for it than that of a closed window (`tcp_check_probe_timer()`).
            self.timers.persist(now, cx.config.timer_grain);
        } else if !why.waits_for_ack() {
            self.timers.wait_until((self.timers.held_since.instant(now) + CEILING).max(now));
        }
    }

    /// Releases the segment that waits for the application, at the ceiling.
    pub(crate) fn ceiling_reached(&mut self) {
        self.timers.release();
        self.extras().released = self.space.data_end();
        self.mark_end();
    }

    /// Marks an end of application data.
    fn mark_end(&mut self) {
        let end = self.space.data_end();
        if self.space.una < end && self.space.written > 0 && !self.space.marks.ends_at(end) {
            self.space.marks.push(end);
        }
    }
}

/// The largest segment for a peer whose largest window so far is `window`, if that limits any: half of it, or all of it if it
/// has at most 536 bytes; but no less than what fills a packet of 68 bytes (`tcp_bound_to_half_wnd()`).
fn half_of_small(window: u32, header_len: u32) -> Option<u16> {
    const LEAST: u32 = 68;
    let most = half_window(window);
    (most > 0).then(|| u16::try_from(most.max(LEAST.saturating_sub(header_len))).unwrap_or(u16::MAX))
}

#[cfg(test)]
mod tests {
    use super::half_of_small;

    #[test]
    fn a_segment_has_at_most_half_of_a_window_above_536_bytes() {
        let most = |window| half_of_small(window, 32);
        assert_eq!([2000, 537, 536, 100, 10].map(most), [1000, 268, 536, 100, 36].map(Some));
        assert_eq!(most(0), None, "a zero window in the SYN says nothing");
        assert_eq!(most(1 << 20), Some(u16::MAX));
    }
}
