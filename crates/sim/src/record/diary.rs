//! What happened to packets in the network, for a driver that keeps more about them: their bytes, or a capture at a router.

use crate::network::impair::Fate;
use crate::network::middlebox::Rewrite;
use crate::network::packet::Packet;
use netspurt_tcp::segment::Ecn;
use netspurt_tcp::time::Time;

/// What happened to a packet, in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// It was duplicated. The copy may use the index of an earlier packet.
    Doubled {
        /// Its index.
        original: u32,
        /// The index of the copy.
        twin: u32,
    },
    /// It passes through a channel that is watched.
    Passed(Pass),
    /// A middlebox has changed its header.
    Rewritten {
        /// Its index.
        slot: u32,
        /// The change.
        rewrite: Rewrite,
    },
    /// It was too long for a channel, and its sender gets a message with the packet's index.
    Returned {
        /// Its index.
        slot: u32,
        /// The MTU of the channel.
        mtu: u32,
    },
}

/// A packet in a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pass {
    /// Its index.
    pub slot: u32,
    /// The channel.
    pub channel: u32,
    /// When its first bit leaves.
    pub leaves: Time,
    /// When its last one arrives; `None` if it is lost.
    pub arrives: Option<Time>,
    /// The packet as it enters.
    pub ecn: Ecn,
    /// Whether it was damaged before.
    pub corrupted: bool,
    /// Whether it is damaged here.
    pub damaged: bool,
    /// Whether it is duplicated here.
    pub doubled: bool,
}

/// What is recorded.
#[derive(Debug, Default)]
pub(crate) struct Diary {
    steps: Vec<Step>,
    /// For each channel, whether it is watched; a channel without an entry is not.
    watched: Vec<bool>,
}

impl Diary {
    /// Watches a channel.
    pub(crate) fn watch(&mut self, channel: u32) {
        let place = channel as usize;
        self.watched.resize(self.watched.len().max(place + 1), false);
        self.watched[place] = true;
    }

    pub(crate) fn note(&mut self, step: Step) {
        self.steps.push(step);
    }

    /// Everything recorded since the last call.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = Step> {
        self.steps.drain(..)
    }

    /// A packet passes through a channel: the times at which it enters and leaves, and what happens to it there.
    pub(crate) fn passes(&mut self, channel: u32, slot: u32, packet: &Packet, times: [u64; 2], fate: &Fate) {
        if self.watched.get(channel as usize) == Some(&true) {
            let [leaves, arrives] = times.map(Time::from_ps);
            self.steps.push(Step::Passed(Pass {
                slot,
                channel,
                leaves,
                arrives: fate.lost.is_none().then_some(arrives),
                ecn: packet.segment.ecn,
                corrupted: packet.content.is_damaged(),
                damaged: fate.damaged,
                doubled: fate.doubled,
            }));
        }
    }
}
