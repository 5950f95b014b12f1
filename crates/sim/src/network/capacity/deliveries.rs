//! Delivery opportunities: the recordings of Mahimahi (Netravali et al., "Mahimahi: accurate record-and-replay for HTTP",
//! USENIX ATC 2015, section 4) and of Winstein et al. (Sprout, NSDI 2013).
//!
//! An opportunity is an instant at which a number of bytes may leave, of packets that arrived *before* it. Several packets
//! share one, a packet may need several, and an opportunity without a waiting packet is lost.

use super::Transmitted;
use std::sync::Arc;

/// Bytes of an opportunity: an MTU of 1500 and the four that a TUN device adds.
pub const OPPORTUNITY: u32 = 1504;

const MS: u64 = 1_000_000_000;

/// Instants, again and again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deliveries {
    /// Milliseconds since the recording began, never falling. The last one is above zero, and where it begins anew.
    at: Box<[u64]>,
}

impl Deliveries {
    /// These milliseconds, which never fall and end above zero; `None` if they do not.
    pub fn new(milliseconds: &[u64]) -> Option<Self> {
        let fine = milliseconds.is_sorted() && milliseconds.last().is_some_and(|&last| last > 0);
        fine.then(|| Self { at: milliseconds.into() })
    }

    fn period(&self) -> u64 {
        self.at[self.at.len() - 1].saturating_mul(MS)
    }

    pub(super) fn mean_rate(&self) -> u64 {
        let bits = self.at.len() as u128 * u128::from(OPPORTUNITY) * 8;
        (bits * 1_000 / u128::from(self.at[self.at.len() - 1])) as u64
    }

    /// When the opportunity of this number is, counted through all repetitions.
    fn time(&self, number: u64) -> u64 {
        let len = self.at.len() as u64;
        let (round, place) = (number / len, (number % len) as usize);
        round.saturating_mul(self.period()).saturating_add(self.at[place].saturating_mul(MS))
    }

    /// The first opportunity after `now`.
    fn after(&self, now: u64) -> u64 {
        let (round, into) = (now / self.period(), now % self.period());
        round * self.at.len() as u64 + self.at.partition_point(|&at| at * MS <= into) as u64
    }
}

/// A place in a recording.
#[derive(Clone, Debug)]
pub(crate) struct Cursor {
    recording: Arc<Deliveries>,
    /// The opportunity that the next byte takes, unless it comes too late for it.
    number: u64,
    /// How many bytes are left of it.
    left: u32,
}

impl Cursor {
    pub(super) fn new(recording: Arc<Deliveries>) -> Self {
        Self { recording, number: 0, left: OPPORTUNITY }
    }

    fn advance(&mut self, number: u64) {
        (self.number, self.left) = (number, OPPORTUNITY);
    }

    /// An opportunity serves what came before it.
    pub(super) fn attune(&mut self, now: u64) -> u64 {
        if self.recording.time(self.number) <= now {
            let next = self.recording.after(now);
            // Two opportunities may be at the same instant, the end of one round and the beginning of the next.
            self.advance(next.max(self.number));
        }
        self.recording.time(self.number)
    }

    pub(super) fn transmit(&mut self, size: u32) -> Transmitted {
        let mut needed = size;
        while needed > self.left {
            needed -= self.left;
            self.advance(self.number + 1);
        }
        self.left -= needed;
        let departure = self.recording.time(self.number);
        if self.left == 0 {
            self.advance(self.number + 1);
        }
        Transmitted { departure, free: self.recording.time(self.number) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cursor(milliseconds: &[u64]) -> Cursor {
        Cursor::new(Arc::new(Deliveries::new(milliseconds).unwrap()))
    }

    /// In milliseconds.
    fn transmit(cursor: &mut Cursor, size: u32) -> (u64, u64) {
        let Transmitted { departure, free } = cursor.transmit(size);
        assert_eq!((departure % MS, free % MS), (0, 0));
        (departure / MS, free / MS)
    }

    #[test]
    fn the_recording_begins_anew_at_its_last_instant() {
        let mut cursor = cursor(&[2, 3, 7]);
        let times: Vec<u64> = (0..7).map(|_| transmit(&mut cursor, OPPORTUNITY).0).collect();
        assert_eq!(times, [2, 3, 7, 9, 10, 14, 16]);
    }

    #[test]
    fn packets_share_an_opportunity_and_take_several() {
        let mut cursor = cursor(&[5, 10, 15]);
        assert_eq!(transmit(&mut cursor, 1000), (5, 5));
        assert_eq!(transmit(&mut cursor, 504), (5, 10), "it is used up");
        assert_eq!(transmit(&mut cursor, 2000), (15, 15));
        assert_eq!(transmit(&mut cursor, 1008), (15, 20));
        assert_eq!(transmit(&mut cursor, 3 * 1504 + 1), (35, 35), "20, 25, 30 and an octet at 35");
    }

    #[test]
    fn an_opportunity_without_a_packet_is_lost_and_so_is_the_rest_of_one() {
        let mut cursor = cursor(&[5, 10, 15]);
        assert_eq!(cursor.attune(0) / MS, 5);
        assert_eq!(transmit(&mut cursor, 100), (5, 5));
        assert_eq!(cursor.attune(5 * MS) / MS, 10, "it serves what came before");
        assert_eq!(cursor.attune(10 * MS - 1) / MS, 10);
        assert_eq!(cursor.attune(15 * MS) / MS, 20);
        assert_eq!(cursor.attune(1_000_000 * MS) / MS, 1_000_005);
        assert_eq!(transmit(&mut cursor, 1504), (1_000_005, 1_000_010));
    }

    #[test]
    fn several_opportunities_at_one_instant_are_several() {
        let mut cursor = cursor(&[0, 0, 4, 4]);
        assert_eq!(cursor.attune(0) / MS, 4, "those at the very beginning come too early for everybody");
        let times: Vec<u64> = (0..6).map(|_| transmit(&mut cursor, OPPORTUNITY).0).collect();
        assert_eq!(times, [4, 4, 4, 4, 8, 8]);
    }

    #[test]
    fn the_mean_rate_is_that_of_a_round() {
        assert_eq!(Deliveries::new(&[1]).unwrap().mean_rate(), 12_032_000);
        assert_eq!(Deliveries::new(&[1, 1, 4]).unwrap().mean_rate(), 3 * 12_032_000 / 4);
    }

    #[test]
    fn a_recording_that_goes_back_or_takes_no_time_is_refused() {
        for wrong in [&[][..], &[0], &[0, 0], &[3, 2]] {
            assert_eq!(Deliveries::new(wrong), None, "{wrong:?}");
        }
    }
}
