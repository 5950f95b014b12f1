//! What is ready to be read or written: poll(2) and epoll(7).

use crate::calls::connection::placeholder;
use crate::socket::{Role, Socket};
use crate::stack::{File, Stack};
use netspurt_tcp::state::State;
use nix::errno::Errno;
use std::collections::BTreeMap;
use std::os::fd::RawFd;

/// A set of descriptors that are watched.
#[derive(Debug, Default)]
pub(crate) struct Epoll {
    watched: BTreeMap<RawFd, Watched>,
}

#[derive(Clone, Copy, Debug)]
struct Watched {
    events: u32,
    data: u64,
    /// What the socket's count was when it was last reported, with EPOLLET.
    seen: Option<u32>,
    /// Reported once, with EPOLLONESHOT.
    spent: bool,
}

impl Epoll {
    /// A descriptor was closed.
    pub(crate) fn forget(&mut self, fd: RawFd) {
        self.watched.remove(&fd);
    }
}

/// What is the case at a socket, as poll's bits, which are epoll's too (`tcp_poll()`).
pub(crate) fn state_of(socket: &Socket) -> i16 {
    let error = if socket.error.is_some() { libc::POLLERR } else { 0 };
    let normal = libc::POLLIN | libc::POLLRDNORM;
    let state = match &socket.role {
        Role::Fresh if socket.deferred => libc::POLLOUT | libc::POLLWRNORM,
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
            let heard_fin = matches!(
                stream.state(),
                State::CloseWait | State::LastAck | State::Closing | State::TimeWait
            );
            let no_more = socket.read_shut || heard_fin || closed;
            let mut bits = 0;
            if closed || (no_more && socket.write_shut) {
                bits |= libc::POLLHUP;
            }
            if no_more {
                bits |= normal | libc::POLLRDHUP;
            }
            if stream.readable() > 0 {
                bits |= normal;
            }
            if socket.is_writable() || socket.write_shut || closed {
                bits |= libc::POLLOUT | libc::POLLWRNORM;
            }
            bits
        }
    };
    state | error
}

impl Stack {
    /// What of `events` is the case at a descriptor: POLLNVAL if there is none.
    pub(crate) fn poll(&mut self, fd: RawFd, events: i16) -> i16 {
        let Ok(id) = self.id(fd) else { return libc::POLLNVAL };
        let Some(socket) = self.sockets.get_mut(&id) else { return libc::POLLNVAL };
        let found = state_of(socket) & (events | libc::POLLERR | libc::POLLHUP);
        // Who asks for room and finds none is told when there is (`tcp_poll()`, SOCK_NOSPACE).
        socket.no_space |= events & libc::POLLOUT != 0 && found & libc::POLLOUT == 0;
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
        event: Option<(u32, u64)>,
    ) -> Result<(), Errno> {
        self.look(fd)?;
        let watched = &mut self.epoll(epoll)?.watched;
        let new = || {
            let (events, data) = event.ok_or(Errno::EFAULT)?;
            Ok::<_, Errno>(Watched { events, data, seen: None, spent: false })
        };
        match (operation, watched.contains_key(&fd)) {
            (libc::EPOLL_CTL_ADD, true) => Err(Errno::EEXIST),
            (libc::EPOLL_CTL_ADD, false) | (libc::EPOLL_CTL_MOD, true) => {
                watched.insert(fd, new()?);
                Ok(())
            }
            (libc::EPOLL_CTL_DEL, true) => {
                watched.remove(&fd);
                Ok(())
            }
            (libc::EPOLL_CTL_MOD | libc::EPOLL_CTL_DEL, false) => Err(Errno::ENOENT),
            _ => Err(Errno::EINVAL),
        }
    }

    /// `epoll_wait(2)`: events and data of what is ready; EAGAIN if nothing is.
    pub(crate) fn wait_epoll(&mut self, epoll: RawFd, most: usize) -> Result<Vec<(u32, u64)>, Errno> {
        let watched: Vec<(RawFd, Watched)> =
            self.epoll(epoll)?.watched.iter().map(|(&fd, &watched)| (fd, watched)).collect();
        let mut found = Vec::new();
        for (fd, mut one) in watched {
            let wakes = self.look(fd)?.wakes;
            let fresh = one.events & libc::EPOLLET as u32 == 0 || one.seen != Some(wakes);
            let events = self.poll(fd, one.events as i16) as u16;
            if one.spent || !fresh || events == 0 || found.len() >= most {
                continue;
            }
            found.push((u32::from(events), one.data));
            one.seen = Some(wakes);
            one.spent = one.events & libc::EPOLLONESHOT as u32 != 0;
            self.epoll(epoll)?.watched.insert(fd, one);
        }
        if found.is_empty() { Err(Errno::EAGAIN) } else { Ok(found) }
    }

    fn epoll(&mut self, fd: RawFd) -> Result<&mut Epoll, Errno> {
        match self.files.get_mut(&fd) {
            Some(File::Epoll(epoll)) => Ok(epoll),
            Some(File::Socket(_)) => Err(Errno::EINVAL),
            None => Err(Errno::EBADF),
        }
    }
}
