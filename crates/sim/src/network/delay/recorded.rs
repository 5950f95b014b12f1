//! A delay that follows a recording: each value holds from its time on.

use netspurt_tcp::time::Span;

/// A recording of delays.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recorded {
    /// When, in picoseconds, and how long a packet takes from then on.
    values: Box<[(u64, Span)]>,
    /// After so many picoseconds it begins anew; [`u64::MAX`] if the last value holds for ever.
    period: u64,
}

impl Recorded {
    /// These values, the first from zero on, each later than the one before it, the period behind the last; `None` if it is
    /// otherwise.
    pub fn new(values: &[(u64, Span)], repeat: Option<u64>) -> Option<Self> {
        let period = repeat.unwrap_or(u64::MAX);
        let ordered = values.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let right = values.first()?.0 == 0 && values.last()?.0 < period && ordered;
        right.then(|| Self { values: values.into(), period })
    }

    pub(super) fn first(&self) -> Span {
        self.values[0].1
    }

    /// Picoseconds that a packet takes at `now`.
    pub(super) fn at(&self, now: u64) -> u64 {
        let within = now % self.period;
        self.values[self.values.partition_point(|(from, _)| *from <= within) - 1].1.as_ps()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_followed_and_repeated() {
        let values = [(0, Span::from_ps(1)), (10, Span::from_ps(2)), (15, Span::from_ps(3))];
        let seen = |repeat| {
            let recorded = Recorded::new(&values, repeat).unwrap();
            [0, 9, 10, 15, 19, 20, 35].map(|now| recorded.at(now))
        };
        assert_eq!(seen(None), [1, 1, 2, 3, 3, 3, 3]);
        assert_eq!(seen(Some(20)), [1, 1, 2, 3, 3, 1, 3]);
        assert_eq!(Recorded::new(&values, Some(15)), None);
        assert_eq!(Recorded::new(&values[1..], None), None);
        assert_eq!(Recorded::new(&[], None), None);
    }
}
