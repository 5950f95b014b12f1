//! Synthetic paths: delays like those that a prober measures, made from a few numbers instead of a network.
//!
//! The delay of each cycle is that of its packet's length (one line, or two with a step between them), times gamma noise,
//! plus the remaining part of glitches: bursts of long delays that start at random and decay, or last for a while. Cycles
//! are lost independently of each other, or more often during a glitch. A path may be calibrated (`calibrate`): then the
//! run has a given mean, coefficient of variation and number of losses.
//!
//! Time is counted in cycles. Lengths, noise, glitches and losses have separate random streams.

mod calibrate;
mod draft;
pub(crate) mod file;
mod gamma;

pub use calibrate::Unreachable;
pub use draft::Target;

use draft::Draft;
use gamma::Gamma;
use netspurt_sim::random::{Chance, Stream};
use netspurt_tcp::time::Span;

/// A path. A field without a unit is a pure number.
#[derive(Clone, PartialEq, Debug)]
pub struct Path {
    /// Number of packets.
    pub cycles: usize,
    /// Their lengths.
    pub length: Lengths,
    /// The delay of a length.
    pub delay: Characteristic,
    /// Coefficient of variation of the noise.
    pub noise_cov: f64,
    /// Bursts of long delays.
    pub glitches: Option<Glitches>,
    /// The losses.
    pub loss: Loss,
    /// The target values of the run.
    pub target: Option<Target>,
}

/// Lengths of packets, in octets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lengths {
    /// All equal.
    Fixed(u32),
    /// Uniform from 0 to `max`, with values below `floor` raised to it, as in RFC 889, section 2.1.
    Uniform {
        /// The largest length.
        max: u32,
        /// The smallest length.
        floor: u32,
    },
}

/// A straight line from length to delay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Line {
    /// Two different lengths, in octets.
    pub octets: [u32; 2],
    /// The one-way delays at these lengths.
    pub delay: [Span; 2],
}

impl Line {
    /// Seconds at a length. The line continues beyond its ends, but not below zero.
    fn seconds(&self, octets: u32) -> f64 {
        let [x0, x1] = self.octets.map(f64::from);
        let [y0, y1] = self.delay.map(Span::as_secs_f64);
        (y0 + (y1 - y0) * (f64::from(octets) - x0) / (x1 - x0)).max(0.0)
    }
}

/// Delay against length.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Characteristic {
    /// The line of all packets, or of those shorter than the split.
    pub short: Line,
    /// The first length of the long packets, and their line.
    pub long: Option<(u32, Line)>,
}

impl Characteristic {
    fn seconds(&self, octets: u32) -> f64 {
        match &self.long {
            Some((split, line)) if octets >= *split => line.seconds(octets),
            _ => self.short.seconds(octets),
        }
    }
}

/// Bursts of long delays that come at random.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Glitches {
    /// Mean number of cycles from one glitch to the next; they are a Poisson process.
    pub every: f64,
    /// Mean height in multiples of the path's mean delay; heights are exponentially distributed.
    pub height: f64,
    /// Its course.
    pub shape: Shape,
}

/// The course of a glitch.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Shape {
    /// It decays to 1/e in this many cycles.
    Decay(f64),
    /// It lasts for this many cycles and then ends.
    Plateau(f64),
}

impl Shape {
    /// Number of cycles that a glitch lasts, or takes to decay to 1/e.
    const fn cycles(self) -> f64 {
        match self {
            Self::Decay(cycles) | Self::Plateau(cycles) => cycles,
        }
    }

    /// The remaining part of a glitch of height 1.
    fn left(self, age: f64) -> f64 {
        match self {
            Self::Decay(cycles) => libm::exp(-age / cycles),
            Self::Plateau(cycles) => f64::from(u8::from(age < cycles)),
        }
    }
}

/// Which cycles are lost. With a [`Target`] their number is fixed, and these probabilities are weights.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Loss {
    /// Probability of a loss.
    pub rate: f64,
    /// Probability during a glitch.
    pub during: f64,
}

/// One cycle of a path.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Cycle {
    /// The packet's length in octets.
    pub octets: u32,
    /// The one-way delay in seconds; `None` if the packet was lost.
    pub delay_s: Option<f64>,
}

