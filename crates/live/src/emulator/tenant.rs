//! A host: a thread in its namespaces, which starts its command and waits for it.
//!
//! A thread of its own, since namespaces belong to threads, and what a thread starts lives in the thread's. It stays
//! until its command is over, because the kernel kills the command when it goes, whatever it was that killed us.

use super::error::EmulateError;
use super::namespace::{Lodging, Mark};
use super::remains::{TOKEN, Token};
use crate::tun::{Device, Network};
use nix::sys::eventfd::EventFd;
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::Signal;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

/// What a command finds in its environment: which host it is on.
const HOST: &str = "NETSPURT_HOST";
/// And the addresses that a TCP of its own may have there.
const GUEST: &str = "NETSPURT_GUEST";

/// What a tenant tells.
#[derive(Debug)]
pub(super) enum News {
    /// The command could not be started.
    NotStarted(EmulateError),
    /// It is over.
    Ended(io::Result<ExitStatus>),
}

/// A host's command.
#[derive(Clone, Debug)]
pub(super) struct Errand {
    pub(super) words: Vec<OsString>,
    /// Whether it has the terminal to itself; others have no standard input, and a process group of their own.
    pub(super) foreground: bool,
    pub(super) token: Token,
    /// Where a guest of the host lives.
    pub(super) guest: Vec<Network>,
}

/// A host in its namespaces.
#[derive(Debug)]
pub(super) struct Tenant {
    pub(super) device: Device,
    pub(super) mark: Mark,
    orders: Option<Sender<Errand>>,
    thread: JoinHandle<()>,
}

impl Tenant {
    /// Moves into the namespaces of `lodging`. News of the host `number` go to `news`, and `wake` is rung for them.
    pub(super) fn new(
        lodging: Lodging,
        number: usize,
        news: Sender<(usize, News)>,
        wake: Arc<EventFd>,
    ) -> Result<Self, EmulateError> {
        let (orders, errands) = channel();
        let (moved, settled) = channel();
        let thread = std::thread::Builder::new().name(format!("host {}", lodging.host)).spawn(move || {
            let tell = |what| {
                // Who does not listen any more needs no waking either.
                let _ = news.send((number, what));
                let _ = wake.write(1);
            };
            let host = lodging.host.clone();
            let outcome = lodging.move_in();
            let lives = outcome.is_ok();
            if moved.send(outcome).is_ok() && lives {
                live(&host, &errands, tell);
            }
        })?;
        let settled = settled.recv().unwrap_or_else(|_| Err(io::Error::other("a thread has ended").into()));
        let (device, mark) = settled?;
        Ok(Self { device, mark, orders: Some(orders), thread })
    }

    /// Starts the command; what becomes of it is news.
    pub(super) fn start(&mut self, errand: Errand) {
        if let Some(orders) = self.orders.take() {
            // A tenant that is gone has told why.
            let _ = orders.send(errand);
        }
    }

    /// It will not be told to start anything any more.
    pub(super) fn cancel(&mut self) {
        self.orders = None;
    }

    /// Whether its command is over, or never was.
    pub(super) fn is_gone(&self) -> bool {
        self.thread.is_finished()
    }
}

fn live(host: &str, errands: &Receiver<Errand>, tell: impl Fn(News)) {
    let Ok(errand) = errands.recv() else { return };
    let mut words = errand.words.iter();
    let Some(program) = words.next() else { return };
    let mut command = Command::new(program);
    command
        .args(words)
        .env(TOKEN, errand.token.to_string())
        .env(HOST, host)
        .env(GUEST, errand.guest.iter().map(Network::to_string).collect::<Vec<_>>().join(" "));
    if !errand.foreground {
        command.stdin(Stdio::null()).process_group(0);
    }
    // SAFETY: between fork and exec nothing is called but prctl, which may be called there.
    #[expect(unsafe_code, reason = "the compiler cannot check what happens between fork and exec")]
    unsafe {
        command.pre_exec(|| set_pdeathsig(Signal::SIGKILL).map_err(Into::into));
    }
    match command.spawn() {
        Ok(mut child) => tell(News::Ended(child.wait())),
        Err(source) => {
            let command = program.to_string_lossy().into_owned();
            tell(News::NotStarted(EmulateError::Command { host: host.to_owned(), command, source }));
        }
    }
}
