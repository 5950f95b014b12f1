//! Exceptions.

use netspurt_scenario as scenario;
use netspurt_trace::capture::{CaptureError as WriteError, OpenError};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::path::Path;
use std::{fs, io};

pyo3::create_exception!(
    netspurt._core,
    ScenarioError,
    PyValueError,
    "A scenario that cannot be: ``str(error)`` is ``file:line:column: message``.\n\n\
     Attributes: ``file``, ``line``, ``column`` (both counted from 1; None where the error lies in no line),\n\
     ``path`` (the override at fault, or None), ``message``."
);

pyo3::create_exception!(
    netspurt._core,
    CaptureError,
    PyValueError,
    "A file is not a capture. The message names the file and the expected formats."
);

pyo3::create_exception!(
    netspurt._core,
    AlgorithmError,
    PyValueError,
    "An algorithm in Python is invalid or has done something invalid. The message names the algorithm and the reason."
);

/// An error of a scenario as an exception with its attributes.
pub(crate) fn scenario_error(py: Python<'_>, error: &scenario::ScenarioError) -> PyErr {
    let raised = ScenarioError::new_err(error.to_string());
    let value = raised.value(py);
    let dressed = value
        .setattr("file", &error.file)
        .and_then(|()| value.setattr("line", error.line))
        .and_then(|()| value.setattr("column", error.column))
        .and_then(|()| value.setattr("path", &error.override_path))
        .and_then(|()| value.setattr("message", &error.message));
    dressed.err().unwrap_or(raised)
}

/// The same for an error that concerns the scenario as a whole.
pub(crate) fn scenario_fault(py: Python<'_>, name: &str, message: String) -> PyErr {
    let error = scenario::ScenarioError {
        file: name.to_owned(),
        line: None,
        column: None,
        override_path: None,
        message,
    };
    scenario_error(py, &error)
}

/// The text of a scenario's file, or a `ScenarioError` that says why it cannot be read.
pub(crate) fn text_of(py: Python<'_>, path: &Path) -> PyResult<String> {
    fs::read_to_string(path).map_err(|error| {
        let message = match error.kind() {
            io::ErrorKind::InvalidData => "is not text in UTF-8: a scenario is TOML".to_owned(),
            _ => format!("cannot be read: {}", system_words(&error).to_lowercase()),
        };
        scenario_fault(py, &path.to_string_lossy(), message)
    })
}

/// The system's error message.
pub(crate) fn system_words(error: &io::Error) -> String {
    let text = error.to_string();
    match text.rfind(" (os error ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

/// An error of writing a capture: an `OSError` with its number, or a `ScenarioError` for packets that cannot be
/// encoded.
pub(crate) fn capture_error(py: Python<'_>, name: &str, error: &WriteError) -> PyErr {
    match error {
        WriteError::Write { path, source } => match source.raw_os_error() {
            Some(number) => PyOSError::new_err((number, system_words(source), path.clone())),
            None => PyOSError::new_err(error.to_string()),
        },
        WriteError::Packet { .. } => scenario_fault(py, name, error.to_string()),
    }
}

/// An error of reading a capture: an `OSError` with its number, or a `CaptureError`.
pub(crate) fn open_error(error: &OpenError) -> PyErr {
    if let OpenError::Read { path, source } = error
        && let Some(number) = source.raw_os_error()
    {
        return PyOSError::new_err((number, system_words(source), path.clone()));
    }
    CaptureError::new_err(error.to_string())
}

/// A violated invariant while a capture was read.
pub(crate) fn broken_reader(name: &str, panic: &(dyn std::any::Any + Send)) -> PyErr {
    PyRuntimeError::new_err(format!(
        "reading {name} failed because of a bug in netspurt ({}): please report it",
        words_of(panic)
    ))
}

fn words_of(panic: &(dyn std::any::Any + Send)) -> &str {
    panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no reason given")
}

/// A violated invariant in a simulation.
pub(crate) fn broken(name: &str, seed: u64, panic: &(dyn std::any::Any + Send)) -> PyErr {
    let words = words_of(panic);
    PyRuntimeError::new_err(format!(
        "the simulation of {name} with seed {seed} failed because of a bug in netspurt ({words}): please report it"
    ))
}
