//! The endpoints of a connection.

use crate::conversation::Side;
use netspurt_tcp::codec::{Addresses, Ports};
use netspurt_tcp::segment::Flags;
use std::net::{IpAddr, SocketAddr};

/// A connection of a capture. Numbers start at 0, in the order of the first packets.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ConnectionId(pub u64);

/// The endpoints of a connection, and its interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Endpoints {
    /// [`Side::A`]: the one that opened the connection; if that was not captured, the one with the higher port.
    pub client: SocketAddr,
    /// [`Side::B`]: the other one.
    pub server: SocketAddr,
    /// The interface of the capture. A connection captured at two interfaces appears twice.
    pub interface: u32,
}

/// The endpoints in a canonical order, the same for both directions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Key {
    ports: u32,
    low: IpAddr,
    high: IpAddr,
    interface: u32,
}

/// Which endpoint of a [`Key`] sent a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sender {
    Low,
    High,
}

impl Key {
    #[inline]
    pub(super) fn new(addresses: Addresses, ports: Ports, interface: u32) -> (Self, Sender) {
        let (source, destination) = (addresses.source(), addresses.destination());
        let both = |low: u16, high: u16| u32::from(low) << 16 | u32::from(high);
        if (ports.source, source) <= (ports.destination, destination) {
            let ports = both(ports.source, ports.destination);
            (Self { ports, low: source, high: destination, interface }, Sender::Low)
        } else {
            let ports = both(ports.destination, ports.source);
            (Self { ports, low: destination, high: source, interface }, Sender::High)
        }
    }

    /// Which endpoint is the client, derived from the first captured segment.
    pub(super) const fn client(sender: Sender, flags: Flags) -> Sender {
        let syn = flags.has(Flags::SYN);
        match (syn, flags.has(Flags::ACK), sender) {
            (true, false, sender) => sender,
            (true, true, Sender::Low) => Sender::High,
            (true, true, Sender::High) => Sender::Low,
            // Servers usually have the lower port.
            (false, ..) => Sender::High,
        }
    }

    pub(super) fn endpoints(&self, client: Sender) -> Endpoints {
        let low = SocketAddr::new(self.low, (self.ports >> 16) as u16);
        let high = SocketAddr::new(self.high, self.ports as u16);
        let (client, server) = if client == Sender::Low { (low, high) } else { (high, low) };
        Endpoints { client, server, interface: self.interface }
    }
}

impl Sender {
    /// The side of this sender if `client` is the client.
    #[inline]
    pub(super) fn side(self, client: Self) -> Side {
        if self == client { Side::A } else { Side::B }
    }
}
