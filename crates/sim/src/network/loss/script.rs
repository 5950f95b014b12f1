//! A script: "drop the 7th".

use super::{Cause, LossProcess};
use crate::network::packet::Packet;
use crate::random::Stream;
use crate::spec::Counted;

/// Loses the packets with the given numbers, the first being 1.
#[derive(Clone, Debug)]
pub struct Script {
    counted: Counted,
    seen: u64,
    /// What is still to be lost, the next one last.
    left: Vec<u64>,
}

impl Script {
    /// A script that loses the packets numbered `drop`, in any order.
    pub fn new(counted: Counted, mut drop: Vec<u64>) -> Self {
        drop.sort_unstable_by(|a, b| b.cmp(a));
        drop.dedup();
        Self { counted, seen: 0, left: drop }
    }
}

impl LossProcess for Script {
    fn loses(&mut self, packet: &Packet, _size: u32, _stream: &mut Stream) -> bool {
        if self.counted == Counted::Data && packet.segment.payload.len == 0 {
            return false;
        }
        self.seen += 1;
        let lost = self.left.last() == Some(&self.seen);
        if lost {
            self.left.pop();
        }
        lost
    }

    fn cause(&self) -> Cause {
        Cause::Script
    }
}
