//! The sending end: when a datagram leaves, and its length.

use super::spec::{DatagramSpec, Spacing};
use crate::network::packet::Datagram;
use crate::random::Stream;
use netspurt_tcp::time::{Span, Time};
use std::sync::Arc;

/// The largest payload of a datagram: 65 535 bytes less the headers of IPv4 and UDP.
pub const MAX_PAYLOAD: u32 = 65_535 - 28;

/// Sends datagrams without any feedback.
#[derive(Debug)]
pub struct Source {
    spec: Arc<DatagramSpec>,
    sizes: Stream,
    gaps: Stream,
    periods: Stream,
    /// When the flow started.
    start: Time,
    /// When the next datagram leaves; [`Time::NEVER`] if none does.
    next: Time,
    /// The end of the present sending period.
    pause_at: Time,
    sent: u64,
    bytes: u64,
    /// When the last datagram left.
    last: Time,
}

impl Source {
    /// A source that starts at `start`. `name` selects its random streams.
    pub(crate) fn new(spec: &Arc<DatagramSpec>, seed: u64, name: &str, start: Time) -> Self {
        let stream = |what: &str| Stream::new(seed, &format!("flow/{name}/datagram-{what}"));
        let mut periods = stream("periods");
        let pause_at = match &spec.periods {
            Some([on, _]) => start + on.draw_span(&mut periods),
            None => Time::NEVER,
        };
        let mut source = Self {
            spec: Arc::clone(spec),
            sizes: stream("sizes"),
            gaps: stream("gaps"),
            periods,
            start,
            next: start,
            pause_at,
            sent: 0,
            bytes: 0,
            last: start,
        };
        if let Spacing::Recording(recorded) = &spec.spacing {
            source.next = recorded.first().map_or(Time::NEVER, |first| start + first.at);
        }
        source.stop_at_limits();
        source
    }

    /// The next datagram, if it is due.
    pub(crate) fn take(&mut self, now: Time) -> Option<Datagram> {
        if self.next > now {
            return None;
        }
        let bytes = match &self.spec.spacing {
            Spacing::Recording(recorded) => recorded[self.sent as usize].bytes,
            _ => self.spec.size.draw_bytes(&mut self.sizes).min(u64::from(MAX_PAYLOAD)) as u32,
        };
        let datagram = Datagram { number: self.sent, sent: self.next, bytes, ecn: self.spec.ecn };
        self.last = self.next;
        self.sent += 1;
        self.bytes += u64::from(bytes);
        self.schedule(bytes);
        Some(datagram)
    }

    /// When the next datagram leaves.
    pub(crate) const fn next(&self) -> Time {
        self.next
    }

    /// Datagrams sent, and their payload.
    pub(crate) const fn sent(&self) -> (u64, u64) {
        (self.sent, self.bytes)
    }

    /// When the last datagram of all left; [`Time::NEVER`] while more will follow.
    pub(crate) const fn done(&self) -> Time {
        if self.next.is_never() { self.last } else { Time::NEVER }
    }

    fn schedule(&mut self, bytes: u32) {
        let gap = match &self.spec.spacing {
            Spacing::Rate(rate) => time_at(*rate, bytes),
            Spacing::Interval(interval) => interval.draw_span(&mut self.gaps),
            Spacing::Recording(recorded) => {
                self.next = recorded.get(self.sent as usize).map_or(Time::NEVER, |next| self.start + next.at);
                return self.stop_at_limits();
            }
        };
        // If gaps could be zero for ever, the clock would stop.
        self.next += gap.max(Span::from_ps(1));
        if self.next >= self.pause_at
            && let Some([on, off]) = &self.spec.periods
        {
            let resumes = self.pause_at + off.draw_span(&mut self.periods);
            self.next = resumes.max(self.last + Span::from_ps(1));
            self.pause_at = self.next + on.draw_span(&mut self.periods);
        }
        self.stop_at_limits();
    }

    fn stop_at_limits(&mut self) {
        let enough = self.spec.count.is_some_and(|count| self.sent >= count);
        let late = self.spec.lasts.is_some_and(|lasts| self.next > self.start + lasts);
        if enough || late {
            self.next = Time::NEVER;
        }
    }
}

