//! Random early detection (Floyd and Jacobson, IEEE/ACM ToN 1(4), 1993): drops packets on arrival with a
//! probability that increases with the average queue.
//!
//! The average follows the queue slowly, with each arrival; while the link is idle it falls as if small packets had
//! come to an empty queue. Between `min` and `max` a packet is dropped with a probability that rises to `max_p`, spread
//! so that the gaps between drops are even rather than random. Above `max` every packet is dropped; in the *gentle*
//! variant (Floyd, 2000) the probability rises from `max_p` to 1 between `max` and twice that.
//!
//! A queue measured in bytes does not make the drop of a large packet more likely (RFC 7141, section 2.2).

use crate::network::loss::Cause;
use crate::network::queue::Backlog;
use crate::network::queue::OnArrival;
use crate::random::Stream;
use crate::spec::{RedSpec, Unit};
use netspurt_tcp::segment::Ecn;
use netspurt_tcp::time::Span;

/// The state of one queue.
#[derive(Clone, Debug)]
pub struct Red {
    spec: RedSpec,
    /// The transmission time of a packet of mean size in picoseconds; 0 on an infinitely fast link.
    packet_time: f64,
    average: f64,
    /// Packets since the last one that was dropped, or since the first that found the average above `min`.
    count: Option<u64>,
    stream: Stream,
}

impl Red {
    /// An empty queue before a link of `rate` bits a second.
    pub fn new(spec: RedSpec, rate: Option<u64>, stream: Stream) -> Self {
        let packet_time = rate.map_or(0.0, |rate| f64::from(spec.mean_packet) * 8e12 / rate as f64);
        Self { spec, packet_time, average: 0.0, count: None, stream }
    }

    /// The average queue, in the unit of the thresholds.
    pub const fn average(&self) -> f64 {
        self.average
    }

    /// The verdict on an arriving packet. If the average requires a drop of every packet, the packet is dropped and not
    /// marked, because some senders may ignore marks (RFC 3168, section 7).
    pub(crate) fn judge(&mut self, backlog: Backlog, idle: Option<Span>, ecn: Ecn) -> OnArrival {
        if !self.drops(backlog, idle) {
            OnArrival::Pass
        } else if self.spec.ecn && ecn.is_capable() && self.spec.probability(self.average) < 1.0 {
            OnArrival::Mark
        } else {
            OnArrival::Drop(Cause::Red)
        }
    }

    /// A packet arrives at `backlog`, or after the transmitter has been idle for `idle`. Returns whether it is dropped (or
    /// marked instead).
    pub fn drops(&mut self, backlog: Backlog, idle: Option<Span>) -> bool {
        self.average = match idle {
            Some(idle) if self.packet_time > 0.0 => {
                self.average * libm::pow(1.0 - self.spec.weight, idle.as_ps() as f64 / self.packet_time)
            }
            Some(_) => 0.0,
            None => {
                let queue = match self.spec.unit {
                    Unit::Packets => f64::from(backlog.packets),
                    Unit::Bytes => backlog.bytes as f64,
                };
                self.average + self.spec.weight * (queue - self.average)
            }
        };
        let probability = self.spec.probability(self.average);
        if probability <= 0.0 {
            self.count = None;
            return false;
        }
        let count = self.count.map_or(0, |count| count + 1);
        let drops = probability >= 1.0 || self.stream.unit() < spread(probability, count);
        self.count = Some(if drops { 0 } else { count });
        drops
    }
}

/// The probability after `count` packets that were let in, such that the distance between drops is distributed evenly
/// instead of geometrically: equation 2 of the paper.
fn spread(probability: f64, count: u64) -> f64 {
    let left = 1.0 - count as f64 * probability;
    if left > probability { probability / left } else { 1.0 }
}

