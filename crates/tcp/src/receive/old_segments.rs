//! Old segments as Linux treats them: which of them it accepts, and which it reports.

use crate::config::OldSegments;
use crate::context::Context;
use crate::ranges::Range;
use crate::receive::receiver::Receiver;

/// One lap of the sequence space.
const LAP: i64 = 1 << 32;

impl Receiver {
    /// Whether a segment ends between the last acknowledgment that we sent and RCV.NXT (`tcp_sequence()`).
    pub(crate) fn ends_since_last_ack(&self, start: i64, seq_len: u32) -> bool {
        let end = start + i64::from(seq_len);
        end <= self.nxt as i64 && (end as u32).wrapping_sub(self.last_ack) as i32 >= 0
    }

    /// Records an old segment for D-SACK, also one from before the SYN (`tcp_send_dupack()`).
    pub(crate) fn note_any_duplicate(&mut self, start: i64, len: u32) {
        let end = (start + i64::from(len)).min(self.nxt as i64);
        if len > 0 && start < end {
            // A lap higher, positions before the SYN are not negative; the sequence numbers are the same.
            let lap = if start < 0 { LAP } else { 0 };
            let range = Range::new((start + lap) as u64, (end + lap) as u64);
            self.reassembly.get_or_insert_default().duplicate = Some(range);
        }
    }

    /// A segment with data or a FIN arrives: in Linux a D-SACK that waits is not reported any more (`tcp_data_queue()`). Without SACK
    /// none is ever reported, and it would keep all later segments off the fast path.
    #[inline]
    pub(crate) fn forget_duplicate(&mut self, cx: &Context) {
        if (cx.config.old_segments == OldSegments::Linux || !cx.agreed.sack)
            && let Some(reassembly) = &mut self.reassembly
        {
            reassembly.duplicate = None;
        }
    }

    /// Whether a position is the end of the highest block that our SACKs report.
    pub(crate) fn ends_reports(&self, position: i64) -> bool {
        let Some(reassembly) = &self.reassembly else { return false };
        let ends = reassembly.recent.iter().filter(|r| r.start > self.nxt).map(|r| r.end);
        ends.max().is_some_and(|end| (end + u64::from(end == self.reported_fin())) as i64 == position)
    }

    /// The position of the peer's FIN if SACK blocks report it; otherwise [`u64::MAX`].
    pub(super) fn reported_fin(&self) -> u64 {
        if self.reassembly.as_ref().is_some_and(|r| r.reports_fin) { self.fin() } else { u64::MAX }
    }

    /// A FIN without data at a position behind a gap that data or a FIN occupies already is a duplicate
    /// (`tcp_data_queue_ofo()`). Returns whether it is one.
    pub(crate) fn note_fin_again(&mut self, position: i64) -> bool {
        let lone = Range::new(position as u64, position as u64 + 1);
        let (nxt, reported_fin) = (self.nxt, self.reported_fin());
        let Some(reassembly) = self.reassembly.as_mut().filter(|_| position > nxt as i64) else {
            return false;
        };
        let is_known = reassembly.held.covered_within(lone) > 0 || reported_fin == lone.start;
        if is_known {
            reassembly.duplicate = Some(lone);
        }
        is_known
    }

    /// The peer's FIN follows a gap: Linux queues it like data, so that SACK blocks report it
    /// (`tcp_data_queue_ofo()`).
    pub(crate) fn report_fin(&mut self, position: i64) {
        let fin = position as u64;
        if position <= self.nxt as i64 || self.fin() != fin {
            return;
        }
        let reassembly = self.reassembly.get_or_insert_default();
        reassembly.reports_fin = true;
        let behind = reassembly.recent.iter().position(|r| r.start < fin && fin <= r.end);
        let lone = Range::new(fin, fin + 1);
        match behind.or_else(|| reassembly.recent.iter().position(|r| *r == lone)) {
            Some(index) => reassembly.recent[..=index].rotate_right(1),
            None => {
                reassembly.recent.rotate_right(1);
                reassembly.recent[0] = lone;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::profile;
    use crate::wire::seq::Seq;
    use std::sync::Arc;

    #[test]
    fn a_duplicate_that_no_ack_reports_lasts_until_the_next_data() {
        let mut cx = Context::new(Arc::new(profile::by_name("reno").unwrap().config.clone()));
        for sack in [false, true] {
            cx.agreed.sack = sack;
            let mut rcv = Receiver::new(10_000);
            rcv.synchronize(Seq(0), 10_000);
            rcv.take(1, 100, None, cx.config.old_segments);
            rcv.note_duplicate(1, 100);
            assert!(!rcv.is_in_order());
            rcv.forget_duplicate(&cx);
            rcv.take(101, 100, None, cx.config.old_segments);
            assert_eq!(rcv.is_in_order(), !sack);
        }
    }
}
