//! The growth of cwnd: slow start and congestion avoidance of Tahoe and Reno, and slow start of CUBIC.

use crate::config::choices::{Counting, Grows, Growth};
use crate::congestion::View;

/// cwnd and ssthresh in bytes, with the rule for their growth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::congestion) struct Window {
    pub(in crate::congestion) cwnd: u32,
    pub(in crate::congestion) ssthresh: u32,
    /// Bytes acknowledged since cwnd last grew in avoidance (`bytes_acked` of RFC 3465, section 2.1). The algorithms of Linux
    /// count segments (`snd_cwnd_cnt`).
    pub(super) acked: u32,
    pub(super) growth: Growth,
}

impl Window {
    pub(super) const fn new(cwnd: u32, ssthresh: u32, growth: Growth) -> Self {
        Self { cwnd, ssthresh, acked: 0, growth }
    }

    /// The bytes for which an ACK of `bytes` counts.
    pub(in crate::congestion) fn counted(&self, bytes: u32, mss: u32) -> u32 {
        match self.growth.counting {
            Counting::Acks => mss,
            Counting::AcksByRfc5681 => bytes.min(mss),
            Counting::Bytes { .. } => bytes,
        }
    }

    /// Sets both and resets the count of acknowledged bytes.
    pub(super) fn set(&mut self, cwnd: u32, ssthresh: u32) {
        self.cwnd = cwnd;
        self.ssthresh = ssthresh;
        self.acked = 0;
    }

    /// Whether an ACK increases cwnd.
    #[inline]
    pub(in crate::congestion) fn opens(&self, view: &View) -> bool {
        view.cwnd_limited || self.always_opens()
    }

    /// Whether an ACK increases cwnd even if the sender did not use all of it.
    #[inline]
    pub(super) fn always_opens(&self) -> bool {
        self.growth.grows == Grows::Always
    }

    /// Slow start (RFC 5681, section 3.1, equation 2; RFC 3465, section 2.2): cwnd increases by the counted bytes,
    /// times the factor of RFC 1106, section 4.2.
    #[inline]
    pub(in crate::congestion) fn slow_start(&mut self, bytes: u32, mss: u32) {
        let counted = match self.growth.counting {
            Counting::Acks => mss,
            Counting::AcksByRfc5681 => bytes.min(mss),
            Counting::Bytes { limit } => bytes.min(mss.saturating_mul(u32::from(limit))),
        };
        let step = counted.saturating_mul(u32::from(self.growth.slow_start_per_ack));
        self.cwnd = self.cwnd.saturating_add(step);
    }

    /// Congestion avoidance: an increase of about one segment per RTT.
    ///
    /// If ACKs are counted, each adds `mss * mss / cwnd`, at least one byte, and no fraction is kept (RFC 5681, section
    /// 3.1, equation 3; 4.3BSD). If bytes are counted, cwnd increases by one segment whenever a whole cwnd has been
    /// acknowledged (RFC 3465, section 2.1).
    #[inline(always)]
    pub(super) fn avoid(&mut self, bytes: u32, mss: u32) {
        match self.growth.counting {
            Counting::Acks | Counting::AcksByRfc5681 => {
                let step = mss.saturating_mul(mss) / self.cwnd.max(1);
                self.cwnd = self.cwnd.saturating_add(step.max(1));
            }
            Counting::Bytes { .. } => {
                self.acked = self.acked.saturating_add(bytes);
                if self.acked >= self.cwnd {
                    self.acked -= self.cwnd;
                    self.cwnd = self.cwnd.saturating_add(mss);
                }
            }
        }
    }
}

/// The growth of the algorithms of Linux, in whole segments.
impl Window {
    /// The segments for which an ACK of `bytes` counts.
    #[inline]
    pub(super) fn segments(&self, bytes: u32, mss: u32) -> u32 {
        match self.growth.counting {
            Counting::Acks | Counting::AcksByRfc5681 => 1,
            Counting::Bytes { .. } => bytes.div_ceil(mss),
        }
    }

