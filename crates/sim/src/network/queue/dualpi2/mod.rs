//! DualPI2 (RFC 9332, appendix A): a queue for scalable traffic, which is marked early and often, a queue for all other
//! traffic, and
//! one controller for both.
//!
//! Packets with ECT(1) or CE wait in the L queue, all others in the C queue (section 2.3). A proportional-integral controller
//! computes a base probability p′ at fixed intervals from the longer of the two delays. C drops or marks with p′². L marks with
//! k · p′, or by its own step if that is more. So both kinds of flows get about the same rate (section 2.1). A scheduler
//! serves L first,
//! but C never starves.
//!
//! Between two packets only the clock changes, so updates that are due are made when a packet arrives or leaves. Where RFC 9332
//! leaves a choice, this follows Linux (`sch_dualpi2.c`): weights of 90 and 10 per cent, a step of 1 ms, and with fewer
//! than two packets in the queue nothing is dropped or marked by probability. The step, too, needs a queue (`Th_len` of the
//! appendix; in Linux `min_qlen_step`, which is 0).

use crate::network::loss::Cause;
use crate::network::packet::Packet;
use crate::network::queue::fifo::Fifo;
use crate::network::queue::order::{Kept, Leaving, Order, Outbox};
use crate::spec::{DualPi2Spec, DualScheduler, Overload};
use netspurt_tcp::segment::Ecn;

/// Picoseconds in a second.
const SECOND: f64 = 1e12;

/// One of the two queues.
#[derive(Debug, Default)]
struct Side {
    packets: Fifo,
    /// The sum of probabilities since the last signal. It makes the intervals between signals even (`recur()` of the appendix).
    sum: f64,
}

impl Side {
    /// Whether this packet gets a signal, if a signal has this probability.
    fn recurs(&mut self, likelihood: f64) -> bool {
        self.sum += likelihood;
        if self.sum > 1.0 {
            self.sum -= 1.0;
            return true;
        }
        false
    }

    /// For how long the first packet has waited at `now`.
    fn wait(&self, now: u64) -> u64 {
        self.packets.first().map_or(0, |kept| now.saturating_sub(kept.since))
    }
}

/// Both queues, their controller and their scheduler.
#[derive(Debug)]
pub(super) struct DualPi2 {
    spec: DualPi2Spec,
    low: Side,
    classic: Side,
    /// p′ of RFC 9332.
    base: f64,
    last_wait: u64,
    /// When the probability is computed next.
    due: u64,
    /// Bytes times per cent by which the L queue is ahead of its share; only for weighted round robin.
    credit: i64,
}

impl DualPi2 {
    pub(super) fn new(spec: DualPi2Spec) -> Self {
        let mut order = Self {
            spec,
            low: Side::default(),
            classic: Side::default(),
            base: 0.0,
            last_wait: 0,
            due: spec.update.as_ps(),
            credit: 0,
        };
        order.reset_credit();
        order
    }

    fn reset_credit(&mut self) {
        if let DualScheduler::WeightedRoundRobin { classic } = self.spec.scheduler {
            self.credit = i64::from(self.spec.mtu) * (2 * i64::from(classic) - 100);
        }
    }

    /// The probability that the C queue signals.
    fn classic_probability(&self) -> f64 {
        self.base * self.base
    }

    /// The probability that the L queue signals because of the C queue (coupling).
    fn coupled_probability(&self) -> f64 {
        self.base * self.spec.coupling
    }

    /// Makes the updates that are due at `now`.
    fn advance(&mut self, now: u64) {
        let interval = self.spec.update.as_ps().max(1);
        while self.due <= now {
            let wait = self.classic.wait(self.due).max(self.low.wait(self.due));
            let (base, last) = (self.base, self.last_wait);
            self.update(wait);
            if wait == 0 && last == 0 && self.base.to_bits() == base.to_bits() {
                // No packet waits, so nothing changes any more.
                self.due += (now - self.due) / interval * interval;
            }
            self.due = self.due.saturating_add(interval);
        }
    }

    /// `dualpi2_update()` of the appendix.
    fn update(&mut self, wait: u64) {
        let [now, last, target] =
            [wait, self.last_wait, self.spec.target.as_ps()].map(|ps| ps as f64 / SECOND);
        self.base += self.spec.alpha * (now - target) + self.spec.beta * (now - last);
        // If overload does not cause drops, the L queue marks everything, and the C queue signals no more than at that point.
        let most = match self.spec.overload {
            Overload::Drop => 1.0,
            Overload::Overflow => (1.0 / self.spec.coupling).min(1.0),
        };
        self.base = self.base.clamp(0.0, most);
        self.last_wait = wait;
    }

