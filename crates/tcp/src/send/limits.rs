//! What limits the sender, and for how long.

use crate::context::Context;
use crate::record::limits::{Clock, Limit, Limits};
use crate::record::reason::Hold;
use crate::send::{LIMITS, Sender};
use crate::time::Time;

impl Sender {
    /// Starts or stops measuring what limits the sender. It does not change the behaviour of the connection.
    pub(crate) fn measure_limits(&mut self, now: Time, on: bool) {
        self.unusual.set(LIMITS, on);
        self.extras().limits = on.then(|| Box::new(Clock::starting(now)));
    }

    /// The duration of each limit, if it is measured.
    pub(crate) fn limits(&self, now: Time) -> Option<Limits> {
        Some(self.extras.as_ref()?.limits.as_ref()?.read(now))
    }

    /// Records whether the application waits for space in the send buffer.
    pub(crate) fn note_room(&mut self, cx: &Context, now: Time, has_room: bool) {
        if let Some(rare) = &mut self.extras
            && rare.limits.is_some()
        {
            rare.no_room = !has_room;
            self.update_limit(cx, now);
        }
    }

    /// Updates the limit after a sending opportunity or an ACK.
    pub(crate) fn update_limit(&mut self, cx: &Context, now: Time) {
        if self.extras.as_ref().is_none_or(|rare| rare.limits.is_none()) {
            return;
        }
        let (waiting, outstanding) = (self.unsent() > 0, self.space.is_outstanding());
        let (hold, open) = (self.timers.hold, cx.state().is_synchronized());
        let Some(rare) = &mut self.extras else { return };
        let no_room = rare.no_room;
        let Some(clock) = &mut rare.limits else { return };
        let limit = match (waiting, outstanding) {
            // The handshake does not count.
            _ if !open => Limit::Idle,
            (true, _) if hold == Hold::ReceiveWindow => Limit::ReceiveWindow,
            (true, _) => Limit::Busy,
            // The whole buffer is in flight, and the application waits with more data.
            (false, true) if no_room => Limit::SendBuffer,
            (false, true) => Limit::Busy,
            (false, false) => Limit::Idle,
        };
        clock.set_limit(now, limit);
    }
}
