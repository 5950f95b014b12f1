//! A running host: device, loop and role in a thread of their own, so that the display does not delay packets.

pub(super) mod capture;
pub(super) mod driver;
pub(super) mod plan;
pub(super) mod polling;
pub(super) mod release;
pub(super) mod setup;

use crate::host::account::{Account, ConnectError, Happening, Tally};
use crate::host::app::{Http, Sink, Source};
use crate::host::row::Row;
use crate::host::service::capture::Capture;
use crate::host::service::driver::{Driver, DriverError, Other};
use crate::host::service::plan::{Plan, Role, Where};
use crate::host::service::setup::{StartError, device};
use crate::host::settings::Settings;
use crate::host::splice::Splice;
use crate::host::stack::{Accept, Host};
use crate::host::stream::{Application, Elsewhere, Pair};
use netspurt_tcp::state::CloseReason;
use netspurt_tcp::time::{Span, Time};
use nix::poll::PollFlags;
use nix::sys::eventfd::{EfdFlags, EventFd};
use std::collections::VecDeque;
use std::io::Read as _;
use std::net::IpAddr;
use std::os::fd::AsFd as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Maximum of stored events; the oldest are dropped first.
const MOST_NEWS: usize = 1 << 14;
/// Maximum of connections in a snapshot.
const MOST_ROWS: usize = 1000;
/// Time for sending resets and other packets after a stop.
const FAREWELL: Span = Span::from_ms(5);

/// An event.
#[derive(Clone, Copy, Debug)]
pub enum News {
    /// A connection is open.
    Opened(Pair),
    /// One is over.
    Closed(Account),
}

/// The state of a host at one time.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// Connections, at most a thousand.
    pub rows: Vec<Row>,
    /// Number of connections: open, half open, in TIME-WAIT.
    pub counts: [usize; 3],
    /// Counters apart from connections.
    pub tally: Tally,
}

/// A running host.
#[derive(Debug)]
pub struct Service {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    kernel: Vec<IpAddr>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    wake: EventFd,
}

#[derive(Debug, Default)]
struct State {
    news: VecDeque<News>,
    wants: bool,
    snapshot: Snapshot,
    stop: bool,
    over: Option<Result<(), String>>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Service {
    /// Opens and configures the device, and starts the host.
    pub fn start(plan: Plan) -> Result<Self, StartError> {
        let system = |why: String| StartError::System(why.to_lowercase());
        let (device, mtu, kernel) = device(&plan)?;
        let mut key = [0; 16];
        let mut urandom = std::fs::File::open("/dev/urandom").map_err(|error| system(error.to_string()))?;
        urandom.read_exact(&mut key).map_err(|error| system(error.to_string()))?;
        let networks = plan.networks;
        let (config, mss, limits) = (plan.config, plan.mss, plan.limits);
        let mut host = Host::new(Settings { networks, mtu, config, mss, limits, key })?;
        let work = Work::new(&mut host, plan.role)?;
        let capture = plan.capture.map(|path| Capture::create(&path, device.name())).transpose()?;
        let wake = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)
            .map_err(|errno| system(errno.desc().to_owned()))?;
        let shared = Arc::new(Shared { state: Mutex::default(), changed: Condvar::new(), wake });
        let thread = std::thread::Builder::new()
            .name("netspurt-host".to_owned())
            .spawn({
                let shared = Arc::clone(&shared);
                move || {
                    let mut driver = Driver::new(host, device, capture);
                    let ended = work
                        .run(&mut driver, &shared)
                        .and_then(|()| driver.finish_capture().map(drop).map_err(|error| error.to_string()));
                    shared.state().over = Some(ended);
                    shared.changed.notify_all();
                }
            })
            .map_err(|error| system(error.to_string()))?;
        Ok(Self { shared, thread: Some(thread), kernel })
    }

    /// The kernel's addresses on the device, if the service has created it.
    pub fn kernel(&self) -> &[IpAddr] {
        &self.kernel
    }

