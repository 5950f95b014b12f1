//! A congestion control in Python.

use super::class::{Origin, Traits, number};
use netspurt_tcp::congestion::{self, CongestionControl, Signal};
use netspurt_tcp::time::Span;
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::sync::Arc;

const SIGNALS: [&str; 11] = [
    "on_acked",
    "on_dup_ack",
    "on_enter_recovery",
    "on_partial_ack",
    "on_exit_recovery",
    "on_timeout",
    "on_ecn_ce",
    "on_round_marked",
    "on_undo",
    "on_idle_restart",
    "on_resumed",
];

pub(super) const TRAITS: Traits = Traits {
    family: "a congestion control",
    needed: &["on_acked", "on_enter_recovery", "on_timeout"],
    heard: &SIGNALS,
};

/// The parameters at the start of a congestion control.
#[pyclass(frozen, get_all, module = "netspurt._core")]
pub(crate) struct Start {
    cwnd: u32,
    ssthresh: u32,
    seed: u32,
}

/// The connection as a congestion control sees it. Times in picoseconds, lengths in bytes.
#[pyclass(frozen, get_all, module = "netspurt._core")]
pub(crate) struct View {
    now_ps: u64,
    mss: u32,
    flight: u32,
    window: u32,
    srtt_ps: Option<u64>,
    rtt_ps: Option<u64>,
    paced: bool,
    acknowledged: u64,
    sent: u64,
    cwnd_limited: bool,
}

impl View {
    fn of(view: &congestion::View) -> Self {
        Self {
            now_ps: view.now.as_ps(),
            mss: view.mss,
            flight: view.flight,
            window: view.window,
            srtt_ps: view.srtt.map(Span::as_ps),
            rtt_ps: view.rtt.map(Span::as_ps),
            paced: view.paced,
            acknowledged: view.acknowledged,
            sent: view.sent,
            cwnd_limited: view.cwnd_limited,
        }
    }
}

/// An instance, with those of its [`SIGNALS`] methods that it has.
type Instance = (Py<PyAny>, [Option<Py<PyAny>>; SIGNALS.len()]);

/// The congestion control of one connection.
#[derive(Debug)]
pub(super) struct Own {
    origin: Arc<Origin>,
    /// Created when the connection starts.
    object: Option<Instance>,
    /// Its last value.
    cwnd: u32,
    ssthresh: u32,
}

impl Own {
    pub(super) const fn new(origin: Arc<Origin>) -> Self {
        Self { origin, object: None, cwnd: 1, ssthresh: u32::MAX }
    }
}

/// Reads the attributes cwnd and ssthresh.
fn windows(origin: &Origin, object: &Bound<'_, PyAny>, after: &str) -> PyResult<(u32, u32)> {
    let read = |name: &Bound<'_, PyString>| {
        let value = object.getattr(name)?;
        let bytes = number(&value, 1, u64::from(u32::MAX)).map_err(|shown| {
            let fault = format!("after {after} its {name} is {shown}, not a number of bytes of at least 1");
            origin.fault(object, &fault)
        })?;
        Ok::<_, PyErr>(bytes as u32)
    };
    let py = object.py();
    Ok((read(pyo3::intern!(py, "cwnd"))?, read(pyo3::intern!(py, "ssthresh"))?))
}

impl CongestionControl for Own {
    fn begin(&mut self, start: &congestion::Start) {
        let congestion::Start { cwnd, ssthresh, seed } = *start;
        let origin = &self.origin;
        let made = origin.ask(None, |py| {
            let object =
                origin.instance(origin.make.bind(py).call1((Start { cwnd, ssthresh, seed },)), &TRAITS)?;
            let windows = windows(origin, &object, "__init__")?;
            let methods = SIGNALS.map(|name| object.getattr(name).ok().map(Bound::unbind));
            Ok(Some((windows, (object.unbind(), methods))))
        });
        let Some((windows, object)) = made else { return };
        (self.cwnd, self.ssthresh) = windows;
        self.object = Some(object);
    }

    fn on(&mut self, signal: Signal, view: &congestion::View) {
        let Some((object, methods)) = &self.object else { return };
        let at = match signal {
            Signal::Acked { .. } => 0,
            Signal::DupAck { .. } => 1,
            Signal::EnterRecovery => 2,
            Signal::PartialAck { .. } => 3,
            Signal::ExitRecovery => 4,
            Signal::Timeout { .. } => 5,
            Signal::EcnCe => 6,
            Signal::RoundMarked { .. } => 7,
            Signal::Undo => 8,
            Signal::IdleRestart { .. } => 9,
            Signal::Resumed => 10,
        };
        let Some(method) = &methods[at] else { return };
        let before = (self.cwnd, self.ssthresh);
        (self.cwnd, self.ssthresh) = self.origin.ask(before, |py| {
            let (method, view) = (method.bind(py), View::of(view));
            match signal {
                Signal::Acked { bytes } | Signal::PartialAck { bytes } => method.call1((bytes, view)),
                Signal::DupAck { n } => method.call1((n, view)),
                Signal::Timeout { first } => method.call1((first, view)),
                Signal::RoundMarked { acked, marked } => method.call1((acked, marked, view)),
                _ => method.call1((view,)),
            }?;
            windows(&self.origin, object.bind(py), SIGNALS[at])
        });
    }

    fn cwnd(&self) -> u32 {
        self.cwnd
    }

    fn ssthresh(&self) -> u32 {
        self.ssthresh
    }
}
