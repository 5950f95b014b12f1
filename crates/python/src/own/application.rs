//! An application in Python, at one end of a connection.

use super::class::{Origin, Traits};
use netspurt_sim::host::app::{self, AppSpec, Application};
use netspurt_tcp::Connection;
use netspurt_tcp::time::Time;
use pyo3::prelude::*;
use std::sync::Arc;

pub(super) const TRAITS: Traits = Traits { family: "an application", needed: &["next"], heard: &[] };

/// The next action of an application.
#[pyclass(frozen, eq, module = "netspurt._core")]
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Action(app::Action);

#[pymethods]
impl Action {
    /// Reads available data, at most this number of bytes.
    #[staticmethod]
    #[pyo3(signature = (most = None))]
    fn read(most: Option<u64>) -> Self {
        Self(app::Action::Read(most.unwrap_or(u64::MAX)))
    }

    /// Writes this number of bytes, for which there is room.
    #[staticmethod]
    const fn write(length: u64) -> Self {
        Self(app::Action::Write(length))
    }

    /// Writes a part of a larger write, of which more follows.
    #[staticmethod]
    const fn write_part(length: u64) -> Self {
        Self(app::Action::WritePart(length))
    }

    /// Waits for the host's processing time of a response.
    #[staticmethod]
    const fn work() -> Self {
        Self(app::Action::Work)
    }

    /// Closes the sending direction.
    #[staticmethod]
    const fn close() -> Self {
        Self(app::Action::Close)
    }

    /// Waits until the connection changes, or until this time if that is earlier.
    #[staticmethod]
    #[pyo3(signature = (until_ps = None))]
    fn wait(until_ps: Option<u64>) -> Self {
        Self(app::Action::Wait(until_ps.map_or(Time::NEVER, Time::from_ps)))
    }

    fn __repr__(&self) -> String {
        match self.0 {
            app::Action::Read(u64::MAX) => "Action.read()".to_owned(),
            app::Action::Read(most) => format!("Action.read({most})"),
            app::Action::Write(length) => format!("Action.write({length})"),
            app::Action::WritePart(length) => format!("Action.write_part({length})"),
            app::Action::Work => "Action.work()".to_owned(),
            app::Action::Close => "Action.close()".to_owned(),
            app::Action::Wait(Time::NEVER) => "Action.wait()".to_owned(),
            app::Action::Wait(until) => format!("Action.wait({})", until.as_ps()),
        }
    }
}

/// The connection as its application sees it. Lengths in bytes.
#[pyclass(frozen, get_all, module = "netspurt._core")]
pub(crate) struct Socket {
    room: u64,
    send_buffer: u64,
    written: u64,
    acknowledged: u64,
    readable: u64,
    received: u64,
    peer_finished: bool,
}

impl Socket {
    fn of(connection: &Connection) -> Self {
        Self {
            room: connection.room(),
            send_buffer: connection.send_buffer(),
            written: connection.written(),
            acknowledged: connection.acknowledged(),
            readable: connection.readable(),
            received: connection.received(),
            peer_finished: connection.peer_finished(),
        }
    }
}

/// The application of one connection.
#[derive(Debug)]
pub(super) struct Own {
    origin: Arc<Origin>,
    object: Option<Py<PyAny>>,
    closed: bool,
    /// Time of its last `Work`.
    worked: Time,
    done: Time,
}

impl Own {
    pub(super) fn new(origin: Arc<Origin>) -> Self {
        let object = origin.ask(None, |py| {
            let object = origin.instance(origin.make.bind(py).call0(), &TRAITS)?;
            Ok(Some(object.unbind()))
        });
        Self { origin, object, closed: false, worked: Time::NEVER, done: Time::NEVER }
    }

    /// Why an action is invalid, or would repeat forever; in words.
    fn objection(&self, action: app::Action, now: Time, connection: &Connection) -> Option<String> {
        let room = connection.room();
        match action {
            app::Action::Read(0) => Some("it reads zero bytes: it must wait instead".to_owned()),
            app::Action::Read(_) if connection.readable() == 0 => {
                Some("it reads, but no data is available: it must check readable, and wait".to_owned())
            }
            app::Action::Write(0) | app::Action::WritePart(0) => {
                Some("it writes zero bytes: it must wait instead".to_owned())
            }
            app::Action::Write(length) | app::Action::WritePart(length) if length > room => Some(format!(
                "it writes {length} bytes, but the buffer has room for {room}: it must check room, and wait"
            )),
            app::Action::Close if self.closed => Some("it closes a second time".to_owned()),
            app::Action::Work if self.worked == now => Some("it works twice at the same instant".to_owned()),
            app::Action::Wait(until) if until <= now => Some(format!(
                "it waits until {} ps, but the time is already {} ps",
                until.as_ps(),
                now.as_ps()
            )),
            _ => None,
        }
    }
}

impl Application for Own {
    fn next(&mut self, now: Time, _: &AppSpec, connection: &Connection) -> app::Action {
        let idle = app::Action::Wait(Time::NEVER);
        let Some(object) = &self.object else { return idle };
        let (action, done) = self.origin.ask((idle, false), |py| {
            let object = object.bind(py);
            let asked = (now.as_ps(), Socket::of(connection));
            let answer = object.call_method1(pyo3::intern!(py, "next"), asked)?;
            let Ok(action) = answer.cast::<Action>() else {
                let fault = format!("its method next returned {}, not an Action", answer.repr()?);
                return Err(self.origin.fault(object, &fault));
            };
            let action = action.get().0;
            if let Some(objection) = self.objection(action, now, connection) {
                return Err(self.origin.fault(object, &objection));
            }
            let done = match object.getattr_opt(pyo3::intern!(py, "done"))? {
                Some(done) => done.is_truthy()?,
                None => action == app::Action::Close,
            };
            Ok((action, done))
        });
        self.closed |= action == app::Action::Close;
        if action == app::Action::Work {
            self.worked = now;
        }
        if done && self.done.is_never() {
            self.done = now;
        }
        action
    }

    fn done(&self) -> Time {
        self.done
    }
}
