//! The protocol fields in front of an IP packet: the EtherType, with VLAN tags and MPLS labels, and PPP's protocol number. A PPPoE session
//! leads from the one to the other.

pub(in crate::capture) const IPV4: u16 = 0x0800;
pub(in crate::capture) const IPV6: u16 = 0x86DD;
/// A PPPoE session.
pub(in crate::capture) const PPPOE: u16 = 0x8864;

/// EtherTypes of VLAN tags: IEEE 802.1Q, 802.1ad (QinQ), and two that were used for the outer tag before 802.1ad.
const VLAN: [u16; 4] = [0x8100, 0x88A8, 0x9100, 0x9200];
/// MPLS with labels that a downstream router assigned, and with others (RFC 5332, section 3).
const MPLS: [u16; 2] = [0x8847, 0x8848];
/// Length of an entry of the MPLS label stack, and the bit of its third byte that marks the last entry (RFC 3032, section 2.1).
const LABEL: usize = 4;
const BOTTOM: u8 = 1;
/// Protocol numbers of PPP (RFC 1332, section 3; RFC 5072, section 4).
const PPP_IPV4: u16 = 0x0021;
const PPP_IPV6: u16 = 0x0057;
/// Length of a PPPoE header (RFC 2516, section 4).
const PPPOE_HEADER: usize = 6;

/// Why a packet contains no IP packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoNetwork {
    /// The link type is not supported.
    Link,
    /// The packet has another protocol, for example ARP.
    Protocol,
    /// The captured bytes end before the IP packet.
    Short,
}

/// The IP packet after a header of `len` bytes with an EtherType at `at`, and any VLAN tags.
#[inline]
pub(in crate::capture) fn behind(bytes: &[u8], at: usize, len: usize) -> Result<&[u8], NoNetwork> {
    let mut ether_type = short(bytes, at)?;
    let mut start = len;
    // The second half of a tag is the type of the next header.
    while VLAN.contains(&ether_type) {
        ether_type = short(bytes, start + 2)?;
        start += 4;
    }
    match ether_type {
        IPV4 | IPV6 => bytes.get(start..).ok_or(NoNetwork::Short),
        PPPOE => behind_pppoe(bytes.get(start..).ok_or(NoNetwork::Short)?),
        other if MPLS.contains(&other) => behind_labels(bytes.get(start..).ok_or(NoNetwork::Short)?),
        _ => Err(NoNetwork::Protocol),
    }
}

#[inline]
pub(in crate::capture) fn short(bytes: &[u8], at: usize) -> Result<u16, NoNetwork> {
    bytes
        .get(at..)
        .and_then(|rest| rest.first_chunk())
        .map(|&both| u16::from_be_bytes(both))
        .ok_or(NoNetwork::Short)
}

/// The IP packet after PPP's protocol field. A compressed field is one byte, which is odd (RFC 1661, section 6.5).
pub(in crate::capture) fn behind_ppp_protocol(bytes: &[u8]) -> Result<&[u8], NoNetwork> {
    let (protocol, packet) = match bytes {
        [low, packet @ ..] if low % 2 == 1 => (u16::from(*low), packet),
        [high, low, packet @ ..] => (u16::from_be_bytes([*high, *low]), packet),
        _ => return Err(NoNetwork::Short),
    };
    match protocol {
        PPP_IPV4 | PPP_IPV6 => Ok(packet),
        _ => Err(NoNetwork::Protocol),
    }
}

/// The IP packet after a stack of MPLS labels. The stack does not name the protocol; what does not begin with a version of IP is another
/// one, such as an Ethernet frame (RFC 4928, section 3).
fn behind_labels(mut bytes: &[u8]) -> Result<&[u8], NoNetwork> {
    loop {
        let (label, rest) = bytes.split_first_chunk::<LABEL>().ok_or(NoNetwork::Short)?;
        bytes = rest;
        if label[2] & BOTTOM != 0 {
            break;
        }
    }
    match bytes.first().map(|first| first >> 4) {
        Some(4 | 6) => Ok(bytes),
        Some(_) => Err(NoNetwork::Protocol),
        None => Err(NoNetwork::Short),
    }
}

/// The IP packet of a PPPoE session.
pub(in crate::capture) fn behind_pppoe(bytes: &[u8]) -> Result<&[u8], NoNetwork> {
    behind_ppp_protocol(bytes.get(PPPOE_HEADER..).ok_or(NoNetwork::Short)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_packet_behind_mpls_labels_is_found_by_its_version() {
        let frame = |stack: &[[u8; 4]], packet: &[u8]| {
            let mut bytes = vec![0; 12];
            bytes.extend(MPLS[0].to_be_bytes());
            bytes.extend(stack.concat());
            bytes.extend(packet);
            bytes
        };
        let (inner, outer) = ([0, 6, 0x41, 64], [0, 7, 0x40, 64]);
        assert_eq!(behind(&frame(&[inner], &[0x45]), 12, 14), Ok(&[0x45][..]));
        assert_eq!(behind(&frame(&[outer, inner], &[0x60, 1]), 12, 14), Ok(&[0x60, 1][..]));
        assert_eq!(behind(&frame(&[inner], &[0, 0, 0, 0]), 12, 14), Err(NoNetwork::Protocol), "a pseudowire");
        assert_eq!(behind(&frame(&[outer], &[]), 12, 14), Err(NoNetwork::Short));
    }

    #[test]
    fn a_pppoe_session_holds_a_ppp_protocol_and_a_packet() {
        assert_eq!(behind_pppoe(&[0x11, 0, 0, 9, 0, 4, 0x00, 0x21, 0x45]), Ok(&[0x45][..]));
        assert_eq!(behind_pppoe(&[0x11, 0, 0, 9]), Err(NoNetwork::Short));
    }
}