impl Path {
    /// Makes a run. The same seed gives the same run on every machine.
    pub fn run(&self, seed: u64) -> Result<Vec<Cycle>, Unreachable> {
        let draft = self.draft(seed);
        let delays: Vec<f64> = match &self.target {
            Some(target) => calibrate::mix(&draft, target)?,
            None => {
                let height = self.glitches.map_or(0.0, |glitches| glitches.height);
                calibrate::blend(&draft, 1.0, height).map(|delay| delay * draft.mean_s).collect()
            }
        };
        let cycle = |((octets, delay), lost): ((&u32, f64), &bool)| Cycle {
            octets: *octets,
            delay_s: (!lost).then_some(delay),
        };
        Ok(draft.octets.iter().zip(delays).zip(&draft.lost).map(cycle).collect())
    }

    fn draft(&self, seed: u64) -> Draft {
        let octets = self.lengths(&mut Stream::new(seed, "path/length"));
        let seconds: Vec<f64> = octets.iter().map(|&octets| self.delay.seconds(octets)).collect();
        let mean_s = seconds.iter().sum::<f64>() / seconds.len().max(1) as f64;
        let (gamma, mut stream) = (Gamma::with_cov(self.noise_cov), Stream::new(seed, "path/noise"));
        let arrivals = self.arrivals(&mut Stream::new(seed, "path/glitch"));
        let lost = self.losses(&arrivals, &mut Stream::new(seed, "path/loss"));
        Draft {
            by_length: seconds.iter().map(|each| if mean_s > 0.0 { each / mean_s } else { 1.0 }).collect(),
            noise: octets.iter().map(|_| gamma.draw(&mut stream)).collect(),
            glitch: self.glitch_by_cycle(&arrivals),
            octets,
            lost,
            mean_s,
        }
    }

    fn lengths(&self, stream: &mut Stream) -> Vec<u32> {
        let draw = |_| match self.length {
            Lengths::Fixed(octets) => octets,
            Lengths::Uniform { max, floor } => (stream.below(u64::from(max) + 1) as u32).max(floor),
        };
        (0..self.cycles).map(draw).collect()
    }

    /// When glitches begin, in cycles, and their heights. A run with a target coefficient of variation has at least one.
    fn arrivals(&self, stream: &mut Stream) -> Vec<(f64, f64)> {
        let Some(glitches) = self.glitches else { return Vec::new() };
        let mut arrivals = Vec::new();
        let mut at = stream.exponential(glitches.every);
        while at < self.cycles as f64 {
            arrivals.push((at.floor(), stream.exponential(1.0)));
            at += stream.exponential(glitches.every);
        }
        if arrivals.is_empty() && self.target.is_some() {
            arrivals.push((stream.below(self.cycles as u64) as f64, stream.exponential(1.0)));
        }
        arrivals
    }

    fn glitch_by_cycle(&self, arrivals: &[(f64, f64)]) -> Vec<f64> {
        let mut glitch = vec![0.0; self.cycles];
        let Some(Glitches { shape, .. }) = self.glitches else { return glitch };
        // After this time nothing remains of any glitch.
        let reach = (shape.cycles() * 40.0).ceil() as usize;
        for &(begun, height) in arrivals {
            let rest = glitch.iter_mut().skip(begun as usize).take(reach + 1);
            for (age, here) in rest.enumerate() {
                *here += height * shape.left(age as f64);
            }
        }
        glitch
    }

    fn losses(&self, arrivals: &[(f64, f64)], stream: &mut Stream) -> Vec<bool> {
        let lasts = self.glitches.map_or(0.0, |glitches| glitches.shape.cycles().max(1.0));
        let rates: Vec<f64> = (0..self.cycles)
            .map(|cycle| {
                let age = |begun: f64| cycle as f64 - begun;
                let inside = arrivals.iter().any(|&(begun, _)| (0.0..lasts).contains(&age(begun)));
                if inside { self.loss.during } else { self.loss.rate }
            })
            .collect();
        match &self.target {
            None => rates.iter().map(|&rate| Chance::new(rate).happens(stream)).collect(),
            Some(target) => so_many(target.lost, &rates, stream),
        }
    }
}

/// Draws `count` cycles without replacement, with weights; if all weights are zero, any cycles.
fn so_many(count: usize, weights: &[f64], stream: &mut Stream) -> Vec<bool> {
    let even = weights.iter().all(|&weight| weight <= 0.0);
    // The smallest of exponential numbers with these rates are such a draw (Efraimidis and Spirakis, 2006).
    let mut keys: Vec<(f64, usize)> = weights
        .iter()
        .enumerate()
        .map(|(cycle, &weight)| (stream.exponential(1.0) / if even { 1.0 } else { weight }, cycle))
        .collect();
    keys.sort_unstable_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
    let mut lost = vec![false; weights.len()];
    for &(_, cycle) in keys.iter().take(count) {
        lost[cycle] = true;
    }
    lost
}
