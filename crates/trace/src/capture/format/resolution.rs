//! Resolution and offset of an interface's timestamps (`if_tsresol` and `if_tsoffset` of pcapng).

use crate::stamp::Stamp;

const NANOSECONDS: u64 = 1_000_000_000;

/// Unit and origin of a timestamp.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::capture) struct Resolution {
    unit: Unit,
    offset_s: i64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Unit {
    /// The unit is this number of nanoseconds.
    Coarse(u64),
    /// This number of units is a nanosecond.
    Fine(u64),
    /// The unit is a second divided by two to this power.
    Binary(u32),
}

impl Resolution {
    /// The default of pcapng.
    pub(in crate::capture) const MICROSECONDS: Self = Self { unit: Unit::Coarse(1000), offset_s: 0 };

    /// From the byte in the file: a negative exponent of ten or, with the highest bit set, of two.
    pub(in crate::capture) const fn new(exponent: u8) -> Self {
        let unit = match exponent {
            0..=9 => Unit::Coarse(10_u64.pow(9 - exponent as u32)),
            10..=28 => Unit::Fine(10_u64.pow(exponent as u32 - 9)),
            // Such fine units overflow 64 bits, so every time is zero.
            29..=127 => Unit::Fine(u64::MAX),
            128..=255 => Unit::Binary(exponent as u32 - 128),
        };
        Self { unit, offset_s: 0 }
    }

    /// The same resolution with an origin `offset_s` seconds after 1970.
    pub(in crate::capture) const fn shifted(self, offset_s: i64) -> Self {
        Self { offset_s, ..self }
    }

    /// The time of a timestamp, limited to the range of [`Stamp`].
    #[inline]
    pub(in crate::capture) fn stamp(self, units: u64) -> Stamp {
        let since = match self.unit {
            Unit::Coarse(nanoseconds) => units.saturating_mul(nanoseconds),
            Unit::Fine(part) => units / part,
            Unit::Binary(shift) => {
                let wide = (u128::from(units) * u128::from(NANOSECONDS)) >> shift;
                u64::try_from(wide).unwrap_or(u64::MAX)
            }
        };
        if self.offset_s == 0 {
            return Stamp(since);
        }
        let offset = i128::from(self.offset_s) * i128::from(NANOSECONDS);
        let whole = (i128::from(since) + offset).clamp(0, i128::from(u64::MAX));
        Stamp(whole as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_and_a_half_seconds_in_every_resolution() {
        for (exponent, units) in [
            (1, 15),
            (3, 1500),
            (6, 1_500_000),
            (9, 1_500_000_000),
            (12, 1_500_000_000_000),
            (129, 3),
            (148, 3 << 19),
        ] {
            assert_eq!(Resolution::new(exponent).stamp(units), Stamp(1_500_000_000), "{exponent}");
        }
        assert_eq!(Resolution::new(6).shifted(-1).stamp(1_500_000), Stamp(500_000_000));
        assert_eq!(Resolution::new(6).shifted(-2).stamp(1_500_000), Stamp(0));
    }

    #[test]
    fn every_resolution_and_timestamp_is_accepted() {
        for exponent in 0..=u8::MAX {
            for offset in [0, i64::MIN, i64::MAX] {
                let resolution = Resolution::new(exponent).shifted(offset);
                assert!(resolution.stamp(0) <= resolution.stamp(u64::MAX), "{exponent}, {offset}");
            }
        }
    }
}
