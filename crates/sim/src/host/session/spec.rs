//! What a session does, as plain data.

use super::arrivals::ArrivalsSpec;
use super::player::VideoSpec;
use crate::random::distribution::Distribution;
use netspurt_tcp::time::Span;
use std::sync::Arc;

/// What a client does that opens connection after connection: page after page, each of one or more files.
#[derive(Clone, PartialEq, Debug)]
pub struct SessionSpec {
    /// The server's port.
    pub port: u16,
    /// Length of the request for a file, in bytes.
    pub request: Distribution,
    /// Files of a page, the first among them; at least 1.
    pub files: Distribution,
    /// Length of the first file of a page, in bytes.
    pub primary: Distribution,
    /// Length of each of the others.
    pub embedded: Distribution,
    /// From the last byte of a page to asking for the next one, in picoseconds.
    pub think: Distribution,
    /// From the start of the flow to asking for the first page, in picoseconds.
    pub first: Distribution,
    /// How many pages; `None` for as long as the simulation lasts.
    pub pages: Option<u64>,
    /// How the files of a page are fetched.
    pub fetch: Fetch,
    /// Which end closes a connection that has done its work.
    pub closes: Closes,
    /// How requests, and how replies, are handed to TCP.
    pub writes: [Arc<Pattern>; 2],
    /// A video: each page is a segment, whose length its player chooses, and the player says when the next is asked for.
    pub video: Option<Box<VideoSpec>>,
    /// An open loop: each page is one file, and arrives whatever becomes of those before it.
    pub arrivals: Option<Box<ArrivalsSpec>>,
}

impl SessionSpec {
    /// A client that fetches one file after another, each of `bytes`, without pausing, and whose server closes.
    pub fn files(bytes: Distribution) -> Self {
        Self {
            port: 21,
            request: Distribution::constant(64.0),
            files: Distribution::constant(1.0),
            primary: bytes.clone(),
            embedded: bytes,
            think: Distribution::constant(0.0),
            first: Distribution::constant(0.0),
            pages: None,
            fetch: Fetch::Parallel { limit: None },
            closes: Closes::Server,
            writes: [Arc::default(), Arc::default()],
            video: None,
            arrivals: None,
        }
    }

    /// A client that plays a video of so many segments over one connection.
    pub fn video(video: VideoSpec, segments: Option<u64>) -> Self {
        Self {
            port: 443,
            request: Distribution::constant(300.0),
            pages: segments,
            fetch: Fetch::Single { order: Order::InTurn, lasts: Lasts::Session },
            video: Some(Box::new(video)),
            ..Self::files(Distribution::constant(1.0))
        }
    }

    /// A client that fetches pages of so many files by `fetch`, all of the same distribution, thinking in between.
    pub fn web(files: u32, bytes: Distribution, think: Span, fetch: Fetch) -> Self {
        Self {
            port: 80,
            request: Distribution::constant(300.0),
            files: Distribution::constant(f64::from(files)),
            think: Distribution::constant(think.as_ps() as f64),
            fetch,
            ..Self::files(bytes)
        }
    }
}

/// How the files of a page are fetched. But for a fan, the first one tells of the others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fetch {
    /// Each over a new connection, those behind the first side by side (HTTP/1.0).
    Parallel {
        /// So many connections at a time at most.
        limit: Option<u32>,
    },
    /// All at once, each over a connection of its own: many servers answer one client (incast).
    Fan {
        /// How long the connections last.
        lasts: Lasts,
    },
    /// All over one connection (HTTP/1.1).
    Single {
        /// In which order they are asked for.
        order: Order,
        /// How long the connection lasts.
        lasts: Lasts,
    },
}

/// When a file is asked for over a connection that several share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// When the one before is there.
    InTurn,
    /// All behind the first at once, when that is there (RFC 9112, section 9.3.2).
    Pipelined,
    /// All with the first: one request, and one reply as long as all of them (RFC 2415, section 3).
    AsOne,
}

/// How long a connection lasts that several files share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lasts {
    /// For one page.
    Page,
    /// As long as the client.
    Session,
}

/// Which end closes a connection that has done its work, and so keeps its TIME-WAIT.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Closes {
    /// The client, when it has read the last byte.
    Client,
    /// The server, behind the last byte.
    Server,
}

/// How a message is handed to TCP: in one write, or in several.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Pattern {
    /// Lengths of the first writes.
    pub head: Box<[u64]>,
    /// Length of each write behind those; `None` for all that is left at once.
    pub piece: Option<u64>,
    /// From one write to the next.
    pub gap: Span,
}

impl Pattern {
    /// Length of the write at this position, if so much is left.
    pub(crate) fn write(&self, position: u32) -> u64 {
        self.head.get(position as usize).copied().or(self.piece).unwrap_or(u64::MAX)
    }
}
