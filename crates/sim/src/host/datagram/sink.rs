//! The receiving end: measures which datagrams arrive, with what delay, and in what order.

use super::call::{CallQuality, Listener};
use super::jitter::Jitter;
use super::numbers::{Arrival, Numbers};
use super::spec::CallSpec;
use crate::network::packet::Datagram;
use crate::record::sketch::Sketch;
use netspurt_tcp::time::Time;

/// Measures the datagrams that arrive.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Sink {
    call: Option<CallSpec>,
    numbers: Numbers,
    jitter: Jitter,
    listener: Listener,
    pub(crate) received: u64,
    pub(crate) bytes: u64,
    pub(crate) duplicated: u64,
    pub(crate) reordered: u64,
    pub(crate) marked: u64,
    /// Datagrams that arrived damaged.
    pub(crate) damaged: u64,
    /// One-way delays of the datagrams, each counted once.
    pub(crate) delays: Sketch,
    /// When the last one arrived.
    last: Option<Time>,
}

impl Sink {
    pub(crate) fn new(call: Option<CallSpec>) -> Self {
        Self { call, ..Self::default() }
    }

    /// A datagram has arrived.
    pub(crate) fn take(&mut self, now: Time, datagram: &Datagram) {
        let arrival = self.numbers.note(datagram.number);
        if arrival == Arrival::Duplicate {
            self.duplicated += 1;
            return;
        }
        self.last = Some(now);
        self.received += 1;
        self.bytes += u64::from(datagram.bytes);
        self.reordered += u64::from(arrival == Arrival::Reordered);
        self.marked += u64::from(datagram.is_marked());
        let delay = now.since(datagram.sent);
        self.delays.add(delay);
        self.jitter.note(delay);
        if let Some(call) = self.call {
            self.listener.note((call.playout, call.frame), datagram.number, datagram.sent, now);
        }
    }

    /// When the last datagram arrived; [`Time::NEVER`] if none has.
    pub(crate) fn last(&self) -> Time {
        self.last.unwrap_or(Time::NEVER)
    }

    /// In seconds.
    pub(crate) fn jitter_s(&self) -> Option<f64> {
        self.jitter.seconds(self.received)
    }

    /// The quality of a call of which `due` datagrams have arrived or are lost.
    pub(crate) fn quality(&self, due: u64) -> Option<CallQuality> {
        self.call.map(|call| self.listener.quality(call.codec, call.frame, due))
    }
}
