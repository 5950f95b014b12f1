//! FQ-PIE: one queue for each flow, served in turn as in FQ-CoDel; PIE controls each of them (Linux, `sch_fq_pie.c`).
//!
//! If all queues together are full, the arriving packet is dropped.

use crate::network::loss::Cause;
use crate::network::packet::Packet;
use crate::network::queue::aqm::pie::{Controller, admit, release};
use crate::network::queue::by_flow::rounds::{Rounds, line_of};
use crate::network::queue::fifo::Fifo;
use crate::network::queue::order::{Kept, Order, Outbox, send};
use crate::random::Stream;
use crate::spec::FqPieSpec;

/// Queues served in turn.
#[derive(Debug)]
pub(in crate::network::queue) struct FqPie {
    spec: FqPieSpec,
    /// Keys of the hash: in runs with different seeds, different flows share a queue.
    keys: [u64; 2],
    lines: Box<[(Fifo, Controller)]>,
    rounds: Rounds,
    stream: Stream,
}

impl FqPie {
    pub(in crate::network::queue) fn new(spec: FqPieSpec, mut stream: Stream) -> Self {
        let keys = [stream.bits(), stream.bits()];
        let lines = (0..spec.flows.max(1)).map(|_| (Fifo::default(), Controller::new(&spec.law))).collect();
        Self { spec, keys, lines, rounds: Rounds::new(spec.flows, spec.quantum), stream }
    }
}

impl Order for FqPie {
    fn push(&mut self, kept: Kept, packet: &Packet, out: &mut Outbox) {
        let number = line_of(packet, self.keys, self.lines.len());
        let (packets, controller) = &mut self.lines[number as usize];
        if admit(&self.spec.law, (packets, controller), &mut self.stream, kept, out) {
            self.rounds.join(number);
        }
    }

    fn pop(&mut self, now: u64, out: &mut Outbox) {
        let Self { rounds, lines, spec, .. } = self;
        let sent = rounds.next(|number| {
            let (packets, controller) = &mut lines[number as usize];
            release(&spec.law, (packets, controller), now)
        });
        send(out, sent);
    }

    fn causes(&self) -> &'static [Cause] {
        &[Cause::Pie]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::queue::keeper::bench::Bench;
    use crate::spec::PieSpec;

    const MS: u64 = 1_000_000_000;

    fn of(flow: u32) -> Packet {
        Packet { endpoint: flow, ..Packet::default() }
    }

    fn bench() -> Bench<FqPie> {
        let law = PieSpec { max_burst: netspurt_tcp::time::Span::ZERO, ..PieSpec::default() };
        Bench::new(FqPie::new(FqPieSpec { law, ..FqPieSpec::default() }, Stream::new(1, "fq-pie")))
    }

    #[test]
    fn a_sparse_flow_passes_by_a_bulk_flow() {
        let mut bench = bench();
        for _ in 0..100 {
            assert!(bench.push(0, 1, 1500, &of(1)).is_empty());
        }
        assert_eq!((0..5).map(|_| bench.pop(0).1).collect::<Vec<_>>(), [Some(1); 5]);
        for _ in 0..10 {
            assert!(bench.push(0, 2, 100, &of(2)).is_empty());
            assert_eq!(bench.pop(0).1, Some(2));
            assert_eq!((0..4).map(|_| bench.pop(0).1).collect::<Vec<_>>(), [Some(1); 4]);
        }
    }

    #[test]
    fn each_flow_is_under_pie_by_itself() {
        // In each millisecond one packet of each of two flows leaves; one flow sends two packets in that time, the other one.
        let mut bench = bench();
        let mut dropped = [0; 3];
        for now in 1..=4000 {
            for flow in [1, 1, 2] {
                for slot in bench.push(now * MS, flow, 1000, &of(flow)) {
                    dropped[slot as usize] += 1;
                }
            }
            bench.pop(now * MS);
            bench.pop(now * MS);
        }
        assert!(dropped[1] > 100 && dropped[2] == 0, "{dropped:?}");
    }
}
