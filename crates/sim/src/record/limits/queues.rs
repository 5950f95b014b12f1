//! Records when the packets of a direction waited, and when links were busy.

use super::direction::Direction;
use std::collections::{BTreeMap, BTreeSet};

/// A period in picoseconds: begin and end.
pub(super) type Interval = (u64, u64);

/// A link that transmitted for this share of a round trip is full: no change of TCP would gain more than the rest.
const BUSY: f64 = 0.95;

/// Periods in order of time; touching ones are merged.
#[derive(Debug, Default)]
struct Union(Vec<Interval>);

impl Union {
    fn add(&mut self, from: u64, until: u64) {
        match self.0.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(until),
            _ if from < until => self.0.push((from, until)),
            _ => {}
        }
    }

    /// How much of `from` to `until` they cover.
    fn covered(&self, from: u64, until: u64) -> u64 {
        let first = self.0.partition_point(|interval| interval.1 <= from);
        let inside = self.0[first..].iter().take_while(|interval| interval.0 < until);
        inside.map(|interval| interval.1.min(until) - interval.0.max(from)).sum()
    }
}

/// The log of one channel.
#[derive(Debug, Default)]
struct Carried {
    busy: Union,
    /// When packets waited for the shaper of the channel: its tokens were used up.
    held: Union,
    /// For each packet: when it left, its direction, and its bytes.
    packets: Vec<(u64, Direction, u32)>,
}

impl Carried {
    /// Whether the link transmitted, or its shaper delayed packets, for [`BUSY`] of this time.
    fn is_busy(&self, from: u64, until: u64) -> bool {
        [&self.busy, &self.held].iter().any(|union| share(union, from, until) >= BUSY)
    }

    /// The bytes that passed in this time.
    fn passed(&self, from: u64, until: u64) -> u64 {
        let first = self.packets.partition_point(|packet| packet.0 < from);
        let within = self.packets[first..].iter().take_while(|packet| packet.0 < until);
        within.map(|packet| u64::from(packet.2)).sum()
    }

    /// Whether a shaper delayed packets for [`BUSY`] of this time while the link itself was free.
    fn is_shaped(&self, from: u64, until: u64) -> bool {
        share(&self.held, from, until) >= BUSY && share(&self.busy, from, until) < BUSY
    }
}

fn share(union: &Union, from: u64, until: u64) -> f64 {
    union.covered(from, until) as f64 / (until - from).max(1) as f64
}

/// The log of all channels.
#[derive(Debug, Default)]
pub(super) struct Queues {
    channels: BTreeMap<u32, Carried>,
    waits: BTreeMap<(Direction, u32), Union>,
    /// The number of packets in a queue, and when it last became non-empty.
    kept: BTreeMap<(Direction, u32), (u64, u64)>,
    shaped: BTreeSet<u32>,
    policed: BTreeMap<u32, u64>,
}

impl Queues {
    /// Notes that a channel has a shaper.
    pub(super) fn set_shaped(&mut self, channel: u32) {
        self.shaped.insert(channel);
    }

    /// Notes that a policer of a channel drops what exceeds this rate, in bits per second.
    pub(super) fn set_policed(&mut self, channel: u32, rate: u64) {
        self.policed.insert(channel, rate);
    }

    pub(super) fn waited(&mut self, channel: u32, direction: Direction, from: u64, until: u64) {
        if from < until {
            self.waits.entry((direction, channel)).or_default().add(from, until);
            if self.shaped.contains(&channel) {
                self.channels.entry(channel).or_default().held.add(from, until);
            }
        }
    }

    pub(super) fn kept(&mut self, channel: u32, direction: Direction, now: u64) {
        let (count, since) = self.kept.entry((direction, channel)).or_default();
        if *count == 0 {
            *since = now;
        }
        *count += 1;
    }

