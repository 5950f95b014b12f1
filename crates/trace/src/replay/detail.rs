//! The timeouts of one estimator, one per cycle, and their percentiles.

use super::cycle::{Lanes, Rules, Tally, Witness};
use super::timer::{Timer, Visitor, with_timers};
use super::trip::Trip;
use netspurt_tcp::rto::{Kind, RtoEstimator};
use netspurt_tcp::time::Span;

/// The 5th, 50th, 95th and 99th percentile, and the maximum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Percentiles {
    /// The 5th percentile.
    pub p5: Span,
    /// The median.
    pub p50: Span,
    /// The 95th percentile.
    pub p95: Span,
    /// The 99th percentile.
    pub p99: Span,
    /// The maximum.
    pub max: Span,
}

impl Percentiles {
    /// Of values in any order, which it changes; `None` without values.
    fn of(values: &mut [Span]) -> Option<Self> {
        let last = values.len().checked_sub(1)?;
        let mut done = 0;
        // In ascending order, so that each selection starts where the one before ended.
        let mut rank = |percent: usize| {
            let at = ((values.len() * percent).div_ceil(100)).max(1) - 1;
            let at = at.max(done);
            let (_, &mut value, _) = values[done..].select_nth_unstable(at - done);
            done = at;
            value
        };
        let (p5, p50, p95, p99) = (rank(5), rank(50), rank(95), rank(99));
        let max = values[done..=last].iter().copied().max().unwrap_or(p99);
        Some(Self { p5, p50, p95, p99, max })
    }
}

/// A replay with the timeout of every cycle.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Detail {
    /// The cost.
    pub tally: Tally,
    /// The timeout in force in each cycle.
    pub rto: Vec<Span>,
    /// Percentiles of the timeouts.
    pub rto_percentiles: Option<Percentiles>,
    /// Timeout minus delay, over the cycles with a response in time: how much longer than the RTT a real loss would
    /// have taken.
    pub late_percentiles: Option<Percentiles>,
}

/// Replays delays with one estimator.
pub fn in_detail(kind: Kind, trips: &[Trip], rules: Rules) -> Detail {
    with_timers(&[kind], Replay { trips, rules })
}

struct Replay<'a> {
    trips: &'a [Trip],
    rules: Rules,
}

/// Collects timeouts and their excess over the delays.
struct Keep {
    rto: Vec<Span>,
    late: Vec<Span>,
}

impl Witness for Keep {
    #[inline]
    fn cycle(&mut self, trip: Trip, rto: Span) {
        self.rto.push(rto);
        if let Some(rtt) = trip.get()
            && rtt <= rto
        {
            self.late.push(rto.saturating_sub(rtt));
        }
    }
}

impl Visitor for Replay<'_> {
    type Out = Detail;

    fn visit<E: RtoEstimator>(self, timers: Vec<Timer<E>>) -> Detail {
        let mut keep =
            Keep { rto: Vec::with_capacity(self.trips.len()), late: Vec::with_capacity(self.trips.len()) };
        let mut tally = Tally::default();
        for timer in timers {
            [tally] = Lanes::new([timer], self.rules).replay(self.trips, &mut keep);
        }
        let rto_percentiles = Percentiles::of(&mut keep.rto.clone());
        let late_percentiles = Percentiles::of(&mut keep.late);
        Detail { tally, rto: keep.rto, rto_percentiles, late_percentiles }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_order_statistics() {
        for count in [1_u64, 2, 19, 20, 21, 100, 1000] {
            // An arbitrary order.
            let mut values: Vec<Span> = (0..count).map(|n| Span::from_ps(1 + n * 7919 % count)).collect();
            let sorted: std::collections::BTreeSet<Span> = values.iter().copied().collect();
            let rank = |percent: u64| (count * percent).div_ceil(100).max(1);
            let expected: Vec<&Span> = [5, 50, 95, 99, 100]
                .map(|percent| sorted.iter().nth(rank(percent) as usize - 1).unwrap())
                .into();
            let got = Percentiles::of(&mut values).unwrap();
            assert_eq!([&got.p5, &got.p50, &got.p95, &got.p99, &got.max], expected[..], "of {count}");
        }
        assert_eq!(Percentiles::of(&mut []), None);
    }
}
