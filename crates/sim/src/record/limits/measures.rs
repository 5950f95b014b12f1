//! What a sender measured over time: the numbers behind its limits.

use netspurt_budget::Measured;
use netspurt_tcp::Connection;
use netspurt_tcp::time::{Span, Time};

/// The state of a sender after it was served.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Sample {
    at: Time,
    /// The last round trip that was measured.
    rtt: Option<Span>,
    flight: u64,
    window: u32,
    acknowledged: u64,
    retransmitted: u32,
}

/// The samples of one sender, in order of time.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Measures {
    samples: Vec<Sample>,
    rtt_least: Option<Span>,
}

impl Measures {
    /// No sample yet.
    pub(super) const fn new() -> Self {
        Self { samples: Vec::new(), rtt_least: None }
    }

    /// A sender was served, and has `flight` bytes outstanding; `rtt` is the round trip that an ACK has just completed, if one did.
    pub(super) fn note(&mut self, now: Time, connection: &Connection, flight: u64, rtt: Option<Span>) {
        if let Some(rtt) = rtt {
            self.rtt_least = Some(self.rtt_least.map_or(rtt, |least| least.min(rtt)));
        }
        let before = self.samples.last().copied();
        let sample = Sample {
            at: now,
            rtt: rtt.or_else(|| before.and_then(|before| before.rtt)),
            flight,
            window: connection.peer_window(),
            acknowledged: connection.acknowledged(),
            retransmitted: connection.stats().retransmitted,
        };
        // Nothing has changed but the time.
        if before.is_none_or(|before| Sample { at: now, ..before } != sample) {
            self.samples.push(sample);
        }
    }

    /// The least round trip that was measured.
    pub(super) const fn rtt_least(&self) -> Option<Span> {
        self.rtt_least
    }

    /// The bytes that were acknowledged and the segments that were sent again before `at`.
    pub(super) fn counts_before(&self, at: Time) -> (u64, u32) {
        let index = self.samples.partition_point(|sample| sample.at < at);
        let last = index.checked_sub(1).map(|last| self.samples[last]);
        last.map_or((0, 0), |last| (last.acknowledged, last.retransmitted))
    }

    /// The numbers of an interval; `retransmitted_in_all` is left at zero.
    pub(super) fn between(&self, from: Time, until: Time) -> Measured {
        // The last sample before it tells the state at its begin.
        let first = self.samples.partition_point(|sample| sample.at <= from).saturating_sub(1);
        let end = self.samples.partition_point(|sample| sample.at <= until);
        let Some(samples @ [begin, .., last]) = self.samples.get(first..end) else {
            return self.samples.get(first).map_or_else(Measured::default, |only| self.measured(&[*only]));
        };
        let seconds = until.since(from).as_secs_f64();
        let bits = (last.acknowledged - begin.acknowledged) as f64 * 8.0;
        Measured {
            rate_bps: if seconds > 0.0 { bits / seconds } else { 0.0 },
            retransmitted: last.retransmitted - begin.retransmitted,
            ..self.measured(samples)
        }
    }

    /// What samples show without their order.
    fn measured(&self, samples: &[Sample]) -> Measured {
        let mut round_trips: Vec<Span> = samples.iter().filter_map(|sample| sample.rtt).collect();
        let middle = round_trips.len() / 2;
        let rtt = (!round_trips.is_empty()).then(|| *round_trips.select_nth_unstable(middle).1);
        let queueing = rtt.zip(self.rtt_least).map(|(rtt, least)| rtt.saturating_sub(least));
        let seconds = |span: Option<Span>| span.map_or(0.0, Span::as_secs_f64);
        Measured {
            rtt_s: seconds(rtt),
            queueing_s: seconds(queueing),
            flight_bytes: samples.iter().map(|sample| sample.flight).max().unwrap_or(0) as f64,
            window_bytes: f64::from(samples.iter().map(|sample| sample.window).max().unwrap_or(0)),
            ..Measured::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(ms: u64, rtt: u64, flight: u64, acknowledged: u64, retransmitted: u32) -> Sample {
        let (at, rtt) = (Time::ZERO + Span::from_ms(ms), (rtt > 0).then(|| Span::from_ms(rtt)));
        Sample { at, rtt, flight, window: 65_535, acknowledged, retransmitted }
    }

    #[test]
    fn an_interval_has_the_numbers_of_its_samples() {
        let samples = vec![
            sample(0, 0, 1000, 0, 0),
            sample(100, 100, 4000, 1000, 0),
            sample(200, 120, 9000, 5000, 1),
            sample(300, 110, 2000, 13_500, 3),
            sample(400, 900, 99_000, 90_000, 9),
        ];
        let measures = Measures { samples, rtt_least: Some(Span::from_ms(100)) };
        let at = |ms| Time::ZERO + Span::from_ms(ms);
        let found = measures.between(at(100), at(350));
        assert_eq!((found.flight_bytes, found.window_bytes, found.retransmitted), (9000.0, 65_535.0, 3));
        assert!((found.rate_bps - 12_500.0 * 8.0 / 0.25).abs() < 1e-6);
        assert!((found.rtt_s - 0.11).abs() < 1e-9 && (found.queueing_s - 0.01).abs() < 1e-9);
        // An interval between two samples has the state of the one before it.
        let between = measures.between(at(210), at(220));
        assert_eq!((between.flight_bytes, between.rate_bps), (9000.0, 0.0));
        assert_eq!(Measures::new().between(at(0), at(10)), Measured::default());
        assert_eq!([0, 300, 301].map(|ms| measures.counts_before(at(ms))), [(0, 0), (5000, 1), (13_500, 3)]);
    }
}
