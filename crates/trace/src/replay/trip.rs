//! A delay, or a loss, and what a column of them is like by itself.

use netspurt_tcp::time::Span;

/// One cycle: a packet was sent, and its answer came after this round trip, or not at all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub struct Trip(u64);

impl Trip {
    /// No answer came.
    pub const LOST: Self = Self(u64::MAX);

    /// An answer after `rtt`.
    pub const fn after(rtt: Span) -> Self {
        // The longest of all spans would read as a loss.
        Self(if rtt.as_ps() == u64::MAX { u64::MAX - 1 } else { rtt.as_ps() })
    }

    /// The round trip, unless the packet was lost.
    #[inline]
    pub const fn get(self) -> Option<Span> {
        if self.0 == u64::MAX { None } else { Some(Span::from_ps(self.0)) }
    }
}

/// What holds of the delays whatever the timer: the Mean and CoV columns of RFC 889's table, read both ways.
///
/// The document says that cycles with a loss are left out of both; its printed numbers take them in as delays of zero.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Summary {
    /// Cycles, lost ones included.
    pub cycles: u64,
    /// Cycles without an answer.
    pub lost: u64,
    /// The sum of all round trips, in seconds: the time in which good data was sent.
    pub good_s: f64,
    /// Mean round trip over all cycles, a lost one counted as zero, as the document's table has it.
    pub mean_s: f64,
    /// Standard deviation (divided by n) over that mean; NaN if the mean is 0.
    pub cov: f64,
    /// Mean round trip over the cycles that were answered, as the document's text has it.
    pub received_mean_s: f64,
    /// The coefficient of variation over those.
    pub received_cov: f64,
}

impl Summary {
    /// Of any number of cycles; means over no cycle are NaN.
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
    fn a_loss_counts_as_zero_in_one_reading_and_not_at_all_in_the_other() {
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
    fn the_longest_of_all_round_trips_is_not_a_loss() {
        assert!(Trip::after(Span::MAX).get().is_some() && Trip::LOST.get().is_none());
    }
}
