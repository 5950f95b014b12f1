//! Hubs: channels that share a medium.

use crate::network::channel::Channel;
use crate::network::medium::{Contention, CsmaCd, FirstCome, Medium};
use crate::random::Stream;
use crate::spec::{Access, Duplex, HubSpec, WorldSpec};
use netspurt_tcp::time::Time;

/// Channels that share a medium.
#[derive(Debug)]
pub(in crate::network) struct Hub {
    pub(in crate::network) medium: Medium,
    pub(in crate::network) stations: Vec<Station>,
    /// The gap between two packets, in bytes.
    pub(in crate::network) gap: u32,
    /// When the medium is free, as in [`Channel::occupied`].
    pub(in crate::network) free: (Time, u64),
    /// The time of the hub's event in the event queue.
    pub(in crate::network) armed_at: u64,
}

/// A channel as a station of the medium.
#[derive(Debug)]
pub(in crate::network) struct Station {
    pub(in crate::network) channel: u32,
    /// The packet that has left the queue: its place and its position on its route.
    pub(in crate::network) held: Option<(u32, u32)>,
}

impl Hub {
    /// The hubs of `spec`, and its half-duplex links with queues that span two directions.
    pub(in crate::network) fn all(spec: &WorldSpec, seed: u64, channels: &mut [Channel]) -> Vec<Self> {
        let mut hubs = Vec::new();
        for (link, first) in spec.links.iter().zip((0u32..).step_by(2)) {
            if link.duplex == Duplex::Half && channels[first as usize].partner.is_none() {
                let medium = Medium::FirstCome(FirstCome::new(2));
                hubs.push(Self::new(medium, 0, vec![first, first + 1]));
            }
        }
        for hub in &spec.hubs {
            let links = hub.first_link..hub.first_link + hub.stations;
            hubs.push(Self::new(medium(spec, hub, seed), hub.gap, links.map(|link| 2 * link).collect()));
        }
        for (hub, number) in hubs.iter().zip(0..) {
            for (station, place) in hub.stations.iter().zip(0..) {
                channels[station.channel as usize].join(number, place);
            }
        }
        hubs
    }

    fn new(medium: Medium, gap: u32, channels: Vec<u32>) -> Self {
        let stations = channels.into_iter().map(|channel| Station { channel, held: None }).collect();
        Self { medium, stations, gap, free: (Time::ZERO, 0), armed_at: u64::MAX }
    }

    pub(in crate::network) fn contention(&self, station: u32) -> Option<Contention> {
        self.medium.contention(station)
    }
}

fn medium(spec: &WorldSpec, hub: &HubSpec, seed: u64) -> Medium {
    let links = &spec.links[hub.first_link as usize..][..hub.stations as usize];
    let name = |node: crate::spec::NodeId| &spec.nodes[node.0 as usize].name;
    match hub.access {
        Access::FirstCome => Medium::FirstCome(FirstCome::new(hub.stations)),
        Access::CsmaCd => {
            let shared = &links[0].directions[0];
            let rate = shared.rate.expect("a medium with contention has a rate");
            let stream = |station: u32| {
                let link = &links[station as usize];
                let [station, hub] = link.ends.map(name);
                Stream::new(seed, &format!("link/{}/{station}->{hub}/backoff", link.name))
            };
            Medium::CsmaCd(CsmaCd::new(rate, shared.delay.as_ps(), hub.stations, stream))
        }
    }
}
