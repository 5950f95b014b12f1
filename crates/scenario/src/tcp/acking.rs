//! Delayed-ACK policies as a scenario file names them. The phase of a tick is no key: it is drawn for each host.

use crate::values::quantity::{Duration, Size};
use netspurt_tcp::acking::{self, Bounds};
use netspurt_tcp::time::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When received data is acknowledged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Acking {
    /// Every segment at once.
    EverySegment,
    /// Every n-th segment at once, others after a delay on a timer of the connection's own.
    ///
    /// Document: RFC 5681, section 4.2; RFC 9293, section 3.8.6.3.
    Delayed {
        /// Full segments that make an ACK due.
        #[serde(default = "two")]
        #[schemars(range(min = 1))]
        every: u8,
        /// How long the others wait: at most 500 ms by RFC 9293.
        #[serde(default = "ms_200")]
        delay: Duration,
    },
    /// Every n-th segment at once, others at the next tick of a clock that runs freely.
    ///
    /// Document: 4.3BSD, tcp_fasttimo().
    BsdTick {
        /// Full segments that make an ACK due.
        #[serde(default = "two")]
        #[schemars(range(min = 1))]
        every: u8,
        /// Length of a tick. Where the first one falls is drawn for each host.
        #[serde(default = "ms_200")]
        period: Duration,
    },
    /// By bytes: at once when the reader has freed n full segments or half of the buffer, else after a delay on a timer of the
    /// connection's own.
    ///
    /// Document: 4.4BSD, tcp_output(); RFC 9293, section 3.8.6.3.
    DelayedBytes {
        /// Full segments freed that make an ACK due.
        #[serde(default = "two")]
        #[schemars(range(min = 1))]
        every: u8,
        /// How long the others wait: at most 500 ms by RFC 9293.
        #[serde(default = "ms_200")]
        delay: Duration,
    },
    /// By bytes: at once when the reader has freed n full segments or half of the buffer, else at the next tick of a clock that
    /// runs freely.
    ///
    /// Document: 4.4BSD, tcp_output(), tcp_fasttimo().
    BsdBytes {
        /// Full segments freed that make an ACK due.
        #[serde(default = "two")]
        #[schemars(range(min = 1))]
        every: u8,
        /// Length of a tick. Where the first one falls is drawn for each host.
        #[serde(default = "ms_200")]
        period: Duration,
    },
    /// An ACK for every segment at the start of the connection and after out-of-order data; then for every n-th segment, and
    /// otherwise at the next tick of a free-running clock.
    ///
    /// Document: ns-2.35, baytcp/tcp-full-bay.cc, need_send(); RFC 2415.
    QuickStart {
        /// The length of the start of the connection in bytes.
        #[serde(default = "kib_16")]
        young: Size,
        /// Full segments unacknowledged that make an ACK due later on.
        #[serde(default = "two")]
        #[schemars(range(min = 1))]
        every: u8,
        /// Length of a tick. Where the first one falls is drawn for each host.
        #[serde(default = "ms_100")]
        period: Duration,
    },
    /// Adaptive: quick ACKs at the start and after a loss; then a delay that follows the interval of segments, and ends when
    /// the application sends data.
    ///
    /// Document: Linux, net/ipv4/tcp_input.c, tcp_event_data_recv(); tcp_output.c, tcp_send_delayed_ack().
    Adaptive {
        /// Minimum delay: TCP_ATO_MIN.
        #[serde(default = "ms_40")]
        min: Duration,
        /// Maximum delay: TCP_DELACK_MAX.
        #[serde(default = "ms_200")]
        max: Duration,
        /// Maximum number of quick ACKs: TCP_MAX_QUICKACKS.
        #[serde(default = "sixteen")]
        quick: u8,
        /// Which segments count as quick ACKs, and what restores quick ACKs.
        #[serde(default)]
        counts: QuickCounts,
        /// How long the ACK of data behind a gap waits at most, after three such ACKs: tcp_comp_sack_delay_ns, which Linux sets to 1 ms.
        /// Zero: not at all.
        #[serde(default = "zero")]
        behind_gap: Duration,
    },
}

/// Which segments count as quick ACKs, and what restores quick ACKs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum QuickCounts {
    /// Segments that carry an ACK which was due count; only old data brings quick ACKs back.
    ///
    /// Document: Linux since 6.7, tcp_dec_quickack_mode().
    #[default]
    Acks,
    /// Each sent segment counts. Out-of-order data restores quick ACKs.
    ///
    /// Document: Linux before 6.7, tcp_dec_quickack_mode().
    Segments,
}

const fn two() -> u8 {
    2
}

const fn sixteen() -> u8 {
    16
}

const fn kib_16() -> Size {
    Size(16 << 10)
}

const fn zero() -> Duration {
    Duration::ms(0)
}

const fn ms_40() -> Duration {
    Duration::ms(40)
}

const fn ms_100() -> Duration {
    Duration::ms(100)
}

const fn ms_200() -> Duration {
    Duration::ms(200)
}

impl From<Acking> for acking::Acking {
    /// The phase of a tick is zero: the driver sets it.
    fn from(choice: Acking) -> Self {
        let phase = Span::ZERO;
        match choice {
            Acking::EverySegment => Self::EverySegment,
            Acking::Delayed { every, delay } => Self::Delayed { every, delay: delay.0 },
            Acking::BsdTick { every, period } => Self::FreeTick { every, period: period.0, phase },
            Acking::DelayedBytes { every, delay } => Self::DelayedBytes { every, delay: delay.0 },
            Acking::BsdBytes { every, period } => Self::FreeTickBytes { every, period: period.0, phase },
            Acking::QuickStart { young, every, period } => {
                // Beyond 32 bits a connection is never anything but young.
                let young = u32::try_from(young.0).unwrap_or(u32::MAX);
                Self::QuickStart { young, every, period: period.0, phase }
            }
            Acking::Adaptive { min, max, quick, counts, behind_gap } => {
                let counts = match counts {
                    QuickCounts::Acks => acking::QuickCounts::Acks,
                    QuickCounts::Segments => acking::QuickCounts::Segments,
                };
                Self::Adaptive(Bounds { min: min.0, max: max.0, quick, counts, behind_gap: behind_gap.0 })
            }
        }
    }
}

impl From<acking::Acking> for Acking {
    fn from(choice: acking::Acking) -> Self {
        match choice {
            acking::Acking::EverySegment => Self::EverySegment,
            acking::Acking::Delayed { every, delay } => Self::Delayed { every, delay: Duration(delay) },
            acking::Acking::FreeTick { every, period, phase: _ } => {
                Self::BsdTick { every, period: Duration(period) }
            }
            acking::Acking::DelayedBytes { every, delay } => {
                Self::DelayedBytes { every, delay: Duration(delay) }
            }
            acking::Acking::FreeTickBytes { every, period, phase: _ } => {
                Self::BsdBytes { every, period: Duration(period) }
            }
            acking::Acking::QuickStart { young, every, period, phase: _ } => {
                Self::QuickStart { young: Size(u64::from(young)), every, period: Duration(period) }
            }
            acking::Acking::Adaptive(Bounds { min, max, quick, counts, behind_gap }) => {
                let counts = match counts {
                    acking::QuickCounts::Acks => QuickCounts::Acks,
                    acking::QuickCounts::Segments => QuickCounts::Segments,
                };
                let behind_gap = Duration(behind_gap);
                Self::Adaptive { min: Duration(min), max: Duration(max), quick, counts, behind_gap }
            }
        }
    }
}
