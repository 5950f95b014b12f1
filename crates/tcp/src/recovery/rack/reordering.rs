//! How much the path reorders segments, and how long RACK therefore waits: the reordering window (RFC 8985, section 6.2,
//! step 4; Linux, `tcp_check_sack_reordering()`).

use crate::recovery::flight::LeastRtt;
use crate::time::{Span, Time};

/// Number of recoveries after which a reordering window that D-SACKs have widened is reset.
const PERSISTENCE: u8 = 16;

/// Observed reordering.
#[derive(Clone, Copy, Debug)]
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
    /// The same in Linux: when the window was last widened.
    widened_when: Option<Time>,
    /// A D-SACK has come that may widen the window.
    widens: bool,
}

impl Default for Reordering {
    fn default() -> Self {
        Self::NONE
    }
}

impl Reordering {
    /// No reordering was seen.
    pub(super) const NONE: Self = Self {
        seen: false,
        late: None,
        times: 0,
        extent: 0,
        widened: 0,
        persistence: 0,
        widened_at: 0,
        widened_when: None,
        widens: false,
    };

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

    /// A D-SACK for [`Self::widen_by`]. It counts only if an ACK before the present one has shown reordering: Linux reads D-SACKs
    /// first (`tcp_dsack_seen()`).
    pub(in crate::recovery) fn note_duplicate(&mut self) {
        self.widens |= self.times > 0;
    }

    /// Whether the next ACK that delivers segments may widen the window, which the short way does not look at.
    #[inline]
    pub(in crate::recovery) fn awaits_delivery(&self) -> bool {
        self.widens
    }

    /// An ACK delivers segments, the newest of which was sent at `newest`. In Linux it widens the window if a D-SACK has come with it
    /// or before, and if that segment was sent since the last time (`tcp_rack_update_reo_wnd()`).
    pub(in crate::recovery) fn widen_by(&mut self, now: Time, newest: Time) {
        let is_later = self.widened_when.is_none_or(|when| newest >= when);
        if core::mem::take(&mut self.widens) && is_later {
            self.widened_when = Some(now);
            self.widened = self.widened.saturating_add(1);
            self.persistence = PERSISTENCE;
        }
    }

    /// Segments overtook the one at `start`.
    pub(in crate::recovery) fn note_late(&mut self, start: u64) {
        self.seen = true;
        self.late = Some(self.late.map_or(start, |late| late.min(start)));
    }

    /// Segments overtook the one at `start`, and the highest of them ends at `highest`.
    pub(in crate::recovery) fn note_late_below(&mut self, start: u64, highest: u64) {
        self.seen = true;
        self.times += 1;
        self.extent = self.extent.max(highest.saturating_sub(start));
    }

    /// The present ACK is processed completely; `fack` is the end of the highest delivered data. Computes the distance of the
    /// reordering that it shows.
    pub(in crate::recovery) fn note_order(&mut self, fack: u64) {
        if let Some(late) = self.late.take() {
            self.times += 1;
            self.extent = self.extent.max(fack.saturating_sub(late));
        }
    }

    /// Without SACK, more duplicate ACKs than outstanding segments set the number of them that reveals a loss, also to a smaller
    /// one than the extent has shown before (`tcp_check_reno_reordering()`).
    pub(in crate::recovery) fn forget_extent_if(&mut self, overtaken: bool) {
        if overtaken {
            self.extent = 0;
        }
    }

    /// A timeout before any loss was revealed, although as much was reported as usually reveals one, shows that the extent is too
    /// large (`tcp_enter_loss()`).
    pub(in crate::recovery) fn doubt_extent(&mut self, most: u64) {
        self.extent = self.extent.min(most);
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

    /// A path of 40 ms.
    fn window(reordering: &Reordering, srtt: Option<Span>) -> Span {
        let mut least = LeastRtt::NONE;
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
    fn in_linux_a_window_is_widened_again_only_by_what_was_sent_since() {
        let mut reordering = Reordering::default();
        let at = |ms| Time::ZERO + Span::from_ms(ms);
        reordering.note_duplicate();
        reordering.widen_by(at(1), at(0));
        reordering.note_late(1);
        assert_eq!(window(&reordering, None), Span::from_ms(10), "no reordering had been seen");
        // Linux reads a D-SACK before the acknowledgment number of the same segment.
        reordering.note_duplicate();
        assert!(!reordering.awaits_delivery(), "the reordering is that of the present ACK");
        reordering.note_order(1001);
        // A D-SACK alone waits for the next ACK that delivers something.
        reordering.note_duplicate();
        assert!(reordering.awaits_delivery());
        assert_eq!(window(&reordering, None), Span::from_ms(10));
        reordering.widen_by(at(50), at(10));
        assert_eq!(window(&reordering, None), Span::from_ms(20));
        assert!(!reordering.awaits_delivery());
        reordering.note_duplicate();
        reordering.widen_by(at(60), at(49));
        reordering.widen_by(at(95), at(55));
        assert_eq!(window(&reordering, None), Span::from_ms(20), "it was ignored");
        reordering.note_duplicate();
        reordering.widen_by(at(96), at(55));
        assert_eq!(window(&reordering, None), Span::from_ms(30));
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
