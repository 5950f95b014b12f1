//! The class `Packets`: the packets of a pcapng capture, also while it grows.

use crate::errors::CaptureError;
use netspurt_trace::capture::{Direction, GrowingCapture};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::{Mutex, PoisonError};

/// A packet: nanoseconds since 1970, length on the wire, whether it arrived at the host, and its captured bytes.
type Row<'py> = (u64, u32, bool, Bound<'py, PyBytes>);

/// Reads a pcapng capture in pieces.
#[pyclass(frozen, module = "netspurt._core")]
#[derive(Default)]
pub(crate) struct Packets(Mutex<GrowingCapture>);

#[pymethods]
impl Packets {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Appends a piece of the capture; returns the packets that are complete now.
    fn feed<'py>(&self, py: Python<'py>, octets: &[u8]) -> PyResult<Vec<Row<'py>>> {
        let mut rows = Vec::new();
        let mut capture = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let read = capture.feed(octets, |packet| {
            let inbound = packet.direction == Some(Direction::Inbound);
            let at_ns = packet.at.map_or(0, |at| at.0);
            rows.push((at_ns, packet.wire_len, inbound, PyBytes::new(py, packet.bytes)));
        });
        read.map_err(|damage| CaptureError::new_err(format!("the capture is {damage}")))?;
        Ok(rows)
    }
}
