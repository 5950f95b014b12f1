//! Request and response: the client asks, the server answers when the whole request is there, and the client asks again.

use super::{AppSpec, Application, read_all, write};
use netspurt_tcp::Connection;
use netspurt_tcp::time::{Span, Time};

/// What is exchanged.
struct Exchange {
    request: u64,
    response: u64,
    exchanges: u64,
    gap: Span,
}

impl Exchange {
    const fn of(spec: &AppSpec) -> Self {
        match *spec {
            AppSpec::RequestResponse { request, response, exchanges, gap } => {
                Self { request, response, exchanges, gap }
            }
            AppSpec::Bulk { .. } => Self { request: 0, response: 0, exchanges: 0, gap: Span::ZERO },
        }
    }
}

/// The asking end. It is done when the last byte of the last response has been read.
#[derive(Clone, Copy, Debug)]
pub struct Requester {
    /// Requests begun.
    begun: u64,
    /// A response is still to come.
    waiting: bool,
    /// When the next request is due.
    next: Time,
    done: Time,
}

impl Requester {
    /// A client that has asked nothing yet.
    pub(super) const fn new() -> Self {
        Self { begun: 0, waiting: false, next: Time::ZERO, done: Time::NEVER }
    }
}

impl Application for Requester {
    fn wake(&mut self, now: Time, spec: &AppSpec, connection: &mut Connection) -> Time {
        let Exchange { request, response, exchanges, gap } = Exchange::of(spec);
        read_all(now, connection);
        if self.waiting && connection.received() >= self.begun.saturating_mul(response) {
            self.waiting = false;
            self.next = now + gap;
            if self.begun == exchanges {
                self.done = now;
                connection.close(now);
            }
        }
        if !self.waiting && self.begun < exchanges && now >= self.next {
            self.begun += 1;
            self.waiting = true;
        }
        let unwritten = self.begun.saturating_mul(request).saturating_sub(connection.written());
        if unwritten > 0 {
            write(now, connection, unwritten);
        }
        if !self.waiting && self.begun < exchanges { self.next } else { Time::NEVER }
    }

    fn done(&self) -> Time {
        self.done
    }
}

/// The answering end. It closes when the client has.
#[derive(Clone, Copy, Debug)]
pub struct Responder {
    closed: bool,
}

impl Responder {
    /// A server that has heard nothing yet.
    pub(super) const fn new() -> Self {
        Self { closed: false }
    }
}

impl Application for Responder {
    fn wake(&mut self, now: Time, spec: &AppSpec, connection: &mut Connection) -> Time {
        let Exchange { request, response, .. } = Exchange::of(spec);
        read_all(now, connection);
        let requests = connection.received() / request.max(1);
        let unwritten = requests.saturating_mul(response).saturating_sub(connection.written());
        if unwritten > 0 {
            write(now, connection, unwritten);
        }
        let all_written = connection.written() >= requests.saturating_mul(response);
        if !self.closed && all_written && connection.peer_finished() {
            self.closed = true;
            connection.close(now);
        }
        Time::NEVER
    }

    fn done(&self) -> Time {
        Time::NEVER
    }
}
