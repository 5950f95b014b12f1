//! Addresses of hosts: one of each family; IPv4 addresses are those in captures of simulated runs. A second pair is for
//! a TCP in a program on the host, called a guest. Such a program, for example `netspurt host`, creates a TUN device
//! with these addresses, and the host's kernel forwards its packets.

use crate::tun::Network;
use netspurt_sim::spec::NodeId;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// IPv4 and IPv6 addresses, in this order.
pub(in crate::emulator) type Pair = [IpAddr; 2];

/// First IPv4 address of guests, outside the addresses of hosts.
const GUESTS_V4: u32 = 0x0A80_0000;
/// Prefixes of hosts and guests in IPv6: `fd00::` and `fd80::`, unique local addresses (RFC 4193).
const HOSTS_V6: u128 = 0xFD00 << 112;
const GUESTS_V6: u128 = 0xFD80 << 112;
/// A guest's network has two addresses; the other one is the kernel's.
const OWN_BITS: u8 = 2;
/// The guest's address within its network.
const PLACE: u32 = 2;
/// Maximum number of nodes with addresses.
const NODES: u32 = 1 << 21;

/// First IPv4 address of hosts beside the caller's own network, which may use all private addresses: the addresses of
/// RFC 6598. Each emulation has a block of 256.
const SHARED_V4: u32 = 0x6440_0000;
const BLOCK_BITS: u8 = 8;
/// Place of the first guest's network within a block, and number of guests with a place there.
const GUESTS_OF_BLOCK: u32 = 128;
const GUESTS: u32 = 31;

/// Which addresses the hosts of an emulation have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in crate::emulator) struct Addresses {
    /// The number of the block, if the emulation is joined to the caller's own network.
    pub(in crate::emulator) block: Option<u8>,
}

impl Addresses {
    /// The addresses of the host at a node: 10.0.0.1 and fd00::1 at the first; 100.64.0.1 in the first block.
    pub(in crate::emulator) fn host(self, node: NodeId) -> Pair {
        let v6 = Ipv6Addr::from_bits(HOSTS_V6 + u128::from(node.0) + 1);
        let v4 = self.block.map_or_else(
            || netspurt_sim::address(node.0),
            |block| Ipv4Addr::from_bits(first_of(block) + node.0),
        );
        [IpAddr::V4(v4), IpAddr::V6(v6)]
    }

    /// The addresses of the guest at a node: 10.128.0.2 and fd80::2 at the first; 100.64.0.130 in the first block.
    /// Only the first 31 nodes of a block have a place for one there.
    pub(in crate::emulator) fn guest(self, node: NodeId) -> Pair {
        let place = ((node.0 % NODES) << OWN_BITS) + PLACE;
        let v6 = Ipv6Addr::from_bits(GUESTS_V6 + u128::from(place));
        let first = self.block.filter(|_| node.0 < GUESTS).map(|block| first_of(block) - 1 + GUESTS_OF_BLOCK);
        [IpAddr::V4(Ipv4Addr::from_bits(first.unwrap_or(GUESTS_V4) + place)), IpAddr::V6(v6)]
    }

    /// The same with prefix lengths, for the configuration of a device.
    pub(in crate::emulator) fn guest_networks(self, node: NodeId) -> [Network; 2] {
        let [v4, v6] = self.guest(node);
        [Network { address: v4, bits: 32 - OWN_BITS }, Network { address: v6, bits: 128 - OWN_BITS }]
    }

    /// The node whose host or guest has this address.
    pub(in crate::emulator) fn node(self, of: IpAddr) -> Option<u32> {
        match (self.block, of) {
            (Some(block), IpAddr::V4(v4)) => {
                let place = v4.to_bits().checked_sub(first_of(block) - 1)?;
                if place < GUESTS_OF_BLOCK {
                    return place.checked_sub(1);
                }
                let guest = place - GUESTS_OF_BLOCK;
                (guest % (1 << OWN_BITS) == PLACE && guest >> OWN_BITS < GUESTS).then_some(guest >> OWN_BITS)
            }
            _ => node(of),
        }
    }
}

