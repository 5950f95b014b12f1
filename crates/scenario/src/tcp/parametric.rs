//! The choices of TCP's mechanism families that have parameters of their own, with the defaults of these.
//!
//! The doc comments here are shown to users, as those of `choices.rs` are.

use crate::values::quantity::{Duration, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The growth of cwnd for an ACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Counting {
    /// Each ACK of new data as one full segment.
    ///
    /// Document: the BSD systems and ns-2.
    Acks,
    /// min(bytes acknowledged, MSS) for each ACK.
    ///
    /// Document: RFC 5681, equation 2.
    #[serde(rename = "acks-rfc5681")]
    AcksByRfc5681,
    /// Bytes acknowledged.
    ///
    /// Document: RFC 3465.
    Bytes {
        /// L: at most so many segments an ACK.
        #[serde(default = "two")]
        #[schemars(range(min = 1))]
        limit: u8,
    },
}

/// From round-trip samples to a retransmission timeout.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Rto {
    /// SRTT = α·SRTT + (1 − α)·RTT, RTO = β·SRTT between two bounds.
    ///
    /// Document: RFC 793, section 3.7.
    Rfc793 {
        /// α, to six decimals: 0.8 to 0.9.
        #[serde(default = "alpha")]
        #[schemars(range(min = 0.0, max = 0.999999))]
        alpha: f64,
        /// β, to six decimals: 1.3 to 2.
        #[serde(default = "double")]
        #[schemars(range(min = 0.000001, max = 1000.0))]
        beta: f64,
        /// LBOUND; "0 s" for none.
        #[serde(default = "s_1")]
        min: Duration,
        /// UBOUND; "0 s" for none.
        #[serde(default = "s_60")]
        max: Duration,
        /// Before the first sample (RFC 1122, section 4.2.3.1).
        #[serde(default = "s_3")]
        initial: Duration,
    },
    /// Mills's two smoothing factors, fast upwards and slow downwards: T = G·E.
    ///
    /// Document: RFC 889, section 3.
    Rfc889 {
        /// F1, to six decimals, for a sample below the estimate; 15/16 in the document.
        #[serde(default = "f1")]
        #[schemars(range(min = 0.0, max = 0.999999))]
        f1: f64,
        /// F2, to six decimals, otherwise.
        #[serde(default = "f2")]
        #[schemars(range(min = 0.0, max = 0.999999))]
        f2: f64,
        /// G, to six decimals.
        #[serde(default = "double")]
        #[schemars(range(min = 0.000001, max = 1000.0))]
        g: f64,
        /// Lower bound; "0 s" for none.
        #[serde(default = "none")]
        min: Duration,
        /// Upper bound; "0 s" for none.
        #[serde(default = "s_60")]
        max: Duration,
        /// Before the first sample.
        #[serde(default = "s_3")]
        initial: Duration,
    },
    /// Mean and four deviations in integer arithmetic on a coarse clock.
    ///
    /// Document: Jacobson, "Congestion avoidance and control", revised in 1992, appendix A; 4.3BSD-Reno.
    Jacobson88 {
        /// Length of a tick.
        #[serde(default = "ms_500")]
        tick: Duration,
        /// Lower bound in ticks.
        #[serde(default = "ticks_2")]
        min_ticks: u32,
        /// Upper bound in ticks.
        #[serde(default = "ticks_128")]
        #[schemars(range(min = 1))]
        max_ticks: u32,
    },
    /// Mean and two deviations in integer arithmetic on a coarse clock.
    ///
    /// Document: Jacobson, "Congestion avoidance and control", SIGCOMM 1988, appendix A; 4.3BSD-Tahoe.
    Tahoe {
        /// Length of a tick.
        #[serde(default = "ms_500")]
        tick: Duration,
        /// Lower bound in ticks.
        #[serde(default = "ticks_2")]
        min_ticks: u32,
        /// Upper bound in ticks.
        #[serde(default = "ticks_128")]
        #[schemars(range(min = 1))]
        max_ticks: u32,
    },
    /// SRTT plus four times the variation, at least a second.
    ///
    /// Document: RFC 6298.
    Rfc6298 {
        /// Lower bound; "0 s" for none.
        #[serde(default = "s_1")]
        min: Duration,
        /// Upper bound: at least 60 s.
        #[serde(default = "s_60")]
        max: Duration,
        /// Before the first sample.
        #[serde(default = "s_1")]
        initial: Duration,
        /// G, the grain of the clock.
        #[serde(default = "ms_1")]
        granularity: Duration,
    },
    /// The deviation's maximum over a round trip, with a floor under it.
    ///
    /// Document: Linux, tcp_rtt_estimator().
    Linux {
        /// Floor under the variance term.
        #[serde(default = "ms_200")]
        min: Duration,
        /// Upper bound.
        #[serde(default = "s_120")]
        max: Duration,
        /// Before the first sample.
        #[serde(default = "s_1")]
        initial: Duration,
    },
    /// Always the same.
    Fixed {
        /// The timeout.
        rto: Duration,
    },
}

