//! Request and response: the client asks, the server answers when the whole request is there, and the client asks again.

use super::{Application, Progress, read_all, write};
use netspurt_tcp::Connection;
use netspurt_tcp::time::{Span, Time};

/// The asking end. It is done when the last byte of the last response has been read.
#[derive(Clone, Copy, Debug)]
pub struct Requester {
    request: u64,
    response: u64,
    gap: Span,
    /// Requests not yet begun.
    left: u64,
    /// Bytes of requests begun and not yet accepted by the connection.
    unwritten: u64,
    /// Bytes of the response that are still to come; 0 while no request is out.
    awaited: u64,
    /// When the next request is due.
    next: Time,
    received: u64,
    done: Time,
}

impl Requester {
    /// Asks `exchanges` times.
    pub const fn new(request: u64, response: u64, exchanges: u64, gap: Span) -> Self {
        Self {
            request,
            response,
            gap,
            left: exchanges,
            unwritten: 0,
            awaited: 0,
            next: Time::ZERO,
            received: 0,
            done: Time::NEVER,
        }
    }
}

impl Application for Requester {
    fn wake(&mut self, now: Time, connection: &mut Connection) -> Time {
        let got = read_all(now, connection);
        self.received += got;
        if self.awaited > 0 {
            self.awaited = self.awaited.saturating_sub(got);
            if self.awaited == 0 {
                self.next = now + self.gap;
                if self.left == 0 {
                    self.done = now;
                    connection.close(now);
                }
            }
        }
        if self.awaited == 0 && self.left > 0 && now >= self.next {
            self.left -= 1;
            self.unwritten += self.request;
            self.awaited = self.response;
        }
        if self.unwritten > 0 {
            self.unwritten -= write(now, connection, self.unwritten);
        }
        if self.awaited == 0 && self.left > 0 { self.next } else { Time::NEVER }
    }

    fn progress(&self) -> Progress {
        Progress { received: self.received, done: self.done }
    }
}

/// The answering end. It closes when the client has.
#[derive(Clone, Copy, Debug)]
pub struct Responder {
    request: u64,
    response: u64,
    /// Bytes of the request that are still to come.
    awaited: u64,
    unwritten: u64,
    received: u64,
    closed: bool,
}

impl Responder {
    /// Answers each `request` bytes with `response` bytes.
    pub const fn new(request: u64, response: u64) -> Self {
        Self { request, response, awaited: request, unwritten: 0, received: 0, closed: false }
    }
}

impl Application for Responder {
    fn wake(&mut self, now: Time, connection: &mut Connection) -> Time {
        let mut got = read_all(now, connection);
        self.received += got;
        while got >= self.awaited && got > 0 {
            got -= self.awaited;
            self.awaited = self.request;
            self.unwritten += self.response;
        }
        self.awaited -= got;
        if self.unwritten > 0 {
            self.unwritten -= write(now, connection, self.unwritten);
        }
        if self.unwritten == 0 && !self.closed && connection.peer_finished() {
            self.closed = true;
            connection.close(now);
        }
        Time::NEVER
    }

    fn progress(&self) -> Progress {
        Progress { received: self.received, done: Time::NEVER }
    }
}
