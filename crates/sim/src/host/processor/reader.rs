//! How a host's applications read: with a buffer of limited size, and at a limited rate.
//!
//! A read takes at most one buffer. Then the application is busy with the data for the time that its rate gives, and
//! neither reads, writes nor closes. This occupies the application, not the processor, which can serve others meanwhile.
//! The processor time of a read is one of the host's costs.

use super::Turn;
use netspurt_tcp::time::Time;
use std::collections::BTreeMap;

/// The time for one byte at one bit per second, in picoseconds.
const PER_BYTE: u128 = 8 * 1_000_000_000_000;

/// How applications read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Reader {
    /// Largest read in bytes; `None` reads all data there is.
    pub buffer: Option<u64>,
    /// The rate in bit/s at which an application processes what it has read; `None` if it takes no time.
    pub rate: Option<u64>,
}

/// The applications of a host that are processing what they have read.
#[derive(Debug, Default)]
pub(crate) struct Readers {
    reader: Reader,
    /// By the index of the endpoint. A later connection that uses the same endpoint gets the same entry.
    busy: BTreeMap<u32, Busy>,
}

/// A busy application.
#[derive(Clone, Copy, Debug)]
struct Busy {
    generation: u16,
    until: Time,
    /// The part of a picosecond left over from earlier reads, in units of 1/rate.
    remainder: u128,
}

impl Readers {
    pub(crate) fn new(reader: Reader) -> Self {
        Self { reader, busy: BTreeMap::new() }
    }

    /// When this application stops being busy, if it is.
    pub(crate) fn busy_until(&self, now: Time, turn: Turn) -> Option<Time> {
        let busy = self.busy.get(&turn.place)?;
        (busy.generation == turn.generation && now < busy.until).then_some(busy.until)
    }

    /// How many of the available bytes this application reads now. From now on it is busy with them.
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
        // A byte takes 8/3 s; three of them, one after the other, take 8 s.
        let mut readers = readers(1, 3);
        let mut now = Time::ZERO;
        for _ in 0..3 {
            readers.read(now, TURN, 1);
            now = readers.busy_until(now, TURN).unwrap();
        }
        assert_eq!(now, Time::from_ps(8_000_000_000_000));
    }

    #[test]
    fn a_new_connection_in_a_reused_slot_is_not_busy() {
        let mut readers = readers(1000, 8);
        readers.read(Time::ZERO, TURN, 1000);
        assert_eq!(readers.busy_until(Time::ZERO, Turn { generation: 8, ..TURN }), None);
        assert_eq!(readers.busy_until(Time::ZERO, Turn { place: 3, ..TURN }), None);
    }
}
