//! TCP options as types; how they look on the wire depends on a [`Layout`] and is [`crate::wire::codec`]'s business.

use crate::time::{Coarse, Span, Time};
use crate::wire::seq::Seq;

/// The timestamps option (RFC 7323, section 3.2), in the sender's own clock units.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Timestamps {
    /// TSval: the sender's clock.
    pub value: u32,
    /// TSecr: the value being echoed; significant with ACK.
    pub echo: u32,
}

/// One SACK block: sequence numbers from `left` up to, not including, `right` (RFC 2018, section 3).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SackBlock {
    /// First sequence number of the block.
    pub left: Seq,
    /// The number just behind its last one.
    pub right: Seq,
}

/// At most four SACK blocks, the first of which may be a D-SACK (RFC 2883).
///
/// Beside three of them there is room for the counters of an accurate ECN option: no header holds all of that and a fourth block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SackBlocks {
    len: u8,
    /// What else stands here; 0 if nothing.
    beside: u8,
    /// The first of its octets; the others take the place of the last block.
    octet: u8,
    blocks: [SackBlock; 4],
}

impl SackBlocks {
    /// No block.
    pub const EMPTY: Self =
        Self { len: 0, beside: 0, octet: 0, blocks: [SackBlock { left: Seq(0), right: Seq(0) }; 4] };

    /// Appends a block; beyond the fourth, or the third beside an accurate ECN option, it does nothing and returns `false`.
    pub fn push(&mut self, block: SackBlock) -> bool {
        let room = usize::from(self.len) < self.blocks.len() - usize::from(self.beside != 0);
        if room {
            self.blocks[usize::from(self.len)] = block;
            self.len += 1;
        }
        room
    }

    /// Room for a cookie, where no block stands.
    pub(crate) fn from_words(words: [u32; 4]) -> Self {
        let mut blocks = Self::EMPTY;
        for (block, word) in blocks.blocks.iter_mut().zip(words) {
            block.left = Seq(word);
        }
        blocks
    }

    /// Nothing stands behind the first `most` blocks any more.
    pub(crate) fn keep(&mut self, most: usize) {
        let most = most.min(usize::from(self.len));
        let end = self.blocks.len() - usize::from(self.beside != 0);
        self.blocks[most..end].fill(SackBlock::default());
        self.len = most as u8;
    }

    /// Puts something else, that is not 0, in the place of the last block.
    pub(crate) fn put_beside(&mut self, what: u8, octets: [u8; 9]) {
        self.keep(3);
        let [octet, l0, l1, l2, l3, r0, r1, r2, r3] = octets;
        (self.beside, self.octet) = (what, octet);
        let (left, right) = (u32::from_be_bytes([l0, l1, l2, l3]), u32::from_be_bytes([r0, r1, r2, r3]));
        self.blocks[3] = SackBlock { left: Seq(left), right: Seq(right) };
    }

    /// What [`put_beside`](Self::put_beside) put there; 0 if nothing was.
    pub(crate) fn beside(&self) -> (u8, [u8; 9]) {
        let SackBlock { left, right } = self.blocks[3];
        let ([l0, l1, l2, l3], [r0, r1, r2, r3]) = (left.0.to_be_bytes(), right.0.to_be_bytes());
        (self.beside, [self.octet, l0, l1, l2, l3, r0, r1, r2, r3])
    }

    /// What [`from_words`](Self::from_words) put there.
    pub(crate) fn words(&self) -> [u32; 4] {
        self.blocks.map(|block| block.left.0)
    }

