//! Times on the calendar, as captures hold them.

use netspurt_tcp::time::Span;

/// Nanoseconds since 1970-01-01 00:00:00 UTC; good until the year 2554.
///
/// A simulation's own clock ([`netspurt_tcp::time::Time`]) counts picoseconds, which from 1970 to today do not fit into
/// 64 bits. Differences of two stamps are spans like any other.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Stamp(pub u64);

impl Stamp {
    /// The time between `earlier` and this; zero if the clock went back between the two.
    pub const fn since(self, earlier: Self) -> Span {
        Span::from_ps(self.0.saturating_sub(earlier.0).saturating_mul(1000))
    }

    /// Seconds since 1970, as near as a float comes to it (a quarter of a microsecond).
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_goes_back_gives_no_time_at_all() {
        assert_eq!(Stamp(7).since(Stamp(5)), Span::from_ns(2));
        assert_eq!(Stamp(5).since(Stamp(7)), Span::ZERO);
        assert_eq!(Stamp(u64::MAX).since(Stamp(0)), Span::MAX);
    }
}
