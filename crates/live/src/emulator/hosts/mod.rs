//! All hosts of an emulation: their namespaces, their commands, and the exit status of these.

pub(super) mod addresses;
pub(super) mod host_thread;
pub(super) mod kernel_tcp;
pub(super) mod leftovers;
mod listening;
pub(super) mod namespace;
pub(super) mod outside_device;
pub(super) mod privilege;
pub(super) mod processes;

use crate::emulator::connections::Connections;
use crate::emulator::error::EmulateError;
use crate::emulator::hosts::host_thread::{HostThread, News, Task};
use crate::emulator::hosts::leftovers::Token;
use crate::emulator::hosts::listening::Listening;
use crate::emulator::hosts::namespace::{Mark, Namespaces};
use crate::emulator::hosts::outside_device::OutsideDevice;
use crate::emulator::packets::real_network::RealNetwork;
use crate::emulator::plan::Plan;
use crate::emulator::report::{Ended, HostReport};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::signal::Signal;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Interval of the checks for remaining processes.
const PAUSE: Duration = Duration::from_millis(1);

/// A host of a running emulation.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) thread: HostThread,
    pub(super) report: HostReport,
    /// Whether it has no command: its namespace stays until the end.
    idle: bool,
}

/// The hosts, in the order of the scenario.
#[derive(Debug)]
pub(super) struct Hosts {
    pub(super) all: Vec<Host>,
    /// The host whose command determines the end of the emulation.
    first: usize,
    /// Number of addresses per host.
    families: usize,
    news: Receiver<(usize, News)>,
    /// Signalled when a command has started, failed or ended.
    pub(super) wake: Arc<EventFd>,
    token: Token,
    connections: Connections,
    /// From the start of all commands but the first one until that starts.
    listening: Option<Listening>,
}

impl Hosts {
    /// Creates the namespaces.
    pub(super) fn new(plan: &Plan, real_network: &RealNetwork) -> Result<Self, EmulateError> {
        let flags = EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC;
        let wake = Arc::new(EventFd::from_flags(flags).map_err(EmulateError::system)?);
        let (sender, news) = channel();
        let commands = plan.hosts();
        let (families, own) = (plan.families(), plan.addresses());
        let mut all = Vec::new();
        for (number, command) in commands.iter().enumerate() {
            let joined = |&(other, _): &(usize, _)| real_network.are_joined(number, other);
            let others = commands.iter().enumerate().filter(joined).map(|(_, other)| other);
            if let Some(outside) = plan.outside.as_ref().filter(|outside| outside.node == command.host) {
                let others =
                    others.flat_map(|other| [own.host(other.host)[0], own.guest(other.host)[0]]).collect();
                let address = own.host(command.host)[0];
                let joined_device =
                    OutsideDevice { device: outside.device.clone(), address, others, mtu: plan.mtu };
                let report = HostReport::new(plan.name(command.host).to_owned(), vec![address]);
                all.push(Host { thread: HostThread::outside(joined_device.open()?), report, idle: true });
                continue;
            }
            let namespaces = Namespaces {
                host: plan.name(command.host).to_owned(),
                addresses: own.host(command.host)[..families].to_vec(),
                others: others
                    .flat_map(|other| [own.host(other.host), own.guest(other.host)])
                    .flat_map(|pair| pair.into_iter().take(families))
                    .collect(),
                mtu: plan.mtu,
                tcp: plan.tcp.clone(),
                hosts: plan.hosts_file(families),
                sysctls: plan.sysctls.clone(),
                resolver: plan.outside.as_ref().map(|outside| outside.resolver.clone()),
            };
            let report = HostReport::new(namespaces.host.clone(), namespaces.addresses.clone());
            let thread = HostThread::new(namespaces, number, sender.clone(), Arc::clone(&wake))?;
            all.push(Host { thread, report, idle: false });
        }
        let first = commands.iter().position(|command| command.host == plan.command.host);
        let watched = all.iter_mut().map(|host| host.thread.take_connections()).collect();
        let connections = Connections::watch(watched)?;
        let first = first.unwrap_or_default();
        Ok(Self { all, first, families, news, wake, token: Token::own(), connections, listening: None })
    }

