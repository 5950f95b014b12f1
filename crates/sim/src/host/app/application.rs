//! The interface of an application, and the description of each kind of application.

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
        /// Bytes to send; `None` to send until the simulation ends.
        bytes: Option<u64>,
    },
    /// The client sends a request and the server answers, repeatedly; then the client closes.
    RequestResponse {
        /// Bytes of a request.
        request: u64,
        /// Bytes of a response.
        response: u64,
        /// Number of requests.
        exchanges: u64,
        /// Time from the last byte of a response to the next request.
        gap: Span,
    },
    /// The client fetches files in parallel over one connection, with flow control of the application protocol.
    Streams(Arc<StreamsSpec>),
    /// The client opens one connection after another and sends requests over each.
    Session(Arc<SessionSpec>),
    /// The client sends datagrams to the server; there is no connection.
    Datagrams(Arc<DatagramSpec>),
    /// Applications written by the user.
    Own(OwnApp),
}

impl AppSpec {
    /// Whether the data goes from the client to the server.
    pub const fn client_sends(&self) -> bool {
        matches!(self, Self::Bulk { .. } | Self::Datagrams(_) | Self::Own(_))
    }

    /// Bytes to be delivered to the receiving end: the server of a bulk transfer, the client of an exchange. `None` if this
    /// is not known in advance, as for a session.
    pub fn bytes_asked(&self) -> Option<u64> {
        match self {
            Self::Bulk { bytes } => *bytes,
            Self::RequestResponse { response, exchanges, .. } => Some(response.saturating_mul(*exchanges)),
            Self::Streams(streams) => Some(streams.total()),
            Self::Session(_) | Self::Datagrams(_) | Self::Own(_) => None,
        }
    }
}

/// The next action of an application.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Read at most this many bytes.
    Read(u64),
    /// Write this many bytes, for which the buffer has room.
    Write(u64),
    /// Write this many bytes: the part of a larger write for which the buffer has room. More data of the write follows.
    WritePart(u64),
    /// Prepare the answer to a request that has been read completely. The host decides how long this takes.
    Work,
    /// Close: all data has been written.
    Close,
    /// Wait until the connection makes progress, or until this time; [`Time::NEVER`] waits for the connection only.
    Wait(Time),
}

/// One end of an application.
///
/// It holds little state: its task is in the [`AppSpec`], and the connection knows how much has been read and written.
pub trait Application: std::fmt::Debug + Send {
    /// The next action. The caller carries it out and asks again, unless the action is to wait.
    fn next(&mut self, now: Time, spec: &AppSpec, connection: &Connection) -> Action;
    /// Whether it has more to send but no credit from its own protocol.
    fn waits_for_credit(&self) -> bool {
        false
    }
    /// When this end finished its task; [`Time::NEVER`] if it has not.
    fn done(&self) -> Time;
}

/// An application written by the user. In results, `from` is the sender and `to` the receiver.
#[derive(Clone)]
pub struct OwnApp {
    /// The application at the sending end.
    pub client: Make<dyn Application>,
    /// The application at the receiving end. Without it, the receiver reads all data and closes after the sender.
    pub server: Option<Make<dyn Application>>,
}

impl PartialEq for OwnApp {
    /// Whether both are the same object, not only equal ones.
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

/// Reads all data there is. The length of one read is limited to the range of its type, which no window exceeds.
#[inline]
pub(super) fn read_all(connection: &Connection) -> Option<Action> {
    (connection.readable() > 0).then_some(Action::Read(u64::MAX))
}