    pub(super) fn left(&mut self, channel: u32, direction: Direction, now: u64) {
        let Some((count, since)) = self.kept.get_mut(&(direction, channel)) else { return };
        *count = count.saturating_sub(1);
        if *count == 0 {
            let since = *since;
            self.waited(channel, direction, since, now);
        }
    }

    pub(super) fn transmits(&mut self, channel: u32, of: Direction, octets: u32, from: u64, until: u64) {
        let carried = self.channels.entry(channel).or_default();
        carried.busy.add(from, until);
        carried.packets.push((from, of, octets));
    }

    /// At the end of the run. Packets that are still in a queue have waited until the link last transmitted.
    pub(super) fn finish(mut self) -> Full {
        for ((direction, channel), (count, since)) in core::mem::take(&mut self.kept) {
            let busy = self.channels.get(&channel).and_then(|carried| carried.busy.0.last());
            if let Some(&(_, until)) = busy.filter(|_| count > 0) {
                self.waited(channel, direction, since, until);
            }
        }
        let Self { channels, waits, policed, .. } = self;
        let mut all: BTreeMap<Direction, Vec<(u32, Vec<Interval>)>> = BTreeMap::new();
        for ((direction, channel), union) in waits {
            all.entry(direction).or_default().push((channel, union.0));
        }
        let packets = channels
            .iter()
            .flat_map(|(&channel, of)| of.packets.iter().map(move |packet| (packet.1, channel)));
        let used = packets.collect();
        Full { channels, used, waits: all, policed }
    }
}

/// The periods in which links were full.
#[derive(Debug)]
pub(super) struct Full {
    channels: BTreeMap<u32, Carried>,
    /// The channels through which packets of each direction passed. There may be thousands of directions.
    used: BTreeSet<(Direction, u32)>,
    waits: BTreeMap<Direction, Vec<(u32, Vec<Interval>)>>,
    policed: BTreeMap<u32, u64>,
}

impl Full {
    /// The periods in which a link was full for `direction`, in order of time and of link, each with its link. In such a
    /// period the link was busy for [`BUSY`] of the last `round`, and a packet of the direction waited there. Time advances
    /// in steps of a quarter of a round.
    pub(super) fn of(&self, direction: Direction, round: u64) -> Vec<(u64, u64, u32)> {
        let step = round / 4;
        let mut full: Vec<(u64, u64, u32)> = Vec::new();
        if step == 0 {
            return full;
        }
        for (channel, waits) in self.waits.get(&direction).into_iter().flatten() {
            let Some(carried) = self.channels.get(channel) else { continue };
            let mut done = 0;
            for &(from, until) in waits {
                let mut at = from.max(done) / step * step;
                while at < until.saturating_add(round) {
                    let end = at + step;
                    if end >= round && carried.is_busy(end - round, end) {
                        match full.last_mut() {
                            Some(last) if last.1 == at && last.2 == *channel => last.1 = end,
                            _ => full.push((at, end, *channel)),
                        }
                    }
                    at = end;
                }
                done = done.max(at);
            }
        }
        full.sort_unstable();
        full
    }

    /// Whether the shaper of a channel, and not the channel's own rate, delayed packets from `from` to `until`.
    pub(super) fn is_shaped(&self, channel: u32, from: u64, until: u64) -> bool {
        self.channels.get(&channel).is_some_and(|carried| carried.is_shaped(from, until))
    }

    /// The channels that carried packets of `direction`.
    pub(super) fn channels_of(&self, direction: Direction) -> Vec<u32> {
        self.used.range((direction, 0)..=(direction, u32::MAX)).map(|&(_, channel)| channel).collect()
    }

    /// Whether a channel was busy from `from` to `until`.
    pub(super) fn is_busy(&self, channel: u32, from: u64, until: u64) -> bool {
        self.channels.get(&channel).is_some_and(|carried| carried.is_busy(from, until))
    }

