//! Whether the commands of hosts listen, watched in a thread of its own: to look through all processes takes the kernel
//! milliseconds, which would delay packets.

use crate::emulator::hosts::namespace::Mark;
use crate::emulator::hosts::processes;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// Interval of the checks.
const INTERVAL: Duration = Duration::from_millis(50);

/// The watching thread. It ends when all listen, or when this is dropped.
#[derive(Debug)]
pub(super) struct Listening {
    hosts: Arc<Vec<(usize, AtomicBool)>>,
    _ends: Sender<()>,
}

impl Listening {
    /// Watches the processes in the namespaces of these hosts, which are given by number.
    pub(super) fn watch(marks: Vec<(usize, Mark)>) -> std::io::Result<Self> {
        let hosts: Arc<Vec<_>> =
            Arc::new(marks.iter().map(|&(number, _)| (number, AtomicBool::new(false))).collect());
        let (ends, ended) = channel::<()>();
        let seen = Arc::clone(&hosts);
        std::thread::Builder::new().name("listening".to_owned()).spawn(move || {
            loop {
                let waiting =
                    marks.iter().zip(seen.iter()).filter(|(_, (_, is))| !is.load(Ordering::Relaxed));
                let mut left = false;
                for ((_, mark), (_, is)) in waiting {
                    let listens = processes::listens(*mark);
                    is.store(listens, Ordering::Relaxed);
                    left |= !listens;
                }
                if !left || ended.recv_timeout(INTERVAL) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
            }
        })?;
        Ok(Self { hosts, _ends: ends })
    }

    /// Whether the command of this host listens. A host that is not watched has nothing to wait for.
    pub(super) fn listens(&self, host: usize) -> bool {
        let watched = self.hosts.iter().find(|&&(number, _)| number == host);
        watched.is_none_or(|(_, listens)| listens.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emulator::hosts::namespace::mark_of;
    use std::net::TcpListener;
    use std::path::Path;

    #[test]
    fn a_program_that_listens_is_found_and_a_host_that_is_not_watched_has_nothing_to_wait_for() {
        let _listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let here = mark_of(Path::new("/proc/self/ns/net")).expect("a namespace");
        let watch = Listening::watch(vec![(3, here)]).expect("a thread");
        assert!(watch.listens(4));
        let found = (0..2_000).any(|_| {
            let (_silent, nothing) = channel::<()>();
            watch.listens(3) || nothing.recv_timeout(Duration::from_millis(10)).is_ok()
        });
        assert!(found);
    }

    #[test]
    fn a_namespace_without_processes_does_not_listen() {
        let watch = Listening::watch(vec![(3, Mark(0))]).expect("a thread");
        assert!(!watch.listens(3));
    }
}
