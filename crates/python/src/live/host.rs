//! The class `Host`: our TCP on a TUN device, in a thread of its own.

use crate::errors::{capture_error, scenario_error};
use netspurt_live::host::app::Writes;
use netspurt_live::host::{Account, Limits, Mss, News, Plan, Role, Row, Service, StartError, Stdio, Where};
use netspurt_live::tun::{Network, Offload, OpenError};
use netspurt_scenario::{End, Scenario};
use netspurt_tcp::config::Config;
use netspurt_tcp::event::Phase;
use netspurt_tcp::state::CloseReason;
use pyo3::exceptions::{PyPermissionError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt as _;
use pyo3::types::{PyDict, PyList};
use std::fs::File;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A minimal scenario with TCP, which parses and checks the TCP keys as in any other.
const TWO_HOSTS: &str = r#"
duration = "1 s"

[link.wire]
between = ["a", "b"]
rate = "1 Gbit/s"
delay = "1 ms"

[[flow]]
app = { kind = "bulk", bytes = "1 KiB" }
from = "a"
to = "b"
"#;

/// A running host.
#[pyclass(frozen, module = "netspurt._core")]
pub(crate) struct Host(Mutex<Service>);

impl Host {
    fn native<'py>(&'py self, py: Python<'py>) -> MutexGuard<'py, Service> {
        self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Host {
    /// Starts a host. ``tcp`` contains keys of a scenario's ``[tcp]`` table with their values as TOML; ``role`` is a
    /// dict with "kind" and its parameters.
    #[staticmethod]
    #[pyo3(signature = (device, addresses, role, *, tcp, mtu, offload, capture = None))]
    fn start(
        device: String,
        addresses: Vec<String>,
        role: &Bound<'_, PyDict>,
        tcp: Vec<(String, String)>,
        mtu: u32,
        offload: &str,
        capture: Option<PathBuf>,
    ) -> PyResult<Self> {
        let py = role.py();
        let (config, mss) = config(py, &tcp)?;
        let wrong = |error: &dyn std::error::Error| PyValueError::new_err(error.to_string());
        let networks = addresses.iter().map(|text| text.parse::<Network>()).collect::<Result<_, _>>();
        let networks = networks.map_err(|error| wrong(&error))?;
        let offload = match offload {
            "segments" => Offload::Segments,
            "nothing" => Offload::Nothing,
            other => return Err(PyValueError::new_err(format!("unknown offload: {other}"))),
        };
        let (role, limits) = (read_role(role)?, Limits::default());
        let plan = Plan { device, offload, networks, mtu, config, mss, limits, role, capture };
        match py.detach(|| Service::start(plan)) {
            Ok(service) => Ok(Self(Mutex::new(service))),
            Err(error @ StartError::Open(OpenError::Denied(_))) => {
                Err(PyPermissionError::new_err(error.to_string()))
            }
            Err(StartError::Capture(error)) => Err(capture_error(py, "netspurt host", &error)),
            Err(error) => Err(wrong(&error)),
        }
    }

    /// The kernel's addresses on the device.
    fn kernel(&self, py: Python<'_>) -> Vec<String> {
        self.native(py).kernel().iter().map(ToString::to_string).collect()
    }

    /// Waits for an event or the end, at most this number of seconds; False after the end.
    fn wait(&self, py: Python<'_>, seconds: f64) -> bool {
        let most = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        py.detach(|| self.0.lock().unwrap_or_else(PoisonError::into_inner).wait(most))
    }

    /// The events since the last call: dicts with "event", which is "opened" or "closed".
    fn take_news<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let news = self.native(py).take_news();
        let news = news.iter().map(|news| match news {
            News::Opened(pair) => {
                let entry = PyDict::new(py);
                entry.set_item("event", "opened")?;
                entry.set_item("local", pair.local.to_string())?;
                entry.set_item("remote", pair.remote.to_string())?;
                Ok(entry)
            }
            News::Closed(account) => closed(py, account),
        });
        PyList::new(py, news.collect::<PyResult<Vec<_>>>()?)
    }

    /// The present state: a dict for each connection, and the counters.
    fn snapshot<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyList>, Bound<'py, PyDict>)> {
        let seen = py.detach(|| self.0.lock().unwrap_or_else(PoisonError::into_inner).snapshot());
        let rows = seen.rows.iter().map(|row| connection(py, row)).collect::<PyResult<Vec<_>>>()?;
        let counts = PyDict::new(py);
        for (name, count) in ["open", "half_open", "time_wait"].into_iter().zip(seen.counts) {
            counts.set_item(name, count)?;
        }
        let tally = seen.tally;
        counts.set_item("segments", tally.segments)?;
        counts.set_item("strange", tally.strange)?;
        counts.set_item("broken", tally.broken)?;
        counts.set_item("refused", tally.refused)?;
        counts.set_item("gave_way", tally.gave_way)?;
        counts.set_item("idle_gave_way", tally.idle_gave_way)?;
        counts.set_item("without_memory", tally.without_memory)?;
        counts.set_item("unanswered", tally.unanswered)?;
        counts.set_item("too_many", tally.too_many)?;
        counts.set_item("no_memory", tally.no_memory)?;
        Ok((PyList::new(py, rows)?, counts))
    }

    /// Stops the host. Returns an error message or None.
    fn stop(&self, py: Python<'_>) -> Option<String> {
        py.detach(|| self.0.lock().unwrap_or_else(PoisonError::into_inner).stop()).err()
    }
}

/// The configuration for these keys. Without a segment size, it follows from the device's MTU.
fn config(py: Python<'_>, tcp: &[(String, String)]) -> PyResult<(Config, Mss)> {
    let keys: Vec<(String, &str)> =
        tcp.iter().map(|(key, value)| (format!("tcp.{key}"), value.as_str())).collect();
    let overrides: Vec<(&str, &str)> = keys.iter().map(|(key, value)| (key.as_str(), *value)).collect();
    let scenario = Scenario::parse(TWO_HOSTS, "netspurt host", &overrides)
        .map_err(|error| scenario_error(py, &error))?;
    // Classes in Python cannot be used in a host.
    scenario.build("netspurt host").map_err(|error| PyValueError::new_err(error.message))?;
    let config = scenario.tcp_for(0, End::From).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let mss = if tcp.iter().any(|(key, _)| key == "mss") { Mss::Configured } else { Mss::OfDevice };
    Ok((config, mss))
}

fn read_role(role: &Bound<'_, PyDict>) -> PyResult<Role> {
    fn wanted<'py, T: FromPyObjectOwned<'py>>(role: &Bound<'py, PyDict>, key: &str) -> PyResult<Option<T>> {
        let value = role.get_item(key)?.filter(|value| !value.is_none());
        value.map(|value| value.extract::<T>().map_err(Into::into)).transpose()
    }
    let missing = |key: &str| PyValueError::new_err(format!("the role has no {key}"));
    let port: u16 = wanted(role, "port")?.ok_or_else(|| missing("port"))?;
    let place = match wanted::<String>(role, "remote")? {
        None => Where::Port(port),
        Some(remote) => {
            let address =
                remote.parse().map_err(|_| PyValueError::new_err(format!("{remote} is not an address")))?;
            let connections = wanted(role, "connections")?.unwrap_or(1);
            Where::Remote(std::net::SocketAddr::new(address, port), connections)
        }
    };
    match wanted::<String>(role, "kind")?.unwrap_or_default().as_str() {
        "splice" => Ok(Role::Splice(place, stdio()?)),
        "sink" => Ok(Role::Sink(place)),
        "source" => Ok(Role::Source(place, wanted(role, "bytes")?)),
        "http" => {
            let root: PathBuf = wanted(role, "root")?.ok_or_else(|| missing("root"))?;
            let writes: String = wanted(role, "writes")?.ok_or_else(|| missing("writes"))?;
            let writes: Writes = writes.parse().map_err(|error| PyValueError::new_err(format!("{error}")))?;
            Ok(Role::Http(port, root, writes))
        }
        other => Err(PyValueError::new_err(format!("unknown role: {other}"))),
    }
}

/// Duplicates of standard input and output, so that the originals stay open.
fn stdio() -> PyResult<Stdio> {
    use std::os::fd::AsFd as _;
    let input = std::io::stdin().as_fd().try_clone_to_owned()?;
    let output = std::io::stdout().as_fd().try_clone_to_owned()?;
    Ok(Stdio { input: File::from(input).into(), output })
}

fn closed<'py>(py: Python<'py>, account: &Account) -> PyResult<Bound<'py, PyDict>> {
    let entry = PyDict::new(py);
    entry.set_item("event", "closed")?;
    entry.set_item("local", account.pair.local.to_string())?;
    entry.set_item("remote", account.pair.remote.to_string())?;
    entry.set_item(
        "why",
        match account.why {
            CloseReason::Finished => "finished",
            CloseReason::Reset => "reset by the peer",
            CloseReason::Refused => "refused",
            CloseReason::Aborted => "given up",
            CloseReason::TimedOut => "timed out",
            CloseReason::UserTimeout => "user timeout expired",
            CloseReason::KeepAliveTimeout => "keep-alive timed out",
        },
    )?;
    entry.set_item("seconds", (account.lasted.1 - account.lasted.0).as_secs_f64())?;
    entry.set_item("bytes_sent", account.sent)?;
    entry.set_item("bytes_received", account.received)?;
    entry.set_item("segments_sent", account.stats.segments_sent)?;
    entry.set_item("segments_received", account.stats.segments_received)?;
    entry.set_item("retransmitted", account.stats.retransmitted)?;
    entry.set_item("timeouts", account.stats.timeouts)?;
    Ok(entry)
}

