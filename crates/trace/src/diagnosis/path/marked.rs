//! Paths that mark packets.

use crate::diagnosis::sender::meter::Slice;

/// Round trips for which a mark shows that a queue stands.
const ROUNDS: u64 = 2;

/// For each slice: whether ACKs reported marks within the last round trips. A path marks packets while a queue stands, which may be too
/// short to see in the delay.
pub(super) fn marked(slices: &[Slice], round: u64) -> Vec<bool> {
    let mut latest = None;
    let recent = |slice: &Slice| {
        latest = if slice.marks > 0 { Some(slice.until) } else { latest };
        latest.is_some_and(|latest| slice.until - latest <= ROUNDS * round)
    };
    slices.iter().map(recent).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_shows_a_queue_for_two_round_trips() {
        let slice = |n: u64| Slice { until: n * 10, marks: u16::from(n == 5), ..Slice::default() };
        let slices: Vec<Slice> = (1..=20).map(slice).collect();
        let found: Vec<usize> = marked(&slices, 20)
            .iter()
            .enumerate()
            .filter(|(_, marked)| **marked)
            .map(|(n, _)| n + 1)
            .collect();
        assert_eq!(found, [5, 6, 7, 8, 9]);
    }
}
