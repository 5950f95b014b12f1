//! COBALT: CoDel and BLUE together (Høiland-Jørgensen et al., "Piece of CAKE", 2018, section III.D; Linux, `sch_cake.c`).
//!
//! When the delay falls below the target, CoDel's counter is not reset. It decreases as it has increased, at the intervals
//! of the
//! control law. BLUE is for flows that do not respond: its probability rises when the queue overflows, and falls when the queue
//! is empty.

use crate::random::Stream;
use netspurt_tcp::segment::Ecn;

/// Steps of BLUE's probability in units of 2^-32: 1/256 up, 1/4096 down.
const UP: u32 = 1 << 24;
const DOWN: u32 = 1 << 20;

/// The parameters of a tin, in picoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Law {
    pub(super) interval: u64,
    pub(super) target: u64,
    /// The time to transmit the largest packet at the rate of the tin.
    pub(super) mtu_time: u64,
}

/// The state of one queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Cobalt {
    count: u32,
    drop_next: u64,
    dropping: bool,
    /// In units of 2^-32.
    blue: u32,
    blue_changed: u64,
}

impl Cobalt {
    /// The queue overflowed, and a packet was dropped.
    pub(super) fn overflows(&mut self, law: &Law, now: u64) {
        if now.saturating_sub(self.blue_changed) > law.target {
            self.blue = self.blue.saturating_add(UP);
            self.blue_changed = now;
        }
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    /// The queue was served and was empty.
    pub(super) fn runs_empty(&mut self, law: &Law, now: u64) {
        if self.blue > 0 && now.saturating_sub(self.blue_changed) > law.target {
            self.blue = self.blue.saturating_sub(DOWN);
            self.blue_changed = now;
        }
        self.dropping = false;
        if self.count > 0 && now >= self.drop_next {
            self.count -= 1;
            self.drop_next = self.after(self.drop_next, law);
        }
    }

    /// Whether the state is as at the begin: nothing is left of the last overload.
    pub(super) const fn is_at_rest(&self, now: u64) -> bool {
        self.blue == 0 && self.count == 0 && now >= self.drop_next
    }

    /// Whether a packet that leaves after a delay of `wait` is dropped, or marked if it can be.
    pub(super) fn drops(
        &mut self,
        law: &Law,
        now: u64,
        wait: u64,
        ecn: &mut Ecn,
        stream: &mut Stream,
    ) -> bool {
        let over = wait > law.target && wait > 4 * law.mtu_time;
        let mut due = self.count > 0 && now >= self.drop_next;
        if over {
            if !self.dropping {
                self.dropping = true;
                self.drop_next = self.after(now, law);
            }
            self.count = self.count.max(1);
        } else {
            self.dropping = false;
        }
        let mut dropped = false;
        if due && self.dropping {
            if ecn.is_capable() {
                *ecn = Ecn::Ce;
            } else {
                dropped = true;
            }
            self.count = self.count.saturating_add(1);
            self.drop_next = self.after(self.drop_next, law);
        } else {
            while due {
                self.count -= 1;
                self.drop_next = self.after(self.drop_next, law);
                due = self.count > 0 && now >= self.drop_next;
            }
        }
        // A flow that does not respond would ignore marks.
        if self.blue > 0 {
            dropped |= ((stream.bits() >> 32) as u32) < self.blue;
        }
        if self.count == 0 {
            self.drop_next = now.saturating_add(law.interval);
        } else if now > self.drop_next && !dropped {
            self.drop_next = now;
        }
        dropped
    }

    /// The control law of CoDel (RFC 8289, section 5.6); the first signal comes one interval after the begin.
    fn after(&self, time: u64, law: &Law) -> u64 {
        time.saturating_add((law.interval as f64 / f64::from(self.count.max(1)).sqrt()) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000_000;
    const LAW: Law = Law { interval: 100 * MS, target: 5 * MS, mtu_time: MS };

    /// The times in milliseconds at which a packet is dropped, if one with a delay of `wait` leaves in each millisecond.
    fn drops(cobalt: &mut Cobalt, from: u64, ms: u64, wait: u64) -> Vec<u64> {
        let mut stream = Stream::new(1, "cobalt");
        (from..from + ms)
            .filter(|now| cobalt.drops(&LAW, now * MS, wait * MS, &mut Ecn::NotEct, &mut stream))
            .collect()
    }

    #[test]
    fn drops_come_at_the_distances_of_the_control_law() {
        let mut cobalt = Cobalt::default();
        let times = drops(&mut cobalt, 1, 1000, 20);
        let mut wanted = 1.0 + 100.0;
        for (n, time) in (2..).zip(times) {
            assert!((0.0..2.0).contains(&(time as f64 - wanted)), "{time} instead of {wanted}");
            wanted += 100.0 / f64::from(n).sqrt();
        }
    }

    #[test]
    fn below_the_target_or_four_packets_nothing_is_dropped_and_the_counter_goes_down() {
        let mut cobalt = Cobalt::default();
        assert!(drops(&mut cobalt, 1, 1000, 5).is_empty());
        assert!(drops(&mut cobalt, 1001, 1000, 4).is_empty());
        drops(&mut cobalt, 2001, 2000, 20);
        let reached = cobalt.count;
        assert!(reached > 50, "{reached}");
        assert!(drops(&mut cobalt, 4001, 50, 3).is_empty());
        assert!(cobalt.count < reached && cobalt.count > 0, "{} after {reached}", cobalt.count);
        // The counter continues from where it was when the delay exceeds the target again.
        assert!(drops(&mut cobalt, 4051, 100, 20).len() > 2);
    }

    #[test]
    fn what_can_be_marked_is_marked() {
        let (mut cobalt, mut stream) = (Cobalt::default(), Stream::new(1, "cobalt"));
        let mut marks = 0;
        for now in 1..1000 {
            let mut ecn = Ecn::Ect0;
            assert!(!cobalt.drops(&LAW, now * MS, 20 * MS, &mut ecn, &mut stream));
            marks += u32::from(ecn == Ecn::Ce);
        }
        assert!(marks > 10, "{marks}");
    }

    #[test]
    fn blue_rises_with_overflows_and_falls_with_idleness() {
        let mut cobalt = Cobalt::default();
        for now in 1..=100 {
            cobalt.overflows(&LAW, now * MS);
        }
        // Once in each 6 ms: the first packet after more than 5 ms.
        assert_eq!(cobalt.blue, 16 * UP);
        let dropped = drops(&mut cobalt, 101, 1000, 1).len();
        assert!((40..90).contains(&dropped), "{dropped} of 1000 at 1/16");
        for now in 2000..4000 {
            cobalt.runs_empty(&LAW, now * MS);
        }
        assert!(cobalt.is_at_rest(5000 * MS) || cobalt.blue < 16 * UP);
        assert!(cobalt.blue < 4 * UP, "{}", cobalt.blue);
    }
}
