//! Strict priority: a class sends only if no class before it has a packet (the priority queueing that RFC 3246 allows for
//! EF). The
//! last class can starve.

use crate::network::loss::Cause;
use crate::network::packet::Packet;
use crate::network::queue::by_class::classes::Classes;
use crate::network::queue::order::{Kept, Order, Outbox, send};
use crate::spec::ClassesSpec;

/// Queues of which the first one with packets sends.
#[derive(Debug)]
pub(in crate::network::queue) struct Priority {
    classes: Classes,
}

impl Priority {
    pub(in crate::network::queue) fn new(spec: ClassesSpec) -> Self {
        Self { classes: Classes::new(spec) }
    }
}

impl Order for Priority {
    fn push(&mut self, kept: Kept, _packet: &Packet, out: &mut Outbox) {
        self.classes.admit(kept, out);
    }

    fn pop(&mut self, _now: u64, out: &mut Outbox) {
        let sent = (0..self.classes.count()).find_map(|class| self.classes.take(class));
        send(out, sent);
    }

    fn causes(&self) -> &'static [Cause] {
        self.classes.causes()
    }

    fn classifies(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::queue::order::{Leaving, Origin};
    use crate::spec::Room;

    pub(in crate::network::queue) fn spec(room: Room) -> ClassesSpec {
        ClassesSpec::new(room, &[&[46, 48], &[34]]).unwrap()
    }

    fn kept(slot: u32, dscp: u8) -> Kept {
        Kept { slot, size: 1000, origin: Origin { dscp, ..Origin::default() }, ..Kept::default() }
    }

    #[test]
    fn a_class_sends_while_none_before_it_has_a_packet() {
        let mut order = Priority::new(spec(Room::Unlimited));
        let mut out = Outbox::new();
        for (slot, dscp) in (0..).zip([0, 34, 8, 46, 34, 48, 0, 46]) {
            order.push(kept(slot, dscp), &Packet::default(), &mut out);
        }
        for _ in 0..9 {
            order.pop(0, &mut out);
        }
        let sent: Vec<u32> = out
            .iter()
            .map(|leaving| match leaving {
                Leaving::Sent(kept) | Leaving::Dropped(kept, _) => kept.slot,
            })
            .collect();
        assert_eq!(sent, [3, 5, 7, 1, 4, 0, 2, 6]);
    }

    #[test]
    fn each_class_has_room_of_its_own() {
        let mut order = Priority::new(spec(Room::Packets(2)));
        let mut out = Outbox::new();
        for (slot, dscp) in (0..).zip([0, 0, 0, 46, 46, 48, 34]) {
            order.push(kept(slot, dscp), &Packet::default(), &mut out);
        }
        let dropped: Vec<_> = out.into_iter().collect();
        let of = |slot, dscp| Leaving::Dropped(kept(slot, dscp), Cause::Queue);
        assert_eq!(dropped, [of(2, 0), of(5, 48)]);
    }
}
