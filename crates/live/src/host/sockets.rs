//! All connections of a host: by endpoints, by deadline, and, where old ones are replaced, by age.

use super::budget::{Budget, PART};
use super::id::Id;
use super::stream::{Application, Bytes, Pair};
use super::turns::Recent;
use crate::host::packets::departure::Label;
use netspurt_tcp::Connection;
use netspurt_tcp::time::{Span, Time};
use std::collections::{BTreeMap, BTreeSet};

/// The stage of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stage {
    /// A peer opens it.
    HalfOpen,
    /// This host opens it.
    Opening,
    /// It is or was open, and its application knows that.
    Open,
    /// TIME-WAIT, and all data is read.
    Waiting,
}

/// A connection with its application and buffers.
pub(super) struct Socket {
    pub(super) pair: Pair,
    pub(super) label: Label,
    pub(super) connection: Connection,
    pub(super) bytes: Bytes,
    /// The memory of its buffers when it was counted last.
    pub(super) counted: usize,
    pub(super) app: Option<Box<dyn Application>>,
    pub(super) since: Time,
    pub(super) stage: Stage,
    /// Whether it is in a list of connections to be served.
    pub(super) dirty: bool,
    /// Whether it has sent its quantum, and not what the application has already written.
    pub(super) is_behind: bool,
    pub(super) recent: Recent,
    /// Whether its end was reported.
    pub(super) reported: bool,
    /// When data last arrived or was acknowledged, and how much had by then.
    active: Time,
    progress: u64,
    /// The time under which it is in the list of those that may give way.
    listed: Time,
    /// The deadline under which it is in the list.
    queued: Time,
}

impl Socket {
    pub(super) fn new(pair: Pair, label: Label, connection: Connection, since: Time) -> Self {
        let (bytes, queued) = (Bytes::default(), Time::NEVER);
        let stage = Stage::HalfOpen;
        let (active, progress, listed, dirty, reported) = (since, 0, Time::NEVER, false, false);
        Self {
            pair,
            label,
            connection,
            bytes,
            counted: 0,
            app: None,
            since,
            stage,
            dirty,
            is_behind: false,
            recent: Recent::default(),
            reported,
            active,
            listed,
            progress,
            queued,
        }
    }

    /// Records whether data has arrived or was acknowledged.
    pub(super) fn note_progress(&mut self, now: Time) {
        let progress = self.connection.received() + self.connection.acknowledged();
        if progress != self.progress {
            (self.active, self.progress) = (now, progress);
        }
    }

    /// Tells the budget how much memory the buffers have now, and the list of what has arrived out of order.
    pub(super) fn count_memory(&mut self, budget: &mut Budget) {
        let memory = self.bytes.memory() + PART * self.connection.parts();
        let before = core::mem::replace(&mut self.counted, memory);
        budget.note(before, self.counted);
    }

    /// The deadline of the connection or of the application.
    fn deadline(&self) -> Time {
        let app = self.app.as_ref().filter(|_| self.stage == Stage::Open);
        self.connection.next_deadline().min(app.map_or(Time::NEVER, |app| app.deadline()))
    }
}

/// The table.
#[derive(Default)]
pub(super) struct Sockets {
    slots: Vec<Option<(u64, Box<Socket>)>>,
    free: Vec<usize>,
    serial: u64,
    pairs: BTreeMap<Pair, Id>,
    deadlines: BTreeSet<(Time, Id)>,
    half_open: BTreeMap<u64, Id>,
    waiting: BTreeMap<u64, Id>,
    /// Open connections of peers, by a time at which they were active; they may have been active later.
    active: BTreeSet<(Time, Id)>,
    /// Consecutive packets often belong to one connection.
    latest: Option<(Pair, Id)>,
}

impl Sockets {
    /// Adds a connection, and removes an older one with the same endpoints.
    pub(super) fn add(&mut self, socket: Socket) -> Id {
        if let Some(&old) = self.pairs.get(&socket.pair) {
            self.remove(old);
        }
        self.serial += 1;
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        let id = Id { slot, serial: self.serial };
        self.pairs.insert(socket.pair, id);
        let stage = socket.stage;
        self.slots[slot] = Some((self.serial, Box::new(socket)));
        self.list(id, stage);
        id
    }

    /// A connection, if it still exists.
    pub(super) fn get(&mut self, id: Id) -> Option<&mut Socket> {
        match self.slots.get_mut(id.slot) {
            Some(Some((serial, socket))) if *serial == id.serial => Some(socket),
            _ => None,
        }
    }

