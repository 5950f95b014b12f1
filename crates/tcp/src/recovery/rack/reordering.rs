//! How much the path reorders segments, and how long RACK therefore waits: the reordering window (RFC 8985, section 6.2,
//! step 4; Linux, `tcp_check_sack_reordering()`).

use crate::recovery::flight::LeastRtt;
use crate::time::Span;

/// Number of recoveries after which a reordering window that D-SACKs have widened is reset.
const PERSISTENCE: u8 = 16;

/// Observed reordering.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::recovery) struct Reordering {
    seen: bool,
    /// The lowest position that the present ACK shows to be delivered late and that was never retransmitted.
    late: Option<u64>,
    /// Number of ACKs that showed reordering.
    times: u32,
    /// The largest reordering distance, in bytes.
    extent: u64,
    /// RACK.reo_wnd_mult, less one.
    widened: u8,
    /// RACK.reo_wnd_persist: number of recoveries until the widened window is reset.
    persistence: u8,
    /// RACK.dsack_round: the window is widened at most once in a round trip.
    widened_at: u64,
}

impl Reordering {
    /// The reordering window. It is zero while no reordering was ever seen and a loss is likely.
    pub(in crate::recovery) fn window(
        &self,
        least: LeastRtt,
        loss_is_likely: bool,
        srtt: Option<Span>,
    ) -> Span {
        if !self.seen && loss_is_likely {
            return Span::ZERO;
        }
        let least = least.get().unwrap_or(Span::ZERO);
        let quarter = Span::from_ps(least.as_ps() / 4);
        quarter.saturating_mul(1 + u64::from(self.widened)).min(srtt.unwrap_or(least))
    }

    /// A D-SACK: a retransmission was spurious. `una` and `max` are SND.UNA and SND.MAX.
    ///
    /// Linux ignores it as long as no segment that was sent once has arrived late (`tcp_dsack_seen()`).
    pub(in crate::recovery) fn widen(&mut self, una: u64, max: u64) {
        if self.seen && una >= self.widened_at {
            self.widened_at = max;
            self.widened = self.widened.saturating_add(1);
            self.persistence = PERSISTENCE;
        }
    }

    /// Segments overtook the one at `start`.
    pub(in crate::recovery) fn note_late(&mut self, start: u64) {
        self.seen = true;
        self.late = Some(self.late.map_or(start, |late| late.min(start)));
    }

    /// The present ACK is processed completely; `fack` is the end of the highest delivered data. Computes the distance of the
    /// reordering that it shows.
    pub(in crate::recovery) fn note_order(&mut self, fack: u64) {
        if let Some(late) = self.late.take() {
            self.times += 1;
            self.extent = self.extent.max(fack - late);
        }
    }

    /// A recovery has ended.
    pub(in crate::recovery) fn recovered(&mut self) {
        self.persistence = self.persistence.saturating_sub(1);
        if self.persistence == 0 {
            self.widened = 0;
        }
    }

    /// How many ACKs have shown that segments overtake each other, and by how many bytes at most.
    pub(in crate::recovery) fn extent(&self) -> (u32, u64) {
        (self.times, self.extent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Time;

    /// A path of 40 ms.
    fn window(reordering: &Reordering, srtt: Option<Span>) -> Span {
        let mut least = LeastRtt::default();
        least.learn(Time::ZERO, Span::from_ms(40));
        reordering.window(least, true, srtt)
    }

    #[test]
    fn duplicate_reports_widen_the_window_up_to_a_round_trip_until_sixteen_recoveries_have_ended() {
        let mut reordering = Reordering::default();
        reordering.note_late(1);
        assert_eq!(window(&reordering, None), Span::from_ms(10));
        // Each round trip with a D-SACK widens it, up to a smoothed round trip.
        for una in [1, 1001, 2001] {
            reordering.widen(una, una + 1000);
            reordering.widen(una, una + 1000);
        }
        assert_eq!(window(&reordering, Some(Span::from_ms(100))), Span::from_ms(40));
        assert_eq!(window(&reordering, Some(Span::from_ms(35))), Span::from_ms(35));
        (0..16).for_each(|_| reordering.recovered());
        assert_eq!(window(&reordering, None), Span::from_ms(10));
    }

    #[test]
    fn a_duplicate_report_widens_nothing_before_reordering_was_seen() {
        let mut reordering = Reordering::default();
        reordering.widen(1, 1001);
        assert_eq!(window(&reordering, None), Span::ZERO);
        reordering.note_late(1);
        reordering.widen(1, 1001);
        assert_eq!(window(&reordering, None), Span::from_ms(20));
    }

    #[test]
    fn the_extent_is_the_largest_distance_to_the_highest_delivered_data() {
        let mut reordering = Reordering::default();
        for (late, fack) in [(1001, 3001), (501, 1001), (4001, 5001)] {
            reordering.note_late(late);
            reordering.note_order(fack);
        }
        reordering.note_order(9001);
        assert_eq!(reordering.extent(), (3, 2000));
    }
}
