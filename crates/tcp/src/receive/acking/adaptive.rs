//! Linux's delayed ACK, which follows the traffic (net/ipv4/tcp_input.c and tcp_output.c since 2.4).
//!
//! * *Quick ACKs*: a connection begins with an ACK for every segment, as many as are needed to fill half of the window offered,
//!   at most 16; so it does again after what looks like a loss, and after a pause longer than the retransmission timeout.
//! * *ATO*: otherwise an ACK waits as long as segments lie apart on average, 40 ms at least; 200 ms at most, or a round trip if
//!   that is shorter. An ACK that the timer had to send has waited in vain: the next waits twice as long.
//! * *Interactive* (`pingpong`): the application has answered within an ATO. Then its next answer can be expected to take the
//!   ACK along, and quick ACKs are off; until the timer had to send one.
//! * More than one full segment unacknowledged is acknowledged at once, and so is what ends with a short segment as soon as it is
//!   read, unless the connection is interactive.

use super::{Arrival, Due};
use crate::time::{Span, Time};

/// Full segments are believed to be no larger until larger ones come (`TCP_MSS_DEFAULT`).
const MODEST_MSS: u32 = 536;

/// The three numbers that can be chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// Least wait (`TCP_ATO_MIN`, `TCP_DELACK_MIN`).
    pub min: Span,
    /// Longest wait (`TCP_DELACK_MAX`).
    pub max: Span,
    /// Quick ACKs at most (`TCP_MAX_QUICKACKS`).
    pub quick: u8,
}

/// What is remembered of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Adaptive {
    /// How long an ACK waits; zero before the first data.
    ato: Span,
    /// When data last came.
    last: Time,
    /// Quick ACKs left.
    quick: u8,
    /// The application answers what it reads.
    interactive: bool,
    /// The largest segment seen: what the peer's full ones hold.
    full: u32,
    /// A short segment waits to be acknowledged.
    ends_short: bool,
}

impl Adaptive {
    pub(super) const fn new() -> Self {
        Self { ato: Span::ZERO, last: Time::ZERO, quick: 0, interactive: false, full: 0, ends_short: false }
    }

    /// Data has come in order.
    pub(super) fn arrives(&mut self, now: Time, arrival: &Arrival, bounds: Bounds) -> Due {
        self.measure(arrival);
        self.follow(now, arrival, bounds);
        let more_than_a_segment = arrival.unacknowledged > u64::from(self.full);
        if more_than_a_segment || (self.quick > 0 && !self.interactive) {
            return Due::Now;
        }
        self.wait(now, arrival, bounds)
    }

    /// `tcp_measure_rcv_mss()`.
    fn measure(&mut self, arrival: &Arrival) {
        if self.full == 0 {
            self.full = MODEST_MSS.min(arrival.mss);
        }
        if arrival.len >= self.full {
            self.full = arrival.len.min(arrival.mss);
        } else {
            self.ends_short = true;
        }
    }

    /// `tcp_event_data_recv()`: half of the wait so far, and half of the distance to the last segment.
    fn follow(&mut self, now: Time, arrival: &Arrival, bounds: Bounds) {
        let half = Span::from_ps(self.ato.as_ps() / 2);
        let least = Span::from_ps(bounds.min.as_ps() / 2);
        let apart = now - self.last;
        self.last = now;
        if self.ato == Span::ZERO {
            self.ato = bounds.min;
            self.quicken(arrival, bounds);
        } else if apart <= least {
            self.ato = Span::from_ps(half.as_ps() + least.as_ps());
        } else if apart < self.ato {
            self.ato = Span::from_ps(half.as_ps() + apart.as_ps()).min(arrival.rto);
        } else if apart > arrival.rto {
            self.quicken(arrival, bounds);
        }
    }

    /// `tcp_incr_quickack()`: as many as half of the window holds, two at least.
    fn quicken(&mut self, arrival: &Arrival, bounds: Bounds) {
        let enough = (arrival.window / (2 * self.full.max(1))).max(2);
        let enough = u8::try_from(enough).unwrap_or(u8::MAX).min(bounds.quick);
        self.quick = self.quick.max(enough);
    }

