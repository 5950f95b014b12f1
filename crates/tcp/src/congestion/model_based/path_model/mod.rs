//! Components that all versions of BBR share: the parts of the path model, and the computation of rate and window.
//!
//! A part does not depend on the others or on states; `bbr` and `bbr3` combine them.

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
/// The length of the minimum RTT filter.
pub(super) const MIN_RTT_HOLDS: Span = Span::from_secs(10);

/// Segments that are always in flight: two that a receiver acknowledges together, twice.
const LEAST: u32 = 4;

/// The minimum cwnd.
pub(super) fn least(mss: u32) -> u32 {
    mss.saturating_mul(LEAST)
}

/// The bandwidth-delay product times a gain, limited so that sums do not overflow.
pub(super) fn path_volume(rate: u64, rtt: Span, gain: u64) -> u64 {
    let volume = u128::from(pacing::volume(rate, rtt)) * u128::from(gain) / u128::from(UNIT);
    u64::try_from(volume).unwrap_or(u64::MAX / 4).min(u64::MAX / 4)
}

/// A window of `bytes`, limited to 32 bits.
pub(super) fn narrow(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// A small random number generator, so that flows do not probe at the same time: a linear congruential generator, of
/// which the upper bits are used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Chance(pub(super) u32);

impl Chance {
    /// One of `choices` numbers from 0.
    pub(super) fn below(&mut self, choices: u64) -> u64 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (u64::from(self.0) * choices) >> 32
    }
}
