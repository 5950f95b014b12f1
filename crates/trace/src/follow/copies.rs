//! Packets that were captured twice: by a mirror port that sends what enters and what leaves a switch, or on two sides of a router.
//!
//! Lives here: copies that the packets alone show, ACKs included. Must not live here: data that comes again too soon for a
//! retransmission, which only its stream shows (`retransmission::judge`).

use super::retransmission::AT_ONCE;
use crate::conversation::Side;
use crate::stamp::Stamp;
use netspurt_tcp::options::Timestamps;
use netspurt_tcp::segment::{Flags, Segment};

/// So many packets of a sender may lie between a packet and its copy.
const NEAR: usize = 8;
/// A multiplier that spreads its input over all bits (Fibonacci hashing).
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// The last packets of both ends.
///
/// A copy has the IP identification of its original; a retransmission is another packet with one of its own. Packets without
/// identification, such as those of IPv6, may be duplicate ACKs that look alike. Theirs are copies only if the SYNs of both ends
/// came twice at once: then every packet is there twice. A path that holds packets may do that to the SYN of one end and its
/// retransmission.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Copies {
    of: [Packets; 2],
}

impl Copies {
    /// Whether this packet of that end is a copy of one of its last packets.
    #[inline]
    pub(super) fn is_copy(&mut self, side: Side, identification: u16, segment: &Segment, at: Stamp) -> bool {
        if identification == 0 && !self.of.iter().all(|packets| packets.syn_came_twice) {
            return segment.flags.has(Flags::SYN) && self.of[side as usize].is_copy_of_syn(segment, at);
        }
        self.of[side as usize].is_copy(identification, segment)
    }
}

/// The last packets of an end.
#[derive(Clone, Copy, Debug, Default)]
struct Packets {
    /// Identification and content, as one number; 0 if there is none.
    last: [u64; NEAR],
    /// The place in `last` of the next packet.
    next: u8,
    /// A bit for each packet of `last` whose copy was captured.
    copied: u8,
    /// When a SYN without identification was captured.
    syn: Option<Stamp>,
    /// Whether that SYN came again at once.
    syn_came_twice: bool,
}

impl Packets {
    #[inline]
    fn is_copy(&mut self, identification: u16, segment: &Segment) -> bool {
        let this = mark(identification, segment);
        let Some(place) = self.last.iter().position(|&last| last == this) else {
            self.keep(this);
            return false;
        };
        // A third one without identification is the next duplicate ACK, and the fourth its copy.
        let is_new = identification == 0 && self.copied >> place & 1 == 1;
        self.copied ^= u8::from(identification == 0) << place;
        !is_new
    }

    #[cold]
    fn is_copy_of_syn(&mut self, syn: &Segment, at: Stamp) -> bool {
        let this = mark(0, syn);
        if self.last.contains(&this) && self.syn.is_some_and(|first| at.since(first) < AT_ONCE) {
            self.syn_came_twice = true;
            return true;
        }
        self.keep(this);
        self.syn = Some(at);
        false
    }

    #[inline]
    fn keep(&mut self, this: u64) {
        self.last[usize::from(self.next)] = this;
        self.copied &= !(1 << self.next);
        self.next = (self.next + 1) % NEAR as u8;
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

    const NOW: Stamp = Stamp(0);

    fn segment(seq: u32, len: u32) -> Segment {
        Segment { seq: Seq(seq), payload: Payload { offset: 0, len }, ..Segment::default() }
    }

    #[test]
    fn a_copy_has_the_identification_of_a_packet_shortly_before() {
        let mut copies = Copies::default();
        for n in 1..=5 {
            assert!(!copies.is_copy(Side::A, n, &segment(u32::from(n) * 100, 100), NOW));
        }
        assert!(copies.is_copy(Side::A, 2, &segment(200, 100), NOW));
        assert!(!copies.is_copy(Side::A, 6, &segment(200, 100), NOW), "a retransmission is another packet");
        assert!(
            !copies.is_copy(Side::A, 3, &segment(0, 0), NOW),
            "another packet has the same identification"
        );
    }

    #[test]
    fn packets_without_identification_are_no_copies_if_the_syn_came_once() {
        let mut copies = Copies::default();
        assert!(
            !copies.is_copy(Side::A, 0, &segment(0, 0), NOW)
                && !copies.is_copy(Side::A, 0, &segment(0, 0), NOW)
        );
    }

    #[test]
    fn syns_of_both_ends_that_come_twice_at_once_show_that_every_packet_does() {
        let syn = Segment { flags: Flags::SYN, ..segment(0, 0) };
        let ms = |n: u64| Stamp(n * 1_000_000);
        let mut again = Copies::default();
        assert!(
            [ms(0), ms(1000), ms(3000)].iter().all(|&at| !again.is_copy(Side::A, 0, &syn, at)),
            "a timer"
        );
        let mut copies = Copies::default();
        assert!(!copies.is_copy(Side::A, 0, &syn, ms(0)) && copies.is_copy(Side::A, 0, &syn, ms(1)));
        assert!(
            !copies.is_copy(Side::A, 0, &segment(1, 0), ms(2))
                && !copies.is_copy(Side::A, 0, &segment(1, 0), ms(3))
        );
        assert!(!copies.is_copy(Side::B, 0, &syn, ms(4)) && copies.is_copy(Side::B, 0, &syn, ms(5)));
        let ack = segment(1, 0);
        let found: Vec<bool> = (10..16).map(|n| copies.is_copy(Side::A, 0, &ack, ms(n))).collect();
        assert_eq!(found, [false, true, false, true, false, true], "three duplicate ACKs");
    }

    #[test]
    fn a_packet_that_came_long_ago_is_forgotten() {
        let mut copies = Copies::default();
        for n in 1..=20 {
            assert!(!copies.is_copy(Side::A, n, &segment(0, 0), NOW));
        }
        assert!(!copies.is_copy(Side::A, 1, &segment(0, 0), NOW));
        assert!(copies.is_copy(Side::A, 20, &segment(0, 0), NOW));
    }
}
