//! Additive increase by another number of segments per RTT than one.

use super::growth::Window;

/// The additive increase in thousandths of a segment per RTT.
pub(in crate::congestion) const THOUSAND: u64 = 1000;

/// The part of the increase that cwnd does not yet include.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in crate::congestion) struct Increase {
    /// In bytes times thousandths of a segment.
    credit: u128,
}

impl Increase {
    /// Discards the fraction; after a reduction.
    pub(in crate::congestion) fn restart(&mut self) {
        self.credit = 0;
    }

    /// Increases cwnd by `alpha` thousandths of a segment for each cwnd of acknowledged data, of which an ACK
    /// acknowledges `counted` bytes.
    pub(in crate::congestion) fn add(&mut self, window: &mut Window, counted: u32, mss: u32, alpha: u64) {
        let cwnd = u128::from(window.cwnd.max(1)) * u128::from(THOUSAND);
        self.credit += u128::from(counted) * u128::from(mss) * u128::from(alpha);
        let step = self.credit / cwnd;
        self.credit %= cwnd;
        window.cwnd = window.cwnd.saturating_add(u32::try_from(step).unwrap_or(u32::MAX));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::GROWTH;

    #[test]
    fn a_window_of_acks_adds_alpha_segments() {
        for alpha in [50, 300, 1000, 2500, 10_000] {
            let mut window = Window::new(1_000_000, 1, GROWTH);
            let mut increase = Increase::default();
            let mut acked = 0;
            while acked < 1_000_000 {
                increase.add(&mut window, 1000, 1000, alpha);
                acked += 1000;
            }
            let added = f64::from(window.cwnd - 1_000_000);
            // cwnd grows meanwhile, by less than a hundredth.
            assert!((added - alpha as f64).abs() <= 0.01 * alpha as f64 + 1.0, "{alpha}: {added}");
        }
    }

    #[test]
    fn fractions_are_kept() {
        let mut window = Window::new(3_000_000, 1, GROWTH);
        let mut increase = Increase::default();
        (0..29).for_each(|_| increase.add(&mut window, 100, 1000, 1000));
        assert_eq!(window.cwnd, 3_000_000, "29 · 100 · 1000 / 3000000 is less than 1");
        increase.add(&mut window, 100, 1000, 1000);
        assert_eq!(window.cwnd, 3_000_001);
        increase.restart();
        (0..20).for_each(|_| increase.add(&mut window, 100, 1000, 1000));
        assert_eq!(window.cwnd, 3_000_001);
    }
}
