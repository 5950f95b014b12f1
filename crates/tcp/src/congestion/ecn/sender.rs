//! The sender under accurate ECN: the evaluation of the peer's counters, and the checks for their plausibility (RFC
//! 9768, sections 3.2.2 and 3.2.3.2).

use super::ace::{self, AceInput};
use super::handshake::FirstAck;
use crate::wire::accurate_ecn::{AccurateEcn, ByteCounters, growth};
use crate::wire::segment::Ecn;

/// The feedback of an ACK, before the ACK is processed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Feedback {
    pub(crate) ace: u8,
    pub(crate) option: Option<AccurateEcn>,
    /// No earlier ACK contains newer feedback.
    pub(crate) is_latest: bool,
}

/// The newly marked packets and bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Marks {
    pub(crate) packets: u32,
    pub(crate) bytes: u32,
}

/// The reaction of the sender to ECN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Trust {
    /// It sends ECN-capable segments and reacts to marks.
    Full,
    /// It sends no ECN-capable segments, but reacts to marks.
    Heeds,
    /// Neither, because the feedback is not plausible.
    None,
}

/// The state of a sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sender {
    /// s.cep: packets that the peer received with CE; it starts at 5.
    pub(crate) packets: u32,
    /// s.e0b, s.ceb and s.e1b.
    pub(crate) bytes: ByteCounters,
    trust: Trust,
    /// Options are ignored, because the counters started at zero.
    ignores_option: bool,
    /// No feedback has arrived since the handshake.
    is_first: bool,
    no_option_yet: bool,
    /// The next ACK reports the codepoint of the SYN-ACK and contains no count.
    skips: bool,
    /// In a simultaneous open: the ACK of our SYN-ACK has not arrived.
    awaits_handshake_ack: bool,
    /// Consecutive ACKs with a contradiction between option and ACE field.
    contradictions: u8,
    /// The feedback of the current ACK.
    feedback: Option<Feedback>,
    /// The bytes delivered before it.
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
            awaits_handshake_ack: false,
            contradictions: 0,
            feedback: None,
            delivered: 0,
        }
    }

    /// Whether it sends ECN-capable segments.
    pub(crate) const fn sends(&self) -> bool {
        matches!(self.trust, Trust::Full)
    }

    /// Stops sending ECN-capable segments.
    pub(crate) const fn stop_sending(&mut self) {
        if self.sends() {
            self.trust = Trust::Heeds;
        }
    }

    /// Checks the codepoint with which a Not-ECT segment of ours arrived. Any other codepoint shows that the path
    /// changes the field (section 3.2.2.3).
    pub(crate) fn check_not_ect(&mut self, codepoint: Ecn) {
        if codepoint != Ecn::NotEct {
            self.stop_sending();
        }
    }

    /// In a simultaneous open the peer's SYN-ACK opens the connection, and the ACK of ours follows.
    pub(crate) const fn expect_handshake_ack(&mut self) {
        self.awaits_handshake_ack = true;
    }

    /// Whether that ACK is still to come.
    pub(crate) const fn expects_handshake_ack(&self) -> bool {
        self.awaits_handshake_ack
    }

    /// Whether an ACK without data up to position `ack` is the one expected: it acknowledges no more than our SYN.
    pub(crate) const fn ends_handshake(&mut self, ack: i64) -> bool {
        core::mem::replace(&mut self.awaits_handshake_ack, false) && ack == 1
    }

    /// Processes the ACK of our SYN-ACK (table 4). Returns whether the SYN-ACK was marked.
    pub(crate) fn process_handshake_ack(&mut self, first: FirstAck) -> bool {
        self.skips = true;
        match first {
            FirstAck::NoFeedback => self.trust = Trust::None,
            FirstAck::Codepoint(codepoint) => {
                self.check_not_ect(codepoint);
                if codepoint == Ecn::Ce {
                    self.packets = 6;
                }
                return codepoint == Ecn::Ce;
            }
            FirstAck::Undefined => {}
        }
        false
    }

    /// Checks the first option. Counters that start at zero were overwritten on the path (section 3.2.3.2.4).
    pub(crate) fn try_option(&mut self, option: Option<AccurateEcn>) {
        if let Some(option) = option.filter(|_| self.no_option_yet) {
            self.no_option_yet = false;
            self.ignores_option = option.ect0() == Some(0) || option.ect1() == Some(0);
        }
    }

    /// Stores the feedback of an ACK before the ACK is processed; `delivered` are the bytes delivered so far. Returns
    /// whether it reports a mark.
    pub(crate) fn receive_feedback(&mut self, feedback: Feedback, delivered: u64) -> bool {
        self.try_option(feedback.option);
        self.delivered = delivered;
        if core::mem::take(&mut self.skips) {
            return false;
        }
        self.feedback = Some(feedback);
        let ce = feedback.option.and_then(|option| self.marked_bytes(option));
        let news = ace::least(feedback.ace, self.packets) > 0 || ce.is_some_and(|bytes| bytes > 0);
        feedback.is_latest && self.reacts_to_marks() && news
    }

    /// Marked bytes beyond those known, if the option reports them. A counter that never changed can be absent.
    fn marked_bytes(&self, option: AccurateEcn) -> Option<u32> {
        if self.ignores_option {
            return None;
        }
        match option.ce() {
            Some(field) => Some(growth(self.bytes.ce, field)),
            None => (self.bytes.ce == 0).then_some(0),
        }
    }

    const fn reacts_to_marks(&self) -> bool {
        !matches!(self.trust, Trust::None)
    }

    /// Evaluates the feedback after the ACK was processed; `delivered` are the bytes delivered so far, in segments of
    /// at most `mss` bytes. Returns the new marks, and the bytes that this ACK delivered.
    pub(crate) fn conclude(&mut self, delivered: u64, mss: u32) -> (Marks, u32) {
        let newly = u32::try_from(delivered.saturating_sub(self.delivered)).unwrap_or(u32::MAX);
        self.delivered = delivered;
        let Some(feedback) = self.feedback.take().filter(|feedback| feedback.is_latest || newly > 0) else {
            return (Marks::default(), newly);
        };
        let packets = newly.div_ceil(mss.max(1));
        // Section 3.2.2.4; but after three marked packets the value is valid.
        if core::mem::take(&mut self.is_first) && feedback.ace == 0 && packets < 3 {
            self.trust = Trust::None;
        }
        let bytes = feedback.option.and_then(|option| self.marked_bytes(option));
        let input = AceInput { ace: feedback.ace, known: self.packets, packets, bytes, mss };
        let marked = ace::marked(input);
        // Section 3.2.3.2.5: the option reports marked bytes, the field reports no packet, and the field cannot have
        // wrapped. Packets may be smaller than assumed, so the first contradiction is accepted.
        if let Some(1..) = bytes {
            let contradicts = ace::least(feedback.ace, self.packets) == 0 && packets < 8;
            self.contradictions = if contradicts { self.contradictions.saturating_add(1) } else { 0 };
            if self.contradictions > 1 {
                self.stop_sending();
            }
        }
        self.packets = self.packets.wrapping_add(marked);
        if let Some(option) = feedback.option.filter(|_| !self.ignores_option) {
            self.count(option);
        }
        if !self.reacts_to_marks() {
            return (Marks::default(), newly);
        }
        // Appendix A.3: without the option the marked packets are assumed to be full.
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
