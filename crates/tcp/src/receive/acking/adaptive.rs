//! The adaptive delayed ACK of Linux (net/ipv4/tcp_input.c and tcp_output.c since 2.4).
//!
//! * *Quick ACKs*: at its start a connection acknowledges every segment. The number of quick ACKs is that of the
//!   segments in half of the window, at most 16. Quick ACKs return after a possible loss and after a pause longer than
//!   the RTO. What counts as one, and as a possible loss, depends on the version ([`QuickCounts`]). A segment that opens the
//!   window gets one, too.
//! * *ATO*: otherwise the delay is the average interval between segments, at least 40 ms. It is at most 200 ms, or the
//!   RTT if that is shorter. If the timer sends the ACK, the next delay is twice as long.
//! * *Interactive* (`pingpong`): the application has sent data within an ATO. Its next data will probably carry the
//!   ACK, so quick ACKs are off until the timer sends an ACK.
//! * More than one full unacknowledged segment is acknowledged immediately, unless the application is so slow that the window
//!   has not grown since the last ACK; then it is acknowledged when data is read. Data that ends with a short segment is
//!   acknowledged when it is read, unless the connection is interactive.

use super::behind_gap::BehindGap;
use super::{Arrival, Due, Ordinary, Shape};
use crate::time::{Span, Time};
use crate::wire::segment::Flags;

/// The initial estimate of the peer's full segments (`TCP_MSS_DEFAULT`).
const MODEST_MSS: u32 = 536;

/// The least MSS of a peer, with the header (`TCP_MIN_MSS`).
const LEAST_LEN: u32 = 88 + 20;

/// What counts as a quick ACK, and what brings quick ACKs back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QuickCounts {
    /// Each segment that leaves counts. Out-of-order data brings quick ACKs back. One short segment makes its ACK due when
    /// data is read.
    Segments,
    /// Segments that carry an ACK which was due count (Linux since 6.7, `tcp_dec_quickack_mode()`); the last one sets the ATO
    /// to its minimum. Only data that arrived before brings them back. A full segment with PSH makes its ACK due when data
    /// is read, and so do two short segments in interactive mode (`tcp_measure_rcv_mss()`). The ACK of a FIN waits for an
    /// answer (`tcp_fin()`).
    Acks,
}

/// The parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// Minimum delay (`TCP_ATO_MIN`, `TCP_DELACK_MIN`).
    pub min: Span,
    /// Maximum delay (`TCP_DELACK_MAX`).
    pub max: Span,
    /// Maximum number of quick ACKs (`TCP_MAX_QUICKACKS`).
    pub quick: u8,
    /// What counts as one.
    pub counts: QuickCounts,
    /// How long the ACK of data behind a gap waits at most, after three such ACKs; zero: not at all (`tcp_comp_sack_delay_ns`).
    pub behind_gap: Span,
}

/// The state of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Adaptive {
    /// The ATO; zero before the first data.
    ato: Span,
    /// When data last arrived, or the connection was opened.
    last: Time,
    /// Quick ACKs left.
    quick: u8,
    /// Interactive mode (`pingpong`).
    interactive: bool,
    /// The estimate of the peer's full segment size (`rcv_mss`).
    full: u32,
    /// The size of the last segment that was short but may be a full one of the peer; 0 if it was none.
    last_size: u32,
    /// An ACK is due or delayed (`ICSK_ACK_SCHED`).
    scheduled: bool,
    /// A short segment is unacknowledged (`ICSK_ACK_PUSHED`).
    ends_short: bool,
    /// Two are (`ICSK_ACK_PUSHED2`).
    ends_short_twice: bool,
    /// The segment that is being processed asks for quick ACKs by its codepoint of ECN.
    hurried: bool,
    /// The ACKs of data behind a gap.
    gap: BehindGap,
}

impl Adaptive {
    pub(super) const fn new(opened: Time) -> Self {
        Self {
            ato: Span::ZERO,
            last: opened,
            quick: 0,
            interactive: false,
            full: 0,
            last_size: 0,
            scheduled: false,
            ends_short: false,
            ends_short_twice: false,
            hurried: false,
            gap: BehindGap::new(),
        }
    }

    /// The estimate of the peer's full segment.
    pub(super) const fn full(&self) -> u32 {
        self.full
    }

