//! Middleboxes, and effects of hosts. Keys, checks, and the conversion for the simulator.

use crate::values::quantity::{Duration, Packets, Quantity, Size};
use netspurt_sim::network::gather;
use netspurt_sim::network::middlebox::{MiddleboxSpec, Strip};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A middlebox that rewrites headers before packets enter the queue. Packets keep their length: stripped options become
/// no-operation options.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Middlebox {
    /// The maximum value of the MSS option of a SYN. Default: unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mss: Option<Size>,
    /// Options that are stripped from every segment. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub strip: Vec<Stripped>,
    /// The maximum window. The middlebox knows the window scale of a connection if it has seen its SYN. Default: unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Size>,
    /// Whether the ECN field of the IP header is cleared.
    #[serde(default)]
    pub bleach_ecn: bool,
    /// The idle timeout of a connection. After it, all packets of the connection are dropped until a SYN arrives. Drops are
    /// counted as `idle-timeout`. Default: no timeout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_timeout: Option<Duration>,
}

/// Options that a middlebox strips.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stripped {
    /// SACK-permitted and SACK.
    Sack,
    /// Timestamps.
    Timestamps,
    /// Window scaling.
    WindowScaling,
    /// All but MSS, window scaling, SACK and timestamps: Fast Open, accurate ECN, Multipath TCP.
    Unknown,
}

/// Packets are collected and released in bursts, as with segmentation offload, receive offload or interrupt coalescing: at
/// multiples of `interval`, or as soon as there are `packets` of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Aggregation {
    /// Packets are released at multiples of this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Duration>,
    /// Packets are released when there are this many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<Packets>,
    /// With `packets`: the maximum wait of the first packet. Default: 1 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
}

/// ACK thinning: of `keep` consecutive pure ACKs of a connection, only the last one is forwarded. Duplicate ACKs and ACKs
/// with SACK blocks are always forwarded. Drops are counted as `ack-thinning`.
///
/// Document: RFC 3449, section 5.2.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AckThinning {
    /// One of this many ACKs is forwarded.
    #[schemars(range(min = 2))]
    pub keep: u32,
    /// The maximum wait of the first ACK of a group.
    #[serde(default = "ms_10")]
    pub interval: Duration,
}

const fn ms_10() -> Duration {
    Duration::ms(10)
}

/// The key at fault, if it is one, and a sentence.
pub(crate) type Wrong = (Option<&'static str>, String);

impl Middlebox {
    pub(crate) fn check(&self) -> Result<(), Wrong> {
        let wrong = |key, message: String| Err((Some(key), message));
        if self.build() == MiddleboxSpec::default() {
            let message =
                "it does nothing: give it mss, strip, window, bleach_ecn or idle_timeout".to_owned();
            return Err((None, message));
        }
        if let Some(mss) = self.mss.filter(|mss| !(1..=65_535).contains(&mss.0)) {
            return wrong("mss", format!("an MSS is between 1 B and 65535 B, not {}", mss.print()));
        }
        if self.window == Some(Size(0)) {
            return wrong(
                "window",
                "a window of no bytes lets nothing be sent: give at least 1 B".to_owned(),
            );
        }
        if self.idle_timeout.is_some_and(|idle| idle.is_nothing()) {
            let message =
                "a timeout of 0 forgets a connection at once: give a time above zero, such as \"5 min\"";
            return wrong("idle_timeout", message.to_owned());
        }
        Ok(())
    }

    pub(crate) fn build(&self) -> MiddleboxSpec {
        let strips = |option| self.strip.contains(&option);
        MiddleboxSpec {
            mss: self.mss.map(|mss| u16::try_from(mss.0).unwrap_or(u16::MAX)),
            strip: Strip {
                sack: strips(Stripped::Sack),
                timestamps: strips(Stripped::Timestamps),
                window_scaling: strips(Stripped::WindowScaling),
                unknown: strips(Stripped::Unknown),
            },
            window: self.window.map(|window| u32::try_from(window.0).unwrap_or(u32::MAX)),
            bleaches_ecn: self.bleach_ecn,
            idle: self.idle_timeout.map(|idle| idle.0),
        }
    }
}

impl Aggregation {
    pub(crate) fn check(&self) -> Result<(), Wrong> {
        let wrong = |key, message: &str| Err((Some(key), message.to_owned()));
        match (self.interval, self.packets) {
            (None, None) => Err((None, "it needs a time or a number: give interval or packets".to_owned())),
            (Some(_), Some(_)) => wrong("packets", "interval or packets says when a burst goes on, not both"),
            (Some(interval), None) if interval.is_nothing() => wrong(
                "interval",
                "an interval of 0 gathers nothing: give a time above zero, such as \"1 ms\"",
            ),
            (Some(_), None) if self.timeout.is_some() => {
                wrong("timeout", "a timeout belongs to packets: with an interval leave it out")
            }
            (None, Some(Packets(0 | 1))) => wrong("packets", "a burst has at least 2 packets"),
            _ => Ok(()),
        }
    }

    pub(crate) fn build(&self) -> gather::Aggregation {
        let packets = self.packets.map_or(1, |packets| u32::try_from(packets.0).unwrap_or(u32::MAX));
        let timeout = self.timeout.unwrap_or(Duration::ms(1)).0;
        self.interval.map_or(gather::Aggregation::Of { packets, timeout }, |interval| {
            gather::Aggregation::Every(interval.0)
        })
    }
}

impl AckThinning {
    pub(crate) fn check(&self) -> Result<(), Wrong> {
        if self.interval.is_nothing() {
            let message = "an interval of 0 leaves no ACK out: give a time above zero, such as \"10 ms\"";
            return Err((Some("interval"), message.to_owned()));
        }
        Ok(())
    }

    pub(crate) fn build(&self) -> gather::Thinning {
        gather::Thinning { keep: self.keep, interval: self.interval.0 }
    }
}
