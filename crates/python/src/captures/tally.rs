//! The counts of a capture as JSON.

use netspurt_trace::Stamp;
use netspurt_trace::capture::{CapturedAt, LinkType};
use netspurt_trace::follow::Tally;
use serde_json::{Value, json};

/// Packets by fate, connections, interfaces, and damage of the file.
pub(crate) fn json_of(
    tally: &Tally,
    connections: u64,
    unlisted: u64,
    interfaces: &[CapturedAt],
    damage: Option<&str>,
) -> String {
    let seconds = |stamp: Option<Stamp>| stamp.map(Stamp::as_secs_f64);
    json!({
        "packets": tally.packets,
        "segments": tally.segments,
        "connections": connections,
        "unlisted": unlisted,
        "began_s": seconds(tally.first),
        "ended_s": seconds(tally.last),
        "not_ip": tally.not_ip,
        "not_tcp": tally.not_tcp,
        "fragments": tally.fragments,
        "cut": tally.cut,
        "malformed": tally.malformed,
        "untimed": tally.untimed,
        "backwards": tally.backwards,
        "interfaces": interfaces.iter().map(interface).collect::<Value>(),
        "unknown_link": tally.unknown_link.iter().map(|(&(interface, link), &packets)| json!({
            "interface": interface, "link": link, "name": LinkType(link).name(), "packets": packets,
        })).collect::<Value>(),
        "damage": damage,
    })
    .to_string()
}

fn interface(at: &CapturedAt) -> Value {
    json!({ "name": at.name, "link": at.link.0, "link_name": at.link.name() })
}
