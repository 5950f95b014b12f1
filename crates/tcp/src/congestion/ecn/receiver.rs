//! The receiver of accurate ECN: its counters and its reports (RFC 9768, sections 3.2, 3.2.2.5.1 and 3.2.3.3).

use super::handshake::{flags_of, report_codepoint};
use crate::wire::accurate_ecn::{AccurateEcn, ByteCounters, Order};
use crate::wire::segment::{Ecn, Flags, Segment};

/// When the ACK of a data segment is due.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    /// Nothing.
    Ordinary,
    /// By a quick ACK, and that of the next one too, where there are such.
    Quickly,
    /// Immediately.
    AtOnce,
}

/// The number of marked packets that triggers an ACK: with unacknowledged data, and without (an ACK of ACKs).
const MARKS: [u8; 2] = [2, 3];

/// Whether the counters are sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sending {
    /// They are sent. A retransmission of this position shows that the segment that tested the path was lost.
    Tried(u64),
    Untried,
    Lost,
}

/// The state of a receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Receiver {
    /// Packets received with CE: r.cep, which starts at 5.
    pub(crate) packets: u32,
    /// r.e0b, r.ceb and r.e1b.
    pub(crate) bytes: ByteCounters,
    /// The codepoint of the peer's SYN or SYN-ACK, the last one if there were several.
    opened: Ecn,
    /// The next ACK without data must report it.
    must_report_syn_ack: bool,
    /// The counters of the last option.
    sent: ByteCounters,
    option: Sending,
    /// Whether the last packet had CE, and the number of packets with CE since the last ACK.
    last_was_marked: bool,
    since_ack: u8,
}

impl Receiver {
    /// The state after a SYN or SYN-ACK with this codepoint.
    pub(crate) const fn new(opened: Ecn) -> Self {
        let bytes = ByteCounters { ect0: 1, ce: 0, ect1: 1 };
        Self {
            packets: 5,
            bytes,
            opened,
            must_report_syn_ack: false,
            sent: bytes,
            option: Sending::Untried,
            last_was_marked: false,
            since_ack: 0,
        }
    }

    /// The flags of our SYN-ACK, which report the codepoint of the peer's SYN.
    pub(crate) const fn syn_ack(&self) -> Flags {
        report_codepoint(self.opened)
    }

    /// Handles a retransmitted SYN.
    pub(crate) const fn syn_again(&mut self, arrived: Ecn) {
        self.opened = arrived;
    }

    /// Handles the peer's SYN-ACK. A mark counts once, even if the SYN-ACK is retransmitted.
    pub(crate) fn syn_ack_arrives(&mut self, arrived: Ecn) {
        if arrived == Ecn::Ce && self.packets == 5 {
            self.packets = 6;
        }
        (self.opened, self.must_report_syn_ack) = (arrived, true);
    }

    /// Whether an ACK without data must report the codepoint of the SYN-ACK.
    pub(crate) const fn must_report_syn_ack(&self) -> bool {
        self.must_report_syn_ack
    }

    /// Counts an acceptable packet. `unacknowledged` is whether received data waits for its ACK.
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

    /// The flags of a departing segment; `bare` means without data, FIN and SACK blocks.
    pub(crate) const fn flags(&mut self, bare: bool) -> Flags {
        self.since_ack = 0;
        if bare && self.must_report_syn_ack {
            self.must_report_syn_ack = false;
            return report_codepoint(self.opened);
        }
        flags_of((self.packets % 8) as u8)
    }

    /// The counters to send: all that ever changed, or `None` if none has changed since the last option. The first ACK
    /// and the first data segment test whether the path passes the option (section 3.2.3.2.1).
    pub(crate) fn option(&self, trial: Trial) -> Option<AccurateEcn> {
        let changed = self.sent != self.bytes;
        let tries = match (trial, self.option) {
            (_, Sending::Lost) => return None,
            (Trial::Handshake, _) => true,
            (Trial::Data, Sending::Untried) => true,
            _ => false,
        };
        (changed || tries).then(|| self.counters(self.bytes.ect1 != 1 && self.bytes.ect0 == 1))
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

    /// Records that an option is sent; `data` is the position of a data segment that tests the path.
    pub(crate) const fn note_option_sent(&mut self, data: Option<u64>) {
        self.sent = self.bytes;
        if let (Some(start), Sending::Untried) = (data, self.option) {
            self.option = Sending::Tried(start);
        }
    }

    /// Records a retransmission. If the segment at `start` tested the path, no more options are sent (section
    /// 3.2.3.2.2).
    pub(crate) fn note_retransmission(&mut self, start: u64) {
        if self.option == Sending::Tried(start) {
            self.option = Sending::Lost;
        }
    }
}

/// Whether a segment tests if the path passes the option.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Trial {
    /// A segment of the handshake.
    Handshake,
    /// A segment with new data.
    Data,
    No,
}
