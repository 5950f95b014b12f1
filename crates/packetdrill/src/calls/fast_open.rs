//! The calls that open connections with TCP Fast Open (RFC 7413; Linux, net/ipv4/tcp_fastopen.c).

use crate::socket::{ConnectPhase, Role};
use crate::stack::Stack;
use crate::sysctl::FastOpenBits;
use netspurt_tcp::fast_open::Client;
use netspurt_tcp::state::State;
use nix::errno::Errno;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::RawFd;

impl Stack {
    /// Fails if clients must not use Fast Open.
    pub(crate) fn check_fast_open(&self) -> Result<(), Errno> {
        if self.settings.fast_open(FastOpenBits::CLIENT) { Ok(()) } else { Err(Errno::EOPNOTSUPP) }
    }

    /// Whether a SYN to this server may carry data.
    pub(crate) fn may_carry_data(&self, to: IpAddr) -> bool {
        self.fast_open_cache.has_cookie(to) || self.settings.fast_open(FastOpenBits::CLIENT_WITHOUT_COOKIE)
    }

    /// Opens a connection with Fast Open. The SYN requests a cookie, or carries at most `len` bytes of data. Returns the
    /// number of
    /// bytes on the SYN.
    pub(crate) fn open_fast(&mut self, fd: RawFd, to: SocketAddr, len: u64) -> Result<u64, Errno> {
        let id = self.id(fd)?;
        let server = self.fast_open_cache.get(to.ip());
        let without = self.settings.fast_open(FastOpenBits::CLIENT_WITHOUT_COOKIE);
        let client = Client {
            option: (!without).then(|| server.option()),
            mss: server.mss.unwrap_or(self.settings.config.mss),
        };
        let now = self.now;
        self.make_stream(fd, to)?;
        let stream = self.socket_mut(fd)?.stream_mut().ok_or(Errno::EINVAL)?;
        stream.open_fast(now, client);
        let room = u64::from(stream.syn_room_for(len));
        // The SYN carries the data that is written before it is sent.
        let taken = if room > 0 { stream.write(now, room).map_err(|_| Errno::EPIPE)? } else { 0 };
        self.update(id);
        Ok(taken)
    }

    /// The part of a write that may open a connection. Returns the number of bytes on the SYN, `None` if no SYN was sent.
    pub(crate) fn write_with_syn(
        &mut self,
        fd: RawFd,
        to: Option<SocketAddr>,
        len: u64,
        flags: i32,
    ) -> Result<Option<u64>, Errno> {
        let socket = self.socket(fd)?;
        match &socket.role {
            Role::Fresh if socket.connect == ConnectPhase::Deferred => {
                let to = socket.remote.ok_or(Errno::EINVAL)?;
                self.open_fast(fd, to, len).map(Some)
            }
            _ if flags & libc::MSG_FASTOPEN == 0 => Ok(None),
            Role::Fresh => self.open_fast(fd, to.ok_or(Errno::EINVAL)?, len).map(Some),
            Role::Stream(stream) if stream.state() == State::SynSent => Err(Errno::EALREADY),
            Role::Stream(_) | Role::Listening { .. } => Ok(None),
        }
    }

    /// Writes the data that did not fit into the SYN.
    pub(crate) fn write_after_syn(&mut self, fd: RawFd, len: u64) -> Result<u64, Errno> {
        let now = self.now;
        let stream = self.socket_mut(fd)?.stream_mut().ok_or(Errno::EINVAL)?;
        if len == 0 || stream.state() != State::SynSent {
            return Ok(0);
        }
        stream.write(now, len).map_err(|_| Errno::EPIPE)
    }

    /// EAGAIN until the connection is open or has failed.
    pub(crate) fn wait_open(&mut self, fd: RawFd) -> Result<(), Errno> {
        let socket = self.socket_mut(fd)?;
        if let Some(error) = socket.take_error() {
            return Err(error);
        }
        if socket.is_open() { Ok(()) } else { Err(Errno::EAGAIN) }
    }
}
