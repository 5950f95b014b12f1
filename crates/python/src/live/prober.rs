//! The class `Prober`: ICMP echo, with a result for every packet.

use crate::tables::columns::Columns;
use netspurt_live::prober::{Family, Lengths, Pace, Plan, Prober as Native, Row, Speed, StartError};
use pyo3::exceptions::{PyPermissionError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt as _;
use pyo3::types::PyDict;
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A running prober, in a thread of its own.
#[pyclass(frozen, module = "netspurt._core")]
pub(crate) struct Prober(Mutex<Native>);

impl Prober {
    fn native<'py>(&'py self, py: Python<'py>) -> MutexGuard<'py, Native> {
        self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Prober {
    /// Starts a prober. ``hosts`` are addresses with an ignored port; ``lengths`` is ("listed", […]) or ("uniform",
    /// [low, high]), ``pace`` is ("every", [ns]), ("between", [low, high]) or ("replies", [shortest]).
    /// With ``hasty_end``, packets are lost sooner after the last one: after two of the longest RTT.
    #[staticmethod]
    #[pyo3(signature = (hosts, lengths, pace, *, speed, count, lost_after_ns, seed, hasty_end = false))]
    #[expect(clippy::too_many_arguments, reason = "these are keyword arguments in Python")]
    fn start(
        hosts: Vec<String>,
        lengths: (String, Vec<u16>),
        pace: (String, Vec<u64>),
        speed: &str,
        count: Option<u64>,
        lost_after_ns: u64,
        seed: u64,
        hasty_end: bool,
    ) -> PyResult<Self> {
        let unknown = |what: &str| PyValueError::new_err(format!("no such {what}"));
        let hosts = hosts.iter().map(|host| host.parse::<SocketAddr>()).collect::<Result<_, _>>();
        let lengths = match (lengths.0.as_str(), lengths.1.as_slice()) {
            ("listed", listed) => Lengths::Listed(listed.to_vec()),
            ("uniform", &[low, high]) => Lengths::Uniform(low, high),
            _ => return Err(unknown("choice of lengths")),
        };
        let pace = match (pace.0.as_str(), pace.1.as_slice()) {
            ("every", &[ns]) => Pace::Every(ns),
            ("between", &[low, high]) => Pace::Between(low, high),
            ("replies", &[shortest]) => Pace::AfterReplies(shortest),
            _ => return Err(unknown("pace")),
        };
        let fast = match speed {
            "gentle" => Speed::Gentle,
            "fast" => Speed::Fast,
            _ => return Err(unknown("speed")),
        };
        let hosts = hosts.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let plan = Plan { hosts, lengths, pace, fast, count, lost_after_ns, hasty_end, seed };
        match Native::start(plan) {
            Ok(native) => Ok(Self(Mutex::new(native))),
            Err(StartError::Denied(denied)) => Err(PyPermissionError::new_err(denied.to_string())),
            Err(error) => Err(PyValueError::new_err(error.to_string())),
        }
    }

    /// Waits for a row or the end, at most this number of seconds; False after the end.
    fn wait(&self, py: Python<'_>, seconds: f64) -> bool {
        let most = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        py.detach(|| self.0.lock().unwrap_or_else(PoisonError::into_inner).wait(most))
    }

    /// The rows since the last call, as columns, and the counters.
    fn take<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyDict>)> {
        let (rows, tally) = self.native(py).take();
        let counts = PyDict::new(py);
        counts.set_item("sent", tally.sent)?;
        counts.set_item("waiting", tally.waiting)?;
        counts.set_item("foreign", tally.foreign)?;
        counts.set_item("altered", tally.altered)?;
        counts.set_item("dropped", tally.dropped)?;
        Ok((columns(py, &rows)?, counts))
    }

    /// Stops the prober; outstanding packets get no row.
    fn stop(&self, py: Python<'_>) {
        py.detach(|| self.0.lock().unwrap_or_else(PoisonError::into_inner).stop());
    }

    /// The kind of the sockets for IPv4 and IPv6: "ping" or "raw".
    fn sockets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let kinds = PyDict::new(py);
        for &(family, kind) in self.native(py).kinds() {
            kinds.set_item(name(family), kind.name())?;
        }
        Ok(kinds)
    }

    /// Why there is no socket for "ipv4" or "ipv6", if hosts of that family were given.
    fn denied<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let reasons = PyDict::new(py);
        for why in self.native(py).denied() {
            reasons.set_item(name(why.family), why.to_string())?;
        }
        Ok(reasons)
    }
}

const fn name(family: Family) -> &'static str {
    match family {
        Family::V4 => "ipv4",
        Family::V6 => "ipv6",
    }
}

fn columns<'py>(py: Python<'py>, rows: &[Row]) -> PyResult<Bound<'py, PyDict>> {
    let columns = Columns::new(py);
    columns.array("time_s", rows.iter().map(|row| row.sent.wall.as_secs_f64()).collect())?;
    columns.counts("host", rows.iter().map(|row| row.host as u64))?;
    columns.counts("number", rows.iter().map(|row| row.number))?;
    columns.counts("length_octets", rows.iter().map(|row| row.length))?;
    columns.words("event", rows.iter().map(|row| row.event.name()))?;
    let milliseconds = |ns: u64| ns as f64 / 1e6;
    columns.array("rtt_ms", rows.iter().map(|row| row.rtt_ns.map_or(f64::NAN, milliseconds)).collect())?;
    columns.list("stamped", rows.iter().map(|row| row.stamped.map(|by| by.name())).collect())?;
    columns.list("from", rows.iter().map(|row| row.from.map(|from| from.to_string())).collect())?;
    columns.list("icmp_type", rows.iter().map(|row| row.icmp.map(|(kind, _)| kind)).collect())?;
    columns.list("icmp_code", rows.iter().map(|row| row.icmp.map(|(_, code)| code)).collect())?;
    columns.list("errno", rows.iter().map(|row| row.errno).collect())?;
    Ok(columns.finish())
}
