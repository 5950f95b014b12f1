//! The calls of the socket interface. Each looks once: EAGAIN says that it may come again, and whoever blocks does.

use crate::socket::{Choices, Role, Socket};
use crate::stack::{File, Stack};
use netspurt_tcp::state::State;
use netspurt_tcp::{Behind, Connection};
use nix::errno::Errno;
use std::net::SocketAddrV4;
use std::os::fd::{IntoRawFd as _, RawFd};

/// A real descriptor that leads nowhere: packetdrill closes descriptors behind our back when a script is over, and hands
/// them to libc.
pub(crate) fn placeholder() -> Result<RawFd, Errno> {
    let file = std::fs::File::open("/dev/null")
        .map_err(|error| error.raw_os_error().map_or(Errno::EMFILE, Errno::from_raw))?;
    Ok(file.into_raw_fd())
}

impl Stack {
    /// `socket(2)`.
    pub(crate) fn open(&mut self, domain: i32, kind: i32, protocol: i32) -> Result<RawFd, Errno> {
        if domain != libc::AF_INET {
            return Err(Errno::EAFNOSUPPORT);
        }
        let base = kind & !(libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC);
        if base != libc::SOCK_STREAM || !matches!(protocol, 0 | libc::IPPROTO_TCP) {
            return Err(Errno::EPROTONOSUPPORT);
        }
        let fd = placeholder()?;
        self.settings = self.settings.read();
        let mut choices = Choices::new(self.settings.not_sent_low);
        choices.nonblocking = kind & libc::SOCK_NONBLOCK != 0;
        let id = self.add(Socket::new(choices, self.settings.send_buffer));
        self.files.insert(fd, File::Socket(id));
        Ok(fd)
    }

    /// `bind(2)`.
    pub(crate) fn bind(&mut self, fd: RawFd, address: SocketAddrV4) -> Result<(), Errno> {
        let port = if address.port() == 0 { self.free_port() } else { address.port() };
        let socket = self.socket(fd)?;
        if socket.local.is_some() {
            return Err(Errno::EINVAL);
        }
        socket.local = Some(SocketAddrV4::new(*address.ip(), port));
        Ok(())
    }

    /// `listen(2)`.
    pub(crate) fn listen(&mut self, fd: RawFd, backlog: i32) -> Result<(), Errno> {
        let port = self.free_port();
        let any = SocketAddrV4::new(std::net::Ipv4Addr::UNSPECIFIED, port);
        let size = usize::try_from(backlog).unwrap_or(usize::MAX);
        let early = self.early_by_default(size);
        let socket = self.socket(fd)?;
        socket.early = socket.early.max(early);
        match &mut socket.role {
            Role::Fresh => {
                socket.local.get_or_insert(any);
                socket.role = Role::Listening { backlog: size, ready: Default::default() };
            }
            Role::Listening { backlog, .. } => *backlog = size,
            Role::Stream(_) => return Err(Errno::EINVAL),
        }
        Ok(())
    }

    /// `accept(2)`: the new descriptor and the peer's address.
    pub(crate) fn accept(&mut self, fd: RawFd) -> Result<(RawFd, Option<SocketAddrV4>), Errno> {
        let Role::Listening { ready, .. } = &mut self.socket(fd)?.role else { return Err(Errno::EINVAL) };
        let child = ready.pop_front().ok_or(Errno::EAGAIN)?;
        let new = placeholder()?;
        self.files.insert(new, File::Socket(child));
        Ok((new, self.sockets.get(&child).and_then(|socket| socket.remote)))
    }

