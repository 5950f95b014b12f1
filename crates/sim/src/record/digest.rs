//! A running 64-bit hash of the events of a run, to compare two runs.
//!
//! Each endpoint adds the segments delivered to it, and each link direction adds what it dropped. At the end these hashes
//! are combined in the order of the scenario. So the digest depends on what happened and when, not on what was recorded.

use netspurt_tcp::segment::Segment;

const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

/// A running hash.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Digest(u64);

impl Digest {
    /// Adds one number.
    #[inline]
    pub const fn fold(&mut self, value: u64) {
        let mixed = (self.0.rotate_left(23) ^ value).wrapping_mul(MULTIPLIER);
        self.0 = mixed ^ mixed >> 32;
    }

    /// Adds a delivered segment and its time.
    #[inline]
    pub fn fold_segment(&mut self, now: u64, segment: &Segment) {
        self.fold(
            now ^ u64::from(segment.payload.len).rotate_right(20)
                ^ u64::from(segment.flags.0).rotate_right(8),
        );
        self.fold(u64::from(segment.seq.0) << 32 | u64::from(segment.ack.0));
    }

    /// The present value.
    pub const fn value(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_values_matter() {
        let of = |values: &[u64]| {
            let mut digest = Digest::default();
            values.iter().for_each(|&value| digest.fold(value));
            digest.value()
        };
        assert_ne!(of(&[1, 2]), of(&[2, 1]));
        assert_ne!(of(&[1]), of(&[2]));
        assert_eq!(of(&[1, 2]), of(&[1, 2]));
    }
}
