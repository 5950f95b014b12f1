//! Congestion marks of the path that ACKs report: ECN (RFC 3168) and accurate ECN (RFC 9768).
//!
//! Both ends agree on them in the handshake. Without that, nothing is known of what the flags mean.

use crate::conversation::Side;
use netspurt_tcp::segment::Flags;

/// What the flags of ACKs report.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Feedback {
    #[default]
    None,
    /// ECE: a packet was marked (RFC 3168, section 6.1.2; with DCTCP, the latest one: RFC 8257, section 3.2).
    Echo,
    /// AE, CWR and ECE count marked packets (RFC 9768, section 3.2.2).
    Counter,
}

/// The marks of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Marks {
    /// What the client's SYN asks for, and what the server has agreed to.
    asked: Feedback,
    agreed: Feedback,
    /// The counter in the latest ACK of each end.
    counters: [Option<u16>; 2],
    /// The first ACK of the client reports the flags of the SYN-ACK, and no count (RFC 9768, section 3.2.2.1).
    client_has_begun: bool,
}

/// The three flags of the counter; all of them in a SYN ask for it.
const COUNTER: u16 = Flags::AE.0 | Flags::CWR.0 | Flags::ECE.0;
/// These in a SYN ask for echoes, and the second one agrees to that.
const ASKS_FOR_ECHO: u16 = Flags::CWR.0 | Flags::ECE.0;
const ECHO: u16 = Flags::ECE.0;

impl Marks {
    /// A segment of `side` with these flags. Returns whether it reports that packets of the other end were marked.
    pub(super) fn note(&mut self, side: Side, flags: Flags) -> bool {
        let bits = flags.0 & COUNTER;
        if flags.has(Flags::SYN) {
            self.note_syn(flags.has(Flags::ACK), bits);
            return false;
        }
        match self.agreed {
            Feedback::Echo => flags.has(Flags::ACK) && flags.has(Flags::ECE),
            Feedback::Counter if side == Side::A && !core::mem::replace(&mut self.client_has_begun, true) => {
                false
            }
            Feedback::Counter => {
                let before = self.counters[side as usize].replace(bits);
                before.is_some_and(|before| before != bits)
            }
            Feedback::None => false,
        }
    }

    fn note_syn(&mut self, answer: bool, bits: u16) {
        if answer {
            self.agreed = match (self.asked, bits) {
                (Feedback::None, _) | (_, 0 | COUNTER) => Feedback::None,
                (_, ECHO) => Feedback::Echo,
                (Feedback::Counter, _) => Feedback::Counter,
                (Feedback::Echo, _) => Feedback::None,
            };
        } else {
            self.asked = match bits {
                COUNTER => Feedback::Counter,
                ASKS_FOR_ECHO => Feedback::Echo,
                _ => Feedback::None,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYN: Flags = Flags::SYN;
    const ACK: Flags = Flags::ACK;

    fn with(flags: Flags, others: &[Flags]) -> Flags {
        others.iter().fold(flags, |all, other| Flags(all.0 | other.0))
    }

    /// Which of these flags of the server's ACKs report marks, behind a handshake with these flags.
    fn reported(syn: &[Flags], answer: &[Flags], acks: &[&[Flags]]) -> Vec<bool> {
        let mut marks = Marks::default();
        marks.note(Side::A, with(SYN, syn));
        marks.note(Side::B, with(with(SYN, &[ACK]), answer));
        marks.note(Side::A, ACK);
        acks.iter().map(|flags| marks.note(Side::B, with(ACK, flags))).collect()
    }

    #[test]
    fn an_echo_reports_a_mark_if_both_ends_have_agreed() {
        let acks: [&[Flags]; 3] = [&[], &[Flags::ECE], &[]];
        let both = [Flags::CWR, Flags::ECE];
        assert_eq!(reported(&both, &[Flags::ECE], &acks), [false, true, false]);
        assert_eq!(reported(&both, &[], &acks), [false; 3]);
        assert_eq!(reported(&[], &[Flags::ECE], &acks), [false; 3]);
        let all = [Flags::AE, Flags::CWR, Flags::ECE];
        assert_eq!(reported(&all, &[Flags::ECE], &acks), [false, true, false], "the server knows no counter");
        assert_eq!(reported(&all, &all, &acks), [false; 3], "a peer that returns all flags");
    }

    #[test]
    fn a_counter_that_changes_reports_marks() {
        let five: &[Flags] = &[Flags::AE, Flags::ECE];
        let six: &[Flags] = &[Flags::AE, Flags::CWR];
        let all = [Flags::AE, Flags::CWR, Flags::ECE];
        assert_eq!(reported(&all, &[Flags::CWR], &[five, five, six, six]), [false, false, true, false]);
    }

    #[test]
    fn the_first_ack_of_the_client_counts_nothing() {
        let mut marks = Marks::default();
        marks.note(Side::A, with(SYN, &[Flags::AE, Flags::CWR, Flags::ECE]));
        marks.note(Side::B, with(SYN, &[ACK, Flags::CWR]));
        let five = with(ACK, &[Flags::AE, Flags::ECE]);
        let six = with(ACK, &[Flags::AE, Flags::CWR]);
        let acks = [with(ACK, &[Flags::CWR]), five, five, six];
        assert_eq!(acks.map(|flags| marks.note(Side::A, flags)), [false, false, false, true]);
    }
}
