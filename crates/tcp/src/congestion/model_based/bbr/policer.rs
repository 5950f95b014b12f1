//! Detection of token bucket policers: a path that passes a burst and then drops packets above a rate (Flach et al.,
//! "An Internet-wide analysis of traffic policing", SIGCOMM 2016; Linux, `tcp_bbr.c`, the long-term bandwidth).
//!
//! Two consecutive intervals that end with a loss, with many losses and nearly the same rate, indicate a policer. Its
//! rate then replaces the bandwidth estimate for some time.

use crate::congestion::pacing;
use crate::time::{Span, Time};

/// The minimum length of an interval in rounds. The maximum is four times as long.
const ROUNDS: u32 = 4;
/// The loss threshold of a lossy interval, per 256 bytes delivered: a fifth.
const LOSSY: u64 = 50;
/// Two rates are considered equal if they differ by at most an eighth, or 4 kbit/s.
const ALIKE: u64 = 500;
/// The number of rounds for which the rate applies.
const HOLDS: u32 = 48;

/// The state of the detection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Policer {
    sampling: bool,
    holds: bool,
    /// The rate of the previous interval, or of the policer if one was detected.
    rate: u64,
    began: Time,
    delivered: u64,
    lost: u64,
    rounds: u32,
}

/// The input from an ACK or a timeout.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shown {
    pub(super) at: Time,
    /// Totals in bytes.
    pub(super) delivered: u64,
    pub(super) lost: u64,
    /// A loss was detected.
    pub(super) is_loss: bool,
    pub(super) round_start: bool,
    pub(super) app_limited: bool,
    /// Whether the gain cycle runs.
    pub(super) cycling: bool,
}

impl Policer {
    /// The rate of the policer, if one was detected.
    pub(super) fn rate(&self) -> Option<u64> {
        self.holds.then_some(self.rate)
    }

    /// Resets the detection.
    pub(super) fn reset(&mut self, shown: &Shown) {
        *self = Self::default();
        self.begin(shown);
    }

    fn begin(&mut self, shown: &Shown) {
        (self.began, self.delivered, self.lost, self.rounds) = (shown.at, shown.delivered, shown.lost, 0);
    }

    /// Processes the input. Returns whether the policer's rate has expired, so that the path is probed again.
    pub(super) fn watch(&mut self, shown: &Shown) -> bool {
        if self.holds {
            self.rounds += u32::from(shown.cycling && shown.round_start);
            let over = self.rounds >= HOLDS;
            if over {
                self.reset(shown);
            }
            return over;
        }
        if !self.sampling {
            // The first loss: the bucket is empty.
            if shown.is_loss {
                self.begin(shown);
                self.sampling = true;
            } else {
                return false;
            }
        }
        if shown.app_limited {
            self.reset(shown);
            return false;
        }
        self.rounds += u32::from(shown.round_start);
        if self.rounds > 4 * ROUNDS {
            self.reset(shown);
        } else if self.rounds >= ROUNDS && shown.is_loss {
            self.judge(shown);
        }
        false
    }

    /// An interval ends with a loss, when the bucket is empty again.
    fn judge(&mut self, shown: &Shown) {
        let (delivered, lost) = (shown.delivered - self.delivered, shown.lost - self.lost);
        let span = shown.at - self.began;
        if delivered == 0 || lost * 256 < LOSSY * delivered || span < Span::from_ms(1) {
            return;
        }
        let rate = pacing::rate(delivered, span);
        let apart = rate.abs_diff(self.rate);
        if self.rate > 0 && (apart <= self.rate / 8 || apart <= ALIKE) {
            self.rate = (self.rate + rate) / 2;
            (self.holds, self.rounds) = (true, 0);
        } else {
            self.rate = rate;
            self.begin(shown);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds of 100 ms with so much delivered and lost in each.
    fn rounds(policer: &mut Policer, from: u64, rounds: &[(u64, u64)]) -> u64 {
        let (mut delivered, mut lost) = (policer.delivered, policer.lost);
        for (n, round) in rounds.iter().enumerate() {
            delivered += round.0;
            lost += round.1;
            policer.watch(&Shown {
                at: Time::ZERO + Span::from_ms(100 * (from + n as u64)),
                delivered,
                lost,
                is_loss: round.1 > 0,
                round_start: true,
                app_limited: false,
                cycling: true,
            });
        }
        from + rounds.len() as u64
    }

    #[test]
    fn two_lossy_intervals_with_the_same_rate_indicate_a_policer() {
        let mut policer = Policer::default();
        let next = rounds(&mut policer, 1, &[(20_000, 5000); 4]);
        assert_eq!(policer.rate(), None, "one interval is no proof");
        rounds(&mut policer, next, &[(20_000, 5000); 8]);
        assert_eq!(policer.rate(), Some(200_000));
    }

    #[test]
    fn few_losses_or_different_rates_do_not_indicate_a_policer() {
        let mut few = Policer::default();
        rounds(&mut few, 1, &[(20_000, 2000); 30]);
        assert_eq!(few.rate(), None);
        let mut other = Policer::default();
        let next = rounds(&mut other, 1, &[(20_000, 5000); 4]);
        rounds(&mut other, next, &[(30_000, 8000); 4]);
        assert_eq!(other.rate(), None);
    }

    #[test]
    fn the_policers_rate_applies_for_48_rounds() {
        let mut policer = Policer::default();
        let next = rounds(&mut policer, 1, &[(20_000, 5000); 8]);
        assert!(policer.rate().is_some());
        let next = rounds(&mut policer, next, &[(20_000, 0); 47]);
        assert!(policer.rate().is_some());
        rounds(&mut policer, next, &[(20_000, 0); 1]);
        assert_eq!(policer.rate(), None);
    }
}
