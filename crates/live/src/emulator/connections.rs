//! The TCP connections of the hosts' kernels, watched in a thread of its own: a list may take the kernel 0.3 ms, which
//! would delay packets.

use crate::sockets::{Diag, State};
use nix::errno::Errno;
use std::collections::BTreeSet;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Interval of the lists while the commands run, and when the emulation waits for the end of connections.
const RARELY: Duration = Duration::from_millis(500);
const OFTEN: Duration = Duration::from_millis(20);

/// What a list of all hosts' connections shows.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Seen {
    /// Connections that exist, those in TIME-WAIT left out.
    pub(super) open: usize,
    /// Connections that one end has closed, and that still exist.
    pub(super) closing: usize,
    /// The congestion controls of each host's connections so far.
    pub(super) congestion: Vec<BTreeSet<String>>,
}

/// The watching thread.
#[derive(Debug)]
pub(super) struct Connections {
    orders: Option<Sender<()>>,
    lists: Receiver<Seen>,
    thread: Option<JoinHandle<()>>,
    latest: Seen,
    /// Lists that began before the request for frequent ones do not count.
    stale: bool,
}

impl Connections {
    /// Watches the hosts to whose namespaces these belong; `None` is a host that is not watched.
    pub(super) fn watch(mut hosts: Vec<Option<Diag>>) -> std::io::Result<Self> {
        let (orders, requests) = channel();
        let (sender, lists) = channel();
        let mut latest = Seen { congestion: vec![BTreeSet::new(); hosts.len()], ..Seen::default() };
        let kept = latest.clone();
        let thread = std::thread::Builder::new().name("connections".to_owned()).spawn(move || {
            let mut interval = RARELY;
            loop {
                match requests.recv_timeout(interval) {
                    Ok(()) => interval = OFTEN,
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return,
                }
                // A list that fails is left out: the next one may succeed.
                if list(&mut hosts, &mut latest).is_ok() && sender.send(latest.clone()).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { orders: Some(orders), lists, thread: Some(thread), latest: kept, stale: false })
    }

    /// Asks for frequent lists from now on.
    pub(super) fn hurry(&mut self) {
        if let Some(orders) = &self.orders {
            // If the thread has ended, the latest list remains.
            let _ = orders.send(());
        }
        self.lists.try_iter().for_each(|seen| self.latest = seen);
        self.stale = true;
    }

    /// The latest list; `None` if there is none since [`hurry`](Self::hurry).
    pub(super) fn seen(&mut self) -> Option<&Seen> {
        for seen in self.lists.try_iter() {
            self.latest = seen;
            self.stale = false;
        }
        (!self.stale).then_some(&self.latest)
    }

    /// The congestion controls of each host's connections so far.
    pub(super) fn congestion(&mut self) -> &[BTreeSet<String>] {
        self.lists.try_iter().for_each(|seen| self.latest = seen);
        &self.latest.congestion
    }
}

impl Drop for Connections {
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            // A thread that has panicked has nothing more to say.
            let _ = thread.join();
        }
    }
}

fn list(hosts: &mut [Option<Diag>], seen: &mut Seen) -> Result<(), Errno> {
    (seen.open, seen.closing) = (0, 0);
    for (host, names) in hosts.iter_mut().zip(&mut seen.congestion) {
        let Some(diag) = host else { continue };
        diag.dump(|socket| {
            seen.open += 1;
            seen.closing += usize::from(socket.state.closing() || socket.state == State::CloseWait);
            let name = socket.congestion.name();
            if !name.is_empty() && !names.contains(name) {
                names.insert(name.to_owned());
            }
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    fn next(connections: &mut Connections) -> Seen {
        loop {
            if let Some(seen) = connections.seen() {
                return seen.clone();
            }
            std::thread::yield_now();
        }
    }

    #[test]
    fn connections_that_exist_are_counted_and_their_congestion_controls_named() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let client = TcpStream::connect(listener.local_addr().expect("an address")).expect("a connection");
        let (server, _) = listener.accept().expect("a connection");
        let mut connections =
            Connections::watch(vec![None, Some(Diag::open().expect("netlink"))]).expect("a thread");
        connections.hurry();
        assert_eq!(connections.seen(), None);
        let first = next(&mut connections);
        assert!(first.open >= 2);
        assert_eq!((first.congestion[0].len(), first.congestion[1].is_empty()), (0, false));
        // Other tests have connections too: only the names are this test's own.
        drop((client, server));
        connections.hurry();
        assert!(next(&mut connections).congestion[1].is_superset(&first.congestion[1]));
    }
}
