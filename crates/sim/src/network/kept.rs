//! Packets that come to a channel that keeps its packets, and the classes that some of them tell apart.

use super::Network;
use crate::network::packet::Packet;
use crate::network::queue::{Kept, Passing};
use crate::spec::NodeId;
use netspurt_tcp::segment::Ecn;

impl Network {
    /// The route from one node to another for packets with this differentiated services codepoint.
    pub fn route_of_class(&mut self, from: NodeId, to: NodeId, dscp: u8) -> Option<u32> {
        if self.routes.between_in_class(from, to, dscp).is_none() {
            self.routes.add_class(from, to, dscp & 63);
        }
        self.routes.between_in_class(from, to, dscp & 63).map(|(there, _)| there)
    }

    /// A packet comes to a channel that keeps its packets, where nobody waits and the transmitter is free.
    pub(super) fn pass_by(&mut self, number: u32, kept: Kept, packet: &Packet) {
        match self.channels[number as usize].pass_by(kept, packet) {
            Passing::Sent(kept) => {
                self.mark_as_kept(kept, number, kept.since);
                self.pass(kept.slot, kept.position, kept.since);
            }
            Passing::Dropped(cause) => self.discard(kept.slot, number, kept.since, cause),
            Passing::Waits => {
                self.note_queue(number, kept.since);
                self.arm_departure(number);
            }
        }
    }

    /// A packet that leaves a queue has the mark that it got there.
    pub(super) fn mark_as_kept(&mut self, kept: Kept, number: u32, now: u64) {
        if kept.ecn == Ecn::Ce {
            self.mark(kept.slot, number, now);
        }
    }
}
