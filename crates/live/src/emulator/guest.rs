//! A second address of each host, for a TCP that is not its kernel's: a program on the host, such as `netspurt host`, makes a
//! device with this address behind it, and the kernel passes on what comes and goes.

use crate::tun::Network;
use netspurt_sim::spec::NodeId;
use std::net::{IpAddr, Ipv4Addr};

/// Where guests live: apart from all hosts that a scenario can have.
const BASE: u32 = 0x0A80_0000;
/// Bits of a guest's network. It holds two addresses: the kernel's side of the guest's device is the other.
const BITS: u8 = 30;
/// The guest's place in it.
const PLACE: u32 = 2;

/// The address of the guest at a node: 10.128.0.2 at the first.
pub(super) fn address(node: NodeId) -> Ipv4Addr {
    Ipv4Addr::from_bits((BASE | (node.0 & 0x1F_FFFF) << (32 - BITS)) + PLACE)
}

/// The same with its network, as a program on the host wants it.
pub(super) fn network(node: NodeId) -> Network {
    Network { address: IpAddr::V4(address(node)), bits: BITS }
}

/// The node whose guest has this address.
pub(super) fn node(of: Ipv4Addr) -> Option<u32> {
    let place = of.to_bits().checked_sub(BASE + PLACE)?;
    (place < 0x80_0000 && place.is_multiple_of(1 << (32 - BITS))).then_some(place >> (32 - BITS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guest_is_found_by_its_address_and_nobody_else_is() {
        for number in [0, 1, 255, 256, 0x1F_FFFF] {
            assert_eq!(node(address(NodeId(number))), Some(number));
        }
        assert_eq!(network(NodeId(1)).to_string(), "10.128.0.6/30");
        for other in ["10.128.0.1", "10.128.0.3", "10.0.0.2", "11.0.0.2", "255.255.255.255"] {
            assert_eq!(node(other.parse().expect("an address")), None, "{other}");
        }
    }
}
