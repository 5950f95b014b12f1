//! The pseudo-code of RFC 9332, appendix A, step by step beside the queue, and the formulas that follow from it.

use super::*;
use crate::network::queue::keeper::bench::Bench;
use crate::random::Stream;
use netspurt_tcp::segment::Segment;
use netspurt_tcp::time::Span;
use std::collections::VecDeque;

const MS: u64 = 1_000_000_000;

fn with(ecn: Ecn) -> Packet {
    Packet { segment: Segment { ecn, ..Segment::default() }, ..Packet::default() }
}

/// The pseudo-code with the names of RFC 9332; times are in seconds, except timestamps.
#[derive(Default)]
struct Pseudo {
    lq: VecDeque<(u64, u32, Ecn, u32)>,
    cq: VecDeque<(u64, u32, Ecn, u32)>,
    l_count: f64,
    c_count: f64,
    p: f64,
    prevq: f64,
    credit: f64,
    tshift: Option<f64>,
}

#[derive(PartialEq, Debug)]
enum Left {
    Sent(u32, Ecn),
    Dropped(u32),
}

impl Pseudo {
    fn recur(count: &mut f64, likelihood: f64) -> bool {
        *count += likelihood;
        if *count > 1.0 {
            *count -= 1.0;
            return true;
        }
        false
    }

    fn enqueue(&mut self, now: u64, number: u32, size: u32, ecn: Ecn) {
        // ecn modulo 2 is 1 for ECT(1) and CE.
        if (ecn as u8).is_multiple_of(2) { &mut self.cq } else { &mut self.lq }
            .push_back((now, number, ecn, size));
    }

    fn time(queue: &VecDeque<(u64, u32, Ecn, u32)>, now: u64) -> f64 {
        queue.front().map_or(0.0, |(since, ..)| (now - since) as f64 / 1e12)
    }

    fn scheduler_is_lq(&mut self, now: u64) -> bool {
        if self.lq.is_empty() || self.cq.is_empty() {
            return !self.lq.is_empty();
        }
        match self.tshift {
            Some(tshift) => Self::time(&self.lq, now) + tshift >= Self::time(&self.cq, now),
            None => self.credit <= 0.0,
        }
    }

    fn dequeue(&mut self, now: u64) -> Vec<Left> {
        let mut left = Vec::new();
        loop {
            if self.lq.is_empty() && self.cq.is_empty() {
                self.credit = 1500.0 * (10.0 - 90.0);
                return left;
            }
            let bytes: u32 = self.lq.iter().chain(&self.cq).map(|packet| packet.3).sum();
            let (p_cl, p_c) = if bytes < 3000 { (0.0, 0.0) } else { (2.0 * self.p, self.p * self.p) };
            if self.scheduler_is_lq(now) {
                let (since, number, mut ecn, size) = self.lq.pop_front().unwrap();
                // Lines 5a to 5d: with Th_len = 1, the packet has already left the queue.
                let native = if self.lq.len() > 1 && now - since > MS { 1.0 } else { 0.0 };
                if p_cl < 1.0 {
                    if Self::recur(&mut self.l_count, f64::max(native, p_cl)) {
                        ecn = Ecn::Ce;
                    }
                } else {
                    if Self::recur(&mut self.l_count, p_c) {
                        left.push(Left::Dropped(number));
                        continue;
                    }
                    // At a probability of one or more.
                    ecn = Ecn::Ce;
                }
                self.credit += 10.0 * f64::from(size);
                left.push(Left::Sent(number, ecn));
            } else {
                let (_, number, mut ecn, size) = self.cq.pop_front().unwrap();
                if p_c > 0.0 && Self::recur(&mut self.c_count, p_c) {
                    if ecn == Ecn::NotEct || p_cl >= 1.0 {
                        left.push(Left::Dropped(number));
                        continue;
                    }
                    ecn = Ecn::Ce;
                }
                self.credit -= 90.0 * f64::from(size);
                left.push(Left::Sent(number, ecn));
            }
            return left;
        }
    }

