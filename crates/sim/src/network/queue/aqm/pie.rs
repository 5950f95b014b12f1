//! PIE (RFC 8033): drops packets on arrival with a probability that a proportional-integral controller adjusts to a target
//! delay. DOCSIS-PIE (RFC 8034) is the variant for cable modems.
//!
//! The controller updates its probability at fixed intervals. Overdue updates are computed when a packet arrives or leaves,
//! so no event is needed.
//!
//! The delay is the waiting time of the last packet that left (RFC 8033, section 5.1, with timestamps, as in Linux).
//! DOCSIS-PIE divides the backlog by the rate, which a modem knows (RFC 8034, section 4.2).

use crate::network::loss::Cause;
use crate::network::packet::Packet;
use crate::network::queue::admission::OnArrival;
use crate::network::queue::fifo::Fifo;
use crate::network::queue::order::{Kept, Leaving, Order, Outbox, send};
use crate::random::Stream;
use crate::spec::{PieForm, PieSpec};
use netspurt_tcp::segment::Ecn;
use netspurt_tcp::time::Span;

/// Picoseconds of a second.
const SECOND: f64 = 1e12;
/// Below this sum of probabilities no packet is dropped (RFC 8033, section 5.4).
const LEAST_SUM: f64 = 0.85;
/// From this sum on the packet is dropped.
const MOST_SUM: f64 = 8.5;
/// Up to this probability packets are marked instead of dropped (RFC 8033, section 5.1).
const MARKED_BELOW: f64 = 0.1;
/// The maximum step of the probability if it is at least 0.1.
const LARGEST_STEP: f64 = 0.02;
/// The factor of the probability in each interval without a queue.
const DECAY: f64 = 0.98;
/// The smallest packet size for the bound of the probability in DOCSIS-PIE (RFC 8034, appendix A).
const DOCSIS_SMALLEST: f64 = 64.0;
/// The delay below which DOCSIS-PIE reduces its probability, and the delay above which it adds a step.
const DOCSIS_LATENCY: [Span; 2] = [Span::from_ms(5), Span::from_ms(200)];
/// After this time without a queue a burst is permitted again.
const DOCSIS_RESET: Span = Span::from_secs(1);

/// The state of DOCSIS-PIE (RFC 8034, section 4.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Phase {
    /// Inactive: a third of the buffer is free for a burst.
    #[default]
    Inactive,
    /// Active: it drops after the burst allowance.
    Active,
    /// There was no queue recently. The next drop makes it active without another burst allowance.
    Quiescent,
}

/// The state of one queue. Times are picoseconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(in crate::network::queue) struct Controller {
    probability: f64,
    /// The sum of the drop probabilities since the last drop.
    sum: f64,
    wait: u64,
    last_wait: u64,
    /// The remaining burst allowance.
    burst: u64,
    /// The time of the next update.
    due: u64,
    phase: Phase,
    /// How long there has been no queue.
    quiet: u64,
}

impl Controller {
    pub(in crate::network::queue) const fn new(spec: &PieSpec) -> Self {
        let burst = match spec.form {
            PieForm::Rfc8033 => spec.max_burst.as_ps(),
            PieForm::Docsis { .. } => 0,
        };
        Self {
            probability: 0.0,
            sum: 0.0,
            wait: 0,
            last_wait: 0,
            burst,
            due: spec.update.as_ps(),
            phase: Phase::Inactive,
            quiet: 0,
        }
    }

    /// The drop probability of the next packet, without the factor of its size.
    #[cfg(test)]
    pub(in crate::network::queue) const fn probability(&self) -> f64 {
        self.probability
    }

    /// Computes overdue updates. The backlog was `bytes` since the last packet arrived or left.
    pub(in crate::network::queue) fn advance(&mut self, spec: &PieSpec, bytes: u64, now: u64) {
        let interval = spec.update.as_ps().max(1);
        while self.due <= now {
            let before = *self;
            if let PieForm::Docsis { rate, .. } = spec.form {
                self.wait = wait_at(bytes, rate);
            }
            match spec.form {
                PieForm::Rfc8033 => self.update(spec),
                PieForm::Docsis { .. } => self.update_docsis(spec),
            }
            if *self == before {
                // Nothing changes any more.
                self.due += (now - self.due) / interval * interval;
            }
            self.due = self.due.saturating_add(interval);
        }
    }

