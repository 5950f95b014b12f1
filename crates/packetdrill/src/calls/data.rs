//! The calls that transfer data, and those that return the lengths of the queues. No call waits: EAGAIN means that a
//! blocking caller
//! tries again.

use crate::error_queue::Notice;
use crate::socket::{ConnectPhase, End, Role, Socket, WriteSpace};
use crate::socket_options::{BlockingMode, Family, Switch};
use crate::stack::Stack;
use crate::sysctl::StandIns;
use netspurt_tcp::state::State;
use netspurt_tcp::{Behind, Connection};
use nix::errno::Errno;
use std::os::fd::RawFd;

/// What a read does with the data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ReadMode {
    /// It removes the data from the receive buffer.
    Remove,
    /// It leaves the data there (MSG_PEEK).
    Peek,
}

impl Stack {
    /// `write(2)` and similar calls: writes at most `len` bytes and returns how many were accepted.
    pub(crate) fn write(&mut self, fd: RawFd, len: u64, behind: Behind) -> Result<u64, Errno> {
        let id = self.id(fd)?;
        let (now, stand_ins) = (self.now, self.settings.stand_ins);
        let socket = self.socket_mut(fd)?;
        if let Some(error) = socket.take_error() {
            return Err(error);
        }
        // A waiting writer continues when a third of the buffer is free (`sk_stream_write_space()`).
        let awaited = socket.write_space == WriteSpace::Awaited;
        if awaited && !socket.options.is_nonblocking() && !socket.is_writable() {
            return Err(Errno::EAGAIN);
        }
        let (low, shut) = (u64::from(socket.options.not_sent_low), socket.shutdown.closes_write());
        let (buffer, pushed, record) = (socket.send_buffer_size(), socket.pushed, socket.record);
        let (began, used) = (socket.payload_of_write, socket.send_buffer_used());
        // The size of segments is chosen at the beginning of a write (`tcp_send_mss()`).
        let payload = began.or_else(|| socket.stream().map(Connection::next_payload)).unwrap_or(1);
        let goal = socket.packet_goal(payload);
        let Some(stream) = socket.stream_mut() else { return Err(Errno::EPIPE) };
        if shut || stream.state() == State::Closed {
            return Err(Errno::EPIPE);
        }
        if !stream.state().is_synchronized() && !stream.is_open_early() {
            return Err(Errno::EAGAIN);
        }
        if stand_ins == StandIns::None {
            let room = buffer.saturating_sub(used);
            if room == 0 && len > 0 {
                socket.await_space(now);
                return Err(Errno::EAGAIN);
            }
            let taken = stream.write_part(now, len.min(room), behind).map_err(|_| Errno::EPIPE)?;
            self.update(id);
            return Ok(taken);
        }
        // Linux collects unsent data in packets of at most half the peer's largest window. It fills a packet even if the
        // buffer is
        // full, but starts one only below TCP_NOTSENT_LOWAT and while the buffer is not full (`tcp_sendmsg_locked()`,
        // `tcp_xmit_size_goal()`, `sk_stream_memory_free()`).
        let unsent = stream.unsent();
        let may_start = unsent < low && used < buffer;
        let of_record = stream.written() - record.min(stream.written());
        let single = if goal == u64::from(payload) { stream.unsent_in_last_packet() } else { None };
        let last = single.map_or_else(|| unsent.min(of_record) % goal, |last| last.min(of_record));
        let fills = last > 0 && last < goal;
        let room = if fills {
            goal - last
        } else if may_start {
            goal
        } else {
            0
        };
        let wanted = len.min(room);
        if wanted == 0 && len > 0 {
            socket.await_space(now);
            return Err(Errno::EAGAIN);
        }
        // `forced_push()`: PSH whenever half of the largest window has been written since the last one.
        let written = stream.written() + wanted;
        let largest_window = u64::from(stream.largest_peer_window());
        let pushes = written > pushed + largest_window / 2 && (wanted == room || behind == Behind::More);
        let behind = if wanted < len { Behind::More } else { behind };
        let behind = if pushes { Behind::Nothing } else { behind };
        let taken = if began.is_some() {
            stream.write_rest(now, wanted, behind, payload)
        } else {
            stream.write_part(now, wanted, behind)
        };
        let taken = taken.map_err(|_| Errno::EPIPE)?;
        socket.payload_of_write = Some(payload);
        if taken == 0 && len > 0 {
            return Err(Errno::EAGAIN);
        }
        if behind == Behind::Nothing {
            socket.pushed = written;
        }
        self.update(id);
        Ok(taken)
    }

