//! SACK blocks that the ACK before has carried already. Linux does not look at their segments again (`recv_sack_cache` in
//! `tcp_sacktag_write_queue()`). So it misses a segment in which a known block begins, if a longer one reports all of it.

use crate::ranges::Range;
use crate::recovery::LossRecovery;

/// Whether a segment that a block reports is passed over because a known block ends with it or behind it.
fn is_passed_over(segment: Range, known: &[Range]) -> bool {
    known.iter().any(|block| block.start < segment.end && segment.end <= block.end)
}

impl LossRecovery {
    /// Which parts of `range`, which the present ACK reports, count; `None` if all of it does.
    pub(crate) fn not_passed_over(&self, range: Range) -> Option<Vec<Range>> {
        let known = &self.rack()?.repairs.blocks;
        let reported = self.loss.reported();
        let overlaps = |piece: Range| known.iter().any(|one| piece.start < one.end && one.start < piece.end);
        if !reported.missing_in(range).any(overlaps) {
            return None;
        }
        let segments = reported.missing_in(range).flat_map(|piece| self.transmissions(piece));
        let segments = segments
            .map(|sent| sent.range)
            .filter(|&segment| segment.start >= range.start && segment.end <= range.end);
        let segments = segments.filter(|&segment| !is_passed_over(segment, known));
        Some(segments.collect())
    }

    /// Remembers the blocks of the present ACK.
    pub(crate) fn remember_blocks(&mut self, blocks: impl Iterator<Item = Range>) {
        let Some(rack) = self.rack_for_change() else { return };
        let known = &mut rack.repairs.change().blocks;
        *known = Default::default();
        known.iter_mut().zip(blocks).for_each(|(place, block)| *place = block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_is_passed_over_if_a_known_block_begins_in_it_or_covers_it() {
        let known = [Range::new(500, 2000), Range::default()];
        let passed = |start, end| is_passed_over(Range::new(start, end), &known);
        assert!(passed(0, 1000) && passed(1000, 2000));
        assert!(!passed(0, 500), "it ends where the block begins");
        assert!(!passed(1500, 2500), "the block ends in it");
        assert!(!passed(0, 3000), "the block lies in it");
        assert!(!passed(2000, 3000));
    }
}
