//! The two ends of a connection that a session has opened: one asks what it is told to ask, the other answers.
//!
//! The session (see [`crate::host::session`]) is the client's head. When it asks, it says at both ends what the exchange is: the
//! client writes the request, and the server, which in life would read in it what is wanted, writes the reply once the
//! whole request is there.

use super::application::{Action, AppSpec, Application, read_all};
use crate::host::session::Pattern;
use netspurt_tcp::Connection;
use netspurt_tcp::time::Time;
use std::collections::VecDeque;
use std::sync::Arc;

/// Writes one message after another by its pattern. A write that finds no room goes on when there is some, as a program
/// does that waits in `write`; and what one write has brought leaves before the next one begins.
#[derive(Clone, Debug)]
struct Writer {
    pattern: Arc<Pattern>,
    /// Bytes of the message not yet written.
    left: u64,
    /// Bytes among them of the write that was begun.
    of_write: u64,
    /// Writes begun.
    begun: u32,
    /// The next write may not begin before.
    not_before: Time,
    /// A write is over behind which nothing has been sent yet.
    let_out: bool,
}

impl Writer {
    const fn new(pattern: Arc<Pattern>) -> Self {
        Self { pattern, left: 0, of_write: 0, begun: 0, not_before: Time::ZERO, let_out: false }
    }

    const fn begin(&mut self, len: u64) {
        (self.left, self.of_write, self.begun) = (len, 0, 0);
    }

    /// The next thing to do for the message; `None` when it is written.
    fn next(&mut self, now: Time, connection: &Connection) -> Option<Action> {
        if self.left == 0 {
            return None;
        }
        if self.of_write == 0 {
            if now < self.not_before || (self.let_out && now == self.not_before) {
                self.let_out = false;
                return Some(Action::Wait(self.not_before));
            }
            self.of_write = self.pattern.write(self.begun).clamp(1, self.left);
            self.begun += 1;
        }
        let fits = self.of_write.min(connection.room());
        if fits == 0 {
            return Some(Action::Wait(Time::NEVER));
        }
        self.left -= fits;
        self.of_write -= fits;
        if self.of_write == 0 {
            self.not_before = if self.left > 0 { now + self.pattern.gap } else { now };
            self.let_out = true;
        }
        Some(if self.of_write == 0 { Action::Write(fits) } else { Action::WritePart(fits) })
    }
}

/// The asking end. What it is to ask, and when it is to close, its session says.
#[derive(Clone, Debug)]
pub struct Asker {
    /// The connection's number in its session, and its port: whoever opens it says so.
    pub(crate) number: u32,
    pub(crate) port: u16,
    closing: Closing,
    /// The session is to hear of it now.
    news: bool,
    /// The session is to hear when so much has been received.
    tell_at: u64,
    /// Bytes of requests that are not with the writer yet. What is asked at once is one message.
    requests: u64,
    writer: Writer,
}

/// How far an end is with closing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Closing {
    Not,
    /// As soon as nothing is left to be written.
    Wanted,
    Done,
}

impl Asker {
    pub(crate) const fn new(pattern: Arc<Pattern>) -> Self {
        Self {
            number: 0,
            port: 0,
            closing: Closing::Not,
            news: false,
            tell_at: u64::MAX,
            requests: 0,
            writer: Writer::new(pattern),
        }
    }

    /// It is to ask for one thing more.
    pub(crate) fn ask(&mut self, request: u64) {
        self.requests = self.requests.saturating_add(request);
    }

    /// It is to close when it has asked everything.
    pub(crate) fn finish(&mut self) {
        if self.closing == Closing::Not {
            self.closing = Closing::Wanted;
        }
    }

    /// Its session wants to hear when so much has been received in all, or when the connection is over before.
    pub(crate) const fn tell_at(&mut self, received: u64) {
        self.tell_at = received;
    }

    /// Whether its session has to be told something. It is told once.
    #[inline]
    pub(crate) const fn take_news(&mut self) -> bool {
        core::mem::replace(&mut self.news, false)
    }

    /// The connection is over, perhaps before it was ever open.
    pub(crate) fn note_end(&mut self, connection: &Connection) {
        if self.tell_at < u64::MAX && connection.closed().is_some() {
            self.tell_at = u64::MAX;
            self.news = true;
        }
    }
}

impl Application for Asker {
    fn next(&mut self, now: Time, _spec: &AppSpec, connection: &Connection) -> Action {
        if let Some(read) = read_all(connection) {
            return read;
        }
        if connection.received() >= self.tell_at {
            self.tell_at = u64::MAX;
            self.news = true;
        }
        self.note_end(connection);
        loop {
            if let Some(action) = self.writer.next(now, connection) {
                return action;
            }
            match core::mem::take(&mut self.requests) {
                0 => break,
                requests => self.writer.begin(requests),
            }
        }
        let wanted = self.closing == Closing::Wanted || connection.peer_finished();
        if wanted && self.closing != Closing::Done {
            self.closing = Closing::Done;
            return Action::Close;
        }
        Action::Wait(Time::NEVER)
    }

    fn done(&self) -> Time {
        Time::NEVER
    }
}

/// The answering end. It closes behind its last reply if it was told so, else when the client has.
#[derive(Clone, Debug)]
pub struct Answerer {
    /// Exchanges to come: how much is received when the request is whole, and the length of the reply.
    replies: VecDeque<(u64, u64)>,
    /// Length of all requests so far.
    requests: u64,
    closing: Closing,
    writer: Writer,
}

impl Answerer {
    pub(crate) const fn new(pattern: Arc<Pattern>) -> Self {
        Self { replies: VecDeque::new(), requests: 0, closing: Closing::Not, writer: Writer::new(pattern) }
    }

    /// One thing more will be asked for.
    pub(crate) fn expect(&mut self, request: u64, reply: u64) {
        self.requests = self.requests.saturating_add(request);
        self.replies.push_back((self.requests, reply));
    }

    /// Nothing more will be asked for than what is known: it closes behind its last reply.
    pub(crate) fn finish(&mut self) {
        if self.closing == Closing::Not {
            self.closing = Closing::Wanted;
        }
    }
}

impl Application for Answerer {
    fn next(&mut self, now: Time, _spec: &AppSpec, connection: &Connection) -> Action {
        if let Some(read) = read_all(connection) {
            return read;
        }
        if let Some(action) = self.writer.next(now, connection) {
            return action;
        }
        if let Some(&(whole, reply)) = self.replies.front()
            && connection.received() >= whole
        {
            self.replies.pop_front();
            self.writer.begin(reply);
            return Action::Work;
        }
        let wanted =
            (self.closing == Closing::Wanted && self.replies.is_empty()) || connection.peer_finished();
        if wanted && self.closing != Closing::Done {
            self.closing = Closing::Done;
            return Action::Close;
        }
        Action::Wait(Time::NEVER)
    }

    fn done(&self) -> Time {
        Time::NEVER
    }
}
