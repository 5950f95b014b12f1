//! The pseudo-code of RFC 8033 and RFC 8034, replayed step by step with a clock that ticks, beside the queue.

use super::*;
use crate::network::queue::keeper::bench::Bench;
use std::collections::VecDeque;

const MS: u64 = 1_000_000_000;
const SIZE: u32 = 1000;

/// The pseudo-code, with the names of the documents. Seconds and bytes.
#[derive(Default)]
struct Pseudo {
    docsis: Option<(f64, f64)>,
    drop_prob: f64,
    accu_prob: f64,
    current_qdelay: f64,
    qdelay_old: f64,
    burst_allowance: f64,
    burst_reset: f64,
    /// 0 inactive, 1 quiescent, 2 active.
    aqm_state: u8,
    queue: VecDeque<(u64, u32)>,
    bytes: u64,
}

impl Pseudo {
    const QDELAY_REF: f64 = 0.015;
    const LATENCY_TARGET: f64 = 0.010;

    fn target(&self) -> f64 {
        if self.docsis.is_some() { Self::LATENCY_TARGET } else { Self::QDELAY_REF }
    }

    fn enque(&mut self, now: u64, size: u32, random: &mut Stream) -> bool {
        if let Some((_, buffer)) = self.docsis {
            if self.aqm_state == 0 && self.bytes as f64 >= (buffer / 3.0).floor() {
                self.aqm_state = 2;
                self.burst_allowance = 0.142;
            }
        } else if self.drop_prob == 0.0
            && self.current_qdelay < self.target() / 2.0
            && self.qdelay_old < self.target() / 2.0
        {
            self.burst_allowance = 0.150;
        }
        let dropped = match self.docsis {
            Some(_) => self.aqm_state != 0 && self.drop_early_docsis(size, random),
            None => self.burst_allowance <= 1e-9 && self.drop_early(random),
        };
        if dropped {
            return false;
        }
        self.queue.push_back((now, size));
        self.bytes += u64::from(size);
        true
    }

    fn drop_early(&mut self, random: &mut Stream) -> bool {
        if (self.qdelay_old < self.target() / 2.0 && self.drop_prob < 0.2) || self.bytes <= 2 * 1500 {
            if self.drop_prob == 0.0 {
                self.accu_prob = 0.0;
            }
            return false;
        }
        if self.drop_prob == 0.0 {
            self.accu_prob = 0.0;
        }
        self.accu_prob += self.drop_prob;
        if self.accu_prob < 0.85 {
            return false;
        }
        if self.accu_prob >= 8.5 || random.unit() < self.drop_prob {
            self.accu_prob = 0.0;
            return true;
        }
        false
    }

    fn drop_early_docsis(&mut self, size: u32, random: &mut Stream) -> bool {
        if self.burst_allowance > 1e-9 {
            return false;
        }
        if self.drop_prob == 0.0 {
            self.accu_prob = 0.0;
        }
        let p1 = (self.drop_prob * f64::from(size) / 1024.0).min(0.85);
        self.accu_prob += p1;
        if (self.qdelay_old < 0.5 * self.target() && self.drop_prob < 0.2) || self.bytes <= 2 * 1024 {
            return false;
        }
        if self.accu_prob < 0.85 {
            return false;
        }
        if self.accu_prob < 8.5 && random.unit() >= p1 {
            return false;
        }
        self.aqm_state = 2;
        self.accu_prob = 0.0;
        true
    }

    fn deque(&mut self, now: u64) -> Option<u32> {
        let (since, size) = self.queue.pop_front()?;
        self.bytes -= u64::from(size);
        self.current_qdelay = if self.queue.is_empty() { 0.0 } else { (now - since) as f64 / 1e12 };
        Some(size)
    }

