//! Delays that belong to the path and not to the packet: a random walk, and steps at equal distances of time.

use crate::random::Stream;
use crate::random::distribution::normal;
use netspurt_tcp::time::Span;

/// A random walk between two bounds, which throw it back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Walk {
    /// Where it begins.
    pub start: Span,
    /// Standard deviation of a step.
    pub step: Span,
    /// Time between two steps, above zero.
    pub every: Span,
    /// The least.
    pub min: Span,
    /// The greatest.
    pub max: Span,
}

/// Another delay after each such time, anything between the bounds alike.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Steps {
    /// Time between two steps, above zero.
    pub every: Span,
    /// The least.
    pub min: Span,
    /// The greatest.
    pub max: Span,
}

/// How the next value is found.
pub(super) trait Wanders: Copy {
    fn every(self) -> u64;
    /// The first value, in picoseconds.
    fn first(self, stream: &mut Stream) -> f64;
    /// The value that follows this one.
    fn next(self, value: f64, stream: &mut Stream) -> f64;
}

impl Wanders for Walk {
    fn every(self) -> u64 {
        self.every.as_ps()
    }

    fn first(self, _: &mut Stream) -> f64 {
        self.start.as_ps() as f64
    }

    fn next(self, value: f64, stream: &mut Stream) -> f64 {
        let [step, min, max] = [self.step, self.min, self.max].map(|span| span.as_ps() as f64);
        reflect(value + step * normal(stream), min, max)
    }
}

/// Thrown back at the bounds as often as need be.
fn reflect(value: f64, min: f64, max: f64) -> f64 {
    let width = max - min;
    if width <= 0.0 {
        return min;
    }
    let past = libm::fmod(value - min, 2.0 * width);
    let past = if past < 0.0 { past + 2.0 * width } else { past };
    min + past.min(2.0 * width - past)
}

impl Wanders for Steps {
    fn every(self) -> u64 {
        self.every.as_ps()
    }

    fn first(self, stream: &mut Stream) -> f64 {
        self.next(0.0, stream)
    }

    fn next(self, _: f64, stream: &mut Stream) -> f64 {
        let [min, max] = [self.min, self.max].map(|span| span.as_ps() as f64);
        min + (max - min) * stream.unit()
    }
}

/// A delay that wanders, and where it is.
#[derive(Clone, Debug)]
pub(super) struct Running<W> {
    spec: W,
    /// The value, and how many steps led to it.
    reached: Option<(f64, u64)>,
}

impl<W: Wanders> Running<W> {
    pub(super) const fn new(spec: W) -> Self {
        Self { spec, reached: None }
    }

    /// The delay of a packet at `now`, in picoseconds. Each step draws the same count of numbers, whenever packets arrive.
    pub(super) fn at(&mut self, now: u64, stream: &mut Stream) -> u64 {
        let (mut value, mut steps) = self.reached.unwrap_or_else(|| (self.spec.first(stream), 0));
        while steps < now / self.spec.every() {
            value = self.spec.next(value, stream);
            steps += 1;
        }
        self.reached = Some((value, steps));
        value as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000_000;

    fn values<W: Wanders>(spec: W, count: u64) -> Vec<f64> {
        let (mut running, mut stream) = (Running::new(spec), Stream::new(4, "delay"));
        (0..count).map(|n| running.at(n * spec.every(), &mut stream) as f64 / MS as f64).collect()
    }

    #[test]
    fn a_walk_takes_its_steps_and_stays_within_its_bounds() {
        let span = Span::from_ms;
        let walk = Walk { start: span(500), step: span(2), every: span(10), min: span(0), max: span(1000) };
        let path = values(walk, 4000);
        assert!((path[0] - 500.0).abs() < 1e-9);
        let steps: Vec<f64> = path.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let n = steps.len() as f64;
        let variance = steps.iter().map(|step| step * step).sum::<f64>() / n;
        assert!((libm::sqrt(variance) - 2.0).abs() < 0.1, "{variance}");
        let turn = steps.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>() / n / variance;
        assert!(turn.abs() < 0.06, "steps know nothing of each other: {turn}");
        let narrow = Walk { step: span(50), min: span(480), max: span(520), ..walk };
        let path = values(narrow, 20_000);
        assert!(path.iter().all(|value| (480.0..=520.0).contains(value)));
        // Thrown back at both ends, it is everywhere alike.
        let mean = path.iter().sum::<f64>() / path.len() as f64;
        assert!((mean - 500.0).abs() < 1.0, "{mean}");
    }

    #[test]
    fn steps_are_uniform_and_hold_until_the_next() {
        let span = Span::from_ms;
        let steps = Steps { every: span(10), min: span(20), max: span(40) };
        let path = values(steps, 20_000);
        let mean = path.iter().sum::<f64>() / path.len() as f64;
        assert!(
            (mean - 30.0).abs() < 0.2 && path.iter().all(|value| (20.0..=40.0).contains(value)),
            "{mean}"
        );
        let (mut running, mut stream) = (Running::new(steps), Stream::new(4, "delay"));
        let at = |running: &mut Running<Steps>, ms, stream: &mut Stream| running.at(ms * MS, stream);
        let first = at(&mut running, 0, &mut stream);
        assert_eq!(at(&mut running, 9, &mut stream), first);
        assert_ne!(at(&mut running, 10, &mut stream), first);
        // A late packet finds the same value as any other packet at that time.
        let (mut late, mut stream) = (Running::new(steps), Stream::new(4, "delay"));
        let seen = late.at(19_999 * 10 * MS, &mut stream) as f64 / MS as f64;
        assert!((seen - path[19_999]).abs() < 1e-12);
    }
}
