//! Bulk transfer: one end writes all it has and closes, the other reads all that comes and closes when it is over.

use super::{AppSpec, Application, read_all, write};
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
    /// Bytes that the connection's buffer takes, once it has been found full.
    capacity: u64,
    closed: bool,
    done: Time,
}

impl BulkSender {
    /// A sender that has sent nothing yet.
    pub(super) const fn new() -> Self {
        Self { capacity: u64::MAX, closed: false, done: Time::NEVER }
    }

    /// Writes these bytes if there is room worth the trouble.
    fn write(&mut self, now: Time, connection: &mut Connection, bytes: u64) {
        let buffered = connection.written() - connection.acknowledged();
        if self.capacity.saturating_sub(buffered) >= self.capacity / PART {
            let accepted = write(now, connection, bytes);
            if accepted < bytes {
                self.capacity = buffered + accepted;
            }
        }
    }

    /// Nothing is left to write.
    fn wind_up(&mut self, now: Time, connection: &mut Connection, all: u64) {
        if !self.closed {
            self.closed = true;
            connection.close(now);
        }
        if self.done.is_never() && connection.acknowledged() >= all {
            self.done = now;
        }
    }
}

impl Application for BulkSender {
    #[inline]
    fn wake(&mut self, now: Time, spec: &AppSpec, connection: &mut Connection) -> Time {
        match spec.bytes_asked() {
            None => self.write(now, connection, PLENTY),
            Some(all) => {
                let left = all.saturating_sub(connection.written());
                if left > 0 {
                    self.write(now, connection, left);
                }
                if connection.written() >= all {
                    self.wind_up(now, connection, all);
                }
            }
        }
        Time::NEVER
    }

    fn done(&self) -> Time {
        self.done
    }
}

/// The receiving end. It is done when the last byte has been read.
#[derive(Clone, Copy, Debug)]
pub struct BulkReceiver {
    closed: bool,
    done: Time,
}

impl BulkReceiver {
    /// A receiver that has read nothing yet.
    pub(super) const fn new() -> Self {
        Self { closed: false, done: Time::NEVER }
    }
}

impl Application for BulkReceiver {
    #[inline]
    fn wake(&mut self, now: Time, spec: &AppSpec, connection: &mut Connection) -> Time {
        read_all(now, connection);
        if self.done.is_never() && spec.bytes_asked().is_some_and(|all| connection.received() >= all) {
            self.done = now;
        }
        if !self.closed && connection.peer_finished() {
            self.closed = true;
            connection.close(now);
        }
        Time::NEVER
    }

    fn done(&self) -> Time {
        self.done
    }
}
