//! Fast Open as a host has it: what it knows of servers, what it asks of clients, and the calls that begin with data
//! (RFC 7413; Linux, net/ipv4/tcp_fastopen.c).

use crate::socket::{Role, Socket};
use crate::stack::Stack;
use crate::sysctl::number;
use netspurt_tcp::Connection;
use netspurt_tcp::fast_open::{Client, CookiePolicy, FastOpen, Form, Key, Server, SynData};
use netspurt_tcp::state::State;
use nix::errno::Errno;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::RawFd;

/// Bits of net.ipv4.tcp_fastopen (Documentation/networking/ip-sysctl.rst).
const CLIENT: u64 = 0x1;
const SERVER: u64 = 0x2;
const CLIENT_WITHOUT_COOKIE: u64 = 0x4;
const SERVER_WITHOUT_COOKIE: u64 = 0x200;
const EVERY_LISTENER: u64 = 0x400;

/// What a client knows of a server (`struct tcp_fastopen_metrics`).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Known {
    mss: Option<u16>,
    shown: Option<FastOpen>,
    /// The form that got no cookie: the next request tries the other one, once.
    failed: Option<Form>,
}

impl Known {
    /// What the next SYN says.
    fn option(&self) -> FastOpen {
        let form = if self.failed == Some(Form::Numbered) { Form::Experimental } else { Form::Numbered };
        self.shown.unwrap_or(FastOpen { form, cookie: None })
    }
}

/// The secrets of a server: sixteen octets each, the current one first.
pub(crate) type Keys = (Key, Option<Key>);

/// A key as TCP_FASTOPEN_KEY takes it: one or two of sixteen octets.
pub(crate) fn keys(octets: &[u8]) -> Result<Keys, Errno> {
    let (keys, rest) = octets.as_chunks::<16>();
    match (keys, rest) {
        (&[key], []) => Ok((Key(key), None)),
        (&[key, before], []) => Ok((Key(key), Some(Key(before)))),
        _ => Err(Errno::EINVAL),
    }
}

/// The keys of net.ipv4.tcp_fastopen_key: four words of hexadecimal digits each, little-endian.
fn read_keys(text: &str) -> Option<Keys> {
    let one = |text: &str| {
        let mut octets = Vec::new();
        for word in text.trim().split('-') {
            octets.extend(u32::from_str_radix(word, 16).ok()?.to_le_bytes());
        }
        octets.try_into().ok().map(Key)
    };
    let mut all = text.split(',');
    Some((one(all.next()?)?, all.next().and_then(one)))
}

impl Stack {
    /// net.ipv4.tcp_fastopen as it is now.
    fn fast_open_bits(&self) -> u64 {
        self.settings.root.as_ref().and_then(|root| number(root, "tcp_fastopen", 0)).unwrap_or(CLIENT)
    }

    /// Whether clients may use it.
    pub(crate) fn may_open_fast(&self) -> Result<(), Errno> {
        if self.fast_open_bits() & CLIENT > 0 { Ok(()) } else { Err(Errno::EOPNOTSUPP) }
    }

    /// Whether data could leave with a SYN to this server.
    pub(crate) fn may_carry_data(&self, to: Ipv4Addr) -> bool {
        let shows = |known: &Known| known.shown.is_some_and(|option| option.cookie.is_some());
        self.known.get(&to).is_some_and(shows) || self.fast_open_bits() & CLIENT_WITHOUT_COOKIE > 0
    }

    /// How many early connections a new listener takes.
    pub(crate) fn early_by_default(&self, backlog: usize) -> usize {
        if self.fast_open_bits() & EVERY_LISTENER > 0 { backlog.max(1) } else { 0 }
    }

    /// What a listener demands of a SYN from this address, `early` of its connections being open early already.
    pub(crate) fn server(
        &self,
        listener: &Socket,
        early: usize,
        local: Ipv4Addr,
        remote: Ipv4Addr,
    ) -> Server {
        let bits = self.fast_open_bits();
        let policy = match (bits & SERVER > 0 && early < listener.early, bits & SERVER_WITHOUT_COOKIE > 0) {
            (false, _) => CookiePolicy::Disabled,
            (true, true) => CookiePolicy::NotRequired,
            (true, false) => CookiePolicy::Required,
        };
        let root = self.settings.root.as_ref();
        let read = || read_keys(&std::fs::read_to_string(root?.join("tcp_fastopen_key")).ok()?);
        let (key, before) = listener.keys.or_else(read).unwrap_or((Key([0; 16]), None));
        let cookie = |key: Key| key.cookie(remote.into(), local.into());
        Server { policy, cookie: cookie(key), previous: before.map(cookie) }
    }