    /// `tcp_send_delayed_ack()`.
    fn wait(&self, now: Time, arrival: &Arrival, bounds: Bounds) -> Due {
        let mut wait = self.ato;
        if wait > bounds.min {
            let most = if self.interactive || self.ends_short { bounds.max } else { Span::from_ms(500) };
            let trip = arrival.srtt.map_or(most, |srtt| srtt.max(bounds.min));
            wait = wait.min(most).min(trip);
        }
        wait = wait.min(bounds.max);
        let soon = now + Span::from_ps(wait.as_ps() / 4);
        if arrival.armed <= soon { Due::Now } else { Due::At((now + wait).min(arrival.armed)) }
    }

    /// `tcp_enter_quickack_mode()`: out of order, or seen before.
    pub(super) fn is_alarmed(&mut self, arrival: &Arrival, bounds: Bounds) {
        self.measure(arrival);
        self.quicken(arrival, bounds);
        self.interactive = false;
        self.ato = bounds.min;
    }

    /// A segment leaves, with `len` bytes of data, and acknowledges all that has come (`tcp_event_ack_sent()`,
    /// `tcp_event_data_sent()`).
    pub(super) fn leaves(&mut self, now: Time, len: u32) {
        self.quick = self.quick.saturating_sub(1);
        self.ends_short = false;
        if len > 0 && self.ato > Span::ZERO && now - self.last < self.ato {
            self.interactive = true;
        }
    }

    /// The connection is open, and data waits to be sent: it takes the first ACK along, and what it asks for can be expected to
    /// come soon (`tcp_rcv_synsent_state_process()`, `sk_write_pending`).
    pub(super) fn opens_with_data(&mut self, now: Time, bounds: Bounds) {
        self.ato = bounds.min;
        self.quick = bounds.quick;
        self.last = now;
    }

    /// The timer had to send the ACK (`tcp_delack_timer_handler()`).
    pub(super) fn waited_in_vain(&mut self, rto: Span, bounds: Bounds) {
        if self.interactive {
            self.interactive = false;
            self.ato = bounds.min;
        } else {
            self.ato = self.ato.saturating_mul(2).min(rto);
        }
    }

