//! Bulk transfer: one end writes its data and closes; the other reads everything and closes when the data has ended.

use super::application::{Action, AppSpec, Application, read_all};
use netspurt_tcp::time::Time;
use netspurt_tcp::{Connection, Space, Wish};

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

/// Whether there is enough room to write, if `left` bytes are left to write.
#[inline(always)]
const fn is_enough(space: Space, left: u64) -> bool {
    let part = space.buffer / PART;
    space.room > 0 && space.room >= if left < part { left } else { part }
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

    /// Its next action, if that needs no look at the connection.
    #[inline(always)]
    pub(crate) const fn wishes(&self, space: Space) -> Wish {
        let left = self.all.saturating_sub(space.written);
        if left > 0 && !is_enough(space, left) {
            Wish::Wait
        } else if left > space.room {
            Wish::Fill
        } else {
            Wish::Other
        }
    }

    /// Everything has been written: closes, and notes when the last byte is acknowledged.
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
        let space = connection.space();
        let counts_memory = connection.room_follows_sending();
        match self.all.saturating_sub(space.written) {
            0 => self.wind_up(now, connection),
            // Such a buffer has its own rule for a writer that waits, and packets that end with a call.
            left if counts_memory && space.room > 0 => {
                Action::Write(left.min(space.room).min(connection.left_of_call()))
            }
            left if is_enough(space, left) => Action::Write(left.min(space.room)),
            _ => Action::Wait(Time::NEVER),
        }
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

impl BulkReceiver {
    /// The next data has been read, `received` bytes in all, and more may follow.
    #[inline(always)]
    pub(crate) const fn note_read(&mut self, now: Time, received: u64) {
        if received >= self.all && self.done.is_never() {
            self.done = now;
        }
    }
}

impl Application for BulkReceiver {
    #[inline(always)]
    fn next(&mut self, now: Time, _spec: &AppSpec, connection: &Connection) -> Action {
        if let Some(read) = read_all(connection) {
            return read;
        }
        self.note_read(now, connection.received());
        if connection.peer_finished() && !connection.is_closing() {
            return Action::Close;
        }
        Action::Wait(Time::NEVER)
    }

    fn done(&self) -> Time {
        self.done
    }
}
