//! The class `Scenario`.

use crate::errors::{scenario_error, scenario_fault, system_words};
use crate::run::{Recorded, Run};
use crate::simulate::{self, Task};
use crate::tap::Points;
use netspurt_sim::scenario;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A parsed and checked scenario. Immutable; safe to share between threads.
#[pyclass(frozen, module = "netspurt._core")]
pub(crate) struct Scenario {
    /// Its file, or what was given to ``parse``.
    #[pyo3(get)]
    name: String,
    text: Arc<str>,
    overrides: Vec<(String, String)>,
    parsed: scenario::Scenario,
}

impl Scenario {
    fn read(
        py: Python<'_>,
        text: Arc<str>,
        name: String,
        overrides: Vec<(String, String)>,
    ) -> PyResult<Self> {
        let pairs: Vec<(&str, &str)> =
            overrides.iter().map(|(path, value)| (path.as_str(), value.as_str())).collect();
        let parsed = scenario::Scenario::parse_with(&text, &name, &pairs, &|file| beside(&name, file))
            .map_err(|error| scenario_error(py, &error))?;
        Ok(Self { name, text, overrides, parsed })
    }
}

/// Reads a file that the scenario called `name` names, relative to itself.
fn beside(name: &str, file: &str) -> Result<String, String> {
    let directory = Path::new(name).parent().unwrap_or(Path::new(""));
    std::fs::read_to_string(directory.join(file)).map_err(|error| system_words(&error).to_lowercase())
}

#[pymethods]
impl Scenario {
    /// Reads a scenario file.
    #[staticmethod]
    #[pyo3(signature = (path, overrides = Vec::new()))]
    fn load(py: Python<'_>, path: PathBuf, overrides: Vec<(String, String)>) -> PyResult<Self> {
        let name = path.to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).map_err(|error| {
            scenario_fault(py, &name, format!("cannot be read: {}", system_words(&error).to_lowercase()))
        })?;
        Self::read(py, text.into(), name, overrides)
    }

    /// Reads a scenario from TOML text; ``name`` stands in error messages.
    #[staticmethod]
    #[pyo3(signature = (text, name = String::from("<scenario>"), overrides = Vec::new()))]
    fn parse(py: Python<'_>, text: String, name: String, overrides: Vec<(String, String)>) -> PyResult<Self> {
        Self::read(py, text.into(), name, overrides)
    }

    /// A scenario with more overrides: pairs of a dotted path and a value as TOML.
    fn set(&self, py: Python<'_>, overrides: Vec<(String, String)>) -> PyResult<Self> {
        let all = [&self.overrides[..], &overrides[..]].concat();
        Self::read(py, Arc::clone(&self.text), self.name.clone(), all)
    }

    /// The complete scenario as TOML, with every override written out.
    fn merged(&self) -> String {
        self.parsed.merged_toml()
    }

    /// Simulates; the interpreter lock is released meanwhile.
    ///
    /// ``record`` names series, "segments", "drops", "marks" or "pages" to be kept. With ``pcap`` a capture is written to that file: of each
    /// flow at the host that sends its data, or at the points that ``capture`` names ("NODE", "LINK@NODE" or "all"), at
    /// most ``snaplen`` bytes of each packet.
    #[pyo3(signature = (seed = None, record = Vec::new(), pcap = None, *, capture = Vec::new(), snaplen = None))]
    fn run(
        &self,
        py: Python<'_>,
        seed: Option<&Bound<'_, PyAny>>,
        record: Vec<String>,
        pcap: Option<PathBuf>,
        capture: Vec<String>,
        snaplen: Option<u32>,
    ) -> PyResult<Run> {
        let seed = match seed {
            None => 1,
            Some(seed) => seed.extract().map_err(|_| {
                PyValueError::new_err(format!("{seed} is no seed: a whole number from 0 to 2^64 - 1"))
            })?,
        };
        let recorded = Recorded::new(&record).map_err(PyValueError::new_err)?;
        let spec = self.parsed.build(&self.name).map_err(|error| scenario_error(py, &error))?;
        let points =
            Points::choose(&spec, &capture).map_err(|message| scenario_fault(py, &self.name, message))?;
        let capture = pcap.map(|path| (path, points, snaplen));
        let result = simulate::simulate(py, Task { spec, seed, wants: recorded.wants(), capture })?;
        Ok(Run::new(result, recorded))
    }

    fn __repr__(&self) -> String {
        format!("<netspurt._core.Scenario {:?}>", self.name)
    }
}