    /// The blocks, in the order in which they stand in the option.
    pub fn as_slice(&self) -> &[SackBlock] {
        &self.blocks[..usize::from(self.len)]
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// Option A of RFC 1106, section 2.1: "resend `count` segments from `first` on".
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Nak {
    /// First sequence number not received.
    pub first: Seq,
    /// How many segments of the connection's MSS are missing.
    pub count: u8,
}

/// Options B and C of RFC 1106, section 3.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BigWindow {
    /// Option B, on SYN segments: the offer, with a 30-bit window.
    Offer(u32),
    /// Option C, on every later segment: the upper 15 bits of the window.
    Upper(u16),
}

/// The options of one segment. An option of unknown kind is skipped by the codec and leaves no trace here.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Maximum segment size, on SYN segments (RFC 9293, section 3.7.1).
    pub mss: Option<u16>,
    /// Window scale shift, on SYN segments (RFC 7323, section 2).
    pub window_scale: Option<u8>,
    /// A shift carried by every segment: the second form of window scaling in "TCP sending rate control at Tera bits
    /// per second", section II. In force when both SYN segments carry it.
    pub segment_scale: Option<u8>,
    /// SACK-permitted, on SYN segments (RFC 2018, section 2).
    pub sack_permitted: bool,
    /// The NAK option will be used (its ExID must stand on the SYN: RFC 6994, section 3.2).
    pub nak_permitted: bool,
    /// Timestamps.
    pub timestamps: Option<Timestamps>,
    /// SACK blocks; empty if the option is absent.
    pub sack: SackBlocks,
    /// The head of a Fast Open option, on SYN segments. Its cookie takes the room of SACK blocks, which no SYN carries:
    /// [`with_fast_open`](Self::with_fast_open) and [`fast_open`](Self::fast_open) know where it is.
    pub fast_open: Option<crate::opening::fast_open::Head>,
    /// Options B or C.
    pub big_window: Option<BigWindow>,
    /// Option A.
    pub nak: Option<Nak>,
}

impl Options {
    /// No option at all.
    pub const NONE: Self = Self {
        mss: None,
        window_scale: None,
        segment_scale: None,
        sack_permitted: false,
        nak_permitted: false,
        timestamps: None,
        sack: SackBlocks::EMPTY,
        fast_open: None,
        big_window: None,
        nak: None,
    };
}

/// How the options that never got numbers stand on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Layout {
    /// The document's own layout with option kinds of the user's choice: A has 7 octets, B has 6, C has 4,
    /// the scale in every segment has 3. Nothing stands on the SYN for A: RFC 1106 does not negotiate it.
    Document {
        /// Kind of option A (NAK).
        nak: u8,
        /// Kind of option B (the offer).
        offer: u8,
        /// Kind of option C (upper bits).
        upper: u8,
        /// Kind of the scale in every segment.
        scale: u8,
    },
    /// RFC 6994: one experimental kind (253 or 254) and a 16-bit ExID each; two octets longer than the document's.
    /// A NAK offer on a SYN is the bare ExID (4 octets).
    Shared {
        /// 253 or 254.
        kind: u8,
        /// ExID of option A.
        nak: u16,
        /// ExID of option B.
        offer: u16,
        /// ExID of option C.
        upper: u16,
        /// ExID of the scale in every segment.
        scale: u16,
    },
}

impl Layout {
    /// The document's layout with kinds that nothing else uses in practice.
    pub const DOCUMENT: Self = Self::Document { nak: 200, offer: 201, upper: 202, scale: 203 };
    /// Experimental kind 253 with our own ExIDs.
    pub const SHARED: Self =
        Self::Shared { kind: 253, nak: 0x4E41, offer: 0x4257, upper: 0x4243, scale: 0x5343 };

    /// Octets that an ExID adds to each of these options.
    const fn exid_len(self) -> u32 {
        match self {
            Self::Document { .. } => 0,
            Self::Shared { .. } => 2,
        }
    }
}

/// How options are put one behind the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Packing {
    /// Each of the options with numbers begins, with leading NOPs, so that its values lie on 32-bit words (RFC 7323,
    /// appendix A; RFC 2018, section 3).
    Aligned,
    /// No NOPs: all that is asked for fits into 40 octets in this way only.
    Tight,
}

