//! How a host's applications read: with a buffer of their own, and at a pace.
//!
//! A read takes what fits into the buffer at most. Then the application is busy with it for as long as its pace says, and does
//! nothing else: it neither reads on, nor writes, nor closes. That occupies the application and not the processor, which
//! serves others meanwhile; what a read costs the processor stands among its costs.

use super::Turn;
use netspurt_tcp::time::Time;
use std::collections::BTreeMap;

/// What a byte takes at a rate of one bit per second, in picoseconds.
const PER_BYTE: u128 = 8 * 1_000_000_000_000;

/// How applications read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Reader {
    /// Bytes of a read at most; `None` for all that there is.
    pub buffer: Option<u64>,
    /// At how many bits per second an application deals with what it has read; `None` for infinitely fast.
    pub rate: Option<u64>,
}

/// The applications of a host that are busy with what they have read.
#[derive(Debug, Default)]
pub(crate) struct Readers {
    reader: Reader,
    /// By the place of the endpoint: whoever moves in later takes over the entry.
    busy: BTreeMap<u32, Busy>,
}

/// An application is busy.
#[derive(Clone, Copy, Debug)]
struct Busy {
    generation: u16,
    until: Time,
    /// What the pace leaves of a picosecond, in units of one over the rate.
    remainder: u128,
}

impl Readers {
    pub(crate) fn new(reader: Reader) -> Self {
        Self { reader, busy: BTreeMap::new() }
    }

    /// Until when this application is busy, if it is.
    pub(crate) fn busy_until(&self, now: Time, turn: Turn) -> Option<Time> {
        let busy = self.busy.get(&turn.place)?;
        (busy.generation == turn.generation && now < busy.until).then_some(busy.until)
    }

    /// How many of the bytes that there are this application reads now; from now on it is busy with them.
    pub(crate) fn read(&mut self, now: Time, turn: Turn, readable: u64) -> u64 {
        let len = self.reader.buffer.map_or(readable, |buffer| readable.min(buffer));
        if let Some(rate) = self.reader.rate {
            let goes_on = |busy: &&Busy| busy.generation == turn.generation && busy.until == now;
            let carried = self.busy.get(&turn.place).filter(goes_on).map_or(0, |busy| busy.remainder);
            let work = u128::from(len) * PER_BYTE + carried;
            let rate = u128::from(rate);
            let span = u64::try_from(work / rate).unwrap_or(u64::MAX);
            let until = Time::from_ps(now.as_ps().saturating_add(span));
            self.busy.insert(turn.place, Busy { generation: turn.generation, until, remainder: work % rate });
        }
        len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TURN: Turn = Turn { place: 1, generation: 7 };

    fn readers(buffer: u64, rate: u64) -> Readers {
        Readers::new(Reader { buffer: Some(buffer), rate: Some(rate) })
    }

    #[test]
    fn a_read_takes_what_fits_into_the_buffer() {
        let mut readers = readers(1000, 8_000);
        assert_eq!(readers.read(Time::ZERO, TURN, 5000), 1000);
        assert_eq!(readers.busy_until(Time::ZERO, TURN), Some(Time::from_ps(1_000_000_000_000)));
        assert_eq!(readers.read(Time::from_ps(1_000_000_000_000), TURN, 300), 300);
    }

    #[test]
    fn fractions_of_a_picosecond_add_up() {
        // A byte takes 8/3 s; three of them, one behind the other, 8 s.
        let mut readers = readers(1, 3);
        let mut now = Time::ZERO;
        for _ in 0..3 {
            readers.read(now, TURN, 1);
            now = readers.busy_until(now, TURN).unwrap();
        }
        assert_eq!(now, Time::from_ps(8_000_000_000_000));
    }

    #[test]
    fn whoever_moves_in_is_not_busy() {
        let mut readers = readers(1000, 8);
        readers.read(Time::ZERO, TURN, 1000);
        assert_eq!(readers.busy_until(Time::ZERO, Turn { generation: 8, ..TURN }), None);
        assert_eq!(readers.busy_until(Time::ZERO, Turn { place: 3, ..TURN }), None);
    }
}
