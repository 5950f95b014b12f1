//! The loop of the prober, in a thread of its own, so that the display does not delay packets.

use super::clock::Moment;
use super::echo::{self, Family};
use super::ledger::{Departure, IcmpError, Ledger};
use super::plan::{Plan, PlanError};
use super::row::{Event, Row};
use super::schedule::{Due, Schedule};
use super::socket::{Arrived, Denied, IcmpReport, Kind, Queue, Socket};
use netspurt_sim::random::Stream;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::time::TimeSpec;
use std::os::fd::AsFd as _;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Maximum of messages read before other work.
const BATCH: usize = 256;
/// The largest IP packet.
const LARGEST: usize = 1 << 16;
/// Maximum of stored rows. The oldest are dropped and counted, because the reader has stopped.
const MOST_ROWS: usize = 1 << 20;

/// Why a prober cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The plan is invalid.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// There is no socket.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// A resource of the system is exhausted.
    #[error("the prober failed: {0}")]
    System(String),
}

/// Counters beside the rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Packets that were sent or could not be sent.
    pub sent: u64,
    /// Packets without a result.
    pub waiting: u64,
    /// Messages that are no replies to this prober.
    pub foreign: u64,
    /// Replies with our token and other contents than the packet.
    pub altered: u64,
    /// Rows that were dropped because they were not read.
    pub dropped: u64,
}

/// A running prober.
#[derive(Debug)]
pub struct Prober {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    kinds: Vec<(Family, Kind)>,
    denied: Vec<Denied>,
}

#[derive(Debug)]
struct Shared {
    found: Mutex<Found>,
    news: Condvar,
    wake: EventFd,
}

#[derive(Debug, Default)]
struct Found {
    rows: Vec<Row>,
    tally: Tally,
    stop: bool,
    over: bool,
}

impl Shared {
    fn found(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Prober {
    /// Opens the sockets and starts probing.
    ///
    /// Hosts of a family without a socket are omitted (see [`Prober::denied`]), unless all are.
    pub fn start(plan: Plan) -> Result<Self, StartError> {
        let plan = plan.checked()?;
        let mut families: Vec<Family> = plan.hosts.iter().map(|host| Family::of(host.ip())).collect();
        families.sort_unstable();
        families.dedup();
        let (mut sockets, mut denied) = (Vec::new(), Vec::new());
        for family in families {
            match Socket::open(family) {
                Ok(socket) => sockets.push(socket),
                Err(why) => denied.push(why),
            }
        }
        if sockets.is_empty()
            && let Some(&why) = denied.first()
        {
            return Err(why.into());
        }
        let kinds = sockets.iter().map(|socket| (socket.family, socket.kind)).collect();
        let system = |why: &str| StartError::System(why.to_lowercase());
        let wake = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)
            .map_err(|errno| system(errno.desc()))?;
        let shared = Arc::new(Shared { found: Mutex::default(), news: Condvar::new(), wake });
        let work = Work::new(plan, sockets, Arc::clone(&shared));
        let thread = std::thread::Builder::new()
            .name("netspurt-prober".to_owned())
            .spawn(move || work.run())
            .map_err(|error| system(&error.to_string()))?;
        Ok(Self { shared, thread: Some(thread), kinds, denied })
    }

    /// The kind of the socket of each family.
    pub fn kinds(&self) -> &[(Family, Kind)] {
        &self.kinds
    }

    /// The families of hosts for which there is no socket, and why.
    pub fn denied(&self) -> &[Denied] {
        &self.denied
    }

    /// Waits for a row, the end, or `most`. Returns whether the prober still runs.
    pub fn wait(&self, most: Duration) -> bool {
        let found = self.shared.found();
        let idle = |found: &mut Found| found.rows.is_empty() && !found.over;
        let (found, _) =
            self.shared.news.wait_timeout_while(found, most, idle).unwrap_or_else(PoisonError::into_inner);
        !found.over
    }

    /// The rows since the last call, and the counters.
    pub fn take(&self) -> (Vec<Row>, Tally) {
        let mut found = self.shared.found();
        (core::mem::take(&mut found.rows), found.tally)
    }

    /// Stops it; outstanding packets get no row.
    pub fn stop(&mut self) {
        self.shared.found().stop = true;
        // Without this signal, the thread would notice the stop later.
        let _ = self.shared.wake.write(1);
        if let Some(thread) = self.thread.take() {
            // If the thread has panicked, it has ended too.
            let _ = thread.join();
        }
    }
}

impl Drop for Prober {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The state of the thread.
struct Work {
    plan: Plan,
    sockets: Vec<Socket>,
    schedule: Schedule,
    ledger: Ledger,
    /// ICMP identifier of requests on raw sockets.
    identifier: u16,
    /// Number of packets to each host so far.
    sent: u64,
    rows: Vec<Row>,
    tally: Tally,
    message: Vec<u8>,
    shared: Arc<Shared>,
}

impl Work {
    fn new(plan: Plan, sockets: Vec<Socket>, shared: Arc<Shared>) -> Self {
        let mark = Stream::new(plan.seed, "prober/token").bits();
        Self {
            schedule: Schedule::new(&plan, Moment::now().steady),
            ledger: Ledger::new((mark >> 32) as u32, plan.lost_after_ns),
            identifier: mark as u16,
            sent: 0,
            rows: Vec::new(),
            tally: Tally::default(),
            message: Vec::new(),
            plan,
            sockets,
            shared,
        }
    }