impl Options {
    /// Octets on the wire, padded to a multiple of four, so that 20 more make the header length.
    ///
    /// MSS 4, window scale 3, SACK-permitted 2, timestamps 10, SACK 2 + 8 a block, accurate ECN 2 + 3 a counter, A 7, B 6, C 4,
    /// scale in every segment 3; the last four two more each with an ExID. The first five are padded to whole words, with
    /// SACK-permitted before timestamps taking the room of their padding: timestamps and n SACK blocks take
    /// 12 + 4 + 8·n octets, as with everybody. If that exceeds 40 octets, nothing but the end is padded. More than 40
    /// octets cannot be sent: the codec refuses them.
    pub fn wire_len(&self, layout: Layout) -> u8 {
        self.packing(layout).1
    }

    /// How the codec packs these options, and how many octets they take.
    pub(crate) fn packing(&self, layout: Layout) -> (Packing, u8) {
        let own = self.experimental_len(layout);
        let blocks = self.sack.as_slice().len() as u32;
        let (mut aligned, mut tight) = (0, 0);
        if blocks > 0 {
            (aligned, tight) = (4 + 8 * blocks, 2 + 8 * blocks);
        }
        match (self.timestamps, self.sack_permitted) {
            (Some(_), permitted) => {
                aligned += 12;
                tight += 10 + 2 * u32::from(permitted);
            }
            (None, true) => {
                aligned += 4;
                tight += 2;
            }
            (None, false) => {}
        }
        if self.mss.is_some() {
            aligned += 4;
            tight += 4;
        }
        if self.window_scale.is_some() {
            aligned += 4;
            tight += 3;
        }
        if let Some(head) = self.fast_open {
            aligned += u32::from(head.wire_len()).next_multiple_of(4);
            tight += u32::from(head.wire_len());
        }
        if let Some(counters) = self.accurate_ecn() {
            aligned += u32::from(counters.wire_len());
            tight += u32::from(counters.wire_len());
        }
        let aligned = (aligned + own).next_multiple_of(4);
        if aligned <= 40 {
            (Packing::Aligned, aligned as u8)
        } else {
            (Packing::Tight, (tight + own).next_multiple_of(4) as u8)
        }
    }

    /// Octets of the options that never got numbers.
    fn experimental_len(&self, layout: Layout) -> u32 {
        let exid = layout.exid_len();
        let mut len = match self.big_window {
            Some(BigWindow::Offer(_)) => 6 + exid,
            Some(BigWindow::Upper(_)) => 4 + exid,
            None => 0,
        };
        if self.nak.is_some() {
            len += 7 + exid;
        }
        if self.segment_scale.is_some() {
            len += 3 + exid;
        }
        if self.nak_permitted && exid > 0 {
            len += 4;
        }
        len
    }
}

/// Bytes that options may take (RFC 9293, section 3.1: the data offset has four bits).
pub(crate) const OPTION_SPACE: usize = 40;

/// How long ago the timestamp left that comes back now; `None` if no segment of ours can have carried it, `first` being the time of
/// the first one. TSecr repeats what an arrived segment said (RFC 7323, sections 3.2 and 4.1): it is not ahead of our clock, which
/// half of the circle of 32 bits decides (Linux, `tcp_rtt_tsopt_us()`, takes no difference above `INT_MAX` either), and it is not
/// older than the connection. A peer that echoes anything else could set our timeout to any value.
pub(crate) fn since_echoed(now: Time, echo: u32, first: Coarse) -> Option<Span> {
    let ago = timestamp(now).wrapping_sub(echo);
    let span = Span::from_ms(u64::from(ago));
    // The tick of the clock in which the first one left began up to a millisecond before it.
    let alive = (now - first.instant()) + Span::from_ms(1);
    (ago.cast_signed() >= 0 && span <= alive).then_some(span)
}

/// Our timestamp clock: milliseconds (RFC 7323, section 5.4, asks for 1 ms to 1 s).
#[inline]
pub fn timestamp(now: Time) -> u32 {
    (now.as_ps() / 1_000_000_000) as u32
}
