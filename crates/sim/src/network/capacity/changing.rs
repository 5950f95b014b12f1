//! A rate that changes at the times of a [`Schedule`], which are known in advance.
//!
//! A packet that is being sent at a change continues at the new rate. The times are as exact as those of a link with one
//! rate: the fraction of a picosecond after each packet is carried to the next one.

use super::Transmitted;
use crate::network::schedule::Schedule;

/// What a byte costs: bits times picoseconds in a second, to be paid at the rate of each picosecond.
const PER_BYTE: u128 = 8 * 1_000_000_000_000;
/// Bits per second that stand for infinitely many: no packet takes a picosecond.
pub(crate) const INFINITE: u64 = u64::MAX;

/// The transmitter of a link whose rate changes.
#[derive(Clone, Debug)]
pub(crate) struct Changing {
    /// Bits per second, never zero.
    rates: Schedule<u64>,
    /// When the last packet had left, and the fraction of a picosecond on top of it, in bits per second times picoseconds.
    free: u64,
    remainder: u128,
    /// Picoseconds in which it was busy.
    busy: u128,
}

impl Changing {
    pub(super) const fn new(rates: Schedule<u64>) -> Self {
        Self { rates, free: 0, remainder: 0, busy: 0 }
    }

    pub(super) fn transmit(&mut self, start: u64, size: u32) -> Transmitted {
        let carried = if start > self.free { 0 } else { self.remainder };
        let mut work = u128::from(size) * PER_BYTE + carried;
        let mut at = start;
        let departure = loop {
            let (rate, end) = (u128::from(self.rates.at(at)), self.rates.until(at));
            let possible = rate * u128::from(end - at);
            if work <= possible || end == u64::MAX {
                self.remainder = work % rate;
                break at.saturating_add(u64::try_from(work / rate).unwrap_or(u64::MAX));
            }
            work -= possible;
            at = end;
        };
        self.busy += u128::from(departure - start);
        self.free = departure;
        Transmitted { departure, free: departure }
    }

    /// Picoseconds up to `end` in which it was busy.
    pub(super) fn busy(&self, end: u64) -> u128 {
        self.busy.saturating_sub(u128::from(self.free.saturating_sub(end)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::schedule::Change;
    use netspurt_tcp::time::Time;

    const US: u64 = 1_000_000;

    #[test]
    fn a_packet_leaves_at_the_rates_of_its_time() {
        // 8 Mbit/s is a byte a microsecond; from 1000 µs on twice that.
        let change = Change { at: Time::from_ps(1000 * US), every: None, until: None, value: 16_000_000 };
        let mut link = Changing::new(Schedule::new(8_000_000, &[change]));
        assert_eq!(link.transmit(0, 400).departure, 400 * US);
        assert_eq!(link.transmit(400 * US, 1000).departure, (1000 + 200) * US);
        assert_eq!(link.transmit(2000 * US, 100).departure, 2050 * US);
        assert_eq!([link.busy(2050 * US), link.busy(2000 * US)], [1250, 1200].map(|us| us * u128::from(US)));
    }

    #[test]
    fn one_rate_is_what_a_link_of_that_rate_does() {
        let mut link = Changing::new(Schedule::new(7, &[]));
        let mut at = 0;
        for n in 1..100u128 {
            at = link.transmit(at, 1).departure;
            assert_eq!(u128::from(at), n * PER_BYTE / 7);
        }
    }

    #[test]
    fn an_infinite_rate_takes_no_time() {
        let mut link = Changing::new(Schedule::new(INFINITE, &[]));
        assert_eq!(link.transmit(5, 1 << 20).departure, 5);
    }
}
