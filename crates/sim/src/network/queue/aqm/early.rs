//! Rules that mark or drop a packet on arrival before the queue is full.

use crate::network::loss::Cause;
use crate::network::queue::admission::{Backlog, OnArrival};
use crate::network::queue::aqm::red::Red;
use crate::network::queue::aqm::step::Step;
use netspurt_tcp::segment::Ecn;
use netspurt_tcp::time::Span;

/// The built-in rules.
#[derive(Clone, Debug)]
pub(crate) enum Early {
    Red(Red),
    Step(Step),
}

impl Early {
    /// A packet arrives at `backlog`, or after the transmitter has been idle for `idle`.
    pub(crate) fn judge(&mut self, backlog: Backlog, idle: Option<Span>, ecn: Ecn) -> OnArrival {
        match self {
            Self::Red(red) => red.judge(backlog, idle, ecn),
            Self::Step(step) if ecn.is_capable() && step.marks(backlog) => OnArrival::Mark,
            Self::Step(_) => OnArrival::Pass,
        }
    }

    /// The cause of its drops.
    pub(crate) const fn cause(&self) -> Option<Cause> {
        match self {
            Self::Red(_) => Some(Cause::Red),
            Self::Step(_) => None,
        }
    }
}
