//! Calendar times, as captures store them.

use netspurt_tcp::time::Span;

/// Nanoseconds since 1970-01-01 00:00:00 UTC, until the year 2554.
///
/// The clock of a simulation ([`netspurt_tcp::time::Time`]) counts picoseconds, of which the time since 1970 exceeds 64
/// bits. The difference of two stamps is an ordinary span.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Stamp(pub u64);

impl Stamp {
    /// The time since `earlier`; zero if the clock was set back in between.
    pub const fn since(self, earlier: Self) -> Span {
        Span::from_ps(self.0.saturating_sub(earlier.0).saturating_mul(1000))
    }

    /// Seconds since 1970; a float is precise to a quarter of a microsecond.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_set_back_gives_zero_time() {
        assert_eq!(Stamp(7).since(Stamp(5)), Span::from_ns(2));
        assert_eq!(Stamp(5).since(Stamp(7)), Span::ZERO);
        assert_eq!(Stamp(u64::MAX).since(Stamp(0)), Span::MAX);
    }
}
