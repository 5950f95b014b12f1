//! A delay or a loss, and statistics of many.

use netspurt_tcp::time::Span;

/// A cycle: the RTT of a packet, or its loss.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub struct Trip(u64);

impl Trip {
    /// A lost packet.
    pub const LOST: Self = Self(u64::MAX);

    /// A response after `rtt`.
    pub const fn after(rtt: Span) -> Self {
        // The maximum value means a loss.
        Self(if rtt.as_ps() == u64::MAX { u64::MAX - 1 } else { rtt.as_ps() })
    }

    /// The round trip, unless the packet was lost.
    #[inline]
    pub const fn get(self) -> Option<Span> {
        if self.0 == u64::MAX { None } else { Some(Span::from_ps(self.0)) }
    }
}

/// Statistics of the delays: the columns Mean and CoV of RFC 889's table, in both readings.
///
/// The document says that both exclude cycles with a loss; its printed figures include them as delays of zero.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Summary {
    /// Cycles, lost ones included.
    pub cycles: u64,
    /// Lost cycles.
    pub lost: u64,
    /// The sum of all RTTs in seconds: the time in which useful data was sent.
    pub good_s: f64,
    /// Mean RTT over all cycles, with losses as zero, as in the document's table.
    pub mean_s: f64,
    /// Standard deviation (divided by n) over that mean; NaN if the mean is 0.
    pub cov: f64,
    /// Mean RTT over the cycles without a loss, as in the document's text.
    pub received_mean_s: f64,
    /// Coefficient of variation over the same cycles.
    pub received_cov: f64,
}

impl Summary {
    /// The statistics of any number of cycles; means over none are NaN.
    pub fn of(trips: &[Trip]) -> Self {
        let answered = || trips.iter().filter_map(|trip| trip.get());
        let lost = trips.iter().filter(|trip| trip.get().is_none()).count();
        let (all, received) = (trips.len() as f64, (trips.len() - lost) as f64);
        let good_s = answered().map(|rtt| u128::from(rtt.as_ps())).sum::<u128>() as f64 * 1e-12;
        let (mean_s, received_mean_s) = (good_s / all, good_s / received);
        let squares = |mean: f64| answered().map(|rtt| (rtt.as_secs_f64() - mean).powi(2)).sum::<f64>();
        let with_zeros = squares(mean_s) + lost as f64 * mean_s * mean_s;
        Self {
            cycles: trips.len() as u64,
            lost: lost as u64,
            good_s,
            mean_s,
            cov: (with_zeros / all).sqrt() / mean_s,
            received_mean_s,
            received_cov: (squares(received_mean_s) / received).sqrt() / received_mean_s,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_reading_counts_a_loss_as_zero_and_the_other_excludes_it() {
        let trips =
            [Trip::after(Span::from_secs(2)), Trip::LOST, Trip::after(Span::from_secs(4)), Trip::LOST];
        let summary = Summary::of(&trips);
        assert_eq!((summary.cycles, summary.lost), (4, 2));
        let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
        assert!(near(summary.good_s, 6.0) && near(summary.mean_s, 1.5) && near(summary.received_mean_s, 3.0));
        // Deviations .5, -1.5, 2.5, -1.5: variance 11/4. Without zeros: -1, 1.
        assert!(near(summary.cov, 2.75_f64.sqrt() / 1.5) && near(summary.received_cov, 1.0 / 3.0));
    }

    #[test]
    fn the_longest_rtt_is_not_a_loss() {
        assert!(Trip::after(Span::MAX).get().is_some() && Trip::LOST.get().is_none());
    }
}
