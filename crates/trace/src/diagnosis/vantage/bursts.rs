//! The round trip to a sender without timestamps, from the bursts that it sends.
//!
//! A sender that has more data than its window permits sends a burst, waits for the first ACK of it, and sends the next burst.
//! Away from that sender, the time from the first ACK of a burst to the begin of the next one is the round trip between
//! here and
//! the sender, with all queues on it. An application that writes in blocks makes pauses too, but its blocks end with a
//! short segment.

use std::collections::VecDeque;

/// Bursts that are remembered: a queue may divide the burst of one window.
const MOST: usize = 8;

#[derive(Clone, Copy, Debug)]
struct Burst {
    start: i64,
    /// When its first ACK passed here, and up to which byte that permits data.
    acked: Option<(u64, i64)>,
}

/// The latest bursts of one sender.
#[derive(Debug, Default)]
pub(in crate::diagnosis) struct Bursts {
    latest: VecDeque<Burst>,
    /// When the last ACK passed here.
    acked: u64,
    /// The least time from the first ACK of a burst to the next burst; `None` without one.
    least: Option<u64>,
    /// The round trip before.
    before: u64,
    /// The begin of the burst that explained the latest one.
    cause: i64,
}

/// Why a segment comes after a pause.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::diagnosis) enum Explained {
    /// Nanoseconds since the first ACK of an earlier burst passed here.
    RoundTrip(u64),
    /// Later ACKs of the same burst.
    LaterPart,
}

impl Bursts {
    /// A segment of full size begins at `start` after a pause. Returns what explains when it came: the first ACK of an
    /// earlier burst,
    /// if that is the round trip `least` or longer ago. The whole round trip, with `ahead` to the receiver, is no more than
    /// twice the
    /// one before, since a window does not grow faster. A burst of `most` bytes or more was all that the receive window
    /// permits.
    pub(in crate::diagnosis) fn begin(
        &mut self,
        at: u64,
        start: i64,
        (least, ahead): (u64, u64),
        most: u32,
    ) -> Option<Explained> {
        let acked = |burst: &Burst| Some((burst.start, at.saturating_sub(burst.acked?.0)));
        let longest = 2 * self.before.max(least) + ahead;
        let first = self.latest.is_empty();
        let found = self.latest.iter().rev().filter_map(acked).find(|&(_, age)| age >= least);
        let found = found.filter(|&(first, age)| age <= longest && start - first < i64::from(most));
        if self.latest.len() == MOST {
            self.latest.pop_front();
        }
        self.latest.push_back(Burst { start, acked: None });
        let again = found.is_some_and(|(first, _)| core::mem::replace(&mut self.cause, first) == first);
        match found {
            Some(_) if again => return Some(Explained::LaterPart),
            Some((_, age)) => {
                self.before = age;
                self.least = Some(self.least.map_or(age, |before| before.min(age)));
            }
            // Nothing came before the first burst that could explain it.
            None if first => {}
            None => self.before = 0,
        }
        found.map(|(_, age)| Explained::RoundTrip(age))
    }

    /// By how much the round trip is longer now than that of the bursts before at least, as far as the segment `start..end` shows that: it
    /// begins the burst after one of `most` bytes or more, which was all that the receive window permitted, and the first ACK of that
    /// made room for it. A reader that is slow makes room later.
    ///
    /// Some ACK has released the segment, perhaps the last one: a path may hold ACKs and deliver them together.
    pub(in crate::diagnosis) fn longer(&self, at: u64, (start, end): (i64, i64), most: u32) -> Option<u64> {
        let before = self.latest.iter().rev().find(|burst| burst.start < start)?;
        let ((_, edge), least) = (before.acked?, self.least?);
        let released = start - before.start >= i64::from(most) && edge >= end;
        released.then(|| at.saturating_sub(self.acked).saturating_sub(least))
    }

