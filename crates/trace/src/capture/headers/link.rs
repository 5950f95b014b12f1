//! Link-layer headers by link type (registry: tcpdump.org/linktypes.html).

use crate::capture::headers::protocol::{NoNetwork, behind, behind_pppoe};
use crate::capture::headers::serial::{behind_cisco_hdlc, behind_frame_relay, behind_ppp, behind_slip};
use core::fmt;

const NULL: u16 = 0;
const ETHERNET: u16 = 1;
const SLIP: u16 = 8;
const PPP: u16 = 9;
const PPP_HDLC: u16 = 50;
const PPP_ETHER: u16 = 51;
const C_HDLC: u16 = 104;
const FRELAY: u16 = 107;
const LOOP: u16 = 108;
const LINUX_SLL: u16 = 113;
const LINUX_SLL2: u16 = 276;

/// The link type of an interface: which header precedes the network packet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LinkType(pub u16);

impl LinkType {
    /// Raw IP, version 4 or 6.
    pub const RAW: Self = Self(101);

    /// Returns the IP packet within a packet of this link type.
    #[inline]
    pub fn network(self, bytes: &[u8]) -> Result<&[u8], NoNetwork> {
        match self.0 {
            ETHERNET => behind(bytes, 12, 14),
            // Some systems write 12 or 14 instead of 101; 228 and 229 are for one version of IP only.
            12 | 14 | 101 | 228 | 229 => Ok(bytes),
            LINUX_SLL => behind(bytes, 14, 16),
            LINUX_SLL2 => behind(bytes, 0, 20),
            NULL | LOOP => behind_family(bytes),
            PPP | PPP_HDLC => behind_ppp(bytes),
            PPP_ETHER => behind_pppoe(bytes),
            C_HDLC => behind_cisco_hdlc(bytes),
            SLIP => behind_slip(bytes),
            FRELAY => behind_frame_relay(bytes),
            _ => Err(NoNetwork::Link),
        }
    }

    /// The name in the registry, without `LINKTYPE_`; `None` if it is not in our list.
    pub fn name(self) -> Option<&'static str> {
        NAMES.binary_search_by_key(&self.0, |&(number, _)| number).ok().map(|at| NAMES[at].1)
    }
}

impl fmt::Display for LinkType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.0, self.name().unwrap_or("unknown name"))
    }
}

/// The IP packet after an address family of four bytes, in the byte order of the capturing machine (NULL) or of the
/// network (LOOP). BSD systems use different numbers for IPv6.
fn behind_family(bytes: &[u8]) -> Result<&[u8], NoNetwork> {
    let (family, packet) = bytes.split_first_chunk::<4>().ok_or(NoNetwork::Short)?;
    let number = match u32::from_be_bytes(*family) {
        small @ 0..=0xFFFF => small,
        _ => u32::from_le_bytes(*family),
    };
    match number {
        2 | 10 | 24 | 28 | 30 => Ok(packet),
        _ => Err(NoNetwork::Protocol),
    }
}

/// Sorted by number.
const NAMES: [(u16, &str); 48] = [
    (0, "NULL"),
    (1, "ETHERNET"),
    (3, "AX25"),
    (6, "IEEE802_5"),
    (7, "ARCNET_BSD"),
    (8, "SLIP"),
    (9, "PPP"),
    (10, "FDDI"),
    (12, "RAW"),
    (14, "RAW"),
    (50, "PPP_HDLC"),
    (51, "PPP_ETHER"),
    (100, "ATM_RFC1483"),
    (101, "RAW"),
    (104, "C_HDLC"),
    (105, "IEEE802_11"),
    (107, "FRELAY"),
    (108, "LOOP"),
    (113, "LINUX_SLL"),
    (114, "LTALK"),
    (117, "PFLOG"),
    (119, "IEEE802_11_PRISM"),
    (122, "IP_OVER_FC"),
    (123, "SUNATM"),
    (127, "IEEE802_11_RADIOTAP"),
    (129, "ARCNET_LINUX"),
    (138, "APPLE_IP_OVER_IEEE1394"),
    (140, "MTP2"),
    (163, "IEEE802_11_AVS"),
    (177, "LINUX_LAPD"),
    (187, "BLUETOOTH_HCI_H4"),
    (189, "USB_LINUX"),
    (192, "PPI"),
    (195, "IEEE802_15_4_WITHFCS"),
    (197, "ERF"),
    (201, "BLUETOOTH_HCI_H4_WITH_PHDR"),
    (220, "USB_LINUX_MMAPPED"),
    (227, "CAN_SOCKETCAN"),
    (228, "IPV4"),
    (229, "IPV6"),
    (230, "IEEE802_15_4_NOFCS"),
    (239, "NFLOG"),
    (249, "USBPCAP"),
    (252, "WIRESHARK_UPPER_PDU"),
    (253, "NETLINK"),
    (254, "BLUETOOTH_LINUX_MONITOR"),
    (274, "ETHERNET_MPACKET"),
    (276, "LINUX_SLL2"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::headers::protocol::{IPV4, IPV6, PPPOE};

    #[test]
    fn the_list_of_names_is_sorted_without_duplicates() {
        assert!(NAMES.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert_eq!(LinkType(127).to_string(), "127 (IEEE802_11_RADIOTAP)");
        assert_eq!(LinkType(9999).to_string(), "9999 (unknown name)");
    }

    #[test]
    fn any_number_of_vlan_tags_is_skipped() {
        let frame = |types: &[u16]| {
            let mut bytes = vec![0; 12];
            for (n, ether_type) in types.iter().enumerate() {
                bytes.extend(ether_type.to_be_bytes());
                if n + 1 < types.len() {
                    bytes.extend([0, 7]);
                }
            }
            bytes.push(0x45);
            bytes
        };
        for types in [&[IPV4][..], &[0x8100, IPV4], &[0x88A8, 0x8100, IPV6], &[0x9100, 0x8100, 0x8100, IPV4]]
        {
            assert_eq!(LinkType(ETHERNET).network(&frame(types)), Ok(&[0x45][..]), "{types:x?}");
        }
        let mut session = frame(&[0x8100, PPPOE]);
        session.pop();
        session.extend([0x11, 0, 0, 1, 0, 3, 0x00, 0x21, 0x45]);
        assert_eq!(LinkType(ETHERNET).network(&session), Ok(&[0x45][..]));
        assert_eq!(LinkType(ETHERNET).network(&frame(&[0x8100, 0x0806])), Err(NoNetwork::Protocol));
        assert_eq!(LinkType(ETHERNET).network(&frame(&[0x8100, IPV4])[..16]), Err(NoNetwork::Short));
    }

    #[test]
    fn a_loopback_family_is_read_in_either_byte_order() {
        for family in [[2, 0, 0, 0], [0, 0, 0, 2], [30, 0, 0, 0], [0, 0, 0, 24], [28, 0, 0, 0]] {
            let bytes = [&family[..], &[0x60]].concat();
            assert_eq!(LinkType(NULL).network(&bytes), Ok(&[0x60][..]));
            assert_eq!(LinkType(LOOP).network(&bytes), Ok(&[0x60][..]));
        }
        assert_eq!(LinkType(NULL).network(&[7, 0, 0, 0]), Err(NoNetwork::Protocol));
        assert_eq!(LinkType(NULL).network(&[2, 0, 0]), Err(NoNetwork::Short));
    }
}
