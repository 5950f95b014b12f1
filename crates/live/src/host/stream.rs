//! A connection with its bytes, as an application sees it.

use super::ring::Ring;
use netspurt_tcp::state::{CloseReason, State};
use netspurt_tcp::time::Time;
use netspurt_tcp::{Behind, Connection};
use std::net::SocketAddr;

/// The two ends of a connection.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Pair {
    /// Ours.
    pub local: SocketAddr,
    /// The peer's.
    pub remote: SocketAddr,
}

/// What sits on a connection.
pub trait Application: Send {
    /// Something is new: bytes, room, an end. It is called once when the connection opens, and after whatever happens to it
    /// until it is over, the last time with [`Stream::closed`]. What is not taken or written now waits for the next time.
    fn serve(&mut self, stream: &mut Stream<'_>) -> Next;
}

/// When an application is served again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// When something is new.
    Waits,
    /// As soon as what it wrote has been sent, or been held back: a write apart from the one before it.
    WritesAgain,
}

/// An application that leaves everything to the driver (see [`Host::stream`](super::Host::stream)).
#[derive(Clone, Copy, Debug, Default)]
pub struct Elsewhere;

impl Application for Elsewhere {
    fn serve(&mut self, _: &mut Stream<'_>) -> Next {
        Next::Waits
    }
}

/// Bytes on their way.
#[derive(Debug, Default)]
pub(super) struct Bytes {
    /// Written, and not acknowledged.
    pub(super) sending: Ring,
    /// Received, and not read.
    pub(super) arriving: Ring,
}

/// A connection, for the length of a call.
#[derive(Debug)]
pub struct Stream<'s> {
    pub(super) now: Time,
    pub(super) pair: Pair,
    pub(super) connection: &'s mut Connection,
    pub(super) bytes: &'s mut Bytes,
}

impl Stream<'_> {
    /// Its ends.
    pub const fn pair(&self) -> Pair {
        self.pair
    }

    /// The time of this call.
    pub const fn now(&self) -> Time {
        self.now
    }

    /// The connection, to be looked at.
    pub const fn connection(&self) -> &Connection {
        self.connection
    }

    /// The bytes that can be read now, in two parts.
    pub fn readable(&self) -> (&[u8], &[u8]) {
        let from = self.connection.received() - self.connection.readable();
        let len = usize::try_from(self.connection.readable()).unwrap_or(0);
        self.bytes.arriving.get(from, len).unwrap_or_default()
    }

    /// The first `len` of them were read.
    pub fn consume(&mut self, len: usize) {
        let mut left = len as u64;
        while left > 0 {
            let read = self.connection.read(self.now, left);
            if read.len == 0 {
                break;
            }
            left -= u64::from(read.len);
            self.bytes.arriving.release(read.offset + u64::from(read.len));
        }
    }

    /// How many bytes can be written.
    pub fn room(&self) -> u64 {
        self.connection.room()
    }

    /// Writes as much as there is room for, and ends application data there; returns how much. Nothing is taken from an
    /// application that has closed.
    pub fn write(&mut self, data: &[u8]) -> usize {
        self.write_part(data, Behind::Nothing)
    }

    /// The same for a part of a larger write.
    pub fn write_part(&mut self, data: &[u8], behind: Behind) -> usize {
        let at = self.connection.written();
        let taken = self.connection.write_part(self.now, data.len() as u64, behind).unwrap_or(0) as usize;
        self.bytes.sending.put(at, &data[..taken]);
        taken
    }

    /// Nothing more will be written. What the peer sends can still be read.
    pub fn close(&mut self) {
        self.connection.close(self.now);
    }

    /// Gives the connection up, with a RST.
    pub fn abort(&mut self) {
        self.connection.abort(self.now);
    }

    /// Whether the peer has closed and all that it sent was read.
    pub fn peer_finished(&self) -> bool {
        self.connection.peer_finished()
    }

    /// Whether it is open in at least one direction.
    pub fn is_open(&self) -> bool {
        self.connection.state().is_synchronized() && self.connection.state() != State::TimeWait
    }

    /// Why it is over, if it is.
    pub fn closed(&self) -> Option<CloseReason> {
        self.connection.closed()
    }
}
