//! The file of a synthetic path: delays made from a few numbers, for replays.

use crate::reading::error::ScenarioError;
use crate::reading::tree::{At, Fault, Node, Part};
use crate::reading::{schema_of, shaped};
use crate::synthetic;
use crate::values::quantity::Duration;
use netspurt_tcp::time::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// A synthetic path.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SyntheticPath {
    /// Number of packets.
    #[serde(default = "cycles")]
    #[schemars(range(min = 1, max = 100_000_000))]
    pub cycles: u32,
    /// Time from one packet to the next.
    #[serde(default = "interval")]
    pub interval: Duration,
    /// The lengths of packets.
    #[serde(default)]
    pub length: Length,
    /// Delay as a function of length: one line, or two, the second for packets from `split` on.
    pub line: Vec<Line>,
    /// The first length, in octets, to which the second line applies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<u32>,
    /// Coefficient of variation of gamma noise on each delay.
    #[serde(default = "noise")]
    #[schemars(range(min = 0.0, max = 10.0))]
    pub noise: f64,
    /// Bursts of long delays. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub glitch: Option<Glitch>,
    /// The losses. Default: none.
    #[serde(default)]
    pub loss: PathLoss,
    /// Target values of the run. Default: none, the run has the values that the other keys give.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibrate: Option<Calibrate>,
}

/// The lengths of packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Length {
    /// All packets have the same length.
    Fixed {
        /// Octets.
        octets: u32,
    },
    /// Uniform from 0 to `max`; values below `floor` are raised to it.
    ///
    /// Document: RFC 889, section 2.1.
    Uniform {
        /// The largest length, in octets.
        #[serde(default = "octets_256")]
        #[schemars(range(max = 65535))]
        max: u32,
        /// The smallest length, in octets.
        #[serde(default = "octets_40")]
        #[schemars(range(max = 65535))]
        floor: u32,
    },
}

/// A straight line from length to delay.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// Two lengths, in octets.
    #[serde(default = "ends")]
    pub octets: [u32; 2],
    /// The one-way delays at these lengths.
    pub delay: [Duration; 2],
}

/// Bursts of long delays.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Glitch {
    /// Mean number of packets from one glitch to the next.
    #[schemars(range(min = 1.0))]
    pub every: f64,
    /// Mean height in multiples of the mean delay; with a calibration it is chosen to reach the target.
    #[serde(default = "height")]
    #[schemars(range(min = 0.0, max = 1000000.0))]
    pub height: f64,
    /// The course of a glitch.
    #[serde(default)]
    pub shape: GlitchShape,
}

/// The course of a glitch.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum GlitchShape {
    /// It decays exponentially.
    Decay {
        /// Packets until it has decayed to 1/e.
        #[serde(default = "four")]
        #[schemars(range(min = 0.01, max = 1000000.0))]
        cycles: f64,
    },
    /// It lasts for a while and then ends.
    Plateau {
        /// Duration in packets.
        #[serde(default = "four")]
        #[schemars(range(min = 0.01, max = 1000000.0))]
        cycles: f64,
    },
}

/// The losses of a synthetic path.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PathLoss {
    /// Probability of a loss.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub rate: f64,
    /// Probability during a glitch. Default: as at other times.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub during_glitch: Option<f64>,
}

/// Target values of the run. A lost packet counts as a delay of zero, as in the table of RFC 889.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Calibrate {
    /// Mean one-way delay.
    pub mean: Duration,
    /// Coefficient of variation of the delays.
    #[schemars(range(min = 0.0))]
    pub cov: f64,
    /// Number of lost packets.
    #[serde(default)]
    pub lost: u32,
}

const fn cycles() -> u32 {
    512
}
const fn interval() -> Duration {
    Duration::secs(1)
}
const fn octets_256() -> u32 {
    256
}
const fn octets_40() -> u32 {
    40
}
const fn ends() -> [u32; 2] {
    [40, 256]
}
const fn noise() -> f64 {
    0.2
}
const fn height() -> f64 {
    8.0
}
const fn four() -> f64 {
    4.0
}

