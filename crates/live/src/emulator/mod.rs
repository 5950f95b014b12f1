//! The emulator: real programs on a simulated path.
//!
//! Each host of a scenario that has a command becomes a network namespace with a TUN device. Everything between the
//! devices is the simulator's own network, run against the wall clock.
//!
//! * `plan.rs`: what is asked, and what is refused at once
//! * `manifest.rs`, `carrier.rs`: real packets in a simulated network, without a clock
//! * `clock.rs`, `wakefulness.rs`, `run.rs`: the loop, with one
//! * `namespace.rs`: what a host sees: a device, an address, names; `guest.rs`: where a TCP of a program's own lives there
//! * `privilege.rs`: who may do that
//! * `hosts.rs`, `tenant.rs`, `processes.rs`, `remains.rs`: commands, and what is left of them
//! * `capture.rs`: what passes a host
//! * `report.rs`, `error.rs`: what it did, or why it did not

mod capture;
mod carrier;
mod clock;
mod error;
mod guest;
mod hosts;
mod manifest;
mod namespace;
mod plan;
mod privilege;
mod processes;
mod remains;
mod report;
mod run;
mod tenant;
mod wakefulness;

pub use error::EmulateError;
pub use plan::{HostCommand, KernelTcp, Plan};
pub use report::{DelayError, Ended, HostReport, LATE, LinkReport, Report};

/// Carries out a plan until its command is over, or `stop`, which is asked now and then, says so. The second time that
/// it does, no farewell is waited for.
pub fn emulate(plan: Plan, stop: &mut dyn FnMut() -> bool) -> Result<Report, EmulateError> {
    run::Emulation::new(plan)?.run(stop)
}
