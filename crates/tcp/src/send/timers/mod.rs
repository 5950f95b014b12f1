//! The timers of the sender. A timer is a deadline that moves; the driver only uses the earliest one. The receiver owns
//! the delayed ACK timer, and the context owns the keep-alive timer.

pub(super) mod timeouts;

use crate::config::TimerGrain;
use crate::record::event::Timer;
use crate::record::reason::Hold;
use crate::time::{Span, Stamp, Time};

/// The largest backoff shift. The upper bound of the RTO is reached before it.
const MAX_BACKOFF: u8 = 20;

/// The deadlines of a connection, [`Time::NEVER`] where not armed.
#[derive(Debug)]
pub(crate) struct Timers {
    /// The deadline of the main timer. At most one of its roles is active.
    main: Time,
    /// The present RTO, with backoff.
    rto: Span,
    /// Consecutive expirations of the timer.
    backoff: u8,
    /// Consecutive retransmissions without an ACK.
    pub(super) unanswered: u8,
    /// The role of the main timer.
    role: Timer,
    /// Why nothing was sent at the last opportunity.
    pub(super) hold: Hold,
    /// Since when a transmission policy holds back a short segment.
    pub(crate) held_since: Stamp,
}

impl Timers {
    /// No timer is armed; the RTO is `rto`.
    pub(crate) fn new(rto: Span) -> Self {
        Self {
            main: Time::NEVER,
            rto,
            backoff: 0,
            unanswered: 0,
            role: Timer::Retransmit,
            hold: Hold::NotOpen,
            held_since: Stamp::default(),
        }
    }

    /// The deadline and the role of the main timer.
    #[inline]
    pub(crate) fn main(&self) -> (Time, Timer) {
        (self.main, self.role)
    }

    /// The present RTO.
    pub(crate) fn rto(&self) -> Span {
        self.rto
    }

    /// How often the RTO has been doubled.
    pub(crate) fn backoff(&self) -> u8 {
        self.backoff
    }

    /// (Re)starts the retransmission timer.
    #[inline]
    pub(crate) fn restart(&mut self, now: Time, grain: TimerGrain) {
        self.main = grain.deadline(now, self.rto);
        self.role = Timer::Retransmit;
    }

    /// Lets the retransmission timer, which is running, expire at `at` at the latest.
    pub(crate) fn shorten(&mut self, at: Time) {
        self.main = self.main.min(at);
    }

    /// The retransmission timer expires at `at`: the peer may have discarded data that it has reported.
    pub(crate) fn expect_reneging(&mut self, at: Time) {
        (self.main, self.role) = (at, Timer::Retransmit);
    }

    #[inline]
    pub(crate) fn retransmit_is_armed(&self) -> bool {
        !self.main.is_never() && matches!(self.role, Timer::Retransmit | Timer::TailProbe)
    }

    /// Arms the probe timeout at `at`, or the retransmission timer at `timeout` if that is earlier (RFC 8985, section
    /// 7.2).
    #[inline]
    pub(crate) fn probe(&mut self, at: Time, timeout: Time) {
        (self.main, self.role) = (at.min(timeout), Timer::TailProbe);
    }

    /// Whether a tail loss probe is due.
    pub(crate) fn waits_for_probe(&self) -> bool {
        self.role == Timer::TailProbe && !self.main.is_never()
    }

    /// Starts the persist timer if it is not running.
    pub(crate) fn persist(&mut self, now: Time, grain: TimerGrain) {
        if self.main.is_never() {
            self.main = grain.deadline(now, self.rto);
            self.role = Timer::Persist;
        }
    }

    /// Starts the persist timer anew, if it is running.
    pub(crate) fn restart_persist(&mut self, now: Time, grain: TimerGrain) {
        if self.role == Timer::Persist && !self.main.is_never() {
            self.main = grain.deadline(now, self.rto);
        }
    }

