//! How much may leave: cwnd, the windows, and what is in the network.

use crate::config::{Grows, Recovery};
use crate::context::Context;
use crate::ranges::Range;
use crate::record::reason::Hold;
use crate::recovery::Phase;
use crate::send::Sender;
use crate::send::space::SendSpace;
use crate::time::Time;

impl Sender {
    /// Bytes in the network as far as the sender can tell.
    #[inline]
    pub(crate) fn in_network(&self, cx: &Context) -> u64 {
        let (una, nxt) = (self.space.una, self.space.nxt);
        if let Some(rack) = &self.rack
            && !self.loss.is_quiet()
        {
            return rack.pipe(una, self.space.max, self.loss.sacked());
        }
        let Some(board) = &self.loss.scoreboard else { return nxt - una };
        let by_sack = cx.config.recovery == Recovery::Sack;
        match self.loss.phase {
            Phase::Fast if by_sack => board.pipe(una, self.space.max),
            // Other recoveries count what left the network by duplicate ACKs: not twice.
            Phase::Fast => nxt - una,
            Phase::Open if !(by_sack && cx.config.limited_transmit) => nxt - una,
            Phase::Open | Phase::Loss => {
                (nxt - una).saturating_sub(board.sacked.covered_within(Range::new(una, nxt)))
            }
        }
    }

    /// cwnd with what duplicate ACKs add to it.
    #[inline]
    pub(crate) fn inflated_cwnd(&self) -> u32 {
        self.congestion.cwnd().saturating_add(self.loss.inflation)
    }

    /// Whether cwnd is used up, were it not for what duplicate ACKs say has left the network.
    pub(in crate::send) fn at_cwnd(&self) -> bool {
        self.space.nxt - self.space.una >= u64::from(self.congestion.cwnd())
    }

    /// How many bytes from `start` on the windows permit, and which of them is the tightest.
    pub(crate) fn allowed(&self, cx: &Context, start: u64) -> (u64, Hold) {
        let snd = &self.space;
        let whole = |window: u64| {
            let mss = u64::from(cx.agreed.payload);
            // A window below one segment is used as it is, or nothing could ever go.
            if cx.config.whole_segments && window > mss { window / mss * mss } else { window }
        };
        // One segment may always be out, or nothing would ever come back.
        let least = u32::from(cx.agreed.payload);
        let cwnd = u64::from(self.recovery_window().saturating_add(self.limited_transmit(cx)).max(least));
        let mut allowed = whole(cwnd).saturating_sub(self.in_network(cx));
        let mut limit = Hold::CongestionWindow;
        let peer = (snd.una + whole(u64::from(snd.wnd))).saturating_sub(start);
        if peer < allowed {
            allowed = peer;
            limit = Hold::ReceiveWindow;
        }
        if let Some(cap) = cx.config.send_window {
            let own = (snd.una + whole(u64::from(cap))).saturating_sub(start);
            if own < allowed {
                allowed = own;
                limit = Hold::SendWindow;
            }
        }
        (allowed, limit)
    }

    /// Room for new data on the first two duplicate ACKs (RFC 3042). Where SACK reports rule, what they name has left
    /// the network already and makes the room by itself.
    #[inline]
    fn limited_transmit(&self, cx: &Context) -> u32 {
        let counts = cx.config.limited_transmit
            && self.loss.phase == Phase::Open
            && self.loss.dup_acks > 0
            && (!self.recovers_by_sack(cx) || self.loss.sacked() == 0);
        if counts { self.loss.dup_acks.min(2) * u32::from(cx.agreed.payload) } else { 0 }
    }

    /// cwnd, or what takes its place while a recovery lasts.
    pub(crate) fn recovery_window(&self) -> u32 {
        let prr = self.rack.as_ref().and_then(|rack| rack.prr.as_ref());
        match prr {
            Some(prr) if self.loss.phase == Phase::Fast => u32::try_from(prr.window()).unwrap_or(u32::MAX),
            _ => self.inflated_cwnd(),
        }
    }

    /// Nothing more is sent for now, and why; what limits the sender may be measured.
    pub(crate) fn rest(&mut self, cx: &mut Context, now: Time, why: Hold) {
        if matches!(why, Hold::Pacing | Hold::Autocork) {
            return self.wait_for_turn(why);
        }
        self.hold_back(cx, now, why);
        self.turn_limit(cx, now);
    }

    /// Nothing can be sent, and why: an idle sender before a closed window must probe it.
    #[inline]
    pub(crate) fn hold_back(&mut self, cx: &mut Context, now: Time, why: Hold) {
        if why.is_policy() {
            self.hold_tail(cx, now, why);
        }
        if cx.config.growth.grows == Grows::WhenUsed && self.run > 0 {
            self.note_usage(cx, why);
        }
        self.timers.hold = why;
        match why {
            Hold::CongestionWindow => self.cwnd_limited = true,
            Hold::Burst => self.cwnd_limited |= self.waits_for_cwnd(cx),
            Hold::ReceiveWindow => self.timers.persist(now, cx.config.timer_grain),
            _ => {}
        }
        self.run = 0;
    }

    /// A sending opportunity is over: how far it used cwnd.
    #[cold]
    pub(in crate::send) fn note_usage(&mut self, cx: &Context, why: Hold) {
        let full = self.in_network(cx) + u64::from(cx.agreed.payload) > u64::from(self.recovery_window());
        let SendSpace { una, max, .. } = self.space;
        let limits = why == Hold::CongestionWindow || why == Hold::Burst && self.waits_for_cwnd(cx);
        self.space.usage.note(una, max, limits || full);
    }

    /// Whether it is cwnd that cuts short what waits.
    #[cold]
    fn waits_for_cwnd(&self, cx: &Context) -> bool {
        let (room, limit) = self.allowed(cx, self.space.nxt);
        limit == Hold::CongestionWindow && room <= self.unsent()
    }
}
