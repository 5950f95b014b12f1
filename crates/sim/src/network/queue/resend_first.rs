//! Resends first: a segment that is sent again overtakes all that waits, but not the packet being transmitted.
//!
//! So the order in which packets leave is not known when they come, and nothing about a departure can be computed ahead.
//! A channel with this queue keeps its packets itself and is woken when its transmitter is free. What happens on the way
//! (losses, captures) is decided when a packet leaves, in the order of leaving. Resends among themselves keep their
//! order, and a packet that begins to be transmitted at the very instant at which a resend comes is not overtaken. A
//! packet that finds no room is dropped, resend or not.

use super::fifo::Fifo;
use super::order::{Kept, Leaving, Order, Outbox};
use crate::network::packet::Packet;

/// Resends, and the others behind them.
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
        out.extend(self.resends.take().or_else(|| self.others.take()).map(Leaving::Sent));
    }
}
