//! CAKE (Høiland-Jørgensen, Täht and Morton, "Piece of CAKE", 2018; Linux, `sch_cake.c`): a shaper, tins by codepoint, and
//! in each
//! tin one queue for each flow, which COBALT controls.
//!
//! The shaper permits no burst: a packet leaves when the one before has been transmitted at the bandwidth, counted in bytes on
//! the wire. Among the tins that are within their share, the one with the highest number is served. If none is, the one
//! that will be
//! so first is served. Without a bandwidth the tins are served in turn.

mod ack_filter;
mod cobalt;
mod diffserv;
mod overhead;
mod tin;

use crate::network::loss::Cause;
use crate::network::packet::Packet;
use crate::network::queue::Room;
use crate::network::queue::admission::Backlog;
use crate::network::queue::order::{Kept, Leaving, Order, Outbox};
use crate::random::Stream;
use crate::spec::{AckFilter, CakeSpec};
use ack_filter::Ack;
use cobalt::Law;
use core::hash::Hasher as _;
use diffserv::{Share, shares, tin_of};
use overhead::on_the_wire;
use siphasher::sip::SipHasher24;
use tin::{Hashes, Item, Tin};

/// Picoseconds in a second times bits in a byte.
const PER_BYTE: u128 = 8 * 1_000_000_000_000;
/// The largest Ethernet frame.
const MTU: u32 = 1514;

/// The tins, behind a shaper.
#[derive(Debug)]
pub(in crate::network::queue) struct Cake {
    spec: CakeSpec,
    /// Bits per second; `None` if the link decides when packets leave.
    rate: Option<u64>,
    shares: Vec<Share>,
    tins: Vec<Tin>,
    /// The tin that is served, where no rate is set.
    turn: usize,
    backlog: Backlog,
    /// When the next packet may leave, and the additional fraction of a picosecond in units of 1 / rate.
    time_next: u64,
    remainder: u128,
    keys: [u64; 2],
    stream: Stream,
}

impl Cake {
    pub(in crate::network::queue) fn new(spec: CakeSpec, mut stream: Stream) -> Self {
        let shares = shares(spec.diffserv);
        let tins = shares.iter().map(|share| {
            let rate =
                spec.bandwidth.map(|rate| rate as u128 * u128::from(share.rate.0) / u128::from(share.rate.1));
            // What is sent in about 2 ms, but between 300 bytes and one frame.
            let quantum = rate.map_or(MTU, |rate| (rate / 8 / 4096).clamp(300, u128::from(MTU)) as u32);
            Tin::new(spec.isolation, law(&spec, rate), quantum)
        });
        Self {
            spec,
            rate: spec.bandwidth,
            tins: tins.collect(),
            shares,
            turn: 0,
            backlog: Backlog::default(),
            time_next: 0,
            remainder: 0,
            keys: [stream.bits(), stream.bits()],
            stream,
        }
    }

    fn hash(&self, what: u64, of: u64) -> u64 {
        let mut hasher = SipHasher24::new_with_keys(self.keys[0], self.keys[1]);
        hasher.write_u64(what);
        hasher.write_u64(of);
        hasher.finish()
    }

    fn hashes(&self, kept: &Kept, packet: &Packet) -> Hashes {
        let flow = u64::from(packet.endpoint) << 16 | u64::from(packet.generation);
        let hosts = [kept.origin.from, kept.origin.to].map(u64::from);
        Hashes { flow: self.hash(0, flow), hosts: [self.hash(1, hosts[0]), self.hash(2, hosts[1])] }
    }

    fn forget(&mut self, kept: &Kept) {
        self.backlog.packets -= 1;
        self.backlog.bytes -= u64::from(kept.size);
    }

    /// Drops the first packet of the flow with the most bytes in any tin.
    fn make_room(&mut self, now: u64, out: &mut Outbox) {
        let fattest =
            self.tins.iter().enumerate().filter_map(|(tin, flows)| Some((flows.fattest()?, tin))).max();
        let Some(((_, place), tin)) = fattest else { return };
        if let Some(item) = self.tins[tin].overflow(place, now) {
            self.forget(&item.kept);
            out.push_back(Leaving::Dropped(item.kept, Cause::Queue));
        }
    }

    /// The tin that is served next. At least one tin has a packet.
    fn next_tin(&mut self, now: u64) -> usize {
        if self.rate.is_none() {
            // Within a few rounds each tin with packets has paid its deficit.
            while self.tins[self.turn].deficit < 0 || self.tins[self.turn].packets == 0 {
                let tin = &mut self.tins[self.turn];
                if tin.deficit <= 0 {
                    tin.deficit += i64::from(self.shares[self.turn].quantum);
                }
                self.turn = (self.turn + 1) % self.tins.len();
            }
            return self.turn;
        }
        let waiting = self.tins.iter().enumerate().filter(|(_, tin)| tin.packets > 0);
        let key = |(number, tin): &(usize, &Tin)| {
            let late = tin.time_next.saturating_sub(now);
            (core::cmp::Reverse(late), *number)
        };
        waiting.max_by_key(key).map_or(0, |(number, _)| number)
    }