    /// Opens a connection whose SYN asks for a cookie, or carries as much of `len` bytes as it may; how many those are.
    pub(crate) fn begin_fast(&mut self, fd: RawFd, to: SocketAddrV4, len: u64) -> Result<u64, Errno> {
        let id = self.id(fd)?;
        let known = self.known.get(to.ip()).copied().unwrap_or_default();
        let without = self.fast_open_bits() & CLIENT_WITHOUT_COOKIE > 0;
        let client = Client {
            option: (!without).then(|| known.option()),
            mss: known.mss.unwrap_or(self.settings.config.mss),
        };
        let now = self.now;
        self.make_stream(fd, to)?;
        let stream = self.socket(fd)?.stream_mut().ok_or(Errno::EINVAL)?;
        stream.open_fast(now, client);
        let room = u64::from(stream.syn_room_for(len));
        // What is written before the SYN leaves goes with it.
        let taken = if room > 0 { stream.write(now, room).map_err(|_| Errno::EPIPE)? } else { 0 };
        self.settle(id);
        Ok(taken)
    }

    /// What a call does that may begin a connection: how many bytes left with the SYN, if one left.
    pub(crate) fn begin_write(
        &mut self,
        fd: RawFd,
        to: Option<SocketAddrV4>,
        len: u64,
        flags: i32,
    ) -> Result<Option<u64>, Errno> {
        let socket = self.look(fd)?;
        match &socket.role {
            Role::Fresh if socket.deferred => {
                let to = socket.remote.ok_or(Errno::EINVAL)?;
                self.begin_fast(fd, to, len).map(Some)
            }
            _ if flags & libc::MSG_FASTOPEN == 0 => Ok(None),
            Role::Fresh => self.begin_fast(fd, to.ok_or(Errno::EINVAL)?, len).map(Some),
            Role::Stream(stream) if stream.state() == State::SynSent => Err(Errno::EALREADY),
            Role::Stream(_) | Role::Listening { .. } => Ok(None),
        }
    }

    /// Queues what the SYN did not take.
    pub(crate) fn queue_behind_syn(&mut self, fd: RawFd, len: u64) -> Result<u64, Errno> {
        let now = self.now;
        let stream = self.socket(fd)?.stream_mut().ok_or(Errno::EINVAL)?;
        if len == 0 || stream.state() != State::SynSent {
            return Ok(0);
        }
        stream.write(now, len).map_err(|_| Errno::EPIPE)
    }

    /// Waits until the connection is open, or is not going to be.
    pub(crate) fn wait_open(&mut self, fd: RawFd) -> Result<(), Errno> {
        let socket = self.socket(fd)?;
        if let Some(error) = socket.error.take() {
            return Err(error);
        }
        if socket.is_open() { Ok(()) } else { Err(Errno::EAGAIN) }
    }

    /// A client's connection has heard the server: what is to be remembered of it.
    pub(crate) fn remember_server(&mut self, id: crate::socket::Id) {
        let Some(socket) = self.sockets.get_mut(&id) else { return };
        let (Some(remote), Role::Stream(stream)) = (socket.remote, &socket.role) else { return };
        let Some(outcome) = stream.fast_open() else { return };
        if socket.fast_told || socket.passive || matches!(stream.state(), State::SynSent | State::Closed) {
            return;
        }
        socket.fast_told = true;
        let timed_out = stream.stats().timeouts > 0;
        let known = self.known.entry(*remote.ip()).or_default();
        known.mss = Some(outcome.mss);
        let asked = known.option();
        match outcome.peer_option.filter(|_| outcome.option_sent) {
            Some(heard @ FastOpen { cookie: Some(_), .. }) => known.shown = Some(heard),
            _ if !timed_out && outcome.data == SynData::None && asked.cookie.is_none() => {
                known.failed = Some(if known.failed.is_some() { Form::Experimental } else { Form::Numbered });
            }
            _ => {}
        }
    }
}

/// Whether the SYN's data was taken whole, as TCP_INFO tells (TCPI_OPT_SYN_DATA).
pub(crate) fn syn_data_taken(stream: &Connection) -> bool {
    stream.fast_open().is_some_and(|outcome| outcome.data == SynData::Accepted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_as_the_kernel_writes_them() {
        let text = "01020304-05060708-090a0b0c-0d0e0f10,ffffffff-00000000-00000000-00000000\n";
        let (key, before) = read_keys(text).unwrap();
        assert_eq!(key.0, [4, 3, 2, 1, 8, 7, 6, 5, 12, 11, 10, 9, 16, 15, 14, 13]);
        assert_eq!(before.unwrap().0[..4], [255; 4]);
        assert!(read_keys("1-2-3").is_none());
        assert_eq!(keys(&[0; 15]), Err(Errno::EINVAL));
        let cookie = key.cookie([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
        assert_ne!(cookie, key.cookie([10, 0, 0, 2].into(), [10, 0, 0, 1].into()));
    }
}
