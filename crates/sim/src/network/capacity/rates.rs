//! A rate that changes at given instants and is constant in between.
//!
//! The times are as exact as those of a link with one rate: the fraction of a picosecond after each packet is carried on.

use super::Transmitted;
use std::sync::Arc;

/// What a byte costs: bits times picoseconds in a second, to be paid at the rate of each picosecond.
const PER_BYTE: u128 = 8 * 1_000_000_000_000;

/// From `from` on the rate is this.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece {
    /// Picoseconds since the recording began.
    pub from: u64,
    /// Bits per second.
    pub rate: u64,
}

/// Pieces, once or again and again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rates {
    pieces: Box<[Piece]>,
    /// After so many picoseconds it begins anew; [`u64::MAX`] if the last rate holds for ever.
    period: u64,
}

impl Rates {
    /// These pieces, the first from zero on, each later than the one before it, the period behind the last; one rate at
    /// least is above zero. `None` if it is otherwise.
    pub fn new(pieces: &[Piece], repeat: Option<u64>) -> Option<Self> {
        let period = repeat.unwrap_or(u64::MAX);
        let ordered = pieces.windows(2).all(|pair| pair[0].from < pair[1].from);
        let (first, last) = (pieces.first()?, pieces.last()?);
        let some = pieces.iter().any(|piece| piece.rate > 0);
        (ordered && first.from == 0 && last.from < period && some)
            .then(|| Self { pieces: pieces.into(), period })
    }

    /// When the piece of this number ends, counted within a round.
    fn end(&self, piece: usize) -> u64 {
        self.pieces.get(piece + 1).map_or(self.period, |next| next.from)
    }

    pub(super) fn mean_rate(&self) -> u64 {
        let last = self.pieces[self.pieces.len() - 1];
        let whole = if self.period == u64::MAX { last.from } else { self.period };
        if whole == 0 {
            return last.rate;
        }
        let bits = |piece: usize| {
            let Piece { from, rate } = self.pieces[piece];
            u128::from(rate) * u128::from(self.end(piece).min(whole) - from)
        };
        ((0..self.pieces.len()).map(bits).sum::<u128>() / u128::from(whole)) as u64
    }
}

/// A place in a recording.
#[derive(Clone, Debug)]
pub(crate) struct Cursor {
    recording: Arc<Rates>,
    /// When the round at hand began, and which of its pieces has been reached.
    round: u64,
    piece: usize,
    /// When the last packet had left, and the fraction of a picosecond on top of it, in bits per second times picoseconds.
    free: u64,
    remainder: u128,
}

impl Cursor {
    pub(super) const fn new(recording: Arc<Rates>) -> Self {
        Self { recording, round: 0, piece: 0, free: 0, remainder: 0 }
    }

    /// The end of the piece at hand.
    fn end(&self) -> u64 {
        self.round.saturating_add(self.recording.end(self.piece))
    }

    fn turn(&mut self) {
        self.piece += 1;
        if self.piece == self.recording.pieces.len() {
            (self.round, self.piece) = (self.end_of_round(), 0);
        }
    }

    fn end_of_round(&self) -> u64 {
        self.round.saturating_add(self.recording.period)
    }

    /// To the piece in which `now` lies.
    fn seek(&mut self, now: u64) {
        if now < self.end() {
            return;
        }
        let rates = &self.recording;
        let round = self.round + (now - self.round) / rates.period * rates.period;
        let piece = rates.pieces.partition_point(|piece| piece.from <= now - round) - 1;
        (self.round, self.piece) = (round, piece);
    }

