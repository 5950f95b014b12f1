//! Runs a simulation without the interpreter lock. Ctrl-C and the end of the interpreter stop it.

use crate::errors::{broken, capture_error, scenario_fault};
use crate::own::Trouble;
use crate::simulation::arrivals::{Arrival, Arrivals};
use netspurt_observe::tap::{Points, Tap};
use netspurt_sim::World;
use netspurt_sim::network::route::NoRoute;
use netspurt_sim::parallel::{self, Partition};
use netspurt_sim::record::probe::{CaptureSink, CapturedPacket, Recorder, Wants};
use netspurt_sim::record::result::RunResult;
use netspurt_sim::spec::WorldSpec;
use netspurt_tcp::time::Time;
use netspurt_trace::capture::CaptureError;
use pyo3::exceptions::PySystemExit;
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Interval of the checks for signals.
const SIGNAL_CHECKS: Duration = Duration::from_millis(100);

/// How long the end of the interpreter waits for simulations to stop. Each checks every few milliseconds.
const FAREWELL: Duration = Duration::from_secs(5);

/// Set when the interpreter is about to end.
static ENDING: AtomicBool = AtomicBool::new(false);
static RUNNING: Mutex<u32> = Mutex::new(0);
static STOPPED: Condvar = Condvar::new();

/// The parameters of a run.
pub(crate) struct Task {
    pub(crate) spec: WorldSpec,
    pub(crate) seed: u64,
    pub(crate) wants: Wants,
    /// The file of a capture, its points, and the captured bytes per packet.
    pub(crate) capture: Option<(PathBuf, Points, Option<u32>)>,
    /// The exception of an algorithm in Python.
    pub(crate) trouble: Arc<Trouble>,
    /// Whether arrivals are recorded.
    pub(crate) arrivals: bool,
    /// Called at each check for signals. An exception from it ends the run.
    pub(crate) watch: Option<Py<PyAny>>,
    /// Threads at most; by default all processors for a long run.
    pub(crate) threads: Option<usize>,
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

/// Runs a simulation to its end, without the interpreter lock.
pub(crate) fn simulate(py: Python<'_>, task: Task) -> PyResult<(RunResult, Vec<Arrival>)> {
    let (name, seed) = (Arc::clone(&task.spec.name), task.seed);
    if task.spec.flows.is_empty() {
        let message = "there is no flow, so nothing would happen: name one in [[flow]], or run programs of your own over this \
                       network with \"netspurt emulate\"";
        return Err(scenario_fault(py, &name, message.to_owned()));
    }
    // After a panic the world is dropped, so no code sees an inconsistent state.
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
    let Task { spec, seed, wants, capture, trouble, arrivals, watch, threads } = task;
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
    let look = Look {
        tap: tap.as_ref(),
        trouble: &trouble,
        watch: watch.as_ref(),
        end: spec.duration.as_secs_f64(),
    };
    let names: Vec<Arc<str>> = spec.nodes.iter().map(|node| Arc::clone(&node.name)).collect();
    // Records are in the order of events, which only a run on one thread has.
    let partition = if recorder.is_none() { Partition::for_run(&spec, threads) } else { None };
    let mut result = drive(spec, seed, recorder, (partition, look)).map_err(|failure| match failure {
        Stopped::NoRoute(NoRoute { from, to }) => {
            let [from, to] = [from, to].map(|node| &names[node.0 as usize]);
            Failure::Scenario(format!("no path of links from \"{from}\" to \"{to}\""))
        }
        Stopped::Here(failure) => failure,
    })?;
    if let Some(raised) = trouble.take() {
        return Err(Failure::Raised(raised));
    }
    result.performance.took(began.elapsed().as_secs_f64());
    if let Some(tap) = tap {
        tap.finish()?;
    }
    Ok((result, arrivals.map(Arrivals::take).unwrap_or_default()))
}

/// Why a run has no result.
enum Stopped {
    NoRoute(NoRoute),
    Here(Failure),
}

/// Runs a world to its end, in parts if it is divided.
fn drive(
    spec: WorldSpec,
    seed: u64,
    recorder: Option<Recorder>,
    (partition, look): (Option<Partition>, Look<'_>),
) -> Result<RunResult, Stopped> {
    let mut looked = now();
    let Some(partition) = partition else {
        let mut world = World::new(spec, seed, recorder).map_err(Stopped::NoRoute)?;
        while world.proceed() {
            look.at(world.now(), &mut looked).map_err(Stopped::Here)?;
        }
        return Ok(world.finish(false));
    };
    let mut failed = None;
    let mut stop = |now| {
        failed = look.at(now, &mut looked).err();
        failed.is_some()
    };
    let result = parallel::run(spec, seed, Some(&partition), &mut stop).map_err(Stopped::NoRoute)?;
    failed.map_or(Ok(result), |failure| Err(Stopped::Here(failure)))
}

/// Checks that are made regularly during a run.
struct Look<'a> {
    tap: Option<&'a Tap>,
    trouble: &'a Trouble,
    watch: Option<&'a Py<PyAny>>,
    /// Of the run, in seconds.
    end: f64,
}

impl Look<'_> {
    /// The run has come to `time`. An error ends it.
    fn at(&self, time: Time, looked: &mut Instant) -> Result<(), Failure> {
        if let Some(tap) = self.tap {
            tap.settle(time)?;
        }
        if let Some(raised) = self.trouble.take() {
            return Err(Failure::Raised(raised));
        }
        if ENDING.load(Ordering::Relaxed) {
            return Err(Failure::Ending);
        }
        if looked.elapsed() >= SIGNAL_CHECKS {
            *looked = now();
            let call = |py: Python<'_>| {
                py.check_signals()?;
                self.watch.map_or(Ok(()), |watch| watch.call1(py, (time.as_secs_f64(), self.end)).map(drop))
            };
            Python::attach(call).map_err(Failure::Raised)?;
        }
        Ok(())
    }
}

/// The receivers of packet events.
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

/// Counts the running simulations.
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

/// Stops all running simulations and prevents new ones. Waits until they have stopped.
pub(crate) fn stop_all() {
    ENDING.store(true, Ordering::Relaxed);
    let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    // The result is ignored: after a timeout nothing else can be done.
    drop(STOPPED.wait_timeout_while(running, FAREWELL, |running| *running > 0));
}
