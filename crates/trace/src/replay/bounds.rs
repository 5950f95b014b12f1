//! Lower bounds of the cost of any estimator, in hindsight.

use super::cycle::Tally;
use super::trip::Trip;
use netspurt_tcp::time::Span;

/// The cost of a timer that knows each delay in advance: no response is late, and a loss costs the RTT that the
/// response would have had. That RTT is unknown; the mean of the RTTs before and after it is used.
pub fn oracle(trips: &[Trip]) -> Tally {
    let mut tally = Tally::default();
    let mut last = None;
    let mut waiting = 0_u64;
    let mut lose = |times: u64, before: Option<Span>, after: Option<Span>| {
        let rtt = match (before, after) {
            (Some(before), Some(after)) => (before.as_ps() / 2) + (after.as_ps() / 2),
            (Some(one), None) | (None, Some(one)) => one.as_ps(),
            (None, None) => 0,
        };
        tally.lost += times;
        tally.lost_ps += u128::from(times) * u128::from(rtt);
    };
    for trip in trips {
        match trip.get() {
            None => waiting += 1,
            Some(rtt) => {
                lose(waiting, last, Some(rtt));
                (last, waiting) = (Some(rtt), 0);
            }
        }
    }
    lose(waiting, last, None);
    tally
}

/// A constant timeout and its cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Constant {
    /// The timeout.
    pub rto: Span,
    /// Its cost.
    pub tally: Tally,
}

/// The best constant timeout, chosen in hindsight; the shortest if several cost the same.
///
/// The cost of a constant T is (losses · T) + (all delays longer than T). Between two delays it only grows with T, so
/// the best is one of the delays, or zero.
pub fn best_constant(trips: &[Trip]) -> Constant {
    let mut delays: Vec<Span> = trips.iter().filter_map(|trip| trip.get()).collect();
    delays.sort_unstable();
    let lost = (trips.len() - delays.len()) as u64;
    let all: u128 = delays.iter().map(|rtt| u128::from(rtt.as_ps())).sum();
    let tally_of = |rto: Span, longer: usize, longer_ps: u128| Constant {
        rto,
        tally: Tally {
            lost,
            lost_ps: u128::from(lost) * u128::from(rto.as_ps()),
            rtx: longer as u64,
            rtx_ps: longer_ps,
        },
    };
    let mut best = tally_of(Span::ZERO, delays.len(), all);
    let mut longer_ps = all;
    for (index, &rto) in delays.iter().enumerate() {
        longer_ps -= u128::from(rto.as_ps());
        if delays.get(index + 1) == Some(&rto) {
            continue;
        }
        let this = tally_of(rto, delays.len() - index - 1, longer_ps);
        if this.tally.wasted_ps() < best.tally.wasted_ps() {
            best = this;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::{Rules, in_detail};
    use netspurt_tcp::rto::Kind;

    fn trips(delays_ms: &[Option<u64>]) -> Vec<Trip> {
        delays_ms.iter().map(|ms| ms.map_or(Trip::LOST, |ms| Trip::after(Span::from_ms(ms)))).collect()
    }

    #[test]
    fn the_oracle_is_never_late_and_waits_no_longer_than_the_path() {
        let tally = oracle(&trips(&[None, Some(100), None, None, Some(300), None]));
        assert_eq!((tally.lost, tally.rtx), (4, 0));
        assert_eq!(tally.lost_ps, u128::from(Span::from_ms(100 + 200 + 200 + 300).as_ps()));
        assert_eq!(oracle(&trips(&[None])).lost_ps, 0);
    }

    #[test]
    fn no_constant_timeout_beats_the_best_one() {
        let path = trips(&[Some(100), Some(120), None, Some(900), Some(100), Some(110), None, Some(115)]);
        let best = best_constant(&path);
        // Two losses at 120 ms and one late packet of 900 ms, against two losses at 900 ms.
        assert_eq!((best.rto, best.tally.rtx), (Span::from_ms(120), 1));
        assert_eq!(best.tally.wasted_ps(), u128::from(Span::from_ms(2 * 120 + 900).as_ps()));
        for ms in 1..1000 {
            let constant = in_detail(Kind::Fixed { rto: Span::from_ms(ms) }, &path, Rules::Document);
            assert!(constant.tally.wasted_ps() >= best.tally.wasted_ps(), "{ms} ms");
        }
    }
}
