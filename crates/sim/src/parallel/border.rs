//! Which part simulates a channel that leads from one part to another.
//!
//! Nothing at the first node of a channel depends on what happens to a packet in its queue and its transmitter, if the node is a
//! router and the channel is plain. So the part behind the channel may simulate both, when it has received the packets of
//! a round. That part does it if it would have less work than the other one.

use super::work::Loads;
use crate::network::channel::Channel;
use crate::spec::{NodeId, WorldSpec};
use std::cmp::Reverse;

/// A plain channel from a router into another part.
#[derive(Clone, Copy, Debug)]
struct Border {
    channel: u32,
    from: u32,
    into: u32,
}

/// The part that simulates each channel, so that all parts have nearly the same work; and the work of each part.
pub(super) fn share(spec: &WorldSpec, of_node: &[u32], loads: &Loads, parts: usize) -> (Vec<u32>, Vec<u64>) {
    let mut work = vec![0; parts];
    of_node.iter().zip(&loads.of_node).for_each(|(&part, load)| work[part as usize] += load);
    let mut of_channel = where_they_begin(spec, of_node);
    let mut borders = borders(spec, of_node);
    borders.sort_by_key(|border| (Reverse(loads.of_channel[border.channel as usize]), border.channel));
    for Border { channel, from, into } in borders {
        let load = loads.of_channel[channel as usize];
        if work[into as usize] + load < work[from as usize] {
            work[from as usize] -= load;
            work[into as usize] += load;
            of_channel[channel as usize] = into;
        }
    }
    (of_channel, work)
}

/// The part that simulates each channel, if every second border channel belongs to the part behind it: for comparisons in tests.
pub(super) fn alternate(spec: &WorldSpec, of_node: &[u32]) -> Vec<u32> {
    let mut of_channel = where_they_begin(spec, of_node);
    for Border { channel, into, .. } in borders(spec, of_node).into_iter().step_by(2) {
        of_channel[channel as usize] = into;
    }
    of_channel
}

/// The part in which each channel begins.
fn where_they_begin(spec: &WorldSpec, of_node: &[u32]) -> Vec<u32> {
    spec.links.iter().flat_map(|link| link.ends.map(|NodeId(node)| of_node[node as usize])).collect()
}

/// The channels that the part behind them may simulate.
fn borders(spec: &WorldSpec, of_node: &[u32]) -> Vec<Border> {
    let hosts = spec.hosts();
    let is_plain = |channel: u32| {
        let link = &spec.links[channel as usize / 2];
        Channel::new(&link.directions[channel as usize % 2], 0, "").is_plain()
    };
    let border = |channel: u32| {
        let [begin, end] = spec.ends_of(channel);
        let [from, into] = [begin, end].map(|NodeId(node)| of_node[node as usize]);
        (from != into && !hosts.contains(&begin) && is_plain(channel)).then_some(Border {
            channel,
            from,
            into,
        })
    };
    (0..2 * spec.links.len() as u32).filter_map(border).collect()
}
