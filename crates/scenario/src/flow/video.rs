//! Videos that are downloaded in segments. Keys, checks, and the conversion for the simulator.

use crate::values::form::Named;
use crate::values::quantity::{Duration, Quantity, Rate};
use netspurt_sim::host::session::{self, SessionSpec, VideoSpec};
use netspurt_tcp::time::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `from` plays a video that `to` serves, segment by segment over one connection, and chooses the quality of each segment.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Video {
    /// The qualities, rising. Default: six from 0.35 to 8 Mbit/s, as of films up to 1080 lines.
    #[serde(default = "usual_ladder")]
    pub ladder: Vec<Rate>,
    /// The playing time of a segment.
    #[serde(default = "usual_segment")]
    pub segment: Duration,
    /// The largest buffer, at least two segments.
    #[serde(default = "usual_buffer")]
    pub buffer: Duration,
    /// The buffer at which it begins to play. Default: one segment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_at: Option<Duration>,
    /// The buffer at which it plays on after a stall. Default: one segment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume_at: Option<Duration>,
    /// How it chooses a quality.
    #[serde(default)]
    pub control: Named<Control>,
    /// How many segments. Default: as long as the simulation lasts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub segments: Option<u32>,
}

/// How a player chooses a quality.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Control {
    /// The highest quality below a share of the throughput: the harmonic mean of the last five segments.
    ///
    /// Document: Jiang et al., "Improving fairness, efficiency, and stability in HTTP-based adaptive video streaming with
    /// FESTIVE", 2012.
    Rate {
        /// The share.
        #[serde(default = "usual_safety")]
        #[schemars(range(min = 0.1, max = 2.0))]
        safety: f64,
    },
    /// By the buffer: the fuller it is, the higher the quality.
    ///
    /// Document: Spiteri et al., "BOLA: near-optimal bitrate adaptation for online videos", 2016, BOLA-BASIC.
    Bola {
        /// The weight of playing without a stall, gamma times p.
        #[serde(default = "usual_smoothness")]
        #[schemars(range(min = 0.1, max = 100.0))]
        smooth: f64,
    },
}

impl Default for Named<Control> {
    fn default() -> Self {
        Self(Control::Bola { smooth: usual_smoothness() })
    }
}

fn usual_ladder() -> Vec<Rate> {
    [350_000, 800_000, 1_500_000, 3_000_000, 5_000_000, 8_000_000].map(Rate).to_vec()
}

const fn usual_segment() -> Duration {
    Duration(Span::from_secs(4))
}

const fn usual_buffer() -> Duration {
    Duration(Span::from_secs(30))
}

const fn usual_safety() -> f64 {
    0.9
}

const fn usual_smoothness() -> f64 {
    5.0
}

/// The key at fault, and a sentence.
type Wrong = (Vec<&'static str>, String);

impl Video {
    /// Checks the values.
    pub(super) fn check(&self) -> Result<(), Wrong> {
        let wrong = |key, message: String| Err((vec![key], message));
        if self.ladder.is_empty() || self.ladder[0] == Rate(0) {
            return wrong("ladder", "a video needs at least one quality, above zero".to_owned());
        }
        if let Some(pair) = self.ladder.windows(2).find(|pair| pair[1].0 <= pair[0].0) {
            let message = format!("qualities must rise: {} comes after {}", pair[1].print(), pair[0].print());
            return wrong("ladder", message);
        }
        if self.segment.is_nothing() {
            return wrong("segment", "a segment of no time plays nothing: give it more than zero".to_owned());
        }
        let least = Duration(self.segment.0 + self.segment.0);
        if self.buffer < least {
            let message = format!(
                "the buffer holds two segments at least, {}, not {}",
                least.print(),
                self.buffer.print()
            );
            return wrong("buffer", message);
        }
        for (key, level) in [("start_at", self.start_at), ("resume_at", self.resume_at)] {
            if let Some(level) = level.filter(|level| *level > self.buffer) {
                let message = format!(
                    "the buffer never holds {}: it holds {} at most",
                    level.print(),
                    self.buffer.print()
                );
                return wrong(key, message);
            }
        }
        Ok(())
    }

    pub(super) fn build(&self) -> SessionSpec {
        let level = |level: Option<Duration>| level.unwrap_or(self.segment).0;
        let video = VideoSpec {
            ladder: self.ladder.iter().map(|quality| quality.0).collect(),
            segment: self.segment.0,
            buffer: self.buffer.0,
            start: level(self.start_at),
            resume: level(self.resume_at),
            control: match self.control.0 {
                Control::Rate { safety } => session::Control::Rate { safety },
                Control::Bola { smooth } => session::Control::Bola { smooth },
            },
        };
        SessionSpec::video(video, self.segments.map(u64::from))
    }
}
