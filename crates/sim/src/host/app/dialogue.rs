//! The two ends of a connection that belongs to a session: the client sends the requests of the session, and the
//! server answers them.
//!
//! The session (see [`crate::host::session`]) decides for the client. It gives each request and its reply to both ends. The
//! client writes the request. The server writes the reply when the whole request has arrived; a real server would learn
//! from the request what to send.

use super::application::{Action, AppSpec, Application, read_all};
use crate::host::session::Pattern;
use netspurt_tcp::Connection;
use netspurt_tcp::time::Time;
use std::collections::VecDeque;
use std::sync::Arc;

/// Writes one message after another in the pattern that the scenario gives. A write that finds no room continues when there
/// is some, like a program that blocks in `write`. Each write is sent before the next one begins.
#[derive(Clone, Debug)]
struct Writer {
    pattern: Arc<Pattern>,
    /// Bytes of the message not yet written.
    left: u64,
    /// Bytes not yet written of the write that was begun.
    of_write: u64,
    /// Number of writes begun.
    begun: u32,
    /// The next write may not begin before this time.
    not_before: Time,
    /// A write is complete, and TCP has not been asked for segments since.
    let_out: bool,
}

impl Writer {
    const fn new(pattern: Arc<Pattern>) -> Self {
        Self { pattern, left: 0, of_write: 0, begun: 0, not_before: Time::ZERO, let_out: false }
    }

    const fn begin(&mut self, len: u64) {
        (self.left, self.of_write, self.begun) = (len, 0, 0);
    }

    /// The next action for the message; `None` when all of it is written.
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

/// An end of a session's connection.
pub(super) trait Dialogue {
    /// Whether [`Application::next`] would only wait, without a time, if there is nothing to read.
    fn only_reads(&self, connection: &Connection) -> bool;
}

/// The requesting end. Its session says what to request and when to close.
#[derive(Clone, Debug)]
pub struct Asker {
    /// The connection's number in its session, and its port; both are set when it is opened.
    pub(crate) number: u32,
    pub(crate) port: u16,
    closing: Closing,
    /// The session must be informed now.
    news: bool,
    /// The session must be informed when this many bytes have been received.
    report_at: u64,
    /// Bytes of requests that the writer does not have yet. Requests made at the same time are one message.
    requests: u64,
    writer: Writer,
}

/// The state of closing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Closing {
    Not,
    /// Close as soon as everything is written.
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
            report_at: u64::MAX,
            requests: 0,
            writer: Writer::new(pattern),
        }
    }

    /// Adds a request.
    pub(crate) fn ask(&mut self, request: u64) {
        self.requests = self.requests.saturating_add(request);
    }

    /// Close after all requests.
    pub(crate) fn finish(&mut self) {
        if self.closing == Closing::Not {
            self.closing = Closing::Wanted;
        }
    }

    /// Reports to the session when `received` bytes have arrived in all, or when the connection ends before.
    pub(crate) const fn report_at(&mut self, received: u64) {
        self.report_at = received;
    }

    /// Whether the session must be informed. Returns true once for each event.
    #[inline]
    pub(crate) const fn take_news(&mut self) -> bool {
        core::mem::replace(&mut self.news, false)
    }

    /// The connection is over, perhaps before it was open.
    pub(crate) fn note_end(&mut self, connection: &Connection) {
        if self.report_at < u64::MAX && connection.closed().is_some() {
            self.report_at = u64::MAX;
            self.news = true;
        }
    }

    /// Whether it closes as soon as everything is written.
    fn closes(&self, connection: &Connection) -> bool {
        match self.closing {
            Closing::Not => connection.peer_finished(),
            Closing::Wanted => true,
            Closing::Done => false,
        }
    }
}

impl Dialogue for Asker {
    #[inline]
    fn only_reads(&self, connection: &Connection) -> bool {
        self.writer.left == 0
            && self.requests == 0
            && connection.received() < self.report_at
            && !self.closes(connection)
            && connection.closed().is_none()
    }
}

impl Application for Asker {
    fn next(&mut self, now: Time, _spec: &AppSpec, connection: &Connection) -> Action {
        if let Some(read) = read_all(connection) {
            return read;
        }
        if connection.received() >= self.report_at {
            self.report_at = u64::MAX;
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
        if self.closes(connection) {
            self.closing = Closing::Done;
            return Action::Close;
        }
        Action::Wait(Time::NEVER)
    }

    fn done(&self) -> Time {
        Time::NEVER
    }
}

/// The answering end. It closes after its last reply if it knows which is the last, otherwise after the client.
#[derive(Clone, Debug)]
pub struct Answerer {
    /// Requests still to arrive: for each, the bytes received when it is complete, and the length of its reply.
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

    /// Begins anew, as for another connection. The list of replies keeps its memory.
    pub(crate) fn begin_again(&mut self, pattern: Arc<Pattern>) {
        let mut replies = core::mem::take(&mut self.replies);
        replies.clear();
        *self = Self { replies, ..Self::new(pattern) };
    }

    /// Adds an expected request.
    pub(crate) fn expect(&mut self, request: u64, reply: u64) {
        self.requests = self.requests.saturating_add(request);
        self.replies.push_back((self.requests, reply));
    }

    /// No further request will come: close after the last reply.
    pub(crate) fn finish(&mut self) {
        if self.closing == Closing::Not {
            self.closing = Closing::Wanted;
        }
    }

    /// Whether it closes as soon as everything is written.
    fn closes(&self, connection: &Connection) -> bool {
        match self.closing {
            Closing::Not => connection.peer_finished(),
            Closing::Wanted => self.replies.is_empty() || connection.peer_finished(),
            Closing::Done => false,
        }
    }
}

impl Dialogue for Answerer {
    #[inline]
    fn only_reads(&self, connection: &Connection) -> bool {
        self.writer.left == 0
            && self.replies.front().is_none_or(|&(whole, _)| connection.received() < whole)
            && !self.closes(connection)
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
        if self.closes(connection) {
            self.closing = Closing::Done;
            return Action::Close;
        }
        Action::Wait(Time::NEVER)
    }

    fn done(&self) -> Time {
        Time::NEVER
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answerer_that_begins_again_is_like_a_new_one() {
        let pattern = || Arc::new(Pattern { piece: Some(100), ..Pattern::default() });
        let mut answerer = Answerer::new(pattern());
        answerer.expect(300, 5000);
        answerer.writer.begin(5000);
        answerer.finish();
        answerer.begin_again(pattern());
        assert_eq!(format!("{answerer:?}"), format!("{:?}", Answerer::new(pattern())));
    }
}
