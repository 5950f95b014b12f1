//! The class `Diagnosis`: what limited the connections of a capture, read in steps.

use crate::captures::limits::{intervals, numbers};
use crate::captures::steps::Steps;
use netspurt_budget::{Limit, Line};
use netspurt_tcp::time::{Span, Time};
use netspurt_trace::Stamp;
use netspurt_trace::diagnosis::{
    ConnectionDiagnosis, Diagnoser, DirectionDiagnosis, Masked, Range, Transfer,
};
use pyo3::prelude::*;
use pyo3::sync::MutexExt as _;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Reads a capture and diagnoses its connections. Results are returned once and then removed, so memory grows with the
/// number of open connections only.
#[pyclass(frozen, module = "netspurt._core")]
pub(crate) struct Diagnosis(Mutex<State>);

struct State {
    steps: Steps,
    diagnoser: Diagnoser,
    /// Nanoseconds since the first packet, until one has come.
    range: Option<(u64, u64)>,
    /// Finished and not yet returned.
    waiting: VecDeque<ConnectionDiagnosis>,
}

impl Diagnosis {
    fn state<'py>(&'py self, py: Python<'py>) -> MutexGuard<'py, State> {
        self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Diagnosis {
    /// Opens a capture: pcap or pcapng, uncompressed, gzip or zstd; "-" is standard input. Connections with fewer
    /// acknowledged bytes are counted and left out. With a range, in seconds since the first packet, only that time is diagnosed.
    #[staticmethod]
    #[pyo3(signature = (path, min_bytes = 1, range_s = None))]
    fn open(py: Python<'_>, path: PathBuf, min_bytes: u64, range_s: Option<(f64, f64)>) -> PyResult<Self> {
        let steps = Steps::open(py, &path)?;
        let range = range_s.map(|(from, until)| (nanoseconds(from), nanoseconds(until)));
        let diagnoser = Diagnoser::new(min_bytes);
        Ok(Self(Mutex::new(State { steps, diagnoser, range, waiting: VecDeque::new() })))
    }

    /// Reads this number of bytes; False at the end. Releases the interpreter lock.
    fn read(&self, py: Python<'_>, octets: u64) -> PyResult<bool> {
        py.detach(|| {
            let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let State { steps, diagnoser, range, .. } = &mut *state;
            // The range counts from the first packet, which is read alone.
            while let Some((from, until)) = *range {
                let more = steps.read(1, diagnoser)?;
                if let Some(first) = steps.first() {
                    let at = |ns: u64| Stamp(first.0.saturating_add(ns));
                    diagnoser.set_range(Range { from: at(from), until: at(until) });
                    *range = None;
                }
                if !more {
                    return Ok(false);
                }
            }
            steps.read(octets, diagnoser)
        })
    }

    /// Ends all connections, as at the end of the file; nothing more is read.
    fn end(&self, py: Python<'_>) {
        let mut state = self.state(py);
        let State { steps, diagnoser, .. } = &mut *state;
        steps.finish(diagnoser);
    }

    /// Number of bytes of the file that were read.
    #[getter]
    fn octets(&self, py: Python<'_>) -> u64 {
        self.state(py).steps.octets_of_file()
    }

    /// Number of connections that have ended and had no time in the range.
    #[getter]
    fn outside(&self, py: Python<'_>) -> u64 {
        self.state(py).diagnoser.outside()
    }

    /// Counts of packets, as JSON.
    fn tally(&self, py: Python<'_>) -> String {
        self.state(py).steps.tally(0)
    }

    /// At most `most` connections that have ended and were not returned before, as a JSON array; see `netspurt why --json`.
    fn take(&self, py: Python<'_>, most: usize) -> String {
        let mut state = self.state(py);
        let origin = state.steps.origin();
        let found = state.diagnoser.take();
        state.waiting.extend(found);
        let count = most.min(state.waiting.len());
        let some: Vec<ConnectionDiagnosis> = state.waiting.drain(..count).collect();
        drop(state);
        some.iter().map(|each| connection(each, origin)).collect::<Value>().to_string()
    }
}

/// A time in seconds as nanoseconds; one that is too large for a time counts as the largest.
fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

fn connection(found: &ConnectionDiagnosis, origin: Stamp) -> Value {
    json!({
        "connection": found.id.0,
        "client": found.who.client.to_string(),
        "server": found.who.server.to_string(),
        "start_s": found.first.0.wrapping_sub(origin.0).cast_signed() as f64 / 1e9,
        "vantage": found.main().vantage.name(),
        "directions": [direction("client", &found.directions[0]), direction("server", &found.directions[1])],
        "transfers": found.transfers.iter().map(transfer).collect::<Value>(),
    })
}

/// A request and its response.
fn transfer(found: &Transfer) -> Value {
    let seconds = |time: Time| time.since(Time::ZERO).as_secs_f64();
    let line = |line: &Line| json!({"limit": line.limit.name(), "seconds": line.time.as_secs_f64(), "share": line.share});
    json!({
        "from_s": seconds(found.from),
        "until_s": seconds(found.until),
        "request_bytes": found.bytes[0],
        "response_bytes": found.bytes[1],
        "packets": [found.packets.0, found.packets.1],
        "limit": found.budget.dominant().map(Limit::name),
        "budget": found.budget.lines().iter().map(line).collect::<Value>(),
    })
}

fn direction(from: &str, found: &DirectionDiagnosis) -> Value {
    let seconds = |span: Span| span.as_secs_f64();
    let budget: Value = found
        .lines()
        .map(|(line, evidence)| {
            let mut numbers = numbers(line.limit, &evidence.measured);
            if let Some((first, last)) = evidence.packets {
                numbers.insert("packets".to_owned(), json!([first, last]));
            }
            json!({
                "limit": line.limit.name(),
                "seconds": seconds(line.time),
                "share": line.share,
                "confidence": evidence.confidence,
                "sentence": evidence.sentence,
                "evidence": numbers,
            })
        })
        .collect();
    let hidden = |each: &Masked| json!({"limit": each.limit.name(), "by": each.by.name(), "seconds": seconds(each.time)});
    let masked: Value = found.masked.iter().map(hidden).collect();
    json!({
        "from": from,
        "bytes": found.bytes,
        "bytes_in_all": found.bytes_in_all,
        "duration_s": seconds(found.duration()),
        "limit": found.limit().name(),
        "sentence": found.sentence,
        "vantage": found.vantage.name(),
        "offload": found.offload,
        "retransmitted": found.retransmitted,
        "rtt_min_s": found.rtt_least.map(seconds),
        "rate_max_bps": found.rate_most_bps,
        "budget": budget,
        "masked": masked,
        "intervals": intervals(&found.timeline, found.began.since(Time::ZERO)),
    })
}
