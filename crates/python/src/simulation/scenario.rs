//! The class `Scenario`.

use crate::errors::{scenario_error, scenario_fault, system_words, text_of};
#[cfg(target_os = "linux")]
use crate::live::emulate::{self, Request, Words};
use crate::own::Algorithms;
use crate::simulation::run::{Recorded, Run};
use crate::simulation::simulate::{self, Task};
#[cfg(target_os = "linux")]
use netspurt_live::emulator::KernelTcp;
use netspurt_observe::tap::Points;
use netspurt_scenario as scenario;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A parsed and checked scenario. Immutable; safe to share between threads.
#[pyclass(frozen, module = "netspurt._core")]
pub(crate) struct Scenario {
    /// The name of its file, or the one passed to ``parse``.
    #[pyo3(get)]
    name: String,
    text: Arc<str>,
    overrides: Vec<(String, String)>,
    parsed: scenario::Scenario,
    /// Classes by the names that the scenario can use.
    algorithms: Option<Py<PyDict>>,
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
        Ok(Self { name, text, overrides, parsed, algorithms: None })
    }
}

/// Reads a file with a path relative to that of the scenario called `name`.
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
        Self::read(py, text_of(py, &path)?.into(), name, overrides)
    }

    /// Reads a scenario from TOML text; ``name`` appears in error messages.
    #[staticmethod]
    #[pyo3(signature = (text, name = String::from("<scenario>"), overrides = Vec::new()))]
    fn parse(py: Python<'_>, text: String, name: String, overrides: Vec<(String, String)>) -> PyResult<Self> {
        Self::read(py, text.into(), name, overrides)
    }

    /// A scenario with more overrides: pairs of a dotted path and a value as TOML.
    fn set(&self, py: Python<'_>, overrides: Vec<(String, String)>) -> PyResult<Self> {
        let all = [&self.overrides[..], &overrides[..]].concat();
        let other = Self::read(py, Arc::clone(&self.text), self.name.clone(), all)?;
        Ok(Self { algorithms: self.algorithms.as_ref().map(|given| given.clone_ref(py)), ..other })
    }

    /// A scenario that can use these classes, each as "python:" and its name. They are checked when it runs.
    fn given(&self, algorithms: &Bound<'_, PyDict>) -> PyResult<Self> {
        Ok(Self {
            name: self.name.clone(),
            text: Arc::clone(&self.text),
            overrides: self.overrides.clone(),
            parsed: self.parsed.clone(),
            algorithms: Some(algorithms.copy()?.unbind()),
        })
    }

    /// The classes that it can use.
    #[getter]
    fn algorithms<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.algorithms.as_ref().map_or_else(|| Ok(PyDict::new(py)), |given| given.bind(py).copy())
    }

    /// The complete scenario as TOML, with all overrides.
    fn merged(&self) -> String {
        self.parsed.merged_toml()
    }

    /// Remarks on the scenario: pairs of "note" or "warning" and a sentence with its place.
    ///
    /// A warning names a key that has no effect, a note a mechanism that a choice switches on.
    fn remarks(&self) -> Vec<(&'static str, String)> {
        let pairs: Vec<(&str, &str)> =
            self.overrides.iter().map(|(path, value)| (path.as_str(), value.as_str())).collect();
        let remarks = self.parsed.remarks(&self.text, &self.name, &pairs).into_iter();
        let weight = |weight| match weight {
            scenario::Weight::Note => "note",
            scenario::Weight::Warning => "warning",
        };
        remarks.map(|remark| (weight(remark.weight), remark.place.to_string())).collect()
    }

    /// Runs the simulation. Releases the interpreter lock.
    ///
    /// ``record`` names series, "segments", "arrivals", "drops", "marks" or "pages" to be recorded. With ``pcap``, a
    /// capture is written to that file: of each flow at the host that sends its data, or at the points in ``capture``
    /// ("NODE", "LINK@NODE" or "all"), with at most ``snaplen`` bytes of each packet. ``watch`` is called every 100 ms
    /// with the simulated time and its end in seconds; an exception from it ends the run. ``threads`` bounds the threads
    /// of the run; None: all processors if it is long. They change nothing but its speed.
    #[pyo3(signature = (seed = None, record = Vec::new(), pcap = None, *, capture = Vec::new(), snaplen = None, watch = None, threads = NonZero::new(1)))]
    #[expect(clippy::too_many_arguments, reason = "these are keyword arguments in Python")]
    fn run(
        &self,
        py: Python<'_>,
        seed: Option<&Bound<'_, PyAny>>,
        record: Vec<String>,
        pcap: Option<PathBuf>,
        capture: Vec<String>,
        snaplen: Option<u32>,
        watch: Option<Py<PyAny>>,
        threads: Option<NonZero<usize>>,
    ) -> PyResult<Run> {
        let seed = match seed {
            None => 1,
            Some(seed) => seed.extract().map_err(|_| {
                PyValueError::new_err(format!("invalid seed {seed}: must be an integer from 0 to 2^64 - 1"))
            })?,
        };
        let recorded = Recorded::new(&record).map_err(PyValueError::new_err)?;
        let own = Algorithms::new(self.algorithms.as_ref().map(|given| given.bind(py)))?;
        let spec = self.parsed.build_with(&self.name, &own).map_err(|error| scenario_error(py, &error))?;
        let points =
            Points::choose(&spec, &capture).map_err(|message| scenario_fault(py, &self.name, message))?;
        let capture = pcap.map(|path| (path, points, snaplen));
        let (wants, arrivals, trouble) = (recorded.wants(), recorded.arrivals(), own.trouble);
        let threads = threads.map(NonZero::get);
        let task = Task { spec, seed, wants, capture, trouble, arrivals, watch, threads };
        let result = simulate::simulate(py, task)?;
        Ok(Run::new(result, recorded))
    }

    /// The nodes at which flows start or end, in the order of the file; without flows, the nodes with one neighbour.
    fn hosts(&self) -> Vec<String> {
        self.parsed.hosts().into_iter().map(str::to_owned).collect()
    }

    /// Runs a command on one host and others on other hosts, with this scenario's network between them.
    ///
    /// Each command is a host and its words; a host without words has no command. With ``outside``, a node stands for
    /// the caller's own network: its name, the name of a device, the number of a block of addresses, and the content of
    /// ``/etc/resolv.conf``. Returns the results of links and hosts; ``status`` is the exit status of
    /// the command, as a shell reports it, or None after Ctrl-C. Releases the interpreter lock. ``warn`` is called with
    /// each warning before the start. ``see`` is a time in seconds and a function, which is called in each such interval with
    /// the time and with what each direction of each link did.
    #[cfg(target_os = "linux")]
    #[pyo3(signature = (command, beside = Vec::new(), *, warn, see = None, seed = 1, mtu = 1500, congestion = None, initial_window = None, sysctls = Vec::new(), captures = Vec::new(), outside = None))]
    #[expect(clippy::too_many_arguments, reason = "these are keyword arguments in Python")]
    fn emulate<'py>(
        &self,
        py: Python<'py>,
        command: Words,
        beside: Vec<Words>,
        warn: Py<PyAny>,
        see: Option<(f64, Py<PyAny>)>,
        seed: u64,
        mtu: u32,
        congestion: Option<String>,
        initial_window: Option<u32>,
        sysctls: Vec<(String, String)>,
        captures: Vec<(String, PathBuf)>,
        outside: Option<(String, String, u8, String)>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let tcp = KernelTcp { congestion, initial_window };
        let spec = self.parsed.build(&self.name).map_err(|error| scenario_error(py, &error))?;
        let request = Request { command, beside, warn, see, seed, mtu, tcp, sysctls, captures, outside };
        emulate::run(py, &self.name, spec, request)
    }

    fn __repr__(&self) -> String {
        format!("<netspurt._core.Scenario {:?}>", self.name)
    }
}