    fn update(&mut self, now: u64) {
        let curq = Self::time(&self.cq, now).max(Self::time(&self.lq, now));
        self.p += 0.16 * (curq - 0.015) + 3.2 * (curq - self.prevq);
        self.p = self.p.clamp(0.0, 1.0);
        self.prevq = curq;
    }
}

fn left_of(order: &mut DualPi2, now: u64) -> Vec<Left> {
    let mut out = Outbox::new();
    order.pop(now, &mut out);
    out.into_iter()
        .map(|leaving| match leaving {
            Leaving::Sent(kept) => Left::Sent(kept.slot, kept.ecn),
            Leaving::Dropped(kept, _) => Left::Dropped(kept.slot),
        })
        .collect()
}

#[test]
fn it_follows_the_pseudo_code_of_rfc_9332() {
    let shifted = DualScheduler::TimeShifted { shift: Span::from_us(50_100) };
    for (scheduler, tshift) in [(DualPi2Spec::default().scheduler, None), (shifted, Some(0.0501))] {
        for seed in 1..=4 {
            let mut order = DualPi2::new(DualPi2Spec { scheduler, ..DualPi2Spec::default() });
            let mut pseudo = Pseudo { tshift, credit: 1500.0 * -80.0, ..Pseudo::default() };
            let mut stream = Stream::new(seed, "arrivals");
            let (mut tick, mut number) = (16 * MS, 0);
            let (mut dropped, mut marked) = (0, 0);
            for half in 1..40_000u64 {
                let now = half * MS / 2;
                while tick <= now {
                    pseudo.update(tick);
                    tick += 16 * MS;
                }
                // Loads of both kinds, some seconds each, from none to overload.
                let load = [0, 90, 150, 40, 400, 110, 0, 0][(half / 3000 % 8) as usize];
                for _ in 0..stream.below(2 * load + 1).div_ceil(100) {
                    let ecn = Ecn::from_bits(stream.below(4) as u8);
                    number += 1;
                    let size = 500 + stream.below(1000) as u32;
                    pseudo.enqueue(now, number, size, ecn);
                    let kept = Kept { slot: number, size, since: now, ecn, ..Kept::default() };
                    order.push(kept, &with(ecn), &mut Outbox::new());
                }
                let (got, expected) = (left_of(&mut order, now), pseudo.dequeue(now));
                assert_eq!(got, expected, "{scheduler:?}, seed {seed}, {half} half milliseconds");
                assert!(
                    (order.base - pseudo.p).abs() < 1e-9,
                    "seed {seed}: {} instead of {}",
                    order.base,
                    pseudo.p
                );
                dropped += got.iter().filter(|left| matches!(left, Left::Dropped(_))).count();
                marked += got.iter().filter(|left| matches!(left, Left::Sent(_, Ecn::Ce))).count();
            }
            assert!(dropped > 1000 && marked > 1000, "seed {seed}: {dropped} dropped, {marked} marked");
        }
    }
}

/// The share of 20,000 packets of this kind that get a signal at a base probability, without delay.
fn share(base: f64, ecn: Ecn, overload: Overload) -> f64 {
    let mut order = DualPi2::new(DualPi2Spec { overload, ..DualPi2Spec::default() });
    (order.base, order.due) = (base, u64::MAX);
    for slot in 0..20_100 {
        order.push(Kept { slot, size: 1500, ecn, ..Kept::default() }, &with(ecn), &mut Outbox::new());
    }
    let mut out = Outbox::new();
    while out.len() < 20_000 {
        order.pop(0, &mut out);
    }
    let signals = out.iter().filter(|leaving| match leaving {
        Leaving::Sent(kept) => kept.ecn == Ecn::Ce,
        Leaving::Dropped(..) => true,
    });
    signals.count() as f64 / out.len() as f64
}

#[test]
fn the_two_queues_are_coupled_by_a_square() {
    for base in [0.01, 0.05, 0.1, 0.2, 0.3, 0.45] {
        let low = share(base, Ecn::Ect1, Overload::Drop);
        for ecn in [Ecn::NotEct, Ecn::Ect0] {
            let classic = share(base, ecn, Overload::Drop);
            // p_C = (p_L / k)².
            let law = (low / 2.0).powi(2);
            assert!((classic - law).abs() < 2e-4, "{base}: {classic} instead of {law}");
        }
    }
}

