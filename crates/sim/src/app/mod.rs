//! What runs over a connection. One file each.
//!
//! An application is woken whenever its connection has moved and when the time comes that it asked for; it reads and
//! writes, and says when it wants to be woken next. It is first woken when the connection is open, *behind* the segment
//! that opened it, as a program is that returns from `connect`.

mod bulk;
mod request_response;

pub use bulk::{BulkReceiver, BulkSender};
pub use request_response::{Requester, Responder};

use netspurt_tcp::Connection;
use netspurt_tcp::time::{Span, Time};

/// What a flow does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
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
}

impl AppSpec {
    /// Bytes that are to be delivered to the receiving end: the server of a bulk transfer, the client of an exchange.
    pub const fn bytes_asked(&self) -> Option<u64> {
        match *self {
            Self::Bulk { bytes } => bytes,
            Self::RequestResponse { response, exchanges, .. } => Some(response.saturating_mul(exchanges)),
        }
    }
}

/// One end of an application.
///
/// It knows little: what it is to do stands in its [`AppSpec`], and how much has been read and written the connection
/// knows.
pub trait Application {
    /// Reads and writes what can be read and written. Returns when it wants to be woken although nothing has moved;
    /// [`Time::NEVER`] if not.
    fn wake(&mut self, now: Time, spec: &AppSpec, connection: &mut Connection) -> Time;
    /// When the task was done at this end; [`Time::NEVER`] if it is not.
    fn done(&self) -> Time;
}

/// The built-in applications.
#[derive(Clone, Copy, Debug)]
pub enum App {
    /// See [`BulkSender`].
    BulkSender(BulkSender),
    /// See [`BulkReceiver`].
    BulkReceiver(BulkReceiver),
    /// See [`Requester`].
    Requester(Requester),
    /// See [`Responder`].
    Responder(Responder),
}

impl App {
    /// The client's and the server's part of what `spec` asks for.
    pub const fn pair(spec: &AppSpec) -> [Self; 2] {
        match spec {
            AppSpec::Bulk { .. } => {
                [Self::BulkSender(BulkSender::new()), Self::BulkReceiver(BulkReceiver::new())]
            }
            AppSpec::RequestResponse { .. } => {
                [Self::Requester(Requester::new()), Self::Responder(Responder::new())]
            }
        }
    }
}

impl Application for App {
    #[inline]
    fn wake(&mut self, now: Time, spec: &AppSpec, connection: &mut Connection) -> Time {
        match self {
            Self::BulkSender(app) => app.wake(now, spec, connection),
            Self::BulkReceiver(app) => app.wake(now, spec, connection),
            Self::Requester(app) => app.wake(now, spec, connection),
            Self::Responder(app) => app.wake(now, spec, connection),
        }
    }

    fn done(&self) -> Time {
        match self {
            Self::BulkSender(app) => app.done(),
            Self::BulkReceiver(app) => app.done(),
            Self::Requester(app) => app.done(),
            Self::Responder(app) => app.done(),
        }
    }
}

/// Reads everything there is.
#[inline]
fn read_all(now: Time, connection: &mut Connection) {
    if connection.readable() > 0 {
        // A read takes what a payload can say at most, and no window is that large.
        connection.read(now, u64::MAX);
    }
}

/// Writes what finds room; a connection that is over takes nothing.
#[inline]
fn write(now: Time, connection: &mut Connection, len: u64) -> u64 {
    connection.write(now, len).unwrap_or(0)
}
