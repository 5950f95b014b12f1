//! What a part of a world tells the others after each window, and hears from them.

use super::World;
use super::part::{Part, Told};
use crate::spec::NodeId;
use netspurt_tcp::time::{Span, Time};

impl World {
    /// From now on this is a part of a world.
    pub(crate) fn become_part(&mut self, part: Part) {
        let leads_out = |number: u32| {
            let [from, to] = self.ends_of(number);
            (part.has(from) && !part.has(to)).then(|| (number, part.of_node[to.0 as usize] as u16))
        };
        let border: Vec<(u32, u16)> = (0..2 * self.spec.links.len() as u32).filter_map(leads_out).collect();
        self.network.draw_border(border.into_iter());
        self.part = Some(Box::new(part));
        self.is_watched = true;
    }

    /// Where a channel begins, and where it ends.
    fn ends_of(&self, channel: u32) -> [NodeId; 2] {
        let [a, b] = self.spec.links[channel as usize / 2].ends;
        if channel.is_multiple_of(2) { [a, b] } else { [b, a] }
    }

    /// What the other parts have to know of the window that has ended, each what concerns it: they are numbered from 0.
    pub(crate) fn tell(&mut self, others: &mut [Told]) {
        let World { part: Some(part), network, spec, endpoints, .. } = self else { return };
        for (number, other) in others.iter_mut().enumerate() {
            network.take_crossings(number, &mut other.crossings);
        }
        for &over in &part.told.over {
            others.iter_mut().for_each(|other| other.over.push(over));
        }
        part.told.over.clear();
        for ack in part.told.delayed_acks.drain(..) {
            let flow = &spec.flows[endpoints[ack.place as usize].description as usize];
            let peer = if ack.place.is_multiple_of(2) { flow.to } else { flow.from };
            others[part.of_node[peer.0 as usize] as usize].delayed_acks.push(ack);
        }
    }

    /// Hears what another part, or this one, had to tell.
    pub(crate) fn hear(&mut self, told: &mut Told) {
        for (place, since) in told.over.drain(..) {
            self.hear_of_end(place, since);
        }
        if let Some(part) = &mut self.part {
            for ack in told.delayed_acks.drain(..) {
                self.held_tails.judge(&ack, &part.holds);
            }
        }
        self.network.take_over(&mut told.crossings);
    }

    /// All parts have told what there was to tell of a window.
    pub(crate) fn conclude_window(&mut self) {
        if let Some(part) = &mut self.part {
            part.holds.forget();
        }
    }

    /// How long the run lasts.
    pub(crate) const fn duration(&self) -> Span {
        self.spec.duration
    }

    /// When something is due next here.
    pub(crate) fn next_due(&self) -> Option<Time> {
        self.network.next_due()
    }
}
