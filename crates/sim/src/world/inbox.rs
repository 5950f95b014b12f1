//! Hosts that process their packets ahead of other hosts: see `network/inbox.rs`.

use super::World;
use crate::host::app::AppSpec;
use crate::host::endpoint::Endpoint;
use crate::host::processor::{Pace, Processor};
use crate::network::packet::NONE;
use crate::spec::WorldSpec;
use crate::world::answering::{Inbox, Left};
use crate::world::serving::{Served, Taken, serve, take_packet};
use netspurt_tcp::state::State;
use netspurt_tcp::time::Time;

impl World {
    /// The hosts that share nothing with other flows: each has one end of one flow, without a session, a processor or code of a
    /// user.
    pub(super) fn independent_hosts(spec: &WorldSpec) -> Vec<bool> {
        let mut ends = vec![0u32; spec.nodes.len()];
        for flow in &spec.flows {
            let app = matches!(flow.app, AppSpec::Bulk { .. } | AppSpec::RequestResponse { .. });
            let weight = if app && flow.own.iter().all(Option::is_none) { flow.count } else { 2 };
            for end in [flow.from, flow.to] {
                let all = &mut ends[end.0 as usize];
                *all = all.saturating_add(weight);
            }
        }
        ends.iter().zip(&spec.nodes).map(|(&ends, node)| ends == 1 && Processor::of(node).is_none()).collect()
    }

    /// A packet has arrived at its host.
    #[inline]
    pub(super) fn deliver(&mut self, now: Time, slot: u32) {
        self.take(now, Inbox { slot, ..Inbox::EMPTY });
    }

    /// The first packet of an inbox is due at `now`. Its host also processes those behind it that arrive before anything
    /// else happens to the host, up to `until`.
    #[inline]
    pub(super) fn open_inbox(&mut self, now: Time, channel: u32, until: Time) {
        if let Some((slot, next)) = self.network.land_in_inbox(channel, now) {
            // The starter is armed anew only for an endpoint that is over, and that does not get ahead.
            let until = until.min(self.starter_armed_at);
            self.take(now, Inbox { slot, channel, next, until });
        }
    }

    /// An endpoint has made progress without a packet: its application may have something to do.
    #[inline]
    pub(crate) fn serve(&mut self, now: Time, place: u32) {
        self.work(now, place, Inbox::EMPTY);
    }

    /// An endpoint processes its packets.
    #[inline]
    pub(super) fn take(&mut self, now: Time, inbox: Inbox) {
        self.work(now, self.network.packet(inbox.slot).endpoint, inbox);
    }

    /// Endpoint `place` processes its packets one after the other, and is served after each.
    #[inline(never)]
    fn work(&mut self, mut now: Time, place: u32, mut inbox: Inbox) {
        loop {
            let left = match inbox.slot {
                NONE => Left::Service,
                // For a single packet the way to the short loop is longer than the general calls.
                _ if self.answers && inbox.channel != NONE => self.answer(&mut now, place, &mut inbox),
                _ => Left::Packet,
            };
            if left == Left::Nothing {
                return self.note_progress(now, place);
            }
            let Self { endpoints, network, cookies, spec, .. } = self;
            let endpoint = &mut endpoints[place as usize];
            if left == Left::Packet {
                let taken = take_packet(endpoint, network, now, inbox.slot);
                if taken != Taken::Processed {
                    self.take_specially(now, taken, inbox);
                    return self.note_progress(now, place);
                }
            }
            let served = match left {
                Left::Nothing | Left::Packet | Left::Service => {
                    serve(endpoint, (network, cookies, spec), now, place)
                }
                Left::More | Left::Dropped { .. } => self.finish_answer(now, place, inbox.slot, left),
            };
            if served != Served::Whole || self.is_watched && self.is_worth_recording(place) {
                self.conclude_specially(now, place, served);
            }
            if inbox.next.is_never() {
                return self.note_progress(now, place);
            }
            let endpoint = &self.endpoints[place as usize];
            let end = endpoint.armed_at.min(endpoint.app_armed_at).min(inbox.until);
            if inbox.next > end || !is_ordinary(endpoint) {
                self.network.leave_inbox(inbox.channel, inbox.next);
                return self.note_progress(now, place);
            }
            now = inbox.next;
            let Some((slot, next)) = self.network.land_in_inbox(inbox.channel, now) else { return };
            (inbox.slot, inbox.next) = (slot, next);
        }
    }

    /// The packet is not for a connection in progress, or not a segment that it processes now.
    #[cold]
    #[inline(never)]
    fn take_specially(&mut self, now: Time, taken: Taken, inbox: Inbox) {
        match taken {
            Taken::Special => self.deliver_specially(now, inbox.slot),
            Taken::Late => self.late_packets += 1,
            Taken::Processed => {}
        }
        if !inbox.next.is_never() {
            self.network.leave_inbox(inbox.channel, inbox.next);
        }
    }

    /// Endpoint `place` has been served, and more is to be done.
    #[cold]
    #[inline(never)]
    pub(super) fn conclude_specially(&mut self, now: Time, place: u32, served: Served) {
        match served {
            Served::News => self.attend(now, place),
            Served::Whole | Served::Over => self.conclude(now, place, served == Served::Over),
        }
    }

    /// Whether the state of an endpoint is of interest to a recorder, or to other parts of the world.
    #[inline]
    pub(super) fn is_worth_recording(&self, place: u32) -> bool {
        self.network.recorder.is_some()
            || self.part.as_ref().is_none_or(|part| part.looks_at(&self.endpoints[place as usize]))
    }

    /// Endpoint `place` has processed all its events up to `now`, which other endpoints may not have reached.
    #[inline(always)]
    pub(super) fn note_progress(&mut self, now: Time, place: u32) {
        self.endpoints[place as usize].progress = now;
        self.ahead = self.ahead.max(now);
    }
}

/// Whether an endpoint may get ahead.
///
/// One that holds a segment for an ACK may not, since its peer may be asked for how long (`record/held_tail.rs`). Nor may
/// one that is about to be retired.
#[inline(always)]
pub(super) fn is_ordinary(endpoint: &Endpoint) -> bool {
    endpoint.connection.as_ref().is_some_and(|connection| {
        connection.state() == State::Established && !connection.holding().waits_for_ack()
    }) && endpoint.open
        && endpoint.pace == Pace::Free
}
