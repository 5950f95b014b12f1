//! Short segments: what a transmission policy wants to know of the connection, what it holds back, and what sets that free.

use crate::config::Cutting;
use crate::context::Context;
use crate::record::event::Event;
use crate::record::reason::{Held, Hold};
use crate::send::Sender;
use crate::send::transmit::{Before, CEILING, End, Transmit};
use crate::time::{Stamp, Time};

impl Sender {
    /// The short segment that the transmission policy holds back, as it stood when
    /// [`poll_transmit`](Self::poll_transmit) last returned `None`; `None` if nothing is held, or something else than the policy
    /// holds it.
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

    /// All that is written may leave, and application data ends there: what an application does that takes TCP_CORK out, or
    /// flushes its buffer. A policy that waits for acknowledgments still waits for them (RFC 1122, section 4.2.3.4:
    /// "regardless of the PSH bit").
    pub(crate) fn uncork(&mut self, cx: &Context) {
        self.mark_end();
        self.release(cx);
    }

    /// The same, but application data does not end there: what Linux does with what MSG_MORE held, once TCP_NODELAY is set.
    pub(crate) fn release(&mut self, cx: &Context) {
        if cx.config.transmit == Transmit::Cork {
            self.extras().released = self.space.data_end();
        }
    }

    /// Segments that are cut when written are bounded by half of what the windows ever promised to take: the peer's first, and
    /// our own cap.
    pub(crate) fn bound_segments(&mut self, cx: &mut Context) {
        if cx.config.cutting == Cutting::AtWrite {
            // A window that was closed in the SYN says nothing of what it will be.
            let offered = if self.space.max_wnd == 0 { u32::MAX } else { self.space.max_wnd };
            let window = offered.min(cx.config.send_window.unwrap_or(u32::MAX));
            let half = u16::try_from(window / 2).unwrap_or(u16::MAX).max(1);
            cx.agreed.payload = cx.agreed.payload.min(half);
        }
    }

    /// How many unacknowledged bytes lie before the end of the last short segment.
    pub(crate) fn short_unacknowledged(&self) -> u64 {
        self.extras.as_ref().map_or(0, |rare| rare.short_end.saturating_sub(self.space.una))
    }

    /// What left at this sending opportunity. Short segments do not add up to a full one: behind one there is nothing left.
    #[inline]
    pub(crate) fn before(&self, cx: &Context) -> Before {
        if self.run >= u32::from(cx.agreed.payload) { Before::FullSegments } else { Before::Nothing }
    }

    /// What is known of the end of data, a piece at `start` being judged that reaches it.
    pub(crate) fn end_of_data(&self, cx: &Context, start: u64, closing: bool) -> End {
        let snd = &self.space;
        let end = snd.data_end();
        // What the writer waits to add finds no room before this has left.
        let stuck = snd.una == start && end - start >= self.send_buffer(cx);
        // A piece cut short by a SACK report, or resent, waits for nothing.
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

    /// The policy holds back what is left, which something else may have held until now.
    #[cold]
    pub(crate) fn hold_tail(&mut self, cx: &mut Context, now: Time, why: Hold) {
        let before = core::mem::replace(&mut self.timers.hold, why);
        if before != why || self.run > 0 {
            self.timers.held_since = Stamp::at(now);
            if let Some(held) = self.held(now) {
                cx.note(now, Event::Held(held));
            }
        }
        // An ACK comes, or a timeout; but an application may never keep its word.
        if !why.waits_for_ack() {
            self.timers.wait_until((self.timers.held_since.instant(now) + CEILING).max(now));
        }
    }

    /// What waits for the application has waited long enough.
    pub(crate) fn ceiling_reached(&mut self) {
        self.timers.stop_retransmit();
        self.extras().released = self.space.data_end();
        self.mark_end();
    }

    /// Application data ends here, as far as anybody knows.
    fn mark_end(&mut self) {
        let end = self.space.data_end();
        if self.space.una < end && self.space.written > 0 && !self.space.marks.ends_at(end) {
            self.space.marks.push(end);
        }
    }
}
