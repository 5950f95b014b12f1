//! Which deadlines are armed. Timers are moved, never cancelled and re-inserted: a driver only sees the earliest.

use crate::config::TimerGrain;
use crate::event::Timer;
use crate::rto::{Rto, RtoEstimator};
use crate::time::{Span, Stamp, Time};

/// Backoff shifts beyond this change nothing: the estimator's bound is reached long before.
const MAX_BACKOFF: u8 = 20;

/// The deadlines of a connection, [`Time::NEVER`] where not armed.
#[derive(Debug)]
pub(crate) struct Timers {
    /// Retransmission, or persist while `persisting`.
    retransmit: Time,
    pub(crate) delayed_ack: Time,
    pub(crate) keep_alive: Time,
    /// TIME-WAIT, or the user timeout before that.
    pub(crate) patience: Time,
    /// The timeout in force, backoff included.
    rto: Span,
    /// The estimator's smoothed round trip, zero before the first sample.
    srtt: Span,
    /// Times that the timer ran out in a row.
    backoff: u8,
    persisting: bool,
    /// Since when a transmission policy holds a short segment back.
    pub(crate) held_since: Stamp,
}

impl Timers {
    pub(crate) fn new(estimator: &Rto) -> Self {
        Self {
            retransmit: Time::NEVER,
            delayed_ack: Time::NEVER,
            keep_alive: Time::NEVER,
            patience: Time::NEVER,
            rto: estimator.rto(),
            srtt: Span::ZERO,
            backoff: 0,
            persisting: false,
            held_since: Stamp::default(),
        }
    }

    /// The smoothed round trip, once there is one.
    #[inline]
    pub(crate) fn srtt(&self) -> Option<Span> {
        (self.srtt > Span::ZERO).then_some(self.srtt)
    }

    /// The earliest deadline.
    #[inline]
    pub(crate) fn next(&self) -> Time {
        self.retransmit.min(self.delayed_ack).min(self.keep_alive).min(self.patience)
    }

    /// The retransmission timer's deadline and which of its two roles it plays.
    #[inline]
    pub(crate) fn retransmit(&self) -> (Time, Timer) {
        (self.retransmit, if self.persisting { Timer::Persist } else { Timer::Retransmit })
    }

    /// The timeout in force.
    pub(crate) fn rto(&self) -> Span {
        self.rto
    }

    /// Whether the timer has run out since the last sample.
    pub(crate) fn is_backed_off(&self) -> bool {
        self.backoff > 0
    }

    /// (Re)starts the retransmission timer.
    #[inline]
    pub(crate) fn restart(&mut self, now: Time, grain: TimerGrain) {
        self.retransmit = grain.deadline(now, self.rto);
        self.persisting = false;
    }

    #[inline]
    pub(crate) fn retransmit_is_armed(&self) -> bool {
        !self.retransmit.is_never() && !self.persisting
    }

    /// Starts the persist timer unless it runs.
    pub(crate) fn persist(&mut self, now: Time, grain: TimerGrain) {
        if self.retransmit.is_never() {
            self.retransmit = grain.deadline(now, self.rto);
            self.persisting = true;
        }
    }

    /// Starts the persist timer for what waits until `deadline` and no longer, unless one runs.
    pub(crate) fn wait_until(&mut self, deadline: Time) {
        if self.retransmit.is_never() {
            self.retransmit = deadline;
            self.persisting = true;
        }
    }

    #[inline]
    pub(crate) fn is_persisting(&self) -> bool {
        self.persisting
    }

    #[inline]
    pub(crate) fn stop_retransmit(&mut self) {
        self.retransmit = Time::NEVER;
        self.persisting = false;
    }

    /// The timer ran out: the timeout doubles up to the estimator's bound (RFC 6298, section 5.5).
    pub(crate) fn back_off(&mut self, estimator: &Rto) {
        self.backoff = (self.backoff + 1).min(MAX_BACKOFF);
        self.set_rto(estimator);
    }

    /// The timeout is this, without backoff, until the first sample.
    pub(crate) fn fall_back(&mut self, rto: Span) {
        self.backoff = 0;
        self.rto = rto;
    }

    /// The timeout is the estimator's again, without backoff.
    #[inline]
    pub(crate) fn refresh(&mut self, estimator: &Rto) {
        self.backoff = 0;
        self.srtt = estimator.srtt().unwrap_or(Span::ZERO);
        self.set_rto(estimator);
    }

    #[inline]
    fn set_rto(&mut self, estimator: &Rto) {
        let base = estimator.rto();
        self.rto = if self.backoff == 0 {
            base
        } else {
            base.saturating_mul(1 << self.backoff).min(estimator.max().max(base))
        };
    }

    /// Nothing is armed any more.
    pub(crate) fn stop_all(&mut self) {
        self.stop_retransmit();
        self.delayed_ack = Time::NEVER;
        self.keep_alive = Time::NEVER;
        self.patience = Time::NEVER;
    }
}

impl TimerGrain {
    /// When a timer of `span`, set now, runs out: on a ticking clock, at the n-th tick to come, n ticks being at least
    /// `span`.
    #[inline]
    pub fn deadline(self, now: Time, span: Span) -> Time {
        match self {
            Self::Continuous => now + span,
            Self::Ticks { period, phase } => {
                let ticks = span.as_ps().div_ceil(period.as_ps()).max(1);
                let last = ticks_until(now, period, phase);
                Time::ZERO + phase + period.saturating_mul(last + ticks - 1)
            }
        }
    }

    /// The round-trip time that this clock reads between two instants: on a ticking clock, the ticks between them.
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
    fn a_timer_of_two_ticks_runs_out_at_the_second_tick_to_come() {
        assert_eq!(TICKS.deadline(at(0), Span::from_ms(1000)), at(600));
        assert_eq!(TICKS.deadline(at(100), Span::from_ms(1000)), at(1100));
        assert_eq!(TICKS.deadline(at(99), Span::from_ms(1)), at(100));
    }

    #[test]
    fn a_ticking_clock_counts_the_ticks_between() {
        assert_eq!(TICKS.elapsed(at(90), at(110)), Span::from_ms(500));
        assert_eq!(TICKS.elapsed(at(110), at(590)), Span::ZERO);
        assert_eq!(TICKS.elapsed(at(100), at(1100)), Span::from_ms(1000));
    }
}