    /// `connect(2)`.
    pub(crate) fn connect(&mut self, fd: RawFd, to: SocketAddrV4) -> Result<(), Errno> {
        let id = self.id(fd)?;
        let now = self.now;
        let socket = self.socket(fd)?;
        match &socket.role {
            Role::Listening { .. } => return Err(Errno::EISCONN),
            Role::Stream(stream) => {
                let open = stream.state().is_synchronized();
                return match socket.error.take() {
                    Some(error) => Err(error),
                    None if socket.connecting && open => {
                        socket.connecting = false;
                        Ok(())
                    }
                    None if open => Err(Errno::EISCONN),
                    None if stream.closed().is_some() => Err(Errno::ECONNABORTED),
                    None if socket.choices.nonblocking => Err(Errno::EALREADY),
                    None => Err(Errno::EAGAIN),
                };
            }
            Role::Fresh if socket.deferred => return Err(Errno::EISCONN),
            Role::Fresh => {}
        }
        let nonblocking = socket.choices.nonblocking;
        let waits = if nonblocking { Errno::EINPROGRESS } else { Errno::EAGAIN };
        if socket.connects_fast && self.may_carry_data(*to.ip()) {
            let socket = self.socket(fd)?;
            (socket.remote, socket.deferred) = (Some(to), true);
            return Ok(());
        }
        if self.socket(fd)?.connects_fast {
            self.begin_fast(fd, to, 0)?;
            return Err(waits);
        }
        self.make_stream(fd, to)?;
        if let Some(stream) = self.socket(fd)?.stream_mut() {
            stream.open(now);
        }
        self.settle(id);
        Err(waits)
    }

    /// A connection that is not opened yet.
    pub(crate) fn make_stream(&mut self, fd: RawFd, to: SocketAddrV4) -> Result<(), Errno> {
        let (port, own, iss) = (self.free_port(), self.settings.local, self.initial_sequence());
        let socket = self.socket(fd)?;
        socket.deferred = false;
        let local = socket.local.unwrap_or(SocketAddrV4::new(own, port));
        let local = if local.ip().is_unspecified() { SocketAddrV4::new(own, local.port()) } else { local };
        (socket.local, socket.remote, socket.connecting) = (Some(local), Some(to), true);
        let choices = socket.choices.clone();
        let mut connection = Connection::new(self.config(&choices), iss);
        connection.measure_limits(self.now, true);
        self.socket(fd)?.role = Role::Stream(Box::new(connection));
        Ok(())
    }

    /// `write(2)` and its kin: how many of `len` bytes found room. `behind` says what the caller promises.
    pub(crate) fn write(&mut self, fd: RawFd, len: u64, behind: Behind) -> Result<u64, Errno> {
        let id = self.id(fd)?;
        let (now, wmem) = (self.now, self.settings.send_buffer);
        let socket = self.socket(fd)?;
        if let Some(error) = socket.error.take() {
            return Err(error);
        }
        // Who waits is woken when a third of the buffer is free (`sk_stream_write_space()`).
        if socket.no_space && !socket.choices.nonblocking && !socket.is_writable() {
            return Err(Errno::EAGAIN);
        }
        let (low, shut) = (u64::from(socket.choices.not_sent_low), socket.write_shut);
        let buffer = socket.send_buffer(wmem);
        let Some(stream) = socket.stream_mut() else { return Err(Errno::EPIPE) };
        if shut || stream.state() == State::Closed {
            return Err(Errno::EPIPE);
        }
        if !stream.state().is_synchronized() && !stream.is_open_early() {
            return Err(Errno::EAGAIN);
        }
        // What is unsent fills packets of at most half the largest window. One that is begun is filled whatever the buffer holds;
        // a new one only below the low-water mark, and while the buffer is not full (`tcp_sendmsg_locked()`,
        // `tcp_xmit_size_goal()`, `sk_stream_memory_free()`).
        let (unsent, mss) = (stream.unsent(), u64::from(stream.segment_payload().max(1)));
        let goal = (u64::from(stream.peer_window()) / 2).min(60_000).max(mss) / mss * mss;
        let queued = stream.written() - stream.acknowledged();
        let begins = unsent < low && queued < buffer;
        let room = if begins || unsent % goal > 0 { goal - unsent % goal } else { 0 };
        let wanted = len.min(room);
        if wanted == 0 && len > 0 {
            stream.note_no_room();
            socket.no_space = true;
            return Err(Errno::EAGAIN);
        }
        let behind = if wanted < len { Behind::More } else { behind };
        let taken = stream.write_part(now, wanted, behind).map_err(|_| Errno::EPIPE)?;
        if taken == 0 && len > 0 {
            return Err(Errno::EAGAIN);
        }
        self.settle(id);
        Ok(taken)
    }