/// How long this many bytes take at `rate` bits per second, rounded to the nearest picosecond.
fn time_at(rate: u64, bytes: u32) -> Span {
    const PS: u128 = 1_000_000_000_000;
    let rate = u128::from(rate.max(1));
    let ps = (u128::from(bytes) * 8 * PS + rate / 2) / rate;
    Span::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::distribution::{Distribution, Family};

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn times(spec: DatagramSpec, until: Time) -> Vec<Datagram> {
        let mut source = Source::new(&Arc::new(spec), 1, "a/0", at(5));
        let mut all = Vec::new();
        while source.next() <= until {
            let now = source.next();
            all.extend(source.take(now));
            assert_eq!(source.take(now), None, "one at a time");
        }
        all
    }

    fn fixed(bytes: u32, ms: u64) -> DatagramSpec {
        DatagramSpec::constant(bytes, Span::from_ms(ms))
    }

    #[test]
    fn a_constant_source_sends_at_the_start_and_then_at_equal_intervals() {
        let sent: Vec<_> =
            times(fixed(100, 20), at(70)).iter().map(|one| (one.number, one.sent, one.bytes)).collect();
        let expected = |number: u64| (number, at(5 + 20 * number), 100);
        assert_eq!(sent, [0, 1, 2, 3].map(expected));
    }

    #[test]
    fn a_rate_gives_each_datagram_the_time_that_it_takes() {
        let size = Distribution::from(Family::Uniform { from: 100.0, to: 1400.0 });
        let spec = DatagramSpec { size, spacing: Spacing::Rate(1_000_000), ..fixed(1, 1) };
        let sent = times(spec, at(1000 * 10));
        let bits: u64 = sent.iter().rev().skip(1).map(|one| 8 * u64::from(one.bytes)).sum();
        let lasted = sent.last().unwrap().sent.since(at(5)).as_secs_f64();
        assert!((bits as f64 / lasted - 1e6).abs() < 1.0, "{bits} bits in {lasted} s");
    }

    #[test]
    fn intervals_without_memory_make_a_poisson_process() {
        let mean_ps = Span::from_ms(2).as_ps() as f64;
        let spacing = Spacing::Interval(Family::Exponential { mean: mean_ps }.into());
        let sent = times(DatagramSpec { spacing, ..fixed(100, 1) }, at(1000 * 100));
        let n = sent.len() as f64;
        assert!((n - 50_000.0).abs() < 4.0 * 50_000f64.sqrt(), "{n}");
        let mut counts = vec![0.0; 1000];
        sent.iter().for_each(|one| counts[(one.sent.as_secs_f64() * 10.0) as usize % 1000] += 1.0);
        let variance = counts.iter().map(|count| (count - n / 1000.0).powi(2)).sum::<f64>() / 999.0;
        // The index of dispersion of a Poisson process is 1.
        assert!((variance / (n / 1000.0) - 1.0).abs() < 0.2, "{variance}");
    }

    #[test]
    fn it_pauses_between_periods() {
        let ms = |ms| Distribution::constant(Span::from_ms(ms).as_ps() as f64);
        let spec = DatagramSpec { periods: Some([ms(50), ms(100)]), ..fixed(100, 20) };
        let sent: Vec<_> = times(spec, at(400)).iter().map(|one| one.sent.as_secs_f64()).collect();
        let expected = [5, 25, 45, 155, 175, 195, 305, 325, 345].map(|ms| f64::from(ms) * 1e-3);
        assert_eq!(sent.len(), expected.len(), "{sent:?}");
        sent.iter().zip(expected).for_each(|(got, want)| assert!((got - want).abs() < 1e-9, "{sent:?}"));
    }

    #[test]
    fn it_ends_after_its_number_or_its_time() {
        let count = DatagramSpec { count: Some(3), ..fixed(100, 20) };
        assert_eq!(times(count, at(1000 * 9)).len(), 3);
        let lasts = DatagramSpec { lasts: Some(Span::from_ms(40)), ..fixed(100, 20) };
        assert_eq!(times(lasts.clone(), at(1000 * 9)).len(), 3);
        let mut source = Source::new(&Arc::new(lasts), 1, "a/0", Time::ZERO);
        assert!(source.done().is_never());
        while source.take(source.next()).is_some_and(|_| !source.next().is_never()) {}
        assert_eq!(source.done(), at(40));
    }

    #[test]
    fn a_recording_is_repeated_as_it_is() {
        let recorded = [(0, 10), (3, 20), (3, 30)];
        let recorded = recorded.map(|(ms, bytes)| super::super::Recorded { at: Span::from_ms(ms), bytes });
        let spec = DatagramSpec { spacing: Spacing::Recording(recorded.into()), ..fixed(1, 1) };
        let mut source = Source::new(&Arc::new(spec), 1, "a/0", Time::ZERO);
        assert_eq!(source.take(Time::ZERO).map(|one| one.bytes), Some(10));
        assert_eq!(source.next(), at(3));
        let both = [(); 2].map(|()| source.take(at(3)).map(|one| one.bytes));
        assert_eq!(both, [Some(20), Some(30)]);
        assert_eq!((source.next(), source.done()), (Time::NEVER, at(3)));
    }
}
