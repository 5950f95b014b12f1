//! ACK aggregation: the bytes acknowledged in excess of the estimated rate. With aggregated ACKs a sender needs this
//! amount in addition in flight (Linux, `tcp_bbr.c`, `bbr_update_ack_aggregation()`).

use crate::congestion::pacing;
use crate::time::{Span, Time};

/// An epoch restarts after this amount was acknowledged; in segments.
const LONGEST: u64 = 1 << 20;
/// The addition is at most the data of this time at the estimated rate.
const MOST: Span = Span::from_ms(100);

/// The recent excess.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in crate::congestion) struct Aggregation {
    /// The start of the epoch, and the bytes acknowledged in it.
    began: Time,
    acked: u64,
    /// The largest excess of this window and of the one before, which of them is which, and the age of this one in rounds.
    excess: [u64; 2],
    current: usize,
    age: u8,
}

/// The input from an ACK.
#[derive(Clone, Copy, Debug)]
pub(in crate::congestion) struct Delivered {
    pub(in crate::congestion) at: Time,
    pub(in crate::congestion) bytes: u64,
    pub(in crate::congestion) mss: u64,
    /// The estimate of the path's rate.
    pub(in crate::congestion) bandwidth: u64,
    pub(in crate::congestion) cwnd: u64,
    /// A round begins with it.
    pub(in crate::congestion) round_start: bool,
    /// What is expected is counted in units of so many bytes.
    pub(in crate::congestion) unit: u64,
    /// Rounds that a maximum is kept: as long, and as long again.
    pub(in crate::congestion) window: u8,
}

impl Aggregation {
    /// Restarts the epoch.
    pub(in crate::congestion) fn restart(&mut self, now: Time) {
        (self.began, self.acked) = (now, 0);
    }

    /// An acknowledgment.
    pub(in crate::congestion) fn add(&mut self, delivered: Delivered) {
        if delivered.round_start {
            self.age += 1;
            if self.age >= delivered.window {
                self.age = 0;
                self.current = 1 - self.current;
                self.excess[self.current] = 0;
            }
        }
        let unit = delivered.unit.max(1);
        let mut expected = pacing::volume(delivered.bandwidth, delivered.at - self.began) / unit * unit;
        if self.acked <= expected || self.acked + delivered.bytes >= LONGEST * delivered.mss {
            self.restart(delivered.at);
            expected = 0;
        }
        self.acked += delivered.bytes;
        let excess = self.acked.saturating_sub(expected).min(delivered.cwnd);
        self.excess[self.current] = self.excess[self.current].max(excess);
    }

    /// The additional bytes in flight.
    pub(in crate::congestion) fn allowance(&self, bandwidth: u64) -> u64 {
        self.excess[0].max(self.excess[1]).min(pacing::volume(bandwidth, MOST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1000 bytes a millisecond, acknowledged in lumps of `lump`.
    fn after_lumps(aggregation: &mut Aggregation, from: u64, lump: u64, rounds: u64) {
        for n in 0..20 * rounds {
            aggregation.add(Delivered {
                at: Time::ZERO + Span::from_ms(from + lump * n),
                bytes: 1000 * lump,
                mss: 1000,
                bandwidth: 1_000_000,
                cwnd: 100_000,
                round_start: n % 20 == 0,
                unit: 1,
                window: 5,
            });
        }
    }

    #[test]
    fn aggregated_acks_are_the_excess_and_expire_after_ten_rounds() {
        let mut aggregation = Aggregation::default();
        after_lumps(&mut aggregation, 1, 12, 5);
        assert_eq!(aggregation.allowance(1_000_000), 12_000);
        after_lumps(&mut aggregation, 2000, 1, 4);
        assert_eq!(aggregation.allowance(1_000_000), 12_000);
        after_lumps(&mut aggregation, 3000, 1, 7);
        assert_eq!(aggregation.allowance(1_000_000), 1000);
    }

    #[test]
    fn the_allowance_is_at_most_the_data_of_a_tenth_of_a_second() {
        let mut aggregation = Aggregation::default();
        after_lumps(&mut aggregation, 1, 60, 1);
        assert_eq!(aggregation.allowance(100_000), 10_000);
    }
}