    /// An ACK of everything below `ack` passes here; it permits data below `edge`.
    pub(in crate::diagnosis) fn note_ack(&mut self, at: u64, ack: i64, edge: i64) {
        self.acked = at;
        for burst in self.latest.iter_mut().rev().filter(|burst| burst.start < ack) {
            if burst.acked.is_some() {
                break;
            }
            burst.acked = Some((at, edge));
        }
    }

    /// What follows was not sent because of ACKs only: a short segment shows that the sender had no more, a retransmission
    /// that it
    /// had to repair.
    pub(in crate::diagnosis) fn interrupt(&mut self) {
        self.restart(0);
    }

    /// The same, where a repair has shown the present round trip.
    pub(in crate::diagnosis) fn restart(&mut self, round_trip: u64) {
        self.latest.clear();
        self.before = round_trip;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRIPS: (u64, u64) = (40, 0);

    #[test]
    fn the_first_ack_of_a_burst_explains_the_next_one() {
        let mut bursts = Bursts::default();
        assert_eq!(bursts.begin(0, 100, TRIPS, 60_000), None);
        bursts.note_ack(2, 1000, 1000 + 60_000);
        bursts.note_ack(4, 2000, 2000 + 60_000);
        assert_eq!(bursts.begin(52, 2000, TRIPS, 60_000), Some(Explained::RoundTrip(50)));
        bursts.note_ack(54, 3000, 3000 + 60_000);
        assert_eq!(bursts.begin(70, 4000, TRIPS, 60_000), Some(Explained::LaterPart));
        bursts.note_ack(72, 5000, 5000 + 60_000);
        assert_eq!(bursts.begin(114, 6000, TRIPS, 60_000), Some(Explained::RoundTrip(42)));
        bursts.note_ack(116, 7000, 7000 + 60_000);
        assert_eq!(bursts.begin(300, 8000, TRIPS, 60_000), None, "no queue grows so fast");
    }

    #[test]
    fn a_receive_window_that_is_used_up_explains_nothing() {
        let mut bursts = Bursts::default();
        bursts.begin(0, 100, TRIPS, 8000);
        bursts.note_ack(2, 1000, 1000 + 60_000);
        assert_eq!(bursts.begin(52, 9000, TRIPS, 8000), None);
    }

    /// By how much a round trip is longer that begins at 200 with a whole window, when the ACKs of the window before have passed from 210 to
    /// `until` and the next segment comes at 330; that of a smaller burst was 52.
    fn longer(until: u64, size: i64, edge: i64) -> Option<u64> {
        let mut bursts = Bursts::default();
        bursts.begin(0, 100, TRIPS, 8000);
        bursts.note_ack(2, 1000, 9000);
        bursts.begin(54, 1100, TRIPS, 8000);
        bursts.begin(200, 2100, TRIPS, 8000);
        bursts.note_ack(210, 3100, edge);
        bursts.note_ack(until, 2100 + size, edge + size);
        bursts.begin(330, 2100 + size, TRIPS, 8000);
        bursts.longer(330, (2100 + size, 3100 + size), 8000)
    }

    #[test]
    fn the_acks_of_a_whole_window_show_how_much_longer_the_round_trip_is() {
        assert_eq!(longer(220, 8000, 11_100), Some(330 - 220 - 52));
        assert_eq!(
            longer(290, 8000, 11_100),
            Some(0),
            "the path may have held the ACKs, and delivered them together"
        );
        assert_eq!(longer(220, 8000, 10_100), None, "the reader makes room later");
        assert_eq!(longer(220, 4000, 11_100), None, "the window permits more");
    }

    #[test]
    fn a_sender_without_more_data_shows_no_round_trip() {
        let mut bursts = Bursts::default();
        bursts.begin(0, 0, TRIPS, 60_000);
        bursts.note_ack(2, 1000, 1000 + 60_000);
        bursts.interrupt();
        assert_eq!(bursts.begin(52, 2000, TRIPS, 60_000), None);
    }
}