    pub(super) fn transmit(&mut self, start: u64, size: u32) -> Transmitted {
        let carried = if start > self.free { 0 } else { self.remainder };
        let mut work = u128::from(size) * PER_BYTE + carried;
        let mut at = start;
        self.seek(at);
        let departure = loop {
            let rate = u128::from(self.recording.pieces[self.piece].rate);
            let possible = rate * u128::from(self.end() - at);
            if work <= possible && rate > 0 {
                self.remainder = work % rate;
                break at + (work / rate) as u64;
            }
            if self.end() == u64::MAX {
                // Nothing leaves any more.
                break u64::MAX;
            }
            work -= possible;
            at = self.end();
            self.turn();
        };
        self.free = departure;
        Transmitted { departure, free: departure }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    const US: u64 = 1_000_000;

    fn pieces(pieces: &[(u64, u64)]) -> Vec<Piece> {
        pieces.iter().map(|&(from_us, rate)| Piece { from: from_us * US, rate }).collect()
    }

    fn cursor(list: &[(u64, u64)], repeat_us: Option<u64>) -> Cursor {
        let rates = Rates::new(&pieces(list), repeat_us.map(|us| us * US)).unwrap();
        Cursor::new(Arc::new(rates))
    }

    #[test]
    fn a_packet_leaves_at_the_rates_of_its_time() {
        // 8 Mbit/s is a byte a microsecond: 1000 bytes; then nothing; then 4 Mbit/s.
        let mut cursor = cursor(&[(0, 8_000_000), (1000, 0), (3000, 4_000_000)], None);
        assert_eq!(cursor.transmit(0, 400).departure, 400 * US);
        assert_eq!(cursor.transmit(400 * US, 800).departure, (3000 + 2 * 200) * US);
        assert_eq!(cursor.transmit(9000 * US, 100).departure, (9000 + 200) * US);
    }

    #[test]
    fn a_recording_is_repeated_if_so_configured() {
        let mut cursor = cursor(&[(0, 8_000_000), (1000, 0)], Some(2000));
        let times: Vec<u64> = std::iter::successors(Some(0), |&at| Some(cursor.transmit(at, 500).departure))
            .skip(1)
            .take(5)
            .map(|ps| ps / US)
            .collect();
        assert_eq!(times, [500, 1000, 2500, 3000, 4500]);
        assert_eq!(cursor.transmit(1_000_001_500 * US, 1).departure, 1_000_002_001 * US);
    }

    #[test]
    fn a_link_that_ends_at_zero_sends_nothing_more() {
        let mut cursor = cursor(&[(0, 8_000_000), (10, 0)], None);
        assert_eq!(cursor.transmit(0, 10).departure, 10 * US);
        assert_eq!(cursor.transmit(10 * US, 1).departure, u64::MAX);
    }

    #[test]
    fn one_rate_is_what_a_link_of_that_rate_does() {
        // 7 bit/s divide nothing: n bytes back to back take n · 8 / 7 s, cut to picoseconds once.
        let mut cursor = cursor(&[(0, 7)], None);
        let mut at = 0;
        for n in 1..100u128 {
            at = cursor.transmit(at, 1).departure;
            assert_eq!(u128::from(at), n * PER_BYTE / 7);
        }
    }

    #[test]
    fn the_octets_of_any_stretch_are_the_area_under_the_rates() {
        let mut stream = Stream::new(9, "rates");
        let list: Vec<(u64, u64)> = (0..50).map(|n| (n * 700, stream.below(4) * 3_000_001)).collect();
        let rates = Rates::new(&pieces(&list), Some(35_000 * US)).unwrap();
        let mut cursor = Cursor::new(Arc::new(rates.clone()));
        let (mut at, mut octets) = (0, 0u128);
        for _ in 0..2000 {
            let size = 1 + stream.below(3000) as u32;
            at = cursor.transmit(at, size).departure;
            octets += u128::from(size);
            let (rounds, rest) = (at / rates.period, at % rates.period);
            let area = |until: u64| -> u128 {
                let piece = |n: usize| {
                    let Piece { from, rate } = rates.pieces[n];
                    u128::from(rate) * u128::from(rates.end(n).min(until).saturating_sub(from))
                };
                (0..rates.pieces.len()).map(piece).sum()
            };
            let possible = u128::from(rounds) * area(rates.period) + area(rest);
            let highest = 9_000_003;
            let work = octets * PER_BYTE;
            assert!(work >= possible && work - possible < highest, "at {at}: {work} and {possible}");
        }
    }

    #[test]
    fn mean_rates() {
        let mean = |list: &[(u64, u64)], repeat: Option<u64>| {
            Rates::new(&pieces(list), repeat.map(|us| us * US)).unwrap().mean_rate()
        };
        assert_eq!(mean(&[(0, 8)], None), 8);
        assert_eq!(mean(&[(0, 8), (10, 100)], None), 8);
        assert_eq!(mean(&[(0, 8), (10, 100)], Some(20)), 54);
    }

    #[test]
    fn what_is_no_recording_is_refused() {
        for (list, repeat) in [
            (&[][..], None),
            (&[(1, 5)], None),
            (&[(0, 0)], None),
            (&[(0, 5), (0, 6)], None),
            (&[(0, 5), (7, 6)], Some(7)),
        ] {
            assert_eq!(Rates::new(&pieces(list), repeat.map(|us| us * US)), None, "{list:?}");
        }
    }
}