    /// Data has arrived in order.
    #[inline]
    pub(super) fn arrives(&mut self, now: Time, arrival: &Arrival, bounds: Bounds) -> Due {
        self.scheduled = true;
        self.measure(arrival, bounds);
        self.follow(now, arrival, bounds);
        if bounds.counts == QuickCounts::Acks && arrival.shape.flags.has(Flags::FIN) {
            self.interactive = true;
        }
        self.decide(now, arrival, bounds)
    }

    /// [`Self::arrives`] for a full segment without FIN that soon follows another, when the application reads quickly and the
    /// ATO has come down to its minimum. `None` for any other segment; the state has not changed then.
    #[inline]
    pub(super) fn arrives_ordinary(&mut self, now: Time, ordinary: Ordinary, bounds: Bounds) -> Option<Due> {
        let Ordinary { len, flags, unacknowledged, is_read_quickly, announced, opens_window, armed } =
            ordinary;
        let least = bounds.min.as_ps() / 2;
        let is_ordinary = len == self.full
            && len <= announced
            && is_read_quickly
            && (now - self.last).as_ps() <= least
            && self.ato > Span::ZERO
            && self.ato <= bounds.min
            && bounds.counts == QuickCounts::Acks
            && !self.hurried
            && !flags.has(Flags::FIN);
        if !is_ordinary {
            return None;
        }
        self.scheduled = true;
        self.last_size = 0;
        self.ends_short |= flags.has(Flags::PSH);
        self.last = now;
        self.ato = Span::from_ps(self.ato.as_ps() / 2 + least);
        self.quick |= u8::from(opens_window);
        if unacknowledged > u64::from(self.full) || (self.quick > 0 && !self.interactive) {
            return Some(Due::Now);
        }
        Some(wait_at_most(self.ato.min(bounds.max), now, armed))
    }

    /// `__tcp_ack_snd_check()`, for data in order.
    fn decide(&self, now: Time, arrival: &Arrival, bounds: Bounds) -> Due {
        let more_than_a_segment = arrival.unacknowledged > u64::from(self.full) && arrival.is_read_quickly;
        if more_than_a_segment || (self.quick > 0 && !self.interactive) {
            return Due::Now;
        }
        self.wait(now, arrival, bounds)
    }

    /// `__tcp_ack_snd_check()`, for data while there is a gap.
    pub(super) fn behind_gap(&mut self, now: Time, arrival: &Arrival, bounds: Bounds) -> Due {
        let more_than_a_segment = arrival.unacknowledged > u64::from(self.full) && arrival.is_read_quickly;
        if more_than_a_segment || (self.quick > 0 && !self.interactive) {
            return Due::Now;
        }
        self.gap.arrives(now, arrival.received, (bounds.behind_gap, arrival.receiving_rtt(), arrival.armed))
    }

    /// Whether the ACK of data behind a gap waits.
    pub(super) const fn waits_behind_gap(&self) -> bool {
        self.gap.waits()
    }

    /// No such ACK waits any more.
    pub(super) const fn forgo_behind_gap(&mut self) {
        self.gap.leaves(false);
    }

    /// The estimate of full segments before the first data (`tcp_initialize_rcv_mss()`).
    #[inline]
    fn begin_estimate(&mut self, arrival: &Arrival) {
        if self.full == 0 {
            self.full = MODEST_MSS.min(arrival.mss);
        }
    }

    /// `tcp_measure_rcv_mss()`.
    fn measure(&mut self, arrival: &Arrival, bounds: Bounds) {
        self.begin_estimate(arrival);
        let Shape { len, flags, .. } = arrival.shape;
        if bounds.counts == QuickCounts::Segments {
            if len >= self.full {
                self.full = len.min(arrival.announced);
            } else {
                self.ends_short = true;
            }
            return;
        }
        let before = core::mem::take(&mut self.last_size);
        if len >= self.full {
            self.full = len.min(arrival.announced);
            self.ends_short |= flags.has(Flags::PSH);
            return;
        }
        self.last_size = arrival.likely_size(MODEST_MSS + 20, LEAST_LEN);
        if self.last_size > 0 && self.last_size == before {
            self.full = self.last_size;
            return;
        }
        self.ends_short_twice |= self.ends_short;
        self.ends_short = true;
    }

    /// A mark has arrived with the segment that is being processed, or it cannot be marked, unlike others before
    /// (`__tcp_ecn_check_ce()`).
    pub(super) fn on_mark(&mut self, bounds: Bounds) {
        self.hurried = bounds.counts == QuickCounts::Acks;
    }

