//! The request for an emulation, and its checks before anything is created.

use super::error::EmulateError;
use crate::emulator::hosts::addresses::Addresses;
use crate::emulator::hosts::kernel_tcp::KernelTcp;
use crate::emulator::hosts::namespace;
use crate::emulator::packets::real_network::RealNetwork;
use netspurt_sim::spec::{LinkSpec, NodeId, WorldSpec};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Rate in bit/s that the emulator reaches on an ordinary machine, with packets of 1500 bytes in long transfers.
const HIGHEST: u64 = 4_000_000_000;

/// A command and its host.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostCommand {
    /// The host.
    pub host: NodeId,
    /// Program and arguments.
    pub words: Vec<OsString>,
}

/// The place of the caller's own network in an emulation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outside {
    /// The node that stands for it; it has no command.
    pub node: NodeId,
    /// The name of the device in the caller's network namespace.
    pub device: String,
    /// The block of addresses 100.64.`block`.0/24 for the hosts; none of it may be in use.
    pub block: u8,
    /// The content of the hosts' `/etc/resolv.conf`.
    pub resolver: String,
}

/// The request for an emulation.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The network. Its flows are not used.
    pub spec: WorldSpec,
    /// The seed of the network's random numbers.
    pub seed: u64,
    /// The command whose end ends the emulation.
    pub command: HostCommand,
    /// The other commands; they have no standard input. A host without words has no command, and its kernel answers.
    pub beside: Vec<HostCommand>,
    /// Where the caller's own network is, if packets can reach it.
    pub outside: Option<Outside>,
    /// MTU of the hosts' devices in bytes.
    pub mtu: u32,
    /// Settings of the kernel's TCP on every host; `None` for the defaults.
    pub tcp: KernelTcp,
    /// Sysctls in every namespace, such as `net.ipv4.tcp_ecn`.
    pub sysctls: Vec<(String, String)>,
    /// Capture files.
    pub captures: Vec<(CapturePoint, PathBuf)>,
}

/// Where packets are captured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CapturePoint {
    /// The node.
    pub node: NodeId,
    /// The number of a link, for the wire at this end of it. Without a link: all packets of the node, at a host with a command
    /// between its kernel and the queue of its link.
    pub link: Option<usize>,
}

impl CapturePoint {
    /// The directions of links whose packets it sees.
    pub(super) fn channels(self, spec: &WorldSpec) -> Vec<u32> {
        match self.link {
            Some(link) => vec![2 * link as u32, 2 * link as u32 + 1],
            None => touching(spec, &[self.node]),
        }
    }
}

impl Plan {
    /// The hosts in the order of the scenario.
    pub(super) fn hosts(&self) -> Vec<&HostCommand> {
        let mut hosts: Vec<&HostCommand> = std::iter::once(&self.command).chain(&self.beside).collect();
        hosts.sort_by_key(|command| command.host);
        hosts
    }

    /// The addresses of the hosts.
    pub(super) fn addresses(&self) -> Addresses {
        Addresses { block: self.outside.as_ref().map(|outside| outside.block) }
    }

    /// Number of addresses per host. The caller's own network is reached with IPv4 alone.
    pub(super) fn families(&self) -> usize {
        if self.outside.is_some() { 1 } else { namespace::families(self.mtu) }
    }

    pub(super) fn name(&self, node: NodeId) -> &str {
        &self.spec.nodes[node.0 as usize].name
    }

