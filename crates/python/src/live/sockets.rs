//! The class `Sockets`: the kernel's TCP sockets with their time budgets, as columns.

use crate::tables::columns::Columns;
use netspurt_budget::Limit;
use netspurt_live::sockets::{
    Account, Clocks, Keep, LIMITS, NamespaceError, Owner, Shares, Socket, Tracked, Watch, WatchError,
};
use netspurt_tcp::time::{Span, Time};
use pyo3::exceptions::{PyPermissionError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt as _;
use pyo3::types::PyDict;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Watches the TCP sockets of a network namespace.
#[pyclass(frozen, module = "netspurt._core")]
pub(crate) struct Sockets(Mutex<Watch>);

impl Sockets {
    fn watch<'py>(&'py self, py: Python<'py>) -> MutexGuard<'py, Watch> {
        self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Sockets {
    /// Begins to watch this network namespace or another one.
    #[staticmethod]
    #[pyo3(signature = (namespace = None, keep = "sums"))]
    fn open(py: Python<'_>, namespace: Option<&str>, keep: &str) -> PyResult<Self> {
        let keep = match keep {
            "sums" => Keep::Sums,
            "intervals" => Keep::Intervals,
            _ => return Err(PyValueError::new_err("no such thing to keep")),
        };
        py.detach(|| Watch::open(namespace, keep))
            .map(|watch| Self(Mutex::new(watch)))
            .map_err(|error| raised(&error))
    }

    /// Asks the kernel for all sockets.
    fn poll(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.lock().unwrap_or_else(PoisonError::into_inner).poll())
            .map_err(|error| raised(&error))
    }

    /// Looks for the processes of new sockets.
    fn find_owners(&self, py: Python<'_>) {
        py.detach(|| self.0.lock().unwrap_or_else(PoisonError::into_inner).find_owners());
    }

    /// The sockets that exist.
    fn table<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let watch = self.watch(py);
        tracked(py, &watch.sockets().collect::<Vec<_>>())
    }

    /// The sockets that have ended since the last call.
    fn take_ended<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let ended = self.watch(py).take_ended();
        tracked(py, &ended.iter().collect::<Vec<_>>())
    }

    /// The intervals since the last call.
    fn take_intervals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let rows = self.watch(py).take_rows();
        let entries: Vec<Entry<'_>> =
            rows.iter().map(|row| Entry::new(row.number, row.from, row.account, &row.socket)).collect();
        let columns = Columns::new(py);
        common(&columns, &entries)?;
        Ok(columns.finish())
    }

    /// Counts so far.
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = self.watch(py).counts();
        let counts = PyDict::new(py);
        counts.set_item("polls", found.polls)?;
        counts.set_item("seen", found.seen)?;
        counts.set_item("missed", found.missed)?;
        Ok(counts)
    }

    /// The names of the limits that may occur.
    #[staticmethod]
    fn limits() -> Vec<&'static str> {
        LIMITS.map(Limit::name).to_vec()
    }
}

fn raised(error: &WatchError) -> PyErr {
    match error {
        WatchError::Namespace(NamespaceError::Denied(_)) => PyPermissionError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}

/// A time of a socket.
struct Entry<'a> {
    number: u64,
    from: Time,
    account: Account,
    budget: Shares,
    socket: &'a Socket,
}

impl<'a> Entry<'a> {
    fn new(number: u64, from: Time, account: Account, socket: &'a Socket) -> Self {
        Self { number, from, account, budget: account.budget(), socket }
    }
}

fn tracked<'py>(py: Python<'py>, sockets: &[&Tracked]) -> PyResult<Bound<'py, PyDict>> {
    let columns = Columns::new(py);
    let entries: Vec<Entry<'_>> =
        sockets.iter().map(|each| Entry::new(each.number, each.first, each.whole, &each.socket)).collect();
    common(&columns, &entries)?;
    let recent: Vec<Account> = sockets.iter().map(|each| each.recent()).collect();
    columns.array("recent_s", recent.iter().map(|each| each.elapsed.as_secs_f64()).collect())?;
    columns.counts("recent_bytes_acked", recent.iter().map(|each| each.volume.acked))?;
    columns.counts("recent_bytes_received", recent.iter().map(|each| each.volume.received))?;
    let budgets: Vec<Shares> = recent.iter().map(Account::budget).collect();
    columns.words("recent_limit", budgets.iter().map(limit))?;
    let held = |budget: &Shares| (budget.total().saturating_sub(at_rest(budget))).as_secs_f64();
    columns.array("recent_held_s", budgets.iter().map(held).collect())?;
    columns.counts("largest_window_bytes", sockets.iter().map(|each| each.largest_window()))?;
    let process = |each: &&Tracked| match &each.owner {
        Owner::Process(process) => Some(process.clone()),
        _ => None,
    };
    let processes: Vec<_> = sockets.iter().map(process).collect();
    columns.list("pid", processes.iter().map(|each| each.as_ref().map(|each| each.pid)).collect())?;
    columns
        .list("process", processes.into_iter().map(|each| each.map(|each| each.name)).collect::<Vec<_>>())?;
    Ok(columns.finish())
}

