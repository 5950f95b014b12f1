//! The bytes that a packet has on the wire of the real bottleneck, with the link layer's overhead (Linux, `tc-cake(8)`).

use crate::spec::{CakeSpec, LinkLayer};

/// Bytes on the wire of a packet of `size` bytes, IP header included.
pub(super) fn on_the_wire(spec: &CakeSpec, size: u32) -> u32 {
    let framed = (size + spec.overhead).max(spec.mpu);
    match spec.link_layer {
        LinkLayer::Plain => framed,
        // A cell of 53 bytes carries 48; the last cell is padded.
        LinkLayer::Atm => framed.div_ceil(48) * 53,
        // One byte in 65 is a code for the other 64.
        LinkLayer::Ptm => framed + framed.div_ceil(64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_codes_and_least_sizes_count() {
        let of = |link_layer, overhead, mpu, size| {
            on_the_wire(&CakeSpec { link_layer, overhead, mpu, ..CakeSpec::default() }, size)
        };
        assert_eq!(of(LinkLayer::Plain, 18, 64, 1500), 1518);
        assert_eq!(of(LinkLayer::Plain, 18, 64, 40), 64);
        // An ACK of 40 bytes with 8 of AAL5 just fits into a cell, one byte more does not.
        assert_eq!([40, 41].map(|size| of(LinkLayer::Atm, 8, 0, size)), [53, 106]);
        assert_eq!(of(LinkLayer::Atm, 40, 0, 1500), 33 * 53);
        assert_eq!(of(LinkLayer::Ptm, 22, 0, 1500), 1522 + 24);
    }
}
