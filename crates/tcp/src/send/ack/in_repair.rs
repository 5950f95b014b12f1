//! ACKs in a recovery where SACK alone shows losses: [`Sender::take_ack`] without what other senders measure and count.

use crate::config::Recovery;
use crate::context::Context;
use crate::recovery::Parts;
use crate::send::Sender;
use crate::time::Time;
use crate::wire::segment::Segment;

impl Sender {
    /// Whether a loss is being repaired, or was just now, and nothing but SACK shows losses.
    #[inline]
    pub(crate) fn is_repairing(&self, cx: &Context) -> bool {
        !self.recovery.is_quiet() && self.may_repair(cx)
    }

    /// Whether nothing but SACK would show a loss.
    #[inline]
    pub(crate) fn may_repair(&self, cx: &Context) -> bool {
        cx.config.recovery == Recovery::Sack
            && !self.recovery.is_logging()
            && self.unusual.is_empty()
            && !self.timers.is_persisting()
    }

    /// Processes an ACK without data that announces the present window, if [`Self::may_repair`]. Returns `false`, without any
    /// change, if its number is old or invalid.
    #[inline]
    pub(crate) fn take_ack_in_repair(&mut self, cx: &mut Context, now: Time, segment: &Segment) -> bool {
        let una = self.space.una;
        let bytes = segment.ack.distance_from(self.space.seq(una));
        if bytes < 0 || bytes as u64 > self.space.max - una {
            return false;
        }
        let reports = self.take_reports(cx, now, segment);
        if bytes > 0 {
            self.take_new_ack(cx, now, una + bytes as u64, segment, (None, Parts::default()));
        }
        let wl1_before = self.space.wl1;
        self.confirm_window(segment.seq, segment.ack);
        if bytes == 0 {
            self.take_repeated_ack(cx, now, segment, (reports.reports_new, true, wl1_before));
        }
        true
    }
}