    fn calculate_drop_prob(&mut self) {
        let (a, b) = if self.docsis.is_some() { (0.25, 2.5) } else { (0.125, 1.25) };
        if let Some((rate, _)) = self.docsis {
            self.current_qdelay = self.bytes as f64 * 8.0 / rate;
            if self.burst_allowance > 1e-9 {
                self.drop_prob = 0.0;
                self.burst_allowance = (self.burst_allowance - 0.016).max(0.0);
                self.finish_docsis();
                return;
            }
        }
        let mut p = a * (self.current_qdelay - self.target()) + b * (self.current_qdelay - self.qdelay_old);
        for (below, by) in
            [(0.000_001, 2048.0), (0.000_01, 512.0), (0.000_1, 128.0), (0.001, 32.0), (0.01, 8.0), (0.1, 2.0)]
        {
            if self.drop_prob < below {
                p /= by;
                break;
            }
        }
        if self.docsis.is_some() && self.drop_prob >= 0.1 {
            p /= if self.drop_prob < 1.0 {
                0.5
            } else if self.drop_prob < 10.0 {
                0.125
            } else {
                0.03125
            };
        }
        if self.drop_prob >= 0.1 && p > 0.02 {
            p = 0.02;
        }
        self.drop_prob += p;
        if self.docsis.is_some() {
            if self.current_qdelay < 0.005 && self.qdelay_old < 0.005 {
                self.drop_prob *= 0.98;
            } else if self.current_qdelay > 0.2 {
                self.drop_prob += 0.02;
            }
            self.drop_prob = self.drop_prob.clamp(0.0, 0.85 * 1024.0 / 64.0);
            self.finish_docsis();
        } else {
            if self.current_qdelay == 0.0 && self.qdelay_old == 0.0 {
                self.drop_prob *= 0.98;
            }
            self.drop_prob = self.drop_prob.clamp(0.0, 1.0);
            self.qdelay_old = self.current_qdelay;
            self.burst_allowance = (self.burst_allowance - 0.015).max(0.0);
        }
    }

    fn finish_docsis(&mut self) {
        let half = 0.5 * self.target();
        let quiet = self.current_qdelay < half
            && self.qdelay_old < half
            && self.drop_prob == 0.0
            && self.burst_allowance <= 1e-9;
        if self.aqm_state == 2 && quiet {
            self.aqm_state = 1;
            self.burst_reset = 0.0;
        } else if self.aqm_state == 1 {
            if quiet {
                self.burst_reset += 0.016;
                if self.burst_reset > 1.0 + 1e-9 {
                    self.aqm_state = 0;
                }
            } else {
                self.burst_reset = 0.0;
            }
        }
        self.qdelay_old = self.current_qdelay;
    }
}

/// Both under the same arrivals at a link of 8 Mbit/s: a packet leaves each millisecond. Returns the dropped and the sent.
fn compare(spec: PieSpec, mut pseudo: Pseudo, seed: u64) -> (u32, u32) {
    let mut bench = Bench::new(Pie::new(spec, Stream::new(seed, "dice")));
    let mut dice = Stream::new(seed, "dice");
    let mut arrivals = Stream::new(seed, "arrivals");
    let interval = spec.update.as_ps();
    let (mut tick, mut dropped, mut sent) = (interval, 0, 0);
    for ms in 1..40_000u64 {
        let now = ms * MS;
        while tick <= now {
            pseudo.calculate_drop_prob();
            tick += interval;
        }
        // Loads from nothing to twice the rate, each for some seconds.
        let load = [0, 130, 90, 200, 40, 110, 0, 0, 160][(ms / 1700 % 9) as usize];
        for slot in 0..arrivals.below(2 * load + 1).div_ceil(100) as u32 {
            let size = SIZE - 300 * slot;
            let stays = pseudo.enque(now, size, &mut dice);
            let gone = bench.push(now, slot, size, &Packet::default());
            assert_eq!(
                stays,
                gone.is_empty(),
                "seed {seed}, {ms} ms: {pseudo_prob}",
                pseudo_prob = pseudo.drop_prob
            );
            dropped += u32::from(!stays);
        }
        let left = pseudo.deque(now);
        assert_eq!(bench.pop(now).1.is_some(), left.is_some(), "seed {seed}, {ms} ms");
        sent += u32::from(left.is_some());
        let (got, expected) = (bench.order.controller.probability(), pseudo.drop_prob);
        assert!((got - expected).abs() < 1e-9, "seed {seed}, {ms} ms: {got} instead of {expected}");
    }
    (dropped, sent)
}

