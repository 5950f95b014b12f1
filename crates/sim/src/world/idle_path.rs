//! Finds the path without other traffic in the description of a world.

use crate::host::session::IdlePath;
use crate::network::route::Routes;
use crate::spec::{NodeId, WorldSpec};
use netspurt_tcp::time::Span;

/// The path from a client to a server, for full packets with this many data bytes and this many bytes in all. `None` if no
/// path joins them.
pub fn idle_path(spec: &WorldSpec, client: NodeId, server: NodeId, packet: [u32; 2]) -> Option<IdlePath> {
    let routes = Routes::where_joined(spec, [(client, server)].into_iter());
    let (there, back) = routes.between(client, server)?;
    let direction =
        |channel: u32| Some(&spec.links.get(channel as usize / 2)?.directions[channel as usize % 2]);
    let delay =
        |start| routes.channels(start).filter_map(direction).fold(Span::ZERO, |sum, one| sum + one.delay);
    Some(IdlePath {
        rate: routes.channels(back).filter_map(direction).filter_map(|one| one.rate).min(),
        round_trip: delay(there) + delay(back),
        packet,
    })
}
