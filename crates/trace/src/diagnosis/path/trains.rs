//! The capacity of the path, from how fast trains of segments arrive.
//!
//! Segments that leave back to back are spread by the bottleneck, and their ACKs with them. The rate of a short train is the
//! capacity where the train was queued, and less where it contains a pause. So a high quantile of all trains shows the
//! capacity, even if the sender uses only a part of it.

use super::joining::Joining;

/// Bins of the histogram for each doubling of the rate.
const BINS: f64 = 32.0;
/// Bins in all: up to 2^44 bytes a second.
const ALL: usize = 44 * BINS as usize;
/// Segments in a train, at least and at most.
const LEAST: u64 = 3;
const MOST: u64 = 16;
/// An ACK of more segments than this released what had waited for a repair.
const JUMP: u64 = 8;

/// The trains of one direction.
#[derive(Debug, Default)]
pub(in crate::diagnosis) struct Trains {
    /// How many trains had a rate, by its logarithm. Empty until the first one.
    bins: Vec<u32>,
    count: u64,
    /// Begin of the train that is under way, in nanoseconds, and its bytes.
    began: Option<u64>,
    bytes: u64,
    /// Whether the path collects bytes and forwards them together.
    joining: Joining,
}

/// The bytes of a train, where `flight` bytes are outstanding.
pub(in crate::diagnosis) fn length(flight: u64, segment: u64) -> u64 {
    (flight / (2 * segment.max(1))).clamp(LEAST, MOST) * segment
}

impl Trains {
    /// `delivered` bytes were acknowledged at `at`, in nanoseconds, while `flight` bytes were outstanding before. Returns the
    /// rate in bytes per second of a train that ends here.
    pub(in crate::diagnosis) fn note(
        &mut self,
        at: u64,
        delivered: u64,
        flight: u64,
        segment: u64,
    ) -> Option<f64> {
        if segment == 0 || delivered == 0 {
            return None;
        }
        // A small flight has no train that is sure to be without a pause.
        let small = flight < 2 * LEAST * segment;
        let jumps = delivered > JUMP * segment;
        let Some(began) = self.began.filter(|_| !jumps && !small) else {
            (self.began, self.bytes) = (Some(at), 0);
            self.joining.begin(at);
            return None;
        };
        self.joining.note(at, delivered);
        self.bytes += delivered;
        if self.bytes < length(flight, segment) {
            return None;
        }
        let mut found = None;
        if at > began {
            let rate = self.bytes as f64 * 1e9 / (at - began) as f64;
            let bin = (rate.max(1.0).log2() * BINS) as usize;
            if self.bins.is_empty() {
                self.bins = vec![0; ALL];
            }
            self.bins[bin.min(ALL - 1)] += 1;
            self.count += 1;
            found = Some(rate);
        }
        (self.began, self.bytes) = (Some(at), 0);
        found
    }

    /// How many more bytes come together than are delivered at once, on average, on a path of this capacity in bytes per second.
    pub(in crate::diagnosis) fn joined(&self, capacity: f64) -> u64 {
        self.joining.bytes(capacity)
    }

    /// The next bytes have waited for something else than the path: they begin a train, and end none.
    pub(in crate::diagnosis) fn interrupt(&mut self) {
        self.began = None;
    }

    /// A quantile of their rates in bytes per second; `None` with too few trains.
    pub(in crate::diagnosis) fn rate(&self, quantile: f64) -> Option<f64> {
        if self.count < 4 {
            return None;
        }
        let above = ((1.0 - quantile) * self.count as f64) as u64;
        let mut seen = 0;
        for (bin, &count) in self.bins.iter().enumerate().rev() {
            seen += u64::from(count);
            if seen > above {
                return Some(((bin as f64 + 0.5) / BINS).exp2());
            }
        }
        None
    }
}

/// The quantile of the rates of ACKs that is compared with arrivals, and by which factor they may differ.
pub(in crate::diagnosis) const CAPACITY: f64 = 0.9;
pub(in crate::diagnosis) const NO_FASTER: f64 = 1.2;

/// Whether no segments arrive faster than they are acknowledged. Before the bottleneck some do: those of slow start, or those that one ACK
/// releases.
pub(in crate::diagnosis) fn come_no_faster(acks: &Trains, arrivals: &Trains) -> bool {
    let (most, acks) = (arrivals.rate(1.0), acks.rate(CAPACITY));
    most.zip(acks).is_some_and(|(most, acks)| most < acks * NO_FASTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_capacity_is_that_of_the_bursts() {
        let mut trains = Trains::default();
        let mut at = 0;
        for _round in 0..50 {
            // Twenty segments of 1000 bytes at 1 MB/s, then a pause of 80 ms.
            for _ in 0..20 {
                at += 1_000_000;
                trains.note(at, 1000, 20_000, 1000);
            }
            at += 80_000_000;
        }
        let capacity = trains.rate(0.9).unwrap();
        assert!((capacity / 1e6 - 1.0).abs() < 0.05, "{capacity}");
    }

    #[test]
    fn an_ack_that_jumps_after_a_repair_is_no_rate() {
        let mut trains = Trains::default();
        for n in 0..100 {
            trains.note(n * 1_000_000, if n % 40 == 0 { 500_000 } else { 1000 }, 20_000, 1000);
        }
        assert!(trains.rate(0.9).unwrap() < 1.1e6);
    }
}
