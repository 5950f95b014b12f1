//! The client's ports towards one server, and which of them wait in TIME-WAIT.
//!
//! A connection takes the next port of the range whose last use is over (RFC 6056, section 3.3.3: one counter for each
//! server, beginning at an offset that only the host knows). The end that closed first remembers the pair of sockets for
//! 2·MSL. If that is the client, the port is not taken again meanwhile, unless [`Reuse::ByTimestamp`] says that a later
//! timestamp is enough. If it is the server, the client knows nothing of it: it takes the port, and the server admits the
//! SYN if its number or its timestamp lies beyond all that was seen (RFC 6191), which initial sequence numbers that follow
//! a clock (RFC 6528) nearly always do. Where they do not, a client would be answered by an ACK, reset what it takes
//! for a stranger and ask again: here it takes the next port at once.
//!
//! What is remembered is a [`TimeWait`] of some twenty bytes for each end, not a connection.

use netspurt_tcp::TimeWait;
use netspurt_tcp::seq::Seq;
use netspurt_tcp::time::{Span, Time};
use std::collections::{BTreeMap, BTreeSet};

/// A program that was told that there is no port asks again after this, if nothing says when one will be free.
const PATIENCE: Span = Span::from_secs(1);

/// A range of ports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PortRange {
    /// The first.
    pub first: u16,
    /// The last.
    pub last: u16,
}

impl Default for PortRange {
    /// The dynamic ports (RFC 6335, section 6).
    fn default() -> Self {
        Self { first: 49_152, last: 65_535 }
    }
}

impl PortRange {
    fn len(self) -> u16 {
        self.last.saturating_sub(self.first).saturating_add(1)
    }
}

/// Whether a client takes a port again that it has in TIME-WAIT itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Reuse {
    /// Not before 2·MSL are over.
    #[default]
    Never,
    /// As soon as its timestamp clock has moved on (RFC 6191, section 2; Linux `tcp_tw_reuse`).
    ByTimestamp,
}

/// A client that goes by timestamps lets at least this pass (Linux: its clock must have moved on by a second).
const LATER: Span = Span::from_secs(1);

/// Why a port cannot be had.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Held {
    /// A connection has it.
    Live,
    /// It is in TIME-WAIT, at the client, at the server, or at both.
    Waiting {
        /// Since when.
        since: Time,
        /// Until when the client remembers.
        client: Option<Time>,
        /// What the server remembers.
        server: Option<TimeWait>,
    },
}

impl Held {
    /// When it may be had again, as far as the client can tell: at its end, or by the clock a while after it began.
    fn rested(&self, by_clock: bool) -> Option<Time> {
        match self {
            Self::Waiting { since, .. } if by_clock => Some(*since + LATER),
            _ => self.end(),
        }
    }

    /// When the last of both ends has forgotten.
    fn end(&self) -> Option<Time> {
        match self {
            Self::Live => None,
            Self::Waiting { client, server, .. } => {
                (*client).max(server.as_ref().map(|waiting| waiting.until))
            }
        }
    }
}

/// The ports of a client towards one server.
#[derive(Debug)]
pub(crate) struct Ports {
    range: PortRange,
    reuse: Reuse,
    next: u16,
    held: BTreeMap<u16, Held>,
    /// When each port that is in TIME-WAIT is out of it.
    ends: BTreeSet<(Time, u16)>,
}

impl Ports {
    /// The ports of `range`, the first at this offset.
    pub(crate) fn new(range: PortRange, reuse: Reuse, offset: u64) -> Self {
        let next = range.first + (offset % u64::from(range.len())) as u16;
        Self { range, reuse, next, held: BTreeMap::new(), ends: BTreeSet::new() }
    }

    /// A port for a connection whose SYN will have the number that `iss` gives for it, and this timestamp.
    ///
    /// # Errors
    /// There is none: when to ask again.
    pub(crate) fn take(
        &mut self,
        now: Time,
        iss: impl Fn(u16) -> Seq,
        timestamp: Option<u32>,
    ) -> Result<u16, Time> {
        self.forget(now);
        for _ in 0..self.range.len() {
            let port = self.next;
            self.next = if port >= self.range.last { self.range.first } else { port + 1 };
            if self.may_be_taken(now, port, || iss(port), timestamp) {
                self.free(port);
                self.held.insert(port, Held::Live);
                return Ok(port);
            }
        }
        let soonest = self.held.values().filter_map(|held| held.rested(self.goes_by_clock(timestamp))).min();
        Err(soonest.filter(|&then| then > now).unwrap_or(now + PATIENCE))
    }

    /// Whether a later timestamp is enough for a port that the client has in TIME-WAIT.
    fn goes_by_clock(&self, timestamp: Option<u32>) -> bool {
        self.reuse == Reuse::ByTimestamp && timestamp.is_some()
    }

    fn may_be_taken(&self, now: Time, port: u16, iss: impl Fn() -> Seq, timestamp: Option<u32>) -> bool {
        match self.held.get(&port) {
            None => true,
            Some(Held::Live) => false,
            Some(Held::Waiting { since, client, server }) => {
                let by_clock = self.goes_by_clock(timestamp) && now - *since >= LATER;
                let client_lets = by_clock || client.is_none_or(|until| until <= now);
                client_lets
                    && server.is_none_or(|waiting| waiting.until <= now || waiting.admits(iss(), timestamp))
            }
        }
    }

    /// The connection that had `port` is over; what its client and its server remember of it.
    pub(crate) fn give_back(&mut self, now: Time, port: u16, [client, server]: [Option<TimeWait>; 2]) {
        let held = Held::Waiting { since: now, client: client.map(|waiting| waiting.until), server };
        match held.end() {
            Some(end) => {
                self.held.insert(port, held);
                self.ends.insert((end, port));
            }
            None => self.free(port),
        }
    }

    fn forget(&mut self, now: Time) {
        while let Some(&(end, port)) = self.ends.first().filter(|(end, _)| *end <= now) {
            self.ends.remove(&(end, port));
            self.held.remove(&port);
        }
    }

    fn free(&mut self, port: u16) {
        if let Some(end) = self.held.remove(&port).and_then(|held| held.end()) {
            self.ends.remove(&(end, port));
        }
    }
}
