//! What limits the sender, and for how long.

use crate::context::Context;
use crate::record::limits::{Clock, Limit, Limits};
use crate::record::reason::Hold;
use crate::send::{LIMITS, Sender};
use crate::time::Time;

impl Sender {
    /// Starts (or stops) measuring what limits the sender. What a connection does is the same either way.
    pub(crate) fn measure_limits(&mut self, now: Time, on: bool) {
        self.unusual.set(LIMITS, on);
        self.extras().limits = on.then(|| Box::new(Clock::starting(now)));
    }

    /// For how long what has limited the sender, if that is measured.
    pub(crate) fn limits(&self, now: Time) -> Option<Limits> {
        Some(self.extras.as_ref()?.limits.as_ref()?.read(now))
    }

    /// The application has found no room for what it wants to write, and waits.
    pub(crate) fn note_no_room(&mut self) {
        if let Some(rare) = &mut self.extras
            && rare.limits.is_some()
        {
            rare.no_room = true;
        }
    }

    /// A sending opportunity is over, or an ACK has been taken in.
    pub(crate) fn turn_limit(&mut self, cx: &Context, now: Time) {
        if self.extras.as_ref().is_none_or(|rare| rare.limits.is_none()) {
            return;
        }
        let (waiting, outstanding) = (self.unsent() > 0, self.space.is_outstanding());
        let room = self.room(cx) > 0;
        let (hold, open) = (self.timers.hold, cx.state().is_synchronized());
        let Some(rare) = &mut self.extras else { return };
        rare.no_room &= !room;
        let no_room = rare.no_room;
        let Some(clock) = &mut rare.limits else { return };
        let limit = match (waiting, outstanding) {
            // The opening is not the application's.
            _ if !open => Limit::Idle,
            (true, _) if hold == Hold::ReceiveWindow => Limit::ReceiveWindow,
            (true, _) => Limit::Busy,
            // All that the buffer takes is out, and the application has more.
            (false, true) if no_room => Limit::SendBuffer,
            (false, true) => Limit::Busy,
            (false, false) => Limit::Idle,
        };
        clock.set_limit(now, limit);
    }
}