    /// Checks everything that can be checked without creating anything.
    pub(super) fn check(&self) -> Result<(), EmulateError> {
        let hosts = self.hosts();
        if self.command.words.is_empty() {
            return Err(EmulateError::NoCommand);
        }
        if let Some(Outside { node, .. }) = &self.outside
            && hosts.iter().any(|command| command.host == *node && !command.words.is_empty())
        {
            return Err(EmulateError::TwoCommands(self.name(*node).to_owned()));
        }
        if let Some(twice) = hosts.windows(2).find(|pair| pair[0].host == pair[1].host) {
            return Err(EmulateError::TwoCommands(self.name(twice[0].host).to_owned()));
        }
        if let [alone] = hosts[..] {
            return Err(EmulateError::Alone(self.name(alone.host).to_owned()));
        }
        if !(68..=65_521).contains(&self.mtu) {
            return Err(EmulateError::Mtu(self.mtu));
        }
        let wrong = hosts.iter().map(|command| self.name(command.host)).find(|name| !can_be_looked_up(name));
        wrong.map_or(Ok(()), |name| Err(EmulateError::Name(name.to_owned())))
    }

    /// Checks that packets pass wherever a capture is requested.
    pub(super) fn check_captures(
        &self,
        real_network: &RealNetwork,
        hosts: &[NodeId],
    ) -> Result<(), EmulateError> {
        let pairs = (0..hosts.len()).flat_map(|from| (0..hosts.len()).map(move |to| (from, to)));
        let used: BTreeSet<u32> = pairs.flat_map(|(from, to)| real_network.channels(from, to)).collect();
        let passed = |point: &CapturePoint| {
            (point.link.is_none() && hosts.contains(&point.node))
                || point.channels(&self.spec).iter().any(|channel| used.contains(channel))
        };
        let wrong = self.captures.iter().map(|(point, _)| *point).find(|point| !passed(point));
        wrong.map_or(Ok(()), |point| Err(EmulateError::NoCapture(self.point_name(point))))
    }

    /// The name of a capture point, as in `--capture`.
    fn point_name(&self, point: CapturePoint) -> String {
        let node = self.name(point.node);
        point.link.map_or_else(|| node.to_owned(), |link| format!("{}@{node}", self.spec.links[link].name))
    }

    /// Warnings for the user, one sentence each, about limits of the emulator.
    pub fn doubts(&self) -> Vec<String> {
        let fast =
            |link: &&LinkSpec| link.directions.iter().any(|way| way.rate.is_none_or(|rate| rate > HIGHEST));
        let asked = |link: &LinkSpec| match link.directions.iter().filter_map(|way| way.rate).max() {
            Some(rate) if link.directions.iter().all(|way| way.rate.is_some()) => {
                format!("{} Gbit/s", rate as f64 / 1e9)
            }
            _ => "no limit".to_owned(),
        };
        let doubt = |link: &LinkSpec| {
            format!(
                "link \"{}\" needs {}, but the emulator reaches about {} Gbit/s: the table shows the rate that was reached",
                link.name,
                asked(link),
                HIGHEST / 1_000_000_000
            )
        };
        // A faster link behind a slower one is not the limit.
        if self.spec.links.iter().any(|link| !fast(&link)) {
            return Vec::new();
        }
        self.spec.links.iter().filter(fast).map(doubt).collect()
    }

    /// The content of `/etc/hosts`, with this number of addresses per host.
    pub(super) fn hosts_file(&self, families: usize) -> String {
        let mut text = String::from("127.0.0.1 localhost\n");
        if families > 1 {
            text.push_str("::1 localhost\n");
        }
        for HostCommand { host, .. } in self.hosts() {
            let name = self.name(*host);
            for (prefix, pair) in
                [("", self.addresses().host(*host)), ("guest.", self.addresses().guest(*host))]
            {
                for address in &pair[..families] {
                    writeln!(text, "{address} {prefix}{name}").expect("a string takes all");
                }
            }
        }
        text
    }
}

fn can_be_looked_up(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
}

/// Both directions of every link that ends at one of these nodes.
pub(super) fn touching(spec: &WorldSpec, nodes: &[NodeId]) -> Vec<u32> {
    let touches = |ends: &[NodeId; 2]| ends.iter().any(|end| nodes.contains(end));
    let links = spec.links.iter().zip((0..).step_by(2)).filter(|(link, _)| touches(&link.ends));
    links.flat_map(|(_, first)| [first, first + 1]).collect()
}
