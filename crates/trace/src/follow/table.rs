//! The open connections, within the limits of memory.

use super::connection::{Belongs, Connection, Resting};
use super::endpoints::{ConnectionId, Key, Sender};
use super::packet_facts::PacketFacts;
use super::watch::Watch;
use crate::stamp::Stamp;
use netspurt_tcp::segment::Segment;
use std::collections::{BTreeMap, VecDeque};

/// How long a closed connection is kept for late segments: twice the 30 s that most systems use as maximum segment
/// lifetime (RFC 9293, section 3.4.2, has two minutes).
const TIME_WAIT_NS: u64 = 60_000_000_000;

const NOBODY: u32 = u32::MAX;

/// So many connections with few segments are kept as they are; of more, the segments only.
const MOST_AWAKE: usize = 2048;

/// Limits of the state that is kept while a capture is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Connections. Above that, the one that has been silent longest is closed as forgotten.
    pub connections: usize,
    /// Outstanding segments and similar records over all connections, about fifty bytes each.
    pub records: usize,
}

impl Default for Limits {
    /// 100,000 connections and a million segments. 100,000 connections with few segments need less than 64 MB.
    fn default() -> Self {
        Self { connections: 100_000, records: 1_000_000 }
    }
}

/// Finds connections by their addresses, and drops the silent ones if there are too many.
///
/// An ordered map, because addresses of a hostile capture could make a hash map slow. The last connection is tried
/// first.
#[derive(Debug)]
pub(super) struct Table {
    limits: Limits,
    slots: Vec<Slot>,
    free: Vec<u32>,
    index: BTreeMap<Key, u32>,
    /// The most recently active connection, and the one that has been silent longest.
    newest: u32,
    oldest: u32,
    records: usize,
    begun: u64,
    /// Closed connections, and until when they are kept.
    closing: VecDeque<(Stamp, u32, ConnectionId)>,
    /// Connections that may rest soon, in the order in which they woke.
    drowsy: VecDeque<(u32, ConnectionId)>,
}

#[derive(Debug)]
struct Slot {
    state: State,
    newer: u32,
    older: u32,
    /// Whether it is in the list of closed ones.
    closing: bool,
}

/// The stored state of a connection.
#[derive(Debug, Default)]
enum State {
    #[default]
    Free,
    Awake(Box<Connection>),
    Resting(Box<Resting>),
}

impl State {
    #[inline]
    fn key(&self) -> Option<&Key> {
        match self {
            Self::Free => None,
            Self::Awake(connection) => Some(&connection.key),
            Self::Resting(resting) => Some(&resting.key),
        }
    }

    fn id(&self) -> Option<ConnectionId> {
        match self {
            Self::Free => None,
            Self::Awake(connection) => Some(connection.id),
            Self::Resting(resting) => Some(resting.id),
        }
    }
}

/// A segment with the properties of its packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReceivedSegment<'a> {
    pub(super) key: Key,
    pub(super) sender: Sender,
    pub(super) segment: &'a Segment,
    pub(super) packet: PacketFacts,
}

