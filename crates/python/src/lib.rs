//! The native module `netspurt._core`. Its interface is `python/netspurt/_core.pyi`.
//!
//! This crate converts between Python's types and Rust's, and runs simulations without the interpreter lock. It must
//! not contain functions that users of the Rust crates need.
//!
//! * `simulation/`: the scenario, a run, and its results; Ctrl-C and the end of the interpreter stop a run
//! * `captures/`: reads captures, and says what limited their connections
//! * `live/`: the emulator, our TCP on a device, the kernel's sockets, the prober (Linux only)
//! * `tables/`: tables for Python and for files
//! * `own/`: algorithms written in Python
//! * `delays.rs`: recorded delays, and retransmission timers replayed over them
//! * `path.rs`: synthetic delays from a few parameters
//! * `errors.rs`: exceptions

mod captures;
mod delays;
mod errors;
mod live;
mod own;
mod path;
mod simulation;
mod tables;

use pyo3::prelude::*;

/// Scenario types, the simulator and its tables.
#[pymodule(name = "_core")]
mod core_module {
    use netspurt_scenario as scenario;
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::captures::capture::Capture;
    #[pymodule_export]
    use crate::captures::diagnose::Diagnosis;
    #[pymodule_export]
    use crate::captures::packets::Packets;
    #[pymodule_export]
    use crate::delays::{Delays, Estimator};
    #[pymodule_export]
    use crate::errors::AlgorithmError;
    #[pymodule_export]
    use crate::errors::CaptureError;
    #[pymodule_export]
    use crate::errors::ScenarioError;
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use crate::live::host::Host;
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use crate::live::prober::Prober;
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use crate::live::sockets::Sockets;
    #[pymodule_export]
    use crate::own::{Action, Situation, Socket, Start, View};
    #[pymodule_export]
    use crate::path::SyntheticPath;
    #[pymodule_export]
    use crate::simulation::run::Run;
    #[pymodule_export]
    use crate::simulation::scenario::Scenario;

    #[pymodule_export]
    use crate::tables::gather::Tasks;

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
        args.py().detach(simulation::simulate::stop_all);
    })?;
    py.import("atexit")?.call_method1("register", (stop,))?;
    Ok(())
}