    /// Waits for an event, the end, or `most`. Returns false when the host has ended.
    pub fn wait(&self, most: Duration) -> bool {
        let state = self.shared.state();
        let quiet = |state: &mut State| state.news.is_empty() && state.over.is_none();
        let (state, _) = self
            .shared
            .changed
            .wait_timeout_while(state, most, quiet)
            .unwrap_or_else(PoisonError::into_inner);
        state.over.is_none()
    }

    /// The events since the last call.
    pub fn take_news(&self) -> Vec<News> {
        self.shared.state().news.drain(..).collect()
    }

    /// The present state, or the last one if the host has ended.
    pub fn snapshot(&self) -> Snapshot {
        let mut state = self.shared.state();
        if state.over.is_none() {
            state.wants = true;
            self.shared.wake.write(1).unwrap_or_default();
            let waits = |state: &mut State| state.wants && state.over.is_none();
            let most = Duration::from_secs(1);
            (state, _) = self
                .shared
                .changed
                .wait_timeout_while(state, most, waits)
                .unwrap_or_else(PoisonError::into_inner);
        }
        state.snapshot.clone()
    }

    /// Stops the host: resets open connections and completes the capture. An error is a sentence.
    pub fn stop(&mut self) -> Result<(), String> {
        self.shared.state().stop = true;
        self.shared.wake.write(1).unwrap_or_default();
        if let Some(thread) = self.thread.take() {
            thread.join().map_err(|_| "the host's thread failed".to_owned())?;
        }
        self.shared.state().over.clone().unwrap_or(Ok(()))
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.stop().unwrap_or_default();
    }
}

/// The state of the thread.
struct Work {
    splice: Option<Splice>,
    /// Number of connections that must end before the host does; `None` if it only ends by a stop.
    left: Option<u32>,
}

impl Work {
    /// Gives the host its role.
    fn new(host: &mut Host, role: Role) -> Result<Self, ConnectError> {
        let mut work = Self { splice: None, left: None };
        match role {
            Role::Splice(place, stdio) => {
                work.splice = Some(Splice::new(stdio));
                work.left = Some(1);
                let taken = AtomicBool::new(false);
                let app = move || {
                    (!taken.swap(true, Ordering::Relaxed))
                        .then(|| Box::new(Elsewhere) as Box<dyn Application>)
                };
                work.place(host, place, app)?;
            }
            Role::Sink(place) => work.place(host, place, || Some(Box::new(Sink)))?,
            Role::Source(place, bytes) => {
                work.place(host, place, move || Some(Box::new(Source::new(bytes))))?
            }
            Role::Http(port, root, writes) => {
                let app = move || -> Option<Box<dyn Application>> {
                    Some(Box::new(Http::new(root.clone(), writes.clone())))
                };
                work.place(host, Where::Port(port), app)?;
            }
        }
        Ok(work)
    }

