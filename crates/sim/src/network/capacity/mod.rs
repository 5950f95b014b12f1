//! Links whose capacity follows a recording, one file for each kind.
//!
//! The recording is known in advance. So the departure of a packet is computed when the packet enters, as on a link with a
//! rate. Links without a recording have no extra cost (see [`crate::network::channel`]).

mod changing;
mod deliveries;
mod rates;
mod transmitted;

pub(crate) use changing::INFINITE;
pub use deliveries::{Deliveries, OPPORTUNITY};
pub use rates::{Piece, Rates};
pub(crate) use transmitted::Transmitted;

use crate::network::schedule::Schedule;
use std::sync::Arc;

/// A recording.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Capacity {
    /// Instants at which this many bytes may leave.
    Deliveries(Arc<Deliveries>),
    /// A rate at any time.
    Rates(Arc<Rates>),
}

impl Capacity {
    /// Bits per second on average, as far as the recording goes.
    pub fn mean_rate(&self) -> u64 {
        match self {
            Self::Deliveries(deliveries) => deliveries.mean_rate(),
            Self::Rates(rates) => rates.mean_rate(),
        }
    }
}

/// The transmitter of one direction: a recording and the place that has been reached in it, or a rate that changes.
#[derive(Clone, Debug)]
pub(crate) enum Transmitter {
    Deliveries(deliveries::Cursor),
    Rates(rates::Cursor),
    Changing(changing::Changing),
}

impl Transmitter {
    pub(crate) fn new(capacity: &Capacity) -> Self {
        match capacity {
            Capacity::Deliveries(recording) => {
                Self::Deliveries(deliveries::Cursor::new(Arc::clone(recording)))
            }
            Capacity::Rates(recording) => Self::Rates(rates::Cursor::new(Arc::clone(recording))),
        }
    }

    /// One of this rate, in bits per second, which is never zero.
    pub(crate) const fn changing(rates: Schedule<u64>) -> Self {
        Self::Changing(changing::Changing::new(rates))
    }

    /// Picoseconds up to `end` in which it was busy, where the mean rate does not say it.
    pub(crate) fn busy(&self, end: u64) -> Option<u128> {
        match self {
            Self::Deliveries(_) | Self::Rates(_) => None,
            Self::Changing(changing) => Some(changing.busy(end)),
        }
    }

    /// The earliest start of the transmission of a packet that arrives at `now` at an empty queue.
    pub(crate) fn attune(&mut self, now: u64) -> u64 {
        match self {
            Self::Deliveries(cursor) => cursor.attune(now),
            Self::Rates(_) | Self::Changing(_) => now,
        }
    }

    /// `size` bytes leave, from `start` on: no earlier than the transmitter was free.
    pub(crate) fn transmit(&mut self, start: u64, size: u32) -> Transmitted {
        match self {
            Self::Deliveries(cursor) => cursor.transmit(size),
            Self::Rates(cursor) => cursor.transmit(start, size),
            Self::Changing(changing) => changing.transmit(start, size),
        }
    }
}