    /// What the flags of a write that was accepted up to here ask for: the end of a record (MSG_EOR), a notice
    /// (MSG_ZEROCOPY), timestamps.
    pub(crate) fn wrote(&mut self, fd: RawFd, flags: i32) {
        let now = self.now;
        if self.settings.stand_ins == StandIns::None {
            return;
        }
        let Ok(socket) = self.socket_mut(fd) else { return };
        let Some(end) = socket.stream().map(Connection::written) else { return };
        if flags & libc::MSG_ZEROCOPY != 0 && socket.options.is_on(Switch::ZeroCopy) {
            socket.errors.zero_copy(end);
        }
        socket.errors.write(end);
        let (sent, acknowledged) =
            socket.stream().map_or((0, 0), |s| (s.written() - s.unsent(), s.acknowledged()));
        if socket.errors.progress(now, sent, acknowledged) {
            socket.wakes += 1;
        }
        if flags & libc::MSG_EOR != 0 {
            self.end_record(fd);
        }
    }

    /// Ends one of Linux's packets and a record with what was written.
    pub(crate) fn end_record(&mut self, fd: RawFd) {
        let Ok(socket) = self.socket_mut(fd) else { return };
        if let Some(stream) = socket.stream_mut() {
            stream.end_record();
            socket.record = stream.written();
        }
    }

    /// `splice(2)` from the socket: like a read, but it stops before urgent data (`tcp_read_sock()`).
    pub(crate) fn splice(&mut self, fd: RawFd, len: u64) -> Result<u64, Errno> {
        if self.settings.stand_ins == StandIns::None {
            return Err(Errno::ENOSYS);
        }
        let socket = self.socket(fd)?;
        let ahead = socket
            .stream()
            .zip(socket.urgent)
            .and_then(|(stream, urgent)| urgent.checked_sub(stream.received() - stream.readable()));
        match ahead {
            Some(0) => Ok(0),
            _ => self.read(fd, len.min(ahead.unwrap_or(u64::MAX)), ReadMode::Remove),
        }
    }

    /// The next entry of the error queue, and the family that shapes its control messages.
    pub(crate) fn take_notice(&mut self, fd: RawFd) -> Result<(Notice, Family), Errno> {
        let socket = self.socket_mut(fd)?;
        let family = socket.family;
        socket.errors.take().map(|notice| (notice, family)).ok_or(Errno::EAGAIN)
    }

    /// Ends a write of which only a part was accepted: what was accepted may be sent, with PSH.
    pub(crate) fn end_write(&mut self, fd: RawFd) {
        if let Ok(id) = self.id(fd)
            && let Some(stream) = self.sockets.get_mut(&id).and_then(Socket::stream_mut)
        {
            stream.uncork();
            self.update(id);
        }
    }