    fn place(
        &mut self,
        host: &mut Host,
        place: Where,
        app: impl Fn() -> Option<Box<dyn Application>> + Send + 'static,
    ) -> Result<(), ConnectError> {
        match place {
            Where::Port(port) => {
                let accept: Accept = Box::new(move |_| app());
                host.listen(port, accept);
            }
            Where::Remote(remote, count) => {
                self.left = Some(count);
                for _ in 0..count {
                    if let Some(app) = app() {
                        let id = host.connect(Time::ZERO, remote, app)?;
                        if let Some(splice) = &mut self.splice {
                            splice.join(id);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Runs until the role is complete or the host is stopped.
    fn run(mut self, driver: &mut Driver, shared: &Shared) -> Result<(), String> {
        let said = |error: DriverError| error.to_string();
        loop {
            let now = driver.now();
            let wake = Other::new(shared.wake.as_fd(), PollFlags::POLLIN);
            let (mut asked, mut input) = (wake, false);
            if let Some(splice) = &mut self.splice {
                let [from, to] = splice.waits_for(driver.host(), now);
                let mut others = [wake, from, to];
                driver.turn(&mut others, Time::NEVER).map_err(said)?;
                (asked, input) = (others[0], !others[1].events.is_empty());
            } else {
                driver.turn(core::slice::from_mut(&mut asked), Time::NEVER).map_err(said)?;
            }
            let asked = !asked.events.is_empty();
            let ended = self.process_events(driver, shared);
            let now = driver.now();
            if let Some(splice) = &mut self.splice {
                splice.carry(driver.host(), now, input);
                if splice.output_gone() {
                    farewell(driver).map_err(said)?;
                    return Err("standard output was closed".to_owned());
                }
            }
            if let Some(ended) = ended {
                show(driver, shared);
                linger(driver, shared).map_err(said)?;
                return ended;
            }
            if asked && attend(driver, shared) {
                farewell(driver).map_err(said)?;
                self.process_events(driver, shared);
                return Ok(());
            }
        }
    }

    /// Passes on events. Returns the result when the role is complete.
    fn process_events(&mut self, driver: &mut Driver, shared: &Shared) -> Option<Result<(), String>> {
        let mut ended = None;
        while let Some(happening) = driver.host().poll_happening() {
            let news = match happening {
                Happening::Opened(id, pair) => {
                    if let Some(splice) = &mut self.splice {
                        splice.join(id);
                    }
                    News::Opened(pair)
                }
                Happening::Closed(id, account) => {
                    let now = driver.now();
                    if let Some(splice) = &mut self.splice {
                        // Received data may still have to be written to the output.
                        splice.finish(driver.host(), now, id, || shared.state().stop);
                    }
                    self.left = self.left.map(|left| left.saturating_sub(1));
                    if self.left == Some(0) {
                        ended = Some(verdict(&account));
                    }
                    News::Closed(account)
                }
            };
            let mut state = shared.state();
            if state.news.len() >= MOST_NEWS {
                state.news.pop_front();
            }
            state.news.push_back(news);
            drop(state);
            shared.changed.notify_all();
        }
        ended
    }
}

/// Whether a connection ended normally.
fn verdict(account: &Account) -> Result<(), String> {
    let Account { pair: Pair { remote, .. }, why, .. } = account;
    match why {
        CloseReason::Finished | CloseReason::Aborted => Ok(()),
        CloseReason::Refused => Err(format!("{remote} refused the connection")),
        CloseReason::Reset => Err(format!("{remote} reset the connection")),
        CloseReason::TimedOut | CloseReason::UserTimeout | CloseReason::KeepAliveTimeout => {
            Err(format!("{remote} no longer responds"))
        }
    }
}

/// Processes requests. Returns whether to stop.
fn attend(driver: &mut Driver, shared: &Shared) -> bool {
    shared.wake.read().unwrap_or_default();
    let (wants, stop) = {
        let state = shared.state();
        (state.wants, state.stop)
    };
    if wants || stop {
        show(driver, shared);
    }
    stop
}

fn show(driver: &mut Driver, shared: &Shared) {
    let now = driver.now();
    let host = driver.host();
    let rows = host.connections().take(MOST_ROWS);
    let rows = rows.map(|(pair, since, connection)| Row::of(pair, since, now, connection)).collect();
    let snapshot = Snapshot { rows, counts: host.counts(), tally: host.tally() };
    let mut state = shared.state();
    state.snapshot = snapshot;
    state.wants = false;
    drop(state);
    shared.changed.notify_all();
}

/// Remains for retransmissions from peers that have not received our last ACK. A stop ends this.
fn linger(driver: &mut Driver, shared: &Shared) -> Result<(), DriverError> {
    while let Some(until) = driver.host().lingers_until().filter(|&until| until > driver.now()) {
        let mut wake = Other::new(shared.wake.as_fd(), PollFlags::POLLIN);
        driver.turn(core::slice::from_mut(&mut wake), until)?;
        if !wake.events.is_empty() && attend(driver, shared) {
            break;
        }
    }
    Ok(())
}

/// Resets open connections, and sends the resets.
fn farewell(driver: &mut Driver) -> Result<(), DriverError> {
    let now = driver.now();
    driver.host().abort_all(now);
    driver.turn(&mut [], now + FAREWELL)
}