    /// All that came was read: whether that is the moment to acknowledge it (`tcp_cleanup_rbuf()`).
    pub(super) const fn is_due_once_read(&self) -> bool {
        self.ends_short && !self.interactive
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Bounds = Bounds { min: Span::from_ms(40), max: Span::from_ms(200), quick: 16 };

    const ARRIVAL: Arrival = Arrival {
        len: 1000,
        received: 1000,
        unacknowledged: 1000,
        window: 60_000,
        mss: 1000,
        rto: Span::from_ms(300),
        srtt: None,
        armed: Time::NEVER,
    };

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// One that has used its quick ACKs up, its last data having come at 1 s.
    fn settled() -> Adaptive {
        let mut adaptive = Adaptive::new();
        adaptive.arrives(at(1000), &ARRIVAL, BOUNDS);
        for _ in 0..16 {
            adaptive.leaves(at(1300), 0);
        }
        adaptive
    }

    #[test]
    fn a_connection_begins_with_sixteen_quick_acks() {
        let mut adaptive = Adaptive::new();
        for n in 0..16 {
            assert_eq!(adaptive.arrives(at(10 * n), &ARRIVAL, BOUNDS), Due::Now, "the {n}-th");
            adaptive.leaves(at(10 * n), 0);
        }
        assert!(matches!(adaptive.arrives(at(160), &ARRIVAL, BOUNDS), Due::At(_)));
    }

    #[test]
    fn a_small_window_has_fewer_quick_acks_but_two_at_least() {
        for (window, quick) in [(60_000, 16), (10_000, 5), (1000, 2)] {
            let mut adaptive = Adaptive::new();
            adaptive.arrives(at(0), &Arrival { window, ..ARRIVAL }, BOUNDS);
            assert_eq!(adaptive.quick, quick, "window {window}");
        }
    }

    #[test]
    fn the_wait_follows_the_distance_of_segments_down_to_the_least_one() {
        let mut adaptive = settled();
        adaptive.ato = Span::from_ms(120);
        let waits: Vec<u64> = [1100, 1200, 1210, 1220, 1230, 1240, 1250, 1260]
            .map(|ms| {
                adaptive.arrives(at(ms), &ARRIVAL, BOUNDS);
                adaptive.ato.as_ps() / 1_000_000_000
            })
            .to_vec();
        // 120/2 + 100; 160/2 + 100; then 20 for each that follows at once.
        assert_eq!(waits, [160, 180, 110, 75, 57, 48, 44, 42]);
    }

    #[test]
    fn more_than_a_full_segment_is_acknowledged_at_once_two_short_ones_are_not() {
        let mut adaptive = settled();
        let both = Arrival { unacknowledged: 1001, len: 1, ..ARRIVAL };
        assert_eq!(adaptive.arrives(at(1010), &both, BOUNDS), Due::Now);
        let short = Arrival { unacknowledged: 136, len: 76, ..ARRIVAL };
        assert_eq!(adaptive.arrives(at(1020), &short, BOUNDS), Due::At(at(1060)));
    }

    #[test]
    fn a_pause_longer_than_the_timeout_brings_quick_acks_back() {
        let mut adaptive = settled();
        assert_eq!(adaptive.arrives(at(1301), &ARRIVAL, BOUNDS), Due::Now);
        assert_eq!(
            settled().arrives(at(1300), &ARRIVAL, BOUNDS),
            Due::At(at(1340)),
            "this one is not longer"
        );
    }

    #[test]
    fn an_answer_makes_it_interactive_and_quick_acks_stop() {
        let mut adaptive = Adaptive::new();
        assert_eq!(adaptive.arrives(at(1000), &ARRIVAL, BOUNDS), Due::Now);
        adaptive.leaves(at(1039), 100);
        assert_eq!(adaptive.arrives(at(1050), &ARRIVAL, BOUNDS), Due::At(at(1090)));
        let mut late = Adaptive::new();
        late.arrives(at(1000), &ARRIVAL, BOUNDS);
        late.leaves(at(1040), 100);
        assert_eq!(late.arrives(at(1050), &ARRIVAL, BOUNDS), Due::Now, "an answer after the ATO is none");
    }

    #[test]
    fn an_ack_that_the_timer_sent_waits_longer_next_time_or_ends_the_interaction() {
        let mut adaptive = settled();
        adaptive.waited_in_vain(Span::from_ms(300), BOUNDS);
        assert_eq!(adaptive.ato, Span::from_ms(80));
        adaptive.waited_in_vain(Span::from_ms(100), BOUNDS);
        assert_eq!(adaptive.ato, Span::from_ms(100), "no longer than the timeout");
        adaptive.interactive = true;
        adaptive.waited_in_vain(Span::from_ms(300), BOUNDS);
        assert_eq!((adaptive.ato, adaptive.interactive), (Span::from_ms(40), false));
    }

    #[test]
    fn the_wait_is_bounded_by_a_round_trip_and_by_the_longest() {
        let mut adaptive = settled();
        adaptive.ato = Span::from_ms(280);
        let near = Arrival { srtt: Some(Span::from_ms(90)), ..ARRIVAL };
        assert_eq!(adaptive.wait(at(0), &near, BOUNDS), Due::At(at(90)));
        assert_eq!(adaptive.wait(at(0), &ARRIVAL, BOUNDS), Due::At(at(200)));
        let armed = Arrival { armed: at(60), ..ARRIVAL };
        assert_eq!(adaptive.wait(at(0), &armed, BOUNDS), Due::At(at(60)), "an earlier timer stays");
        let about_to = Arrival { armed: at(50), ..ARRIVAL };
        assert_eq!(adaptive.wait(at(0), &about_to, BOUNDS), Due::Now, "or is not waited for any more");
    }

    #[test]
    fn what_looks_like_a_loss_brings_quick_acks_back() {
        let mut adaptive = settled();
        adaptive.interactive = true;
        adaptive.is_alarmed(&ARRIVAL, BOUNDS);
        assert_eq!(adaptive.arrives(at(1010), &ARRIVAL, BOUNDS), Due::Now);
    }

    #[test]
    fn a_short_end_is_acknowledged_when_read_unless_an_answer_is_expected() {
        let mut adaptive = settled();
        assert!(!adaptive.is_due_once_read());
        adaptive.arrives(at(1010), &Arrival { len: 100, unacknowledged: 100, ..ARRIVAL }, BOUNDS);
        assert!(adaptive.is_due_once_read());
        adaptive.interactive = true;
        assert!(!adaptive.is_due_once_read());
    }
}
