//! The adaptive delayed ACK of Linux (net/ipv4/tcp_input.c and tcp_output.c since 2.4).
//!
//! * *Quick ACKs*: at its start a connection acknowledges every segment. The number of quick ACKs is that of the
//!   segments in half of the window, at most 16. Quick ACKs return after a possible loss and after a pause longer than
//!   the RTO.
//! * *ATO*: otherwise the delay is the average interval between segments, at least 40 ms. It is at most 200 ms, or the
//!   RTT if that is shorter. If the timer sends the ACK, the next delay is twice as long.
//! * *Interactive* (`pingpong`): the application has sent data within an ATO. Its next data will probably carry the
//!   ACK, so quick ACKs are off until the timer sends an ACK.
//! * More than one full unacknowledged segment is acknowledged immediately, unless the application is so slow that the window
//!   has not grown since the last ACK; then it is acknowledged when data is read. Data that ends with a short segment is
//!   acknowledged when it is read, unless the connection is interactive.

use super::{Arrival, Due};
use crate::time::{Span, Time};

/// The initial estimate of the peer's full segments (`TCP_MSS_DEFAULT`).
const MODEST_MSS: u32 = 536;

/// The parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// Minimum delay (`TCP_ATO_MIN`, `TCP_DELACK_MIN`).
    pub min: Span,
    /// Maximum delay (`TCP_DELACK_MAX`).
    pub max: Span,
    /// Maximum number of quick ACKs (`TCP_MAX_QUICKACKS`).
    pub quick: u8,
}

/// The state of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Adaptive {
    /// The ATO; zero before the first data.
    ato: Span,
    /// When data last arrived.
    last: Time,
    /// Quick ACKs left.
    quick: u8,
    /// Interactive mode (`pingpong`).
    interactive: bool,
    /// The estimate of the peer's full segment size (`rcv_mss`).
    full: u32,
    /// A short segment is unacknowledged.
    ends_short: bool,
}

impl Adaptive {
    pub(super) const fn new() -> Self {
        Self { ato: Span::ZERO, last: Time::ZERO, quick: 0, interactive: false, full: 0, ends_short: false }
    }