impl Default for Length {
    fn default() -> Self {
        Self::Uniform { max: octets_256(), floor: octets_40() }
    }
}

impl Default for GlitchShape {
    fn default() -> Self {
        Self::Decay { cycles: four() }
    }
}

static SCHEMA: LazyLock<serde_json::Value> = LazyLock::new(schema_of::<SyntheticPath>);

impl SyntheticPath {
    /// Reads the text of a path's file and applies the overrides (path, value). `file` is the file name for errors.
    pub fn parse(text: &str, file: &str, overrides: &[(&str, &str)]) -> Result<Self, ScenarioError> {
        let read = || {
            let (tree, path) = shaped::<Self>(&SCHEMA, text, overrides)?;
            path.check(&tree)?;
            Ok(path)
        };
        read().map_err(|fault| ScenarioError::new(fault, text, file, overrides))
    }

    fn check(&self, tree: &Node) -> Result<(), Fault> {
        let fault = |path: &[&str], message: &str| {
            let at = if tree.has(path) { tree.locate(path, Part::Value) } else { At::File(0) };
            Err(Fault { at, message: message.to_owned() })
        };
        for (index, line) in ["0", "1"].into_iter().zip(&self.line) {
            if line.octets[0] == line.octets[1] {
                return fault(&["line", index, "octets"], "a line needs two different lengths");
            }
            if line.delay.contains(&Duration(Span::ZERO)) {
                return fault(&["line", index, "delay"], "a delay must be more than zero");
            }
        }
        match (&self.line[..], self.split) {
            ([_], None) | ([_, _], Some(_)) => {}
            ([_], Some(_)) => return fault(&["split"], "split is for two lines, and there is one"),
            ([_, _], None) => {
                return fault(&["line"], "two lines need split, the first length of the second");
            }
            (lines, _) => {
                let message = format!("there must be one line or two, not {}", lines.len());
                return fault(&["line"], &message);
            }
        }
        if self.interval.0 == Span::ZERO {
            return fault(&["interval"], "interval must be more than zero");
        }
        if let Some(target) = self.calibrate {
            if target.lost >= self.cycles {
                return fault(&["calibrate", "lost"], "fewer packets must be lost than are sent");
            }
            if target.mean.0 == Span::ZERO {
                return fault(&["calibrate", "mean"], "the mean must be more than zero");
            }
        }
        Ok(())
    }

    /// The path in numbers.
    pub fn build(&self) -> synthetic::Path {
        let line = |line: &Line| synthetic::Line {
            octets: line.octets,
            delay: line.delay.map(|Duration(span)| span),
        };
        let glitches = self.glitch.map(|glitch| synthetic::Glitches {
            every: glitch.every,
            height: glitch.height,
            shape: match glitch.shape {
                GlitchShape::Decay { cycles } => synthetic::Shape::Decay(cycles),
                GlitchShape::Plateau { cycles } => synthetic::Shape::Plateau(cycles),
            },
        });
        let loss = synthetic::Loss {
            rate: self.loss.rate,
            during: self.loss.during_glitch.unwrap_or(self.loss.rate),
        };
        let target = self.calibrate.map(|target| synthetic::Target {
            mean: target.mean.0,
            cov: target.cov,
            lost: target.lost as usize,
        });
        synthetic::Path {
            cycles: self.cycles as usize,
            length: match self.length {
                Length::Fixed { octets } => synthetic::Lengths::Fixed(octets),
                Length::Uniform { max, floor } => synthetic::Lengths::Uniform { max, floor },
            },
            delay: synthetic::Characteristic {
                short: line(&self.line[0]),
                long: self.split.zip(self.line.get(1)).map(|(split, long)| (split, line(long))),
            },
            noise_cov: self.noise,
            glitches,
            loss,
            target,
        }
    }

    /// The path as a file with all its values, which [`SyntheticPath::parse`] reads to the same path.
    pub fn merged_toml(&self) -> String {
        crate::reading::written(self)
    }
}
