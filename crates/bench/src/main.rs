//! Measures the speed and size of netspurt, for `tools/bench.py`. One program, so that it is linked and optimised once.
//!
//! `netspurt-bench WORK …` prints what it measured. The work is `bulk`, `web`, `scenario` or `idle` for the simulator, `capture`,
//! `why` or `replay` for captures and delays, and `wire`, `emulator` or `sockets` for real networks. Each has a module, which
//! documents its further words. The exit status is 0, 1 if something failed, 2 if the request was wrong, and 77 if a privilege
//! or device is missing.

mod bulk;
mod capture;
mod clock;
mod emulator;
mod idle;
mod pace;
mod replay;
mod request;
mod sockets;
mod web;
mod why;
mod wire;

use request::{Request, Skipped, Wrong, wrong};
use std::error::Error;
use std::process::ExitCode;

/// What a work returns: it prints its figures itself.
type Outcome = Result<(), Box<dyn Error>>;

/// The exit status with which test runners mark a skipped test.
const SKIPPED: u8 = 77;

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let work = words.next().unwrap_or_default();
    match measure(&work, &Request::new(words)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("netspurt-bench {work}: {error}");
            if error.is::<Skipped>() {
                ExitCode::from(SKIPPED)
            } else {
                ExitCode::from(if error.is::<Wrong>() { 2 } else { 1 })
            }
        }
    }
}

fn measure(work: &str, request: &Request) -> Outcome {
    match work {
        "bulk" => bulk::measure(request),
        "web" => web::measure(request),
        "scenario" => web::measure_scenario(request),
        "idle" => idle::measure(request),
        "capture" => capture::measure(request),
        "why" => why::measure(request),
        "replay" => replay::measure(request),
        "wire" => wire::measure(request),
        "emulator" => emulator::measure(request),
        "sockets" => sockets::measure(request),
        _ => Err(wrong(
            "expected one of bulk, web, scenario, idle, capture, why, replay, wire, emulator, sockets",
        )),
    }
}
