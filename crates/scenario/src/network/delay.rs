//! Propagation delays that vary: their keys in a file, and their conversion.

use crate::values::columns::read_columns;
use crate::values::distribution::Files;
use crate::values::quantity::{Duration, Quantity};
use netspurt_sim::network::delay::{self, DelaySpec, Drawn, Recorded, Shape};
use netspurt_sim::random::distribution::Quantiles;
use netspurt_tcp::time::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Columns of delays, and how many seconds their unit is.
const DELAYS: [(&str, f64); 3] = [("delay_ms", 1e-3), ("delay_s", 1.0), ("delay_us", 1e-6)];
/// The longest delay that a file may say, in seconds.
const LONGEST_S: f64 = 1e5;

/// A delay, or how it varies.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum Delay {
    /// Always this.
    Always(Duration),
    /// One that varies.
    Varies(Varies),
}

impl Default for Delay {
    fn default() -> Self {
        Self::Always(Duration::default())
    }
}

/// A delay that varies. Packets keep their order: one that has drawn a shorter delay waits for those before it, unless
/// `reorders` is true.
///
/// `correlation` says how much of a packet's delay comes from that of the packet before. For `normal` it is the coefficient
/// of an autoregressive process of the first order; for the others it is the correlation of ranks.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Varies {
    /// Normal, for each packet; below zero it is zero.
    Normal {
        /// Mean.
        mean: Duration,
        /// Standard deviation.
        sd: Duration,
        /// With the packet before.
        #[serde(default)]
        #[schemars(range(min = 0.0, max = 1.0))]
        correlation: f64,
        /// Whether packets may overtake each other.
        #[serde(default)]
        reorders: bool,
    },
    /// Anything between, alike, for each packet.
    Uniform {
        /// The least.
        min: Duration,
        /// The greatest.
        max: Duration,
        /// With the packet before.
        #[serde(default)]
        #[schemars(range(min = 0.0, max = 1.0))]
        correlation: f64,
        /// Whether packets may overtake each other.
        #[serde(default)]
        reorders: bool,
    },
    /// A power law from its least value on, for each packet.
    Pareto {
        /// The least.
        min: Duration,
        /// Exponent of the tail.
        shape: f64,
        /// The greatest. Default: 1000 times the least.
        #[serde(skip_serializing_if = "Option::is_none")]
        max: Option<Duration>,
        /// With the packet before.
        #[serde(default)]
        #[schemars(range(min = 0.0, max = 1.0))]
        correlation: f64,
        /// Whether packets may overtake each other.
        #[serde(default)]
        reorders: bool,
    },
    /// A table of measured quantiles, for each packet. Between two quantiles the logarithm of the delay is linear in the
    /// probability.
    Quantiles {
        /// Shares from 0 to 1, rising.
        probabilities: Vec<f64>,
        /// The delays that so large a share lies below, never falling.
        values: Vec<Duration>,
        /// With the packet before.
        #[serde(default)]
        #[schemars(range(min = 0.0, max = 1.0))]
        correlation: f64,
        /// Whether packets may overtake each other.
        #[serde(default)]
        reorders: bool,
    },
    /// A recording: each delay holds from its time on.
    Recording {
        /// A CSV file, its path relative to the scenario's, with a column `time_s` that begins at 0 and rises, and a column
        /// `delay_ms`, `delay_s` or `delay_us`.
        #[serde(skip_serializing_if = "Option::is_none")]
        file: Option<String>,
        /// The times instead.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        times: Vec<Duration>,
        /// The delays instead, one for each time.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        delays: Vec<Duration>,
        /// After this time it begins anew. Default: the last delay holds for ever.
        #[serde(skip_serializing_if = "Option::is_none")]
        repeat: Option<Duration>,
        /// Whether packets may overtake each other.
        #[serde(default)]
        reorders: bool,
    },
    /// A random walk of the path, thrown back at its bounds.
    Walk {
        /// Where it begins.
        start: Duration,
        /// Standard deviation of a step.
        step: Duration,
        /// Time between two steps.
        every: Duration,
        /// The least.
        min: Duration,
        /// The greatest.
        max: Duration,
        /// Whether packets may overtake each other.
        #[serde(default)]
        reorders: bool,
    },
    /// A path that changes at equal distances of time, each time to anything between the bounds.
    Steps {
        /// Time between two changes.
        every: Duration,
        /// The least.
        min: Duration,
        /// The greatest.
        max: Duration,
        /// Whether packets may overtake each other.
        #[serde(default)]
        reorders: bool,
    },
}