const fn first_of(block: u8) -> u32 {
    SHARED_V4 + ((block as u32) << BLOCK_BITS) + 1
}

/// The same without a block.
fn node(of: IpAddr) -> Option<u32> {
    let (hosts, guests, own) = match of {
        IpAddr::V4(v4) => (netspurt_sim::address(0).to_bits().into(), GUESTS_V4.into(), v4.to_bits().into()),
        IpAddr::V6(v6) => (HOSTS_V6 + 1, GUESTS_V6, v6.to_bits()),
    };
    let guest = |own: u128| {
        let place = u32::try_from(own.checked_sub(guests)?.checked_sub(PLACE.into())?).ok()?;
        (place.is_multiple_of(1 << OWN_BITS) && place >> OWN_BITS < NODES).then_some(place >> OWN_BITS)
    };
    guest(own).or_else(|| u32::try_from(own.checked_sub(hosts)?).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(node: NodeId) -> Pair {
        Addresses::default().host(node)
    }

    fn guest(node: NodeId) -> Pair {
        Addresses::default().guest(node)
    }

    #[test]
    fn hosts_of_a_block_have_addresses_that_no_other_block_has() {
        let first = Addresses { block: Some(0) };
        let last = Addresses { block: Some(255) };
        let shown = |of: Addresses, node: u32| of.host(NodeId(node))[0].to_string();
        assert_eq!(
            [shown(first, 0), shown(first, 1), shown(last, 0)],
            ["100.64.0.1", "100.64.0.2", "100.64.255.1"]
        );
        assert_eq!(first.node(first.host(NodeId(7))[0]), Some(7));
        assert_eq!(last.node(first.host(NodeId(7))[0]), None);
        assert_eq!(first.node("10.0.0.1".parse().expect("an address")), None);
        assert_eq!(first.node("100.64.0.255".parse().expect("an address")), None);
        assert_eq!(first.node("100.64.0.0".parse().expect("an address")), None);
    }

    #[test]
    fn guests_of_a_block_are_in_the_block() {
        let (first, last) = (Addresses { block: Some(0) }, Addresses { block: Some(255) });
        assert_eq!(first.guest_networks(NodeId(0))[0].to_string(), "100.64.0.130/30");
        assert_eq!(last.guest(NodeId(30))[0].to_string(), "100.64.255.250");
        for number in 0..GUESTS {
            assert_eq!(first.node(first.guest(NodeId(number))[0]), Some(number));
            assert_eq!(last.node(first.guest(NodeId(number))[0]), None);
        }
        for other in ["100.64.0.129", "100.64.0.131", "100.64.0.254", "10.128.0.2"] {
            assert_eq!(first.node(other.parse().expect("an address")), None, "{other}");
        }
    }

    #[test]
    fn only_addresses_of_hosts_and_guests_map_to_nodes() {
        for number in [0, 1, 255, 256, NODES - 1] {
            for address in [host(NodeId(number)), guest(NodeId(number))].as_flattened() {
                assert_eq!(node(*address), Some(number), "{address}");
            }
        }
        assert_eq!(
            Addresses::default().guest_networks(NodeId(1)).map(|of| of.to_string()),
            ["10.128.0.6/30", "fd80::6/126"]
        );
        assert_eq!(host(NodeId(1)).map(|of| of.to_string()), ["10.0.0.2", "fd00::2"]);
        // Other addresses map to no node of a scenario.
        for other in ["10.128.0.1", "10.128.0.3", "11.0.0.2", "255.255.255.255"] {
            assert!(node(other.parse().expect("an address")).is_none_or(|node| node >= NODES), "{other}");
        }
        for other in ["fd80::1", "fd80::3", "fd80::7f:fff2:1", "fe80::2", "::1", "ff02::1"] {
            assert_eq!(node(other.parse().expect("an address")), None, "{other}");
        }
    }
}
