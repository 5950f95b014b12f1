//! The emulator: real programs on a simulated path.
//!
//! Each host of a scenario that has a command becomes a network namespace with a TUN device. Everything between the
//! devices is the simulator's own network, run against the wall clock.
//!
//! * `plan.rs`: what is asked, and what is refused at once
//! * `manifest.rs`, `cargo.rs`, `carrier.rs`: real packets in a simulated network, without a clock
//! * `train.rs`: packets that are handed over at the same moment
//! * `clock.rs`, `wakefulness.rs`, `run.rs`: the loop, with one
//! * `namespace.rs`: what a host sees: a device, addresses, names; `addresses.rs`: which, and those of a TCP of a program's own
//! * `privilege.rs`: who may do that
//! * `hosts.rs`, `tenant.rs`, `processes.rs`, `remains.rs`: commands, and what is left of them
//! * `capture.rs`: what passes a host or a router
//! * `report.rs`, `error.rs`: what it did, or why it did not

mod addresses;
mod capture;
mod cargo;
mod carrier;
mod clock;
mod error;
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
mod too_big;
mod train;
mod wakefulness;

pub use error::EmulateError;
pub use plan::{HostCommand, KernelTcp, Plan};
pub use report::{DelayError, Ended, HostReport, LATE, LinkReport, Report};

/// Carries out a plan until its command is over, or `stop`, which is asked now and then, says so. The second time that
/// it does, no farewell is waited for.
pub fn emulate(plan: Plan, stop: &mut dyn FnMut() -> bool) -> Result<Report, EmulateError> {
    run::Emulation::new(plan)?.run(stop)
}