    /// A packet leaves a tin: accounts for the time that it takes on the link.
    fn charge(&mut self, tin: usize, wire: u32, now: u64) {
        self.tins[tin].deficit -= i64::from(wire);
        let Some(rate) = self.rate else { return };
        let rate = u128::from(rate.max(1));
        let Share { rate: (numerator, denominator), .. } = self.shares[tin];
        let span = u128::from(wire) * PER_BYTE;
        let own = span * u128::from(denominator) / (rate * u128::from(numerator));
        let own = u64::try_from(own).unwrap_or(u64::MAX);
        let next = &mut self.tins[tin].time_next;
        if *next < now {
            *next = next.saturating_add(own);
        } else {
            // A tin that exceeds its share has a deficit of at most this packet.
            *next = (*next).max(now.saturating_add(own));
        }
        let work = span + self.remainder;
        self.remainder = work % rate;
        self.time_next = self.time_next.saturating_add(u64::try_from(work / rate).unwrap_or(u64::MAX));
    }
}

/// COBALT's parameters at a rate: on a slow link a single packet takes longer than the usual target.
fn law(spec: &CakeSpec, rate: Option<u128>) -> Law {
    let interval = spec.rtt.as_ps();
    let target = interval / 20;
    let time = rate.map_or(0, |rate| u128::from(MTU) * PER_BYTE / rate.max(512));
    let mtu_time = u64::try_from(time).unwrap_or(u64::MAX / 8).min(u64::MAX / 8);
    let longer = target.max(mtu_time / 2 * 3);
    Law { interval: (interval + (longer - target)).max(2 * longer), target: longer, mtu_time }
}

impl Order for Cake {
    fn push(&mut self, kept: Kept, packet: &Packet, out: &mut Outbox) {
        let now = kept.since;
        let number = tin_of(self.spec.diffserv, kept.origin.dscp);
        let hashes = self.hashes(&kept, packet);
        let tin = &mut self.tins[number];
        if tin.packets == 0 {
            tin.time_next = tin.time_next.max(now);
        }
        if self.backlog.packets == 0 && self.time_next < now {
            (self.time_next, self.remainder) = (now, 0);
        }
        let filters = self.spec.ack_filter != AckFilter::Off;
        let ack = if filters { Ack::of(packet).map(Box::new) } else { None };
        let item = Item { kept, wire: on_the_wire(&self.spec, packet.size), ack };
        let place = tin.push(item, hashes, &mut self.stream);
        self.backlog.packets += 1;
        self.backlog.bytes += u64::from(kept.size);
        if filters
            && let Some(position) = tin.superfluous(place, self.spec.ack_filter)
            && let Some(item) = tin.remove(place, position)
        {
            self.forget(&item.kept);
            out.push_back(Leaving::Dropped(item.kept, Cause::AckFilter));
        }
        while self.spec.room.is_exceeded_by(self.backlog) {
            self.make_room(now, out);
        }
    }

    fn pop(&mut self, now: u64, out: &mut Outbox) {
        if self.opens() > now {
            return;
        }
        while self.backlog.packets > 0 {
            let number = self.next_tin(now);
            let before = out.len();
            let item = self.tins[number].pop(now, &mut self.stream, out);
            for leaving in out.range(before..) {
                let (Leaving::Sent(kept) | Leaving::Dropped(kept, _)) = leaving;
                self.backlog.packets -= 1;
                self.backlog.bytes -= u64::from(kept.size);
            }
            if let Some(item) = item {
                self.forget(&item.kept);
                self.charge(number, item.wire, now);
                out.push_back(Leaving::Sent(item.kept));
                return;
            }
        }
    }

    fn opens(&self) -> u64 {
        if self.rate.is_some() { self.time_next } else { 0 }
    }

    fn open(&mut self) {
        self.rate = None;
    }

    fn causes(&self) -> &'static [Cause] {
        match (self.spec.ack_filter, self.spec.room) {
            (AckFilter::Off, Room::Unlimited) => &[Cause::Cobalt],
            (AckFilter::Off, _) => &[Cause::Cobalt, Cause::Queue],
            (_, Room::Unlimited) => &[Cause::Cobalt, Cause::AckFilter],
            _ => &[Cause::Cobalt, Cause::AckFilter, Cause::Queue],
        }
    }

    fn classifies(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
