//! Choices with parameters, to and from the types of `tcp`.

use crate::tcp::parametric::{Counting, KeepAlive, OptionLayout, Rto};
use crate::values::quantity::Duration;
use netspurt_tcp::rto::{self, Factor};
use netspurt_tcp::{config, options};

impl From<Counting> for config::Counting {
    fn from(choice: Counting) -> Self {
        match choice {
            Counting::Acks => Self::Acks,
            Counting::AcksByRfc5681 => Self::AcksByRfc5681,
            Counting::Bytes { limit } => Self::Bytes { limit },
        }
    }
}

impl From<config::Counting> for Counting {
    fn from(choice: config::Counting) -> Self {
        match choice {
            config::Counting::Acks => Self::Acks,
            config::Counting::AcksByRfc5681 => Self::AcksByRfc5681,
            config::Counting::Bytes { limit } => Self::Bytes { limit },
        }
    }
}

impl From<Rto> for rto::Kind {
    fn from(choice: Rto) -> Self {
        match choice {
            Rto::Rfc793 { alpha, beta, min, max, initial } => Self::Rfc793 {
                alpha: Factor::from_f64(alpha),
                beta: Factor::from_f64(beta),
                min: min.0,
                max: max.0,
                initial: initial.0,
            },
            Rto::Rfc889 { f1, f2, g, min, max, initial } => Self::Rfc889 {
                f1: Factor::from_f64(f1),
                f2: Factor::from_f64(f2),
                g: Factor::from_f64(g),
                min: min.0,
                max: max.0,
                initial: initial.0,
            },
            Rto::Jacobson88 { tick, min_ticks, max_ticks } => {
                Self::Jacobson88 { tick: tick.0, min_ticks, max_ticks }
            }
            Rto::Tahoe { tick, min_ticks, max_ticks } => Self::Tahoe { tick: tick.0, min_ticks, max_ticks },
            Rto::Rfc6298 { min, max, initial, granularity } => {
                Self::Rfc6298 { min: min.0, max: max.0, initial: initial.0, granularity: granularity.0 }
            }
            Rto::Linux { min, max, initial } => Self::Linux { min: min.0, max: max.0, initial: initial.0 },
            Rto::Fixed { rto } => Self::Fixed { rto: rto.0 },
        }
    }
}

impl From<rto::Kind> for Rto {
    fn from(choice: rto::Kind) -> Self {
        match choice {
            rto::Kind::Rfc793 { alpha, beta, min, max, initial } => Self::Rfc793 {
                alpha: alpha.as_f64(),
                beta: beta.as_f64(),
                min: Duration(min),
                max: Duration(max),
                initial: Duration(initial),
            },
            rto::Kind::Rfc889 { f1, f2, g, min, max, initial } => Self::Rfc889 {
                f1: f1.as_f64(),
                f2: f2.as_f64(),
                g: g.as_f64(),
                min: Duration(min),
                max: Duration(max),
                initial: Duration(initial),
            },
            rto::Kind::Jacobson88 { tick, min_ticks, max_ticks } => {
                Self::Jacobson88 { tick: Duration(tick), min_ticks, max_ticks }
            }
            rto::Kind::Tahoe { tick, min_ticks, max_ticks } => {
                Self::Tahoe { tick: Duration(tick), min_ticks, max_ticks }
            }
            rto::Kind::Rfc6298 { min, max, initial, granularity } => Self::Rfc6298 {
                min: Duration(min),
                max: Duration(max),
                initial: Duration(initial),
                granularity: Duration(granularity),
            },
            rto::Kind::Linux { min, max, initial } => {
                Self::Linux { min: Duration(min), max: Duration(max), initial: Duration(initial) }
            }
            rto::Kind::Fixed { rto } => Self::Fixed { rto: Duration(rto) },
        }
    }
}

impl From<OptionLayout> for options::Layout {
    fn from(choice: OptionLayout) -> Self {
        match choice {
            OptionLayout::Document { nak, offer, upper, scale } => {
                Self::Document { nak, offer, upper, scale }
            }
            OptionLayout::Shared { option, nak, offer, upper, scale } => {
                Self::Shared { kind: option, nak, offer, upper, scale }
            }
        }
    }
}

impl From<options::Layout> for OptionLayout {
    fn from(choice: options::Layout) -> Self {
        match choice {
            options::Layout::Document { nak, offer, upper, scale } => {
                Self::Document { nak, offer, upper, scale }
            }
            options::Layout::Shared { kind, nak, offer, upper, scale } => {
                Self::Shared { option: kind, nak, offer, upper, scale }
            }
        }
    }
}

impl From<KeepAlive> for Option<config::KeepAlive> {
    fn from(choice: KeepAlive) -> Self {
        match choice {
            KeepAlive::Off => None,
            KeepAlive::Probes { idle, interval, probes } => {
                Some(config::KeepAlive { idle: idle.0, interval: interval.0, probes })
            }
        }
    }
}

impl From<Option<config::KeepAlive>> for KeepAlive {
    fn from(choice: Option<config::KeepAlive>) -> Self {
        match choice {
            None => Self::Off,
            Some(config::KeepAlive { idle, interval, probes }) => {
                Self::Probes { idle: Duration(idle), interval: Duration(interval), probes }
            }
        }
    }
}
