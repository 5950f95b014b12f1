//! What the world does when a connection is over.

use super::World;
use crate::record::summary::{FlowRecord, Outcome};
use netspurt_tcp::state::State;
use netspurt_tcp::time::Time;

impl World {
    /// The connection of endpoint `place` is over, or listens.
    #[cold]
    pub(super) fn note_over(&mut self, now: Time, place: u32) {
        let endpoint = &self.endpoints[place as usize];
        if matches!(self.records[endpoint.flow as usize], FlowRecord::Session(_)) {
            return self.retire_call_if_over(place & !1);
        }
        // A listening endpoint may still receive a connection.
        let listens =
            endpoint.connection.as_ref().is_some_and(|connection| connection.state() == State::Listen);
        if !listens && self.retiring.note(now, place) {
            if let Some(part) = &mut self.part {
                part.messages.over.push((place, now));
            }
            self.arm_starter();
        }
    }

    /// The same for an endpoint in another part of the world.
    pub(super) fn note_remote_end(&mut self, place: u32, since: Time) {
        if self.retiring.note(since, place) {
            self.arm_starter();
        }
    }

    /// Adds the pairs of endpoints that are due to the records of their flows, and frees them.
    pub(super) fn retire(&mut self, now: Time) {
        while let Some(client) = self.retiring.take_due(now) {
            let pair = &self.endpoints[client as usize..][..2];
            let app = &self.spec.flows[pair[0].description as usize].app;
            self.records[pair[0].flow as usize] = FlowRecord::Over(self.outcomes.len() as u32);
            self.outcomes.push(Outcome::new(app, pair));
            self.vacate(client);
        }
    }

    /// A pair of endpoints is free.
    pub(super) fn vacate(&mut self, client: u32) {
        for endpoint in &mut self.endpoints[client as usize..][..2] {
            endpoint.connection = None;
            endpoint.armed_at = Time::NEVER;
            endpoint.app_armed_at = Time::NEVER;
        }
        self.free.push(client);
    }
}
