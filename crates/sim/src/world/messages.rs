//! The messages between the parts of a world after each round.

use super::World;
use super::part::{Messages, Part};
use netspurt_tcp::time::{Span, Time};

impl World {
    /// Makes this world one part of a larger one.
    pub(crate) fn become_part(&mut self, part: Part) {
        let leads_out = |number: u32| {
            let [from, to] = self.spec.ends_of(number);
            let leads_out = part.has(from) && !part.has(to);
            leads_out.then(|| (number, part.of_node[to.0 as usize] as u16, !part.simulates(number)))
        };
        let border: Vec<_> = (0..2 * self.spec.links.len() as u32).filter_map(leads_out).collect();
        self.network.set_border(border.into_iter());
        self.part = Some(Box::new(part));
        self.is_watched = true;
    }

    /// Appends the messages of the round that has ended to `others`, by the number of the receiving part.
    pub(crate) fn post_messages(&mut self, others: &mut [Messages]) {
        let World { part: Some(part), network, spec, endpoints, .. } = self else { return };
        for (number, other) in others.iter_mut().enumerate() {
            network.take_crossings(number, &mut other.crossings);
        }
        for &over in &part.messages.over {
            others.iter_mut().for_each(|other| other.over.push(over));
        }
        part.messages.over.clear();
        for ack in part.messages.delayed_acks.drain(..) {
            let flow = &spec.flows[endpoints[ack.place as usize].description as usize];
            let peer = if ack.place.is_multiple_of(2) { flow.to } else { flow.from };
            others[part.of_node[peer.0 as usize] as usize].delayed_acks.push(ack);
        }
    }

    /// Processes the messages of one part.
    pub(crate) fn receive_messages(&mut self, messages: &mut Messages) {
        for (place, since) in messages.over.drain(..) {
            self.note_remote_end(place, since);
        }
        if let Some(part) = &mut self.part {
            for ack in messages.delayed_acks.drain(..) {
                self.held_tails.judge(&ack, &part.holds);
            }
        }
        self.network.receive_crossings(&mut messages.crossings);
    }

    /// No message will ask for what endpoints held before this time.
    pub(crate) fn forget_before(&mut self, time: Time) {
        if let Some(part) = &mut self.part {
            part.holds.forget_before(time);
        }
    }

    /// The duration of the run.
    pub(crate) const fn duration(&self) -> Span {
        self.spec.duration
    }

    /// The time of the next event in this part.
    pub(crate) fn next_due(&self) -> Option<Time> {
        self.network.next_due()
    }
}
