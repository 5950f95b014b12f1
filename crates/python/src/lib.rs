//! The native module `netspurt._core`. Its interface is `python/netspurt/_core.pyi`.
//!
//! This crate converts between Python's types and Rust's, and runs simulations without the interpreter lock. It must
//! not contain functions that users of the Rust crates need.
//!
//! * `scenario.rs`, `run.rs`: the two classes
//! * `simulate.rs`: a run, which Ctrl-C and the interpreter's end can stop
//! * `own/`: algorithms in Python, a family each
//! * `arrivals.rs`: when each segment came
//! * `capture.rs`, `gathered.rs`, `capture_columns.rs`: the third class, which reads captures
//! * `diagnose.rs`: what limited the connections of a capture
//! * `limits.rs`: what limited the flows of a simulation
//! * `delays.rs`: recorded delays, and timers replayed over them
//! * `path.rs`: delays made from a few numbers
//! * `prober.rs`: what a prober finds
//! * `sockets.rs`: what limits the kernel's TCP sockets
//! * `emulate.rs`: real programs on a simulated path
//! * `host.rs`: our TCP on a TUN device
//! * `table.rs`: what a table is made of; `columns.rs`: its columns in Python; `cells.rs`: those of a file; `wide.rs`: tables under
//!   each other; `plain.rs`: these as a file; `gather.rs`: tables out of many of them
//! * `errors.rs`: what is raised
//!
//! What needs Linux's kernel (`prober.rs`, `sockets.rs`, `emulate.rs`, `host.rs`) is left out elsewhere.

mod arrivals;
mod capture;
mod capture_columns;
mod cells;
mod columns;
mod delays;
mod diagnose;
#[cfg(target_os = "linux")]
mod emulate;
mod errors;
mod gather;
mod gathered;
#[cfg(target_os = "linux")]
mod host;
mod limits;
mod own;
mod path;
mod plain;
#[cfg(target_os = "linux")]
mod prober;
mod run;
mod scenario;
mod simulate;
#[cfg(target_os = "linux")]
mod sockets;
mod table;
mod tally;
mod wide;

use pyo3::prelude::*;

/// Scenario types, the simulator and its tables.
#[pymodule(name = "_core")]
mod core_module {
    use netspurt_scenario as scenario;
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::capture::Capture;
    #[pymodule_export]
    use crate::delays::{Delays, Estimator};
    #[pymodule_export]
    use crate::diagnose::Diagnosis;
    #[pymodule_export]
    use crate::errors::AlgorithmError;
    #[pymodule_export]
    use crate::errors::CaptureError;
    #[pymodule_export]
    use crate::errors::ScenarioError;
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use crate::host::Host;
    #[pymodule_export]
    use crate::own::{Action, Situation, Socket, Start, View};
    #[pymodule_export]
    use crate::path::SyntheticPath;
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use crate::prober::Prober;
    #[pymodule_export]
    use crate::run::Run;
    #[pymodule_export]
    use crate::scenario::Scenario;
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use crate::sockets::Sockets;

    #[pymodule_export]
    use crate::gather::Tasks;

    /// The JSON Schema of the scenario file.
    #[pyfunction]
    fn schema() -> String {
        scenario::schema().to_string()
    }

    /// Every TCP profile with its settings, as JSON.
    #[pyfunction]
    fn profiles() -> String {
        scenario::profiles_json().to_string()
    }

    /// Every choice of each mechanism family, as JSON.
    #[pyfunction]
    fn mechanisms() -> String {
        scenario::mechanisms_json().to_string()
    }

    /// Every path model with what it stands for and its sources, as JSON.
    #[pyfunction]
    fn paths() -> String {
        scenario::paths_json().to_string()
    }

    /// The version of the native module.
    #[pyfunction]
    const fn version() -> &'static str {
        env!("CARGO_PKG_VERSION")
    }

    /// The commit from which the native module was built, if it was built from a checkout.
    #[pyfunction]
    const fn commit() -> Option<&'static str> {
        option_env!("NETSPURT_COMMIT")
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::stop_at_exit(module.py())
    }
}

/// Ends the simulations of other threads before the interpreter ends: a thread that returned to it later would be
/// killed within our code.
fn stop_at_exit(py: Python<'_>) -> PyResult<()> {
    let stop = pyo3::types::PyCFunction::new_closure(py, None, None, |args, _| {
        args.py().detach(simulate::stop_all);
    })?;
    py.import("atexit")?.call_method1("register", (stop,))?;
    Ok(())
}
