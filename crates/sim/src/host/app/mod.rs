//! The applications that run over a connection, one file each.
//!
//! An application is asked for its next [`Action`] when its connection has made progress and at the time that it asked for.
//! After each action it is asked again, until it waits. An application only decides; the caller reads, writes and closes,
//! and the host may take time for it. It is asked first after the segment that opened the connection has been processed,
//! like a program that returns from `connect`.

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
use application::read_all;
use dialogue::Dialogue;
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
    /// See [`Source`]. It sends without a connection, so it does nothing here.
    DatagramSource(Box<Source>),
    /// See [`Sink`]. It receives without a connection, so it does nothing here.
    DatagramSink(Box<Sink>),
    /// Applications written by the user, and rare built-in ones.
    Own(Box<dyn Application>),
}

impl App {
    /// The application of the client of `spec`.
    pub fn client(spec: &AppSpec) -> Self {
        match spec {
            AppSpec::Bulk { bytes } => Self::BulkSender(BulkSender::new(*bytes)),
            AppSpec::RequestResponse { .. } => Self::Requester(Requester::new()),
            AppSpec::Streams(_) => Self::Own(Box::new(StreamsClient::new())),
            AppSpec::Session(spec) => Self::Asker(Box::new(Asker::new(Arc::clone(&spec.writes[0])))),
            AppSpec::Datagrams(_) => unreachable!("datagrams have no connection to run over"),
            AppSpec::Own(own) => Self::Own((own.client)()),
        }
    }

    /// The application of the server of `spec`.
    pub fn server(spec: &AppSpec) -> Self {
        match spec {
            AppSpec::Bulk { bytes } => Self::BulkReceiver(BulkReceiver::new(*bytes)),
            AppSpec::RequestResponse { .. } => Self::Responder(Responder::new()),
            AppSpec::Streams(_) => Self::Own(Box::new(StreamsServer::new())),
            AppSpec::Session(spec) => Self::Answerer(Box::new(Answerer::new(Arc::clone(&spec.writes[1])))),
            AppSpec::Datagrams(_) => unreachable!("datagrams have no connection to run over"),
            AppSpec::Own(own) => {
                let reads = || -> Box<dyn Application> { Box::new(BulkReceiver::until_closed()) };
                Self::Own(own.server.as_ref().map_or_else(reads, |make| make()))
            }
        }
    }

    /// Begins anew as the same end of another connection of a session, in the memory that it has. Returns whether it could.
    pub(crate) fn begin_again(&mut self, spec: &AppSpec) -> bool {
        let AppSpec::Session(spec) = spec else { return false };
        let [asking, answering] = &spec.writes;
        match self {
            Self::Asker(asker) => **asker = Asker::new(Arc::clone(asking)),
            Self::Answerer(answerer) => answerer.begin_again(Arc::clone(answering)),
            _ => return false,
        }
        true
    }

    /// Carries out actions at `now` until the application waits, or is about to write a second time: after each write, TCP
    /// is asked for segments.
    #[inline]
    pub fn run(&mut self, now: Time, spec: &AppSpec, connection: &mut Connection) -> Ran {
        match self {
            Self::BulkSender(app) => {
                let before = connection.written();
                let ran = run(app, now, spec, connection);
                // Sending a segment may free memory of the send buffer. The application may then write again.
                let fills = connection.written() > before && connection.room_follows_sending();
                if fills { Ran::Writes(Action::Work) } else { ran }
            }
            Self::BulkReceiver(app) => run(app, now, spec, connection),
            Self::Requester(app) => run(app, now, spec, connection),
            Self::Responder(app) => run(app, now, spec, connection),
            Self::Asker(app) => run_dialogue(&mut **app, now, spec, connection),
            Self::Answerer(app) => run_dialogue(&mut **app, now, spec, connection),
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

    /// The connection has ended. An application whose connection never opened gets no call, but its session does.
    #[cold]
    pub(crate) fn note_failure(&mut self, connection: &Connection) {
        if let Self::Asker(asker) = self {
            asker.note_end(connection);
        }
    }

    /// Whether its session must be informed. Returns true once for each event.
    #[inline]
    pub(crate) fn take_news(&mut self) -> bool {
        if let Self::Asker(asker) = self { asker.take_news() } else { false }
    }

    /// Whether its own protocol keeps it from sending more data.
    pub(crate) fn waits_for_credit(&self) -> bool {
        matches!(self, Self::Own(app) if app.waits_for_credit())
    }

    /// Whether it has more to write, and waits until more of the send buffer is free than it needs for a byte. Others write
    /// whatever the buffer has room for.
    pub(crate) fn waits_for_room(&self, connection: &Connection) -> bool {
        matches!(self, Self::BulkSender(app) if app.waits_for_room(connection))
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

/// Why the application stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ran {
    /// It waits until its connection makes progress, or until this time.
    Waits(Time),
    /// It has written, and goes on with this action behind the segments of that.
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

/// The same for an end of a session's connection. Behind most packets it only reads.
#[inline]
fn run_dialogue(
    app: &mut (impl Application + Dialogue),
    now: Time,
    spec: &AppSpec,
    connection: &mut Connection,
) -> Ran {
    if let Some(read) = read_all(connection) {
        perform(read, now, connection);
    }
    if app.only_reads(connection) { Ran::Waits(Time::NEVER) } else { run_apart(app, now, spec, connection) }
}

/// The same for other applications. It is a separate function to keep the code of long transfers short.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_application_takes_three_words() {
        assert!(size_of::<App>() <= 24, "{}", size_of::<App>());
    }
}