    /// The connections of all kernels.
    pub(super) const fn connections(&mut self) -> &mut Connections {
        &mut self.connections
    }

    /// What the hosts did.
    pub(super) fn reports(&mut self) -> Vec<HostReport> {
        let seen = self.connections.congestion();
        let report = |(host, names): (&Host, &BTreeSet<String>)| {
            let by_default = host.thread.congestion.iter().filter(|_| names.is_empty());
            HostReport {
                congestion: names.iter().chain(by_default).cloned().collect(),
                ..host.report.clone()
            }
        };
        self.all.iter().zip(seen).map(report).collect()
    }

    /// Starts the command that determines the end.
    pub(super) fn start_first(&mut self, plan: &Plan) {
        self.listening = None;
        self.start(self.first, plan);
    }

    /// Starts all other commands.
    pub(super) fn start_others(&mut self, plan: &Plan) -> std::io::Result<()> {
        let others: Vec<usize> = (0..self.all.len()).filter(|&number| number != self.first).collect();
        others.iter().for_each(|&number| self.start(number, plan));
        let marks = others.iter().filter_map(|&number| Some((number, self.all[number].thread.mark?)));
        self.listening = Some(Listening::watch(marks.collect())?);
        Ok(())
    }

    fn start(&mut self, number: usize, plan: &Plan) {
        let words = plan.hosts()[number].words.clone();
        if words.is_empty() {
            self.all[number].idle = true;
            return;
        }
        let guest = plan.addresses().guest_networks(plan.hosts()[number].host)[..self.families].to_vec();
        let task = Task { words, foreground: number == self.first, token: self.token, guest };
        self.all[number].thread.start(task);
    }

    /// Processes news of commands. Returns how the command that determines the end has ended, if it has since the last
    /// call.
    pub(super) fn process_news(&mut self) -> Result<Option<Ended>, EmulateError> {
        let _ = self.wake.read();
        let mut over = None;
        while let Ok((number, news)) = self.news.try_recv() {
            match news {
                News::NotStarted(error) => return Err(error),
                News::Ended(status) => {
                    let ended = Ended::from(status?);
                    self.all[number].report.status = Some(ended);
                    over = over.or((number == self.first).then_some(ended));
                }
            }
        }
        Ok(over)
    }

    fn marks(&self) -> Vec<Mark> {
        self.all.iter().filter_map(|host| host.thread.mark).collect()
    }

    /// Whether each of the other commands listens, or has ended.
    pub(super) fn others_listen(&self) -> bool {
        let others = self.all.iter().enumerate().filter(|&(number, _)| number != self.first);
        let mut waiting = others.filter(|(_, host)| host.report.status.is_none() && !host.idle);
        waiting.all(|(number, _)| self.listening.as_ref().is_none_or(|watch| watch.listens(number)))
    }

    /// Whether no process runs any more.
    pub(super) fn are_empty(&self) -> bool {
        processes::inside(&self.marks()).is_empty()
    }

    /// Asks all remaining processes to terminate.
    pub(super) fn dismiss(&self) {
        processes::signal(&processes::inside(&self.marks()), Signal::SIGTERM);
    }

    /// Kills all remaining processes and waits for their end. No command is started after this.
    #[expect(clippy::disallowed_methods, reason = "the kernel has no notification for an empty namespace")]
    pub(super) fn evict(&mut self) {
        let marks = self.marks();
        self.all.iter_mut().for_each(|host| host.thread.cancel());
        loop {
            let left = processes::inside(&marks);
            // A command that is just being started is in no namespace yet, but its thread exists.
            if left.is_empty() && self.all.iter().all(|host| host.thread.is_gone()) {
                break;
            }
            processes::signal(&left, Signal::SIGKILL);
            std::thread::sleep(PAUSE);
        }
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        self.evict();
    }
}
