//! TCP options as types. Their encoding depends on a [`Layout`] and is implemented in [`crate::wire::codec`].

use crate::time::{Coarse, Span, Time};
use crate::wire::fast_open::{Cookie, FastOpen, Head};
use crate::wire::seq::Seq;

/// The timestamps option (RFC 7323, section 3.2), in the units of the sender's clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Timestamps {
    /// TSval: the sender's clock.
    pub value: u32,
    /// TSecr: the echoed value; significant with ACK.
    pub echo: u32,
}

/// One SACK block: sequence numbers from `left` to `right`, `right` excluded (RFC 2018, section 3).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SackBlock {
    /// First sequence number of the block.
    pub left: Seq,
    /// The sequence number after the last one of the block.
    pub right: Seq,
}

/// At most four SACK blocks, the first of which may be a D-SACK (RFC 2883).
///
/// With at most three blocks the fourth place can hold the counters of an accurate ECN option. A header has no space
/// for these counters and a fourth block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SackBlocks {
    len: u8,
    /// The kind of the extra content; 0 if there is none.
    extra: u8,
    /// The first of the extra bytes. The others are stored in the last block.
    extra_first: u8,
    blocks: [SackBlock; 4],
}

impl SackBlocks {
    /// No block.
    pub const EMPTY: Self =
        Self { len: 0, extra: 0, extra_first: 0, blocks: [SackBlock { left: Seq(0), right: Seq(0) }; 4] };

    /// Appends a block and returns `true`. If there is no space, it does nothing and returns `false`. The limit is four
    /// blocks, or three with an accurate ECN option.
    pub fn push(&mut self, block: SackBlock) -> bool {
        let room = usize::from(self.len) < self.blocks.len() - usize::from(self.extra != 0);
        if room {
            self.blocks[usize::from(self.len)] = block;
            self.len += 1;
        }
        room
    }

    /// Stores a Fast Open cookie in the place of the blocks.
    pub(crate) fn from_words(words: [u32; 4]) -> Self {
        let mut blocks = Self::EMPTY;
        for (block, word) in blocks.blocks.iter_mut().zip(words) {
            block.left = Seq(word);
        }
        blocks
    }

    /// Keeps the first `most` blocks and clears the others.
    pub(crate) fn keep(&mut self, most: usize) {
        let most = most.min(usize::from(self.len));
        let end = self.blocks.len() - usize::from(self.extra != 0);
        self.blocks[most..end].fill(SackBlock::default());
        self.len = most as u8;
    }

    /// Stores extra content of a kind that is not 0 in the place of the last block.
    pub(crate) fn set_extra(&mut self, what: u8, octets: [u8; 9]) {
        self.keep(3);
        let [octet, l0, l1, l2, l3, r0, r1, r2, r3] = octets;
        (self.extra, self.extra_first) = (what, octet);
        let (left, right) = (u32::from_be_bytes([l0, l1, l2, l3]), u32::from_be_bytes([r0, r1, r2, r3]));
        self.blocks[3] = SackBlock { left: Seq(left), right: Seq(right) };
    }

    /// The extra content that [`set_extra`](Self::set_extra) stored; kind 0 if there is none.
    pub(crate) fn extra(&self) -> (u8, [u8; 9]) {
        let SackBlock { left, right } = self.blocks[3];
        let ([l0, l1, l2, l3], [r0, r1, r2, r3]) = (left.0.to_be_bytes(), right.0.to_be_bytes());
        (self.extra, [self.extra_first, l0, l1, l2, l3, r0, r1, r2, r3])
    }

    /// The words that [`from_words`](Self::from_words) stored.
    pub(crate) fn words(&self) -> [u32; 4] {
        self.blocks.map(|block| block.left.0)
    }

    /// The blocks in the order of the option.
    pub fn as_slice(&self) -> &[SackBlock] {
        &self.blocks[..usize::from(self.len)]
    }

    /// Whether there is no block.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The same blocks, ordered by their distance from `ack`.
    pub(crate) fn sorted_from(&self, ack: Seq) -> Self {
        let mut sorted = *self;
        if self.len < 2 {
            return sorted;
        }
        sorted.blocks[..usize::from(self.len)].sort_unstable_by_key(|block| block.left.distance_from(ack));
        sorted
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
    /// Option B, on SYN segments: it offers a 30-bit window.
    Offer(u32),
    /// Option C, on every segment after the SYN: the upper 15 bits of the window.
    Upper(u16),
}

/// The options of one segment. The codec skips options of unknown kind, so they do not appear here.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Maximum segment size, on SYN segments (RFC 9293, section 3.7.1).
    pub mss: Option<u16>,
    /// Window scale shift, on SYN segments (RFC 7323, section 2).
    pub window_scale: Option<u8>,
    /// A window scale shift in every segment: the second form of window scaling in "TCP sending rate control at Tera
    /// bits per second", section II. It applies if both SYN segments carry it.
    pub segment_scale: Option<u8>,
    /// SACK-permitted, on SYN segments (RFC 2018, section 2).
    pub sack_permitted: bool,
    /// NAK-permitted, on SYN segments: the ExID of the NAK option (RFC 6994, section 3.2, requires it on the SYN).
    pub nak_permitted: bool,
    /// Timestamps.
    pub timestamps: Option<Timestamps>,
    /// SACK blocks; empty if the option is absent.
    pub sack: SackBlocks,
    /// Form and length of a Fast Open option, on SYN segments. Its cookie is stored in the place of the SACK blocks,
    /// which no SYN carries. Use [`with_fast_open`](Self::with_fast_open) and [`fast_open`](Self::fast_open).
    pub fast_open: Option<Head>,
    /// Options B or C.
    pub big_window: Option<BigWindow>,
    /// Option A.
    pub nak: Option<Nak>,
}

