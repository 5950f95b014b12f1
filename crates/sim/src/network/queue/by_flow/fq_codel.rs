//! FQ-CoDel (RFC 8290): one queue for each flow. The queues are served in turn, and CoDel controls each of them.
//!
//! A hash of addresses and ports selects the queue, so two flows may share one. A flow whose queue was empty is *new*: it is
//! served before the *old* flows until it has sent one quantum. So a flow that sends little hardly waits. If all queues
//! together
//! exceed the limit, packets of the longest queue are dropped.
//!
//! [`Rounds`] decides the order. Where RFC 8290 leaves a choice, this follows Linux: half of the longest queue, but at most
//! [`BATCH`] packets, is dropped at once from its head. CoDel never drops the last packet of a queue: here, of the flow's
//! own queue.

use crate::network::loss::Cause;
use crate::network::packet::Packet;
use crate::network::queue::aqm::codel::Controller;
use crate::network::queue::by_flow::rounds::{Rounds, line_of};
use crate::network::queue::fifo::Fifo;
use crate::network::queue::order::{Kept, Leaving, Order, Outbox, send};
use crate::network::queue::{Backlog, Room};
use crate::spec::FqCodelSpec;

/// Maximum number of packets that are dropped at once when the limit is exceeded.
const BATCH: usize = 64;

/// The queue of all flows of one hash.
#[derive(Debug, Default)]
struct Bucket {
    packets: Fifo,
    controller: Controller,
}

/// Queues served in turn.
#[derive(Debug)]
pub(in crate::network::queue) struct FqCodel {
    spec: FqCodelSpec,
    /// Keys of the hash: in runs with different seeds, different flows share a queue.
    keys: [u64; 2],
    buckets: Box<[Bucket]>,
    rounds: Rounds,
    backlog: Backlog,
}

impl FqCodel {
    pub(in crate::network::queue) fn new(spec: FqCodelSpec, keys: [u64; 2]) -> Self {
        Self {
            spec,
            keys,
            buckets: (0..spec.flows.max(1)).map(|_| Bucket::default()).collect(),
            rounds: Rounds::new(spec.flows, spec.quantum),
            backlog: Backlog::default(),
        }
    }

    /// The queue of the flow of this packet.
    fn bucket_of(&self, packet: &Packet) -> u32 {
        line_of(packet, self.keys, self.buckets.len())
    }

    /// Drops half of the bytes of the longest queue from its head, but at most [`BATCH`] packets.
    fn make_room(&mut self, out: &mut Outbox) {
        let fattest = self.buckets.iter_mut().rev().max_by_key(|bucket| bucket.packets.bytes());
        let Some(bucket) = fattest else { return };
        let goal = bucket.packets.bytes() / 2;
        for _ in 0..BATCH {
            let Some(packet) = bucket.packets.take() else { return };
            self.backlog.packets -= 1;
            self.backlog.bytes -= u64::from(packet.size);
            out.push_back(Leaving::Dropped(packet, Cause::Queue));
            if bucket.packets.bytes() <= goal {
                return;
            }
        }
    }
}

