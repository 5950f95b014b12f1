//! Time as one integer: picoseconds in a `u64`.
//!
//! The transmission of a 40-byte ACK at 10 Tb/s takes 32 ps, and 2^64 ps are 213 days. One unit is therefore enough for
//! a terabit link and for a run of a day. No float decides when a packet moves.

use core::fmt;
use core::ops::{Add, AddAssign, Sub};

/// An instant on the driver's clock: picoseconds since an origin that the driver chose.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(u64);

/// An instant of the last 71 minutes with a resolution of one microsecond. It needs half the memory of a [`Time`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Stamp(u32);

impl Stamp {
    const MICROSECOND: u64 = 1_000_000;

    /// Rounds `now` down to this resolution.
    #[inline]
    pub(crate) const fn at(now: Time) -> Self {
        Self((now.0 / Self::MICROSECOND) as u32)
    }

    /// The full instant. It must lie at most 71 minutes before `now`.
    pub(crate) const fn instant(self, now: Time) -> Time {
        let micros = now.0 / Self::MICROSECOND;
        let ago = (micros as u32).wrapping_sub(self.0) as u64;
        Time(micros.saturating_sub(ago) * Self::MICROSECOND)
    }
}

/// An instant with a resolution of 4.3 milliseconds. It needs half the memory of a [`Time`] and covers its whole range.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Coarse(u32);

impl Coarse {
    /// Rounds `now` down to this resolution.
    pub(crate) const fn at(now: Time) -> Self {
        Self((now.0 >> 32) as u32)
    }

    /// The instant, rounded down by up to 4.3 milliseconds.
    pub(crate) const fn instant(self) -> Time {
        Time((self.0 as u64) << 32)
    }
}

/// A difference of two instants: picoseconds, never negative.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(u64);

impl Time {
    /// The origin of the clock.
    pub const ZERO: Self = Self(0);
    /// Later than every instant: a timer that is not armed.
    pub const NEVER: Self = Self(u64::MAX);

    /// The instant `ps` picoseconds after the origin.
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// Picoseconds since the origin.
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Seconds since the origin, for output only. No decision about time may use them.
    pub fn as_secs_f64(self) -> f64 {
        Span(self.0).as_secs_f64()
    }

    /// The time from `earlier` to `self`; zero if `earlier` is later.
    pub const fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// Whether this means "no deadline".
    pub const fn is_never(self) -> bool {
        self.0 == u64::MAX
    }
}

impl Span {
    /// Zero time.
    pub const ZERO: Self = Self(0);
    /// Longer than every span that can be reached.
    pub const MAX: Self = Self(u64::MAX);

    /// `n` picoseconds.
    pub const fn from_ps(n: u64) -> Self {
        Self(n)
    }
    /// `n` nanoseconds.
    pub const fn from_ns(n: u64) -> Self {
        Self(n * 1_000)
    }
    /// `n` microseconds.
    pub const fn from_us(n: u64) -> Self {
        Self(n * 1_000_000)
    }
    /// `n` milliseconds.
    pub const fn from_ms(n: u64) -> Self {
        Self(n * 1_000_000_000)
    }
    /// `n` seconds.
    pub const fn from_secs(n: u64) -> Self {
        Self(n * 1_000_000_000_000)
    }
    /// This span in picoseconds.
    pub const fn as_ps(self) -> u64 {
        self.0
    }
    /// This span in seconds, for output only.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 * 1e-12
    }
    /// `self` times `n`, capped at [`Span::MAX`].
    pub const fn saturating_mul(self, n: u64) -> Self {
        Self(self.0.saturating_mul(n))
    }
    /// `self` times `num / den` in integer arithmetic, rounded down.
    pub const fn scale(self, num: u64, den: u64) -> Self {
        let wide = self.0 as u128 * num as u128 / den as u128;
        if wide > u64::MAX as u128 { Self::MAX } else { Self(wide as u64) }
    }
    /// `self` minus `other`, or zero if `other` is larger.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
    /// The absolute difference.
    pub const fn abs_diff(self, other: Self) -> Self {
        Self(self.0.abs_diff(other.0))
    }
}

impl Add<Span> for Time {
    type Output = Self;
    /// Saturates at [`Time::NEVER`].
    fn add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Sub for Time {
    type Output = Span;
    /// Saturates at zero, like [`Time::since`].
    fn sub(self, earlier: Self) -> Span {
        self.since(earlier)
    }
}

impl Add for Span {
    type Output = Self;
    /// Saturates at [`Span::MAX`].
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_never() { f.write_str("never") } else { Span(self.0).fmt(f) }
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Span {
    /// In the largest unit in which the value is at least one: `290 ms`, `1.5 us`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 4] =
            [(1_000_000_000_000, "s"), (1_000_000_000, "ms"), (1_000_000, "us"), (1_000, "ns")];
        let (unit, name) = UNITS.into_iter().find(|(unit, _)| self.0 >= *unit).unwrap_or((1, "ps"));
        write!(f, "{} {name}", self.0 as f64 / unit as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_saturate_instead_of_wrapping() {
        assert_eq!(Time::ZERO - Time::from_ps(5), Span::ZERO);
        assert!((Time::NEVER + Span::from_secs(1)).is_never());
    }

    #[test]
    fn a_coarse_instant_is_rounded_down_by_less_than_five_milliseconds() {
        for then in [Time::ZERO, Time::ZERO + Span::from_secs(200 * 24 * 3600), Time::from_ps(u64::MAX - 1)] {
            let coarse = Coarse::at(then).instant();
            assert!(coarse <= then && then - coarse < Span::from_us(4295), "{then:?} {coarse:?}");
        }
    }

    #[test]
    fn spans_print_in_the_largest_unit_that_fits() {
        assert_eq!(Span::from_ms(290).to_string(), "290 ms");
        assert_eq!(Span::from_ps(1_500_000).to_string(), "1.5 us");
        assert_eq!(Span::ZERO.to_string(), "0 ps");
    }

    #[test]
    fn a_stamp_keeps_the_instant_to_a_microsecond() {
        let then = Time::ZERO + Span::from_secs(100_000) + Span::from_ns(1_234_567);
        let now = then + Span::from_secs(3600);
        assert_eq!(Stamp::at(then).instant(now), Time::ZERO + Span::from_secs(100_000) + Span::from_us(1234));
        assert_eq!(Stamp::at(Time::ZERO).instant(Time::ZERO), Time::ZERO);
    }
}
