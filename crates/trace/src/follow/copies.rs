//! Packets that were captured twice: by a mirror port that sends what enters and what leaves a switch, or on two sides of a router.

use netspurt_tcp::options::Timestamps;
use netspurt_tcp::segment::Segment;

/// So many packets of a sender may lie between a packet and its copy.
const NEAR: usize = 8;
/// A multiplier that spreads its input over all bits (Fibonacci hashing).
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// The last packets of a sender.
///
/// A copy has the IP identification of its original; a retransmission is another packet with one of its own. Packets without
/// identification, such as those of IPv6, are no copies here.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Copies {
    /// Identification and content, as one number; 0 if there is none.
    last: [u64; NEAR],
    next: u8,
}

impl Copies {
    /// Whether this packet is a copy of one of the last packets.
    #[inline]
    pub(super) fn is_copy(&mut self, identification: u16, segment: &Segment) -> bool {
        if identification == 0 {
            return false;
        }
        let this = mark(identification, segment);
        if self.last.contains(&this) {
            return true;
        }
        self.last[usize::from(self.next)] = this;
        self.next = (self.next + 1) % NEAR as u8;
        false
    }
}

/// The identification in the upper bits, and a digest of the segment in the lower ones.
#[inline]
fn mark(identification: u16, segment: &Segment) -> u64 {
    let mut digest = 0u64;
    let mut add = |value: u64| digest = (digest ^ value).wrapping_mul(SPREAD).rotate_left(29);
    add(u64::from(segment.seq.0) << 32 | u64::from(segment.ack.0));
    add(u64::from(segment.payload.len) << 32 | u64::from(segment.window) << 16 | u64::from(segment.flags.0));
    if let Some(Timestamps { value, echo }) = segment.options.timestamps {
        add(u64::from(value) << 32 | u64::from(echo));
    }
    for block in segment.options.sack.as_slice() {
        add(u64::from(block.left.0) << 32 | u64::from(block.right.0));
    }
    u64::from(identification) << 48 | digest >> 16
}

#[cfg(test)]
mod tests {
    use super::*;
    use netspurt_tcp::segment::Payload;
    use netspurt_tcp::seq::Seq;

    fn segment(seq: u32, len: u32) -> Segment {
        Segment { seq: Seq(seq), payload: Payload { offset: 0, len }, ..Segment::default() }
    }

    #[test]
    fn a_copy_has_the_identification_of_a_packet_shortly_before() {
        let mut copies = Copies::default();
        for n in 1..=5 {
            assert!(!copies.is_copy(n, &segment(u32::from(n) * 100, 100)));
        }
        assert!(copies.is_copy(2, &segment(200, 100)));
        assert!(!copies.is_copy(6, &segment(200, 100)), "a retransmission is another packet");
        assert!(!copies.is_copy(3, &segment(0, 0)), "another packet has the same identification");
    }

    #[test]
    fn packets_without_identification_are_no_copies() {
        let mut copies = Copies::default();
        assert!(!copies.is_copy(0, &segment(0, 0)) && !copies.is_copy(0, &segment(0, 0)));
    }

    #[test]
    fn a_packet_that_came_long_ago_is_forgotten() {
        let mut copies = Copies::default();
        for n in 1..=20 {
            assert!(!copies.is_copy(n, &segment(0, 0)));
        }
        assert!(!copies.is_copy(1, &segment(0, 0)));
        assert!(copies.is_copy(20, &segment(0, 0)));
    }
}
