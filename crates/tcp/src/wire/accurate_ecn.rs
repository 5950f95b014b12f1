//! The option with the counters of accurate ECN (RFC 9768, section 3.2.3).

use crate::wire::options::{Options, SackBlocks};

/// Width of a counter on the wire.
const BITS: u32 = 24;
/// The mask of that width.
const MASK: u32 = (1 << BITS) - 1;

/// The order of the counters. Counters at the end can be absent.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Order {
    /// ECT(0), CE, ECT(1): option kind 172.
    Ect0First,
    /// ECT(1), CE, ECT(0): option kind 174.
    Ect1First,
}

/// Bytes of payload, by the codepoint of their packet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct ByteCounters {
    /// ECT(0).
    pub ect0: u32,
    /// CE.
    pub ce: u32,
    /// ECT(1).
    pub ect1: u32,
}

/// The option: the lower 24 bits of none to three counters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct AccurateEcn {
    /// The order of the counters.
    pub order: Order,
    /// The number of counters.
    len: u8,
    fields: [u32; 3],
}

impl AccurateEcn {
    /// The first `len` counters in this order.
    pub fn new(order: Order, counters: ByteCounters, len: u8) -> Self {
        let ByteCounters { ect0, ce, ect1 } = counters;
        let fields = match order {
            Order::Ect0First => [ect0, ce, ect1],
            Order::Ect1First => [ect1, ce, ect0],
        };
        Self::read(order, fields.into_iter().take(usize::from(len)))
    }

    /// The counters as received, in the order of the option.
    pub(crate) fn read(order: Order, counters: impl Iterator<Item = u32>) -> Self {
        let (mut fields, mut len) = ([0; 3], 0);
        for (field, counter) in fields.iter_mut().zip(counters) {
            *field = counter & MASK;
            len += 1;
        }
        Self { order, len, fields }
    }

    /// The counters in the order of the option.
    pub fn fields(&self) -> impl Iterator<Item = u32> {
        self.fields.into_iter().take(usize::from(self.len))
    }

    fn field(&self, at: usize) -> Option<u32> {
        (at < usize::from(self.len)).then(|| self.fields[at])
    }

    /// EE0B: bytes under ECT(0).
    pub fn ect0(&self) -> Option<u32> {
        self.field(if self.order == Order::Ect0First { 0 } else { 2 })
    }

    /// ECEB: bytes under CE.
    pub fn ce(&self) -> Option<u32> {
        self.field(1)
    }

    /// EE1B: bytes under ECT(1).
    pub fn ect1(&self) -> Option<u32> {
        self.field(if self.order == Order::Ect1First { 0 } else { 2 })
    }

    /// Length on the wire without padding.
    pub const fn wire_len(&self) -> u8 {
        2 + 3 * self.len
    }
}

impl Options {
    /// Returns the options with these counters. They replace a fourth SACK block.
    #[must_use]
    pub fn with_accurate_ecn(self, option: AccurateEcn) -> Self {
        let mut octets = [0; 9];
        for (place, field) in octets.as_chunks_mut::<3>().0.iter_mut().zip(option.fields) {
            place.copy_from_slice(&field.to_be_bytes()[1..]);
        }
        let order = if option.order == Order::Ect0First { 0 } else { 4 };
        let mut sack = self.sack;
        sack.set_extra(1 + order + option.len, octets);
        Self { sack, ..self }
    }

    /// The counters of accurate ECN, if there is such an option.
    pub fn accurate_ecn(&self) -> Option<AccurateEcn> {
        let (what, octets) = self.sack.extra();
        let what = what.checked_sub(1)?;
        let order = if what < 4 { Order::Ect0First } else { Order::Ect1First };
        let (fields, _) = octets.as_chunks::<3>();
        let counters = fields.iter().map(|&[a, b, c]| u32::from_be_bytes([0, a, b, c]));
        Some(AccurateEcn::read(order, counters.take(usize::from(what % 4))))
    }

    /// Returns the options with these blocks. Four blocks replace the counters of accurate ECN.
    #[must_use]
    pub fn with_sack(self, sack: SackBlocks) -> Self {
        let with = Self { sack, ..self };
        match self.accurate_ecn() {
            Some(option) if sack.as_slice().len() < 4 => with.with_accurate_ecn(option),
            _ => with,
        }
    }
}

/// The increase of a counter from the known value `before` to the field. A decrease counts as zero.
pub(crate) const fn growth(before: u32, field: u32) -> u32 {
    let step = field.wrapping_sub(before) & MASK;
    if step < 1 << (BITS - 1) { step } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::options::SackBlock;
    use crate::wire::seq::Seq;

    const COUNTERS: ByteCounters = ByteCounters { ect0: 0x0112_3456, ce: 0xAB_CDEF, ect1: 1 };

    #[test]
    fn both_orders_carry_the_same_counters_and_short_options_fewer() {
        for (order, first) in [(Order::Ect0First, 0x12_3456), (Order::Ect1First, 1)] {
            for len in 0..=3 {
                let option = AccurateEcn::new(order, COUNTERS, len);
                let kept = Options::NONE.with_accurate_ecn(option).accurate_ecn();
                assert_eq!(kept, Some(option), "{order:?} {len}");
                assert_eq!(option.wire_len(), 2 + 3 * len, "table 5");
                assert_eq!(option.fields().next(), (len > 0).then_some(first));
                assert_eq!(option.ce(), (len > 1).then_some(0xAB_CDEF));
            }
            let whole = AccurateEcn::new(order, COUNTERS, 3);
            assert_eq!((whole.ect0(), whole.ect1()), (Some(0x12_3456), Some(1)), "{order:?}");
        }
        assert_eq!(Options::NONE.accurate_ecn(), None);
    }

    #[test]
    fn the_option_fits_with_three_sack_blocks_and_replaces_a_fourth() {
        let block = |n| SackBlock { left: Seq(n), right: Seq(n + 1) };
        let option = AccurateEcn::new(Order::Ect1First, COUNTERS, 2);
        let mut options = Options::NONE;
        (1..=4).for_each(|n| assert!(options.sack.push(block(n))));
        let mut with = options.with_accurate_ecn(option);
        assert_eq!(with.sack.as_slice(), [1, 2, 3].map(block));
        assert!(!with.sack.push(block(5)));
        assert_eq!(with.accurate_ecn(), Some(option));
        with.sack.keep(1);
        assert_eq!((with.sack.as_slice(), with.accurate_ecn()), (&[block(1)][..], Some(option)));
        assert_eq!(with.with_sack(options.sack).accurate_ecn(), None);
    }

    #[test]
    fn a_counter_wraps_and_a_decrease_is_ignored() {
        assert_eq!(growth(1, 1001), 1000);
        assert_eq!(growth(0x01FF_FFFE, 3), 5, "it is wider here than on the wire");
        assert_eq!(growth(1001, 1), 0);
    }
}
