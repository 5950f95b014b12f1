//! One direction of a link: a FIFO queue, a transmitter, a propagation delay.
//!
//! The departure of a packet follows by arithmetic when it enters: it starts when the transmitter is free, and takes
//! `bits / rate`. Fractions of a picosecond are carried from packet to packet within a busy period, so that n packets
//! back to back occupy the link for exactly n · bits / rate, rounded down to picoseconds once. A departure
//! needs no event. The packets that wait at a given time are those whose transmission starts later.
//!
//! `conditions.rs` has the additional features of a link. `passing.rs` has the passage of packets through a link with such
//! features, or with a recording of its capacity. `counters.rs` has what it has counted.
//!
//! The channel stores packets in flight in order of arrival. Only the first of them is in the event queue.

pub(super) mod careful;
pub(super) mod conditions;
mod counters;
pub(super) mod direction;
pub(super) mod fans;
pub(super) mod kept;

use crate::network::capacity::{INFINITE, Transmitter};
use crate::network::channel::conditions::Conditions;
use crate::network::channel::direction::DirectionName;
use crate::network::impair::{Fate, Impairments};
use crate::network::loss::Cause;
use crate::network::packet::{Chain, Packet, Stage};
use crate::network::queue::ring::Ring;
use crate::network::queue::{
    Admission as _, Backlog, Discipline, Early, Keeper, Kept, Leaving, OnArrival, Origin, Passing, Red, Step,
};
use crate::network::route::hop::Hop;
use crate::network::schedule::Schedule;
use crate::random::Stream;
use crate::record::digest::Digest;
use crate::spec::{ChannelSpec, Duplex, QueueSpec};
use netspurt_tcp::time::{Span, Time};
use std::fmt::Display;
use std::hint::black_box;

mod passing;

pub use counters::ChannelCounters;

/// Bits of a byte times picoseconds of a second, to be divided by the rate.
const PER_BYTE: u64 = 8 * 1_000_000_000_000;

/// The largest packet for which `bits · 10^12` plus a remainder fits into 64 bits.
pub const MAX_PACKET: u32 = 1 << 20;

/// No fan.
pub(crate) const ALONE: u16 = u16::MAX;

/// No fan, but an inbox: a host takes its packets. All numbers from here on have a chain of their own.
pub(crate) const INBOX: u16 = u16::MAX - 1;

/// No fan, but a border channel into the first part of the network. Border channels into other parts have the numbers below.
pub(crate) const BORDER: u16 = u16::MAX - 2;

/// No fan, but a border channel that the first part of the network simulates itself. Those of other parts have the numbers below.
pub(crate) const BORDER_ELSEWHERE: u16 = BORDER - MAX_PARTS;

/// No fan: the channel leads to the first junction. Channels to other junctions have the numbers below.
pub(crate) const JUNCTION: u16 = BORDER_ELSEWHERE - MAX_PARTS;

/// The maximum number of junctions.
pub(crate) const MAX_JUNCTIONS: u16 = 64;

/// The highest number of a fan.
pub(crate) const LAST_FAN: u16 = JUNCTION - MAX_JUNCTIONS;

/// The maximum number of parts of a network.
pub(crate) const MAX_PARTS: u16 = 1024;

/// The times of a packet that was accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Passage {
    /// Its first bit leaves.
    pub start: u64,
    /// Its last bit arrives.
    pub arrival: u64,
}

/// One direction of a link.
///
/// The order of the fields is the order in which they are needed: a packet on an idle link reads the first
/// cache line, on a busy link the second, too. The size is a power of two, which makes the lookup by number fast.
#[derive(Debug)]
#[repr(C, align(256))]
pub struct Channel {
    /// The transmitter is free from this time on.
    busy_until: u64,
    // Not beside the bytes: a compiler that sees both counted at once does it by vectors, in thrice the instructions.
    packets: u64,
    delay: u64,
    bytes: u64,
    /// Latency of the host at the end, for packets that are addressed to it.
    pub(crate) end_latency: u64,
    /// Packets in flight whose next event is their arrival.
    pub(crate) in_flight: Chain,
    /// Picoseconds for each byte if that is a whole number of 32 bits; otherwise 0.
    ps_per_byte: u32,
    framing: u32,
    /// The maximum number of waiting packets so far.
    queue_max: u32,
    /// The fan that it belongs to, or [`ALONE`], or about [`BORDER`].
    pub(crate) fan: u16,
    plain: bool,
    /// Whether the last packet waited for the transmitter. If it did not, those in `waiting` have left.
    last_waited: bool,