/// How the options that never got numbers stand on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum OptionLayout {
    /// The document's own layout with option kinds of your choice.
    ///
    /// Document: RFC 1106, sections 2.1 and 3.
    Document {
        /// Kind of option A, the NAK.
        #[serde(default = "kind_nak")]
        nak: u8,
        /// Kind of option B, the offer of a big window.
        #[serde(default = "kind_offer")]
        offer: u8,
        /// Kind of option C, the upper bits of the window.
        #[serde(default = "kind_upper")]
        upper: u8,
        /// Kind of the scale in every segment.
        #[serde(default = "kind_scale")]
        scale: u8,
    },
    /// One kind shared by experiments, and a 16-bit number (ExID) for each.
    ///
    /// Document: RFC 6994.
    Shared {
        /// The kind: 253 or 254.
        #[serde(rename = "option", default = "kind_shared")]
        kind: u8,
        /// ExID of option A, the NAK.
        #[serde(default = "exid_nak")]
        nak: u16,
        /// ExID of option B, the offer of a big window.
        #[serde(default = "exid_offer")]
        offer: u16,
        /// ExID of option C, the upper bits of the window.
        #[serde(default = "exid_upper")]
        upper: u16,
        /// ExID of the scale in every segment.
        #[serde(default = "exid_scale")]
        scale: u16,
        /// Whether the window scale of a SYN follows the MSS, as in BSD systems, or the timestamps, as in Linux.
        #[serde(default)]
        bsd_order: bool,
        /// Whether the padding of a SYN follows all its options, as in FreeBSD, or precedes each of them.
        #[serde(default)]
        pads_behind: bool,
    },
}

/// A start with the capacity that an earlier connection over the same path has found.
///
/// Document: RFC 9959.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum CarefulResume {
    /// An ordinary start.
    Off,
    /// After the initial window is acknowledged: half of the saved cwnd, until it is acknowledged or lost. With "reno",
    /// "newreno", "cubic" and "cubic-linux"; needs pacing = true.
    Saved {
        /// The minimum RTT of the earlier connection. A connection with less than half or more than ten times of it starts
        /// as usual.
        rtt: Duration,
        /// Its cwnd.
        cwnd: Size,
    },
}

/// Probes of an idle connection.
///
/// Document: RFC 9293, section 3.8.4.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum KeepAlive {
    /// None.
    Off,
    /// After a time of silence.
    Probes {
        /// Idle time before the first probe.
        #[serde(default = "h_2")]
        idle: Duration,
        /// Time between probes.
        #[serde(default = "s_75")]
        interval: Duration,
        /// Unanswered probes before the connection is given up.
        #[serde(default = "probes")]
        #[schemars(range(min = 1))]
        probes: u8,
    },
}

/// Defaults of parameters; each is named where its key is declared, and the schema shows it.
macro_rules! defaults {
    ($($name:ident: $type:ty = $value:expr;)+) => {
        $(const fn $name() -> $type { $value })+
    };
}

defaults! {
    two: u8 = 2;
    probes: u8 = 9;
    ticks_2: u32 = 2;
    ticks_128: u32 = 128;
    alpha: f64 = 0.9;
    double: f64 = 2.0;
    f1: f64 = 0.9375;
    f2: f64 = 0.75;
    none: Duration = Duration::ms(0);
    ms_1: Duration = Duration::ms(1);
    ms_200: Duration = Duration::ms(200);
    ms_500: Duration = Duration::ms(500);
    s_1: Duration = Duration::secs(1);
    s_3: Duration = Duration::secs(3);
    s_60: Duration = Duration::secs(60);
    s_75: Duration = Duration::secs(75);
    s_120: Duration = Duration::secs(120);
    h_2: Duration = Duration::secs(7200);
    kind_nak: u8 = 200;
    kind_offer: u8 = 201;
    kind_upper: u8 = 202;
    kind_scale: u8 = 203;
    kind_shared: u8 = 253;
    exid_nak: u16 = 0x4E41;
    exid_offer: u16 = 0x4257;
    exid_upper: u16 = 0x4243;
    exid_scale: u16 = 0x5343;
}
