//! The class `Capture`: reads the connections of a file in steps.

use crate::captures::capture_columns as tables;
use crate::captures::gathered::Gathered;
use crate::captures::steps::Steps;
use crate::errors::capture_error;
use crate::tables::columns::Columns;
use netspurt_trace::Stamp;
use netspurt_trace::capture::{Filter, PacketCopy};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt as _;
use pyo3::types::PyDict;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Reads a capture and follows its connections. Results are returned as columns and then removed, so memory does not
/// grow with the file.
#[pyclass(frozen, module = "netspurt._core")]
pub(crate) struct Capture(Mutex<State>);

struct State {
    steps: Steps,
    gathered: Gathered,
}

impl Capture {
    fn state<'py>(&'py self, py: Python<'py>) -> MutexGuard<'py, State> {
        self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    /// A table of the rows since the last call; without rows if they are not recorded.
    fn recorded<'py, R>(
        &self,
        py: Python<'py>,
        rows: fn(&mut Gathered) -> &mut Option<Vec<R>>,
        fill: fn(&mut Columns<'py>, &[R], Stamp) -> PyResult<()>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (rows, origin) = {
            let mut state = self.state(py);
            let rows = rows(&mut state.gathered).as_mut().map(core::mem::take).unwrap_or_default();
            (rows, state.steps.origin())
        };
        Columns::filled(py, |table| fill(table, &rows, origin))
    }
}

#[pymethods]
impl Capture {
    /// Opens a capture: pcap or pcapng, uncompressed, gzip or zstd; "-" is standard input.
    ///
    /// ``record`` names what is stored besides connections: "samples", "events", "flight", "segments" (of the connections
    /// ``only``, if given) and "limits", which diagnoses each connection. Connections above ``most`` are only counted.
    /// ``filter`` selects packets in tcpdump's language; ``write`` is a file to which they are copied.
    #[staticmethod]
    #[pyo3(signature = (path, record = Vec::new(), most = 100_000, filter = None, write = None, only = None))]
    fn open(
        py: Python<'_>,
        path: PathBuf,
        record: Vec<String>,
        most: u64,
        filter: Option<String>,
        write: Option<PathBuf>,
        only: Option<Vec<u64>>,
    ) -> PyResult<Self> {
        let filter = filter.map(|text| Filter::parse(&text)).transpose().map_err(PyValueError::new_err)?;
        let gathered = Gathered::new(&record, most, only).map_err(PyValueError::new_err)?;
        let mut steps = Steps::open(py, &path)?;
        let copy = write.map(|path| PacketCopy::create(&path, "netspurt")).transpose();
        let copy = copy.map_err(|error| capture_error(py, &steps.name, &error))?;
        steps.select(filter, copy);
        Ok(Self(Mutex::new(State { steps, gathered })))
    }

    /// Python's type of each column, by table and column.
    #[staticmethod]
    fn schemas(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        tables::schemas(py)
    }

    /// Reads this number of bytes; False at the end. Releases the interpreter lock.
    fn read(&self, py: Python<'_>, octets: u64) -> PyResult<bool> {
        py.detach(|| {
            let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let State { steps, gathered } = &mut *state;
            steps.read(octets, gathered)
        })
    }

    /// Number of bytes of the file that were read.
    #[getter]
    fn octets(&self, py: Python<'_>) -> u64 {
        self.state(py).steps.octets_of_file()
    }

    /// Counts of packets, as JSON.
    fn tally(&self, py: Python<'_>) -> String {
        let state = self.state(py);
        state.steps.tally(state.gathered.unlisted)
    }

    /// One row for each connection that ended since the last call; all connections end with the capture.
    fn connections<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyDict>)> {
        let (rows, limits, origin) = {
            let mut state = self.state(py);
            let limits = state.gathered.take_limits();
            (core::mem::take(&mut state.gathered.connections), limits, state.steps.origin())
        };
        let connections = Columns::filled(py, |table| tables::connections(table, &rows, &limits, origin))?;
        let streams = Columns::filled(py, |table| tables::streams(table, &rows, origin))?;
        Ok((connections, streams))
    }

    /// The RTT samples since the last call, if recorded.
    fn samples<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.recorded(py, |gathered| &mut gathered.samples, tables::samples)
    }

    /// The events since the last call, if recorded.
    fn events<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.recorded(py, |gathered| &mut gathered.events, tables::events)
    }

    /// Bytes in flight and windows since the last call, if recorded.
    fn flight<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.recorded(py, |gathered| &mut gathered.flights, tables::flight)
    }

    /// The segments since the last call, if recorded.
    fn segments<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.recorded(py, |gathered| &mut gathered.segments, tables::segments)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!("<netspurt._core.Capture {:?}>", self.state(py).steps.name)
    }
}
