//! Interfaces, addresses and routes of the calling thread's network namespace, by netlink (rtnetlink(7)).

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE, NLM_F_REQUEST, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::address::{AddressAttribute, AddressHeaderFlags, AddressMessage, AddressScope};
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkMessage};
use netlink_packet_route::route::{
    RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use nix::errno::Errno;
use nix::net::if_::if_nametoindex;
use nix::sys::socket::{
    AddressFamily as Domain, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, connect, recv, send,
    socket,
};
use std::net::IpAddr;
use std::os::fd::{AsRawFd as _, OwnedFd};

/// Longer than any answer to one request.
const ANSWER: usize = 1 << 16;

/// What could not be done, and what the system said.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{task} failed: {why}")]
pub struct LinkError {
    /// What was to be done.
    pub task: String,
    /// What the system said.
    pub errno: Errno,
    why: String,
}

impl LinkError {
    fn new(task: impl Into<String>, errno: Errno) -> Self {
        let why = match errno {
            Errno::EPERM | Errno::EACCES => "this needs root or the capability cap_net_admin".to_owned(),
            Errno::ENODEV => "no such interface".to_owned(),
            _ => errno.desc().to_lowercase(),
        };
        Self { task: task.into(), errno, why }
    }
}

/// A network: an address and how many of its first bits are the network's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Network {
    /// The address.
    pub address: IpAddr,
    /// Bits of the network.
    pub bits: u8,
}

impl Network {
    /// Everything of one family.
    pub const fn any(v6: bool) -> Self {
        let address = if v6 {
            IpAddr::V6(std::net::Ipv6Addr::UNSPECIFIED)
        } else {
            IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED)
        };
        Self { address, bits: 0 }
    }

    /// Whether an address is everybody's in this network: all its other bits are ones, or, as it was once, zeros (RFC 1122,
    /// section 3.3.6). A network of two has no such address (RFC 3021).
    pub fn is_broadcast(&self, address: IpAddr) -> bool {
        let (IpAddr::V4(own), IpAddr::V4(other)) = (self.address, address) else { return false };
        let rest = u32::MAX.checked_shr(self.bits.into()).unwrap_or(0);
        let (own, other) = (own.to_bits(), other.to_bits());
        self.bits < 31 && own & !rest == other & !rest && (other & rest == rest || other & rest == 0)
    }

    /// Bits of an address of this family.
    const fn width(address: IpAddr) -> u8 {
        if address.is_ipv6() { 128 } else { 32 }
    }
}

/// Not an address with a length.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("\"{0}\" is not an address with a prefix length, such as 10.0.0.1/24 or fd00::1/64")]
pub struct NetworkError(String);

impl core::str::FromStr for Network {
    type Err = NetworkError;

    /// `10.0.0.1/24`; without a length, the address alone.
    fn from_str(text: &str) -> Result<Self, NetworkError> {
        let wrong = || NetworkError(text.to_owned());
        let (address, bits) =
            text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let width = Self::width(address);
        let bits = bits.map_or(Ok(width), |bits| bits.parse().map_err(|_| wrong()))?;
        if bits > width { Err(wrong()) } else { Ok(Self { address, bits }) }
    }
}

impl core::fmt::Display for Network {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

/// A route.
#[derive(Clone, Debug)]
pub struct Route {
    /// Where to.
    pub to: Network,
    /// The next router, if it is not behind the interface itself.
    pub via: Option<IpAddr>,
    /// What the kernel's TCP shall believe of it, such as [`RouteMetric::InitCwnd`].
    pub metrics: Vec<RouteMetric>,
}

/// A way to change interfaces, addresses and routes of the namespace in which it was opened.
#[derive(Debug)]
pub struct Links {
    fd: OwnedFd,
}

impl Links {
    /// In the network namespace of this thread.
    pub fn open() -> Result<Self, LinkError> {
        let made = || {
            let fd =
                socket(Domain::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::NetlinkRoute)?;
            connect(fd.as_raw_fd(), &NetlinkAddr::new(0, 0))?;
            Ok(Self { fd })
        };
        made().map_err(|errno| LinkError::new("opening netlink", errno))
    }

    /// The number of an interface, by name, in the namespace of this *thread*.
    pub fn index(name: &str) -> Result<u32, LinkError> {
        if_nametoindex(name)
            .map_err(|errno| LinkError::new(format!("looking for the interface {name}"), errno))
    }

    /// Brings an interface up.
    pub fn set_up(&self, index: u32) -> Result<(), LinkError> {
        let mut message = LinkMessage::default();
        (message.header.flags, message.header.change_mask) = (LinkFlags::Up, LinkFlags::Up);
        self.set_link(index, message, "bringing an interface up")
    }

    /// Sets the longest packet of an interface.
    pub fn set_mtu(&self, index: u32, mtu: u32) -> Result<(), LinkError> {
        let mut message = LinkMessage::default();
        message.attributes.push(LinkAttribute::Mtu(mtu));
        self.set_link(index, message, &format!("setting the MTU {mtu}"))
    }

    /// Sets how many packets an interface holds that nobody has read. The rest is dropped.
    pub fn set_queue(&self, index: u32, packets: u32) -> Result<(), LinkError> {
        let mut message = LinkMessage::default();
        message.attributes.push(LinkAttribute::TxQueueLen(packets));
        self.set_link(index, message, &format!("setting a queue of {packets} packets"))
    }

    fn set_link(&self, index: u32, mut message: LinkMessage, task: &str) -> Result<(), LinkError> {
        message.header.index = index;
        self.ask(RouteNetlinkMessage::SetLink(message), 0, task).map(|_| ())
    }

