//! The receiver of accurate ECN: what it counts, and what it tells when (RFC 9768, sections 3.2, 3.2.2.5.1 and 3.2.3.3).

use super::Answer;
use super::handshake::{flags_of, tell};
use super::option::{AccurateEcn, ByteCounters, Order};
use crate::wire::segment::{Ecn, Flags, Segment};

/// Marked packets that bring forth an ACK, with data that is not acknowledged yet, and without: then it is an ACK of ACKs.
const MARKS: [u8; 2] = [2, 3];

/// Whether the counters are sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sending {
    /// They are, and where this position is sent again, the segment that tried the path with them was lost.
    Tried(u64),
    Untried,
    Lost,
}

/// What a receiver remembers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Receiver {
    /// Packets that came with a mark: r.cep, which begins with 5.
    pub(crate) packets: u32,
    /// r.e0b, r.ceb and r.e1b.
    pub(crate) bytes: ByteCounters,
    /// The codepoint of the peer's SYN or SYN-ACK, the last one if there were several.
    opened: Ecn,
    /// The next bare ACK tells that.
    owes: bool,
    /// Counters that an option has told.
    told: ByteCounters,
    option: Sending,
    /// The last packet had a mark; and so many since the last ACK.
    last_was_marked: bool,
    since_ack: u8,
}

impl Receiver {
    /// The peer's SYN or SYN-ACK came under this codepoint.
    pub(crate) const fn new(opened: Ecn) -> Self {
        let bytes = ByteCounters { ect0: 1, ce: 0, ect1: 1 };
        Self {
            packets: 5,
            bytes,
            opened,
            owes: false,
            told: bytes,
            option: Sending::Untried,
            last_was_marked: false,
            since_ack: 0,
        }
    }

    /// The codepoint of the peer's SYN, as our SYN-ACK tells it.
    pub(crate) const fn syn_ack(&self) -> Flags {
        tell(self.opened)
    }

    /// The peer's SYN has come again.
    pub(crate) const fn syn_again(&mut self, arrived: Ecn) {
        self.opened = arrived;
    }

    /// The peer's SYN-ACK has come. A mark on it counts once, however often it comes.
    pub(crate) fn syn_ack_arrives(&mut self, arrived: Ecn) {
        if arrived == Ecn::Ce && self.packets == 5 {
            self.packets = 6;
        }
        (self.opened, self.owes) = (arrived, true);
    }

    /// Whether a bare ACK is to tell of the SYN-ACK.
    pub(crate) const fn owes(&self) -> bool {
        self.owes
    }

    /// A packet has come that is acceptable; `unacknowledged` says whether there is data that waits for its ACK.
    pub(crate) fn arrives(&mut self, segment: &Segment, unacknowledged: bool) -> Answer {
        let len = segment.payload.len;
        let marked = segment.ecn == Ecn::Ce;
        let changes = marked && !self.last_was_marked && len > 0;
        self.last_was_marked = marked;
        let counter = match segment.ecn {
            Ecn::NotEct => return Answer::Ordinary,
            Ecn::Ect0 => &mut self.bytes.ect0,
            Ecn::Ect1 => &mut self.bytes.ect1,
            Ecn::Ce => &mut self.bytes.ce,
        };
        *counter = counter.wrapping_add(len);
        if marked {
            self.packets = self.packets.wrapping_add(1);
            self.since_ack = self.since_ack.saturating_add(1);
        }
        let [with, without] = MARKS;
        let enough = self.since_ack >= if unacknowledged { with } else { without };
        if changes || (marked && enough) { Answer::AtOnce } else { Answer::Ordinary }
    }

    /// The flags of a segment that leaves, `bare` if it occupies nothing and reports nothing.
    pub(crate) const fn flags(&mut self, bare: bool) -> Flags {
        self.since_ack = 0;
        if bare && self.owes {
            self.owes = false;
            return tell(self.opened);
        }
        flags_of((self.packets % 8) as u8)
    }

    /// The counters that are to be told: all that ever changed, none if none has since the last time. The first bare ACK, and
    /// the first segment with data, which `start` is the place of, try the path (section 3.2.3.2.1).
    pub(crate) fn option(&self, trial: Trial) -> Option<AccurateEcn> {
        let news = self.told != self.bytes;
        let tries = match (trial, self.option) {
            (_, Sending::Lost) => return None,
            (Trial::Opening, _) => true,
            (Trial::Data, Sending::Untried) => true,
            _ => false,
        };
        (news || tries).then(|| self.counters(self.bytes.ect1 != 1 && self.bytes.ect0 == 1))
    }

    /// The shortest option with all that ever changed.
    fn counters(&self, ect1_first: bool) -> AccurateEcn {
        let ByteCounters { ect0, ce, ect1 } = self.bytes;
        let (order, last) = if ect1_first { (Order::Ect1First, ect0) } else { (Order::Ect0First, ect1) };
        let len = match (last != 1, ce != 0) {
            (true, _) => 3,
            (false, true) => 2,
            (false, false) => 1,
        };
        AccurateEcn::new(order, self.bytes, len)
    }

    /// An option leaves with a segment; one with data, at this place, that tries the path is remembered.
    pub(crate) const fn note_told(&mut self, data: Option<u64>) {
        self.told = self.bytes;
        if let (Some(start), Sending::Untried) = (data, self.option) {
            self.option = Sending::Tried(start);
        }
    }

    /// What stands at this place is sent again: if it was what tried the path, no option leaves any more (section 3.2.3.2.2).
    pub(crate) fn note_resent(&mut self, start: u64) {
        if self.option == Sending::Tried(start) {
            self.option = Sending::Lost;
        }
    }
}

/// Whether a segment is one that tries whether options get through.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Trial {
    /// One of the handshake.
    Opening,
    /// One with data that was not sent before.
    Data,
    No,
}