    /// Data has arrived in order.
    pub(super) fn arrives(&mut self, now: Time, arrival: &Arrival, bounds: Bounds) -> Due {
        self.measure(arrival);
        self.follow(now, arrival, bounds);
        // `__tcp_ack_snd_check()` compares the windows.
        let is_read_quickly = arrival.unread <= arrival.unacknowledged + u64::from(arrival.headroom);
        let more_than_a_segment = arrival.unacknowledged > u64::from(self.full) && is_read_quickly;
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
            self.full = arrival.len.min(arrival.announced);
        } else {
            self.ends_short = true;
        }
    }

    /// `tcp_event_data_recv()`: half of the present delay plus half of the interval to the last segment.
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

    /// `tcp_incr_quickack()`: the number of segments in half of the window, at least two.
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

    /// `tcp_enter_quickack_mode()`: out-of-order data or a duplicate.
    pub(super) fn on_possible_loss(&mut self, arrival: &Arrival, bounds: Bounds) {
        self.measure(arrival);
        self.quicken(arrival, bounds);
        self.interactive = false;
        self.ato = bounds.min;
    }

    /// A segment with `len` bytes of data is sent and acknowledges everything (`tcp_event_ack_sent()`,
    /// `tcp_event_data_sent()`).
    pub(super) fn leaves(&mut self, now: Time, len: u32) {
        self.quick = self.quick.saturating_sub(1);
        self.ends_short = false;
        if len > 0 && self.ato > Span::ZERO && now - self.last < self.ato {
            self.interactive = true;
        }
    }

    /// The connection is open and data waits. The data carries the first ACK, and the response will probably follow
    /// soon (`tcp_rcv_synsent_state_process()`, `sk_write_pending`).
    pub(super) fn opens_with_data(&mut self, now: Time, bounds: Bounds) {
        self.ato = bounds.min;
        self.quick = bounds.quick;
        self.last = now;
    }

    /// The timer has sent the ACK (`tcp_delack_timer_handler()`).
    pub(super) fn on_timer_ack(&mut self, rto: Span, bounds: Bounds) {
        if self.interactive {
            self.interactive = false;
            self.ato = bounds.min;
        } else {
            self.ato = self.ato.saturating_mul(2).min(rto);
        }
    }

    /// Whether an ACK of `unacknowledged` bytes is due after a read that has left `unread` bytes (`tcp_cleanup_rbuf()`).
    pub(super) const fn is_due_once_read(&self, unacknowledged: u64, unread: u64) -> bool {
        let more_than_a_segment = self.full > 0 && unacknowledged > self.full as u64;
        more_than_a_segment || (self.ends_short && !self.interactive && unread == 0)
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
        unread: 1000,
        headroom: 0,
        window: 60_000,
        mss: 1000,
        announced: 1000,
        rto: Span::from_ms(300),
        srtt: None,
        armed: Time::NEVER,
    };

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// A state without quick ACKs; the last data arrived at 1 s.
    fn settled() -> Adaptive {
        let mut adaptive = Adaptive::new();
        adaptive.arrives(at(1000), &ARRIVAL, BOUNDS);
        for _ in 0..16 {
            adaptive.leaves(at(1300), 0);
        }
        adaptive
    }

    #[test]
    fn a_connection_starts_with_sixteen_quick_acks() {
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
    fn the_delay_follows_the_interval_of_segments_down_to_the_minimum() {
        let mut adaptive = settled();
        adaptive.ato = Span::from_ms(120);
        let waits: Vec<u64> = [1100, 1200, 1210, 1220, 1230, 1240, 1250, 1260]
            .map(|ms| {
                adaptive.arrives(at(ms), &ARRIVAL, BOUNDS);
                adaptive.ato.as_ps() / 1_000_000_000
            })
            .to_vec();
        // 120/2 + 100; 160/2 + 100; then 20 for each immediate successor.
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
    fn quick_acks_return_after_a_pause_longer_than_the_rto() {
        let mut adaptive = settled();
        assert_eq!(adaptive.arrives(at(1301), &ARRIVAL, BOUNDS), Due::Now);
        assert_eq!(
            settled().arrives(at(1300), &ARRIVAL, BOUNDS),
            Due::At(at(1340)),
            "this one is not longer"
        );
    }

    #[test]
    fn data_within_the_ato_makes_it_interactive_and_stops_quick_acks() {
        let mut adaptive = Adaptive::new();
        assert_eq!(adaptive.arrives(at(1000), &ARRIVAL, BOUNDS), Due::Now);
        adaptive.leaves(at(1039), 100);
        assert_eq!(adaptive.arrives(at(1050), &ARRIVAL, BOUNDS), Due::At(at(1090)));
        let mut late = Adaptive::new();
        late.arrives(at(1000), &ARRIVAL, BOUNDS);
        late.leaves(at(1040), 100);
        assert_eq!(late.arrives(at(1050), &ARRIVAL, BOUNDS), Due::Now, "data after the ATO does not count");
    }

    #[test]
    fn an_expired_delay_doubles_the_ato_or_ends_interactive_mode() {
        let mut adaptive = settled();
        adaptive.on_timer_ack(Span::from_ms(300), BOUNDS);
        assert_eq!(adaptive.ato, Span::from_ms(80));
        adaptive.on_timer_ack(Span::from_ms(100), BOUNDS);
        assert_eq!(adaptive.ato, Span::from_ms(100), "no longer than the timeout");
        adaptive.interactive = true;
        adaptive.on_timer_ack(Span::from_ms(300), BOUNDS);
        assert_eq!((adaptive.ato, adaptive.interactive), (Span::from_ms(40), false));
    }

    #[test]
    fn the_delay_is_limited_by_the_rtt_and_by_the_maximum() {
        let mut adaptive = settled();
        adaptive.ato = Span::from_ms(280);
        let near = Arrival { srtt: Some(Span::from_ms(90)), ..ARRIVAL };
        assert_eq!(adaptive.wait(at(0), &near, BOUNDS), Due::At(at(90)));
        assert_eq!(adaptive.wait(at(0), &ARRIVAL, BOUNDS), Due::At(at(200)));
        let armed = Arrival { armed: at(60), ..ARRIVAL };
        assert_eq!(adaptive.wait(at(0), &armed, BOUNDS), Due::At(at(60)), "an earlier timer stays");
        let about_to = Arrival { armed: at(50), ..ARRIVAL };
        assert_eq!(
            adaptive.wait(at(0), &about_to, BOUNDS),
            Due::Now,
            "a timer that is about to expire means now"
        );
    }

    #[test]
    fn quick_acks_return_after_a_possible_loss() {
        let mut adaptive = settled();
        adaptive.interactive = true;
        adaptive.on_possible_loss(&ARRIVAL, BOUNDS);
        assert_eq!(adaptive.arrives(at(1010), &ARRIVAL, BOUNDS), Due::Now);
    }

    #[test]
    fn a_short_last_segment_is_acknowledged_when_read_unless_interactive() {
        let mut adaptive = settled();
        assert!(!adaptive.is_due_once_read(1000, 0));
        adaptive.arrives(at(1010), &Arrival { len: 100, unacknowledged: 100, ..ARRIVAL }, BOUNDS);
        assert!(adaptive.is_due_once_read(100, 0));
        assert!(!adaptive.is_due_once_read(100, 1), "only when all is read");
        adaptive.interactive = true;
        assert!(!adaptive.is_due_once_read(100, 0));
    }

    #[test]
    fn behind_a_slow_reader_two_segments_are_acknowledged_when_data_is_read() {
        let mut adaptive = settled();
        let behind = Arrival { unacknowledged: 2000, unread: 9000, ..ARRIVAL };
        assert_eq!(adaptive.arrives(at(1010), &behind, BOUNDS), Due::At(at(1050)));
        assert!(adaptive.is_due_once_read(2000, 8000));
        let read = Arrival { unread: 2000, ..behind };
        assert_eq!(adaptive.arrives(at(1010), &read, BOUNDS), Due::Now);
        let mut adaptive = settled();
        let can_grow = Arrival { headroom: 8000, ..behind };
        assert_eq!(adaptive.arrives(at(1010), &can_grow, BOUNDS), Due::Now, "the window still grows");
    }

    #[test]
    fn the_estimate_of_full_segments_is_limited_by_what_we_announced() {
        // The peer's MSS, less our timestamps, is 524; it sends 536 bytes without options.
        let arrival =
            Arrival { len: 536, unacknowledged: 536, unread: 536, mss: 524, announced: 1448, ..ARRIVAL };
        let mut adaptive = Adaptive::new();
        adaptive.arrives(at(1000), &arrival, BOUNDS);
        assert_eq!(adaptive.full, 536);
    }
}
