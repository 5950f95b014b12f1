//! RFC 1106, section 2: the receiver reports missing segments in a NAK, and the sender retransmits them at once.

use crate::ranges::Range;

/// The receiver's side: one NAK for each hole at the left edge, when a segment beyond it arrives.
///
/// `expected` is the first missing position, `first_held` the first received position above it, `last` the position of
/// the last NAK. The document forbids a second NAK for the same position. Returns the first position and the count of segments.
pub(crate) fn request(expected: u64, first_held: u64, last: u64, mss: u32) -> Option<(u64, u8)> {
    if expected == last {
        return None;
    }
    let segments = (first_held - expected).div_ceil(u64::from(mss));
    Some((expected, u8::try_from(segments).unwrap_or(u8::MAX)))
}

/// The sender's side: the part of the range in a NAK that is outstanding. A NAK for other data is ignored, because NAKs
/// are advisory (section 2.1).
pub(crate) fn answer(first: u64, count: u8, mss: u32, una: u64, max: u64) -> Option<Range> {
    let end = (first + u64::from(count) * u64::from(mss)).min(max);
    (una <= first && first < end).then_some(Range::new(first, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_hole_is_requested_once() {
        assert_eq!(request(1001, 2001, 0, 1000), Some((1001, 1)));
        assert_eq!(request(1001, 2001, 1001, 1000), None);
    }

    #[test]
    fn a_hole_of_several_segments_is_requested_whole() {
        assert_eq!(request(1001, 3502, 0, 1000), Some((1001, 3)));
        assert_eq!(request(1, 10_000_000, 0, 1000), Some((1, 255)));
    }

    #[test]
    fn only_what_is_outstanding_is_resent() {
        assert_eq!(answer(1001, 2, 1000, 1001, 9001), Some(Range::new(1001, 3001)));
        assert_eq!(answer(1001, 2, 1000, 1001, 2001), Some(Range::new(1001, 2001)));
        assert_eq!(answer(500, 2, 1000, 1001, 9001), None);
        assert_eq!(answer(9001, 1, 1000, 1001, 9001), None);
        assert_eq!(answer(1001, 0, 1000, 1001, 9001), None);
    }
}