    /// The connection with these endpoints.
    pub(super) fn find(&mut self, pair: Pair) -> Option<Id> {
        if let Some((latest, id)) = self.latest
            && latest == pair
        {
            return Some(id);
        }
        let id = self.pairs.get(&pair).copied()?;
        self.latest = Some((pair, id));
        Some(id)
    }

    /// Removes a connection.
    pub(super) fn remove(&mut self, id: Id) -> Option<Box<Socket>> {
        self.get(id)?;
        let (_, socket) = self.slots.get_mut(id.slot)?.take()?;
        self.free.push(id.slot);
        self.pairs.remove(&socket.pair);
        self.deadlines.remove(&(socket.queued, id));
        self.half_open.remove(&id.serial);
        self.waiting.remove(&id.serial);
        self.active.remove(&(socket.listed, id));
        self.latest = None;
        Some(socket)
    }

    /// Moves a connection to another stage.
    pub(super) fn enter(&mut self, id: Id, stage: Stage) {
        if let Some(socket) = self.get(id) {
            socket.stage = stage;
            self.list(id, stage);
        }
    }

    fn list(&mut self, id: Id, stage: Stage) {
        self.half_open.remove(&id.serial);
        self.waiting.remove(&id.serial);
        match stage {
            Stage::HalfOpen => drop(self.half_open.insert(id.serial, id)),
            Stage::Waiting => drop(self.waiting.insert(id.serial, id)),
            Stage::Opening | Stage::Open => {}
        }
    }

    /// Lists an open connection of a peer, which may have to give way when the limit is reached.
    pub(super) fn may_give_way(&mut self, id: Id) {
        if let Some(socket) = self.get(id) {
            let active = socket.active;
            let before = core::mem::replace(&mut socket.listed, active);
            self.active.remove(&(before, id));
            self.active.insert((active, id));
        }
    }

    /// The listed connection that has been idle for the longest time, if that is at least `least`.
    pub(super) fn longest_idle(&mut self, now: Time, least: Span) -> Option<Id> {
        loop {
            let &(listed, id) = self.active.first()?;
            let socket = self.get(id)?;
            let (active, is_over) = (socket.active, socket.connection.closed().is_some());
            if is_over {
                self.active.remove(&(listed, id));
            } else if active > listed {
                self.may_give_way(id);
            } else {
                return (now - active >= least).then_some(id);
            }
        }
    }

    /// The oldest connection in TIME-WAIT, if there are more than `most`.
    pub(super) fn oldest_waiting_beyond(&self, most: usize) -> Option<Id> {
        let oldest = self.waiting.first_key_value().map(|(_, &id)| id);
        oldest.filter(|_| self.waiting.len() > most)
    }

    /// Connections that are neither half open nor in TIME-WAIT.
    pub(super) fn count(&self) -> usize {
        self.pairs.len() - self.half_open.len() - self.waiting.len()
    }

    /// Number of half-open connections.
    pub(super) fn half_open(&self) -> usize {
        self.half_open.len()
    }

    /// Number of connections in TIME-WAIT.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Adds a connection's deadline to the list if it is earlier than the listed one. A later deadline costs nothing
    /// until the listed one is reached.
    pub(super) fn watch(&mut self, id: Id) {
        let Some(socket) = self.get(id) else { return };
        let (next, queued) = (socket.deadline(), socket.queued);
        if next < queued {
            socket.queued = next;
            self.deadlines.remove(&(queued, id));
            self.deadlines.insert((next, id));
        }
    }

    /// A lower bound of the next deadline.
    pub(super) fn next_deadline(&self) -> Time {
        self.deadlines.first().map_or(Time::NEVER, |first| first.0)
    }

    /// A connection whose deadline may have been reached.
    pub(super) fn due(&mut self, now: Time) -> Option<Id> {
        let &(when, id) = self.deadlines.first()?;
        if when > now {
            return None;
        }
        self.deadlines.pop_first();
        if let Some(socket) = self.get(id) {
            socket.queued = Time::NEVER;
        }
        Some(id)
    }

    /// All connections, by their slots.
    pub(super) fn all(&self) -> impl Iterator<Item = (Id, &Socket)> {
        let slots = self.slots.iter().enumerate();
        slots.filter_map(|(slot, full)| {
            full.as_ref().map(|(serial, socket)| (Id { slot, serial: *serial }, &**socket))
        })
    }
}

impl core::fmt::Debug for Sockets {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Sockets").field("pairs", &self.pairs).finish_non_exhaustive()
    }
}
