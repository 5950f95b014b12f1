//! What passes between two hosts on any of their connections: it shows whether a silence of one of them is one of the path.

use crate::follow::Endpoints;
use crate::stamp::Stamp;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Two hosts at an interface, the lower address first.
type Key = (IpAddr, IpAddr, u32);

/// Pairs of hosts with open connections. Memory grows with their number.
#[derive(Debug, Default)]
pub(super) struct Hosts {
    index: BTreeMap<Key, u32>,
    pairs: Vec<Pair>,
    free: Vec<u32>,
}

#[derive(Debug)]
struct Pair {
    key: Key,
    connections: u32,
    /// When new data of the lower and of the higher address was acknowledged last.
    acknowledged: [Option<Stamp>; 2],
}

/// One host of a pair, as the sender of data to the other one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SendingHost {
    pair: u32,
    high: bool,
}

impl SendingHost {
    /// The other host of the pair.
    pub(super) const fn other(self) -> Self {
        Self { high: !self.high, ..self }
    }
}

fn key(who: &Endpoints) -> (Key, bool) {
    let (client, server) = (who.client.ip(), who.server.ip());
    let high = client > server;
    let (low, top) = if high { (server, client) } else { (client, server) };
    ((low, top, who.interface), high)
}

impl Hosts {
    /// A connection begins. Returns its client.
    pub(super) fn open(&mut self, who: &Endpoints) -> SendingHost {
        let (key, high) = key(who);
        let pair = self.index.get(&key).copied().unwrap_or_else(|| self.add(key));
        self.pairs[pair as usize].connections += 1;
        SendingHost { pair, high }
    }

    fn add(&mut self, key: Key) -> u32 {
        let new = Pair { key, connections: 0, acknowledged: [None; 2] };
        let place = self.free.pop().unwrap_or(self.pairs.len() as u32);
        match self.pairs.get_mut(place as usize) {
            Some(pair) => *pair = new,
            None => self.pairs.push(new),
        }
        self.index.insert(key, place);
        place
    }

    /// A connection of this host ends, or its state is deleted.
    pub(super) fn close(&mut self, host: SendingHost) {
        let pair = &mut self.pairs[host.pair as usize];
        pair.connections -= 1;
        if pair.connections == 0 {
            self.index.remove(&pair.key);
            self.free.push(host.pair);
        }
    }

    /// New data of this host was acknowledged. Segments of connections that rested are repeated, and come with earlier times.
    #[inline]
    pub(super) fn note_acknowledged(&mut self, host: SendingHost, at: Stamp) {
        let latest = &mut self.pairs[host.pair as usize].acknowledged[usize::from(host.high)];
        *latest = (*latest).max(Some(at));
    }

    /// When new data of this host was acknowledged last.
    pub(super) fn acknowledged(&self, host: SendingHost) -> Option<Stamp> {
        self.pairs[host.pair as usize].acknowledged[usize::from(host.high)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn who(client: &str, server: &str) -> Endpoints {
        Endpoints { client: client.parse().unwrap(), server: server.parse().unwrap(), interface: 0 }
    }

    #[test]
    fn connections_of_the_same_two_hosts_share_what_was_acknowledged_whoever_opened_them() {
        let mut hosts = Hosts::default();
        let one = hosts.open(&who("10.0.0.2:5000", "10.0.0.1:80"));
        let back = hosts.open(&who("10.0.0.1:6000", "10.0.0.2:22"));
        let else_where = hosts.open(&who("10.0.0.2:5001", "10.0.0.3:80"));
        hosts.note_acknowledged(one, Stamp(7));
        assert_eq!(hosts.acknowledged(back.other()), Some(Stamp(7)));
        assert_eq!([back, else_where].map(|host| hosts.acknowledged(host)), [None; 2]);
        hosts.note_acknowledged(one, Stamp(5));
        assert_eq!(hosts.acknowledged(one), Some(Stamp(7)), "the segments of one that rested come again");
    }

    #[test]
    fn of_hosts_without_a_connection_nothing_is_kept() {
        let mut hosts = Hosts::default();
        for port in 1..1000 {
            let each = [1, 2].map(|end| hosts.open(&who(&format!("10.0.0.{end}:{port}"), "10.0.0.9:80")));
            hosts.note_acknowledged(each[0], Stamp(port));
            each.into_iter().for_each(|host| hosts.close(host));
        }
        assert_eq!((hosts.index.len(), hosts.pairs.len()), (0, 2));
        let again = hosts.open(&who("10.0.0.1:1", "10.0.0.9:80"));
        assert_eq!(hosts.acknowledged(again), None);
    }
}