    /// Two quick ACKs, if the segment asks for them.
    fn hurry(&mut self, arrival: &Arrival, bounds: Bounds) {
        if core::mem::take(&mut self.hurried) {
            self.enter_quick_mode(arrival, Bounds { quick: bounds.quick.min(2), ..bounds });
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
        self.hurry(arrival, bounds);
        // tcp_grow_window().
        self.quick |= u8::from(arrival.opens_window);
    }

    /// `tcp_incr_quickack()`: the number of segments in half of the window, or two if that is none.
    fn quicken(&mut self, arrival: &Arrival, bounds: Bounds) {
        self.begin_estimate(arrival);
        let enough = match arrival.window / (2 * self.full.max(1)) {
            0 => 2,
            some => some,
        };
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
        wait_at_most(wait.min(bounds.max), now, arrival.armed)
    }

    /// Out-of-order data, a duplicate, or data that fills a gap. Its ACK is sent at once.
    pub(super) fn on_possible_loss(&mut self, now: Time, arrival: &Arrival, bounds: Bounds) {
        self.scheduled = true;
        if bounds.counts == QuickCounts::Segments {
            self.measure(arrival, bounds);
            self.enter_quick_mode(arrival, bounds);
        } else if arrival.is_in_order {
            self.measure(arrival, bounds);
            self.follow(now, arrival, bounds);
        } else if arrival.is_old {
            self.hurried = false;
            self.enter_quick_mode(arrival, bounds);
        } else {
            // tcp_data_queue_ofo() measures since 6.17.
            self.hurry(arrival, bounds);
            self.measure(arrival, bounds);
            self.quick |= u8::from(arrival.opens_window);
        }
    }

    /// A refused segment with data that arrived before. Its ACK is sent at once (`tcp_send_dupack()`).
    pub(super) fn on_refused(&mut self, arrival: &Arrival, bounds: Bounds) {
        if bounds.counts == QuickCounts::Acks && arrival.is_old {
            self.enter_quick_mode(arrival, bounds);
        }
    }

    /// `tcp_enter_quickack_mode()`.
    fn enter_quick_mode(&mut self, arrival: &Arrival, bounds: Bounds) {
        self.quicken(arrival, bounds);
        self.interactive = false;
        self.ato = bounds.min;
    }

    /// The peer has closed its direction, in order; this host has not (`tcp_fin()`).
    pub(super) fn on_fin(&mut self, now: Time, arrival: &Arrival, bounds: Bounds) -> Due {
        if bounds.counts == QuickCounts::Segments {
            return Due::Now;
        }
        self.begin_estimate(arrival);
        self.scheduled = true;
        self.interactive = true;
        self.decide(now, arrival, bounds)
    }

    /// An ACK waits, and a segment without data was processed (`tcp_ack_snd_check()`).
    pub(super) fn reconsider(&mut self, now: Time, arrival: &Arrival, bounds: Bounds) -> Due {
        if bounds.counts == QuickCounts::Segments || !self.scheduled || self.gap.waits() {
            return Due::At(arrival.armed);
        }
        self.decide(now, arrival, bounds)
    }

    /// A segment with `len` bytes of data is sent and acknowledges everything (`tcp_event_ack_sent()`,
    /// `tcp_event_data_sent()`).
    pub(super) fn leaves(&mut self, now: Time, len: u32, bounds: Bounds) {
        let counts = bounds.counts == QuickCounts::Segments || self.scheduled;
        if counts && self.quick == 1 && bounds.counts == QuickCounts::Acks {
            self.ato = bounds.min;
        }
        self.quick = self.quick.saturating_sub(u8::from(counts));
        (self.scheduled, self.ends_short, self.ends_short_twice) = (false, false, false);
        self.gap.leaves(len > 0);
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

    /// The timer has sent the ACK (`tcp_delack_timer_handler()`). That of data behind a gap has a timer of its own
    /// (`tcp_compressed_ack_kick()`).
    pub(super) fn on_timer_ack(&mut self, rto: Span, bounds: Bounds) {
        if self.gap.waits() {
            return;
        }
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
        let ends_short = self.ends_short_twice || (self.ends_short && !self.interactive);
        more_than_a_segment || (ends_short && unread == 0)
    }
}

/// The ACK waits until the timer `armed` expires, `wait` at most. A timer that is about to expire means now.
fn wait_at_most(wait: Span, now: Time, armed: Time) -> Due {
    let soon = now + Span::from_ps(wait.as_ps() / 4);
    if armed <= soon { Due::Now } else { Due::At((now + wait).min(armed)) }
}

#[cfg(test)]
#[path = "adaptive_tests.rs"]
mod tests;