fn connection<'py>(py: Python<'py>, row: &Row) -> PyResult<Bound<'py, PyDict>> {
    let milliseconds = |span: netspurt_tcp::time::Span| span.as_secs_f64() * 1e3;
    let entry = PyDict::new(py);
    entry.set_item("local", row.pair.local.to_string())?;
    entry.set_item("remote", row.pair.remote.to_string())?;
    entry.set_item("age_s", row.age.as_secs_f64())?;
    entry.set_item("state", row.state.name())?;
    entry.set_item(
        "phase",
        match row.info.phase {
            Phase::SlowStart => "slow start",
            Phase::CongestionAvoidance => "avoidance",
            Phase::Recovery => "recovery",
            Phase::TimeoutRecovery => "after timeout",
        },
    )?;
    entry.set_item("holding", row.holding.name())?;
    entry.set_item("cwnd", row.cwnd)?;
    entry.set_item("ssthresh", row.ssthresh)?;
    entry.set_item("srtt_ms", row.srtt.map(milliseconds))?;
    entry.set_item("min_rtt_ms", row.info.min_rtt.map(milliseconds))?;
    entry.set_item("rto_ms", milliseconds(row.rto))?;
    entry.set_item("segment", row.segment)?;
    entry.set_item("peer_window", row.peer_window)?;
    entry.set_item("unacknowledged", row.info.unacknowledged)?;
    entry.set_item("send_queue", row.send_queue)?;
    entry.set_item("receive_queue", row.receive_queue)?;
    entry.set_item("bytes_sent", row.sent)?;
    entry.set_item("bytes_received", row.received)?;
    entry.set_item("sacked", row.info.sacked)?;
    entry.set_item("lost", row.info.lost)?;
    entry.set_item("retransmitted", row.stats.retransmitted)?;
    entry.set_item("timeouts", row.stats.timeouts)?;
    entry.set_item("shifts", (row.info.peer_shift, row.info.own_shift))?;
    entry.set_item("timestamps", row.info.timestamps)?;
    entry.set_item("sack", row.info.sack)?;
    Ok(entry)
}
