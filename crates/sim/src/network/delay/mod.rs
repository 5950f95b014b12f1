//! Propagation delays that vary: drawn for each packet, recorded, or wandering. One file for each way.
//!
//! A delay belongs to the instant at which the last bit of a packet leaves. Order is kept unless the link reorders: a
//! packet does not arrive before those that left before it.

mod drawn;
mod recorded;
mod wandering;

pub use drawn::{Drawn, Shape};
pub use recorded::Recorded;
pub use wandering::{Steps, Walk};

use crate::random::Stream;
use netspurt_tcp::time::Span;
use std::sync::Arc;

/// A delay that varies.
#[derive(Clone, PartialEq, Debug)]
pub struct DelaySpec {
    /// How.
    pub kind: Kind,
    /// Whether packets may overtake each other.
    pub reorders: bool,
}

/// How a delay varies.
#[derive(Clone, PartialEq, Debug)]
pub enum Kind {
    /// Each packet draws its own.
    Drawn(Drawn),
    /// It follows a recording.
    Recorded(Arc<Recorded>),
    /// It wanders by small steps.
    Walk(Walk),
    /// It leaps at equal distances of time.
    Steps(Steps),
}

impl DelaySpec {
    /// A delay that is typical of it.
    pub fn typical(&self) -> Span {
        match &self.kind {
            Kind::Drawn(drawn) => drawn.typical(),
            Kind::Recorded(recorded) => recorded.first(),
            Kind::Walk(walk) => walk.start,
            Kind::Steps(steps) => Span::from_ps(steps.min.as_ps().midpoint(steps.max.as_ps())),
        }
    }
}

/// A delay at work.
#[derive(Clone, Debug)]
pub(crate) struct Delay {
    kind: Running,
    stream: Stream,
    pub(crate) reorders: bool,
}

#[derive(Clone, Debug)]
enum Running {
    Drawn(drawn::Running),
    Recorded(Arc<Recorded>),
    Walk(wandering::Running<Walk>),
    Steps(wandering::Running<Steps>),
}

impl Delay {
    pub(crate) fn new(spec: &DelaySpec, stream: Stream) -> Self {
        let kind = match &spec.kind {
            Kind::Drawn(drawn) => Running::Drawn(drawn::Running::new(drawn)),
            Kind::Recorded(recorded) => Running::Recorded(Arc::clone(recorded)),
            Kind::Walk(walk) => Running::Walk(wandering::Running::new(*walk)),
            Kind::Steps(steps) => Running::Steps(wandering::Running::new(*steps)),
        };
        Self { kind, stream, reorders: spec.reorders }
    }

    /// Picoseconds that the next packet takes, whose last bit leaves at `now`.
    pub(crate) fn next(&mut self, now: u64) -> u64 {
        match &mut self.kind {
            Running::Drawn(drawn) => drawn.next(&mut self.stream),
            Running::Recorded(recorded) => recorded.at(now),
            Running::Walk(walk) => walk.at(now, &mut self.stream),
            Running::Steps(steps) => steps.at(now, &mut self.stream),
        }
    }
}
