//! What a limit counts, and its value for the simulator.

use crate::values::quantity::Limit;
use netspurt_sim::spec::Unit;
use netspurt_tcp::time::Span;

/// The bytes that a link of this rate sends in a time, at most the largest number.
pub(super) fn bytes_in(time: Span, rate: u64) -> u64 {
    let bytes = u128::from(time.as_ps()) * u128::from(rate) / 8_000_000_000_000;
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// What a limit counts.
pub(super) const fn unit(limit: &Limit) -> Unit {
    match limit {
        Limit::Packets(_) => Unit::Packets,
        Limit::Bytes(_) | Limit::Time(_) => Unit::Bytes,
    }
}