#[test]
fn under_overload_both_queues_drop_alike_or_none_does() {
    let drops = |ecn, overload| {
        let mut order = DualPi2::new(DualPi2Spec { overload, ..DualPi2Spec::default() });
        (order.base, order.due) = (0.7, u64::MAX);
        order.base = order.base.min(if overload == Overload::Drop { 1.0 } else { 0.5 });
        let mut bench = Bench::new(order);
        for slot in 0..1010 {
            bench.push(0, slot, 1500, &with(ecn));
        }
        (0..500).map(|_| bench.pop(0).0.len()).sum::<usize>()
    };
    let [low, classic] = [Ecn::Ect1, Ecn::Ect0].map(|ecn| drops(ecn, Overload::Drop));
    // 49 per cent of them are dropped, so that 500 are left.
    assert!(low.abs_diff(classic) <= 1 && (475..=486).contains(&low), "{low} and {classic}");
    assert_eq!([Ecn::Ect1, Ecn::Ect0].map(|ecn| drops(ecn, Overload::Overflow)), [0, 0]);
}

#[test]
fn the_step_marks_packets_that_waited_longer_and_a_ramp_marks_with_its_probability() {
    let of = |spec: DualPi2Spec, us: u64| {
        let probability = DualPi2::new(spec).native_probability(us * 1_000_000);
        (100.0 * probability).round() as u32
    };
    let step = DualPi2Spec::default();
    assert_eq!([999, 1000, 1001].map(|us| of(step, us)), [0, 0, 100]);
    let ramp = DualPi2Spec { step: Span::from_us(800), ramp: Span::from_us(400), ..step };
    assert_eq!([800, 900, 1000, 1200].map(|us| of(ramp, us)), [0, 25, 50, 100]);
}

#[test]
fn a_packet_behind_which_too_few_wait_is_not_marked_by_the_step() {
    // One packet in 3 ms, as at 4 Mbit/s: each but the first has waited longer than the step. The first of them all is not
    // marked, because recur() marks above 1.
    for (step_packets, marked) in [(0, 8), (1, 7), (2, 6), (20, 0)] {
        let mut order = DualPi2::new(DualPi2Spec { step_packets, ..DualPi2Spec::default() });
        order.due = u64::MAX;
        for slot in 0..10 {
            order.push(
                Kept { slot, size: 1500, ecn: Ecn::Ect1, ..Kept::default() },
                &with(Ecn::Ect1),
                &mut Outbox::new(),
            );
        }
        let left = (0..10).flat_map(|number| left_of(&mut order, 3 * MS * number));
        let marks = left.filter(|left| matches!(left, Left::Sent(_, Ecn::Ce))).count();
        assert_eq!(marks, marked, "{step_packets}");
    }
}

#[test]
fn a_full_l_queue_leaves_the_c_queue_its_share() {
    for (scheduler, least, most) in [
        (DualScheduler::WeightedRoundRobin { classic: 10 }, 95, 105),
        (DualScheduler::WeightedRoundRobin { classic: 50 }, 495, 505),
    ] {
        let mut bench = Bench::new(DualPi2::new(DualPi2Spec { scheduler, ..DualPi2Spec::default() }));
        bench.order.due = u64::MAX;
        for _ in 0..1000 {
            bench.push(0, 1, 1500, &with(Ecn::Ect1));
            bench.push(0, 2, 1500, &with(Ecn::NotEct));
        }
        let classic = (0..1000).filter(|_| bench.pop(0).1 == Some(2)).count();
        assert!((least..=most).contains(&classic), "{scheduler:?}: {classic}");
    }
}

#[test]
fn an_hour_without_packets_is_caught_up_with_at_once() {
    let mut order = DualPi2::new(DualPi2Spec::default());
    order.base = 0.4;
    order.advance(3_600_000 * MS + 1);
    assert!(order.base == 0.0 && order.due.is_multiple_of(16 * MS) && order.due > 3_600_000 * MS);
}
