//! What a session does, as data.

use super::arrivals::ArrivalsSpec;
use super::player::VideoSpec;
use crate::random::distribution::Distribution;
use netspurt_tcp::time::Span;
use std::sync::Arc;

/// A client that opens one connection after another and fetches pages, each of one or more files.
#[derive(Clone, PartialEq, Debug)]
pub struct SessionSpec {
    /// The server's port.
    pub port: u16,
    /// Length of the request for a file, in bytes.
    pub request: Distribution,
    /// Files of a page, including the first; at least 1.
    pub files: Distribution,
    /// Length of the first file of a page, in bytes.
    pub primary: Distribution,
    /// Length of each of the others.
    pub embedded: Distribution,
    /// Time from the last byte of a page to requesting the next one, in picoseconds.
    pub think: Distribution,
    /// Time from the start of the flow to requesting the first page, in picoseconds.
    pub first: Distribution,
    /// Number of pages; `None` until the simulation ends.
    pub pages: Option<u64>,
    /// How the files of a page are fetched.
    pub fetch: Fetch,
    /// Which end closes a connection that is no longer needed.
    pub closes: Closes,
    /// How requests, and how replies, are written.
    pub writes: [Arc<Pattern>; 2],
    /// A video: each page is a segment. The player chooses its length and says when the next one is requested.
    pub video: Option<Box<VideoSpec>>,
    /// An open loop: each page is one file, and is requested independently of the progress of earlier ones.
    pub arrivals: Option<Box<ArrivalsSpec>>,
}

impl SessionSpec {
    /// A client that fetches one file of `bytes` after another without a pause; the server closes.
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

    /// A client that plays a video of this many segments over one connection.
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

    /// A client that fetches pages of this many files with `fetch`, all with the same size distribution, and pauses between
    /// them.
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

/// How the files of a page are fetched. Except in a fan, the first file must be complete before the others are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fetch {
    /// Each over a new connection; those after the first in parallel (HTTP/1.0).
    Parallel {
        /// Largest number of connections at a time.
        limit: Option<u32>,
    },
    /// All at once, each over its own connection: many servers answer one client (incast).
    Fan {
        /// How long the connections last.
        lasts: Lasts,
    },
    /// All over one connection (HTTP/1.1).
    Single {
        /// When each file is requested.
        order: Order,
        /// How long the connection lasts.
        lasts: Lasts,
    },
}

/// When a file is requested over a connection that several files share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// When the one before is complete.
    InTurn,
    /// All after the first at once, when the first is complete (RFC 9112, section 9.3.2).
    Pipelined,
    /// All with the first: one request, and one reply as long as all files (RFC 2415, section 3).
    AsOne,
}

/// How long a connection lasts that several files share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lasts {
    /// One page.
    Page,
    /// As long as the client.
    Session,
}

/// Which end closes a connection that is no longer needed, and then keeps it in TIME-WAIT.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Closes {
    /// The client, when it has read the last byte.
    Client,
    /// The server, after the last byte.
    Server,
}

/// How a message is written: in one write, or in several.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Pattern {
    /// Lengths of the first writes.
    pub head: Box<[u64]>,
    /// Length of each later write; `None` writes the rest at once.
    pub piece: Option<u64>,
    /// Time from one write to the next.
    pub gap: Span,
}

impl Pattern {
    /// Length of the write at `position`.
    pub(crate) fn write(&self, position: u32) -> u64 {
        self.head.get(position as usize).copied().or(self.piece).unwrap_or(u64::MAX)
    }
}
