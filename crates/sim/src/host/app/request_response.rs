//! Request and response: the client sends a request, the server answers when the whole request has arrived, and the client
//! sends the next one.

use super::application::{Action, AppSpec, Application, read_all};
use netspurt_tcp::Connection;
use netspurt_tcp::time::{Span, Time};

/// Sizes and number of the messages.
struct Exchange {
    request: u64,
    response: u64,
    /// At most [`u32::MAX`]: no run gets that far.
    exchanges: u32,
    gap: Span,
}

impl Exchange {
    const fn of(spec: &AppSpec) -> Self {
        match *spec {
            AppSpec::RequestResponse { request, response, exchanges, gap } => {
                let exchanges = if exchanges > u32::MAX as u64 { u32::MAX } else { exchanges as u32 };
                Self { request, response, exchanges, gap }
            }
            _ => Self { request: 0, response: 0, exchanges: 0, gap: Span::ZERO },
        }
    }
}

/// The requesting end. It is done when the last byte of the last response has been read.
#[derive(Clone, Copy, Debug)]
pub struct Requester {
    /// Number of requests begun.
    begun: u32,
    /// A response is still to arrive.
    waiting: bool,
    /// The last response has been read.
    finished: bool,
    closed: bool,
    /// Time of the next request, or when the last response had been read.
    at: Time,
}

impl Requester {
    /// A client that has sent no request yet.
    pub(super) const fn new() -> Self {
        Self { begun: 0, waiting: false, finished: false, closed: false, at: Time::ZERO }
    }
}

impl Application for Requester {
    fn next(&mut self, now: Time, spec: &AppSpec, connection: &Connection) -> Action {
        if let Some(read) = read_all(connection) {
            return read;
        }
        let Exchange { request, response, exchanges, gap } = Exchange::of(spec);
        if self.waiting && connection.received() >= u64::from(self.begun).saturating_mul(response) {
            self.waiting = false;
            self.finished = self.begun == exchanges;
            self.at = if self.finished { now } else { now + gap };
        }
        if !self.waiting && self.begun < exchanges && now >= self.at {
            self.begun += 1;
            self.waiting = true;
        }
        let unwritten = u64::from(self.begun).saturating_mul(request).saturating_sub(connection.written());
        let fits = unwritten.min(connection.room());
        if fits > 0 {
            return Action::Write(fits);
        }
        if self.finished && !self.closed {
            self.closed = true;
            return Action::Close;
        }
        Action::Wait(if !self.waiting && self.begun < exchanges { self.at } else { Time::NEVER })
    }

    fn done(&self) -> Time {
        if self.finished { self.at } else { Time::NEVER }
    }
}

/// The answering end. It closes after the client.
#[derive(Clone, Copy, Debug)]
pub struct Responder {
    closed: bool,
    /// Requests whose answers are ready.
    answered: u64,
}

impl Responder {
    /// A server that has received nothing yet.
    pub(super) const fn new() -> Self {
        Self { closed: false, answered: 0 }
    }
}

impl Application for Responder {
    fn next(&mut self, _now: Time, spec: &AppSpec, connection: &Connection) -> Action {
        if let Some(read) = read_all(connection) {
            return read;
        }
        let Exchange { request, response, .. } = Exchange::of(spec);
        if self.answered < connection.received() / request.max(1) {
            self.answered += 1;
            return Action::Work;
        }
        let unwritten = self.answered.saturating_mul(response).saturating_sub(connection.written());
        let fits = unwritten.min(connection.room());
        if fits > 0 {
            return Action::Write(fits);
        }
        if !self.closed && unwritten == 0 && connection.peer_finished() {
            self.closed = true;
            return Action::Close;
        }
        Action::Wait(Time::NEVER)
    }

    fn done(&self) -> Time {
        Time::NEVER
    }
}
