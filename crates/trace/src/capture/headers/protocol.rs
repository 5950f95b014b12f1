//! The protocol fields in front of an IP packet: the EtherType, with VLAN tags, and PPP's protocol number. A PPPoE session
//! leads from the one to the other.

pub(in crate::capture) const IPV4: u16 = 0x0800;
pub(in crate::capture) const IPV6: u16 = 0x86DD;
/// A PPPoE session.
pub(in crate::capture) const PPPOE: u16 = 0x8864;

/// EtherTypes of VLAN tags: IEEE 802.1Q, 802.1ad (QinQ), and two that were used for the outer tag before 802.1ad.
const VLAN: [u16; 4] = [0x8100, 0x88A8, 0x9100, 0x9200];
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

/// The IP packet of a PPPoE session.
pub(in crate::capture) fn behind_pppoe(bytes: &[u8]) -> Result<&[u8], NoNetwork> {
    behind_ppp_protocol(bytes.get(PPPOE_HEADER..).ok_or(NoNetwork::Short)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pppoe_session_holds_a_ppp_protocol_and_a_packet() {
        assert_eq!(behind_pppoe(&[0x11, 0, 0, 9, 0, 4, 0x00, 0x21, 0x45]), Ok(&[0x45][..]));
        assert_eq!(behind_pppoe(&[0x11, 0, 0, 9]), Err(NoNetwork::Short));
    }
}
