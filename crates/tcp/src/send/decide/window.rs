//! The limits of the sender: cwnd, the windows, and the bytes in flight.

use crate::config::{Grows, Recovery};
use crate::context::Context;
use crate::ranges::Range;
use crate::record::reason::Hold;
use crate::recovery::Phase;
use crate::send::Sender;
use crate::send::space::SendSpace;
use crate::time::Time;

impl Sender {
    /// How much of cwnd is in use: the bytes in flight, and the padding of short segments if cwnd counts packets.
    #[inline]
    pub(crate) fn in_network(&self, cx: &Context) -> u64 {
        if self.recovery.is_quiet() {
            return self.bytes_in_network(cx);
        }
        // A FIN takes no room beside a full segment of data.
        let fin = u64::from(self.has_fin_in_full_segment(cx) && self.cwnd_counts_packets(cx));
        let padding = self.recovery.padding_in_network();
        let padded = self.recovery.pipe(self.space.una, self.space.max, padding);
        padded.map_or_else(|| self.bytes_in_network(cx) + padding, |pipe| pipe.saturating_sub(fin))
    }

    /// The sender's estimate of the bytes in flight.
    #[inline]
    pub(crate) fn bytes_in_network(&self, cx: &Context) -> u64 {
        let (una, nxt) = (self.space.una, self.space.nxt);
        if !self.recovery.is_quiet()
            && let Some(pipe) = self.recovery.pipe(una, self.space.max, 0)
        {
            return pipe;
        }
        let Some(board) = self.recovery.scoreboard() else { return nxt - una };
        let by_sack = cx.config.recovery == Recovery::Sack;
        match self.recovery.phase() {
            Phase::Fast if by_sack => board.pipe(una, self.space.max),
            // Other recoveries count segments that have left the network by duplicate ACKs. They must not count twice.
            Phase::Fast => nxt - una,
            Phase::Open if !(by_sack && cx.config.limited_transmit) => nxt - una,
            Phase::Open | Phase::Loss => {
                (nxt - una).saturating_sub(board.reported().covered_within(Range::new(una, nxt)))
            }
        }
    }

    /// cwnd with the inflation by duplicate ACKs.
    #[inline]
    pub(crate) fn inflated_cwnd(&self) -> u32 {
        self.congestion.cwnd().saturating_add(self.recovery.inflation())
    }

    /// Whether cwnd is used up, without the inflation by duplicate ACKs.
    pub(in crate::send) fn at_cwnd(&self) -> bool {
        self.space.nxt - self.space.una >= u64::from(self.congestion.cwnd())
    }

    /// How many bytes from `start` on the windows permit, and which window is the smallest.
    pub(crate) fn allowed(&self, cx: &Context, start: u64) -> (u64, Hold) {
        self.allowed_beside(cx, start, self.in_network(cx))
    }

    /// The same where `used` bytes of cwnd are in use.
    #[inline]
    pub(super) fn allowed_beside(&self, cx: &Context, start: u64, used: u64) -> (u64, Hold) {
        let snd = &self.space;
        let whole = |window: u64| {
            let mss = u64::from(cx.agreed.payload);
            // A window below one segment is used in parts; otherwise nothing could be sent.
            if cx.config.whole_segments && window > mss { window / mss * mss } else { window }
        };
        // One segment may always be in flight; otherwise no ACK would arrive.
        let least = u32::from(cx.agreed.payload);
        let cwnd = u64::from(self.recovery_window().saturating_add(self.limited_transmit(cx)).max(least));
        // With Fast Open a server sends data before its SYN is acknowledged, which takes nothing of the windows
        // (`tcp_create_openreq_child()`).
        let syn = u64::from(snd.una < start.min(1));
        let mut allowed = (whole(cwnd) + syn).saturating_sub(used);
        let mut limit = Hold::CongestionWindow;
        let peer = (snd.una + syn + whole(u64::from(snd.wnd))).saturating_sub(start);
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

    /// The increase of the window for new data on the first two duplicate ACKs (RFC 3042). It is zero with SACK, and where
    /// losses are detected by time: what SACK or duplicate ACKs report already counts as not in flight there, and other
    /// duplicate ACKs, such as D-SACKs, report nothing.
    #[inline]
    fn limited_transmit(&self, cx: &Context) -> u32 {
        let counts = cx.config.limited_transmit
            && self.recovery.phase() == Phase::Open
            && self.recovery.dup_acks() > 0
            && !self.recovery.is_by_time()
            && (!self.recovers_by_sack(cx) || self.recovery.sacked() == 0);
        if counts { self.recovery.dup_acks().min(2) * u32::from(cx.agreed.payload) } else { 0 }
    }

    /// cwnd, or its replacement during a recovery.
    pub(crate) fn recovery_window(&self) -> u32 {
        match self.recovery.prr_window() {
            Some(window) => u32::try_from(window).unwrap_or(u32::MAX),
            None => self.inflated_cwnd(),
        }
    }

    /// Ends a sending opportunity for the reason `why`, and updates the measured limit.
    pub(crate) fn rest(&mut self, cx: &mut Context, now: Time, why: Hold) {
        if self.recovery.phase() == Phase::Loss {
            self.recovery.note_look_for_new();
        }
        self.let_buffer_grow(cx, why);
        if matches!(why, Hold::Pacing | Hold::Autocork) {
            return self.arm_pacing_timer(why);
        }
        let repairs = self.recovery.phase() != Phase::Open;
        if (why == Hold::Cork || repairs && self.unsent() > 0)
            && self.waits_for_turn(now)
            && cx.config.counts_as_linux()
        {
            self.arm_turn(why);
        }
        self.end_opportunity(cx, now, why);
        self.update_limit(cx, now);
    }

    /// Ends a sending opportunity for the reason `why`. An idle sender with a closed window must probe it.
    #[inline]
    pub(crate) fn end_opportunity(&mut self, cx: &mut Context, now: Time, why: Hold) {
        if why.is_policy() {
            self.hold_tail(cx, now, why);
        }
        // A recovery may have lowered cwnd to what is in flight. Linux notes that when it looks for data to send
        // (`tcp_write_xmit()`), which timers of a recovery do not do, and which it does only if there is some.
        let looks = !self.recovery.is_by_timer() && (self.unsent() > 0 || self.is_closing());
        let is_full = why == Hold::CongestionWindow && looks;
        if cx.config.growth.grows == Grows::WhenUsed && (self.run > 0 || is_full) {
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

    /// Updates cwnd validation after a sending opportunity.
    #[cold]
    pub(in crate::send) fn note_usage(&mut self, cx: &Context, why: Hold) {
        let limits = why == Hold::CongestionWindow
            || why == Hold::Burst && self.waits_for_cwnd(cx)
            || self.in_network(cx) + u64::from(cx.agreed.payload) > u64::from(self.recovery_window());
        let SendSpace { una, max, .. } = self.space;
        let out = max - una + self.recovery.padding_outstanding();
        self.space.usage.note(una, max, out, limits);
    }

    /// Whether cwnd limits the unsent data.
    #[cold]
    fn waits_for_cwnd(&self, cx: &Context) -> bool {
        let (room, limit) = self.allowed(cx, self.space.nxt);
        limit == Hold::CongestionWindow && room <= self.unsent()
    }
}
