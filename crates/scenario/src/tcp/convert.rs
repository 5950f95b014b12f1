//! Choices with parameters, to and from the types of `tcp`.

use crate::tcp::parametric::{CarefulResume, Counting, KeepAlive, OptionLayout, Rto};
use crate::values::quantity::{Duration, Size};
use netspurt_tcp::rto::{self, Factor};
use netspurt_tcp::time::Span;
use netspurt_tcp::{config, options};

/// A parameter of the file stands for a value of type `T` in `tcp`.
trait Parameter<T> {
    fn to_tcp(self) -> T;
    fn from_tcp(value: T) -> Self;
}

macro_rules! parameters {
    ($($type:ty => $tcp:ty: |$value:ident| $to:expr, |$of:ident| $from:expr;)+) => {
        $(impl Parameter<$tcp> for $type {
            fn to_tcp(self) -> $tcp {
                let $value = self;
                $to
            }
            fn from_tcp($of: $tcp) -> Self {
                $from
            }
        })+
    };
}

parameters! {
    u8 => u8: |value| value, |value| value;
    u16 => u16: |value| value, |value| value;
    bool => bool: |value| value, |value| value;
    u32 => u32: |value| value, |value| value;
    f64 => Factor: |value| Factor::from_f64(value), |value| value.as_f64();
    Duration => Span: |value| value.0, |value| Self(value);
}

/// A choice of the file and one of `tcp` with the same arms: each arm with its parameters. An arm or a
/// parameter that one of the two lacks does not compile.
macro_rules! same {
    ($($name:ident and $tcp:path { $($arm:ident { $($key:ident),* })+ })+) => {
        $(
            impl From<$name> for $tcp {
                fn from(choice: $name) -> Self {
                    match choice {
                        $($name::$arm { $($key),* } => Self::$arm { $($key: $key.to_tcp()),* },)+
                    }
                }
            }

            impl From<$tcp> for $name {
                fn from(choice: $tcp) -> Self {
                    type There = $tcp;
                    match choice {
                        $(There::$arm { $($key),* } => Self::$arm { $($key: Parameter::from_tcp($key)),* },)+
                    }
                }
            }
        )+
    };
}

same! {
    Counting and config::Counting {
        Acks {}
        AcksByRfc5681 {}
        Bytes { limit }
    }
    Rto and rto::Kind {
        Rfc793 { alpha, beta, min, max, initial }
        Rfc889 { f1, f2, g, min, max, initial }
        Jacobson88 { tick, min_ticks, max_ticks }
        Tahoe { tick, min_ticks, max_ticks }
        Rfc6298 { min, max, initial, granularity }
        Linux { min, max, initial }
        Fixed { rto }
    }
    OptionLayout and options::Layout {
        Document { nak, offer, upper, scale }
        Shared { kind, nak, offer, upper, scale, bsd_order, pads_behind }
    }
}

impl From<CarefulResume> for Option<config::SavedPath> {
    fn from(choice: CarefulResume) -> Self {
        match choice {
            CarefulResume::Off => None,
            CarefulResume::Saved { rtt, cwnd } => {
                Some(config::SavedPath { rtt: rtt.0, cwnd: u32::try_from(cwnd.0).unwrap_or(u32::MAX) })
            }
        }
    }
}

impl From<Option<config::SavedPath>> for CarefulResume {
    fn from(choice: Option<config::SavedPath>) -> Self {
        match choice {
            None => Self::Off,
            Some(config::SavedPath { rtt, cwnd }) => {
                Self::Saved { rtt: Duration(rtt), cwnd: Size(u64::from(cwnd)) }
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