    /// `tcp_cong_avoid_ai()`: one segment more for `price` segments acknowledged.
    #[inline(always)]
    pub(super) fn avoid_at(&mut self, price: u32, segments: u32, mss: u32) {
        // Segments counted at a higher price give at most one segment.
        let mut grown = 0;
        if self.acked >= price {
            (self.acked, grown) = (0, 1);
        }
        self.acked = self.acked.saturating_add(segments);
        if self.acked >= price {
            grown += self.acked / price;
            self.acked %= price;
        }
        self.cwnd = self.cwnd.saturating_add(grown.saturating_mul(mss));
    }

    /// `tcp_current_ssthresh()`, in whole segments.
    pub(super) fn current_ssthresh(&self, mss: u32) -> u32 {
        let segments = self.cwnd / mss;
        self.ssthresh.max((segments / 2 + segments / 4).saturating_mul(mss))
    }

    /// `tcp_cwnd_restart()`: a pause halves cwnd for each timeout that it lasted, down to the initial window.
    pub(super) fn restart(&mut self, initial: u32, timeouts: u32, mss: u32) {
        self.ssthresh = self.current_ssthresh(mss);
        let segments = (self.cwnd / mss).checked_shr(timeouts).unwrap_or(0);
        self.cwnd = segments.saturating_mul(mss).max(initial.min(self.cwnd));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(cwnd: u32, counting: Counting, slow_start_per_ack: u8) -> Window {
        Window::new(cwnd, u32::MAX, Growth { grows: Grows::Always, counting, slow_start_per_ack })
    }

    #[test]
    fn slow_start_follows_the_configured_counting() {
        let after = |counting, bytes| {
            let mut window = window(10_000, counting, 1);
            window.slow_start(bytes, 1000);
            window.cwnd - 10_000
        };
        assert_eq!(after(Counting::Acks, 300), 1000);
        assert_eq!(after(Counting::Acks, 5000), 1000);
        assert_eq!(after(Counting::AcksByRfc5681, 300), 300);
        assert_eq!(after(Counting::AcksByRfc5681, 5000), 1000);
        assert_eq!(after(Counting::Bytes { limit: 2 }, 1500), 1500);
        assert_eq!(after(Counting::Bytes { limit: 2 }, 5000), 2000);
    }

    #[test]
    fn two_segments_per_ack_triple_the_window_in_a_round() {
        let mut window = window(1000, Counting::Acks, 2);
        for expected in [3000, 9000, 27_000, 81_000] {
            for _ in 0..window.cwnd / 1000 {
                window.slow_start(1000, 1000);
            }
            assert_eq!(window.cwnd, expected);
        }
    }

    #[test]
    fn the_slow_start_factor_does_not_affect_avoidance() {
        let mut window = window(10_000, Counting::Acks, 2);
        window.avoid(1000, 1000);
        assert_eq!(window.cwnd, 10_100);
    }

    #[test]
    fn avoidance_adds_at_least_one_byte_and_carries_no_fraction() {
        let mut window = window(3_000_000, Counting::Acks, 1);
        window.avoid(1000, 1000);
        assert_eq!(window.cwnd, 3_000_001, "1000 * 1000 / 3000000 is no byte: 1");
        window.cwnd = 300_000;
        window.avoid(1000, 1000);
        window.avoid(1000, 1000);
        assert_eq!(window.cwnd, 300_006, "3 and a third, twice");
    }

    #[test]
    fn avoidance_by_bytes_adds_one_segment_for_each_window_acknowledged() {
        let mut window = window(4000, Counting::Bytes { limit: 2 }, 1);
        let grown: Vec<u32> = (0..10)
            .map(|_| {
                window.avoid(1000, 1000);
                window.cwnd
            })
            .collect();
        assert_eq!(grown, [4000, 4000, 4000, 5000, 5000, 5000, 5000, 5000, 6000, 6000]);
    }

    #[test]
    fn nothing_overflows() {
        let mut window = window(u32::MAX - 5, Counting::Bytes { limit: 255 }, 255);
        window.slow_start(u32::MAX, u32::MAX);
        window.avoid(u32::MAX, u32::MAX);
        assert_eq!(window.cwnd, u32::MAX);
        window.growth.counting = Counting::Acks;
        window.cwnd = 0;
        window.avoid(1, u32::MAX);
        assert_eq!(window.cwnd, u32::MAX);
    }
}
