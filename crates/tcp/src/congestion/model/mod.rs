//! What all versions of BBR share: the pieces of a model of the path, and how a model becomes a rate and a window.
//!
//! A piece knows nothing of the others, nor of states; what it makes of a path is decided in `bbr` and `bbr3`.

mod aggregation;
mod filter;
mod lull;
mod pace;
mod plateau;
mod rounds;

pub(super) use aggregation::{Aggregation, Delivered};
pub(super) use filter::WindowedMax;
pub(super) use lull::Lull;
pub(super) use pace::{Pace, scaled};
pub(super) use plateau::Plateau;
pub(super) use rounds::Rounds;

use crate::congestion::pacing;
use crate::time::Span;

/// Gains are in 1/256.
pub(super) const UNIT: u64 = 256;
/// The round trip is the least of so long.
pub(super) const MIN_RTT_HOLDS: Span = Span::from_secs(10);

/// Segments that are always in flight: two that a receiver acknowledges together, twice.
const LEAST: u32 = 4;

/// The least window.
pub(super) fn least(mss: u32) -> u32 {
    mss.saturating_mul(LEAST)
}

/// Bytes that a path of this rate and round trip holds, times a gain; so few at most that sums of them do not overflow.
pub(super) fn path_volume(rate: u64, rtt: Span, gain: u64) -> u64 {
    let volume = u128::from(pacing::volume(rate, rtt)) * u128::from(gain) / u128::from(UNIT);
    u64::try_from(volume).unwrap_or(u64::MAX / 4).min(u64::MAX / 4)
}

/// A window of so many bytes, or the largest there is.
pub(super) fn narrow(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// A little chance, so that flows do not probe in step: a linear congruential generator, of which the upper bits are good
/// enough.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Chance(pub(super) u32);

impl Chance {
    /// One of `choices` numbers from 0.
    pub(super) fn below(&mut self, choices: u64) -> u64 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (u64::from(self.0) * choices) >> 32
    }
}
