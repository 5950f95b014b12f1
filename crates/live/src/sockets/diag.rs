//! Asks the kernel for all TCP sockets of a network namespace (sock_diag(7)). No privilege is needed.

use super::message::{Bytes, Messages};
use super::socket::{STATES, Socket, WANTED};
use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, connect, recv, send, socket,
};
use std::os::fd::{AsRawFd as _, OwnedFd};

/// The kernel fills at most 32 KiB at once.
const BUFFER: usize = 1 << 16;
/// Length of the header of a message.
const HEADER: usize = 16;
/// Lengths of `struct inet_diag_req_v2` and of the older `struct inet_diag_req`.
const BY_FAMILY: usize = 56;
const OF_ALL: usize = 60;

const SOCK_DIAG_BY_FAMILY: u16 = 20;
/// The older request. It lists both families in one walk through the kernel's table, which costs half as much.
const TCPDIAG_GETSOCK: u16 = 18;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
/// `NLM_F_REQUEST`, and `NLM_F_DUMP` for all sockets.
const FLAGS: u16 = 0x001 | 0x300;

/// A netlink socket, for the namespace in which it was opened.
#[derive(Debug)]
pub(crate) struct Diag {
    fd: OwnedFd,
    buffer: Vec<u8>,
    sequence: u32,
    /// Whether the kernel knows the request for both families.
    both: bool,
}

impl Diag {
    /// Opens it in the network namespace of this thread.
    pub(crate) fn open() -> Result<Self, Errno> {
        let protocol = SockProtocol::NetlinkSockDiag;
        let fd = socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, protocol)?;
        connect(fd.as_raw_fd(), &NetlinkAddr::new(0, 0))?;
        Ok(Self { fd, buffer: vec![0; BUFFER], sequence: 0, both: true })
    }

    /// Passes each socket of IPv4 and IPv6 to a function. Those that listen and those in TIME-WAIT are left out.
    pub(crate) fn dump(&mut self, mut each: impl FnMut(Socket)) -> Result<(), Errno> {
        if self.both {
            match self.ask(Request::Both, &mut each) {
                Err(_) => self.both = false,
                Ok(()) => return Ok(()),
            }
        }
        self.ask(Request::Family(libc::AF_INET), &mut each)?;
        match self.ask(Request::Family(libc::AF_INET6), &mut each) {
            // A kernel without IPv6.
            Err(Errno::ENOENT) => Ok(()),
            other => other,
        }
    }

    fn ask(&mut self, request: Request, each: &mut impl FnMut(Socket)) -> Result<(), Errno> {
        self.sequence = self.sequence.wrapping_add(1);
        send(self.fd.as_raw_fd(), &request.bytes(self.sequence), MsgFlags::empty())?;
        loop {
            let length = match recv(self.fd.as_raw_fd(), &mut self.buffer, MsgFlags::empty()) {
                Err(Errno::EINTR) => continue,
                other => other?,
            };
            let mut messages = Messages(&self.buffer[..length.min(BUFFER)]);
            if read(&mut messages, self.sequence, each)? {
                return Ok(());
            }
        }
    }
}

/// Reads the messages of a datagram. Returns whether the last one was among them.
fn read(messages: &mut Messages<'_>, sequence: u32, each: &mut impl FnMut(Socket)) -> Result<bool, Errno> {
    for message in messages.filter(|message| message.sequence == sequence) {
        match message.kind {
            SOCK_DIAG_BY_FAMILY | TCPDIAG_GETSOCK => {
                if let Some(socket) = Socket::parse(message.payload) {
                    each(socket);
                }
            }
            NLMSG_DONE | NLMSG_ERROR => {
                let code = Bytes(message.payload).u32(0).unwrap_or(0).cast_signed();
                return if code < 0 { Err(Errno::from_raw(code.saturating_neg())) } else { Ok(true) };
            }
            _ => {}
        }
    }
    Ok(false)
}

/// The sockets that a dump requests of the kernel.
#[derive(Clone, Copy, Debug)]
enum Request {
    /// The sockets of both families.
    Both,
    /// Those of one.
    Family(libc::c_int),
}

impl Request {
    fn bytes(self, sequence: u32) -> Vec<u8> {
        let (kind, length) = match self {
            Self::Both => (TCPDIAG_GETSOCK, HEADER + OF_ALL),
            Self::Family(_) => (SOCK_DIAG_BY_FAMILY, HEADER + BY_FAMILY),
        };
        let mut bytes = vec![0; length];
        bytes[..4].copy_from_slice(&(length as u32).to_ne_bytes());
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes[6..8].copy_from_slice(&FLAGS.to_ne_bytes());
        bytes[8..12].copy_from_slice(&sequence.to_ne_bytes());
        let body = &mut bytes[HEADER..];
        match self {
            Self::Both => {
                body[3] = WANTED;
                body[52..56].copy_from_slice(&STATES.to_ne_bytes());
            }
            Self::Family(family) => {
                (body[0], body[1], body[2]) = (family as u8, libc::IPPROTO_TCP as u8, WANTED);
                body[4..8].copy_from_slice(&STATES.to_ne_bytes());
            }
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sockets::socket::tests::message;

    fn framed(kind: u16, sequence: u32, payload: &[u8]) -> Vec<u8> {
        let mut bytes = (16 + payload.len() as u32).to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend([2, 0]);
        bytes.extend(sequence.to_ne_bytes());
        bytes.extend([0; 4]);
        bytes.extend(payload);
        bytes
    }

    fn count(bytes: &[u8]) -> (Result<bool, Errno>, usize) {
        let mut sockets = 0;
        (read(&mut Messages(bytes), 5, &mut |_| sockets += 1), sockets)
    }

    #[test]
    fn both_requests_list_the_same_sockets() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let place = listener.local_addr().expect("an address");
        let _client = std::net::TcpStream::connect(place).expect("a connection");
        let mut diag = Diag::open().expect("netlink");
        let mut ours = |both| {
            diag.both = both;
            let mut cookies = Vec::new();
            diag.dump(|socket| {
                if socket.local == place || socket.remote == place {
                    cookies.push(socket.cookie);
                }
            })
            .expect("a list");
            cookies.sort_unstable();
            cookies
        };
        let (one, two) = (ours(true), ours(false));
        assert_eq!(one.len(), 2);
        assert_eq!(one, two);
    }

    #[test]
    fn a_dump_ends_with_its_last_message() {
        let socket = framed(SOCK_DIAG_BY_FAMILY, 5, &message(&[(2, &[0; 248])]));
        let last = framed(NLMSG_DONE, 5, &[0; 4]);
        assert_eq!(count(&[&*socket, &*socket].concat()), (Ok(false), 2));
        assert_eq!(count(&[&*socket, &*last].concat()), (Ok(true), 1));
    }

    #[test]
    fn an_error_is_returned_and_other_answers_are_ignored() {
        let error = framed(NLMSG_ERROR, 5, &(-libc::ENOENT).to_ne_bytes());
        assert_eq!(count(&error), (Err(Errno::ENOENT), 0));
        let other = framed(NLMSG_ERROR, 4, &(-libc::ENOENT).to_ne_bytes());
        assert_eq!(count(&other), (Ok(false), 0));
        assert_eq!(count(&framed(NLMSG_ERROR, 5, &i32::MIN.to_ne_bytes())).1, 0);
    }
}
