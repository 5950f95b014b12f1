//! Bulk transfer: one end writes all it has and closes, the other reads all that comes and closes when it is over.

use super::{Application, Progress, read_all, write};
use netspurt_tcp::Connection;
use netspurt_tcp::time::Time;

/// What an endless sender offers at a time: more than any buffer takes.
const PLENTY: u64 = 1 << 40;
/// A writer that found the buffer full comes again when this part of it is free. Small enough not to matter to the
/// transfer, and it keeps a large buffer from being filled up byte by byte, each time with an end of data of its own.
const PART: u64 = 64;

/// The sending end. It is done when the last byte has been acknowledged.
#[derive(Clone, Copy, Debug)]
pub struct BulkSender {
    /// How much in all; `None` without end.
    bytes: Option<u64>,
    unwritten: u64,
    /// Bytes that the connection's buffer takes, once it has been found full.
    capacity: u64,
    closed: bool,
    done: Time,
}

impl BulkSender {
    /// Sends `bytes`, or without end.
    pub const fn new(bytes: Option<u64>) -> Self {
        let unwritten = match bytes {
            Some(bytes) => bytes,
            None => PLENTY,
        };
        Self { bytes, unwritten, capacity: u64::MAX, closed: false, done: Time::NEVER }
    }

    /// Writes if there is room worth the trouble.
    fn write(&mut self, now: Time, connection: &mut Connection) {
        let buffered = connection.written() - connection.acknowledged();
        if self.capacity.saturating_sub(buffered) < self.capacity / PART {
            return;
        }
        let accepted = write(now, connection, self.unwritten);
        if accepted < self.unwritten {
            self.capacity = buffered + accepted;
        }
        if self.bytes.is_some() {
            self.unwritten -= accepted;
        }
    }
}

impl Application for BulkSender {
    #[inline]
    fn wake(&mut self, now: Time, connection: &mut Connection) -> Time {
        if self.unwritten > 0 {
            self.write(now, connection);
        }
        if self.unwritten == 0 {
            if !self.closed {
                self.closed = true;
                connection.close(now);
            }
            if self.done.is_never() && self.bytes.is_some_and(|all| connection.acknowledged() >= all) {
                self.done = now;
            }
        }
        Time::NEVER
    }

    fn progress(&self) -> Progress {
        Progress { received: 0, done: self.done }
    }
}

/// The receiving end. It is done when the last byte has been read.
#[derive(Clone, Copy, Debug)]
pub struct BulkReceiver {
    expected: Option<u64>,
    received: u64,
    closed: bool,
    done: Time,
}

impl BulkReceiver {
    /// Reads until the sender closes.
    pub const fn new(expected: Option<u64>) -> Self {
        Self { expected, received: 0, closed: false, done: Time::NEVER }
    }
}

impl Application for BulkReceiver {
    #[inline]
    fn wake(&mut self, now: Time, connection: &mut Connection) -> Time {
        self.received += read_all(now, connection);
        if self.done.is_never() && self.expected.is_some_and(|expected| self.received >= expected) {
            self.done = now;
        }
        if !self.closed && connection.peer_finished() {
            self.closed = true;
            connection.close(now);
        }
        Time::NEVER
    }

    fn progress(&self) -> Progress {
        Progress { received: self.received, done: self.done }
    }
}
