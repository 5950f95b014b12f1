//! CoDel (RFC 8289): drops packets at departure if the queueing delay was above a target for an interval.
//!
//! The sojourn time of a packet is its waiting time at departure. If the minimum sojourn time stays above `target` for an
//! `interval`, there is a standing queue: a packet is dropped, and then further packets at distances of interval / √n,
//! until the sojourn time is below the target.

use crate::network::loss::Cause;
use crate::network::packet::Packet;
use crate::network::queue::fifo::Fifo;
use crate::network::queue::order::{Kept, Leaving, Order, Outbox, send};
use crate::spec::CodelSpec;
use netspurt_tcp::segment::Ecn;

/// A queue under CoDel's control.
#[derive(Debug)]
pub(in crate::network::queue) struct Codel {
    law: CodelSpec,
    packets: Fifo,
    controller: Controller,
}

impl Codel {
    pub(in crate::network::queue) fn new(law: CodelSpec) -> Self {
        Self { law, packets: Fifo::default(), controller: Controller::default() }
    }
}

impl Order for Codel {
    fn causes(&self) -> &'static [Cause] {
        &[Cause::Codel]
    }

    fn push(&mut self, kept: Kept, _packet: &Packet, _out: &mut Outbox) {
        self.packets.put(kept);
    }

    fn pop(&mut self, now: u64, out: &mut Outbox) {
        let sent = self.controller.dequeue(&self.law, &mut self.packets, now, out);
        send(out, sent);
    }
}

/// The state of one queue (section 5.2). Times are picoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in crate::network::queue) struct Controller {
    /// When the sojourn time will have been above the target for an interval.
    first_above: Option<u64>,
    dropping: bool,
    drop_next: u64,
    /// Packets dropped since dropping began, or more if it resumed at its previous rate.
    count: u32,
    /// `count` when dropping began.
    last_count: u32,
}

/// The packet at the head of the queue, and whether it may be dropped (section 5.6).
type Head = (Option<Kept>, bool);

impl Controller {
    /// The next packet to send. Dropped packets before it are added to `out` (section 5.5).
    pub(in crate::network::queue) fn dequeue(
        &mut self,
        law: &CodelSpec,
        queue: &mut Fifo,
        now: u64,
        out: &mut Outbox,
    ) -> Option<Kept> {
        let mut head = self.look(law, queue, now);
        if self.dropping {
            self.dropping = head.1;
            while self.dropping && now >= self.drop_next {
                self.count += 1;
                if marks(law, &mut head) {
                    self.drop_next = next_drop(self.drop_next, law, self.count);
                    break;
                }
                discard(head, out);
                head = self.look(law, queue, now);
                self.dropping = head.1;
                if self.dropping {
                    self.drop_next = next_drop(self.drop_next, law, self.count);
                }
            }
        } else if head.1 {
            if !marks(law, &mut head) {
                discard(head, out);
                head = self.look(law, queue, now);
            }
            self.begin(law, now);
        }
        head.0
    }

    /// Dropping begins. If it ended recently, it resumes near the rate that it had reached.
    fn begin(&mut self, law: &CodelSpec, now: u64) {
        let recent = now.saturating_sub(self.drop_next) < law.interval.saturating_mul(16).as_ps();
        let reached = self.count.saturating_sub(self.last_count);
        self.dropping = true;
        self.count = if reached > 1 && recent { reached } else { 1 };
        self.last_count = self.count;
        self.drop_next = next_drop(now, law, self.count);
    }

    /// Removes the first packet of the queue, and checks whether sojourn times were above the target for an interval. A queue
    /// of at most one full-sized packet is never too long, because the link could become idle.
    fn look(&mut self, law: &CodelSpec, queue: &mut Fifo, now: u64) -> Head {
        let Some(packet) = queue.take() else {
            self.first_above = None;
            return (None, false);
        };
        if now - packet.since < law.target.as_ps() || queue.bytes() <= u64::from(law.mtu) {
            self.first_above = None;
            return (Some(packet), false);
        }
        let above = *self.first_above.get_or_insert_with(|| now.saturating_add(law.interval.as_ps()));
        (Some(packet), now >= above)
    }
}

/// The control law (section 5.6): the rate of TCP is proportional to 1 / √p, so drops at these distances reduce it linearly.
fn next_drop(after: u64, law: &CodelSpec, count: u32) -> u64 {
    after.saturating_add((law.interval.as_ps() as f64 / f64::from(count).sqrt()) as u64)
}

/// A packet that can be marked is marked, and sent (RFC 8289, section 3.4.1; Linux, `codel_dequeue()`).
fn marks(law: &CodelSpec, (packet, _): &mut Head) -> bool {
    let capable = packet.as_mut().filter(|packet| law.ecn && packet.ecn.is_capable());
    capable.map(|packet| packet.ecn = Ecn::Ce).is_some()
}

