//! The fast path of the sender while a loss is repaired that SACK alone shows. As in `ordinary.rs`, most segments that depart are
//! full ones of new data, and behind most ACKs a window is used up: only a few are sent again.
//!
//! The effect is the same as that of the full path. A test compares both in random transfers.

use crate::context::Context;
use crate::record::reason::Hold;
use crate::recovery::Phase;
use crate::send::Sender;
use crate::send::decide::ordinary::Ordinary;

impl Sender {
    /// Decides by the fast path, if [`Self::is_repairing`], the receiver has no out-of-order data, and the shared state permits the
    /// fast path. If it decides, the result is the same as that of [`Self::decide`].
    pub(crate) fn decide_in_repair(&self, cx: &Context) -> Ordinary {
        let (snd, mss) = (&self.space, u64::from(cx.agreed.payload));
        let waiting = snd.data_end() - snd.nxt;
        let sends_new = snd.nxt == snd.max && self.recovery.resend().is_none() && waiting >= mss;
        if !sends_new || cx.config.whole_segments || cx.config.push_bursts {
            return Ordinary::Other;
        }
        let used = self.in_network(cx);
        // Where the scoreboard decides, cwnd alone limits the next segment, and lost data comes before new data.
        let board = self.recovery.scoreboard().filter(|_| self.recovery.phase() == Phase::Fast);
        let is_full = |used: u64| used + mss > u64::from(self.congestion.cwnd());
        if let Some(board) = board {
            if is_full(used) {
                return Ordinary::NoData(Hold::CongestionWindow);
            }
            if board.next_hole(snd.una, u32::from(cx.agreed.payload), true).is_some() {
                return Ordinary::Other;
            }
        }
        let (room, limit) = self.allowed_beside(cx, snd.nxt, used);
        // Less than a segment: other data may be sent again, or half of a small window be used.
        let holds = |room: u64| board.is_none() && room < mss && (room == 0 || !self.is_worth_half(cx, room));
        if room < mss {
            return if holds(room) { Ordinary::NoData(limit) } else { Ordinary::Other };
        }
        let then = if board.is_some() && is_full(used + mss) {
            Some(Hold::CongestionWindow)
        } else {
            (waiting >= 2 * mss && holds(room - mss)).then_some(limit)
        };
        Ordinary::Data { then }
    }
}
