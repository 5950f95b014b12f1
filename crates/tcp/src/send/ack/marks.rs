//! Congestion marks that an ACK reports (RFC 3168; RFC 8257; RFC 9768).

use crate::congestion::Signal;
use crate::congestion::ecn::{self, OnEcho};
use crate::context::Context;
use crate::recovery::Phase;
use crate::send::Sender;
use crate::time::Time;

impl Sender {
    /// An ACK is processed. Before it, SND.UNA was `una_before`, and `flight` bytes were outstanding.
    pub(crate) fn judge_echo(
        &mut self,
        cx: &mut Context,
        now: Time,
        una_before: u64,
        flight: u64,
        echoed: bool,
    ) {
        let (una, nxt) = (self.space.una, self.space.nxt);
        let Some(memory) = cx.ecn() else { return };
        let (bytes, marked, echoed) = if memory.accurate().is_some() {
            self.conclude_counts(cx)
        } else {
            let bytes = (una - una_before).min(u64::from(u32::MAX)) as u32;
            (bytes, if echoed { bytes } else { 0 }, echoed)
        };
        let Some(memory) = cx.ecn() else { return };
        let suffices = memory.knows_share() || !cx.config.congestion.reduces_in_proportion();
        let Some(memory) = cx.ecn() else { return };
        if let Some((acked, marked)) = memory.count(una, nxt, bytes, marked)
            && suffices
        {
            self.signal(cx, now, Signal::RoundMarked { acked, marked }, flight);
        }
        let gradually = self.reduces_gradually(cx);
        let ended = self.takes_acks_as_linux(cx) && self.recovery.has_ended();
        let is_due = |memory: &mut ecn::Memory| gradually || memory.on_echo(una, ended) == OnEcho::Reduce;
        // `tcp_enter_cwr()` does nothing in a recovery, nor while it reduces cwnd for an earlier mark. What reduced cwnd before
        // that prevents nothing, such as a loss that a probe has repaired. Without outstanding data an echo means nothing
        // (`no_queue` in `tcp_ack()`).
        let recovers = self.recovery.phase() != Phase::Open && self.takes_acks_as_linux(cx);
        let waits = gradually && (self.recovery.is_reducing() || flight == 0);
        if echoed && cx.ecn().is_some_and(is_due) && !recovers && !waits && self.congestion.heeds_marks(now) {
            cx.counters().ecn_reductions += 1;
            let cwnd = self.congestion.cwnd();
            self.signal(cx, now, Signal::EcnCe, flight);
            self.reduce_gradually(cx, cwnd);
        }
    }

    /// Returns the bytes delivered, the bytes of them that were marked, and whether any packet was marked.
    pub(super) fn conclude_counts(&mut self, cx: &mut Context) -> (u32, u32, bool) {
        let (delivered, mss) = (self.bytes_delivered(), u32::from(cx.agreed.payload));
        let Some(accurate) = cx.ecn().and_then(ecn::Memory::accurate) else { return (0, 0, false) };
        let (marks, newly) = accurate.sender.conclude(delivered, mss);
        cx.counters().marks_reported += marks.packets;
        (newly, marks.bytes, marks.packets > 0)
    }

    /// Bytes of ours that are known to be delivered.
    pub(crate) fn bytes_delivered(&self) -> u64 {
        self.space.una + self.recovery.sacked()
    }
}
