//! Resends first: a segment that is sent again overtakes all that waits, but not the packet being transmitted.
//!
//! So the order in which packets leave is not known when they come, and nothing about a departure can be computed ahead.
//! A channel with this queue keeps its packets itself and is woken when its transmitter is free. What happens on the way
//! (losses, captures) is decided when a packet leaves, in the order of leaving. Resends among themselves keep their
//! order, and a packet that begins to be transmitted at the very instant at which a resend comes is not overtaken. A
//! packet that finds no room is dropped, resend or not.

use super::Backlog;
use crate::ring::Ring;

/// A packet that waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Kept {
    pub(crate) slot: u32,
    /// Position in the network's list of hops: this channel's.
    pub(crate) position: u32,
    /// Octets, framing included.
    pub(crate) size: u32,
    /// When it came.
    pub(crate) since: u64,
}

/// What waits for one direction of a link, and how long things waited.
#[derive(Debug)]
pub(crate) struct ResendFirst {
    resends: Ring<Kept>,
    others: Ring<Kept>,
    bytes: u64,
    /// Most packets that ever waited.
    pub(crate) most: u32,
    /// Picoseconds that packets waited, over all that have left.
    waited: u128,
    /// The departure that the event queue knows of.
    pub(crate) armed_at: u64,
}

impl ResendFirst {
    pub(crate) fn new() -> Self {
        let (resends, others) = (Ring::new(), Ring::new());
        Self { resends, others, bytes: 0, most: 0, waited: 0, armed_at: u64::MAX }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.resends.is_empty() && self.others.is_empty()
    }

    pub(crate) const fn backlog(&self) -> Backlog {
        Backlog { packets: self.resends.len() + self.others.len(), bytes: self.bytes }
    }

    pub(crate) fn push(&mut self, packet: Kept, resend: bool) {
        let ring = if resend { &mut self.resends } else { &mut self.others };
        ring.push_back(packet);
        self.bytes += u64::from(packet.size);
        self.most = self.most.max(self.backlog().packets);
    }

    /// The packet that leaves at `now`.
    pub(crate) fn pop(&mut self, now: u64) -> Option<Kept> {
        let packet = self.resends.pop_front().or_else(|| self.others.pop_front())?;
        self.bytes -= u64::from(packet.size);
        self.waited += u128::from(now - packet.since);
        Some(packet)
    }

    /// Picoseconds that packets waited up to `end`, those that still wait included.
    pub(crate) fn waited(&self, end: u64) -> u128 {
        let rings = [&self.resends, &self.others];
        let still = rings.iter().flat_map(|ring| (0..ring.len()).map(|i| ring.get(i).since));
        self.waited + still.map(|since| u128::from(end.saturating_sub(since))).sum::<u128>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resends_leave_first_and_in_their_order() {
        let mut queue = ResendFirst::new();
        for (slot, resend) in [(1, false), (2, true), (3, false), (4, true)] {
            queue.push(Kept { slot, position: 0, size: 10 * slot, since: u64::from(slot) }, resend);
        }
        assert_eq!((queue.backlog(), queue.most), (Backlog { packets: 4, bytes: 100 }, 4));
        assert_eq!(queue.waited(10), 9 + 8 + 7 + 6);
        let order: Vec<u32> = std::iter::from_fn(|| queue.pop(10).map(|packet| packet.slot)).collect();
        assert_eq!(order, [2, 4, 1, 3]);
        assert_eq!(queue.backlog(), Backlog::default());
        assert_eq!(queue.waited(1000), 9 + 8 + 7 + 6);
    }
}