fn discard((packet, _): Head, out: &mut Outbox) {
    out.extend(packet.map(|packet| Leaving::Dropped(packet, Cause::Codel)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::queue::keeper::bench::Bench;
    use netspurt_tcp::time::Span;

    const MS: u64 = 1_000_000_000;
    const INTERVAL: f64 = 100.0 * MS as f64;

    fn bench() -> Bench<Codel> {
        Bench::new(Codel::new(CodelSpec { mtu: 1000, ..CodelSpec::default() }))
    }

    /// A queue that is served once in a millisecond, and the times of its drops.
    struct Served {
        bench: Bench<Codel>,
        now: u64,
        next_arrival: u64,
        drops: Vec<u64>,
        sent: u32,
    }

    impl Served {
        fn new() -> Self {
            Self { bench: bench(), now: 0, next_arrival: 0, drops: Vec::new(), sent: 0 }
        }

        /// For so many milliseconds packets come at this distance.
        fn go_on(&mut self, ms: u64, distance: u64) {
            self.next_arrival = self.next_arrival.max(self.now);
            for _ in 0..ms {
                self.now += MS;
                while self.next_arrival < self.now {
                    self.bench.push(self.next_arrival, 0, 1000, &Packet::default());
                    self.next_arrival += distance;
                }
                let (dropped, sent) = self.bench.pop(self.now);
                self.drops.extend(dropped.iter().map(|_| self.now));
                self.sent += u32::from(sent.is_some());
            }
        }

        /// When the controller wants each of these drops, the first being `first`, which found this `count`.
        fn by_the_law(first: u64, count: u32, drops: usize) -> Vec<f64> {
            let mut at = first as f64;
            let law = (count..).map(|n| INTERVAL / f64::from(n).sqrt());
            core::iter::once(at)
                .chain(law.map(|gap| {
                    at += gap;
                    at
                }))
                .take(drops)
                .collect()
        }
    }

    /// Each drop happens when a packet leaves for the first time after the law wants it.
    fn assert_law(drops: &[u64], count: u32) {
        let wanted = Served::by_the_law(drops[0], count, drops.len());
        for (n, (&drop, wanted)) in drops.iter().zip(wanted).enumerate() {
            let late = drop as f64 - wanted;
            assert!((-1e3..MS as f64 + 1e3).contains(&late), "drop {n} at {drop}, wanted at {wanted}");
        }
    }

    #[test]
    fn under_constant_overload_drops_come_at_the_distances_of_the_control_law() {
        let mut queue = Served::new();
        queue.go_on(3000, MS * 10 / 12);
        // Waits grow by a fifth of a millisecond in each, so that they exceed 5 ms after 25 ms, and then for 100 ms.
        let first = queue.drops[0];
        assert!((124 * MS..128 * MS).contains(&first), "{first}");
        assert!(queue.drops.len() > 100);
        assert_law(&queue.drops, 1);
        assert_eq!(queue.sent, 3000);
    }

    #[test]
    fn a_drop_rate_above_the_service_rate_is_reached_by_several_drops_at_once() {
        let mut queue = Served::new();
        queue.go_on(30_000, MS / 10);
        assert_law(&queue.drops, 1);
        assert!(queue.drops.windows(2).any(|pair| pair[0] == pair[1]));
    }

    #[test]
    fn below_the_target_nothing_is_dropped() {
        let mut queue = Served::new();
        queue.go_on(3, MS / 2);
        // Three packets wait for ever, each for 4 ms.
        queue.go_on(100_000, MS);
        assert!(queue.drops.is_empty(), "{:?}", queue.drops);
        assert_eq!(queue.sent, 100_003);
    }

    #[test]
    fn a_wait_above_the_target_for_less_than_an_interval_drops_nothing() {
        let mut queue = Served::new();
        for _ in 0..50 {
            // 50 packets at once: the last one waits for 50 ms, but then the queue is empty.
            queue.go_on(1, MS / 50);
            queue.go_on(120, 200 * MS);
        }
        assert!(queue.drops.is_empty(), "{:?}", queue.drops);
    }

    #[test]
    fn a_single_packet_behind_is_never_too_long_a_queue() {
        let mut bench = bench();
        for round in 0..20_000 {
            // Of two packets that both wait for a long time the first leaves with one behind it, the second with none.
            bench.push(round * 500 * MS, 1, 1000, &Packet::default());
            bench.push(round * 500 * MS, 2, 1000, &Packet::default());
            assert_eq!(bench.pop(round * 500 * MS + 200 * MS), (vec![], Some(1)));
            assert_eq!(bench.pop(round * 500 * MS + 400 * MS), (vec![], Some(2)));
        }
    }

    /// Overload, a pause in which the queue drains, overload again: how many drops the first time, and when the second.
    fn two_spells(pause_ms: u64) -> (u32, Vec<u64>) {
        let mut queue = Served::new();
        queue.go_on(2000, MS * 10 / 13);
        queue.go_on(700 + pause_ms, 10 * MS);
        let drained = core::mem::take(&mut queue.drops).len() as u32;
        queue.go_on(1000, MS * 10 / 13);
        (drained, queue.drops)
    }

    #[test]
    fn dropping_resumes_at_the_rate_it_had_reached_if_it_ended_a_short_while_ago() {
        let (first, again) = two_spells(0);
        assert_law(&again, first - 1);
    }

    #[test]
    fn dropping_begins_anew_sixteen_intervals_later() {
        let (_, again) = two_spells(1600);
        assert_law(&again, 1);
    }

    #[test]
    fn the_constants_are_those_of_the_document() {
        let CodelSpec { target, interval, mtu, ecn: _ } = CodelSpec::default();
        assert_eq!((target, interval, mtu), (Span::from_ms(5), Span::from_ms(100), 1500));
    }
}
