//! Tins: which codepoints each has, and its share (Linux, `sch_cake.c`; RFC 4594, RFC 8622).

use crate::spec::Diffserv;

/// A tin: the share of the rate up to which it has priority, and its quantum in bytes where no rate is set.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Share {
    /// Numerator and denominator.
    pub(super) rate: (u64, u64),
    pub(super) quantum: u32,
}

/// The tins; those with a higher number have priority.
pub(super) fn shares(diffserv: Diffserv) -> Vec<Share> {
    let share = |rate, quantum| Share { rate, quantum };
    match diffserv {
        Diffserv::BestEffort => vec![share((1, 1), 65_535)],
        Diffserv::Three => vec![share((1, 1), 1024), share((1, 16), 64), share((1, 4), 256)],
        Diffserv::Four => {
            vec![share((1, 1), 1024), share((1, 16), 64), share((1, 2), 512), share((1, 4), 256)]
        }
        Diffserv::Eight => {
            let power = |base: u64, n| core::iter::repeat_n(base, n).product::<u64>();
            let one = |n| {
                let rate = (power(7, n), power(8, n));
                share(rate, (256 * rate.0 / rate.1).max(1) as u32)
            };
            (0..8).map(one).collect()
        }
    }
}

/// The tin of a codepoint.
pub(super) const fn tin_of(diffserv: Diffserv, dscp: u8) -> usize {
    match diffserv {
        Diffserv::BestEffort => 0,
        Diffserv::Three => match dscp {
            // Bulk: LE, CS1.
            1 | 8 => 1,
            // Voice: TOS4, VA, EF, CS6, CS7.
            4 | 44 | 46 | 48 | 56 => 2,
            _ => 0,
        },
        Diffserv::Four => match dscp {
            1 | 8 => 1,
            // Video: TOS4, CS2, AF2x, CS3, AF3x, AF4x.
            4 | 16 | 18 | 20 | 22 | 24 | 26 | 28 | 30 | 34 | 36 | 38 => 2,
            // Voice: CS4, CS5, VA, EF, CS6, CS7.
            32 | 40 | 44 | 46 | 48 | 56 => 3,
            _ => 0,
        },
        Diffserv::Eight => match dscp {
            // Least effort: LE. High throughput: TOS2, CS1, AF1x.
            1 => 0,
            2 | 8 | 10 | 12 | 14 => 1,
            // Streams: CS3, AF3x and AF4x. Low-latency data: TOS4, AF2x.
            24 | 26 | 28 | 30 | 34 | 36 | 38 => 3,
            4 | 18 | 20 | 22 => 4,
            // Management: CS2. Real time: CS4, CS5, VA, EF. Network control: CS6, CS7.
            16 => 5,
            32 | 40 | 44 | 46 => 6,
            48 | 56 => 7,
            _ => 2,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_codepoint_has_a_tin_and_every_tin_a_codepoint() {
        for (diffserv, count) in
            [(Diffserv::BestEffort, 1), (Diffserv::Three, 3), (Diffserv::Four, 4), (Diffserv::Eight, 8)]
        {
            let tins: std::collections::BTreeSet<_> = (0..64).map(|dscp| tin_of(diffserv, dscp)).collect();
            assert_eq!(tins, (0..count).collect(), "{diffserv:?}");
            assert_eq!(shares(diffserv).len(), count, "{diffserv:?}");
        }
    }

    #[test]
    fn voice_goes_before_video_before_the_rest_before_bulk_in_the_long_run() {
        let [ef, af41, default, bulk] = [46, 34, 0, 8].map(|dscp| tin_of(Diffserv::Four, dscp));
        assert!(ef > af41 && af41 > default);
        let shares = shares(Diffserv::Four);
        let rate = |tin: usize| shares[tin].rate.0 * 16 / shares[tin].rate.1;
        assert_eq!([ef, af41, default, bulk].map(rate), [4, 8, 16, 1]);
    }
}