#[test]
fn pie_follows_the_pseudo_code_of_rfc_8033() {
    for seed in 1..=5 {
        let pseudo = Pseudo { burst_allowance: 0.150, ..Pseudo::default() };
        let (dropped, sent) = compare(PieSpec::default(), pseudo, seed);
        assert!(dropped > 200 && sent > 15_000, "seed {seed}: {dropped} dropped, {sent} sent");
    }
}

#[test]
fn docsis_pie_follows_the_pseudo_code_of_rfc_8034() {
    for seed in 1..=5 {
        let pseudo = Pseudo { docsis: Some((8e6, 100_000.0)), ..Pseudo::default() };
        let (dropped, sent) = compare(PieSpec::docsis(8_000_000, 100_000), pseudo, seed);
        assert!(dropped > 200 && sent > 15_000, "seed {seed}: {dropped} dropped, {sent} sent");
    }
}

#[test]
fn a_burst_passes_and_a_queue_that_stays_does_not() {
    let mut bench = Bench::new(Pie::new(PieSpec::default(), Stream::new(1, "pie")));
    // 140 packets at once drain within the 150 ms for which a burst passes.
    for slot in 0..140 {
        assert!(bench.push(0, slot, SIZE, &Packet::default()).is_empty());
    }
    let mut dropped = 0;
    for ms in 1..3000 {
        bench.pop(ms * MS);
        let gone = bench.push(ms * MS, 0, SIZE, &Packet::default());
        assert!(ms > 150 || gone.is_empty(), "{ms} ms");
        dropped += gone.len();
    }
    assert!(dropped > 0);
}

#[test]
fn a_queue_of_two_packets_is_never_too_long() {
    let mut bench = Bench::new(Pie::new(PieSpec::default(), Stream::new(1, "pie")));
    for second in 1..2000 {
        // Each packet waits for a second.
        let now = second * 1000 * MS;
        bench.pop(now);
        while bench.order.packets.bytes() < 2 * 1500 {
            assert!(bench.push(now, 0, SIZE, &Packet::default()).is_empty());
        }
    }
    assert!(bench.order.controller.probability() > 0.5);
}

#[test]
fn what_can_be_marked_is_marked_while_the_probability_is_small() {
    let spec = PieSpec { ecn: true, ..PieSpec::default() };
    let mut stream = Stream::new(3, "pie");
    let waiting = 150 * MS;
    let at = |probability| Controller {
        probability,
        burst: 0,
        wait: waiting,
        last_wait: waiting,
        ..Controller::new(&spec)
    };
    let mut seen = |probability, ecn| {
        let mut controller = at(probability);
        let all: Vec<_> =
            (0..1000).map(|_| controller.judge(&spec, (100_000, SIZE), ecn, &mut stream)).collect();
        [OnArrival::Pass, OnArrival::Mark, OnArrival::Drop(Cause::Pie)]
            .map(|verdict| all.iter().filter(|one| **one == verdict).count())
    };
    let [_, marked, dropped] = seen(0.09, Ecn::Ect0);
    assert!(marked > 30 && dropped == 0, "{marked} {dropped}");
    let [_, marked, dropped] = seen(0.09, Ecn::NotEct);
    assert!(marked == 0 && dropped > 30, "{marked} {dropped}");
    let [_, marked, dropped] = seen(0.11, Ecn::Ect0);
    assert!(marked == 0 && dropped > 40, "{marked} {dropped}");
}

#[test]
fn an_hour_without_packets_is_caught_up_with_at_once() {
    let mut bench = Bench::new(Pie::new(PieSpec::default(), Stream::new(1, "pie")));
    bench.push(0, 0, SIZE, &Packet::default());
    bench.pop(0);
    bench.order.controller.probability = 0.7;
    bench.push(3_600_000 * MS + 1, 0, SIZE, &Packet::default());
    let due = bench.order.controller.due;
    assert!(bench.order.controller.probability() < 1e-12);
    assert!(due > 3_600_000 * MS && due.is_multiple_of(15 * MS), "{due}");
    bench.pop(u64::MAX / 2);
}
