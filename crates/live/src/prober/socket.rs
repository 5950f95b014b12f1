//! ICMP sockets: the kernel's ping sockets, which need no privilege where the system permits them, or raw sockets.

use super::clock::Moment;
use super::echo::{Family, behind_ipv4};
use super::ledger::ReceiveTime;
use netspurt_trace::Stamp;
use nix::cmsg_space;
use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, ControlMessageOwned, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrStorage, recvmsg,
    sendto, setsockopt, socket, sockopt,
};
use nix::sys::time::TimeSpec;
use std::io::IoSliceMut;
use std::net::{IpAddr, SocketAddr};
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};

/// Size of the receive buffer.
const BUFFER: usize = 4 << 20;
/// Maximum of consecutive invalid messages that are skipped.
const PASSED_OVER: usize = 64;

/// The kind of a socket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The kernel's ping socket, which receives replies to its own requests only.
    Ping,
    /// A raw socket, which receives a copy of every ICMP message.
    Raw,
}

impl Kind {
    /// The name used in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ping => "ping",
            Self::Raw => "raw",
        }
    }
}

/// No socket of a family can be opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Denied {
    /// Which family.
    pub family: Family,
    /// The error of a ping socket.
    pub ping: Errno,
    /// The error of a raw socket.
    pub raw: Errno,
}

impl core::fmt::Display for Denied {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let version = match self.family {
            Family::V4 => "IPv4",
            Family::V6 => "IPv6",
        };
        if [self.ping, self.raw].iter().any(|errno| matches!(errno, Errno::EACCES | Errno::EPERM)) {
            return write!(
                f,
                "this user may not send ICMP echo over {version}: let an administrator allow it to every group \
                 (sysctl net.ipv4.ping_group_range='0 2147483647'), or run this as root or with the capability \
                 cap_net_raw"
            );
        }
        write!(f, "this system has no ICMP sockets for {version} ({})", self.ping.desc().to_lowercase())
    }
}

impl core::error::Error for Denied {}

/// A socket for one address family.
#[derive(Debug)]
pub(super) struct Socket {
    fd: OwnedFd,
    pub(super) family: Family,
    pub(super) kind: Kind,
}

/// A received message.
#[derive(Debug)]
pub(super) struct Arrived<'a> {
    /// The ICMP message; for an error, the quoted message.
    pub(super) message: &'a [u8],
    /// Its source; for an error, the destination of the quoted message.
    pub(super) address: IpAddr,
    pub(super) received: ReceiveTime,
    pub(super) error: Option<IcmpReport>,
}

/// An ICMP error, as the kernel reports it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct IcmpReport {
    pub(super) icmp: (u8, u8),
    pub(super) from: Option<IpAddr>,
}

/// The queue to read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Queue {
    Messages,
    Errors,
}

impl Socket {
    /// Opens a ping socket, or else a raw one.
    pub(super) fn open(family: Family) -> Result<Self, Denied> {
        let (domain, protocol) = match family {
            Family::V4 => (AddressFamily::Inet, SockProtocol::Icmp),
            Family::V6 => (AddressFamily::Inet6, SockProtocol::IcmpV6),
        };
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let make = |kind, ty| {
            let fd = socket(domain, ty, flags, protocol)?;
            let socket = Self { fd, family, kind };
            socket.prepare()?;
            Ok(socket)
        };
        make(Kind::Ping, SockType::Datagram)
            .or_else(|ping| make(Kind::Raw, SockType::Raw).map_err(|raw| Denied { family, ping, raw }))
    }

    fn prepare(&self) -> Result<(), Errno> {
        setsockopt(&self.fd, sockopt::ReceiveTimestampns, &true)?;
        match self.family {
            Family::V4 => setsockopt(&self.fd, sockopt::Ipv4RecvErr, &true)?,
            Family::V6 => setsockopt(&self.fd, sockopt::Ipv6RecvErr, &true)?,
        }
        // A smaller buffer only loses replies if thousands arrive at once.
        setsockopt(&self.fd, sockopt::RcvBuf, &BUFFER)
    }

    /// Sends a message.
    ///
    /// This call may return the error of an earlier packet. That error is also in the error queue, so a second attempt
    /// shows whether this packet can be sent.
    pub(super) fn send(&self, message: &[u8], to: SocketAddr) -> Result<(), Errno> {
        let to = SockaddrStorage::from(to);
        let once = || sendto(self.fd.as_raw_fd(), message, &to, MsgFlags::empty()).map(|_| ());
        once().or_else(|_| once())
    }