/// Time in which nothing waited to be sent or acknowledged.
fn at_rest(budget: &Shares) -> Span {
    budget.of(Limit::Application) + budget.of(Limit::Teardown)
}

fn limit(budget: &Shares) -> &'static str {
    budget.dominant().unwrap_or(Limit::Unknown).name()
}

/// The columns of every table.
fn common(columns: &Columns<'_>, entries: &[Entry<'_>]) -> PyResult<()> {
    let seconds = |name: &str, of: &dyn Fn(&Entry<'_>) -> f64| {
        columns.array(name, entries.iter().map(of).collect::<Vec<f64>>())
    };
    let count = |name: &str, of: &dyn Fn(&Entry<'_>) -> u64| columns.counts(name, entries.iter().map(of));
    let text = |name: &str, of: &dyn Fn(&Entry<'_>) -> String| {
        columns.list(name, entries.iter().map(|each| Some(of(each))).collect::<Vec<_>>())
    };
    count("socket", &|each| each.number)?;
    text("local", &|each| each.socket.local.to_string())?;
    text("remote", &|each| each.socket.remote.to_string())?;
    columns.words("state", entries.iter().map(|each| each.socket.state.name()))?;
    text("congestion", &|each| each.socket.congestion.name().to_owned())?;
    count("uid", &|each| each.socket.uid.into())?;
    seconds("from_s", &|each| each.from.as_secs_f64())?;
    seconds("duration_s", &|each| each.account.elapsed.as_secs_f64())?;
    columns.words("limit", entries.iter().map(|each| limit(&each.budget)))?;
    for limit in LIMITS {
        seconds(&column(limit), &|each| each.budget.of(limit).as_secs_f64())?;
    }
    count("bytes_acked", &|each| each.account.volume.acked)?;
    count("bytes_received", &|each| each.account.volume.received)?;
    count("bytes_retransmitted", &|each| each.account.volume.retransmitted)?;
    seconds("rtt_s", &|each| each.socket.info.rtt.as_secs_f64())?;
    seconds("min_rtt_s", &|each| each.socket.info.min_rtt.map_or(f64::NAN, Span::as_secs_f64))?;
    count("mss_bytes", &|each| each.socket.info.snd_mss.into())?;
    count("cwnd", &|each| each.socket.info.snd_cwnd.into())?;
    count("ssthresh", &|each| each.socket.info.snd_ssthresh.into())?;
    count("in_flight", &|each| each.socket.info.in_flight().into())?;
    count("reordering", &|each| each.socket.info.reordering.into())?;
    count("unsent_bytes", &|each| each.socket.info.notsent_bytes.into())?;
    count("unread_bytes", &|each| each.socket.receive_queue.into())?;
    count("receive_buffer_bytes", &|each| each.socket.memory.receive_size.into())?;
    count("send_buffer_bytes", &|each| each.socket.memory.send_size.into())?;
    seconds("peer_window_bytes", &|each| each.socket.info.snd_wnd.map_or(f64::NAN, f64::from))?;
    seconds("delivery_rate_bps", &|each| 8.0 * each.socket.info.delivery_rate as f64)?;
    seconds("pacing_rate_bps", &|each| {
        each.socket.info.pacing_rate.map_or(f64::NAN, |rate| 8.0 * rate as f64)
    })?;
    let clock = |name: &str, of: fn(Clocks) -> Span| {
        seconds(name, &|each| each.socket.info.clocks.map_or(f64::NAN, |clocks| of(clocks).as_secs_f64()))
    };
    clock("kernel_busy_s", |clocks| clocks.busy)?;
    clock("kernel_rwnd_limited_s", |clocks| clocks.rwnd_limited)?;
    clock("kernel_sndbuf_limited_s", |clocks| clocks.sndbuf_limited)
}

/// The column of a limit.
fn column(limit: Limit) -> String {
    format!("{}_s", limit.name().replace('-', "_"))
}