impl RedSpec {
    /// The initial drop probability at this average queue: p_b of the paper.
    pub fn probability(&self, average: f64) -> f64 {
        let Self { min, max, max_p, .. } = *self;
        if average < min {
            0.0
        } else if average < max {
            max_p * (average - min) / (max - min)
        } else if self.gentle && average < 2.0 * max {
            max_p + (1.0 - max_p) * (average - max) / max
        } else {
            1.0
        }
    }

    /// Thresholds and weight for a link of `rate`, as ns-2 chooses them: `min` is half of what the link sends in 5 ms,
    /// but at least 5 packets, `max` three times that; the average follows with a time constant of one second, if the
    /// link is busy. On an infinitely fast link: 5 and 15 packets, and the 0.002 of the paper.
    pub fn for_rate(rate: Option<u64>, unit: Unit, mean_packet: u32) -> Self {
        let per_second = rate.map(|rate| rate as f64 / (8.0 * f64::from(mean_packet)));
        let scale = match unit {
            Unit::Packets => 1.0,
            Unit::Bytes => f64::from(mean_packet),
        };
        let min = scale * per_second.map_or(5.0, |packets| (0.005 * packets / 2.0).max(5.0));
        Self {
            room: crate::network::queue::Room::Unlimited,
            unit,
            min,
            max: 3.0 * min,
            max_p: 0.1,
            weight: per_second.map_or(0.002, |packets| -libm::expm1(-1.0 / packets)),
            gentle: true,
            mean_packet,
            ecn: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::queue::Room;

    const SPEC: RedSpec = RedSpec {
        room: Room::Unlimited,
        unit: Unit::Packets,
        min: 5.0,
        max: 15.0,
        max_p: 0.2,
        weight: 0.002,
        gentle: false,
        mean_packet: 1000,
        ecn: false,
    };

    fn packets(packets: u32) -> Backlog {
        Backlog { packets, bytes: 1000 * u64::from(packets) }
    }

    fn red(spec: RedSpec) -> Red {
        Red::new(spec, Some(8_000_000), Stream::new(5, "red"))
    }

    fn assert_near(got: f64, expected: f64) {
        assert!((got - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{got} instead of {expected}");
    }

    #[test]
    fn the_average_follows_a_step_as_a_low_pass_filter_does() {
        let mut red = red(SPEC);
        for n in 1..=2000 {
            red.drops(packets(4), None);
            assert_near(red.average(), 4.0 * (1.0 - libm::pow(1.0 - SPEC.weight, f64::from(n))));
        }
        // Section 6 of the paper: a burst of L packets brings the average to L + 1 + ((1 - w)^(L+1) - 1) / w.
        let mut red = Red::new(RedSpec { min: 99.0, max: 100.0, ..SPEC }, None, Stream::new(5, "red"));
        for queue in 1..=50 {
            red.drops(packets(queue), None);
        }
        let burst = 51.0 + (libm::pow(1.0 - SPEC.weight, 51.0) - 1.0) / SPEC.weight;
        assert_near(red.average(), burst);
    }

    #[test]
    fn idling_counts_as_so_many_packets_that_found_nothing() {
        let mut red = red(SPEC);
        for _ in 0..500 {
            red.drops(packets(4), None);
        }
        let before = red.average();
        // A packet of 1000 bytes takes 1 ms.
        red.drops(packets(0), Some(Span::from_ms(300)));
        assert_near(red.average(), before * libm::pow(1.0 - SPEC.weight, 300.0));
        let mut instant = Red::new(SPEC, None, Stream::new(5, "red"));
        instant.drops(packets(4), None);
        instant.drops(packets(0), Some(Span::from_ns(1)));
        assert_near(instant.average(), 0.0);
    }

    #[test]
    fn the_probability_rises_in_straight_lines() {
        let gentle = RedSpec { gentle: true, ..SPEC };
        for (average, strict, soft) in [
            (4.999, 0.0, 0.0),
            (5.0, 0.0, 0.0),
            (7.5, 0.05, 0.05),
            (10.0, 0.1, 0.1),
            (15.0, 1.0, 0.2),
            (22.5, 1.0, 0.6),
            (30.0, 1.0, 1.0),
            (99.0, 1.0, 1.0),
        ] {
            assert_near(SPEC.probability(average), strict);
            assert_near(gentle.probability(average), soft);
        }
    }

    /// Distances between drops at an average of `queue`, after the first one.
    fn gaps(queue: u32, n: u32) -> Vec<usize> {
        let mut red = red(RedSpec { weight: 1.0, ..SPEC });
        let dropped = (0..n as usize).filter(|_| red.drops(packets(queue), None)).collect::<Vec<_>>();
        dropped.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }

    #[test]
    fn gaps_between_drops_are_distributed_evenly() {
        // p = 0.1. The paper's algorithm counts the packet that was dropped: a gap is one of 1 … 1/p - 1.
        let gaps = gaps(10, 900_000);
        let mut seen = [0u32; 11];
        for &gap in &gaps {
            seen[gap.min(10)] += 1;
        }
        assert_eq!((seen[0], seen[10]), (0, 0));
        let expected = gaps.len() as f64 / 9.0;
        let chi: f64 = seen[1..10].iter().map(|&n| (f64::from(n) - expected).powi(2) / expected).sum();
        // 8 degrees of freedom: 26.1 is exceeded once in a thousand times.
        assert!(chi < 26.1, "{chi}: {seen:?}");
        let mean = gaps.iter().sum::<usize>() as f64 / gaps.len() as f64;
        assert!((mean - 5.0).abs() < 0.02, "{mean}");
    }

    #[test]
    fn all_is_dropped_above_and_nothing_below() {
        assert!(gaps(15, 100).iter().all(|&gap| gap == 1));
        assert_eq!(gaps(15, 100).len(), 99);
        assert_eq!(gaps(4, 10_000).len(), 0);
    }

    #[test]
    fn what_can_be_marked_is_marked_unless_all_would_be_dropped() {
        let mut red = red(RedSpec { weight: 1.0, ecn: true, ..SPEC });
        let mut all = |queue, ecn| {
            let mut seen: Vec<_> = (0..1000).map(|_| red.judge(packets(queue), None, ecn)).collect();
            seen.sort_by_key(|verdict| format!("{verdict:?}"));
            seen.dedup();
            seen
        };
        let dropped = OnArrival::Drop(Cause::Red);
        assert_eq!(all(10, Ecn::Ect0), [OnArrival::Mark, OnArrival::Pass]);
        assert_eq!(all(10, Ecn::NotEct), [dropped, OnArrival::Pass]);
        assert_eq!(all(15, Ecn::Ect0), [dropped]);
    }

    #[test]
    fn a_queue_measured_in_octets_has_thresholds_in_octets() {
        let bytes = RedSpec { unit: Unit::Bytes, min: 5000.0, max: 15_000.0, weight: 1.0, ..SPEC };
        let mut red = red(bytes);
        red.drops(Backlog { packets: 100, bytes: 4000 }, None);
        assert_near(red.average(), 4000.0);
        assert!(red.drops(Backlog { packets: 1, bytes: 15_000 }, None));
    }

    #[test]
    fn thresholds_and_weight_suit_the_link() {
        let slow = RedSpec::for_rate(Some(10_000_000), Unit::Packets, 1000);
        assert_near(slow.min, 5.0);
        assert_near(slow.max, 15.0);
        assert_near(slow.weight, 1.0 - libm::exp(-1.0 / 1250.0));
        let fast = RedSpec::for_rate(Some(100_000_000), Unit::Bytes, 1000);
        assert_near(fast.min, 31_250.0);
        assert_near(fast.max, 93_750.0);
        let instant = RedSpec::for_rate(None, Unit::Packets, 1000);
        assert_near(instant.weight, 0.002);
    }
}
