//! The round trip from the capture point to the data sender and back, from timestamps (RFC 7323).
//!
//! A data segment echoes the timestamp of the latest ACK that its sender has received. The time since that ACK passed here is
//! the round trip between here and the sender, with all queues on it, plus the time that the sender had nothing to send. The
//! least of the latest samples excludes that time.

use crate::stamp::Stamp;
use netspurt_tcp::time::Span;
use std::collections::VecDeque;

/// Timestamps that are remembered at most: one a millisecond.
const MOST: usize = 4096;
/// The minimum is taken over this many samples at least, and twice as many at most.
const WINDOW: u8 = 32;

/// The round trip from here to the sender and back.
#[derive(Debug, Default)]
pub(in crate::follow) struct Turnaround {
    /// Timestamps of ACKs, and when each passed here first; in order of both.
    stamps: VecDeque<(u32, Stamp)>,
    /// The least sample of the window that fills now, and of the full one before it.
    least: [Option<Span>; 2],
    samples: u8,
}

impl Turnaround {
    /// An ACK with this timestamp passes here.
    pub(in crate::follow) fn note_ack(&mut self, value: u32, at: Stamp) {
        let is_newer = self.stamps.back().is_none_or(|(last, _)| (value.wrapping_sub(*last) as i32) > 0);
        if is_newer {
            if self.stamps.len() == MOST {
                self.stamps.pop_front();
            }
            self.stamps.push_back((value, at));
        }
    }

    /// Data that echoes this timestamp passes here. Returns the sample, if the ACK with it is known.
    pub(in crate::follow) fn note_echo(&mut self, echo: u32, at: Stamp) -> Option<Span> {
        while let Some((value, passed)) = self.stamps.front() {
            let ahead = value.wrapping_sub(echo) as i32;
            if ahead > 0 {
                return None;
            }
            if ahead == 0 {
                let sample = at.since(*passed);
                self.least[0] = Some(self.least[0].map_or(sample, |least| least.min(sample)));
                self.samples += 1;
                if self.samples == WINDOW {
                    self.least = [None, self.least[0]];
                    self.samples = 0;
                }
                // What echoes it again was sent later, for another reason.
                self.stamps.pop_front();
                return Some(sample);
            }
            self.stamps.pop_front();
        }
        None
    }

    /// The least of the latest samples; zero if there are none.
    pub(in crate::follow) fn least(&self) -> Span {
        match self.least {
            [Some(now), Some(before)] => now.min(before),
            [one, None] | [None, one] => one.unwrap_or(Span::ZERO),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Stamp {
        Stamp(ms * 1_000_000)
    }

    #[test]
    fn the_least_of_the_latest_samples_counts() {
        let mut turnaround = Turnaround::default();
        assert_eq!(turnaround.least(), Span::ZERO);
        for n in 0..10 {
            turnaround.note_ack(n, at(u64::from(n)));
        }
        turnaround.note_echo(3, at(503));
        assert_eq!(turnaround.least(), Span::from_ms(500));
        turnaround.note_echo(3, at(900));
        turnaround.note_echo(4, at(304));
        assert_eq!(turnaround.least(), Span::from_ms(300));
        turnaround.note_echo(2, at(1000));
        assert_eq!(turnaround.least(), Span::from_ms(300), "what was passed over is forgotten");
    }

    #[test]
    fn a_queue_that_grows_is_followed_within_two_windows() {
        let mut turnaround = Turnaround::default();
        for n in 0..200 {
            turnaround.note_ack(n, at(u64::from(n)));
            turnaround.note_echo(n, at(2 * u64::from(n)));
        }
        assert!(turnaround.least() >= Span::from_ms(130), "{:?}", turnaround.least());
    }

    #[test]
    fn a_peer_that_sends_many_timestamps_fills_no_memory() {
        let mut turnaround = Turnaround::default();
        for n in 0..100_000 {
            turnaround.note_ack(n, at(u64::from(n)));
        }
        assert_eq!(turnaround.stamps.len(), MOST);
        turnaround.note_echo(5, at(1));
        assert_eq!(turnaround.least(), Span::ZERO);
    }
}
