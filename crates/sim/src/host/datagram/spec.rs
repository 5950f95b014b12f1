//! What a flow of datagrams does, as data.

use super::call::{Codec, Playout};
use crate::random::distribution::Distribution;
use netspurt_tcp::segment::Ecn;
use netspurt_tcp::time::Span;
use std::sync::Arc;

/// Datagrams from one host to another.
#[derive(Clone, PartialEq, Debug)]
pub struct DatagramSpec {
    /// Payload of a datagram in bytes; a recording has its own sizes.
    pub size: Distribution,
    /// The time from one datagram to the next.
    pub spacing: Spacing,
    /// How long it sends, then how long it pauses, in picoseconds; `None` if it never pauses.
    pub periods: Option<[Distribution; 2]>,
    /// The largest number of datagrams.
    pub count: Option<u64>,
    /// The longest time from the first datagram to the last.
    pub lasts: Option<Span>,
    /// The ECN field of the datagrams (RFC 3168, section 5). The source does not react to marks.
    pub ecn: Ecn,
    /// The speech, if this is one direction of a call.
    pub call: Option<CallSpec>,
}

impl DatagramSpec {
    /// Datagrams of `bytes`, one every `interval`, until the simulation ends.
    pub fn constant(bytes: u32, interval: Span) -> Self {
        Self {
            size: Distribution::constant(f64::from(bytes)),
            spacing: Spacing::Interval(Distribution::constant(interval.as_ps() as f64)),
            periods: None,
            count: None,
            lasts: None,
            ecn: Ecn::NotEct,
            call: None,
        }
    }

    /// One direction of a call.
    pub fn call(call: CallSpec) -> Self {
        Self { call: Some(call), ..Self::constant(call.codec.payload(call.frame), call.frame) }
    }
}

/// The time from one datagram to the next.
#[derive(Clone, PartialEq, Debug)]
pub enum Spacing {
    /// The time that the datagram takes at this rate, in bits of payload per second.
    Rate(u64),
    /// Drawn for each datagram, in picoseconds.
    Interval(Distribution),
    /// As in a recording.
    Recording(Arc<[Recorded]>),
}

/// A recorded datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Recorded {
    /// After the start of the flow.
    pub at: Span,
    /// Payload in bytes.
    pub bytes: u32,
}

/// One direction of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallSpec {
    /// How speech is encoded.
    pub codec: Codec,
    /// The speech in one datagram.
    pub frame: Span,
    /// When the receiver plays it.
    pub playout: Playout,
}