    /// Starts the persist timer with this deadline, if it is not running.
    pub(crate) fn wait_until(&mut self, deadline: Time) {
        if self.main.is_never() {
            self.main = deadline;
            self.role = Timer::Persist;
        }
    }

    #[inline]
    pub(crate) fn is_persisting(&self) -> bool {
        self.role == Timer::Persist
    }

    /// Arms the TIME-WAIT timer.
    pub(crate) fn wait_out(&mut self, end: Time) {
        self.main = end;
        self.role = Timer::TimeWait;
    }

    #[inline]
    pub(crate) fn stop_retransmit(&mut self) {
        self.main = Time::NEVER;
        self.role = Timer::Retransmit;
    }

    /// The timer of held data has expired, and none runs. What it releases is sent next.
    pub(crate) fn release(&mut self) {
        (self.main, self.role) = (Time::NEVER, Timer::Ceiling);
    }

    /// Whether the last timer was that of held data, and none has been started since.
    pub(crate) fn has_released(&self) -> bool {
        self.main.is_never() && self.role == Timer::Ceiling
    }

    /// Doubles the RTO after an expiration, up to the estimator's bound (RFC 6298, section 5.5). `base` is the
    /// estimator's timeout, `max` its bound.
    pub(crate) fn back_off(&mut self, base: Span, max: Span) {
        self.backoff = (self.backoff + 1).min(MAX_BACKOFF);
        self.rto = base.saturating_mul(1 << self.backoff).min(max.max(base));
    }

    /// Sets the RTO without backoff.
    #[inline]
    pub(crate) fn reset_rto(&mut self, rto: Span) {
        self.backoff = 0;
        self.rto = rto;
    }
}

impl TimerGrain {
    /// When a timer of `span`, set now, expires. On a ticking clock it expires at the n-th tick from now, where n ticks
    /// are at least `span`.
    #[inline(always)]
    pub fn deadline(self, now: Time, span: Span) -> Time {
        match self {
            Self::Continuous => now + span,
            Self::Ticks { period, phase } => deadline_in_ticks(now, span, (period, phase)),
        }
    }

    /// The RTT between two instants on this clock: on a ticking clock, the ticks between them.
    #[inline]
    pub fn elapsed(self, from: Time, to: Time) -> Span {
        match self {
            Self::Continuous => to - from,
            Self::Ticks { period, phase } => {
                period.saturating_mul(ticks_until(to, period, phase) - ticks_until(from, period, phase))
            }
        }
    }
}

/// When a timer of `span` expires on a clock that ticks.
#[inline(never)]
fn deadline_in_ticks(now: Time, span: Span, (period, phase): (Span, Span)) -> Time {
    let ticks = span.as_ps().div_ceil(period.as_ps()).max(1);
    let last = ticks_until(now, period, phase);
    Time::ZERO + phase + period.saturating_mul(last + ticks - 1)
}

/// Ticks at or before `now`.
fn ticks_until(now: Time, period: Span, phase: Span) -> u64 {
    let (now, phase) = (now.as_ps(), phase.as_ps());
    if now < phase { 0 } else { (now - phase) / period.as_ps() + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICKS: TimerGrain = TimerGrain::Ticks { period: Span::from_ms(500), phase: Span::from_ms(100) };

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    #[test]
    fn a_timer_of_two_ticks_expires_at_the_second_tick() {
        assert_eq!(TICKS.deadline(at(0), Span::from_ms(1000)), at(600));
        assert_eq!(TICKS.deadline(at(100), Span::from_ms(1000)), at(1100));
        assert_eq!(TICKS.deadline(at(99), Span::from_ms(1)), at(100));
    }

    #[test]
    fn a_ticking_clock_counts_the_ticks_between_two_instants() {
        assert_eq!(TICKS.elapsed(at(90), at(110)), Span::from_ms(500));
        assert_eq!(TICKS.elapsed(at(110), at(590)), Span::ZERO);
        assert_eq!(TICKS.elapsed(at(100), at(1100)), Span::from_ms(1000));
    }
}
