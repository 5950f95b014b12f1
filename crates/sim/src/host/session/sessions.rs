//! All sessions of a world.

use super::client::{Session, SessionAction};
use crate::host::ports::Ports;
use crate::spec::NodeId;
use netspurt_tcp::time::Time;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// All sessions of a world.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    pub(crate) all: Vec<Session>,
    /// When each session wants to be woken, by its flow's number. An entry may be out of date.
    pub(crate) wakes: BinaryHeap<Reverse<(Time, u32)>>,
    /// The ports of a client towards a port of a server.
    pub(crate) ports: BTreeMap<(NodeId, NodeId, u16), Ports>,
    /// A buffer that is kept to avoid allocation.
    pub(crate) actions: Vec<SessionAction>,
}

impl Sessions {
    /// When the first session wants to be woken.
    pub(crate) fn next(&self) -> Time {
        self.wakes.peek().map_or(Time::NEVER, |next| next.0.0)
    }
}
