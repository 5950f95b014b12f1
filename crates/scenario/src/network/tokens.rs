//! Policers and shapers. Keys, checks, and the conversion for the simulator.

use crate::values::quantity::{Quantity, Rate, Size};
use netspurt_sim::network::token_bucket::bucket::Bucket;
use netspurt_sim::network::token_bucket::policer::{self, Excess, PolicerSpec};
use netspurt_sim::network::token_bucket::shaper::ShaperSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A policer: packets that find no tokens are dropped when they arrive, before the queue. They are counted as `policer`.
///
/// With `excess` or with `peak` packets are green, yellow or red; earlier colours are ignored.
///
/// Document: RFC 2697; RFC 2698.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Policer {
    /// The rate of tokens: the committed rate.
    pub rate: Rate,
    /// The size of the bucket: the committed burst.
    pub burst: Size,
    /// A second bucket of this size, which receives the excess of the first one. Packets with tokens only there are yellow.
    /// Default: none.
    ///
    /// Document: RFC 2697.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excess: Option<Size>,
    /// A second bucket with this rate. Packets without tokens there are red; packets without tokens in the first bucket are
    /// yellow. Default: none.
    ///
    /// Document: RFC 2698.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak: Option<Rate>,
    /// The size of the bucket of the peak rate. Default: `burst`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_burst: Option<Size>,
    /// The action on yellow packets.
    #[serde(default = "pass")]
    pub yellow: Action,
    /// The action on red packets, which are those without tokens.
    #[serde(default = "drop_them")]
    pub red: Action,
}

/// The action of a policer on packets of a colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// They pass.
    Pass,
    /// They are marked if they are ECN-capable, and dropped otherwise.
    Mark,
    /// They are dropped.
    Drop,
}

const fn pass() -> Action {
    Action::Pass
}

const fn drop_them() -> Action {
    Action::Drop
}

/// A shaper: packets wait in the queue of the link until there are tokens for them.
///
/// Document: Linux, `tc-tbf`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shaper {
    /// The rate of tokens.
    pub rate: Rate,
    /// The size of the bucket: the burst that may leave at once after a pause.
    pub burst: Size,
    /// The peak rate during a burst. Default: the rate of the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak: Option<Rate>,
    /// The burst at the peak rate: at least one packet. Default: 1500 bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_burst: Option<Size>,
}

/// The key at fault, and a sentence.
pub(crate) type Wrong = (&'static str, String);

fn bucket(rate: Rate, burst: Size) -> Bucket {
    Bucket { rate: rate.0, burst: burst.0 }
}

/// A bucket fills, and holds a packet of the largest size that the link takes.
fn check_bucket(keys: [&'static str; 2], rate: Rate, burst: Size, largest: u64) -> Result<(), Wrong> {
    if rate == Rate(0) {
        return Err((
            keys[0],
            "a token bucket with a rate of zero is never filled again: give it a rate above zero".into(),
        ));
    }
    if burst.0 < largest {
        let message = format!(
            "a burst of {} is less than one packet: packets have up to {}, so give it at least that",
            burst.print(),
            Size(largest).print()
        );
        return Err((keys[1], message));
    }
    Ok(())
}

fn check_peak(rate: Rate, peak: Option<Rate>, peak_burst: Option<Size>, largest: u64) -> Result<(), Wrong> {
    match (peak, peak_burst) {
        (None, Some(_)) => {
            Err(("peak_burst", "a burst at the peak rate needs a rate: give \"peak\" too".into()))
        }
        (Some(peak), _) if peak < rate => {
            let message = format!(
                "the peak rate, {}, is below the rate, {}: give it at least the rate",
                peak.print(),
                rate.print()
            );
            Err(("peak", message))
        }
        (Some(peak), Some(burst)) => check_bucket(["peak", "peak_burst"], peak, burst, largest),
        _ => Ok(()),
    }
}

impl Policer {
    /// Checks the values for a link whose largest packet has `largest` bytes.
    pub(crate) fn check(&self, largest: u64) -> Result<(), Wrong> {
        check_bucket(["rate", "burst"], self.rate, self.burst, largest)?;
        if self.excess.is_some() && self.peak.is_some() {
            let message =
                "packets have colours by RFC 2697 (excess) or by RFC 2698 (peak), not by both: leave one out";
            return Err(("excess", message.to_owned()));
        }
        check_peak(self.rate, self.peak, self.peak_burst, largest)
    }

    pub(crate) fn build(&self) -> PolicerSpec {
        let action = |action| match action {
            Action::Pass => policer::Action::Pass,
            Action::Mark => policer::Action::Mark,
            Action::Drop => policer::Action::Drop,
        };
        let excess = match (self.excess, self.peak) {
            (Some(excess), _) => Excess::Burst(excess.0),
            (None, Some(peak)) => Excess::Peak(bucket(peak, self.peak_burst.unwrap_or(self.burst))),
            (None, None) => Excess::None,
        };
        let committed = bucket(self.rate, self.burst);
        PolicerSpec { committed, excess, yellow: action(self.yellow), red: action(self.red) }
    }
}

impl Shaper {
    /// Checks the values for a link whose largest packet has `largest` bytes.
    pub(crate) fn check(&self, largest: u64) -> Result<(), Wrong> {
        check_bucket(["rate", "burst"], self.rate, self.burst, largest)?;
        check_peak(self.rate, self.peak, self.peak_burst, largest)
    }

    /// The shaper of a link whose largest packet has `largest` bytes, for the simulator.
    pub(crate) fn build(&self, largest: u64) -> ShaperSpec {
        let peak = |peak| bucket(peak, self.peak_burst.unwrap_or(Size(largest)));
        ShaperSpec { bucket: bucket(self.rate, self.burst), peak: self.peak.map(peak) }
    }
}
