//! Retransmissions first: a retransmitted segment overtakes all waiting packets, except the packet that is being transmitted.
//!
//! So the order of departure is not known on arrival, and departures cannot be computed in advance. A channel with this
//! queue stores its packets, and has an event when its transmitter is free. Impairments and captures on the link are
//! computed when a packet leaves, in order of departure. Retransmissions keep their order among themselves. A packet whose
//! transmission starts at the time at which a retransmission arrives is not overtaken. A packet that arrives at a full
//! queue is dropped, even if it is a retransmission.

use super::fifo::Fifo;
use super::order::{Kept, Order, Outbox, send};
use crate::network::packet::Packet;

/// Retransmissions, and the other packets after them.
#[derive(Debug, Default)]
pub(super) struct ResendFirst {
    resends: Fifo,
    others: Fifo,
}

impl Order for ResendFirst {
    fn push(&mut self, kept: Kept, packet: &Packet, _out: &mut Outbox) {
        let line = if packet.resend { &mut self.resends } else { &mut self.others };
        line.put(kept);
    }

    fn pop(&mut self, _now: u64, out: &mut Outbox) {
        send(out, self.resends.take().or_else(|| self.others.take()));
    }
}
