//! Deficit round robin with a list of new queues (RFC 8290, section 4.2): a queue that was empty is served before the
//! others until
//! it has sent one quantum. FQ-CoDel and FQ-PIE share this; each decides itself what it drops.
//!
//! Where RFC 8290 leaves a choice, this follows Linux: a new queue that becomes empty is appended to the list of old ones once.

use crate::network::queue::order::Kept;
use core::hash::Hasher as _;
use siphasher::sip::SipHasher24;
use std::collections::VecDeque;

use crate::network::packet::Packet;

/// The state of one queue in the rounds.
#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    /// Bytes that it may still send in this round.
    credit: i64,
    /// Whether it is in one of the two lists.
    listed: bool,
}

/// Which of the numbered queues is served next.
#[derive(Debug)]
pub(in crate::network::queue) struct Rounds {
    quantum: u32,
    turns: Box<[Turn]>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
}

impl Rounds {
    pub(in crate::network::queue) fn new(lines: u32, quantum: u32) -> Self {
        let turns = (0..lines.max(1)).map(|_| Turn::default()).collect();
        Self { quantum, turns, new: VecDeque::new(), old: VecDeque::new() }
    }

    /// A packet was added to this queue.
    pub(in crate::network::queue) fn join(&mut self, number: u32) {
        let turn = &mut self.turns[number as usize];
        if !turn.listed {
            *turn = Turn { credit: i64::from(self.quantum), listed: true };
            self.new.push_back(number);
        }
    }

    /// The next packet to be sent; `take` removes it from a queue that has one.
    pub(in crate::network::queue) fn next(
        &mut self,
        mut take: impl FnMut(u32) -> Option<Kept>,
    ) -> Option<Kept> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let number = *list.front()?;
            let turn = &mut self.turns[number as usize];
            if turn.credit <= 0 {
                turn.credit += i64::from(self.quantum);
                list.pop_front();
                self.old.push_back(number);
                continue;
            }
            if let Some(kept) = take(number) {
                turn.credit -= i64::from(kept.size);
                return Some(kept);
            }
            list.pop_front();
            // Otherwise a new queue that becomes empty and gets a packet at once would always be served first.
            if is_new && !self.old.is_empty() {
                self.old.push_back(number);
            } else {
                turn.listed = false;
            }
        }
    }
}

/// The queue, of `lines` in all, for the flow of a packet. The host and its occupant stand for addresses and ports. The keys
/// make different flows share a queue in different runs.
pub(in crate::network::queue) fn line_of(packet: &Packet, keys: [u64; 2], lines: usize) -> u32 {
    let mut hasher = SipHasher24::new_with_keys(keys[0], keys[1]);
    hasher.write_u64(u64::from(packet.endpoint) << 16 | u64::from(packet.generation));
    (hasher.finish() % lines as u64) as u32
}