    /// RFC 8033, section 4.2 and appendix A.
    fn update(&mut self, spec: &PieSpec) {
        self.step(spec);
        if self.wait == 0 && self.last_wait == 0 {
            self.probability *= DECAY;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.last_wait = self.wait;
        self.burst = self.burst.saturating_sub(spec.update.as_ps());
    }

    /// RFC 8034, appendix A.
    fn update_docsis(&mut self, spec: &PieSpec) {
        let [low, high] = DOCSIS_LATENCY.map(Span::as_ps);
        if self.burst > 0 {
            self.probability = 0.0;
            self.burst = self.burst.saturating_sub(spec.update.as_ps());
        } else {
            self.step(spec);
            if self.wait < low && self.last_wait < low {
                self.probability *= DECAY;
            } else if self.wait > high {
                self.probability += LARGEST_STEP;
            }
            let most = LEAST_SUM * f64::from(spec.mean_packet) / DOCSIS_SMALLEST;
            self.probability = self.probability.clamp(0.0, most);
        }
        let quiet = self.is_below_half(spec) && self.probability <= 0.0 && self.burst == 0;
        match self.phase {
            Phase::Active if quiet => (self.phase, self.quiet) = (Phase::Quiescent, 0),
            Phase::Quiescent if quiet => {
                self.quiet += spec.update.as_ps();
                if self.quiet > DOCSIS_RESET.as_ps() {
                    (self.phase, self.quiet) = (Phase::Inactive, 0);
                }
            }
            Phase::Quiescent => self.quiet = 0,
            Phase::Inactive | Phase::Active => {}
        }
        self.last_wait = self.wait;
    }

    /// The step of the controller, the smaller the smaller the probability (RFC 8033, section 4.2), and in DOCSIS-PIE the
    /// larger
    /// where it is large (RFC 8034, section 4.4).
    fn step(&mut self, spec: &PieSpec) {
        let [wait, last, target] =
            [self.wait, self.last_wait, spec.target.as_ps()].map(|ps| ps as f64 / SECOND);
        let step = spec.alpha * (wait - target) + spec.beta * (wait - last);
        let scale = match self.probability {
            p if p < 0.000_001 => 1.0 / 2048.0,
            p if p < 0.000_01 => 1.0 / 512.0,
            p if p < 0.000_1 => 1.0 / 128.0,
            p if p < 0.001 => 1.0 / 32.0,
            p if p < 0.01 => 1.0 / 8.0,
            p if p < 0.1 => 1.0 / 2.0,
            _ if spec.form == PieForm::Rfc8033 => 1.0,
            p if p < 1.0 => 2.0,
            p if p < 10.0 => 8.0,
            _ => 32.0,
        };
        let step = step * scale;
        self.probability += if self.probability >= 0.1 { step.min(LARGEST_STEP) } else { step };
    }

    const fn is_below_half(&self, spec: &PieSpec) -> bool {
        let half = spec.target.as_ps() / 2;
        self.wait < half && self.last_wait < half
    }

    /// The verdict on a packet of `size` bytes that arrives at a backlog of `bytes`.
    pub(in crate::network::queue) fn judge(
        &mut self,
        spec: &PieSpec,
        (bytes, size): (u64, u32),
        ecn: Ecn,
        stream: &mut Stream,
    ) -> OnArrival {
        match spec.form {
            PieForm::Rfc8033 => {
                if self.probability <= 0.0 && self.is_below_half(spec) {
                    self.burst = spec.max_burst.as_ps();
                }
            }
            PieForm::Docsis { buffer, .. } => {
                if self.phase == Phase::Inactive {
                    if bytes < buffer / 3 {
                        return OnArrival::Pass;
                    }
                    (self.phase, self.burst) = (Phase::Active, spec.max_burst.as_ps());
                }
            }
        }
        if self.burst > 0 || !self.drops(spec, bytes, size, stream) {
            return OnArrival::Pass;
        }
        self.sum = 0.0;
        if self.phase == Phase::Quiescent {
            self.phase = Phase::Active;
        }
        if spec.ecn && ecn.is_capable() && self.probability < MARKED_BELOW {
            OnArrival::Mark
        } else {
            OnArrival::Drop(Cause::Pie)
        }
    }

    /// RFC 8033, section 4.1 and 5.4: a random decision, but no drop if the link could become idle, and no clusters of drops.
    fn drops(&mut self, spec: &PieSpec, bytes: u64, size: u32, stream: &mut Stream) -> bool {
        let mean = f64::from(spec.mean_packet);
        let share = if spec.by_size { self.probability * f64::from(size) / mean } else { self.probability };
        let docsis = spec.form != PieForm::Rfc8033;
        let share = if docsis { share.min(LEAST_SUM) } else { share };
        if self.probability <= 0.0 {
            self.sum = 0.0;
        }
        let spared = self.last_wait < spec.target.as_ps() / 2 && self.probability < 0.2
            || bytes <= 2 * u64::from(spec.mean_packet);
        // RFC 8034's pseudo-code counts packets that are spared, RFC 8033's does not.
        if docsis || !spared {
            self.sum += share;
        }
        if spared || self.sum < LEAST_SUM {
            return false;
        }
        self.sum >= MOST_SUM || stream.unit() < share
    }

    /// A packet leaves that arrived at `since`; the backlog is `bytes` afterwards.
    pub(in crate::network::queue) const fn departs(&mut self, since: u64, now: u64, bytes: u64) {
        self.wait = if bytes == 0 { 0 } else { now - since };
    }
}

/// The transmission time of this many bytes.
fn wait_at(bytes: u64, rate: u64) -> u64 {
    let wait = u128::from(bytes) * 8_000_000_000_000 / u128::from(rate.max(1));
    u64::try_from(wait).unwrap_or(u64::MAX)
}

/// A queue under PIE's control.
#[derive(Debug)]
pub(in crate::network::queue) struct Pie {
    spec: PieSpec,
    packets: Fifo,
    controller: Controller,
    stream: Stream,
}

impl Pie {
    pub(in crate::network::queue) fn new(spec: PieSpec, stream: Stream) -> Self {
        Self { spec, packets: Fifo::default(), controller: Controller::new(&spec), stream }
    }
}

/// A packet arrives at a queue under PIE's control: it waits or is dropped.
pub(in crate::network::queue) fn admit(
    spec: &PieSpec,
    (packets, controller): (&mut Fifo, &mut Controller),
    stream: &mut Stream,
    mut kept: Kept,
    out: &mut Outbox,
) -> bool {
    controller.advance(spec, packets.bytes(), kept.since);
    match controller.judge(spec, (packets.bytes(), kept.size), kept.ecn, stream) {
        OnArrival::Drop(cause) => {
            out.push_back(Leaving::Dropped(kept, cause));
            return false;
        }
        OnArrival::Mark => kept.ecn = Ecn::Ce,
        OnArrival::Pass => {}
    }
    packets.put(kept);
    true
}

/// The next packet leaves a queue under PIE's control.
pub(in crate::network::queue) fn release(
    spec: &PieSpec,
    (packets, controller): (&mut Fifo, &mut Controller),
    now: u64,
) -> Option<Kept> {
    controller.advance(spec, packets.bytes(), now);
    let kept = packets.take()?;
    controller.departs(kept.since, now, packets.bytes());
    Some(kept)
}

impl Order for Pie {
    fn push(&mut self, kept: Kept, _packet: &Packet, out: &mut Outbox) {
        admit(&self.spec, (&mut self.packets, &mut self.controller), &mut self.stream, kept, out);
    }

    fn pop(&mut self, now: u64, out: &mut Outbox) {
        let sent = release(&self.spec, (&mut self.packets, &mut self.controller), now);
        send(out, sent);
    }

    fn causes(&self) -> &'static [Cause] {
        &[Cause::Pie]
    }
}

#[cfg(test)]
#[path = "pie/tests.rs"]
mod tests;