impl Order for FqCodel {
    fn causes(&self) -> &'static [Cause] {
        if self.spec.room == Room::Unlimited { &[Cause::Codel] } else { &[Cause::Codel, Cause::Queue] }
    }

    fn push(&mut self, kept: Kept, packet: &Packet, out: &mut Outbox) {
        let number = self.bucket_of(packet);
        self.buckets[number as usize].packets.put(kept);
        self.rounds.join(number);
        self.backlog.packets += 1;
        self.backlog.bytes += u64::from(kept.size);
        while self.spec.room.is_exceeded_by(self.backlog) {
            self.make_room(out);
        }
    }

    fn pop(&mut self, now: u64, out: &mut Outbox) {
        let before = out.len();
        let Self { rounds, buckets, spec, .. } = self;
        let sent = rounds.next(|number| {
            let bucket = &mut buckets[number as usize];
            bucket.controller.dequeue(&spec.law, &mut bucket.packets, now, out)
        });
        send(out, sent);
        for leaving in out.range(before..) {
            let (Leaving::Sent(kept) | Leaving::Dropped(kept, _)) = leaving;
            self.backlog.packets -= 1;
            self.backlog.bytes -= u64::from(kept.size);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::queue::keeper::bench::Bench;

    /// A packet of this flow.
    fn of(flow: u32) -> Packet {
        Packet { endpoint: flow, ..Packet::default() }
    }

    fn bench(room: Room) -> Bench<FqCodel> {
        Bench::new(FqCodel::new(FqCodelSpec { room, ..FqCodelSpec::default() }, [1, 2]))
    }

    /// Enqueues `n` packets of a flow, each with the number of the flow.
    fn fill(bench: &mut Bench<FqCodel>, flow: u32, n: usize, size: u32) {
        for _ in 0..n {
            assert!(bench.push(0, flow, size, &of(flow)).is_empty());
        }
    }

    /// The flows of the next packets; none has waited long.
    fn served(bench: &mut Bench<FqCodel>, n: usize) -> Vec<u32> {
        (0..n).filter_map(|_| bench.pop(0).1).collect()
    }

    #[test]
    fn a_sparse_flow_passes_by_a_bulk_flow() {
        let mut bench = bench(Room::Unlimited);
        fill(&mut bench, 1, 100, 1500);
        assert_eq!(served(&mut bench, 5), [1; 5]);
        for _ in 0..10 {
            fill(&mut bench, 2, 1, 100);
            assert_eq!(bench.pop(0).1, Some(2));
            assert_eq!(served(&mut bench, 4), [1; 4]);
        }
    }

    #[test]
    fn bulk_flows_share_by_octets_and_not_by_packets() {
        let mut bench = bench(Room::Unlimited);
        let sizes = [1500, 500, 100];
        for (flow, size) in (1..).zip(sizes) {
            fill(&mut bench, flow, 3000, size);
        }
        let mut sent = [0; 3];
        for flow in served(&mut bench, 2000) {
            sent[flow as usize - 1] += sizes[flow as usize - 1];
            let (most, least) = (sent.iter().max().unwrap(), sent.iter().min().unwrap());
            // Deficit round robin is exact to a quantum and a packet. At first each flow is new.
            assert!(most - least <= 2 * 1514 + 1500, "{sent:?}");
        }
        assert!(sent.iter().all(|&octets| octets > 100_000));
    }

    #[test]
    fn a_flow_that_comes_back_at_once_does_not_always_go_first() {
        let mut bench = bench(Room::Unlimited);
        fill(&mut bench, 1, 1000, 1500);
        assert_eq!(served(&mut bench, 2), [1; 2]);
        let mut order = Vec::new();
        for _ in 0..40 {
            fill(&mut bench, 2, 1, 1000);
            order.extend(served(&mut bench, 1));
        }
        // A queue that is never empty shares with flow 1 in bytes: three packets of flow 2 for two of flow 1.
        let first = order.iter().filter(|&&flow| flow == 1).count();
        assert!((12..=20).contains(&first), "{order:?}");
    }

    #[test]
    fn the_longest_flow_makes_room_from_its_head() {
        let mut bench = bench(Room::Packets(100));
        for slot in 0..60 {
            assert!(bench.push(0, slot, 1000, &of(1)).is_empty());
        }
        fill(&mut bench, 2, 40, 1000);
        // Half of the 60 packets.
        assert_eq!(bench.push(0, 999, 1000, &of(3)), (0..30).collect::<Vec<_>>());
        assert_eq!(bench.order.backlog, Backlog { packets: 71, bytes: 71_000 });
    }

    #[test]
    fn no_more_than_a_batch_is_dropped_at_once() {
        let mut bench = bench(Room::Packets(1000));
        fill(&mut bench, 1, 1000, 1500);
        assert_eq!(bench.push(0, 1, 1500, &of(1)).len(), BATCH);
        assert_eq!(bench.order.backlog.packets, 1001 - 64);
    }

    #[test]
    fn a_limit_in_octets_is_kept_too() {
        let mut bench = bench(Room::Bytes(10_000));
        fill(&mut bench, 1, 10, 1000);
        assert_eq!(bench.push(0, 7, 1, &of(2)), [1; 5]);
        assert_eq!(bench.push(0, 8, 20_000, &of(3)), [8]);
    }

    #[test]
    fn each_flow_is_under_codel_by_itself() {
        let ms = 1_000_000_000;
        let mut bench = bench(Room::Unlimited);
        fill(&mut bench, 1, 400, 1500);
        let mut dropped = Vec::new();
        for now in 1..=400 {
            bench.push(now * ms, 2, 200, &of(2));
            for _ in 0..2 {
                dropped.extend(bench.pop(now * ms).0);
            }
        }
        assert!(dropped.len() > 3 && dropped.iter().all(|&flow| flow == 1), "{dropped:?}");
    }

    #[test]
    fn flows_spread_over_all_queues_and_differently_under_other_keys() {
        let queues = |keys| {
            let order = FqCodel::new(FqCodelSpec::default(), keys);
            (0..4096).map(|flow| order.bucket_of(&of(flow))).collect::<Vec<_>>()
        };
        let (some, others) = (queues([1, 2]), queues([3, 4]));
        let used: std::collections::BTreeSet<_> = some.iter().collect();
        // 1024 · (1 - exp(-4)) are expected to be hit.
        assert!((995..=1015).contains(&used.len()), "{}", used.len());
        assert!(some.iter().zip(&others).filter(|(a, b)| a == b).count() < 20);
        let later = Packet { generation: 1, ..of(7) };
        assert_ne!(FqCodel::new(FqCodelSpec::default(), [1, 2]).bucket_of(&later), some[7]);
    }
}
