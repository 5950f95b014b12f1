//! The present route between each two hosts of an emulation.

use netspurt_sim::network::Network;
use netspurt_sim::spec::NodeId;
use netspurt_tcp::time::Time;

/// The routes, and when the next of them changes.
#[derive(Debug)]
pub(super) struct Routes {
    hosts: Vec<NodeId>,
    /// For each pair of hosts the start of the route from the first to the second.
    starts: Vec<Option<u32>>,
    turn: Time,
}

impl Routes {
    pub(super) fn new(network: &Network, hosts: &[NodeId]) -> Self {
        Self { hosts: hosts.to_vec(), starts: starts(network, hosts), turn: Time::ZERO }
    }

    /// A host that is joined to no other, and one that it is not joined to.
    pub(super) fn lonely(&self) -> Option<[NodeId; 2]> {
        let lonely = self.starts.chunks(self.hosts.len()).position(|to| to.iter().all(Option::is_none))?;
        Some([self.hosts[lonely], self.hosts[usize::from(lonely == 0)]])
    }

    /// The start of the route from one host to another, if there is one.
    pub(super) fn start(&self, from: usize, to: usize) -> Option<u32> {
        self.starts[from * self.hosts.len() + to]
    }

    /// Makes the changes of routes that are due.
    #[inline]
    pub(super) fn keep_up(&mut self, network: &mut Network, now: Time) {
        if now >= self.turn {
            self.turn = network.turn_routes(now);
            self.starts = starts(network, &self.hosts);
        }
    }
}

fn starts(network: &Network, hosts: &[NodeId]) -> Vec<Option<u32>> {
    let all = hosts.iter().flat_map(|&from| hosts.iter().map(move |&to| (from, to)));
    all.map(|(from, to)| Some(network.routes().between(from, to)?.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use netspurt_sim::network::schedule::Change;
    use netspurt_sim::spec::{ChannelSpec, Detour, WorldSpec};
    use netspurt_tcp::time::Span;

    #[test]
    fn from_a_change_on_packets_take_the_other_links_in_both_directions() {
        let mut spec = WorldSpec::new("routes", Span::from_secs(100));
        let [a, b, r] = ["a", "b", "r"].map(|name| spec.node(name));
        for (name, ends) in [("short", [a, b]), ("up", [r, a]), ("down", [r, b])] {
            spec.link(name, ends, &ChannelSpec::new(8_000_000, Span::from_ms(9)));
        }
        let at = |secs| Change {
            at: Time::ZERO + Span::from_secs(secs),
            every: Some(Span::from_secs(20)),
            until: None,
            value: (),
        };
        spec.detours = vec![
            Detour { ends: [b, a], channels: [5, 2].into(), when: at(10) },
            Detour { ends: [a, b], channels: [0].into(), when: at(20) },
        ];
        let mut network = Network::joining(&spec, [(a, b)].into_iter(), 1);
        let mut routes = Routes::new(&network, &[a, b]);
        let mut seen = |secs: u64, dscp: u8| {
            let now = Time::ZERO + Span::from_secs(secs);
            routes.keep_up(&mut network, now);
            let there = match dscp {
                0 => routes.start(0, 1),
                dscp => network.route_of_class(a, b, dscp),
            };
            let back = routes.start(1, 0);
            [there, back].map(|start| network.routes().channels(start.unwrap()).collect::<Vec<_>>())
        };
        let (short, long) = ([vec![0], vec![1]], [vec![3, 4], vec![5, 2]]);
        for dscp in [0, 46] {
            assert_eq!(seen(9, dscp), short);
        }
        assert_eq!(
            [seen(10, 46), seen(19, 0), seen(20, 46), seen(31, 46), seen(45, 0)],
            [long.clone(), long.clone(), short.clone(), long, short]
        );
    }
}