    /// The start of transmission and the size of each waiting packet.
    waiting: Ring<(u64, u32)>,
    waiting_bytes: u64,
    discipline: Discipline,
    /// The sum of the waiting times of all packets in picoseconds.
    waited: u128,
    /// Bits per second; 0 stands for infinite.
    rate: u64,
    /// A fraction of a picosecond by which the transmitter is busy longer, in units of 1 / rate.
    remainder: u64,
    /// The other direction, if both share the medium.
    pub(crate) partner: Option<u32>,

    /// The queue that stores packets, if departures are not known on arrival.
    kept: Option<Box<Keeper>>,
    /// The AQM that marks or drops packets on arrival.
    early: Option<Box<Early>>,
    /// The transmitter, if its capacity follows a recording or changes.
    transmitter: Option<Box<Transmitter>>,
    /// Its additional features.
    conditions: Option<Box<Conditions>>,
    /// Shorter packets are padded to this many bytes.
    least: u32,
    /// Its hub and its number at that hub, if it is a station.
    pub(crate) station: Option<(u32, u32)>,

    pub(crate) impairments: Option<Box<Impairments>>,
    /// `None` until something happens.
    mishaps: Option<Box<Mishaps>>,
}

/// Counters of what happened to packets.
#[derive(Clone, Copy, Debug, Default)]
struct Mishaps {
    drops: [u64; Cause::ALL.len()],
    marked: u64,
    held: u64,
    doubled: u64,
    damaged: u64,
    /// Of the drops.
    digest: Digest,
}

impl Channel {
    /// The channel of `spec`. `name` is the name of the direction and of its random streams. It is formatted for each stream.
    pub fn new(spec: &ChannelSpec, seed: u64, name: impl Display) -> Self {
        let name: &dyn Display = &name;
        let impairments = Impairments::new(spec, seed, name).map(Box::new);
        let kept = Keeper::new(&spec.queue, seed, name).map(Box::new);
        let early = match spec.queue {
            QueueSpec::Red(red) => {
                let stream = Stream::new(seed, &format!("{name}/queue"));
                Some(Box::new(Early::Red(Red::new(red, spec.rate, stream))))
            }
            QueueSpec::Step(_, above) => Some(Box::new(Early::Step(Step { above }))),
            _ => None,
        };
        let discipline = Discipline::new(&spec.queue);
        let conditions = Conditions::new(spec, discipline.room(), (seed, name)).map(Box::new);
        let changing = || {
            let rates = Schedule::new(spec.rate.unwrap_or(INFINITE), &spec.changes.rate);
            (!spec.changes.rate.is_empty()).then(|| Transmitter::changing(rates))
        };
        let transmitter = spec.capacity.as_ref().map(|capacity| Transmitter::new(capacity)).or_else(changing);
        let exact = |rate| if PER_BYTE.is_multiple_of(rate) { PER_BYTE / rate } else { 0 };
        let ps_per_byte = spec.rate.and_then(|rate| u32::try_from(exact(rate)).ok()).unwrap_or(0);
        Self {
            busy_until: 0,
            packets: 0,
            delay: spec.delay.as_ps(),
            bytes: 0,
            end_latency: 0,
            in_flight: Chain::EMPTY,
            ps_per_byte,
            framing: spec.framing,
            queue_max: 0,
            fan: ALONE,
            plain: impairments.is_none()
                && kept.is_none()
                && early.is_none()
                && transmitter.is_none()
                && conditions.is_none()
                && spec.least == 0,
            last_waited: false,
            waiting: Ring::new(),
            waiting_bytes: 0,
            discipline,
            waited: 0,
            rate: spec.rate.unwrap_or(0),
            remainder: 0,
            partner: None,
            kept,
            early,
            transmitter: transmitter.map(Box::new),
            conditions,
            least: spec.least,
            station: None,
            impairments,
            mishaps: None,
        }
    }

