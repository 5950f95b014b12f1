//! The socket options that this adapter stores itself, because [`netspurt_tcp::Connection`] does not.

use netspurt_tcp::Behind;
use netspurt_tcp::congestion;
use netspurt_tcp::time::Span;
use netspurt_tcp::transmit::Transmit;
use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};

/// The address family of a socket. Addresses inside the stack are never mapped ones: one of `::ffff:0:0/96` is IPv4.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Family {
    /// AF_INET.
    V4,
    /// AF_INET6, which also carries IPv4 (RFC 3493, section 3.7).
    V6,
}

impl Family {
    /// An address as calls of this family return it: an IPv6 socket returns IPv4 as a mapped address.
    pub(crate) fn shown(self, address: SocketAddr) -> SocketAddr {
        match (self, address.ip()) {
            (Self::V6, IpAddr::V4(ip)) => SocketAddr::new(ip.to_ipv6_mapped().into(), address.port()),
            _ => address,
        }
    }
}

/// An option that is either on or off.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Switch {
    /// SO_REUSEADDR.
    ReuseAddress,
    /// SO_KEEPALIVE.
    KeepAlive,
    /// TCP_NODELAY.
    NoDelay,
    /// TCP_CORK.
    Cork,
    /// TCP_INQ: `recvmsg` returns the number of bytes left to read.
    Inq,
    /// SO_ZEROCOPY: MSG_ZEROCOPY is heeded.
    ZeroCopy,
    /// TCP_FASTOPEN_CONNECT: the first write sends the SYN.
    FastOpenConnect,
}

/// Whether a call waits until it can succeed (O_NONBLOCK).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BlockingMode {
    Blocking,
    Nonblocking,
}

/// Whether routers may fragment packets (IP_MTU_DISCOVER).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fragmentation {
    Allowed,
    Forbidden,
}

/// The stored options of a socket.
#[derive(Clone, Debug)]
pub(crate) struct SocketOptions {
    /// The switches that are on.
    switches: BTreeSet<Switch>,
    pub(crate) blocking: BlockingMode,
    pub(crate) fragmentation: Fragmentation,
    /// What follows the last write: more data if it had MSG_MORE.
    pub(crate) after_write: Behind,
    /// SO_SNDBUF as `getsockopt` returns it: Linux doubles the value that was set.
    pub(crate) send_buffer: Option<u32>,
    /// SO_RCVBUF as `getsockopt` returns it.
    pub(crate) receive_buffer: Option<u32>,
    pub(crate) max_segment: Option<u16>,
    pub(crate) user_timeout: Option<Span>,
    pub(crate) syn_retries: Option<u8>,
    pub(crate) linger: Option<Span>,
    /// TCP_CONGESTION.
    pub(crate) congestion: Option<congestion::Kind>,
    /// The limit of unsent bytes: TCP_NOTSENT_LOWAT, or its sysctl.
    pub(crate) not_sent_low: u32,
    /// TCP_NOTSENT_LOWAT as `getsockopt` returns it; zero if it was not set.
    pub(crate) not_sent_set: u32,
    pub(crate) type_of_service: u8,
}

impl SocketOptions {
    pub(crate) fn new(not_sent_low: u32) -> Self {
        Self {
            switches: BTreeSet::new(),
            blocking: BlockingMode::Blocking,
            fragmentation: Fragmentation::Forbidden,
            after_write: Behind::Nothing,
            send_buffer: None,
            receive_buffer: None,
            max_segment: None,
            user_timeout: None,
            syn_retries: None,
            linger: None,
            congestion: None,
            not_sent_low,
            not_sent_set: 0,
            type_of_service: 0,
        }
    }

    /// Whether a switch is on.
    pub(crate) fn is_on(&self, switch: Switch) -> bool {
        self.switches.contains(&switch)
    }

    /// Sets a switch from the number that `setsockopt` got: on unless it is zero.
    pub(crate) fn set(&mut self, switch: Switch, value: i32) {
        if value == 0 {
            self.switches.remove(&switch);
        } else {
            self.switches.insert(switch);
        }
    }

    /// Whether calls return EAGAIN instead of waiting.
    pub(crate) fn is_nonblocking(&self) -> bool {
        self.blocking == BlockingMode::Nonblocking
    }

    /// The transmission policy. TCP_CORK and MSG_MORE take precedence over TCP_NODELAY, and all three over `default`.
    pub(crate) fn transmit(&self, default: Transmit) -> Transmit {
        if self.is_on(Switch::Cork) || self.after_write == Behind::More {
            Transmit::Cork
        } else if self.is_on(Switch::NoDelay) {
            Transmit::NoDelay
        } else {
            default
        }
    }
}
