//! The calls that create, open and close sockets. No call waits: EAGAIN means that a blocking caller tries again.

use crate::queue::send_buffer::SendBuffer;
use crate::socket::{ConnectPhase, Descriptor, Id, Origin, Role, Shutdown, Socket};
use crate::socket_options::{BlockingMode, Family, SocketOptions, Switch};
use crate::stack::{File, Stack};
use crate::sysctl::FastOpenBits;
use netspurt_tcp::Connection;
use netspurt_tcp::time::Span;
use nix::errno::Errno;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::os::fd::{IntoRawFd as _, RawFd};

/// A descriptor of the kernel for a socket or an epoll instance. packetdrill passes descriptors to libc at the end of a
/// script, so each
/// number must belong to this process.
pub(crate) fn placeholder() -> Result<RawFd, Errno> {
    let file = std::fs::File::open("/dev/null")
        .map_err(|error| error.raw_os_error().map_or(Errno::EMFILE, Errno::from_raw))?;
    Ok(file.into_raw_fd())
}

impl Stack {
    /// `socket(2)`.
    pub(crate) fn open(&mut self, domain: i32, kind: i32, protocol: i32) -> Result<RawFd, Errno> {
        let family = match domain {
            libc::AF_INET => Family::V4,
            libc::AF_INET6 => Family::V6,
            _ => return Err(Errno::EAFNOSUPPORT),
        };
        let base = kind & !(libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC);
        if base != libc::SOCK_STREAM || !matches!(protocol, 0 | libc::IPPROTO_TCP) {
            return Err(Errno::EPROTONOSUPPORT);
        }
        let fd = placeholder()?;
        self.settings = self.settings.read();
        let mut options = SocketOptions::new(self.settings.not_sent_low);
        if kind & libc::SOCK_NONBLOCK != 0 {
            options.blocking = BlockingMode::Nonblocking;
        }
        let id = self.add(Socket::new(family, options, SendBuffer::of(&self.settings)));
        self.files.insert(fd, File::Socket(id));
        Ok(fd)
    }

    /// `bind(2)`.
    pub(crate) fn bind(&mut self, fd: RawFd, address: SocketAddr) -> Result<(), Errno> {
        let port = if address.port() == 0 { self.free_port() } else { address.port() };
        let socket = self.socket_mut(fd)?;
        if socket.local.is_some() {
            return Err(Errno::EINVAL);
        }
        socket.local = Some(SocketAddr::new(address.ip(), port));
        Ok(())
    }

    /// `listen(2)`.
    pub(crate) fn listen(&mut self, fd: RawFd, backlog: i32) -> Result<(), Errno> {
        let port = self.free_port();
        let size = usize::try_from(backlog).unwrap_or(usize::MAX);
        let every = self.settings.fast_open(FastOpenBits::EVERY_LISTENER);
        let limit = if every { size.max(1) } else { 0 };
        let shows = self.settings.shows_listeners();
        let socket = self.socket_mut(fd)?;
        socket.fast_open_limit = socket.fast_open_limit.max(limit);
        match &mut socket.role {
            Role::Fresh => {
                let any = match socket.family {
                    Family::V4 => Ipv4Addr::UNSPECIFIED.into(),
                    Family::V6 => Ipv6Addr::UNSPECIFIED.into(),
                };
                let port = socket.local.get_or_insert(SocketAddr::new(any, port)).port();
                // The interface of the namespace need not have the address of the script.
                let in_kernel = shows.then(|| TcpListener::bind((any, port)).ok()).flatten();
                socket.role = Role::Listening { backlog: size, ready: Default::default(), in_kernel };
            }
            Role::Listening { backlog, .. } => *backlog = size,
            Role::Stream(_) => return Err(Errno::EINVAL),
        }
        Ok(())
    }

    /// `accept(2)`: the new descriptor and the peer's address, as the listener's family writes it.
    pub(crate) fn accept(&mut self, fd: RawFd) -> Result<(RawFd, Option<SocketAddr>), Errno> {
        let family = self.socket(fd)?.family;
        let Role::Listening { ready, .. } = &mut self.socket_mut(fd)?.role else { return Err(Errno::EINVAL) };
        let child = ready.pop_front().ok_or(Errno::EAGAIN)?;
        let new = placeholder()?;
        self.files.insert(new, File::Socket(child));
        let remote = self.sockets.get(&child).and_then(|socket| socket.remote);
        Ok((new, remote.map(|address| family.shown(address))))
    }

