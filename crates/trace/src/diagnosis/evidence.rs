//! The evidence of a limit: the packets and the numbers that show it.

use super::confidence::confidence;
use super::facts::Facts;
use super::median::median;
use super::vantage::Vantage;
use netspurt_budget::{Line, Measured, Timeline};
use netspurt_tcp::time::Time;

/// What shows one line of a budget.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Evidence {
    /// First and last packet of the longest interval of the limit, as Wireshark numbers them.
    pub packets: Option<(u64, u64)>,
    /// The limit and its main numbers, in one sentence.
    pub sentence: String,
    /// How sure it is, from 0 to 1.
    pub confidence: f64,
    /// The numbers of the longest interval.
    pub measured: Measured,
}

/// Collects the evidence of one line of a timeline that begins at `began`. Retransmissions were counted before that, and since then.
pub(super) fn evidence(
    facts: &Facts,
    (timeline, began): (&Timeline, Time),
    line: &Line,
    (vantage, (resent_before, resent)): (Vantage, (u64, u64)),
) -> Evidence {
    let longest = timeline.longest(line.limit).filter(|_| !facts.slices.is_empty());
    let Some(longest) = longest else { return Evidence::default() };
    let ns = |time: Time| (time + began.since(Time::ZERO)).as_ps() / 1000;
    let (first, last) = (facts.index_at(ns(longest.from)), facts.index_at(ns(longest.until)));
    let slices = &facts.slices[first..=last];
    let delivered: f64 = slices.iter().map(|slice| f64::from(slice.delivered)).sum();
    // The first and the last slice reach beyond the interval.
    let seconds = (slices[slices.len() - 1].until - facts.began(first)) as f64 / 1e9;
    let middle = |values: &mut dyn Iterator<Item = u64>| median(values) as f64 / 1e9;
    let paths = || facts.path.now[first..=last].iter();
    let measured = Measured {
        rtt_s: middle(&mut paths().map(|now| now.rtt)),
        queueing_s: middle(&mut paths().map(|now| now.queueing)),
        rate_bps: if seconds > 0.0 { delivered * 8.0 / seconds } else { 0.0 },
        flight_bytes: slices.iter().map(|slice| slice.flight).max().map_or(0.0, f64::from),
        window_bytes: slices.iter().map(|slice| slice.window).max().map_or(0.0, f64::from),
        retransmitted: slices.iter().map(|slice| u32::from(slice.resent)).sum(),
        retransmitted_in_all: resent,
        retransmitted_before: resent_before,
    };
    Evidence {
        // The slice before the first packet has the number 0.
        packets: Some((slices[0].packet.max(1), slices[slices.len() - 1].packet.max(1))),
        sentence: measured.sentence(line.limit, line.time),
        confidence: confidence(line.limit, vantage),
        measured,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnosis::path::trains::Trains;
    use crate::diagnosis::sender::meter::Slice;
    use crate::diagnosis::sender::totals::Totals;
    use netspurt_budget::{Budget, Limit};
    use netspurt_tcp::time::Span;

    #[test]
    fn the_rate_of_a_short_interval_is_not_that_of_all_slices_it_touches_in_its_time() {
        // 10,000 bytes in each 10 ms, and a limit from 18 ms to 22 ms, which touches two slices.
        let slice = |n: u64| Slice { until: n * 10_000_000, delivered: 10_000, ..Slice::default() };
        let none = Trains::default();
        let slices = (1..=10).map(slice).collect();
        let parts = (0, 40_000_000);
        let facts = Facts::new(slices, parts, Totals::default(), [&none, &none], Default::default());
        let mut timeline = Timeline::default();
        for (ms, limit) in [(18, Limit::SlowStart), (22, Limit::ReceiveWindow), (100, Limit::SlowStart)] {
            timeline.extend(Time::ZERO + Span::from_ms(ms), limit);
        }
        let budget = Budget::of(&timeline);
        let line = budget.lines().iter().find(|line| line.limit == Limit::ReceiveWindow).unwrap();
        let vantage = Vantage::of(Some(0), Some(40_000_000));
        let begin = (&timeline, Time::ZERO);
        let rate = evidence(&facts, begin, line, (vantage, (0, 0))).measured.rate_bps;
        assert!((rate - 8e6).abs() < 1.0, "{rate}");
    }
}
