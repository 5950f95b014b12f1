//! The class `SyntheticPath`: synthetic delays from a few parameters.

use crate::errors::{scenario_error, scenario_fault, text_of};
use crate::tables::columns::Columns;
use netspurt_scenario as scenario;
use netspurt_scenario::synthetic::Cycle;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use std::sync::Arc;

/// A parsed and checked synthetic path. Immutable; safe to share between threads.
#[pyclass(frozen, module = "netspurt._core")]
pub(crate) struct SyntheticPath {
    /// The name of its file, or the one passed to ``parse``.
    #[pyo3(get)]
    name: String,
    text: Arc<str>,
    overrides: Vec<(String, String)>,
    parsed: scenario::SyntheticPath,
}

impl SyntheticPath {
    fn read(
        py: Python<'_>,
        text: Arc<str>,
        name: String,
        overrides: Vec<(String, String)>,
    ) -> PyResult<Self> {
        let pairs: Vec<(&str, &str)> =
            overrides.iter().map(|(path, value)| (path.as_str(), value.as_str())).collect();
        let parsed = scenario::SyntheticPath::parse(&text, &name, &pairs)
            .map_err(|error| scenario_error(py, &error))?;
        Ok(Self { name, text, overrides, parsed })
    }
}

#[pymethods]
impl SyntheticPath {
    /// Reads a path's file. Raises ``ScenarioError``.
    #[staticmethod]
    #[pyo3(signature = (path, overrides = Vec::new()))]
    fn load(py: Python<'_>, path: PathBuf, overrides: Vec<(String, String)>) -> PyResult<Self> {
        let name = path.to_string_lossy().into_owned();
        Self::read(py, text_of(py, &path)?.into(), name, overrides)
    }

    /// Reads a path from TOML text; ``name`` appears in error messages.
    #[staticmethod]
    #[pyo3(signature = (text, name = String::from("<path>"), overrides = Vec::new()))]
    fn parse(py: Python<'_>, text: String, name: String, overrides: Vec<(String, String)>) -> PyResult<Self> {
        Self::read(py, text.into(), name, overrides)
    }

    /// A path with more overrides: pairs of a dotted path and a value as TOML.
    fn set(&self, py: Python<'_>, overrides: Vec<(String, String)>) -> PyResult<Self> {
        let all = [&self.overrides[..], &overrides[..]].concat();
        Self::read(py, Arc::clone(&self.text), self.name.clone(), all)
    }

    /// The complete path as TOML, with all overrides.
    fn merged(&self) -> String {
        self.parsed.merged_toml()
    }

    /// Generates a run: columns time_s, length_octets and delay_s (one way, NaN for a lost packet).
    #[pyo3(signature = (seed = 1))]
    fn run<'py>(&self, py: Python<'py>, seed: u64) -> PyResult<Bound<'py, PyDict>> {
        let path = self.parsed.build();
        let run: Vec<Cycle> = py
            .detach(|| path.run(seed))
            .map_err(|error| scenario_fault(py, &self.name, format!("seed {seed}: {error}")))?;
        let (columns, interval_s) = (Columns::new(py), self.parsed.interval.0.as_secs_f64());
        columns.array("time_s", (0..run.len()).map(|cycle| cycle as f64 * interval_s).collect())?;
        columns.counts("length_octets", run.iter().map(|cycle| cycle.octets))?;
        columns.array("delay_s", run.iter().map(|cycle| cycle.delay_s.unwrap_or(f64::NAN)).collect())?;
        Ok(columns.finish())
    }
}
