//! What every application answers, and what it may be asked to do.

use super::credit::StreamsSpec;
use crate::host::datagram::DatagramSpec;
use crate::host::own::Make;
use crate::host::session::SessionSpec;
use netspurt_tcp::Connection;
use netspurt_tcp::time::{Span, Time};
use std::fmt;
use std::sync::Arc;

/// What a flow does.
#[derive(Clone, PartialEq, Debug)]
pub enum AppSpec {
    /// The client sends, then closes.
    Bulk {
        /// How much; `None` for as long as the simulation lasts.
        bytes: Option<u64>,
    },
    /// The client asks and the server answers, over and over; then the client closes.
    RequestResponse {
        /// Bytes of a request.
        request: u64,
        /// Bytes of a response.
        response: u64,
        /// How often.
        exchanges: u64,
        /// From the last byte of a response to the next request.
        gap: Span,
    },
    /// The client fetches files side by side over one connection, with windows of the application's own.
    Streams(Arc<StreamsSpec>),
    /// The client opens connection after connection, and asks over each.
    Session(Arc<SessionSpec>),
    /// The client sends datagrams to the server; there is no connection.
    Datagrams(Arc<DatagramSpec>),
    /// What classes of the user's own do.
    Own(OwnApp),
}

impl AppSpec {
    /// Whether the data goes from the client to the server.
    pub const fn client_sends(&self) -> bool {
        matches!(self, Self::Bulk { .. } | Self::Datagrams(_) | Self::Own(_))
    }

    /// Bytes that are to be delivered to the receiving end: the server of a bulk transfer, the client of an exchange. Of a
    /// session nobody knows beforehand.
    pub fn bytes_asked(&self) -> Option<u64> {
        match self {
            Self::Bulk { bytes } => *bytes,
            Self::RequestResponse { response, exchanges, .. } => Some(response.saturating_mul(*exchanges)),
            Self::Streams(streams) => Some(streams.total()),
            Self::Session(_) | Self::Datagrams(_) | Self::Own(_) => None,
        }
    }
}

/// What an application does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// It reads this many bytes at most.
    Read(u64),
    /// It writes this many bytes, for which there is room.
    Write(u64),
    /// Of what it writes at once, this many bytes find room; it is not the end of application data.
    WritePart(u64),
    /// It works: what was asked has been read whole, and the answer is to be found. It takes as long as the host needs.
    Work,
    /// It has written all that it ever will.
    Close,
    /// It does nothing until its connection moves, or until this instant; [`Time::NEVER`] if only the former counts.
    Wait(Time),
}

/// One end of an application.
///
/// It knows little: what it is to do stands in its [`AppSpec`], and how much has been read and written the connection
/// knows.
pub trait Application: std::fmt::Debug + Send {
    /// What it does now. Whoever asks carries it out, and asks again unless it is to wait.
    fn next(&mut self, now: Time, spec: &AppSpec, connection: &Connection) -> Action;
    /// Whether it has more to send, and no credit for it from its own protocol.
    fn waits_for_credit(&self) -> bool {
        false
    }
    /// When the task was done at this end; [`Time::NEVER`] if it is not.
    fn done(&self) -> Time;
}

/// An application of the user's own: `from` sends, `to` receives, as far as results are concerned.
#[derive(Clone)]
pub struct OwnApp {
    /// What `from` does.
    pub client: Make<dyn Application>,
    /// What `to` does; without it, it reads all that comes and closes when `from` has.
    pub server: Option<Make<dyn Application>>,
}

impl PartialEq for OwnApp {
    /// The same, not only alike.
    fn eq(&self, other: &Self) -> bool {
        let servers = match (&self.server, &other.server) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        };
        Arc::ptr_eq(&self.client, &other.client) && servers
    }
}

impl fmt::Debug for OwnApp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnApp").finish_non_exhaustive()
    }
}

/// Reads everything there is. A read takes what a payload can say at most, and no window is that large.
#[inline]
pub(super) fn read_all(connection: &Connection) -> Option<Action> {
    (connection.readable() > 0).then_some(Action::Read(u64::MAX))
}
