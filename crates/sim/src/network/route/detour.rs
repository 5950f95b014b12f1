//! Routes that change during the run. All of them are in the list of hops from the beginning; a change says which one new
//! packets take.

use crate::network::schedule::Change;
use crate::spec::{Detour, NodeId};
use netspurt_tcp::time::Time;
use std::collections::BTreeMap;

/// The source, destination and class of packets.
pub(super) type Key = (NodeId, NodeId, u8);

/// One change, and the starts of the routes that it selects.
struct Turn {
    when: Change<()>,
    /// Its next time; [`u64::MAX`] for never.
    next: u64,
    starts: Vec<(Key, u32)>,
}

/// The changes of routes.
#[derive(Default)]
pub(super) struct Detours {
    turns: Vec<Turn>,
    /// The reverse route of each changed route. Both directions use the same links.
    back: BTreeMap<u32, u32>,
}

impl Detours {
    /// Adds a change that selects these routes.
    pub(super) fn add(&mut self, detour: &Detour, starts: Vec<(Key, u32)>) {
        let Change { at, until, .. } = detour.when;
        let next = if until.is_some_and(|until| until < at) { u64::MAX } else { at.as_ps() };
        self.turns.push(Turn { when: detour.when, next, starts });
    }

    /// These two routes are each other's way back.
    pub(super) fn pair(&mut self, there: u32, back: u32) {
        self.back.insert(there, back);
        self.back.insert(back, there);
    }

    /// The way back of a route, if a change concerns it.
    pub(super) fn way_back(&self, start: u32) -> Option<u32> {
        self.back.get(&start).copied()
    }

    /// When the next change happens.
    pub(super) fn next(&self) -> Time {
        self.turns.iter().map(|turn| turn.next).min().map_or(Time::NEVER, Time::from_ps)
    }

    /// The changes up to `now`, in order of time; of two at the same time the later in the list comes last.
    pub(super) fn due(&mut self, now: u64) -> Vec<(Key, u32)> {
        let mut selected = Vec::new();
        while let Some(turn) =
            self.turns.iter_mut().filter(|turn| turn.next <= now).min_by_key(|turn| turn.next)
        {
            selected.extend_from_slice(&turn.starts);
            turn.next = turn.when.next_after(turn.next);
        }
        selected
    }
}
