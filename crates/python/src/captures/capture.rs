//! The class `Capture`: reads the connections of a file in steps.

use crate::captures::capture_columns as tables;
use crate::captures::gathered::Gathered;
use crate::captures::tally::json_of;
use crate::errors::{broken_reader, capture_error, open_error};
use netspurt_trace::Stamp;
use netspurt_trace::capture::{CaptureReader, Filter, Packet, PacketCopy};
use netspurt_trace::follow::{Follower, Limits, Tally};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt as _;
use pyo3::types::PyDict;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Reads a capture and follows its connections. Results are returned as columns and then removed, so memory does not
/// grow with the file.
#[pyclass(frozen, module = "netspurt._core")]
pub(crate) struct Capture(Mutex<State>);

struct State {
    name: String,
    reader: CaptureReader,
    /// Which packets are read; the others are skipped.
    filter: Option<Filter>,
    /// Where packets are copied to.
    copy: Option<PacketCopy>,
    /// `None` at the end of the capture.
    follower: Option<Follower>,
    gathered: Gathered,
    tally: Tally,
    connections: u64,
    damage: Option<String>,
}

impl State {
    /// Reads this number of bytes of the file. Returns whether there is more.
    fn read(&mut self, octets: u64) -> bool {
        let Some(follower) = &mut self.follower else { return false };
        let until = self.reader.octets().saturating_add(octets);
        while self.reader.octets() < until {
            match self.reader.next() {
                Ok(Some(packet)) => {
                    if self.filter.as_ref().is_some_and(|filter| !filter.matches(packet.link, packet.bytes)) {
                        continue;
                    }
                    follower.process(&packet, &mut self.gathered);
                    // The interfaces are the reader's, which the packet borrows; a packet is copied to let go of it.
                    if let Some(copy) = &mut self.copy {
                        let (at, interface, link, wire_len) =
                            (packet.at, packet.interface, packet.link, packet.wire_len);
                        let bytes = packet.bytes.to_vec();
                        let packet = Packet { at, interface, link, wire_len, bytes: &bytes };
                        if let Err(error) = copy.push(&packet, self.reader.interfaces()) {
                            self.damage = Some(error.to_string());
                            return self.finish();
                        }
                    }
                }
                Ok(None) => return self.finish(),
                Err(damage) => {
                    self.damage = Some(damage.to_string());
                    return self.finish();
                }
            }
        }
        true
    }

    fn finish(&mut self) -> bool {
        if let Some(follower) = self.follower.take() {
            if let Some(Err(error)) = self.copy.take().map(PacketCopy::finish) {
                self.damage.get_or_insert(error.to_string());
            }
            self.connections = follower.connections();
            self.tally = follower.finish(&mut self.gathered);
        }
        false
    }

    /// The time of the first packet.
    fn origin(&self) -> Stamp {
        self.follower.as_ref().map_or(&self.tally, Follower::tally).first.unwrap_or_default()
    }
}

impl Capture {
    fn state<'py>(&'py self, py: Python<'py>) -> MutexGuard<'py, State> {
        self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
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
        let reader = py.detach(|| CaptureReader::open(&path)).map_err(|error| open_error(&error))?;
        let name = path.to_string_lossy();
        let copy = write.map(|path| PacketCopy::create(&path, "netspurt")).transpose();
        let copy = copy.map_err(|error| capture_error(py, &name, &error))?;
        Ok(Self(Mutex::new(State {
            filter,
            copy,
            name: path.to_string_lossy().into_owned(),
            reader,
            follower: Some(Follower::new(Limits::default())),
            gathered,
            tally: Tally::default(),
            connections: 0,
            damage: None,
        })))
    }

    /// Reads this number of bytes; False at the end. Releases the interpreter lock.
    fn read(&self, py: Python<'_>, octets: u64) -> PyResult<bool> {
        py.detach(|| {
            let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let state = &mut *state;
            catch_unwind(AssertUnwindSafe(|| state.read(octets))).map_err(|panic| {
                state.follower = None;
                broken_reader(&state.name, &*panic)
            })
        })
    }

    /// Number of bytes of the file that were read.
    #[getter]
    fn octets(&self, py: Python<'_>) -> u64 {
        self.state(py).reader.octets_of_file()
    }

    /// Counts of packets, as JSON.
    fn tally(&self, py: Python<'_>) -> String {
        let state = self.state(py);
        let tally = state.follower.as_ref().map_or(&state.tally, Follower::tally);
        let connections = state.follower.as_ref().map_or(state.connections, Follower::connections);
        json_of(
            tally,
            connections,
            state.gathered.unlisted,
            state.reader.interfaces(),
            state.damage.as_deref(),
        )
    }

    /// One row for each connection that ended since the last call; all connections end with the capture.
    fn connections<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyDict>)> {
        let (rows, limits, origin) = {
            let mut state = self.state(py);
            let limits = state.gathered.take_limits();
            (core::mem::take(&mut state.gathered.connections), limits, state.origin())
        };
        Ok((tables::connections(py, &rows, &limits, origin)?, tables::streams(py, &rows, origin)?))
    }

    /// The RTT samples since the last call, if recorded.
    fn samples<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut state = self.state(py);
        let rows = state.gathered.samples.as_mut().map(core::mem::take).unwrap_or_default();
        let origin = state.origin();
        drop(state);
        tables::samples(py, &rows, origin)
    }

    /// The events since the last call, if recorded.
    fn events<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut state = self.state(py);
        let rows = state.gathered.events.as_mut().map(core::mem::take).unwrap_or_default();
        let origin = state.origin();
        drop(state);
        tables::events(py, &rows, origin)
    }

    /// Bytes in flight and windows since the last call, if recorded.
    fn flight<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut state = self.state(py);
        let rows = state.gathered.flights.as_mut().map(core::mem::take).unwrap_or_default();
        let origin = state.origin();
        drop(state);
        tables::flight(py, &rows, origin)
    }

    /// The segments since the last call, if recorded.
    fn segments<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut state = self.state(py);
        let rows = state.gathered.segments.as_mut().map(core::mem::take).unwrap_or_default();
        let origin = state.origin();
        drop(state);
        tables::segments(py, &rows, origin)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!("<netspurt._core.Capture {:?}>", self.state(py).name)
    }
}
