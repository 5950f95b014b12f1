//! Transfers that arrive in an open loop. Keys, checks, and the conversion for the simulator.

use crate::flow::closes::Closes;
use crate::values::distribution::{Drawn, Draws};
use crate::values::form::Named;
use crate::values::quantity::{Duration, Quantity as _, Size};
use netspurt_sim::host::session::{ArrivalsSpec, IdlePath, SessionSpec};
use netspurt_sim::random::distribution::{Distribution, Family, Quantiles};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Transfers from `to` to `from`, each over its own connection. Their arrivals do not depend on earlier transfers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arrivals {
    /// Length of a transfer; or give a `workload`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Drawn<Size>>,
    /// A published distribution of lengths instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload: Option<Workload>,
    /// The share of the slowest link on the way that the data of all transfers takes, without headers; or give `every`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<f64>,
    /// From one arrival to the next instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every: Option<Drawn<Duration>>,
    /// How arrivals scatter around the mean that `load` gives.
    #[serde(default, skip_serializing_if = "is_poisson")]
    pub process: Named<Process>,
    /// Length of the request for a transfer.
    #[serde(default = "short_request")]
    pub request: Drawn<Size>,
    /// How many transfers. Default: as long as the simulation lasts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub transfers: Option<u32>,
    /// The largest small transfer, for the results.
    #[serde(default = "usual_small")]
    pub small: Size,
    /// The largest medium transfer, for the results.
    #[serde(default = "usual_medium")]
    pub medium: Size,
    /// Which end closes.
    #[serde(default)]
    pub closes: Closes,
}

/// A published distribution of lengths. Between two points the logarithm of the length is linear in the probability.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Workload {
    /// A search engine's servers: half are below 75 kB, and 3 % above 10 MB.
    ///
    /// Document: Alizadeh et al., "Data center TCP (DCTCP)", 2010, figure 4.
    WebSearch,
    /// A cluster for data mining: half are below 1.1 kB, and 2 % above 100 MB.
    ///
    /// Document: Greenberg et al., "VL2: a scalable and flexible data center network", 2009, figure 2.
    DataMining,
    /// The remote procedure calls of a data centre: half are below 260 bytes, and 2 % above 16 kB.
    ///
    /// Document: Montazeri et al., "Homa: a receiver-driven low-latency transport protocol using network priorities", 2018,
    /// figure 1, workload W3 (all applications of a Google data centre), by the shares of bytes in its authors' simulator.
    Rpc,
}

/// How arrivals scatter around their mean.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Process {
    /// Without memory: the gaps are exponential.
    #[default]
    Poisson,
    /// At equal distances.
    Even,
    /// In bursts: the gaps are log-normal.
    LogNormal {
        /// Standard deviation of the natural logarithm of a gap.
        #[serde(default = "usual_sigma")]
        #[schemars(range(min = 0.01, max = 5.0))]
        sigma: f64,
    },
}

impl Default for Named<Process> {
    fn default() -> Self {
        Self(Process::Poisson)
    }
}

fn is_poisson(process: &Named<Process>) -> bool {
    process.0 == Process::Poisson
}

const fn short_request() -> Drawn<Size> {
    Drawn::Always(Size(64))
}

const fn usual_small() -> Size {
    Size(100_000)
}

const fn usual_medium() -> Size {
    Size(10_000_000)
}

const fn usual_sigma() -> f64 {
    2.0
}

/// The highest load: beyond 1 the backlog grows as long as the simulation lasts.
const MOST_LOAD: f64 = 2.0;

/// Points of a published distribution: a cumulative probability, and the length in bytes.
type Points = [(f64, f64)];

const WEB_SEARCH: &Points = &[
    (0.0, 0.0),
    (0.15, 10e3),
    (0.2, 20e3),
    (0.3, 30e3),
    (0.4, 50e3),
    (0.53, 80e3),
    (0.6, 200e3),
    (0.7, 1e6),
    (0.8, 2e6),
    (0.9, 5e6),
    (0.97, 10e6),
    (1.0, 30e6),
];

const DATA_MINING: &Points = &[
    (0.0, 0.0),
    (0.1, 180.0),
    (0.2, 216.0),
    (0.3, 560.0),
    (0.4, 900.0),
    (0.5, 1_100.0),
    (0.6, 1_870.0),
    (0.7, 3_160.0),
    (0.8, 10e3),
    (0.9, 400e3),
    (0.95, 3.16e6),
    (0.98, 100e6),
    (1.0, 1e9),
];

/// Workload W3 of Homa. Its authors' script for their simulator (PlatformLab/HomaSimulation) has the share of bytes below each
/// power of two; these are the probabilities that follow from it, with a straight line over the logarithm between two points.
/// The paper says that more than 85 % of messages are below 1000 bytes.
const RPC: &Points = &[
    (0.0, 0.0),
    (0.064_882_6, 3.0),
    (0.097_323_9, 32.0),
    (0.155_271, 64.0),
    (0.351_573, 128.0),
    (0.497_901, 256.0),
    (0.784_921, 512.0),
    (0.863_2, 1024.0),
    (0.908_862, 2048.0),
    (0.934_955, 4096.0),
    (0.964_309, 8192.0),
    (0.984_694, 16_384.0),
    (0.990_402, 32_768.0),
    (0.993_256, 65_536.0),
    (0.997_129, 131_072.0),
    (0.998_453, 262_144.0),
    (0.999_498, 524_288.0),
    (0.999_758, 1_047_917.0),
    (0.999_955, 4_300_563.0),
    (1.0, 15_158_197.0),
];

