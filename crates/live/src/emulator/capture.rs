//! Captures packets at hosts and at routers to files.

use super::clock::Clock;
use super::error::EmulateError;
use super::plan::{CapturePoint, Plan};
use crate::emulator::packets::real_network::Sighting;
use crate::emulator::packets::store::RealPacket;
use crate::tun::{Checksum, Shape, complete_checksum};
use netspurt_sim::address;
use netspurt_sim::record::changes::comments;
use netspurt_sim::spec::NodeId;
use netspurt_tcp::time::Time;
use netspurt_trace::Stamp;
use netspurt_trace::capture::{CaptureError, CaptureWriter, Direction, Host, Interface, Setup};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// All captures of an emulation.
#[derive(Debug, Default)]
pub(super) struct Captures {
    /// Captures at hosts with commands, by the host's number.
    hosts: Vec<(usize, Capture)>,
    /// Captures at other nodes, and on wires.
    routers: Vec<Router>,
    /// Buffer for a packet whose checksum has to be completed.
    packet: Vec<u8>,
}

/// A capture that is being written. A write error is reported at the end, because the programs continue.
#[derive(Debug)]
struct Capture {
    writer: CaptureWriter,
    failed: Option<CaptureError>,
}

/// A capture at a router, with an interface for each link, or on the wire at one end of a link.
#[derive(Debug)]
struct Router {
    capture: Capture,
    /// For each direction of each link: the interface at its start and the one at its end.
    interfaces: Vec<[Option<u32>; 2]>,
    /// Future packets, sorted by time.
    ahead: BTreeMap<(Time, u64), Seen>,
    count: u64,
}

#[derive(Debug)]
struct Seen {
    interface: u32,
    direction: Direction,
    bytes: Vec<u8>,
}

impl Capture {
    fn create(plan: &Plan, path: &Path, interfaces: Vec<Interface>) -> Result<Self, EmulateError> {
        let hosts = plan.hosts().into_iter().map(|command| Host {
            address: address(command.host.0),
            name: plan.name(command.host).to_owned(),
        });
        let setup = Setup {
            application: format!("netspurt {}", env!("CARGO_PKG_VERSION")),
            comment: format!("{}, emulated with seed {}", plan.spec.name, plan.seed),
            interfaces,
            hosts: hosts.collect(),
            snaplen: None,
            remarks: Vec::new(),
        };
        Ok(Self { writer: CaptureWriter::create(path, &setup)?, failed: None })
    }

    fn write(&mut self, interface: u32, at: Stamp, direction: Direction, packet: &[u8]) {
        if self.failed.is_none() {
            self.failed = self.writer.write_seen(interface, at, direction, packet).err();
        }
    }

    fn finish(self) -> Result<(), EmulateError> {
        self.failed.map_or_else(|| self.writer.finish().map(drop), Err).map_err(Into::into)
    }
}

impl Router {
    fn create(plan: &Plan, point: CapturePoint, path: &Path) -> Result<Self, EmulateError> {
        let spec = &plan.spec;
        let mut described = Vec::new();
        let mut interfaces = vec![[None; 2]; 2 * spec.links.len()];
        for (link, first) in spec.links.iter().zip((0..).step_by(2)) {
            if point.link.is_some_and(|only| 2 * only != first) {
                continue;
            }
            if let Some(near) = link.ends.iter().position(|end| *end == point.node) {
                let number = Some(described.len() as u32);
                interfaces[first + near][0] = number;
                interfaces[first + 1 - near][1] = number;
                let [here, there] = [near, 1 - near].map(|end| plan.name(link.ends[end]));
                described.push(Interface {
                    name: format!("{}@{here}", link.name),
                    description: format!("{here}, on link {} to {there}", link.name),
                    speed: link.directions[near].rate,
                });
            }
        }
        let capture = Capture::create(plan, path, described)?;
        Ok(Self { capture, interfaces, ahead: BTreeMap::new(), count: 0 })
    }

    fn see(&mut self, sighting: &Sighting) {
        let Sighting { channel, direction, at, bytes } = sighting;
        let side = usize::from(*direction == Direction::Inbound);
        if let Some(interface) = self.interfaces[*channel as usize][side] {
            self.count += 1;
            let seen = Seen { interface, direction: *direction, bytes: bytes.clone() };
            self.ahead.insert((*at, self.count), seen);
        }
    }