    /// `read(2)` and similar calls: the number of bytes read, at most `len`. All are zeros.
    pub(crate) fn read(&mut self, fd: RawFd, len: u64, mode: ReadMode) -> Result<u64, Errno> {
        let id = self.id(fd)?;
        let now = self.now;
        let socket = self.socket_mut(fd)?;
        let (shut, ended) = (socket.shutdown.closes_read(), socket.end != End::NotYet);
        let deferred = socket.connect == ConnectPhase::Deferred;
        let Some(stream) = socket.stream_mut() else {
            return Err(if deferred { Errno::EAGAIN } else { Errno::ENOTCONN });
        };
        let readable = stream.readable().min(len);
        if readable > 0 || len == 0 {
            if mode == ReadMode::Remove {
                stream.read(now, readable);
                self.update(id);
            }
            return Ok(readable);
        }
        // The end of the peer's stream comes before an error (`tcp_recvmsg_locked()`).
        let (finished, over) = (stream.peer_finished(), ended || shut);
        if finished && mode == ReadMode::Remove {
            stream.read(now, 0);
        }
        match socket.take_error() {
            _ if finished => Ok(0),
            Some(error) => Err(error),
            None if over => Ok(0),
            None => Err(Errno::EAGAIN),
        }
    }

    /// Whether a call with these flags waits until it can succeed.
    pub(crate) fn blocking_mode(&self, fd: RawFd, flags: i32) -> BlockingMode {
        if flags & libc::MSG_DONTWAIT != 0 {
            return BlockingMode::Nonblocking;
        }
        self.socket(fd).map_or(BlockingMode::Nonblocking, |socket| socket.options.blocking)
    }

    /// `fcntl(2)`: O_NONBLOCK.
    pub(crate) fn control(&mut self, fd: RawFd, command: i32, argument: i32) -> Result<i64, Errno> {
        let options = &mut self.socket_mut(fd)?.options;
        match command {
            libc::F_GETFL if options.is_nonblocking() => Ok(i64::from(libc::O_RDWR | libc::O_NONBLOCK)),
            libc::F_GETFL => Ok(i64::from(libc::O_RDWR)),
            libc::F_SETFL => {
                let nonblocking = argument & libc::O_NONBLOCK != 0;
                options.blocking =
                    if nonblocking { BlockingMode::Nonblocking } else { BlockingMode::Blocking };
                Ok(0)
            }
            _ => Err(Errno::EINVAL),
        }
    }

    /// `ioctl(2)`: the number of bytes that can be read, that are not acknowledged, or that are not sent.
    pub(crate) fn device_control(&mut self, fd: RawFd, request: u64) -> Result<i32, Errno> {
        const SIOCOUTQNSD: u64 = 0x894B;
        let queued = self.queued_in(fd)?;
        let (queued_out, unsent) =
            self.socket(fd)?.stream().map_or((0, 0), |s| (s.written() - s.acknowledged(), s.unsent()));
        let number = match request {
            libc::FIONREAD => queued,
            libc::TIOCOUTQ => queued_out,
            SIOCOUTQNSD => unsent,
            _ => return Err(Errno::ENOTTY),
        };
        Ok(i32::try_from(number).unwrap_or(i32::MAX))
    }

    /// Number of bytes that can be read: SIOCINQ, TCP_INQ.
    pub(crate) fn queued_in(&self, fd: RawFd) -> Result<u64, Errno> {
        let socket = self.socket(fd)?;
        match &socket.role {
            Role::Listening { .. } => Err(Errno::EINVAL),
            Role::Fresh => Ok(0),
            Role::Stream(stream) => Ok(stream.readable()),
        }
    }

    /// The value of TCP_INQ's control message if the option is on: the number of bytes left to read, or 1 at the end of the
    /// stream
    /// (`tcp_inq_hint()`).
    pub(crate) fn inq_hint(&self, fd: RawFd) -> Option<u32> {
        let socket = self.socket(fd).ok().filter(|socket| socket.options.is_on(Switch::Inq))?;
        let stream = socket.stream()?;
        let left = u32::try_from(stream.readable()).unwrap_or(u32::MAX);
        Some(if left == 0 && stream.peer_finished() { 1 } else { left })
    }

    /// Fails if there is no connection to write to.
    pub(crate) fn check_writable(&self, fd: RawFd) -> Result<(), Errno> {
        let socket = self.socket(fd)?;
        if socket.connect == ConnectPhase::Deferred {
            Ok(())
        } else {
            socket.stream().map(|_| ()).ok_or(Errno::EPIPE)
        }
    }
}
