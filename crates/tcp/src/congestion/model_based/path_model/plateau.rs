//! The detection of a full pipe: the delivery rate no longer increases.

use super::UNIT;

/// The pipe is full when this number of consecutive rounds
const ROUNDS: u8 = 3;
/// has not increased the rate by a quarter.
const GAIN: u64 = UNIT * 5 / 4;

/// The last rate with an increase, and the rounds since.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in crate::congestion) struct Plateau {
    rate: u64,
    rounds: u8,
}

impl Plateau {
    /// Restarts the detection at this rate.
    pub(in crate::congestion) fn restart(&mut self, rate: u64) {
        *self = Self { rate, rounds: 0 };
    }

    /// Processes the rate of a round that was not application-limited. Returns whether the pipe is full.
    pub(in crate::congestion) fn is_reached(&mut self, rate: u64) -> bool {
        if u128::from(rate) * u128::from(UNIT) >= u128::from(self.rate) * u128::from(GAIN) {
            self.restart(rate);
            return false;
        }
        self.rounds += 1;
        self.rounds >= ROUNDS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_rounds_without_a_quarter_more_are_a_plateau() {
        let mut plateau = Plateau::default();
        let seen = [100, 200, 249, 260, 300, 320, 310].map(|rate| plateau.is_reached(rate));
        assert_eq!(seen, [false, false, false, false, false, false, true], "from 260 on: {plateau:?}");
        plateau.restart(300);
        assert!(!plateau.is_reached(300));
    }
}
