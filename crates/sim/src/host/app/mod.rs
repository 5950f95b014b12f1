//! What runs over a connection. One file each.
//!
//! An application is asked for its next [`Action`] whenever its connection has moved and when the time comes that it
//! asked for; it is asked again when that is done, until it waits. Deciding is all it does: who asks it reads, writes and
//! closes, and lets the host take its time over it. It is first asked when the connection is open, *behind* the segment
//! that opened it, as a program is that returns from `connect`.

mod application;
mod bulk;
mod credit;
mod dialogue;
mod request_response;
mod streams;

pub use application::{Action, AppSpec, Application, OwnApp};
pub use bulk::{BulkReceiver, BulkSender};
pub use credit::StreamsSpec;
pub use dialogue::{Answerer, Asker};
pub use request_response::{Requester, Responder};
pub use streams::{StreamsClient, StreamsServer};

use crate::host::datagram::{Sink, Source};
use netspurt_tcp::time::Time;
use netspurt_tcp::{Behind, Connection};
use std::sync::Arc;

/// The built-in applications.
#[derive(Debug)]
pub enum App {
    /// See [`BulkSender`].
    BulkSender(BulkSender),
    /// See [`BulkReceiver`].
    BulkReceiver(BulkReceiver),
    /// See [`Requester`].
    Requester(Requester),
    /// See [`Responder`].
    Responder(Responder),
    /// See [`Asker`].
    Asker(Box<Asker>),
    /// See [`Answerer`].
    Answerer(Box<Answerer>),
    /// See [`Source`]. It sends without a connection, so it has nothing to do here.
    DatagramSource(Box<Source>),
    /// See [`Sink`]; likewise.
    DatagramSink(Box<Sink>),
    /// The user's own, and built-in ones that are rare.
    Own(Box<dyn Application>),
}

impl App {
    /// The client's and the server's part of what `spec` asks for.
    pub fn pair(spec: &AppSpec) -> [Self; 2] {
        match spec {
            AppSpec::Bulk { bytes } => {
                [Self::BulkSender(BulkSender::new(*bytes)), Self::BulkReceiver(BulkReceiver::new(*bytes))]
            }
            AppSpec::RequestResponse { .. } => {
                [Self::Requester(Requester::new()), Self::Responder(Responder::new())]
            }
            AppSpec::Streams(_) => {
                [Self::Own(Box::new(StreamsClient::new())), Self::Own(Box::new(StreamsServer::new()))]
            }
            AppSpec::Session(spec) => {
                let [asking, answering] = spec.writes.each_ref().map(Arc::clone);
                [
                    Self::Asker(Box::new(Asker::new(asking))),
                    Self::Answerer(Box::new(Answerer::new(answering))),
                ]
            }
            AppSpec::Datagrams(_) => unreachable!("datagrams have no connection to run over"),
            AppSpec::Own(own) => {
                let reads = || -> Box<dyn Application> { Box::new(BulkReceiver::until_closed()) };
                [(own.client)(), own.server.as_ref().map_or_else(reads, |make| make())].map(Self::Own)
            }
        }
    }

    /// Does what can be done at `now`, up to a second write: behind each, TCP is to be asked what it sends.
    #[inline]
    pub fn run(&mut self, now: Time, spec: &AppSpec, connection: &mut Connection) -> Ran {
        match self {
            Self::BulkSender(app) => run(app, now, spec, connection),
            Self::BulkReceiver(app) => run(app, now, spec, connection),
            Self::Requester(app) => run(app, now, spec, connection),
            Self::Responder(app) => run(app, now, spec, connection),
            Self::Asker(app) => run_apart(&mut **app, now, spec, connection),
            Self::Answerer(app) => run_apart(&mut **app, now, spec, connection),
            Self::DatagramSource(_) | Self::DatagramSink(_) => Ran::Waits(Time::NEVER),
            Self::Own(app) => run_apart(&mut **app, now, spec, connection),
        }
    }

    /// See [`Application::next`].
    pub fn next(&mut self, now: Time, spec: &AppSpec, connection: &Connection) -> Action {
        match self {
            Self::BulkSender(app) => app.next(now, spec, connection),
            Self::BulkReceiver(app) => app.next(now, spec, connection),
            Self::Requester(app) => app.next(now, spec, connection),
            Self::Responder(app) => app.next(now, spec, connection),
            Self::Asker(app) => app.next(now, spec, connection),
            Self::Answerer(app) => app.next(now, spec, connection),
            Self::DatagramSource(_) | Self::DatagramSink(_) => Action::Wait(Time::NEVER),
            Self::Own(app) => app.next(now, spec, connection),
        }
    }

    /// A connection that could not be opened is no news to an application that has never heard of it; but to its session.
    #[cold]
    pub(crate) fn note_failure(&mut self, connection: &Connection) {
        if let Self::Asker(asker) = self {
            asker.note_end(connection);
        }
    }

    /// Whether it has something to tell its session, which it says once.
    #[inline]
    pub(crate) fn take_news(&mut self) -> bool {
        if let Self::Asker(asker) = self { asker.take_news() } else { false }
    }

    /// Whether its own protocol keeps it from sending more.
    pub(crate) fn waits_for_credit(&self) -> bool {
        matches!(self, Self::Own(app) if app.waits_for_credit())
    }

    /// See [`Application::done`].
    pub fn done(&self) -> Time {
        match self {
            Self::BulkSender(app) => app.done(),
            Self::BulkReceiver(app) => app.done(),
            Self::Requester(app) => app.done(),
            Self::Responder(app) => app.done(),
            Self::Asker(app) => app.done(),
            Self::Answerer(app) => app.done(),
            Self::DatagramSource(app) => app.done(),
            Self::DatagramSink(app) => app.last(),
            Self::Own(app) => app.done(),
        }
    }
}

/// How far an application came.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ran {
    /// It waits until its connection moves, or until this instant.
    Waits(Time),
    /// It is about to write, and has written before.
    Writes(Action),
}

#[inline]
fn run(app: &mut (impl Application + ?Sized), now: Time, spec: &AppSpec, connection: &mut Connection) -> Ran {
    let mut wrote = false;
    loop {
        match app.next(now, spec, connection) {
            Action::Wait(until) => return Ran::Waits(until),
            action @ (Action::Write(_) | Action::WritePart(_)) if wrote => return Ran::Writes(action),
            action => {
                wrote |= matches!(action, Action::Write(_) | Action::WritePart(_));
                perform(action, now, connection);
            }
        }
    }
}

/// The same, out of the way of applications that run for every packet of a long transfer.
#[inline(never)]
fn run_apart(
    app: &mut (impl Application + ?Sized),
    now: Time,
    spec: &AppSpec,
    connection: &mut Connection,
) -> Ran {
    run(app, now, spec, connection)
}

/// Carries out an action at once.
#[inline(always)]
pub(crate) fn perform(action: Action, now: Time, connection: &mut Connection) {
    match action {
        Action::Read(max) => {
            connection.read(now, max);
        }
        Action::Write(len) => {
            let accepted = connection.write(now, len);
            debug_assert!(accepted == Ok(len), "{len} bytes found no room: {accepted:?}");
        }
        Action::WritePart(len) => {
            let accepted = connection.write_part(now, len, Behind::More);
            debug_assert!(accepted == Ok(len), "{len} bytes found no room: {accepted:?}");
        }
        Action::Close => connection.close(now),
        Action::Work | Action::Wait(_) => {}
    }
}
