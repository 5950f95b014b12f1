//! The median, which a few extreme values do not move.

/// The median of the values, the upper one of an even number; 0 if there are none.
pub(super) fn median(values: impl Iterator<Item = u64>) -> u64 {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}