    /// Whether a packet of `direction` passed through a channel.
    pub(super) fn uses(&self, channel: u32, direction: Direction) -> bool {
        self.used.contains(&(direction, channel))
    }

    /// Whether a channel carried as much from `from` to `until` as its policer permits, or nearly. All flows count: they share its
    /// tokens.
    pub(super) fn is_policed(&self, channel: u32, from: u64, until: u64) -> bool {
        let (Some(&rate), Some(carried)) = (self.policed.get(&channel), self.channels.get(&channel)) else {
            return false;
        };
        let permitted = rate as f64 / 8.0 * (until - from) as f64 / 1e12;
        carried.passed(from, until) as f64 >= BUSY * permitted
    }

    /// The share of `direction` in the bytes that a channel carried from `from` to `until`.
    pub(super) fn share(&self, channel: u32, direction: Direction, from: u64, until: u64) -> f64 {
        let Some(carried) = self.channels.get(&channel) else { return 1.0 };
        let first = carried.packets.partition_point(|packet| packet.0 < from);
        let (mut own, mut all) = (0_u64, 0_u64);
        for &(_, of, octets) in carried.packets[first..].iter().take_while(|packet| packet.0 < until) {
            all += u64::from(octets);
            own += if of == direction { u64::from(octets) } else { 0 };
        }
        if all == 0 { 1.0 } else { own as f64 / all as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::end::End;

    const ONE: Direction = Direction { flow: 0, connection: 0, end: End::Client };
    const OTHER: Direction = Direction { flow: 1, ..ONE };

    #[test]
    fn a_link_is_full_once_it_was_busy_for_a_round_trip_while_a_packet_waits() {
        let mut queues = Queues::default();
        queues.transmits(3, ONE, 100, 0, 60);
        queues.transmits(3, OTHER, 300, 60, 100);
        queues.transmits(3, ONE, 100, 110, 120);
        queues.waited(3, ONE, 5, 90);
        queues.waited(3, ONE, 112, 118);
        let full = queues.finish();
        assert_eq!(full.of(ONE, 40), [(30, 100, 3)]);
        assert_eq!(full.of(OTHER, 40), []);
        assert!((full.share(3, ONE, 0, 100) - 0.25).abs() < 1e-12);
    }

    #[test]
    fn a_shaper_fills_a_link_that_is_mostly_idle() {
        let mut queues = Queues::default();
        queues.set_shaped(3);
        for n in 0..20 {
            queues.waited(3, ONE, n * 10, n * 10 + 10);
            queues.transmits(3, ONE, 100, n * 10 + 10, n * 10 + 11);
        }
        let full = queues.finish();
        assert_eq!(full.of(ONE, 40), [(30, 200, 3)]);
        assert!(full.is_shaped(3, 60, 100));
        assert!(!full.is_shaped(3, 300, 340));
        assert!(full.uses(3, ONE) && !full.uses(3, OTHER));
        assert_eq!((full.channels_of(ONE), full.channels_of(OTHER)), (vec![3], vec![]));
    }

    #[test]
    fn a_packet_that_is_kept_waits_until_the_last_one_has_left() {
        let mut queues = Queues::default();
        queues.transmits(1, ONE, 100, 0, 100);
        queues.kept(1, ONE, 10);
        queues.kept(1, ONE, 20);
        queues.left(1, ONE, 30);
        queues.left(1, ONE, 70);
        let full = queues.finish().of(ONE, 4);
        assert_eq!(full, [(10, 74, 1)]);
    }

    #[test]
    fn packets_that_are_never_without_another_in_the_queue_wait_until_the_end() {
        let mut queues = Queues::default();
        for n in 0..10 {
            queues.kept(1, ONE, n * 10);
            queues.transmits(1, ONE, 100, n * 10, n * 10 + 10);
            if n > 0 {
                queues.left(1, ONE, n * 10);
            }
        }
        assert_eq!(queues.finish().of(ONE, 40), [(30, 100, 1)]);
    }
}
