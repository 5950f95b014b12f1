//! A run without the interpreter, which Ctrl-C and the interpreter's end can stop.

use crate::arrivals::{Arrival, Arrivals};
use crate::errors::{broken, capture_error, scenario_fault};
use crate::own::Trouble;
use crate::tap::{Points, Tap};
use netspurt_sim::World;
use netspurt_sim::network::route::NoRoute;
use netspurt_sim::record::probe::{CaptureSink, CapturedPacket, Recorder, Wants};
use netspurt_sim::record::result::RunResult;
use netspurt_sim::spec::WorldSpec;
use netspurt_trace::capture::CaptureError;
use pyo3::exceptions::PySystemExit;
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often signals are looked at.
const PATIENCE: Duration = Duration::from_millis(100);

/// How long the end of the interpreter waits for simulations to stop. Each looks every few milliseconds.
const FAREWELL: Duration = Duration::from_secs(5);

/// The interpreter is about to go away.
static ENDING: AtomicBool = AtomicBool::new(false);
static RUNNING: Mutex<u32> = Mutex::new(0);
static STOPPED: Condvar = Condvar::new();

/// What is to be run.
pub(crate) struct Task {
    pub(crate) spec: WorldSpec,
    pub(crate) seed: u64,
    pub(crate) wants: Wants,
    /// A capture's file, where it is taken, and how much of each packet is kept.
    pub(crate) capture: Option<(PathBuf, Points, Option<u32>)>,
    /// What algorithms in Python have raised.
    pub(crate) trouble: Arc<Trouble>,
    /// Whether arrivals are noted.
    pub(crate) arrivals: bool,
    /// Called whenever signals are looked at. What it raises ends the run.
    pub(crate) watch: Option<Py<PyAny>>,
}

/// Why there is no result.
enum Failure {
    Scenario(String),
    Capture(CaptureError),
    /// An exception, such as `KeyboardInterrupt`.
    Raised(PyErr),
    Ending,
}

impl From<CaptureError> for Failure {
    fn from(error: CaptureError) -> Self {
        Self::Capture(error)
    }
}

/// Runs a task to its end with the interpreter released.
pub(crate) fn simulate(py: Python<'_>, task: Task) -> PyResult<(RunResult, Vec<Arrival>)> {
    let (name, seed) = (Arc::clone(&task.spec.name), task.seed);
    if task.spec.flows.is_empty() {
        let message = "there is no flow, so nothing would happen: name one in [[flow]], or run programs of your own over this \
                       network with \"netspurt emulate\"";
        return Err(scenario_fault(py, &name, message.to_owned()));
    }
    // A world that has panicked is thrown away, so nothing can be seen in a broken state.
    let outcome = py.detach(|| {
        let _guest = Guest::enter();
        catch_unwind(AssertUnwindSafe(|| run(task)))
    });
    match outcome {
        Ok(Ok(result)) => Ok(result),
        Ok(Err(Failure::Scenario(message))) => Err(scenario_fault(py, &name, message)),
        Ok(Err(Failure::Capture(error))) => Err(capture_error(py, &name, &error)),
        Ok(Err(Failure::Raised(error))) => Err(error),
        Ok(Err(Failure::Ending)) => Err(PySystemExit::new_err("the interpreter is ending")),
        Err(panic) => Err(broken(&name, seed, &*panic)),
    }
}

fn run(task: Task) -> Result<(RunResult, Vec<Arrival>), Failure> {
    let Task { spec, seed, wants, capture, trouble, arrivals, watch } = task;
    let mut recorder = (wants != Wants::NOTHING).then(|| Recorder::new(wants));
    let tap = match capture {
        None => None,
        Some((path, points, snaplen)) => Some(Tap::open(&path, points, &spec, seed, snaplen)?),
    };
    let arrivals = arrivals.then(|| Arrivals::new(&spec));
    if tap.is_some() || arrivals.is_some() {
        let links = match (&tap, &arrivals) {
            (Some(tap), None) => tap.links(),
            _ => (0..spec.links.len() as u32).collect(),
        };
        let plain = recorder.unwrap_or_else(|| Recorder::new(wants));
        let both = Both { tap: tap.clone(), arrivals: arrivals.clone() };
        recorder = Some(plain.with_capture(&links, Box::new(both)));
    }
    let began = now();
    let names: Vec<Arc<str>> = spec.nodes.iter().map(|node| Arc::clone(&node.name)).collect();
    let mut world = World::new(spec, seed, recorder).map_err(|NoRoute { from, to }| {
        let [from, to] = [from, to].map(|node| &names[node.0 as usize]);
        Failure::Scenario(format!("no path of links from \"{from}\" to \"{to}\""))
    })?;
    let mut looked = began;
    while world.proceed() {
        if let Some(tap) = &tap {
            tap.settle(world.now())?;
        }
        if let Some(raised) = trouble.take() {
            return Err(Failure::Raised(raised));
        }
        if ENDING.load(Ordering::Relaxed) {
            return Err(Failure::Ending);
        }
        if looked.elapsed() >= PATIENCE {
            looked = now();
            Python::attach(|py| {
                py.check_signals()?;
                watch.as_ref().map_or(Ok(()), |watch| watch.call0(py).map(drop))
            })
            .map_err(Failure::Raised)?;
        }
    }
    let mut result = world.finish(false);
    if let Some(raised) = trouble.take() {
        return Err(Failure::Raised(raised));
    }
    result.performance.took(began.elapsed().as_secs_f64());
    if let Some(tap) = tap {
        tap.finish()?;
    }
    Ok((result, arrivals.map(Arrivals::take).unwrap_or_default()))
}

/// All that may want to hear of packets.
struct Both {
    tap: Option<Tap>,
    arrivals: Option<Arrivals>,
}

impl CaptureSink for Both {
    fn packet(&mut self, channel: u32, packet: &CapturedPacket) {
        if let Some(tap) = &mut self.tap {
            tap.packet(channel, packet);
        }
        if let Some(arrivals) = &mut self.arrivals {
            arrivals.packet(channel, packet);
        }
    }

    fn offered(&mut self, channel: u32, packet: &CapturedPacket) {
        if let Some(tap) = &mut self.tap {
            tap.offered(channel, packet);
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the duration of the run does not affect the simulation")]
fn now() -> Instant {
    Instant::now()
}

/// Counts a run while it is under way.
struct Guest;

impl Guest {
    fn enter() -> Self {
        *RUNNING.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        Self
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        *RUNNING.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        STOPPED.notify_all();
    }
}

/// Stops every run that is under way, for good, and waits until they have stopped.
pub(crate) fn stop_all() {
    ENDING.store(true, Ordering::Relaxed);
    let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    // Whether they all have makes no difference: there is nothing else that could be done.
    drop(STOPPED.wait_timeout_while(running, FAREWELL, |running| *running > 0));
}