    /// The next message in a queue. Invalid messages are skipped.
    pub(super) fn receive<'b>(&self, queue: Queue, buffer: &'b mut [u8]) -> Option<Arrived<'b>> {
        for _ in 0..PASSED_OVER {
            match self.receive_once(queue, buffer) {
                Ok(Some((range, address, received, error))) => {
                    return Some(Arrived { message: &buffer[range], address, received, error });
                }
                Ok(None) => {}
                Err(Errno::EAGAIN) => break,
                // An ICMP error, which is also in its own queue, or a signal.
                Err(_) => {}
            }
        }
        None
    }

    fn receive_once(&self, queue: Queue, buffer: &mut [u8]) -> Result<Option<Found>, Errno> {
        let flags = match queue {
            Queue::Messages => MsgFlags::empty(),
            Queue::Errors => MsgFlags::MSG_ERRQUEUE,
        };
        let mut room = cmsg_space!(TimeSpec, [u64; 8]);
        let mut into = [IoSliceMut::new(buffer)];
        let message = recvmsg::<SockaddrStorage>(self.fd.as_raw_fd(), &mut into, Some(&mut room), flags)?;
        let mut kernel = None;
        let mut error = None;
        for control in message.cmsgs().into_iter().flatten() {
            match control {
                ControlMessageOwned::ScmTimestampns(time) => kernel = stamp(time),
                ControlMessageOwned::Ipv4RecvErr(report, from) => {
                    let from = from.map(|from| IpAddr::V4(u32::from_be(from.sin_addr.s_addr).into()));
                    error = icmp_report(&report, from);
                }
                ControlMessageOwned::Ipv6RecvErr(report, from) => {
                    error = icmp_report(&report, from.map(|from| IpAddr::V6(from.sin6_addr.s6_addr.into())));
                }
                _ => {}
            }
        }
        let received = ReceiveTime { kernel, now: Moment::now() };
        let (len, address) = (message.bytes, message.address.as_ref().and_then(ip));
        let with_header = (self.kind, self.family, queue) == (Kind::Raw, Family::V4, Queue::Messages);
        let start = if with_header { len - behind_ipv4(&buffer[..len]).map_or(0, <[u8]>::len) } else { 0 };
        let wanted = queue == Queue::Messages || error.is_some();
        Ok(address.filter(|_| wanted).map(|address| (start..len, address, received, error)))
    }
}

/// The range of a message in the buffer, and its properties.
type Found = (Range<usize>, IpAddr, ReceiveTime, Option<IcmpReport>);

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Parses an ICMP error. Local errors were already returned when the packet was sent.
fn icmp_report(report: &libc::sock_extended_err, from: Option<IpAddr>) -> Option<IcmpReport> {
    let by_icmp = matches!(report.ee_origin, libc::SO_EE_ORIGIN_ICMP | libc::SO_EE_ORIGIN_ICMP6);
    by_icmp.then_some(IcmpReport { icmp: (report.ee_type, report.ee_code), from })
}

fn stamp(time: TimeSpec) -> Option<Stamp> {
    let seconds = u64::try_from(time.tv_sec()).ok()?;
    let nanoseconds = u64::try_from(time.tv_nsec()).ok()?;
    Some(Stamp(seconds.checked_mul(1_000_000_000)?.checked_add(nanoseconds)?))
}

fn ip(address: &SockaddrStorage) -> Option<IpAddr> {
    address
        .as_sockaddr_in()
        .map(|v4| IpAddr::V4(v4.ip()))
        .or_else(|| address.as_sockaddr_in6().map(|v6| IpAddr::V6(v6.ip())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_permission_is_reported_with_both_remedies() {
        let words = Denied { family: Family::V4, ping: Errno::EACCES, raw: Errno::EPERM }.to_string();
        assert!(words.contains("ping_group_range") && words.contains("cap_net_raw"), "{words}");
        assert_eq!(words.matches(['.', '\n']).count(), 2, "only in the sysctl's name: {words}");
    }

    #[test]
    fn a_system_without_ipv6_is_reported() {
        let none = Errno::EAFNOSUPPORT;
        let words = Denied { family: Family::V6, ping: none, raw: none }.to_string();
        assert!(words.starts_with("this system has no ICMP sockets for IPv6 ("), "{words}");
    }
}
