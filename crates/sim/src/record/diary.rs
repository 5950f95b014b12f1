//! What became of packets on their way, for a driver that keeps something beside them: bytes, or a capture at a router.

use crate::network::impair::Fate;
use crate::network::middlebox::Rewrite;
use crate::network::packet::Packet;
use netspurt_tcp::segment::Ecn;
use netspurt_tcp::time::Time;

/// What became of a packet on its way, in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// It was doubled. The place of the double may be that of an earlier original.
    Doubled {
        /// Its place.
        original: u32,
        /// The double's.
        twin: u32,
    },
    /// It goes through a channel that is watched.
    Passed(Pass),
    /// A middlebox has changed its header.
    Rewritten {
        /// Its place.
        slot: u32,
        /// How.
        rewrite: Rewrite,
    },
    /// It was too long for a channel, and its sender is told: what is on its way back in its place is the message.
    Returned {
        /// Its place.
        slot: u32,
        /// The longest packet that the channel takes.
        mtu: u32,
    },
}

/// A packet in a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pass {
    /// Its place.
    pub slot: u32,
    /// The channel.
    pub channel: u32,
    /// When its first bit leaves.
    pub leaves: Time,
    /// When its last one arrives; `None` if it is lost.
    pub arrives: Option<Time>,
    /// As it enters.
    pub ecn: Ecn,
    /// Whether it was damaged before.
    pub corrupted: bool,
    /// Whether it is damaged here.
    pub damaged: bool,
    /// Whether it is doubled here.
    pub doubled: bool,
}

/// What is written down.
#[derive(Debug, Default)]
pub(crate) struct Diary {
    steps: Vec<Step>,
    /// For each channel whether passages are of interest; of those beyond, none is.
    watched: Vec<bool>,
}

impl Diary {
    /// Passages through a channel are of interest.
    pub(crate) fn watch(&mut self, channel: u32) {
        let place = channel as usize;
        self.watched.resize(self.watched.len().max(place + 1), false);
        self.watched[place] = true;
    }

    pub(crate) fn note(&mut self, step: Step) {
        self.steps.push(step);
    }

    /// All that was written down since this was last asked.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = Step> {
        self.steps.drain(..)
    }

    /// A packet goes through a channel, from when to when, and what becomes of it there.
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
