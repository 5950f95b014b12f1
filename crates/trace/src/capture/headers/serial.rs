//! Headers of serial links: PPP with its framings, Cisco HDLC, SLIP and Frame Relay.

use crate::capture::headers::protocol::{IPV4, IPV6, NoNetwork, behind, behind_ppp_protocol, short};

/// HDLC's control field of an unnumbered frame.
const UNNUMBERED: u8 = 0x03;
/// Length of the header that captures put before a SLIP packet: direction, kind of compression.
const SLIP_HEADER: usize = 16;
/// Network layer protocol identifiers (RFC 2427, section 4).
mod nlpid {
    pub(in crate::capture) const PADDING: u8 = 0x00;
    pub(in crate::capture) const SNAP: u8 = 0x80;
    pub(in crate::capture) const IPV6: u8 = 0x8E;
    pub(in crate::capture) const IPV4: u8 = 0xCC;
}

/// The IP packet within a PPP frame, with or without HDLC's address and control field (RFC 1662, section 3.1). Cisco's
/// frames have its own addresses (RFC 1547, section 4.3.1).
pub(in crate::capture) fn behind_ppp(bytes: &[u8]) -> Result<&[u8], NoNetwork> {
    match bytes {
        [0xFF, UNNUMBERED, frame @ ..] => behind_ppp_protocol(frame),
        [0x0F | 0x8F, _, ..] => behind_cisco_hdlc(bytes),
        _ => behind_ppp_protocol(bytes),
    }
}

/// The IP packet after an address, a control field and an EtherType.
pub(in crate::capture) fn behind_cisco_hdlc(bytes: &[u8]) -> Result<&[u8], NoNetwork> {
    behind(bytes, 2, 4)
}

/// The IP packet after the header of the capture.
pub(in crate::capture) fn behind_slip(bytes: &[u8]) -> Result<&[u8], NoNetwork> {
    bytes.get(SLIP_HEADER..).filter(|packet| !packet.is_empty()).ok_or(NoNetwork::Short)
}

/// The IP packet after the address of a virtual circuit, of two to four bytes (ITU-T Q.922), and an identifier of the
/// protocol: that of RFC 2427, or Cisco's EtherType.
pub(in crate::capture) fn behind_frame_relay(bytes: &[u8]) -> Result<&[u8], NoNetwork> {
    // The last byte of the address is odd.
    let end = bytes.iter().position(|byte| byte % 2 == 1).ok_or(NoNetwork::Short)? + 1;
    if !(2..=4).contains(&end) {
        return Err(NoNetwork::Protocol);
    }
    let mut rest = &bytes[end..];
    let [UNNUMBERED, identified @ ..] = rest else { return behind(rest, 0, 2) };
    rest = identified;
    while let [nlpid::PADDING, padded @ ..] = rest {
        rest = padded;
    }
    match rest {
        [nlpid::IPV4 | nlpid::IPV6, packet @ ..] => Ok(packet),
        // The organisation 0, and its EtherType.
        [nlpid::SNAP, 0, 0, 0, frame @ ..] => match short(frame, 0)? {
            IPV4 | IPV6 => Ok(&frame[2..]),
            _ => Err(NoNetwork::Protocol),
        },
        // IEEE 802.1, for bridged Ethernet with and without its frame check sequence.
        [nlpid::SNAP, 0x00, 0x80, 0xC2, 0x00, 0x01 | 0x07, frame @ ..] => behind(frame, 12, 14),
        [] => Err(NoNetwork::Short),
        _ => Err(NoNetwork::Protocol),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: &[u8] = &[0x45, 0x00];

    fn with(head: &[u8]) -> Vec<u8> {
        [head, PACKET].concat()
    }

    #[test]
    fn ppp_is_read_in_each_framing_and_with_a_compressed_protocol() {
        for head in [
            &[0xFF, 0x03, 0x00, 0x21][..],
            &[0xFF, 0x03, 0x00, 0x57],
            &[0xFF, 0x03, 0x21],
            &[0x00, 0x21],
            &[0x57],
            &[0x0F, 0x00, 0x08, 0x00],
            &[0x8F, 0x00, 0x86, 0xDD],
        ] {
            assert_eq!(behind_ppp(&with(head)), Ok(PACKET), "{head:x?}");
        }
        // LCP, and van Jacobson's compressed TCP.
        for head in [&[0xFF, 0x03, 0xC0, 0x21][..], &[0xC0, 0x21], &[0x00, 0x2D], &[0x2D]] {
            assert_eq!(behind_ppp(&with(head)), Err(NoNetwork::Protocol), "{head:x?}");
        }
        assert_eq!(behind_ppp(&[]), Err(NoNetwork::Short));
        assert_eq!(behind_ppp(&[0x00]), Err(NoNetwork::Short));
        assert_eq!(behind_ppp(&[0xFF, 0x03]), Err(NoNetwork::Short));
    }

    #[test]
    fn frame_relay_is_read_with_each_address_and_identifier() {
        let ethernet = [&[0x03, 0x00, 0x80, 0x00, 0x80, 0xC2, 0x00, 0x07][..], &[0xAA; 12], &[8, 0]].concat();
        for identifier in [
            &[0x03, 0xCC][..],
            &[0x03, 0x8E],
            &[0x03, 0x00, 0x80, 0, 0, 0, 0x08, 0x00],
            &[0x03, 0x80, 0, 0, 0, 0x86, 0xDD],
            &[0x08, 0x00],
            &ethernet,
        ] {
            for address in [&[0x18, 0x41][..], &[0x18, 0x40, 0x01], &[0x18, 0x40, 0x00, 0x05]] {
                let frame = with(&[address, identifier].concat());
                assert_eq!(behind_frame_relay(&frame), Ok(PACKET), "{frame:x?}");
                for end in 0..frame.len() - PACKET.len() {
                    assert_eq!(behind_frame_relay(&frame[..end]).ok(), None, "{frame:x?} up to {end}");
                }
            }
        }
        // An address of one byte and one of five; the local management interface; an unknown organisation.
        for frame in [
            &[0x19, 0x03, 0xCC][..],
            &[0x18, 0, 0, 0, 0x01, 0x03, 0xCC],
            &[0x00, 0x01, 0x03, 0x08, 0x00],
            &[0x18, 0x41, 0x03, 0x80, 1, 2, 3, 8, 0],
        ] {
            assert_eq!(behind_frame_relay(&with(frame)), Err(NoNetwork::Protocol), "{frame:x?}");
        }
    }

    #[test]
    fn cisco_hdlc_and_slip_have_headers_of_fixed_length() {
        assert_eq!(behind_cisco_hdlc(&with(&[0x0F, 0x00, 0x08, 0x00])), Ok(PACKET));
        assert_eq!(behind_cisco_hdlc(&with(&[0x8F, 0x00, 0x80, 0x35])), Err(NoNetwork::Protocol), "SLARP");
        assert_eq!(behind_cisco_hdlc(&[0x0F, 0x00, 0x08]), Err(NoNetwork::Short));
        assert_eq!(behind_slip(&with(&[0; 16])), Ok(PACKET));
        assert_eq!(behind_slip(&[0; 16]), Err(NoNetwork::Short));
    }
}