    fn run(mut self) {
        let mut buffer = vec![0; LARGEST];
        loop {
            self.receive(&mut buffer);
            let now = Moment::now();
            while let Some(row) = self.ledger.give_up(now.steady) {
                self.rows.push(row);
            }
            let due = self.schedule.due(now.steady, self.ledger.waiting());
            if due == Due::Never && self.plan.hasty_end {
                self.ledger.hasten();
            }
            if due == Due::Now {
                self.volley();
            }
            let over = due == Due::Never && self.ledger.waiting() == 0;
            if self.hand_over(over) || over {
                break;
            }
            if due != Due::Now {
                self.sleep(due, now.steady);
            }
        }
        self.hand_over(true);
    }

    /// Sends one packet to each host.
    fn volley(&mut self) {
        let length = self.schedule.volley(Moment::now().steady);
        let number = self.sent;
        self.sent += 1;
        for (host, &to) in self.plan.hosts.iter().enumerate() {
            let family = Family::of(to.ip());
            let Some(socket) = self.sockets.iter().find(|socket| socket.family == family) else { continue };
            let length = length.max(family.floor());
            let departure = Departure { host, address: to.ip(), number, length, sent: Moment::now() };
            // The check of the plan ensures that there is a free number.
            let Some(echo) = self.ledger.enter(&departure, self.identifier) else { continue };
            echo::request(family, &echo, length, &mut self.message);
            self.tally.sent += 1;
            if let Err(errno) = socket.send(&self.message, to) {
                self.rows.extend(self.ledger.not_sent(echo.sequence, errno as i32));
            }
        }
    }

    /// Reads all messages from the sockets, replies before errors.
    fn receive(&mut self, buffer: &mut [u8]) {
        for socket in &self.sockets {
            for queue in [Queue::Messages, Queue::Errors] {
                for _ in 0..BATCH {
                    let Some(arrived) = socket.receive(queue, buffer) else { break };
                    match judge(&mut self.ledger, socket, self.identifier, &arrived) {
                        Judged::Row(row) => self.rows.push(row),
                        Judged::Nothing => {}
                        Judged::Foreign => self.tally.foreign += 1,
                        Judged::Altered => self.tally.altered += 1,
                    }
                }
            }
        }
    }

    /// Publishes the rows. Returns whether to stop.
    fn hand_over(&mut self, over: bool) -> bool {
        self.tally.waiting = self.ledger.waiting() as u64;
        let mut found = self.shared.found();
        if found.rows.len() > MOST_ROWS {
            self.tally.dropped += found.rows.len() as u64;
            found.rows.clear();
        }
        found.rows.append(&mut self.rows);
        found.tally = self.tally;
        found.over |= over;
        if over || !found.rows.is_empty() {
            self.shared.news.notify_all();
        }
        found.stop
    }

    /// Sleeps until a message arrives or an event is due.
    fn sleep(&mut self, due: Due, now: u64) {
        let volley = match due {
            Due::At(at) => Some(at),
            Due::Now | Due::AfterReplies | Due::Never => None,
        };
        let until = [volley, self.ledger.deadline()].into_iter().flatten().min();
        let timeout =
            until.map(|until| TimeSpec::from_duration(Duration::from_nanos(until.saturating_sub(now))));
        let mut wanted: Vec<PollFd<'_>> =
            self.sockets.iter().map(|socket| PollFd::new(socket.as_fd(), PollFlags::POLLIN)).collect();
        wanted.push(PollFd::new(self.shared.wake.as_fd(), PollFlags::POLLIN));
        match ppoll(&mut wanted, timeout, None) {
            Ok(_) | Err(Errno::EINTR) => {}
            // No other error can occur with these descriptors. Ending here prevents an endless loop.
            Err(_) => self.shared.found().stop = true,
        }
    }
}

/// The classification of a message.
enum Judged {
    Row(Row),
    Nothing,
    Foreign,
    Altered,
}

fn judge(ledger: &mut Ledger, socket: &Socket, identifier: u16, arrived: &Arrived<'_>) -> Judged {
    use super::ledger::Foreign;

    let family = socket.family;
    let raw = socket.kind == Kind::Raw;
    let outcome = if let Some(report) = arrived.error {
        let Some(quoted) = echo::quoted(family, arrived.message) else { return Judged::Foreign };
        // A ping socket receives errors about its own requests only.
        if raw && quoted.identifier != identifier {
            return Judged::Foreign;
        }
        let IcmpReport { icmp, from } = report;
        let event = meaning(family, icmp.0);
        ledger.icmp_error(&IcmpError { about: arrived.address, quoted, from, icmp, event }, arrived.received)
    } else {
        match echo::reply(family, arrived.message) {
            Ok((echo, length)) => ledger.reply(arrived.address, &echo, length, arrived.received).map(Some),
            // A raw socket also receives requests and errors, which are no replies and not counted.
            Err(_) => return Judged::Nothing,
        }
    };
    match outcome {
        Ok(Some(row)) => Judged::Row(row),
        Ok(None) => Judged::Nothing,
        Err(Foreign::Stranger) => Judged::Foreign,
        Err(Foreign::Altered) => Judged::Altered,
    }
}

/// The event of an ICMP error type: RFC 792; RFC 4443, section 3.
const fn meaning(family: Family, icmp_type: u8) -> Event {
    match (family, icmp_type) {
        (Family::V4, 3) | (Family::V6, 1 | 2) => Event::Unreachable,
        (Family::V4, 11) | (Family::V6, 3) => Event::TimeExceeded,
        _ => Event::OtherError,
    }
}
