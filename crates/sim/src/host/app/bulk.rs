//! Bulk transfer: one end writes its data and closes; the other reads everything and closes when the data has ended.

use super::application::{Action, AppSpec, Application, read_all};
use netspurt_tcp::Connection;
use netspurt_tcp::time::Time;

/// A writer that found the send buffer full writes again when this fraction of it is free. The fraction is small enough not
/// to slow the transfer down. It avoids many small writes, each of which would be the end of application data.
const PART: u64 = 64;

/// The size that stands for a transfer without end.
const fn endless(bytes: Option<u64>) -> u64 {
    match bytes {
        Some(bytes) => bytes,
        None => u64::MAX,
    }
}

/// The sending end. It is done when the last byte has been acknowledged.
#[derive(Clone, Copy, Debug)]
pub struct BulkSender {
    /// Bytes to send; [`u64::MAX`] is a transfer without end.
    all: u64,
    done: Time,
}

impl BulkSender {
    /// A sender of `bytes` that has sent nothing yet; `None` is a transfer without end.
    pub(super) const fn new(bytes: Option<u64>) -> Self {
        Self { all: endless(bytes), done: Time::NEVER }
    }

    /// Whether it has more to write: it writes as soon as enough of the send buffer is free.
    pub(super) fn waits_for_room(&self, connection: &Connection) -> bool {
        connection.written() < self.all
    }

    /// Whether everything has been written.
    fn wind_up(&mut self, now: Time, connection: &Connection) -> Action {
        if !connection.is_closing() {
            return Action::Close;
        }
        if self.done.is_never() && connection.acknowledged() >= self.all {
            self.done = now;
        }
        Action::Wait(Time::NEVER)
    }
}

impl Application for BulkSender {
    #[inline(always)]
    fn next(&mut self, now: Time, _spec: &AppSpec, connection: &Connection) -> Action {
        let left = self.all.saturating_sub(connection.written());
        if left == 0 {
            return self.wind_up(now, connection);
        }
        let room = connection.room();
        if room > 0 && room >= left.min(connection.send_buffer() / PART) {
            return Action::Write(left.min(room));
        }
        Action::Wait(Time::NEVER)
    }

    fn done(&self) -> Time {
        self.done
    }
}

/// The receiving end. It is done when the last byte has been read.
#[derive(Clone, Copy, Debug)]
pub struct BulkReceiver {
    /// Bytes to read; [`u64::MAX`] is a transfer without end.
    all: u64,
    done: Time,
}

impl BulkReceiver {
    /// A receiver of `bytes` that has read nothing yet; `None` is a transfer without end.
    pub(super) const fn new(bytes: Option<u64>) -> Self {
        Self { all: endless(bytes), done: Time::NEVER }
    }

    /// A receiver that does not know how much data will arrive.
    pub(crate) const fn until_closed() -> Self {
        Self::new(None)
    }
}

impl Application for BulkReceiver {
    #[inline(always)]
    fn next(&mut self, now: Time, _spec: &AppSpec, connection: &Connection) -> Action {
        if let Some(read) = read_all(connection) {
            return read;
        }
        if connection.received() >= self.all && self.done.is_never() {
            self.done = now;
        }
        if connection.peer_finished() && !connection.is_closing() {
            return Action::Close;
        }
        Action::Wait(Time::NEVER)
    }

    fn done(&self) -> Time {
        self.done
    }
}