    /// Writes the packets up to `now`.
    fn settle(&mut self, now: Time, clock: Clock) {
        while let Some(first) = self.ahead.first_entry()
            && first.key().0 <= now
        {
            let ((at, _), seen) = first.remove_entry();
            self.capture.write(seen.interface, clock.calendar(at), seen.direction, &seen.bytes);
        }
    }
}

impl Captures {
    /// Creates the captures of a plan, whose hosts are at these nodes.
    pub(super) fn create(plan: &Plan, hosts: &[NodeId]) -> Result<Self, EmulateError> {
        let mut all = Self::default();
        for (point, path) in &plan.captures {
            let host = hosts.iter().position(|host| *host == point.node).filter(|_| point.link.is_none());
            if let Some(number) = host {
                let interface = Interface { name: plan.name(point.node).to_owned(), ..Interface::default() };
                all.hosts.push((number, Capture::create(plan, path, vec![interface])?));
            } else {
                all.routers.push(Router::create(plan, *point, path)?);
            }
        }
        Ok(all)
    }

    /// The clock of the network starts: the changes of the path have their times now. Each gets a comment on the first packet
    /// of a capture after it.
    pub(super) fn announce(&mut self, plan: &Plan, clock: Clock) {
        let remarks: Vec<(Stamp, String)> = comments(&plan.spec.changes, Time::NEVER)
            .into_iter()
            .map(|(at, text)| (clock.calendar(at), text))
            .collect();
        let hosts = self.hosts.iter_mut().map(|(_, capture)| capture);
        for capture in hosts.chain(self.routers.iter_mut().map(|router| &mut router.capture)) {
            capture.writer.set_remarks(remarks.clone());
        }
    }

    /// The directions of links for which [sightings](Self::see) are needed.
    pub(super) fn watched(plan: &Plan, hosts: &[NodeId]) -> Vec<u32> {
        let on_wire = |point: &CapturePoint| point.link.is_some() || !hosts.contains(&point.node);
        let points = plan.captures.iter().map(|(point, _)| *point).filter(on_wire);
        let channels: BTreeSet<u32> = points.flat_map(|point| point.channels(&plan.spec)).collect();
        channels.into_iter().collect()
    }

    /// Captures a packet that passes a host now.
    pub(super) fn note(
        &mut self,
        host: usize,
        at: Stamp,
        direction: Direction,
        packet: &[u8],
        checksum: Checksum,
    ) {
        for (_, capture) in self.hosts.iter_mut().filter(|(number, _)| *number == host) {
            self.packet.clear();
            self.packet.extend_from_slice(packet);
            complete_checksum(&mut self.packet, &Shape { checksum, cut: None });
            capture.write(0, at, direction, &self.packet);
        }
    }

    /// Captures a packet that arrives at a host.
    pub(super) fn note_arrival(&mut self, host: usize, at: Stamp, content: &RealPacket) {
        self.note(host, at, Direction::Inbound, &content.bytes, content.checksum);
    }

    /// Whether packets at a host are captured.
    pub(super) fn watch_hosts(&self) -> bool {
        !self.hosts.is_empty()
    }

    /// Adds the packets that were seen at links, and writes those up to `now`.
    pub(super) fn see(&mut self, sightings: impl Iterator<Item = Sighting>, now: Time, clock: Clock) {
        if self.routers.is_empty() {
            return;
        }
        for sighting in sightings {
            self.routers.iter_mut().for_each(|router| router.see(&sighting));
        }
        self.routers.iter_mut().for_each(|router| router.settle(now, clock));
    }

    /// Whether nothing is captured.
    pub(super) fn is_empty(&self) -> bool {
        self.hosts.is_empty() && self.routers.is_empty()
    }

    /// Completes all captures.
    pub(super) fn finish(self, now: Time, clock: Clock) -> Result<(), EmulateError> {
        for mut router in self.routers {
            router.settle(now, clock);
            router.capture.finish()?;
        }
        self.hosts.into_iter().try_for_each(|(_, capture)| capture.finish())
    }
}
