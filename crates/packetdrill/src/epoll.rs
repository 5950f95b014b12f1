//! The descriptors of an epoll instance and what it reports about them (epoll(7)).

use nix::errno::Errno;
use std::collections::BTreeMap;
use std::os::fd::RawFd;

/// What `epoll_ctl` sets: the events to report, and the data to return with them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Interest {
    pub(crate) events: u32,
    pub(crate) data: u64,
}

/// When a descriptor is reported.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Report {
    /// Whenever one of its events is present.
    WhenReady,
    /// When the socket's number of wake-ups differs from this one (EPOLLET).
    AfterWake(u32),
    /// Not until `epoll_ctl` changes the entry (EPOLLONESHOT).
    Disabled,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    interest: Interest,
    report: Report,
}

/// An epoll instance.
#[derive(Debug, Default)]
pub(crate) struct Epoll {
    entries: BTreeMap<RawFd, Entry>,
}

impl Epoll {
    /// Removes a descriptor that was closed.
    pub(crate) fn remove(&mut self, fd: RawFd) {
        self.entries.remove(&fd);
    }

    /// `epoll_ctl(2)`.
    pub(crate) fn control(
        &mut self,
        operation: i32,
        fd: RawFd,
        interest: Option<Interest>,
    ) -> Result<(), Errno> {
        match (operation, self.entries.contains_key(&fd)) {
            (libc::EPOLL_CTL_ADD, true) => Err(Errno::EEXIST),
            (libc::EPOLL_CTL_ADD, false) | (libc::EPOLL_CTL_MOD, true) => {
                let interest = interest.ok_or(Errno::EFAULT)?;
                self.entries.insert(fd, Entry { interest, report: Report::WhenReady });
                Ok(())
            }
            (libc::EPOLL_CTL_DEL, true) => {
                self.entries.remove(&fd);
                Ok(())
            }
            (libc::EPOLL_CTL_MOD | libc::EPOLL_CTL_DEL, false) => Err(Errno::ENOENT),
            _ => Err(Errno::EINVAL),
        }
    }

    /// The descriptors and their interests.
    pub(crate) fn interests(&self) -> Vec<(RawFd, Interest)> {
        self.entries.iter().map(|(&fd, entry)| (fd, entry.interest)).collect()
    }

    /// Whether the events of a descriptor may be reported after this number of wake-ups of its socket.
    pub(crate) fn may_report(&self, fd: RawFd, wakes: u32) -> bool {
        self.entries.get(&fd).is_some_and(|entry| match entry.report {
            Report::WhenReady => true,
            Report::AfterWake(seen) => seen != wakes,
            Report::Disabled => false,
        })
    }

    /// The events of a descriptor were reported after this number of wake-ups of its socket.
    pub(crate) fn reported(&mut self, fd: RawFd, wakes: u32) {
        let Some(entry) = self.entries.get_mut(&fd) else { return };
        let has = |flag: i32| entry.interest.events & flag as u32 != 0;
        entry.report = if has(libc::EPOLLONESHOT) {
            Report::Disabled
        } else if has(libc::EPOLLET) {
            Report::AfterWake(wakes)
        } else {
            Report::WhenReady
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watching(events: i32) -> Epoll {
        let mut epoll = Epoll::default();
        let interest = Interest { events: events as u32, data: 7 };
        epoll.control(libc::EPOLL_CTL_ADD, 3, Some(interest)).unwrap();
        epoll
    }

    #[test]
    fn a_level_triggered_descriptor_is_reported_again() {
        let mut epoll = watching(libc::EPOLLIN);
        epoll.reported(3, 1);
        assert!(epoll.may_report(3, 1));
    }

    #[test]
    fn an_edge_triggered_descriptor_is_reported_after_the_next_wake_up() {
        let mut epoll = watching(libc::EPOLLIN | libc::EPOLLET);
        assert!(epoll.may_report(3, 1));
        epoll.reported(3, 1);
        assert!(!epoll.may_report(3, 1));
        assert!(epoll.may_report(3, 2));
    }

    #[test]
    fn a_oneshot_descriptor_is_reported_once_until_it_is_modified() {
        let mut epoll = watching(libc::EPOLLIN | libc::EPOLLONESHOT);
        epoll.reported(3, 1);
        assert!(!epoll.may_report(3, 2));
        epoll.control(libc::EPOLL_CTL_MOD, 3, Some(Interest { events: 1, data: 7 })).unwrap();
        assert!(epoll.may_report(3, 2));
    }
}