impl Options {
    /// No option.
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

/// The encoding of the options that have no assigned kind, and the order of the others on a SYN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Layout {
    /// The layout of the document, with configurable option kinds. A has 7 bytes, B has 6, C has 4, and the scale in
    /// every segment has 3. RFC 1106 does not negotiate option A, so the SYN carries nothing for it.
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
    /// RFC 6994: one experimental kind (253 or 254), and a 16-bit ExID for each option. Each option is two bytes longer
    /// than in the document's layout. A NAK offer on a SYN consists of kind, length and ExID (4 bytes).
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
        /// Where the window scale stands on a SYN: behind the MSS as in BSD systems, or behind the timestamps as in Linux.
        bsd_order: bool,
        /// Whether the padding follows all options of a SYN, as in FreeBSD (`tcp_addoptions()`), or precedes each one.
        pads_behind: bool,
    },
}

impl Layout {
    /// The document's layout with kinds that no other option uses in practice.
    pub const DOCUMENT: Self = Self::Document { nak: 200, offer: 201, upper: 202, scale: 203 };
    /// Experimental kind 253 with ExIDs of this project.
    pub const SHARED: Self = Self::shared(false, false);
    /// The same, with the options of a SYN in the order of BSD systems and the padding of FreeBSD.
    pub const BSD: Self = Self::shared(true, true);
    /// The order of BSD systems with padding before each option, as in Windows.
    pub const WINDOWS: Self = Self::shared(true, false);

    const fn shared(bsd_order: bool, pads_behind: bool) -> Self {
        Self::Shared {
            kind: 253,
            nak: 0x4E41,
            offer: 0x4257,
            upper: 0x4243,
            scale: 0x5343,
            bsd_order,
            pads_behind,
        }
    }

    /// Bytes that an ExID adds to each of these options.
    const fn exid_len(self) -> u32 {
        match self {
            Self::Document { .. } => 0,
            Self::Shared { .. } => 2,
        }
    }
}

/// The alignment of options.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Packing {
    /// NOPs before each standard option align its values to 32-bit words (RFC 7323, appendix A; RFC 2018, section 3).
    Aligned,
    /// No NOPs. It is used if the aligned options do not fit into 40 bytes.
    Tight,
}

impl Options {
    /// Length on the wire in bytes, padded to a multiple of four. The header length is 20 bytes more.
    ///
    /// MSS takes 4 bytes, window scale 3, SACK-permitted 2, timestamps 10, SACK 2 + 8 per block, accurate ECN 2 + 3 per
    /// counter. A takes 7, B 6, C 4, and the scale in every segment 3; an ExID adds two to each of these four. The
    /// first five are padded to whole words. SACK-permitted before timestamps takes the place of their padding.
    /// Timestamps and n SACK blocks take 12 + 4 + 8·n bytes, as in other systems. If the sum exceeds 40 bytes, only the
    /// end is padded. The codec returns an error for more than 40 bytes.
    pub fn wire_len(&self, layout: Layout) -> u8 {
        self.packing(layout).1
    }

    /// The packing of these options, and their length in bytes.
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

    /// Length in bytes of the options that have no assigned kind.
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

/// The largest total length of options in bytes (RFC 9293, section 3.1: the data offset has four bits).
pub(crate) const OPTION_SPACE: usize = 40;

/// The age of an echoed timestamp. It is `None` if no segment of ours can have carried it; `first` is the departure
/// time of our first segment. TSecr repeats the TSval of a segment that has arrived (RFC 7323, sections 3.2 and 4.1).
/// It therefore cannot be ahead of our clock, modulo 2^32 (Linux, `tcp_rtt_tsopt_us()`, accepts no difference above
/// `INT_MAX` either). It cannot be older than the connection either. Without these bounds a peer could set our RTO to
/// any value.
pub(crate) fn echo_age(now: Time, echo: u32, first: Coarse) -> Option<Span> {
    let ago = timestamp(now).wrapping_sub(echo);
    let span = Span::from_ms(u64::from(ago));
    // The clock has ticks of one millisecond, so the first timestamp can be up to a millisecond older than its segment.
    let alive = (now - first.instant()) + Span::from_ms(1);
    (ago.cast_signed() >= 0 && span <= alive).then_some(span)
}

/// Our timestamp clock in milliseconds (RFC 7323, section 5.4, requires a period of 1 ms to 1 s).
#[inline]
pub fn timestamp(now: Time) -> u32 {
    (now.as_ps() / 1_000_000_000) as u32
}
impl Options {
    /// Returns the options with this Fast Open option, which replaces SACK blocks.
    #[must_use]
    pub fn with_fast_open(self, FastOpen { form, cookie }: FastOpen) -> Self {
        let octets = cookie.map_or([0; 16], |cookie| cookie.octets);
        let words = core::array::from_fn(|n| {
            u32::from_be_bytes([octets[4 * n], octets[4 * n + 1], octets[4 * n + 2], octets[4 * n + 3]])
        });
        let head = Head { form, len: cookie.map_or(0, |cookie| cookie.len) };
        Self { fast_open: Some(head), sack: SackBlocks::from_words(words), ..self }
    }

    /// The Fast Open option, if there is one.
    pub fn fast_open(&self) -> Option<FastOpen> {
        let Head { form, len } = self.fast_open?;
        let mut octets = [0; 16];
        for (place, word) in octets.as_chunks_mut::<4>().0.iter_mut().zip(self.sack.words()) {
            *place = word.to_be_bytes();
        }
        Some(FastOpen { form, cookie: (len > 0).then_some(Cookie { len, octets }) })
    }
}