impl Table {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits: Limits { connections: limits.connections.clamp(1, 1 << 30), ..limits },
            slots: Vec::new(),
            free: Vec::new(),
            index: BTreeMap::new(),
            newest: NOBODY,
            oldest: NOBODY,
            records: 0,
            begun: 0,
            closing: VecDeque::new(),
            drowsy: VecDeque::new(),
        }
    }

    /// Number of connections so far.
    pub(super) const fn begun(&self) -> u64 {
        self.begun
    }

    /// Passes a segment to its connection.
    #[inline]
    pub(super) fn process<W: Watch>(&mut self, received: &ReceivedSegment<'_>, watch: &mut W) {
        if self.closing.front().is_some_and(|&(until, ..)| until < received.packet.at) {
            self.expire(received.packet.at, watch);
        }
        let slot = match self.find(received, watch) {
            Some(slot) => slot,
            None => self.open(received, watch),
        };
        self.touch(slot);
        let place = &mut self.slots[slot as usize];
        let State::Awake(connection) = &mut place.state else { return };
        let before = connection.load();
        connection.process(received.sender, received.segment, received.packet, watch);
        self.records = self.records + connection.load() - before;
        if !place.closing && connection.is_over() {
            place.closing = true;
            let until = Stamp(received.packet.at.0.saturating_add(TIME_WAIT_NS));
            self.closing.push_back((until, slot, connection.id));
        }
        while self.records > self.limits.records {
            self.close(self.oldest, true, watch);
        }
        if self.drowsy.len() > MOST_AWAKE {
            self.let_rest(watch);
        }
    }

    /// Ends all open connections, in the order of their first packets.
    pub(super) fn finish<W: Watch>(&mut self, watch: &mut W) {
        let mut open: Vec<(ConnectionId, u32)> = self
            .slots
            .iter()
            .zip(0..)
            .filter_map(|(slot, number)| Some((slot.state.id()?, number)))
            .collect();
        open.sort_unstable();
        for (_, slot) in open {
            self.close(slot, false, watch);
        }
    }

    #[inline]
    fn find<W: Watch>(&mut self, received: &ReceivedSegment<'_>, watch: &mut W) -> Option<u32> {
        let newest = self.slots.get(self.newest as usize).and_then(|slot| slot.state.key());
        let slot = match newest {
            Some(key) if *key == received.key => self.newest,
            _ => *self.index.get(&received.key)?,
        };
        if matches!(self.slots[slot as usize].state, State::Resting(_)) {
            self.wake(slot, watch);
        }
        let State::Awake(connection) = &self.slots[slot as usize].state else { return None };
        let belongs = connection.belongs(received.sender, received.segment);
        (belongs == Belongs::Here).then_some(slot)
    }

    #[cold]
    fn wake<W: Watch>(&mut self, slot: u32, watch: &mut W) {
        let state = &mut self.slots[slot as usize].state;
        if let State::Resting(resting) = state
            && let Some(connection) = Connection::wake(resting, watch)
        {
            self.records += connection.load();
            self.drowsy.push_back((slot, connection.id));
            *state = State::Awake(connection);
        }
    }

    /// Lets connections rest that woke longest ago, but not the one that is active now.
    #[cold]
    fn let_rest<W: Watch>(&mut self, watch: &mut W) {
        for _ in MOST_AWAKE..self.drowsy.len() {
            let Some((slot, id)) = self.drowsy.pop_front() else { return };
            let state = &mut self.slots[slot as usize].state;
            let State::Awake(connection) = state else { continue };
            if connection.id != id || !connection.can_rest() {
                continue;
            }
            if slot == self.newest {
                self.drowsy.push_back((slot, id));
                continue;
            }
            let load = connection.load();
            if let State::Awake(connection) = core::mem::take(state)
                && let Some(resting) = connection.rest()
            {
                *state = State::Resting(Box::new(resting));
                self.records -= load;
                watch.rests(id);
            }
        }
    }

    #[cold]
    fn open<W: Watch>(&mut self, received: &ReceivedSegment<'_>, watch: &mut W) -> u32 {
        if let Some(&before) = self.index.get(&received.key) {
            self.close(before, false, watch);
        }
        if self.index.len() >= self.limits.connections {
            self.close(self.oldest, true, watch);
        }
        let id = ConnectionId(self.begun);
        self.begun += 1;
        let connection =
            Connection::new(id, received.key, received.sender, received.segment.flags, received.packet.at);
        watch.opened(id, &connection.who());
        let slot =
            Slot { state: State::Awake(Box::new(connection)), newer: NOBODY, older: NOBODY, closing: false };
        let number = self.free.pop().unwrap_or(self.slots.len() as u32);
        if number as usize == self.slots.len() {
            self.slots.push(slot);
        } else {
            self.slots[number as usize] = slot;
        }
        self.index.insert(received.key, number);
        self.put_newest(number);
        self.drowsy.push_back((number, id));
        number
    }

    /// Removes connections that were closed long enough ago.
    #[cold]
    fn expire<W: Watch>(&mut self, now: Stamp, watch: &mut W) {
        while let Some(&(until, slot, id)) = self.closing.front()
            && until < now
        {
            self.closing.pop_front();
            if self.slots[slot as usize].state.id() == Some(id) {
                self.close(slot, false, watch);
            }
        }
    }

    #[cold]
    fn close<W: Watch>(&mut self, slot: u32, forgotten: bool, watch: &mut W) {
        self.take_out(slot);
        let connection = match core::mem::take(&mut self.slots[slot as usize].state) {
            State::Free => return,
            State::Awake(connection) => {
                self.records -= connection.load();
                connection
            }
            State::Resting(resting) => {
                let Some(connection) = Connection::wake(&resting, watch) else { return };
                connection
            }
        };
        self.free.push(slot);
        self.index.remove(&connection.key);
        let id = connection.id;
        watch.closed(id, &connection.report(forgotten));
    }

    /// Marks this one as the most recently active.
    #[inline]
    fn touch(&mut self, slot: u32) {
        if self.newest != slot {
            self.take_out(slot);
            self.put_newest(slot);
        }
    }

    fn put_newest(&mut self, slot: u32) {
        let older = core::mem::replace(&mut self.newest, slot);
        (self.slots[slot as usize].older, self.slots[slot as usize].newer) = (older, NOBODY);
        match self.slots.get_mut(older as usize) {
            Some(before) => before.newer = slot,
            None => self.oldest = slot,
        }
    }

    fn take_out(&mut self, slot: u32) {
        let Slot { newer, older, .. } = self.slots[slot as usize];
        match self.slots.get_mut(newer as usize) {
            Some(next) => next.older = older,
            None => self.newest = older,
        }
        match self.slots.get_mut(older as usize) {
            Some(next) => next.newer = newer,
            None => self.oldest = newer,
        }
    }
}