    /// The last part of a write found no room, and the caller does not wait for it: application data ends here.
    pub(crate) fn end_write(&mut self, fd: RawFd) {
        if let Ok(id) = self.id(fd)
            && let Some(stream) = self.sockets.get_mut(&id).and_then(Socket::stream_mut)
        {
            stream.uncork();
            self.settle(id);
        }
    }

    /// `read(2)` and its kin: how many bytes there were, at most `len`. They are all zeros.
    pub(crate) fn read(&mut self, fd: RawFd, len: u64, take: Take) -> Result<u64, Errno> {
        let id = self.id(fd)?;
        let now = self.now;
        let socket = self.socket(fd)?;
        let (shut, finished) = (socket.read_shut, socket.fate_known);
        let deferred = socket.deferred;
        let Some(stream) = socket.stream_mut() else {
            return Err(if deferred { Errno::EAGAIN } else { Errno::ENOTCONN });
        };
        let readable = stream.readable().min(len);
        if readable > 0 || len == 0 {
            if take == Take::Away {
                stream.read(now, readable);
                self.settle(id);
            }
            return Ok(readable);
        }
        let over = stream.peer_finished() || finished || shut;
        match socket.error.take() {
            Some(error) => Err(error),
            None if over => Ok(0),
            None => Err(Errno::EAGAIN),
        }
    }

    /// `shutdown(2)`.
    pub(crate) fn shutdown(&mut self, fd: RawFd, how: i32) -> Result<(), Errno> {
        let (read, write) = match how {
            libc::SHUT_RD => (true, false),
            libc::SHUT_WR => (false, true),
            libc::SHUT_RDWR => (true, true),
            _ => return Err(Errno::EINVAL),
        };
        let id = self.id(fd)?;
        let now = self.now;
        let socket = self.socket(fd)?;
        let Some(stream) = socket.stream_mut() else { return Err(Errno::ENOTCONN) };
        if stream.closed().is_some() {
            return Err(Errno::ENOTCONN);
        }
        if write {
            stream.close(now);
        }
        socket.read_shut |= read;
        socket.write_shut |= write;
        socket.wakes += 1;
        self.settle(id);
        Ok(())
    }

    /// `close(2)`: data that nobody has read makes it a reset (RFC 9293, section 3.6.1, SHLD-3 of RFC 1122, 4.2.2.13).
    pub(crate) fn close(&mut self, fd: RawFd) -> Result<(), Errno> {
        let file = self.files.remove(&fd).ok_or(Errno::EBADF)?;
        // Nothing can be done about a placeholder that somebody closed before.
        let _ = nix::unistd::close(fd);
        for other in self.files.values_mut() {
            if let File::Epoll(epoll) = other {
                epoll.forget(fd);
            }
        }
        let File::Socket(id) = file else { return Ok(()) };
        let now = self.now;
        let Some(socket) = self.sockets.get_mut(&id) else { return Ok(()) };
        socket.orphan = true;
        let lingers = socket.choices.linger.is_none_or(|linger| linger != netspurt_tcp::time::Span::ZERO);
        match &mut socket.role {
            Role::Fresh => {}
            Role::Listening { .. } => self.drop_children(id),
            Role::Stream(stream) if lingers && stream.readable() == 0 => stream.close(now),
            Role::Stream(stream) => stream.abort(now),
        }
        self.settle(id);
        if self.sockets.get(&id).is_some_and(Socket::is_over) {
            self.sockets.remove(&id);
        }
        Ok(())
    }

