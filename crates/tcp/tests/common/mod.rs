//! A deterministic pair of connections, joined by a path whose behaviour a test decides segment by segment.
#![expect(dead_code, reason = "each test file uses its own part of the pair")]

pub(crate) mod lone;

use netspurt_tcp::config::Config;
use netspurt_tcp::reason::Reason;
use netspurt_tcp::segment::Segment;
use netspurt_tcp::seq::Seq;
use netspurt_tcp::time::{Span, Time};
use netspurt_tcp::{Connection, Transmission};
use std::sync::Arc;

/// The two ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    Client,
    Server,
}

impl End {
    pub(crate) fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}

/// What the path does with a segment: the extra delays of the copies that arrive. Empty: it is lost.
pub(crate) type Fate = Vec<Span>;

/// A segment that was sent, for tests to look at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) at: Time,
    pub(crate) from: End,
    pub(crate) segment: Segment,
    pub(crate) reason: Reason,
}

struct Flying {
    at: Time,
    order: u64,
    to: End,
    segment: Segment,
}

/// Client and server with the time, the path and the applications between them.
pub(crate) struct Pair<'a> {
    pub(crate) client: Connection,
    pub(crate) server: Connection,
    pub(crate) now: Time,
    /// One way.
    pub(crate) delay: Span,
    /// Every segment sent, in order.
    pub(crate) sent: Vec<Sent>,
    /// Whether arriving data is read at once.
    pub(crate) client_reads: bool,
    pub(crate) server_reads: bool,
    /// Stream bytes read at each end; each read must begin where the last one ended.
    pub(crate) client_read: u64,
    pub(crate) server_read: u64,
    path: Box<dyn FnMut(&Sent) -> Fate + 'a>,
    flying: Vec<Flying>,
    order: u64,
}

impl<'a> Pair<'a> {
    /// A client in CLOSED and a server in LISTEN, `delay` apart, on a path that loses nothing.
    pub(crate) fn new(client: Config, server: Config, delay: Span) -> Self {
        Self {
            client: Connection::new(Arc::new(client), Seq(1_000_000)),
            server: Connection::listen(Arc::new(server), Seq(u32::MAX - 5_000)),
            now: Time::ZERO,
            delay,
            sent: Vec::new(),
            client_reads: true,
            server_reads: true,
            client_read: 0,
            server_read: 0,
            path: Box::new(|_| vec![Span::ZERO]),
            flying: Vec::new(),
            order: 0,
        }
    }

    /// Puts another path between the two.
    pub(crate) fn path(mut self, path: impl FnMut(&Sent) -> Fate + 'a) -> Self {
        self.path = Box::new(path);
        self
    }

    /// Opens the connection and runs until both ends are established.
    pub(crate) fn open(mut self) -> Self {
        self.client.open(self.now);
        self.settle();
        self.run_for(Span::from_ps(self.delay.as_ps() * 4));
        self
    }

    pub(crate) fn end(&mut self, end: End) -> &mut Connection {
        match end {
            End::Client => &mut self.client,
            End::Server => &mut self.server,
        }
    }

    /// Writes at one end and lets it send.
    pub(crate) fn write(&mut self, end: End, len: u64) {
        let now = self.now;
        self.end(end).write(now, len).expect("the connection takes writes");
        self.settle();
    }

    /// Closes one end and lets it send.
    pub(crate) fn close(&mut self, end: End) {
        let now = self.now;
        self.end(end).close(now);
        self.settle();
    }

    /// Hands a segment to one end, as if it came from the network now.
    pub(crate) fn inject(&mut self, to: End, segment: &Segment) {
        let now = self.now;
        self.end(to).handle_segment(now, segment);
        self.settle();
    }

    /// Lets both ends send what they have.
    pub(crate) fn settle(&mut self) {
        for end in [End::Client, End::Server] {
            self.read(end);
            while let Some(Transmission { segment, reason }) = {
                let now = self.now;
                self.end(end).poll_transmit(now)
            } {
                self.launch(Sent { at: self.now, from: end, segment, reason });
            }
        }
    }

    fn launch(&mut self, sent: Sent) {
        assert!(self.sent.len() < 2_000_000, "the pair never comes to rest");
        self.sent.push(sent);
        for extra in (self.path)(&sent) {
            self.order += 1;
            self.flying.push(Flying {
                at: self.now + self.delay + extra,
                order: self.order,
                to: sent.from.other(),
                segment: sent.segment,
            });
        }
    }

    fn read(&mut self, end: End) {
        let now = self.now;
        let reads = if end == End::Client { self.client_reads } else { self.server_reads };
        if reads {
            let got = self.end(end).read(now, u64::MAX);
            let total = if end == End::Client { &mut self.client_read } else { &mut self.server_read };
            if got.len > 0 {
                assert_eq!(got.offset, *total, "the stream is read in order");
                *total += u64::from(got.len);
            }
        }
    }

    /// When something happens next.
    fn next(&self) -> Time {
        let flying = self.flying.iter().map(|f| f.at).min().unwrap_or(Time::NEVER);
        flying.min(self.client.next_deadline()).min(self.server.next_deadline())
    }

    /// Runs one instant's worth of events. Returns whether there was one at or before `until`.
    pub(crate) fn step(&mut self, until: Time) -> bool {
        let next = self.next();
        if next > until || next.is_never() {
            return false;
        }
        self.now = self.now.max(next);
        let now = self.now;
        let due =
            self.flying.iter().enumerate().filter(|(_, f)| f.at <= now).min_by_key(|(_, f)| (f.at, f.order));
        if let Some((index, _)) = due {
            let arrived = self.flying.swap_remove(index);
            self.end(arrived.to).handle_segment(now, &arrived.segment);
        } else {
            self.client.handle_deadline(now);
            self.server.handle_deadline(now);
        }
        self.settle();
        true
    }

    /// Runs until `until`.
    pub(crate) fn run_until(&mut self, until: Time) {
        while self.step(until) {}
        self.now = self.now.max(until);
    }

    pub(crate) fn run_for(&mut self, span: Span) {
        self.run_until(self.now + span);
    }

    /// What one end sent, with its reason.
    pub(crate) fn sent_by(&self, end: End) -> impl Iterator<Item = &Sent> {
        self.sent.iter().filter(move |s| s.from == end)
    }
}

/// Milliseconds from the origin.
pub(crate) fn ms(n: u64) -> Time {
    Time::ZERO + Span::from_ms(n)
}
