//! poll(2) and epoll(7).

use crate::calls::connection::placeholder;
use crate::epoll::{Epoll, Interest};
use crate::socket::{ConnectPhase, End, Role, Socket, WriteSpace};
use crate::stack::{File, Stack};
use netspurt_tcp::state::State;
use nix::errno::Errno;
use std::os::fd::RawFd;

/// The events of a socket as the bits of poll, which epoll also uses (`tcp_poll()`).
fn events_of(socket: &Socket) -> i16 {
    let error =
        if matches!(socket.end, End::Failed(_)) || !socket.errors.is_empty() { libc::POLLERR } else { 0 };
    let normal = libc::POLLIN | libc::POLLRDNORM;
    let state = match &socket.role {
        Role::Fresh if socket.connect == ConnectPhase::Deferred => libc::POLLOUT | libc::POLLWRNORM,
        Role::Fresh => libc::POLLHUP | libc::POLLOUT,
        Role::Listening { ready, .. } => {
            if ready.is_empty() {
                0
            } else {
                normal
            }
        }
        Role::Stream(stream) => {
            let closed = stream.state() == State::Closed;
            let fin_received = matches!(
                stream.state(),
                State::CloseWait | State::LastAck | State::Closing | State::TimeWait
            );
            let no_more = socket.shutdown.closes_read() || fin_received || closed;
            let mut bits = 0;
            if closed || (no_more && socket.shutdown.closes_write()) {
                bits |= libc::POLLHUP;
            }
            if no_more {
                bits |= normal | libc::POLLRDHUP;
            }
            if stream.readable() > 0 {
                bits |= normal;
            }
            if socket.is_writable() || socket.shutdown.closes_write() || closed {
                bits |= libc::POLLOUT | libc::POLLWRNORM;
            }
            bits
        }
    };
    state | error
}

impl Stack {
    /// The events of a descriptor that are in `events`, or errors; POLLNVAL if there is no such descriptor.
    pub(crate) fn poll(&mut self, fd: RawFd, events: i16) -> i16 {
        let Ok(id) = self.id(fd) else { return libc::POLLNVAL };
        let Some(socket) = self.sockets.get_mut(&id) else { return libc::POLLNVAL };
        let found = events_of(socket) & (events | libc::POLLERR | libc::POLLHUP);
        // Space in the send buffer will wake the caller (`tcp_poll()`, SOCK_NOSPACE).
        if events & libc::POLLOUT != 0 && found & libc::POLLOUT == 0 {
            socket.write_space = WriteSpace::Awaited;
        }
        found
    }

    /// `epoll_create(2)`.
    pub(crate) fn open_epoll(&mut self) -> Result<RawFd, Errno> {
        let fd = placeholder()?;
        self.files.insert(fd, File::Epoll(Epoll::default()));
        Ok(fd)
    }

    /// `epoll_ctl(2)`.
    pub(crate) fn control_epoll(
        &mut self,
        epoll: RawFd,
        operation: i32,
        fd: RawFd,
        interest: Option<Interest>,
    ) -> Result<(), Errno> {
        self.socket(fd)?;
        self.epoll(epoll)?.control(operation, fd, interest)
    }

    /// `epoll_wait(2)`: what is ready; EAGAIN if nothing is.
    pub(crate) fn wait_epoll(&mut self, epoll: RawFd, most: usize) -> Result<Vec<Interest>, Errno> {
        let mut ready = Vec::new();
        for (fd, Interest { events, data }) in self.epoll(epoll)?.interests() {
            let wakes = self.socket(fd)?.wakes;
            let events = self.poll(fd, events as i16) as u16;
            let epoll = self.epoll(epoll)?;
            if events == 0 || ready.len() >= most || !epoll.may_report(fd, wakes) {
                continue;
            }
            ready.push(Interest { events: u32::from(events), data });
            epoll.reported(fd, wakes);
        }
        if ready.is_empty() { Err(Errno::EAGAIN) } else { Ok(ready) }
    }

    fn epoll(&mut self, fd: RawFd) -> Result<&mut Epoll, Errno> {
        match self.files.get_mut(&fd) {
            Some(File::Epoll(epoll)) => Ok(epoll),
            Some(File::Socket(_)) => Err(Errno::EINVAL),
            None => Err(Errno::EBADF),
        }
    }
}