    /// Whether the L queue is served next; else the C queue is. At least one of them has a packet.
    fn serves_low(&mut self, now: u64) -> bool {
        let [low, classic] = [&self.low, &self.classic].map(|side| side.packets.bytes() > 0);
        if !low || !classic {
            return low;
        }
        match self.spec.scheduler {
            DualScheduler::WeightedRoundRobin { .. } => self.credit <= 0,
            DualScheduler::TimeShifted { shift } => {
                self.low.wait(now).saturating_add(shift.as_ps()) >= self.classic.wait(now)
            }
        }
    }

    fn charge(&mut self, low: bool, size: u32) {
        if let DualScheduler::WeightedRoundRobin { classic } = self.spec.scheduler {
            let classic = i64::from(classic);
            self.credit += i64::from(size) * if low { classic } else { classic - 100 };
        }
    }

    /// The probability of the L queue's own signal: a ramp, or a step if the ramp has no width (`laqm()`).
    fn native_probability(&self, wait: u64) -> f64 {
        let (step, ramp) = (self.spec.step.as_ps(), self.spec.ramp.as_ps());
        if wait <= step {
            0.0
        } else if wait - step >= ramp {
            1.0
        } else {
            (wait - step) as f64 / ramp as f64
        }
    }

    /// The same while enough packets stay behind: a packet alone is no queue, even if it takes longer than the step to send
    /// the one before it (`Th_len`).
    fn own_probability(&self, wait: u64) -> f64 {
        if self.low.packets.len() < self.spec.step_packets { 0.0 } else { self.native_probability(wait) }
    }

    /// The next packet of the L queue, or the cause to drop it.
    fn judge_low(&mut self, kept: &mut Kept, now: u64, spared: bool) -> bool {
        let native = self.own_probability(now - kept.since);
        let coupled = if spared { 0.0 } else { self.coupled_probability() };
        if coupled < 1.0 || self.spec.overload == Overload::Overflow {
            if self.low.recurs(native.max(coupled).min(1.0)) {
                kept.ecn = Ecn::Ce;
            }
            return true;
        }
        // Overload: marks cannot signal more, so the L queue drops as the C queue does.
        if self.low.recurs(self.classic_probability()) {
            return false;
        }
        kept.ecn = Ecn::Ce;
        true
    }

    /// The next packet of the C queue.
    fn judge_classic(&mut self, kept: &mut Kept, spared: bool) -> bool {
        if spared || !self.classic.recurs(self.classic_probability()) {
            return true;
        }
        let overload = self.spec.overload == Overload::Drop && self.coupled_probability() >= 1.0;
        if !kept.ecn.is_capable() || overload {
            return false;
        }
        kept.ecn = Ecn::Ce;
        true
    }
}

impl Order for DualPi2 {
    fn push(&mut self, kept: Kept, _packet: &Packet, _out: &mut Outbox) {
        self.advance(kept.since);
        let side = match kept.ecn {
            Ecn::Ect1 | Ecn::Ce => &mut self.low,
            Ecn::NotEct | Ecn::Ect0 => &mut self.classic,
        };
        side.packets.put(kept);
    }

    fn pop(&mut self, now: u64, out: &mut Outbox) {
        self.advance(now);
        loop {
            let bytes = self.low.packets.bytes() + self.classic.packets.bytes();
            let low = self.serves_low(now);
            let side = if low { &mut self.low } else { &mut self.classic };
            let Some(mut kept) = side.packets.take() else { return self.reset_credit() };
            let spared = bytes < 2 * u64::from(self.spec.mtu);
            let stays = if low {
                self.judge_low(&mut kept, now, spared)
            } else {
                self.judge_classic(&mut kept, spared)
            };
            if stays {
                self.charge(low, kept.size);
                out.push_back(Leaving::Sent(kept));
                return;
            }
            out.push_back(Leaving::Dropped(kept, Cause::DualPi2));
        }
    }

    fn causes(&self) -> &'static [Cause] {
        &[Cause::DualPi2]
    }
}

#[cfg(test)]
mod tests;
