//! The emulator: real programs on a simulated path.
//!
//! Each host with a command becomes a network namespace with a TUN device. The network between the devices is the
//! simulator's, run in real time.
//!
//! * `plan.rs`: the request and its checks
//! * `packets/`: real packets in a simulated network, without a clock
//! * `hosts/`: namespaces, devices and addresses of hosts, and the processes of their commands
//! * `clock.rs`, `wakefulness.rs`, `run.rs`: the loop in real time
//! * `connections.rs`: the connections of the hosts' kernels
//! * `capture.rs`: captures at hosts and routers
//! * `observer.rs`: what the caller sees while it runs; `report.rs`, `error.rs`: results and errors

mod capture;
mod clock;
mod connections;
mod error;
mod hosts;
mod observer;
mod packets;
mod plan;
mod report;
mod run;
mod wakefulness;

pub use error::EmulateError;
pub use hosts::kernel_tcp::KernelTcp;
pub use observer::{LinkProgress, Observer, Progress};
pub use plan::{CapturePoint, HostCommand, Outside, Plan};
pub use report::{DelayError, Ended, HostReport, LATE, LinkReport, Report};

/// Runs a plan until its command ends or the observer requests the end. The observer is called several times a second.
/// After its second request, remaining processes are killed at once. If there are captures, it then waits a few seconds for
/// connections
/// that are about to close.
pub fn emulate(plan: Plan, observer: &mut dyn Observer) -> Result<Report, EmulateError> {
    run::Emulation::new(plan)?.run(observer)
}
