//! The thread of a host: it enters the host's namespaces, starts the command and waits for it.
//!
//! Each host has a thread of its own, because namespaces belong to threads and are inherited by their children. The
//! thread remains until its command ends, because the kernel kills the command with the thread, even if the emulator is
//! killed.

use crate::emulator::error::EmulateError;
use crate::emulator::hosts::leftovers::{TOKEN, Token};
use crate::emulator::hosts::namespace::{Entered, Mark, Namespaces};
use crate::sockets::Diag;
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

/// Environment variable with the name of the host.
const HOST: &str = "NETSPURT_HOST";
/// Environment variable with the addresses of the guest.
const GUEST: &str = "NETSPURT_GUEST";

/// A message from the thread of a host.
#[derive(Debug)]
pub(in crate::emulator) enum News {
    /// The command could not be started.
    NotStarted(EmulateError),
    /// The command has ended.
    Ended(io::Result<ExitStatus>),
}

/// A host's command.
#[derive(Clone, Debug)]
pub(in crate::emulator) struct Task {
    pub(in crate::emulator) words: Vec<OsString>,
    /// Whether the command owns the terminal. Others have no standard input, and a process group of their own.
    pub(in crate::emulator) foreground: bool,
    pub(in crate::emulator) token: Token,
    /// The addresses of the host's guest.
    pub(in crate::emulator) guest: Vec<Network>,
}

/// The thread of a host.
#[derive(Debug)]
pub(in crate::emulator) struct HostThread {
    pub(in crate::emulator) device: Device,
    /// The namespace, which the emulator clears at the end; `None` for the caller's own.
    pub(in crate::emulator) mark: Option<Mark>,
    /// The congestion control that new connections get.
    pub(in crate::emulator) congestion: Option<String>,
    /// Lists the connections of its kernel, until [`take_connections`](Self::take_connections).
    connections: Option<Diag>,
    commands: Option<Sender<Task>>,
    thread: Option<JoinHandle<()>>,
}

impl HostThread {
    /// Enters `namespaces`. Messages about host `number` go to `news`, followed by a signal to `wake`.
    pub(in crate::emulator) fn new(
        namespaces: Namespaces,
        number: usize,
        news: Sender<(usize, News)>,
        wake: Arc<EventFd>,
    ) -> Result<Self, EmulateError> {
        let (commands, tasks) = channel();
        let (sender, receiver) = channel();
        let thread =
            std::thread::Builder::new().name(format!("host {}", namespaces.host)).spawn(move || {
                let report = |what| {
                    // If the receiver is gone, no signal is needed.
                    let _ = news.send((number, what));
                    let _ = wake.write(1);
                };
                let host = namespaces.host.clone();
                let outcome = namespaces.enter();
                let entered = outcome.is_ok();
                if sender.send(outcome).is_ok() && entered {
                    run_command(&host, &tasks, report);
                }
            })?;
        let entered = receiver.recv().unwrap_or_else(|_| Err(io::Error::other("a thread has ended").into()));
        let Entered { device, mark, connections, congestion } = entered?;
        Ok(Self {
            device,
            mark: Some(mark),
            congestion: Some(congestion),
            connections,
            commands: Some(commands),
            thread: Some(thread),
        })
    }

    /// The caller's own network, which this device leads to. It has no command and no thread.
    pub(in crate::emulator) const fn outside(device: Device) -> Self {
        Self { device, mark: None, congestion: None, connections: None, commands: None, thread: None }
    }

    /// Lists the connections of its kernel; only once.
    pub(in crate::emulator) const fn take_connections(&mut self) -> Option<Diag> {
        self.connections.take()
    }

    /// Starts the command.
    pub(in crate::emulator) fn start(&mut self, task: Task) {
        if let Some(commands) = self.commands.take() {
            // If the thread has ended, it has sent the reason.
            let _ = commands.send(task);
        }
    }

    /// No command will be started any more.
    pub(in crate::emulator) fn cancel(&mut self) {
        self.commands = None;
    }

    /// Whether the command has ended or was never started.
    pub(in crate::emulator) fn is_gone(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }
}

fn run_command(host: &str, tasks: &Receiver<Task>, report: impl Fn(News)) {
    let Ok(task) = tasks.recv() else { return };
    let mut words = task.words.iter();
    let Some(program) = words.next() else { return };
    let mut command = Command::new(program);
    command
        .args(words)
        .env(TOKEN, task.token.to_string())
        .env(HOST, host)
        .env(GUEST, task.guest.iter().map(Network::to_string).collect::<Vec<_>>().join(" "));
    if !task.foreground {
        command.stdin(Stdio::null()).process_group(0);
    }
    // SAFETY: between fork and exec nothing is called but prctl, which may be called there.
    #[expect(unsafe_code, reason = "the compiler cannot check what happens between fork and exec")]
    unsafe {
        command.pre_exec(|| set_pdeathsig(Signal::SIGKILL).map_err(Into::into));
    }
    match command.spawn() {
        Ok(mut child) => report(News::Ended(child.wait())),
        Err(source) => {
            let command = program.to_string_lossy().into_owned();
            report(News::NotStarted(EmulateError::Command { host: host.to_owned(), command, source }));
        }
    }
}