/// The key at fault, and a sentence.
pub(crate) type Wrong = (&'static str, String);

impl Delay {
    /// Replaces the name of a file by its contents.
    pub(crate) fn resolve(&mut self, files: Files<'_>) -> Result<(), Wrong> {
        let Self::Varies(Varies::Recording { file, times, delays, .. }) = self else { return Ok(()) };
        let Some(name) = file.take() else { return Ok(()) };
        let wrong = |message: String| ("file", message);
        if !times.is_empty() || !delays.is_empty() {
            return Err(wrong("a recording stands in a file or here, not in both".to_owned()));
        }
        let text = files(&name).map_err(|why| wrong(format!("\"{name}\" cannot be read: {why}")))?;
        let rows = read_columns(&text, &DELAYS, LONGEST_S)
            .map_err(|(line, message)| wrong(format!("\"{name}\", line {line}: {message}")))?;
        for (time, seconds) in rows {
            times.push(time);
            delays.push(Duration(Span::from_ps((seconds * 1e12).round() as u64)));
        }
        self.check().map_err(|(_, message)| wrong(format!("\"{name}\": {message}")))
    }

    /// Checks the values.
    pub(crate) fn check(&self) -> Result<(), Wrong> {
        let Self::Varies(varies) = self else { return Ok(()) };
        if let Varies::Normal { correlation, .. }
        | Varies::Uniform { correlation, .. }
        | Varies::Pareto { correlation, .. }
        | Varies::Quantiles { correlation, .. } = varies
            && *correlation >= 1.0
        {
            return Err((
                "correlation",
                "with a correlation of 1 the delay never varies: give less than 1".into(),
            ));
        }
        match varies {
            Varies::Normal { .. } => Ok(()),
            Varies::Uniform { min, max, .. } => ordered(*min, *max),
            Varies::Pareto { min, shape, max, .. } => {
                if *shape <= 0.0 || !shape.is_finite() {
                    return Err(("shape", format!("the shape must be above 0, not {shape}")));
                }
                if *min == Duration::default() {
                    return Err((
                        "min",
                        "a power law from zero on is zero: give a least delay above it".into(),
                    ));
                }
                max.map_or(Ok(()), |max| ordered(*min, max))
            }
            Varies::Quantiles { probabilities, values, .. } => {
                table(probabilities, values).map(drop).map_err(|why| ("probabilities", why))
            }
            Varies::Recording { times, delays, repeat, .. } => check_recording(times, delays, *repeat),
            Varies::Walk { start, every, min, max, .. } => {
                passes(*every)?;
                ordered(*min, *max)?;
                if start < min || start > max {
                    let [start, min, max] = [start, min, max].map(Quantity::print);
                    return Err((
                        "start",
                        format!("it begins at {start}, which is not between {min} and {max}"),
                    ));
                }
                Ok(())
            }
            Varies::Steps { every, min, max, .. } => {
                passes(*every)?;
                ordered(*min, *max)
            }
        }
    }

    /// The same for the simulator: a typical delay, and how it varies.
    pub(crate) fn build(&self) -> (Span, Option<DelaySpec>) {
        let varies = match self {
            Self::Always(delay) => return (delay.0, None),
            Self::Varies(varies) => varies.build(),
        };
        (varies.as_ref().map_or(Span::ZERO, DelaySpec::typical), varies)
    }
}

impl Varies {
    /// `None` for one that [`Delay::check`] refuses.
    fn build(&self) -> Option<DelaySpec> {
        let drawn = |shape, correlation| delay::Kind::Drawn(Drawn { shape, correlation });
        let (kind, reorders) = match self {
            Self::Normal { mean, sd, correlation, reorders } => {
                (drawn(Shape::Normal { mean: mean.0, sd: sd.0 }, *correlation), reorders)
            }
            Self::Uniform { min, max, correlation, reorders } => {
                (drawn(Shape::Uniform { min: min.0, max: max.0 }, *correlation), reorders)
            }
            Self::Pareto { min, shape, max, correlation, reorders } => {
                let max = max.map_or_else(|| min.0.saturating_mul(1000), |max| max.0);
                (drawn(Shape::Pareto { min: min.0, shape: *shape, max }, *correlation), reorders)
            }
            Self::Quantiles { probabilities, values, correlation, reorders } => {
                let table = table(probabilities, values).ok()?;
                (drawn(Shape::Quantiles(Arc::new(table)), *correlation), reorders)
            }
            Self::Recording { times, delays, repeat, reorders, .. } => {
                let values: Vec<_> =
                    times.iter().zip(delays).map(|(time, delay)| (time.0.as_ps(), delay.0)).collect();
                let recorded = Recorded::new(&values, repeat.map(|repeat| repeat.0.as_ps()))?;
                (delay::Kind::Recorded(Arc::new(recorded)), reorders)
            }
            Self::Walk { start, step, every, min, max, reorders } => {
                let [start, step, every, min, max] = [start, step, every, min, max].map(|each| each.0);
                (delay::Kind::Walk(delay::Walk { start, step, every, min, max }), reorders)
            }
            Self::Steps { every, min, max, reorders } => {
                let [every, min, max] = [every, min, max].map(|each| each.0);
                (delay::Kind::Steps(delay::Steps { every, min, max }), reorders)
            }
        };
        Some(DelaySpec { kind, reorders: *reorders })
    }
}

fn table(probabilities: &[f64], values: &[Duration]) -> Result<Quantiles, String> {
    let values: Vec<f64> = values.iter().map(|value| value.0.as_ps() as f64).collect();
    Quantiles::new(probabilities, &values).map_err(|error| error.to_string())
}

fn ordered(min: Duration, max: Duration) -> Result<(), Wrong> {
    if min <= max {
        return Ok(());
    }
    Err(("max", format!("the greatest delay, {}, is below the least, {}", max.print(), min.print())))
}

fn passes(every: Duration) -> Result<(), Wrong> {
    if every.is_nothing() {
        return Err((
            "every",
            "a period of 0 never lets time pass: write how long it is, such as \"15 s\"".into(),
        ));
    }
    Ok(())
}

fn check_recording(times: &[Duration], delays: &[Duration], repeat: Option<Duration>) -> Result<(), Wrong> {
    let wrong = |key, message: String| Err((key, message));
    match times.first() {
        None => {
            return wrong(
                "times",
                "a recording has at least one delay: name a file, or times and delays".into(),
            );
        }
        Some(first) if !first.is_nothing() => return wrong("times", "the first time must be 0 s".into()),
        Some(_) => {}
    }
    if times.len() != delays.len() {
        return wrong("delays", format!("{} times need as many delays, not {}", times.len(), delays.len()));
    }
    if let Some(row) = times.windows(2).position(|pair| pair[1] <= pair[0]) {
        let [before, late] = [times[row], times[row + 1]].map(|time| time.print());
        return wrong("times", format!("row {}: {late} comes after {before}: times must rise", row + 2));
    }
    match (repeat, times.last()) {
        (Some(repeat), Some(&last)) if repeat <= last => {
            let [repeat, last] = [repeat, last].map(|time| time.print());
            wrong("repeat", format!("it cannot begin anew after {repeat}, before its last delay at {last}"))
        }
        _ => Ok(()),
    }
}
