//! Files fetched in parallel over one connection, with flow control of the application protocol, as in HTTP/2 (RFC 9113,
//! section 5.2).
//!
//! The client requests all files at once. The server may send as much of each file, and of all files together, as the
//! client has given it credit for. After reading half a window the client gives credit for it, in a frame of 13 bytes for
//! each stream and one for the connection (section 6.9).
//!
//! The files have equal lengths and are sent in turn, so their windows open together and one sum describes all of them.
//! Frame headers are left out; they are 0.05 % of the data.

use super::application::{Action, AppSpec, Application, read_all};
use super::credit::StreamsSpec;
use netspurt_tcp::Connection;
use netspurt_tcp::time::Time;

fn of(spec: &AppSpec) -> StreamsSpec {
    if let AppSpec::Streams(streams) = spec { **streams } else { StreamsSpec::default() }
}

/// The end that fetches. It is done when it has read the last byte of all files.
#[derive(Clone, Copy, Debug)]
pub struct StreamsClient {
    closed: bool,
    done: Time,
}

impl StreamsClient {
    pub(super) const fn new() -> Self {
        Self { closed: false, done: Time::NEVER }
    }
}

impl Application for StreamsClient {
    fn next(&mut self, now: Time, spec: &AppSpec, connection: &Connection) -> Action {
        if let Some(read) = read_all(connection) {
            return read;
        }
        let spec = of(spec);
        let unwritten = spec.written_after(connection.received()).saturating_sub(connection.written());
        let fits = unwritten.min(connection.room());
        if fits > 0 {
            return Action::Write(fits);
        }
        if self.done.is_never() && unwritten == 0 && connection.received() >= spec.total() {
            self.done = now;
        }
        if !self.done.is_never() && !self.closed {
            self.closed = true;
            return Action::Close;
        }
        Action::Wait(Time::NEVER)
    }

    fn done(&self) -> Time {
        self.done
    }
}

/// The end that sends the files. It closes after the client.
#[derive(Clone, Copy, Debug)]
pub struct StreamsServer {
    closed: bool,
    waits_for_credit: bool,
}

impl StreamsServer {
    pub(super) const fn new() -> Self {
        Self { closed: false, waits_for_credit: false }
    }
}

impl Application for StreamsServer {
    fn next(&mut self, _now: Time, spec: &AppSpec, connection: &Connection) -> Action {
        if let Some(read) = read_all(connection) {
            return read;
        }
        let spec = of(spec);
        let permitted = spec.permitted_after(connection.received());
        let unwritten = permitted.saturating_sub(connection.written());
        self.waits_for_credit = permitted > 0 && permitted < spec.total() && unwritten == 0;
        let fits = unwritten.min(connection.room());
        if fits > 0 {
            self.waits_for_credit = permitted < spec.total() && fits == unwritten;
            return Action::Write(fits);
        }
        if !self.closed && unwritten == 0 && connection.peer_finished() {
            self.closed = true;
            return Action::Close;
        }
        Action::Wait(Time::NEVER)
    }

    fn waits_for_credit(&self) -> bool {
        self.waits_for_credit
    }

    fn done(&self) -> Time {
        Time::NEVER
    }
}