    /// A listener goes, and with it what it has not handed out.
    fn drop_children(&mut self, listener: u32) {
        let now = self.now;
        let Some(Role::Listening { ready, .. }) =
            self.sockets.get_mut(&listener).map(|socket| &mut socket.role)
        else {
            return;
        };
        let mut children: Vec<u32> = ready.drain(..).collect();
        children.extend(self.sockets.iter().filter(|(_, s)| s.parent == Some(listener)).map(|(&id, _)| id));
        for child in children {
            if let Some(socket) = self.sockets.get_mut(&child) {
                socket.orphan = true;
                socket.parent = None;
                if let Some(stream) = socket.stream_mut() {
                    stream.abort(now);
                }
            }
            self.settle(child);
        }
    }

    /// Whether calls on this descriptor wait.
    pub(crate) fn blocks(&self, fd: RawFd, flags: i32) -> bool {
        let nonblocking = self.look(fd).map_or(true, |socket| socket.choices.nonblocking);
        !nonblocking && flags & libc::MSG_DONTWAIT == 0
    }

    /// Bytes that wait to be read: SIOCINQ, TCP_INQ.
    pub(crate) fn queued_in(&self, fd: RawFd) -> Result<u64, Errno> {
        let socket = self.look(fd)?;
        match &socket.role {
            Role::Listening { .. } => Err(Errno::EINVAL),
            Role::Fresh => Ok(0),
            Role::Stream(stream) => Ok(stream.readable()),
        }
    }
}

/// What reading does to what is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Take {
    /// It is gone.
    Away,
    /// It stays (MSG_PEEK).
    Look,
}

impl Stack {
    /// `fcntl(2)`: whether calls wait.
    pub(crate) fn control(&mut self, fd: RawFd, command: i32, argument: i32) -> Result<i64, Errno> {
        let choices = &mut self.socket(fd)?.choices;
        match command {
            libc::F_GETFL if choices.nonblocking => Ok(i64::from(libc::O_RDWR | libc::O_NONBLOCK)),
            libc::F_GETFL => Ok(i64::from(libc::O_RDWR)),
            libc::F_SETFL => {
                choices.nonblocking = argument & libc::O_NONBLOCK != 0;
                Ok(0)
            }
            _ => Err(Errno::EINVAL),
        }
    }

    /// `ioctl(2)`: how much waits to be read, to be acknowledged, to be sent.
    pub(crate) fn device_control(&mut self, fd: RawFd, request: u64) -> Result<i32, Errno> {
        const SIOCOUTQNSD: u64 = 0x894B;
        let queued = self.queued_in(fd)?;
        let (kept, unsent) =
            self.look(fd)?.stream().map_or((0, 0), |s| (s.written() - s.acknowledged(), s.unsent()));
        let number = match request {
            libc::FIONREAD => queued,
            libc::TIOCOUTQ => kept,
            SIOCOUTQNSD => unsent,
            _ => return Err(Errno::ENOTTY),
        };
        Ok(i32::try_from(number).unwrap_or(i32::MAX))
    }

    /// What TCP_INQ tells beside what was read, if it was asked to: how much is left, and one more at the end
    /// (`tcp_inq_hint()`).
    pub(crate) fn told_queue(&self, fd: RawFd) -> Option<u32> {
        let socket = self.look(fd).ok().filter(|socket| socket.choices.tell_queue)?;
        let stream = socket.stream()?;
        let left = u32::try_from(stream.readable()).unwrap_or(u32::MAX);
        Some(if left == 0 && stream.peer_finished() { 1 } else { left })
    }

    /// Whether there is a connection to write to at all.
    pub(crate) fn may_write(&self, fd: RawFd) -> Result<(), Errno> {
        let socket = self.look(fd)?;
        if socket.deferred { Ok(()) } else { socket.stream().map(|_| ()).ok_or(Errno::EPIPE) }
    }
}
