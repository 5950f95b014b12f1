//! The passage of a packet through a link with a recording of its capacity, or with
//! [`Conditions`](crate::network::channel::conditions::Conditions).

use crate::network::capacity::Transmitted;
use crate::network::channel::{Channel, Passage, sum};
use crate::network::gather::Gather;
use crate::network::loss::Cause;
use crate::network::middlebox::Rewrite;
use crate::network::packet::Packet;
use crate::network::queue::{Discipline, OnArrival};
use crate::network::token_bucket::policer::Colours;

impl Channel {
    /// [`Channel::enter`] for any link. Call [`Channel::attune`] first.
    pub(crate) fn enter_any(&mut self, now: u64, size: u32) -> Result<Passage, Cause> {
        if self.transmitter.is_none() && self.conditions.is_none() {
            return self.enter(now, size);
        }
        let size = size + self.framing;
        let start = self.starts(now.max(self.busy_until), size);
        // What a queue has kept has waited already.
        if now < start && self.kept.is_none() {
            self.wait_until(start, now, size)?;
        }
        if let Some(conditions) = &mut self.conditions {
            conditions.leaves(start, size);
        }
        let Transmitted { departure, free } = match &mut self.transmitter {
            Some(transmitter) => transmitter.transmit(start, size),
            None => {
                let departure = sum(start, self.transmission(start, size));
                Transmitted { departure, free: departure }
            }
        };
        self.busy_until = free;
        self.packets += 1;
        self.bytes += u64::from(size);
        let arrival = self.conditions.as_mut().and_then(|conditions| conditions.arrival(departure));
        Ok(Passage { start, arrival: arrival.unwrap_or_else(|| sum(departure, self.delay)) })
    }

    /// When the transmission of a packet of `size` bytes begins, if the transmitter is free at `free`.
    #[inline]
    fn starts(&mut self, free: u64, size: u32) -> u64 {
        let may_wait = self.conditions.as_ref().is_some_and(|conditions| conditions.may_be_closed());
        if may_wait { self.starts_when_open(free, size) } else { free }
    }

    /// The same for a link that may be down, or has a shaper.
    fn starts_when_open(&mut self, free: u64, size: u32) -> u64 {
        let Some(conditions) = &mut self.conditions else { return free };
        let mut start = free;
        loop {
            let opens = conditions.opens(start, size);
            if opens == start || opens == u64::MAX {
                return opens;
            }
            // Delivery opportunities that pass meanwhile are lost.
            start = self.transmitter.as_mut().map_or(opens, |transmitter| transmitter.attune(opens));
        }
    }

    /// Prepares for a packet at `now`. A link that follows a recording and was idle, or that is down, may not be free at
    /// once.
    pub(crate) fn attune(&mut self, now: u64) {
        if let Some(transmitter) = &mut self.transmitter
            && self.busy_until <= now
        {
            self.busy_until = transmitter.attune(now);
        }
        self.hold(now);
    }

    /// The transmitter is not free while the link is down.
    fn hold(&mut self, now: u64) {
        let free = now.max(self.busy_until);
        let opens = self.starts(free, 0);
        if opens > free {
            self.busy_until = opens;
        }
    }

    /// Whether the transmission of a stored packet could begin.
    pub(crate) fn is_open(&mut self, now: u64) -> bool {
        self.hold(now);
        self.is_free(now)
    }

    /// Whether packets may be marked or dropped on arrival.
    pub(crate) fn polices(&self) -> bool {
        self.conditions.as_ref().is_some_and(|conditions| conditions.polices())
    }

    /// The fate of a packet that arrives at `at`, before it enters the queue.
    pub(crate) fn police(&mut self, at: u64, packet: &Packet) -> OnArrival {
        let size = self.framed(packet.size);
        self.conditions.as_mut().map_or(OnArrival::Pass, |all| all.police(at, size, packet.segment.ecn))
    }

    /// Whether headers are rewritten here.
    pub(crate) fn has_middlebox(&self) -> bool {
        self.conditions.as_ref().is_some_and(|conditions| conditions.middlebox.is_some())
    }

    /// Rewrites the header of a packet that arrives at `at`. Returns `None` if the packet is dropped.
    pub(crate) fn rewrite(&mut self, at: u64, packet: &mut Packet) -> Option<Rewrite> {
        let middlebox = self.conditions.as_mut().and_then(|conditions| conditions.middlebox.as_mut());
        middlebox.map_or(Some(Rewrite::default()), |middlebox| middlebox.pass(at, packet))
    }

    /// The collector of packets before the queue, if there is one.
    pub(crate) fn gather(&mut self) -> Option<&mut Gather> {
        self.conditions.as_mut()?.gather.as_mut()
    }

    /// Whether the decision which packet leaves must be made at its time, as an event.
    pub(crate) fn gathers(&self) -> bool {
        self.conditions.as_ref().is_some_and(|conditions| conditions.gather.is_some())
    }

    /// The number of packets of each colour, if the link has a policer with colours.
    pub fn colours(&self) -> Option<Colours> {
        self.conditions.as_ref()?.colours()
    }

    /// Sets the size of the queue to its value at `now`.
    pub(crate) fn adjust(&mut self, now: u64) {
        if let Some(room) = self.conditions.as_mut().and_then(|conditions| conditions.room(now)) {
            self.discipline = Discipline::of(room);
        }
    }
}
