//! Polls the kernel and keeps the table.

use super::diag::Diag;
use super::namespace::{NamespaceError, file_of, within};
use super::opens::Opens;
use super::processes::owners;
use super::table::{Keep, Owner, Row, Table, Tracked};
use netspurt_tcp::time::{Span, Time};
use nix::errno::Errno;
use nix::time::{ClockId, clock_gettime};
use std::collections::BTreeSet;

/// Looking for processes takes at most this part of the time.
const SEARCH_PART: u64 = 100;

/// Why the sockets of a host cannot be watched.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// The network namespace cannot be entered.
    #[error("{0}")]
    Namespace(#[from] NamespaceError),
    /// The kernel does not list its sockets.
    #[error("the kernel does not list its TCP sockets: {}", said(*.0))]
    System(Errno),
}

fn said(errno: Errno) -> String {
    match errno {
        Errno::ENOENT | Errno::EPROTONOSUPPORT | Errno::EAFNOSUPPORT => {
            "it lacks the module tcp_diag (load it as root: modprobe tcp_diag)".to_owned()
        }
        other => other.desc().to_lowercase(),
    }
}

/// Counts of a watch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Polls so far.
    pub polls: u64,
    /// Sockets that were seen.
    pub seen: u64,
    /// Sockets that were opened and closed between two polls, and therefore not seen: at least this number. `None` if the
    /// kernel's counters cannot be read.
    pub missed: Option<u64>,
}

/// Watches the TCP sockets of a network namespace. Call [`poll`](Self::poll) regularly; the intervals between calls are
/// those of the budget.
#[derive(Debug)]
pub struct Watch {
    diag: Diag,
    opens: Option<Opens>,
    /// The counter after the first poll.
    opened_before: Option<u64>,
    missed: u64,
    table: Table,
    origin: u64,
    next_search: Time,
}

impl Watch {
    /// Begins to watch the network namespace of this thread or another one: a path, or a name of `ip netns`.
    pub fn open(namespace: Option<&str>, keep: Keep) -> Result<Self, WatchError> {
        let open = || (Diag::open(), Opens::open().ok());
        let (diag, opens) = match namespace {
            None => open(),
            Some(text) => within(&file_of(text), open)?,
        };
        Ok(Self {
            diag: diag.map_err(WatchError::System)?,
            opens,
            opened_before: None,
            missed: 0,
            table: Table::new(keep),
            origin: monotonic_ns(),
            next_search: Time::ZERO,
        })
    }

    /// Asks the kernel for all sockets, and adds the time since the last poll to their budgets.
    pub fn poll(&mut self) -> Result<(), WatchError> {
        let opened = self.opens.as_mut().and_then(Opens::read);
        self.table.begin(self.now());
        let table = &mut self.table;
        self.diag.dump(|socket| table.see(socket)).map_err(WatchError::System)?;
        self.table.end();
        match (self.opened_before, opened) {
            // After the first dump, so that no socket of it is counted.
            (None, _) => self.opened_before = self.opens.as_mut().and_then(Opens::read),
            (Some(before), Some(opened)) => {
                let (_, seen) = self.table.seen();
                self.missed = self.missed.max(opened.saturating_sub(before).saturating_sub(seen));
            }
            (Some(_), None) => {}
        }
        if self.now() >= self.next_search {
            self.find_owners();
        }
        Ok(())
    }

    /// Looks for the processes of sockets whose owner is not known.
    pub fn find_owners(&mut self) {
        let unknown =
            |each: &Tracked| each.socket.inode > 0 && matches!(each.owner, Owner::Unknown | Owner::Sought);
        let wanted: BTreeSet<u32> =
            self.table.sockets().filter(|each| unknown(each)).map(|each| each.socket.inode).collect();
        if wanted.is_empty() {
            return;
        }
        let begun = self.now();
        let found = owners(&wanted);
        for each in self.table.sockets_mut().filter(|each| unknown(each)) {
            each.owner = match (found.get(&each.socket.inode), &each.owner) {
                (Some(process), _) => Owner::Process(process.clone()),
                // It may have been opened while the search was under way.
                (None, Owner::Unknown) => Owner::Sought,
                (None, _) => Owner::Hidden,
            };
        }
        let now = self.now();
        self.next_search = now + (now - begun).saturating_mul(SEARCH_PART);
    }

    /// The sockets that exist.
    pub fn sockets(&self) -> impl Iterator<Item = &Tracked> {
        self.table.sockets()
    }

    /// The intervals since the last call, if they are kept.
    pub fn take_rows(&mut self) -> Vec<Row> {
        self.table.take_rows()
    }

    /// The sockets that have ended since the last call.
    pub fn take_ended(&mut self) -> Vec<Tracked> {
        self.table.take_ended()
    }

    /// Counts so far.
    pub fn counts(&self) -> Counts {
        let missed = self.opened_before.map(|_| self.missed);
        Counts { polls: self.table.polls(), seen: self.table.seen().0, missed }
    }

    /// Since the watch began.
    fn now(&self) -> Time {
        Time::ZERO + Span::from_ns(monotonic_ns().saturating_sub(self.origin))
    }
}

/// The monotonic clock exists on every Linux; if it could not be read, it would stand still.
fn monotonic_ns() -> u64 {
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(0, |time| {
        let (seconds, nanoseconds) = (time.tv_sec().unsigned_abs(), time.tv_nsec().unsigned_abs());
        seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds)
    })
}
