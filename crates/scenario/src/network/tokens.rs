//! Policers and shapers: what a file may say of them, and what they come to.

use crate::values::quantity::{Quantity, Rate, Size};
use netspurt_sim::network::token_bucket::bucket::Bucket;
use netspurt_sim::network::token_bucket::policer::{self, Excess, PolicerSpec};
use netspurt_sim::network::token_bucket::shaper::ShaperSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A policer: packets that find no tokens are dropped when they arrive, before the queue. They are counted as `policer`.
///
/// With `excess` or with `peak` packets are green, yellow or red; they count as uncoloured before.
///
/// Document: RFC 2697; RFC 2698.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Policer {
    /// How fast tokens come: the committed rate.
    pub rate: Rate,
    /// How many there are at most: the committed burst.
    pub burst: Size,
    /// A second bucket of this size, which gets what the first has no room for. Packets that find tokens only there are
    /// yellow. Default: none.
    ///
    /// Document: RFC 2697.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excess: Option<Size>,
    /// A second bucket with this rate. Packets that find no tokens there are red, those that find none in the first are
    /// yellow. Default: none.
    ///
    /// Document: RFC 2698.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak: Option<Rate>,
    /// How many tokens the bucket of the peak rate has. Default: as many as `burst`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_burst: Option<Size>,
    /// What becomes of yellow packets.
    #[serde(default = "pass")]
    pub yellow: Action,
    /// What becomes of red packets, which are those without tokens.
    #[serde(default = "drop_them")]
    pub red: Action,
}

/// What a policer does with packets of a colour.
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
    /// How fast tokens come.
    pub rate: Rate,
    /// How many there are at most: what may leave at once after a pause.
    pub burst: Size,
    /// The highest rate while the burst lasts. Default: that of the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak: Option<Rate>,
    /// What may leave at once at the peak rate: no less than a packet. Default: 1500 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
            let message = format!("the peak rate, {}, is below the rate, {}", peak.print(), rate.print());
            Err(("peak", message))
        }
        (Some(peak), Some(burst)) => check_bucket(["peak", "peak_burst"], peak, burst, largest),
        _ => Ok(()),
    }
}

impl Policer {
    /// What it must not say on a link that takes packets of so many bytes.
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
    /// What it must not say on a link that takes packets of so many bytes.
    pub(crate) fn check(&self, largest: u64) -> Result<(), Wrong> {
        check_bucket(["rate", "burst"], self.rate, self.burst, largest)?;
        check_peak(self.rate, self.peak, self.peak_burst, largest)
    }

    /// What it comes to on a link that takes packets of so many bytes.
    pub(crate) fn build(&self, largest: u64) -> ShaperSpec {
        let peak = |peak| bucket(peak, self.peak_burst.unwrap_or(Size(largest)));
        ShaperSpec { bucket: bucket(self.rate, self.burst), peak: self.peak.map(peak) }
    }
}