impl Workload {
    fn distribution(self) -> Distribution {
        let points = match self {
            Self::WebSearch => WEB_SEARCH,
            Self::DataMining => DATA_MINING,
            Self::Rpc => RPC,
        };
        let (probabilities, values): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
        let table = Quantiles::new(&probabilities, &values).expect("published quantiles rise");
        Family::Quantiles(table.into()).into()
    }
}

impl Process {
    /// Gaps with this mean, in picoseconds.
    fn gaps(self, mean: f64) -> Distribution {
        match self {
            Self::Poisson => Family::Exponential { mean }.into(),
            Self::Even => Distribution::constant(mean),
            Self::LogNormal { sigma } => {
                Family::LogNormal { median: mean * (-sigma * sigma / 2.0).exp(), sigma }.into()
            }
        }
    }
}

/// The key at fault, and a sentence.
type Wrong = (Vec<&'static str>, String);

impl Arrivals {
    /// Checks the values.
    pub(super) fn check(&self) -> Result<(), Wrong> {
        let wrong = |key, message: &str| Err((vec![key], message.to_owned()));
        match (&self.size, self.workload) {
            (None, None) => {
                return wrong(
                    "size",
                    "transfers need a length: give \"size\", or a \"workload\" such as \"web-search\"",
                );
            }
            (Some(_), Some(_)) => return wrong("workload", "give either \"size\" or \"workload\", not both"),
            _ => {}
        }
        match (self.load, &self.every) {
            (None, None) => {
                return wrong(
                    "load",
                    "say how often transfers arrive: \"load\", such as 0.6, or \"every\", such as \"10 ms\"",
                );
            }
            (Some(_), Some(_)) => return wrong("every", "give either \"load\" or \"every\", not both"),
            (Some(load), None) if !(load > 0.0 && load <= MOST_LOAD) => {
                return wrong("load", "the load must be above 0 and at most 2: 1 fills the slowest link");
            }
            (Some(_), None) if self.sizes().mean().is_infinite() => {
                return wrong(
                    "size",
                    "the mean of these lengths is infinite, so no load can be kept: give \"max\"",
                );
            }
            (None, Some(every)) if every.distribution().mean() < 1.0 => {
                return wrong(
                    "every",
                    "without any time between them, transfers arrive without end: give more than zero",
                );
            }
            (None, Some(_)) if !is_poisson(&self.process) => {
                return wrong("process", "\"every\" says how arrivals scatter: \"process\" is for \"load\"");
            }
            _ => {}
        }
        if let Process::LogNormal { sigma } = self.process.0
            && !(0.01..=5.0).contains(&sigma)
        {
            return wrong("process", "sigma must lie between 0.01 and 5");
        }
        if self.small >= self.medium {
            let message = format!(
                "the largest medium transfer must be larger than the largest small one, {}, not {}",
                self.small.print(),
                self.medium.print()
            );
            return Err((vec!["medium"], message));
        }
        Ok(())
    }

    fn sizes(&self) -> Distribution {
        match (&self.size, self.workload) {
            (Some(size), _) => size.distribution(),
            (None, Some(workload)) => workload.distribution(),
            // It was refused when the file was read.
            (None, None) => Distribution::constant(1.0),
        }
    }

    /// The transfers, for the simulator; when they arrive is [`Arrivals::arriving`].
    pub(super) fn build(&self) -> SessionSpec {
        SessionSpec {
            port: 5001,
            request: self.request.distribution(),
            pages: self.transfers.map(u64::from),
            closes: self.closes.build(),
            ..SessionSpec::files(self.sizes())
        }
    }

    /// When they arrive, over a path that looks so when it is idle.
    ///
    /// # Errors
    /// A load of a path on which no link has a rate.
    pub(crate) fn arriving(&self, idle: IdlePath) -> Result<ArrivalsSpec, String> {
        let gap = match (&self.every, self.load) {
            (Some(every), _) => every.distribution(),
            (None, load) => {
                let rate =
                    idle.rate.ok_or("app.load: no link on the way has a rate: give \"every\" instead")?;
                let share = load.unwrap_or(1.0);
                self.process.0.gaps(self.sizes().mean() * 8e12 / (share * rate as f64))
            }
        };
        Ok(ArrivalsSpec { gap, bounds: [self.small.0, self.medium.0], idle })
    }

    /// What is drawn, by its key.
    pub(super) fn distributions(&mut self) -> Vec<(&'static str, &mut dyn Draws)> {
        let mut all: Vec<(&'static str, &mut dyn Draws)> = Vec::new();
        all.extend(self.size.as_mut().map(|size| ("size", size as _)));
        all.extend(self.every.as_mut().map(|every| ("every", every as _)));
        all.push(("request", &mut self.request));
        all
    }
}