    /// Both directions of a link. `numbers` are the numbers of the channels.
    pub(in crate::network) fn pair(
        spec: &crate::spec::LinkSpec,
        names: [DirectionName<'_>; 2],
        seed: u64,
        numbers: [u32; 2],
    ) -> [Self; 2] {
        let both = [0, 1].map(|i| Self::new(&spec.directions[i], seed, names[i]));
        // If either stores its packets, the two are stations of a medium instead; the owner of the channels joins them.
        let shared = spec.duplex == Duplex::Half && !both.iter().any(Self::keeps);
        let [there, back] = both;
        [(there, numbers[1]), (back, numbers[0])].map(|(mut channel, other)| {
            channel.partner = shared.then_some(other);
            channel.plain &= !shared;
            channel
        })
    }

    /// Makes this a station of a hub: the hub's medium decides when it sends.
    pub(crate) fn join(&mut self, hub: u32, station: u32) {
        self.kept.get_or_insert_with(|| Box::new(Keeper::fifo())).open();
        self.station = Some((hub, station));
        self.plain = false;
    }

    /// A packet of `size` bytes enters the link at `now`, not before the previous packet. If the link stores its packets, the
    /// packet enters when the queue releases it.
    #[inline(always)]
    pub fn enter(&mut self, now: u64, size: u32) -> Result<Passage, Cause> {
        self.enter_by::<false>(now, size)
    }

    /// The same; without a call where packets wait often, in a `CROWD`.
    #[inline(always)]
    pub(crate) fn enter_by<const CROWD: bool>(&mut self, now: u64, size: u32) -> Result<Passage, Cause> {
        let size = size + self.framing;
        let mut start = now;
        if now < self.busy_until {
            if CROWD {
                self.wait_until(self.busy_until, now, size)?;
            } else {
                self.wait(now, size)?;
            }
            start = self.busy_until;
        } else {
            self.last_waited = false;
        }
        let transmission = match self.ps_per_byte {
            0 => self.transmission(now, size),
            exact => u64::from(exact) * u64::from(size),
        };
        let departure = sum(start, transmission);
        self.busy_until = departure;
        self.packets += 1;
        self.bytes += u64::from(size);
        Ok(Passage { start, arrival: sum(departure, self.delay) })
    }

    /// The transmitter is busy: the packet waits if the queue accepts it.
    #[inline(never)]
    fn wait(&mut self, now: u64, size: u32) -> Result<(), Cause> {
        self.wait_until(self.busy_until, now, size)
    }

    /// The same for a packet whose transmission starts at `start`.
    #[inline(always)]
    fn wait_until(&mut self, start: u64, now: u64, size: u32) -> Result<(), Cause> {
        if self.last_waited {
            self.settle(now);
        } else {
            // Without a look at the ring, which would be one more cache line.
            self.waiting.clear();
            self.waiting_bytes = 0;
        }
        if !self.discipline.admits(self.ahead(), size) {
            return Err(Cause::Queue);
        }
        self.last_waited = true;
        self.waiting.push_back((start, size));
        self.waiting_bytes += u64::from(size);
        self.waited += u128::from(start - now);
        self.queue_max = self.queue_max.max(self.waiting.len());
        Ok(())
    }

    /// Picoseconds for `size` bytes that enter at `now`. A fraction is added to the remainder.
    #[cold]
    const fn transmission(&mut self, now: u64, size: u32) -> u64 {
        if self.rate == 0 {
            return 0;
        }
        let carried = if now > self.busy_until { 0 } else { self.remainder };
        let work = size as u64 * PER_BYTE + carried;
        self.remainder = work % self.rate;
        work / self.rate
    }

    /// Bytes of a packet without framing, padded if it is too short.
    pub(crate) fn filled(&self, size: u32) -> u32 {
        size.max(self.least)
    }

    /// Bytes that a packet of `size` bytes has on this link.
    pub(crate) fn framed(&self, size: u32) -> u32 {
        self.filled(size) + self.framing
    }

    /// Removes waiting packets whose transmission has started by `now`.
    #[inline]
    fn settle(&mut self, now: u64) {
        while let Some((start, size)) = self.waiting.front()
            && start <= now
        {
            self.waiting.drop_front();
            self.waiting_bytes -= u64::from(size);
        }
    }

    /// The same one at a time, for a probe: the start of the next packet that began by `now`.
    pub(crate) fn settle_one(&mut self, now: u64) -> Option<u64> {
        let (start, size) = self.waiting.front().filter(|(start, _)| *start <= now)?;
        self.waiting.pop_front();
        self.waiting_bytes -= u64::from(size);
        Some(start)
    }

    /// The backlog at the time of the last call with a time.
    pub fn backlog(&self) -> Backlog {
        self.kept.as_ref().map_or_else(|| self.ahead(), |kept| kept.backlog())
    }

    /// The backlog at `now`, which need not be the time of a packet.
    pub fn backlog_at(&self, now: Time) -> Backlog {
        if self.kept.is_some() {
            return self.backlog();
        }
        let entries = (0..self.waiting.len()).map(|index| self.waiting.get(index));
        let later = entries.skip_while(|(start, _)| *start <= now.as_ps());
        later.fold(Backlog::default(), |sum, (_, size)| Backlog {
            packets: sum.packets + 1,
            bytes: sum.bytes + u64::from(size),
        })
    }

    /// The same for a queue in order of arrival.
    const fn ahead(&self) -> Backlog {
        Backlog { packets: self.waiting.len(), bytes: self.waiting_bytes }
    }

    /// Whether this channel stores its packets.
    #[inline]
    pub(crate) const fn keeps(&self) -> bool {
        self.kept.is_some()
    }

    /// Whether an AQM marks or drops packets on arrival.
    pub(crate) const fn detects_early(&self) -> bool {
        self.early.is_some()
    }

    /// How long the transmitter has been idle with an empty queue.
    pub(crate) fn idle(&mut self, now: u64) -> Option<Span> {
        self.settle(now);
        let free = self.busy_until <= now && self.backlog().packets == 0;
        free.then(|| Span::from_ps(now - self.busy_until))
    }

    /// The verdict of the AQM on a packet that arrives when the transmitter has been idle for `idle`. A packet for which the
    /// queue has no room is dropped without a mark.
    pub(crate) fn judge_early(&mut self, idle: Option<Span>, packet: &Packet) -> OnArrival {
        let (backlog, size) = (self.backlog(), self.framed(packet.size));
        let Some(early) = &mut self.early else { return OnArrival::Pass };
        match early.judge(backlog, idle, packet.segment.ecn) {
            OnArrival::Mark if idle.is_none() && !self.discipline.admits(backlog, size) => OnArrival::Pass,
            verdict => verdict,
        }
    }

    /// Whether the queue needs the source, destination and class of packets.
    pub(crate) fn classifies(&self) -> bool {
        self.kept.as_ref().is_some_and(|kept| kept.classifies())
    }

    /// The queue entry of the packet with the place `slot` at this position of its route.
    pub(crate) fn waiting_for(&self, now: u64, (slot, position): (u32, u32), packet: &Packet) -> Kept {
        let (size, ecn) = (self.framed(packet.size), packet.segment.ecn);
        Kept { slot, position, size, since: now, ecn, origin: Origin::default() }
    }

    /// A packet arrives at a link that stores its packets, with an empty queue and a free transmitter.
    pub(crate) fn pass_by(&mut self, kept: Kept, packet: &Packet) -> Passing {
        self.kept.as_mut().map_or(Passing::Sent(kept), |keeper| keeper.pass_by(kept, packet))
    }

    /// A packet arrives at a link that stores its packets, and waits if it is accepted. Call [`Channel::overflow`] afterwards.
    pub(crate) fn keep(&mut self, kept: Kept, packet: &Packet) -> Result<(), Cause> {
        let Some(keeper) = &mut self.kept else { return Ok(()) };
        if !self.discipline.admits(keeper.backlog(), kept.size) {
            return Err(Cause::Queue);
        }
        keeper.push(kept, packet);
        Ok(())
    }

    /// The next stored packet that is dropped to make room for the last arrival.
    pub(crate) fn overflow(&mut self, now: u64) -> Option<Leaving> {
        self.kept.as_mut()?.overflow(now)
    }

    /// The next stored packet that leaves: to [`Channel::enter`] at `now`, or dropped.
    pub(crate) fn let_go(&mut self, now: u64) -> Option<Leaving> {
        self.kept.as_mut()?.pop(now)
    }

    /// Whether a transmission could start.
    pub(crate) const fn is_free(&self, now: u64) -> bool {
        self.busy_until <= now
    }

    /// When the next stored packet leaves, if the event queue has no event for it yet.
    pub(crate) fn next_departure(&mut self) -> Option<u64> {
        self.kept.as_mut()?.next_departure(self.busy_until)
    }

    /// When the transmitter is free, and the additional fraction of a picosecond in units of 1 / rate.
    pub const fn occupied(&self) -> (Time, u64) {
        (Time::from_ps(self.busy_until), self.remainder)
    }

    /// The same after a gap of this many bytes.
    pub(crate) fn occupied_after(&self, octets: u32) -> (Time, u64) {
        if self.rate == 0 {
            return self.occupied();
        }
        let work = u64::from(octets) * PER_BYTE + self.remainder;
        (Time::from_ps(self.busy_until.saturating_add(work / self.rate)), work % self.rate)
    }

    /// Sets the state of a shared medium.
    pub(crate) const fn share(&mut self, (busy_until, remainder): (Time, u64)) {
        self.busy_until = busy_until.as_ps();
        self.remainder = remainder;
    }

    /// Counts a lost packet.
    #[cold]
    pub(crate) fn count_drop(&mut self, now: u64, size: u32, cause: Cause) {
        let mishaps = self.mishaps.get_or_insert_default();
        mishaps.drops[cause as usize] += 1;
        mishaps.digest.fold(now);
        mishaps.digest.fold(u64::from(size) << 8 | cause as u64);
    }

    /// Counts a marked packet.
    #[cold]
    pub(crate) fn count_mark(&mut self, now: u64, size: u32) {
        let mishaps = self.mishaps.get_or_insert_default();
        mishaps.marked += 1;
        mishaps.digest.fold(now);
        mishaps.digest.fold(u64::from(size) << 8 | 0xFF);
    }

    /// Counts the impairments of a packet that arrives.
    pub(crate) fn count_fate(&mut self, fate: Fate) {
        let mishaps = self.mishaps.get_or_insert_default();
        mishaps.held += u64::from(fate.held > 0);
        mishaps.doubled += u64::from(fate.doubled);
        mishaps.damaged += u64::from(fate.damaged);
    }

    /// The next step of a packet that reaches the end of this hop at `arrival`, and its time: the next hop, as in `stage`, or
    /// a host with its latency.
    #[inline]
    pub(crate) fn behind(&self, hop: Hop, arrival: u64, stage: Stage) -> (u64, Stage) {
        if hop.is_last() {
            (sum(arrival, self.end_latency), Stage { onward: stage.onward | Stage::DELIVERY, ..stage })
        } else {
            (arrival, stage)
        }
    }

    /// The hash of the dropped packets.
    pub(crate) fn digest(&self) -> Digest {
        self.mishaps().digest
    }

    /// Whether packets may be reordered here.
    pub(crate) fn reorders(&self) -> bool {
        self.impairments.as_ref().is_some_and(|impairments| impairments.reorders())
            || self.conditions.as_ref().is_some_and(|conditions| conditions.reorders())
    }

    /// The parameters that determine arrivals at the end of this channel from arrivals at its start, if it may share a chain
    /// with other channels: its packets must never be reordered.
    pub(crate) fn pace(&self) -> Option<(u64, u64)> {
        let is_steady = self.plain && self.ps_per_byte > 0 && self.end_latency == 0;
        is_steady.then_some((u64::from(self.ps_per_byte), self.delay))
    }

    /// The least time from the entry of a packet to its arrival, if the channel is plain.
    pub(crate) const fn lookahead(&self) -> u64 {
        self.delay
    }

    /// Prefetches the data for an arriving packet.
    #[inline]
    pub(crate) fn fetch(&self) {
        black_box(self.busy_until);
    }

    /// Loads what a packet needs that waits in its queue, too.
    #[inline]
    pub(crate) fn fetch_all(&self) {
        black_box(self.busy_until ^ self.waiting_bytes);
    }

    /// Whether the passage consists only of queue, transmission and delay.
    #[inline]
    pub(crate) const fn is_plain(&self) -> bool {
        self.plain
    }

    /// Requests the full path for every packet.
    pub(crate) const fn watch(&mut self) {
        self.plain = false;
    }

    /// Makes this a border channel into the part with this number. If that part simulates it, packets do not enter it here.
    pub(crate) const fn lead_into(&mut self, part: u16, is_simulated_there: bool) {
        self.fan = if is_simulated_there { BORDER_ELSEWHERE } else { BORDER } - part;
        self.plain &= !is_simulated_there;
    }

    /// Whether another part of the network simulates this channel.
    pub(crate) const fn is_elsewhere(&self) -> bool {
        self.fan > JUNCTION && self.fan <= BORDER_ELSEWHERE
    }

    /// Whether the channel has infinite rate and no delay.
    pub(crate) const fn is_instant(&self) -> bool {
        self.rate == 0 && (self.delay == 0 || self.conditions.is_some())
    }
}

/// The sum of a time and a duration; at most [`u64::MAX`], which means never.
#[inline]
fn sum(time: u64, span: u64) -> u64 {
    time.checked_add(span).unwrap_or_else(never)
}

/// Not inlined, to keep the usual sum fast.
#[cold]
#[inline(never)]
const fn never() -> u64 {
    u64::MAX
}