    /// `connect(2)`.
    pub(crate) fn connect(&mut self, fd: RawFd, to: SocketAddr) -> Result<(), Errno> {
        let id = self.id(fd)?;
        let now = self.now;
        let socket = self.socket_mut(fd)?;
        match &socket.role {
            Role::Listening { .. } => return Err(Errno::EISCONN),
            Role::Stream(stream) => {
                let (open, closed) = (stream.state().is_synchronized(), stream.closed().is_some());
                return match socket.take_error() {
                    Some(error) => Err(error),
                    None if socket.connect == ConnectPhase::Opening && open => {
                        socket.connect = ConnectPhase::Idle;
                        Ok(())
                    }
                    None if open => Err(Errno::EISCONN),
                    None if closed => Err(Errno::ECONNABORTED),
                    None if socket.options.is_nonblocking() => Err(Errno::EALREADY),
                    None => Err(Errno::EAGAIN),
                };
            }
            Role::Fresh if socket.connect == ConnectPhase::Deferred => return Err(Errno::EISCONN),
            Role::Fresh => {}
        }
        let waits = if socket.options.is_nonblocking() { Errno::EINPROGRESS } else { Errno::EAGAIN };
        let fast_open = socket.options.is_on(Switch::FastOpenConnect);
        if fast_open && self.may_carry_data(to.ip()) {
            let socket = self.socket_mut(fd)?;
            (socket.remote, socket.connect) = (Some(to), ConnectPhase::Deferred);
            return Ok(());
        }
        if fast_open {
            self.open_fast(fd, to, 0)?;
            return Err(waits);
        }
        self.make_stream(fd, to)?;
        if let Some(stream) = self.socket_mut(fd)?.stream_mut() {
            stream.open(now);
        }
        self.update(id);
        Err(waits)
    }

    /// Creates the connection of a socket, without opening it.
    pub(crate) fn make_stream(&mut self, fd: RawFd, to: SocketAddr) -> Result<(), Errno> {
        let own: IpAddr =
            if to.is_ipv4() { self.settings.local.into() } else { self.settings.local_v6.into() };
        let (port, iss) = (self.free_port(), self.initial_sequence());
        let socket = self.socket_mut(fd)?;
        let local = socket.local.unwrap_or(SocketAddr::new(own, port));
        let local = if local.ip().is_unspecified() { SocketAddr::new(own, local.port()) } else { local };
        (socket.local, socket.remote, socket.connect) = (Some(local), Some(to), ConnectPhase::Opening);
        let options = socket.options.clone();
        let mut connection = Connection::new(self.config(&options, to), iss);
        connection.measure_limits(self.now, true);
        self.socket_mut(fd)?.role = Role::Stream(Box::new(connection));
        Ok(())
    }

    /// `shutdown(2)`.
    pub(crate) fn shutdown(&mut self, fd: RawFd, how: i32) -> Result<(), Errno> {
        let shutdown = match how {
            libc::SHUT_RD => Shutdown::Read,
            libc::SHUT_WR => Shutdown::Write,
            libc::SHUT_RDWR => Shutdown::Both,
            _ => return Err(Errno::EINVAL),
        };
        let id = self.id(fd)?;
        let now = self.now;
        let socket = self.socket_mut(fd)?;
        let Some(stream) = socket.stream_mut() else { return Err(Errno::ENOTCONN) };
        if stream.closed().is_some() {
            return Err(Errno::ENOTCONN);
        }
        if shutdown.closes_write() {
            stream.close(now);
        }
        socket.shutdown = socket.shutdown.and(shutdown);
        socket.wakes += 1;
        self.update(id);
        Ok(())
    }

    /// `close(2)`. If there is unread data, it sends a reset (RFC 9293, section 3.6.1, SHLD-3 of RFC 1122, 4.2.2.13).
    pub(crate) fn close(&mut self, fd: RawFd) -> Result<(), Errno> {
        let file = self.files.remove(&fd).ok_or(Errno::EBADF)?;
        // The error is ignored: packetdrill may have closed the placeholder already.
        let _ = nix::unistd::close(fd);
        for other in self.files.values_mut() {
            if let File::Epoll(epoll) = other {
                epoll.remove(fd);
            }
        }
        let File::Socket(id) = file else { return Ok(()) };
        let now = self.now;
        let Some(socket) = self.sockets.get_mut(&id) else { return Ok(()) };
        socket.descriptor = Descriptor::Closed;
        let lingers = socket.options.linger.is_none_or(|linger| linger != Span::ZERO);
        match &mut socket.role {
            Role::Fresh => {}
            Role::Listening { .. } => self.drop_children(id),
            Role::Stream(stream) if lingers && stream.readable() == 0 => stream.close(now),
            Role::Stream(stream) => stream.abort(now),
        }
        self.update(id);
        if self.sockets.get(&id).is_some_and(Socket::is_unused) {
            self.sockets.remove(&id);
        }
        Ok(())
    }

    /// Aborts the connections of a closed listener that `accept` has not returned.
    fn drop_children(&mut self, listener: Id) {
        let now = self.now;
        let Some(Role::Listening { ready, .. }) =
            self.sockets.get_mut(&listener).map(|socket| &mut socket.role)
        else {
            return;
        };
        let mut children: Vec<Id> = ready.drain(..).collect();
        children.extend(
            self.sockets.iter().filter(|(_, s)| s.origin == Origin::Opening(listener)).map(|(&id, _)| id),
        );
        for child in children {
            if let Some(socket) = self.sockets.get_mut(&child) {
                socket.descriptor = Descriptor::Closed;
                socket.origin = Origin::Queued(listener);
                if let Some(stream) = socket.stream_mut() {
                    stream.abort(now);
                }
            }
            self.update(child);
        }
    }
}