    /// The longest packet of an interface.
    pub fn mtu(&self, index: u32) -> Result<u32, LinkError> {
        let mut message = LinkMessage::default();
        message.header.index = index;
        let task = "asking for an MTU";
        let answer = self.ask(RouteNetlinkMessage::GetLink(message), 0, task)?;
        let Some(RouteNetlinkMessage::NewLink(link)) = answer else {
            return Err(LinkError::new(task, Errno::EPROTO));
        };
        let mtu = link.attributes.iter().find_map(|attribute| match attribute {
            LinkAttribute::Mtu(mtu) => Some(*mtu),
            _ => None,
        });
        mtu.ok_or_else(|| LinkError::new(task, Errno::EPROTO))
    }

    /// Gives an interface an address; the network is reached through it.
    pub fn add_address(&self, index: u32, network: Network) -> Result<(), LinkError> {
        let mut message = AddressMessage::default();
        message.header.index = index;
        message.header.prefix_len = network.bits;
        message.header.scope = AddressScope::Universe;
        message.header.family = family(network.address);
        // Nobody else can have it on a device of ours: no time is spent on asking (RFC 4862, section 5.4).
        message.header.flags = AddressHeaderFlags::Nodad;
        message.attributes =
            vec![AddressAttribute::Local(network.address), AddressAttribute::Address(network.address)];
        let how = NLM_F_CREATE | NLM_F_EXCL;
        self.ask(RouteNetlinkMessage::NewAddress(message), how, &format!("adding the address {network}"))
            .map(|_| ())
    }

    /// Adds a route through an interface, or puts it in place of one to the same network.
    pub fn set_route(&self, index: u32, route: &Route) -> Result<(), LinkError> {
        let mut message = RouteMessage::default();
        message.header.address_family = family(route.to.address);
        message.header.destination_prefix_length = route.to.bits;
        message.header.table = RouteHeader::RT_TABLE_MAIN;
        message.header.protocol = RouteProtocol::Static;
        message.header.kind = RouteType::Unicast;
        message.header.scope = if route.via.is_some() { RouteScope::Universe } else { RouteScope::Link };
        message.attributes.push(RouteAttribute::Oif(index));
        if route.to.bits > 0 {
            message.attributes.push(RouteAttribute::Destination(route.to.address.into()));
        }
        if let Some(via) = route.via {
            message.attributes.push(RouteAttribute::Gateway(via.into()));
        }
        if !route.metrics.is_empty() {
            message.attributes.push(RouteAttribute::Metrics(route.metrics.clone()));
        }
        let how = NLM_F_CREATE | NLM_F_REPLACE;
        self.ask(RouteNetlinkMessage::NewRoute(message), how, &format!("adding a route to {}", route.to))
            .map(|_| ())
    }

    /// One request and its answer: an acknowledgment, which is `None`, or a message.
    fn ask(
        &self,
        request: RouteNetlinkMessage,
        flags: u16,
        task: &str,
    ) -> Result<Option<RouteNetlinkMessage>, LinkError> {
        let acknowledged = if matches!(request, RouteNetlinkMessage::GetLink(_)) { 0 } else { NLM_F_ACK };
        let mut message = NetlinkMessage::from(request);
        message.header.flags = NLM_F_REQUEST | acknowledged | flags;
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        let failed = |errno| LinkError::new(task, errno);
        send(self.fd.as_raw_fd(), &bytes, MsgFlags::empty()).map_err(failed)?;
        let mut answer = vec![0; ANSWER];
        let len = recv(self.fd.as_raw_fd(), &mut answer, MsgFlags::empty()).map_err(failed)?;
        let answer = NetlinkMessage::<RouteNetlinkMessage>::deserialize(&answer[..len]);
        match answer.map_err(|_| failed(Errno::EPROTO))?.payload {
            NetlinkPayload::Error(error) => match error.code {
                None => Ok(None),
                Some(code) => Err(failed(Errno::from_raw(-code.get()))),
            },
            NetlinkPayload::InnerMessage(message) => Ok(Some(message)),
            _ => Err(failed(Errno::EPROTO)),
        }
    }
}

fn family(address: IpAddr) -> AddressFamily {
    if address.is_ipv6() { AddressFamily::Inet6 } else { AddressFamily::Inet }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_are_read_as_they_are_written() {
        for text in ["10.0.0.1/24", "fd00::1/64", "0.0.0.0/0"] {
            assert_eq!(text.parse::<Network>().expect("a network").to_string(), text);
        }
        assert_eq!("10.0.0.1".parse::<Network>().expect("an address").bits, 32);
        for wrong in ["10.0.0.1/33", "10.0.0/8", "fd00::1/129", "fd00::1/", "host/8"] {
            let said = wrong.parse::<Network>().expect_err(wrong).to_string();
            assert!(said.contains(wrong) && said.contains("10.0.0.1/24"), "{said}");
        }
    }

    #[test]
    fn the_first_and_the_last_address_of_a_network_are_everybodys() {
        let network = |text: &str| text.parse::<Network>().expect("a network");
        let is = |text: &str, address: &str| network(text).is_broadcast(address.parse().expect("an address"));
        assert!(is("10.0.0.2/24", "10.0.0.255") && is("10.0.0.2/24", "10.0.0.0"));
        assert!(!is("10.0.0.2/24", "10.0.0.254") && !is("10.0.0.2/24", "10.0.1.255"));
        assert!(
            !is("10.0.0.2/31", "10.0.0.3")
                && !is("10.0.0.2/32", "10.0.0.2")
                && is("1.2.3.4/0", "255.255.255.255")
        );
        assert!(!is("fd00::1/64", "fd00::"));
    }

    #[test]
    fn an_interface_that_is_not_there_is_named() {
        let said = Links::index("no-such-device0").expect_err("there is none").to_string();
        assert_eq!(said, "looking for the interface no-such-device0 failed: no such interface");
    }
}
