//! The sender under accurate ECN: what it makes of the peer's counters, and when it does not believe them (RFC 9768, sections 3.2.2
//! and 3.2.3.2).

use super::ace::{self, Told};
use super::handshake::FirstAck;
use super::option::{AccurateEcn, ByteCounters, growth};
use crate::wire::segment::Ecn;

/// What an ACK tells, before it is known what it acknowledges.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Heard {
    pub(crate) ace: u8,
    pub(crate) option: Option<AccurateEcn>,
    /// No ACK that came before it tells of anything later.
    pub(crate) is_latest: bool,
}

/// What was marked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Marks {
    pub(crate) packets: u32,
    pub(crate) bytes: u32,
}

/// What the sender does about ECN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Trust {
    /// It sends what can be marked, and heeds marks.
    Full,
    /// It sends nothing that can be marked, but what is told to be marked, is.
    Heeds,
    /// Neither: what the peer tells is not what it has seen.
    None,
}

/// What a sender remembers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sender {
    /// s.cep: packets that the peer has seen marked, from 5 on.
    pub(crate) packets: u32,
    /// s.e0b, s.ceb and s.e1b.
    pub(crate) bytes: ByteCounters,
    trust: Trust,
    /// No option is believed: its counters began with zero.
    ignores_option: bool,
    /// Nothing has been heard since the handshake; and an option neither, ever.
    is_first: bool,
    no_option_yet: bool,
    /// The next ACK has told of the SYN-ACK, and counts nothing.
    skips: bool,
    /// ACKs in a row whose option and field contradict each other.
    contradictions: u8,
    /// The ACK that is being taken in.
    heard: Option<Heard>,
    /// What had been delivered before it.
    delivered: u64,
}

impl Sender {
    pub(crate) const fn new() -> Self {
        Self {
            packets: 5,
            bytes: ByteCounters { ect0: 1, ce: 0, ect1: 1 },
            trust: Trust::Full,
            ignores_option: false,
            is_first: true,
            no_option_yet: true,
            skips: false,
            contradictions: 0,
            heard: None,
            delivered: 0,
        }
    }

    /// Whether what it sends can be marked.
    pub(crate) const fn sends(&self) -> bool {
        matches!(self.trust, Trust::Full)
    }

    /// Nothing that can be marked leaves from now on.
    pub(crate) const fn stop_sending(&mut self) {
        if self.sends() {
            self.trust = Trust::Heeds;
        }
    }

    /// A segment of ours that could not be marked has come under this codepoint: any other was written on the way
    /// (section 3.2.2.3).
    pub(crate) fn came(&mut self, codepoint: Ecn) {
        if codepoint != Ecn::NotEct {
            self.stop_sending();
        }
    }

    /// What the bare ACK tells that answers our SYN-ACK (table 4). Returns whether that was marked.
    pub(crate) fn take_first(&mut self, first: FirstAck) -> bool {
        self.skips = true;
        match first {
            FirstAck::NoFeedback => self.trust = Trust::None,
            FirstAck::Came(codepoint) => {
                self.came(codepoint);
                if codepoint == Ecn::Ce {
                    self.packets = 6;
                }
                return codepoint == Ecn::Ce;
            }
            FirstAck::Undefined => {}
        }
        false
    }

    /// An option has come. Counters that begin with zero were overwritten on the way (section 3.2.3.2.4).
    pub(crate) fn try_option(&mut self, option: Option<AccurateEcn>) {
        if let Some(option) = option.filter(|_| self.no_option_yet) {
            self.no_option_yet = false;
            self.ignores_option = option.ect0() == Some(0) || option.ect1() == Some(0);
        }
    }

    /// An ACK is about to be taken in, `delivered` bytes having been delivered before. Returns whether it tells of a mark.
    pub(crate) fn hear(&mut self, heard: Heard, delivered: u64) -> bool {
        self.try_option(heard.option);
        self.delivered = delivered;
        if core::mem::take(&mut self.skips) {
            return false;
        }
        self.heard = Some(heard);
        let ce = heard.option.and_then(|option| self.marked_bytes(option));
        let news = ace::least(heard.ace, self.packets) > 0 || ce.is_some_and(|bytes| bytes > 0);
        heard.is_latest && self.heeds() && news
    }

    /// Marked bytes beyond those known, if the option tells of them: a counter that never changed need not stand there.
    fn marked_bytes(&self, option: AccurateEcn) -> Option<u32> {
        if self.ignores_option {
            return None;
        }
        match option.ce() {
            Some(field) => Some(growth(self.bytes.ce, field)),
            None => (self.bytes.ce == 0).then_some(0),
        }
    }

    const fn heeds(&self) -> bool {
        !matches!(self.trust, Trust::None)
    }

    /// The ACK has been taken in: `delivered` bytes have been delivered by now, in segments of `mss` bytes at most. What was
    /// marked, and how much of it was delivered.
    pub(crate) fn conclude(&mut self, delivered: u64, mss: u32) -> (Marks, u32) {
        let newly = u32::try_from(delivered.saturating_sub(self.delivered)).unwrap_or(u32::MAX);
        self.delivered = delivered;
        let Some(heard) = self.heard.take().filter(|heard| heard.is_latest || newly > 0) else {
            return (Marks::default(), newly);
        };
        let packets = newly.div_ceil(mss.max(1));
        // Section 3.2.2.4; but after three marked packets it would be right.
        if core::mem::take(&mut self.is_first) && heard.ace == 0 && packets < 3 {
            self.trust = Trust::None;
        }
        let bytes = heard.option.and_then(|option| self.marked_bytes(option));
        let told = Told { ace: heard.ace, known: self.packets, packets, bytes, mss };
        let marked = ace::marked(told);
        // Section 3.2.3.2.5: bytes were marked and no packet was, and the field cannot have gone round. But packets may be smaller
        // than they are taken for: the first time, that is believed.
        if let Some(1..) = bytes {
            let contradicts = ace::least(heard.ace, self.packets) == 0 && packets < 8;
            self.contradictions = if contradicts { self.contradictions.saturating_add(1) } else { 0 };
            if self.contradictions > 1 {
                self.stop_sending();
            }
        }
        self.packets = self.packets.wrapping_add(marked);
        if let Some(option) = heard.option.filter(|_| !self.ignores_option) {
            self.count(option);
        }
        if !self.heeds() {
            return (Marks::default(), newly);
        }
        // Appendix A.3: without the option the marked packets are taken for full ones.
        let bytes = bytes.unwrap_or_else(|| marked.saturating_mul(mss).min(newly));
        (Marks { packets: marked, bytes }, newly)
    }

    fn count(&mut self, option: AccurateEcn) {
        let ByteCounters { ect0, ce, ect1 } = &mut self.bytes;
        for (counter, field) in [(ect0, option.ect0()), (ce, option.ce()), (ect1, option.ect1())] {
            *counter = counter.wrapping_add(field.map_or(0, |field| growth(*counter, field)));
        }
    }
}
