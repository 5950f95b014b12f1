//! A connection with its buffers, as an application uses it.

use super::ring::{Ring, Spares};
use netspurt_tcp::state::{CloseReason, State};
use netspurt_tcp::time::Time;
use netspurt_tcp::{Behind, Connection};
use std::net::SocketAddr;

/// The endpoints of a connection.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Pair {
    /// The local endpoint.
    pub local: SocketAddr,
    /// The remote endpoint.
    pub remote: SocketAddr,
}

/// An application on a connection.
pub trait Application: Send {
    /// Called when the connection opens, and after each change (data, send buffer space, end), the last time with
    /// [`Stream::closed`]. Data that is not read or written now can be at the next call.
    fn serve(&mut self, stream: &mut Stream<'_>) -> Next;

    /// When it is called without a change at the latest.
    fn deadline(&self) -> Time {
        Time::NEVER
    }
}

/// When an application is called again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// After the next change.
    Waits,
    /// When its last write was sent or held back, so that the next one is separate.
    WritesAgain,
}

/// An application without behaviour; the driver uses [`Host::stream`](super::Host::stream).
#[derive(Clone, Copy, Debug, Default)]
pub struct Elsewhere;

impl Application for Elsewhere {
    fn serve(&mut self, _: &mut Stream<'_>) -> Next {
        Next::Waits
    }
}

/// The buffers of a connection.
#[derive(Debug, Default)]
pub(super) struct Bytes {
    /// Written and not acknowledged.
    pub(super) sending: Ring,
    /// Received and not read.
    pub(super) arriving: Ring,
}

impl Bytes {
    /// Takes spare memory where there is none, before an application is served.
    pub(super) fn borrow_from(&mut self, spares: &mut Spares) {
        self.sending.borrow_from(spares);
        self.arriving.borrow_from(spares);
    }

    /// The memory of both.
    pub(super) fn memory(&self) -> usize {
        self.sending.memory() + self.arriving.memory()
    }

    /// Gives memory away that stores nothing: a connection without data has none.
    pub(super) fn return_to(&mut self, spares: &mut Spares) {
        self.sending.return_to(spares);
        self.arriving.return_to(spares);
    }
}

/// A connection during a call.
#[derive(Debug)]
pub struct Stream<'s> {
    pub(super) now: Time,
    pub(super) pair: Pair,
    pub(super) connection: &'s mut Connection,
    pub(super) bytes: &'s mut Bytes,
    /// How large the buffer of what is written may become.
    pub(super) most: usize,
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

    /// The connection, read-only.
    pub const fn connection(&self) -> &Connection {
        self.connection
    }

    /// The bytes that can be read now, in two parts.
    pub fn readable(&self) -> (&[u8], &[u8]) {
        let from = self.connection.received() - self.connection.readable();
        let len = usize::try_from(self.connection.readable()).unwrap_or(0);
        self.bytes.arriving.get(from, len).unwrap_or_default()
    }

    /// Removes the first `len` of them.
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

    /// Free space of the send buffer in bytes. It is smaller where the host has reached its limit of memory.
    pub fn room(&self) -> u64 {
        self.connection.room().min(self.permitted())
    }

    /// How much may be written without more memory than is permitted.
    fn permitted(&self) -> u64 {
        let stored = self.connection.written().saturating_sub(self.connection.acknowledged());
        (self.most as u64).saturating_sub(stored)
    }

    /// Writes as much as the send buffer accepts, and ends application data there. Returns the number of bytes; zero
    /// after `close`.
    pub fn write(&mut self, data: &[u8]) -> usize {
        self.write_part(data, Behind::Nothing)
    }

    /// The same for a part of a larger write.
    pub fn write_part(&mut self, data: &[u8], behind: Behind) -> usize {
        let at = self.connection.written();
        self.bytes.sending.release(self.connection.acknowledged());
        let len = (data.len() as u64).min(self.permitted());
        let taken = self.connection.write_part(self.now, len, behind).unwrap_or(0) as usize;
        self.bytes.sending.put(at, &data[..taken]);
        taken
    }

    /// Closes the sending direction. Data of the peer can still be read.
    pub fn close(&mut self) {
        self.connection.close(self.now);
    }

    /// Aborts the connection with an RST.
    pub fn abort(&mut self) {
        self.connection.abort(self.now);
    }

    /// Whether the peer has closed and all its data is read.
    pub fn peer_finished(&self) -> bool {
        self.connection.peer_finished()
    }

    /// Whether it is open in at least one direction.
    pub fn is_open(&self) -> bool {
        self.connection.state().is_synchronized() && self.connection.state() != State::TimeWait
    }

    /// Why it ended; `None` if it has not.
    pub fn closed(&self) -> Option<CloseReason> {
        self.connection.closed()
    }
}
