//! Accurate ECN on the three segments of the handshake (RFC 9768, sections 3.1 and 3.2.2.1): the negotiation, and the
//! report of the codepoints with which SYN and SYN-ACK arrived.

use crate::wire::segment::{Ecn, Flags};

/// The three flags. On a SYN they request accurate ECN; on later segments they are the ACE field.
pub(crate) const ACE: Flags = Flags(Flags::AE.0 | Flags::CWR.0 | Flags::ECE.0);

/// The three flags as a number (figure 3).
pub(crate) const fn ace_of(flags: Flags) -> u8 {
    let [ae, cwr, ece] = [flags.has(Flags::AE), flags.has(Flags::CWR), flags.has(Flags::ECE)];
    (ae as u8) << 2 | (cwr as u8) << 1 | ece as u8
}

/// The number as three flags.
pub(crate) const fn flags_of(ace: u8) -> Flags {
    let ae = if ace & 4 != 0 { Flags::AE.0 } else { 0 };
    let cwr = if ace & 2 != 0 { Flags::CWR.0 } else { 0 };
    let ece = if ace & 1 != 0 { Flags::ECE.0 } else { 0 };
    Flags(ae | cwr | ece)
}

/// The flags that report the codepoint of the peer's SYN or SYN-ACK (tables 2 and 3).
pub(crate) const fn report_codepoint(arrived: Ecn) -> Flags {
    flags_of(match arrived {
        Ecn::NotEct => 0b010,
        Ecn::Ect1 => 0b011,
        Ecn::Ect0 => 0b100,
        Ecn::Ce => 0b110,
    })
}

/// The feedback that a SYN or a SYN-ACK negotiates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    /// None.
    Off,
    /// RFC 3168's.
    Classic,
    /// Accurate; with the codepoint of our SYN, if it is reported.
    Accurate(Option<Ecn>),
}

/// The request of a SYN, for a host with accurate ECN. Undefined combinations of flags request it too (section 3.1.3).
pub(crate) const fn requested_mode(syn: Flags) -> Mode {
    match ace_of(syn) {
        0b000 => Mode::Off,
        0b011 => Mode::Classic,
        _ => Mode::Accurate(None),
    }
}

/// The reply of a SYN-ACK to a SYN with a request for accurate ECN (table 2). All three flags come from a host that
/// reflects reserved bits; 101 is reserved for future use (section 3.1.3).
pub(crate) const fn accepted_mode(syn_ack: Flags) -> Mode {
    match ace_of(syn_ack) {
        0b001 => Mode::Classic,
        0b010 => Mode::Accurate(Some(Ecn::NotEct)),
        0b011 => Mode::Accurate(Some(Ecn::Ect1)),
        0b100 => Mode::Accurate(Some(Ecn::Ect0)),
        0b101 => Mode::Accurate(None),
        0b110 => Mode::Accurate(Some(Ecn::Ce)),
        _ => Mode::Off,
    }
}

/// The report in the ACE field of the ACK of our SYN-ACK (table 4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FirstAck {
    /// The peer sends no feedback, or the path removes it.
    NoFeedback,
    /// The SYN-ACK arrived with this codepoint.
    Codepoint(Ecn),
    /// A reserved value.
    Undefined,
}

/// Decodes the ACE field.
pub(crate) const fn first_ack(ace: u8) -> FirstAck {
    match ace {
        0b000 => FirstAck::NoFeedback,
        0b010 => FirstAck::Codepoint(Ecn::NotEct),
        0b011 => FirstAck::Codepoint(Ecn::Ect1),
        0b100 => FirstAck::Codepoint(Ecn::Ect0),
        0b110 => FirstAck::Codepoint(Ecn::Ce),
        _ => FirstAck::Undefined,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AE: Flags = Flags::AE;
    const CWR: Flags = Flags::CWR;
    const ECE: Flags = Flags::ECE;
    const NONE: Flags = Flags::NONE;

    #[test]
    fn the_ace_field_consists_of_three_flags() {
        for ace in 0..8 {
            assert_eq!(ace_of(flags_of(ace)), ace);
        }
        assert_eq!((flags_of(4), flags_of(2), flags_of(1)), (AE, CWR, ECE));
        assert_eq!(ace_of(Flags::ACK | ACE), 7);
    }

    #[test]
    fn table_2_row_by_row() {
        use Mode::{Accurate, Classic, Off};
        for (syn_ack, mode) in [
            (CWR, Accurate(Some(Ecn::NotEct))),
            (CWR | ECE, Accurate(Some(Ecn::Ect1))),
            (AE, Accurate(Some(Ecn::Ect0))),
            (AE | CWR, Accurate(Some(Ecn::Ce))),
            (AE | ECE, Accurate(None)),
            (ECE, Classic),
            (NONE, Off),
            (ACE, Off),
        ] {
            assert_eq!(accepted_mode(Flags::SYN | Flags::ACK | syn_ack), mode, "{syn_ack:?}");
        }
        for (syn, mode) in [(ACE, Accurate(None)), (CWR | ECE, Classic), (NONE, Off)] {
            assert_eq!(requested_mode(Flags::SYN | syn), mode, "{syn:?}");
        }
        // Section 3.1.3.
        for syn in [AE, AE | ECE, AE | CWR, CWR, ECE] {
            assert_eq!(requested_mode(Flags::SYN | syn), Accurate(None), "{syn:?}");
        }
    }

    #[test]
    fn tables_3_and_4_are_each_others_inverse() {
        for ecn in [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce] {
            assert_eq!(first_ack(ace_of(report_codepoint(ecn))), FirstAck::Codepoint(ecn));
            assert_eq!(accepted_mode(report_codepoint(ecn)), Mode::Accurate(Some(ecn)));
        }
        assert_eq!(first_ack(0), FirstAck::NoFeedback);
        for ace in [0b001, 0b101, 0b111] {
            assert_eq!(first_ack(ace), FirstAck::Undefined);
        }
    }
}
