//! Checks the meaning of a well-formed scenario: unknown nodes, rates of zero, contradictions.

mod changes;
mod links;
mod objection;
pub(crate) mod remarks;

pub(crate) use objection::Objection;

use crate::flow::End;
use crate::network::queue::{Line, Pace};
use crate::network::{Access, Handover, Hub, Loss, Reader};
use crate::reading::tree::Part;
use crate::scenario::Scenario;
use crate::tcp::table::TcpError;
use crate::values::distribution::Files;
use crate::values::form::Named;
use crate::values::quantity::{Duration, Quantity, Rate, Size};
use crate::values::suggest;
use indexmap::{IndexMap, IndexSet};
use netspurt_sim::network::medium;
use netspurt_tcp::time::Span;
use objection::{check_name, check_names, check_queue, object, object_to_loss};

/// The largest number of bytes that a frame adds to a packet.
const MOST_FRAMING: Size = Size(1 << 16);

/// The paths at which a contradiction in the choices of one end may be, the nearest first.
pub(crate) struct TcpObjection {
    pub(crate) places: Vec<Vec<String>>,
    pub(crate) error: TcpError,
}

/// Replaces names of files by their contents.
pub(crate) fn resolve(scenario: &mut Scenario, files: Files<'_>) -> Result<(), Objection> {
    for (index, flow) in scenario.flow.iter_mut().enumerate() {
        flow.app.resolve(files).map_err(|(path, message)| of_app(index, &path, message))?;
    }
    for (name, link) in &mut scenario.link {
        links::resolve(name, link, files)?;
    }
    Ok(())
}

/// An error in the application of a flow.
fn of_app(flow: usize, path: &[&str], message: String) -> Objection {
    let (index, place) = (flow.to_string(), path.join("."));
    let path: Vec<&str> = ["flow", &index, "app"].into_iter().chain(path.iter().copied()).collect();
    object(&path, Part::Value, format!("flow.{index}.app.{place}: {message}"))
}

/// All checks except those of the choices about TCP.
pub(crate) fn check(scenario: &Scenario) -> Result<(), Objection> {
    if scenario.duration.is_nothing() && !scenario.flow.is_empty() {
        let message = "duration is missing or zero: it says when the simulation ends, such as \"60 s\"";
        return Err(object(&["duration"], Part::Value, message.to_owned()));
    }
    let nodes: IndexSet<&str> = scenario.nodes().into_iter().collect();
    if nodes.is_empty() {
        let message = "there must be at least one link or hub".to_owned();
        return Err(object(&[], Part::Value, message));
    }
    for (name, link) in &scenario.link {
        check_name(&["link", name], Part::Key, "link", name)?;
        links::check(name, link)?;
    }
    changes::check(&scenario.change, &scenario.link, &scenario.hosts())?;
    for (name, hub) in &scenario.hub {
        check_hub(scenario, name, hub, &nodes)?;
    }
    for (name, host) in &scenario.host {
        if let Some(ports) = host.ports
            && ports.first > ports.last
        {
            let message = format!("the last port, {}, lies before the first, {}", ports.last, ports.first);
            return Err(object(&["host", name, "ports", "last"], Part::Value, message));
        }
        if !nodes.contains(name.as_str()) {
            return Err(object(&["host", name], Part::Key, stranger(name, &nodes)));
        }
        if let Some(Named(Handover::Clusters { size: Size(0) })) = host.handover {
            let message = format!("clusters of no bytes carry nothing: host \"{name}\" needs at least 1 B");
            return Err(object(&["host", name, "handover", "size"], Part::Value, message));
        }
        if let Some(reader) = &host.reader {
            check_reader(name, reader)?;
        }
    }
    check_flows(scenario, &nodes)
}

fn check_reader(host: &str, reader: &Reader) -> Result<(), Objection> {
    let at = |key, message| Err(object(&["host", host, "reader", key], Part::Value, message));
    if reader.buffer == Some(Size(0)) {
        let message = format!("a buffer of no bytes reads nothing: host \"{host}\" needs at least 1 B");
        return at("buffer", message);
    }
    if reader.rate == Some(Rate(0)) {
        let message = format!(
            "a reader with a rate of zero never reads on: give host \"{host}\" a rate above zero, or none for infinitely fast"
        );
        return at("rate", message);
    }
    Ok(())
}

fn stranger(name: &str, nodes: &IndexSet<&str>) -> String {
    format!("no link has a node \"{name}\": {}", suggest::among(name, nodes.iter().copied()))
}

fn check_hub(scenario: &Scenario, name: &str, hub: &Hub, nodes: &IndexSet<&str>) -> Result<(), Objection> {
    check_names(&["hub"], core::slice::from_ref(&name.to_owned()))
        .map_err(|objection| object(&["hub", name], Part::Key, objection.message))?;
    if nodes.contains(name) || scenario.link.contains_key(name) {
        let what = if nodes.contains(name) { "node" } else { "link" };
        let message = format!("there is a {what} \"{name}\" already: give the hub a name of its own");
        return Err(object(&["hub", name], Part::Key, message));
    }
    let stations = ["hub", name, "stations"];
    check_names(&stations, &hub.stations)?;
    for (index, station) in hub.stations.iter().enumerate() {
        if hub.stations[..index].contains(station) {
            let message = format!("\"{station}\" stands twice: a node is joined to a hub once");
            return Err(object(&["hub", name, "stations", &index.to_string()], Part::Value, message));
        }
    }
    if hub.rate == Rate(0) {
        let message = format!("hub \"{name}\" has a rate of zero: give it a rate above zero");
        return Err(object(&["hub", name, "rate"], Part::Value, message));
    }
    if hub.framing.0 > MOST_FRAMING.0 {
        let message = format!("a frame adds {} at most, not {}", MOST_FRAMING.print(), hub.framing.print());
        return Err(object(&["hub", name, "framing"], Part::Value, message));
    }
    let longest = Duration(Span::from_ps(medium::longest_delay(hub.rate.0)));
    if hub.access == Access::CsmaCd && hub.delay > longest {
        let message = format!(
            "at {} a collision is noticed in time over a delay of {} at most, half a slot of 512 bits, not {}",
            hub.rate.print(),
            longest.print(),
            hub.delay.print()
        );
        return Err(object(&["hub", name, "delay"], Part::Value, message));
    }
    let place = format!("the queue of hub \"{name}\"");
    let line = Line { place: &place, pace: Pace::Fixed(hub.rate.0), shared: true };
    check_queue(&["hub", name, "queue"], hub.queue.as_ref(), line)?;
    let ways: Vec<[&str; 2]> = hub.stations.iter().map(|station| [station.as_str(), name]).collect();
    check_losses(&["hub", name], &hub.loss.0, &ways)
}

/// The losses of a link or a hub with these directions.
fn check_losses(path: &[&str], losses: &[Loss], ways: &[[&str; 2]]) -> Result<(), Objection> {
    for (index, loss) in losses.iter().enumerate() {
        // It is written as one table or as a list. In a table the index leads nowhere, and `locate` stops there.
        let index = index.to_string();
        let steps = if losses.len() == 1 { vec!["loss"] } else { vec!["loss", &index] };
        if let Some((key, message)) = object_to_loss(path, loss, ways) {
            return Err(object(&[path, &steps, &[key]].concat(), Part::Value, message));
        }
    }
    Ok(())
}

fn check_flows(scenario: &Scenario, nodes: &IndexSet<&str>) -> Result<(), Objection> {
    let islands = islands(scenario);
    for (index, flow) in scenario.flow.iter().enumerate() {
        let index = index.to_string();
        for (key, node) in [("from", &flow.from), ("to", &flow.to)] {
            if !nodes.contains(node.as_str()) {
                return Err(object(&["flow", &index, key], Part::Value, stranger(node, nodes)));
            }
        }
        if let Some(name) = &flow.name {
            check_name(&["flow", &index, "name"], Part::Value, "flow", name)?;
        }
        if flow.from == flow.to {
            let message = format!("a flow from \"{}\" to itself needs no network", flow.from);
            return Err(object(&["flow", &index, "to"], Part::Value, message));
        }
        if islands.get(flow.from.as_str()) != islands.get(flow.to.as_str()) {
            let message = format!("no links lead from \"{}\" to \"{}\"", flow.from, flow.to);
            return Err(object(&["flow", &index, "to"], Part::Value, message));
        }
    }
    for (index, flow) in scenario.flow.iter().enumerate() {
        flow.app.check().map_err(|(path, message)| of_app(index, &path, message))?;
    }
    Ok(())
}

/// A number for each node, equal for all nodes that links join directly or through others.
fn islands(scenario: &Scenario) -> IndexMap<&str, usize> {
    let mut neighbours: IndexMap<&str, Vec<&str>> = IndexMap::new();
    for link in scenario.link.values() {
        let [a, b] = &link.between;
        neighbours.entry(a).or_default().push(b);
        neighbours.entry(b).or_default().push(a);
    }
    for hub in scenario.hub.values() {
        for station in &hub.stations {
            neighbours.entry(station).or_default().extend(hub.stations.iter().map(String::as_str));
        }
    }
    let mut island: IndexMap<&str, usize> = IndexMap::new();
    for (number, start) in neighbours.keys().enumerate() {
        let mut waiting = vec![*start];
        while let Some(node) = waiting.pop() {
            if !island.contains_key(node) {
                island.insert(node, number);
                waiting.extend(neighbours.get(node).into_iter().flatten());
            }
        }
    }
    island
}

/// The choices about TCP of every end of every flow.
pub(crate) fn check_tcp(scenario: &Scenario) -> Result<(), TcpObjection> {
    for index in 0..scenario.flow.len() {
        for end in [End::From, End::To] {
            if let Err(error) = scenario.tcp_for(index, end) {
                let flow = &scenario.flow[index];
                let node = if end == End::From { &flow.from } else { &flow.to };
                let places = [
                    vec!["flow".to_owned(), index.to_string(), "tcp".to_owned()],
                    vec!["host".to_owned(), node.clone(), "tcp".to_owned()],
                    vec!["tcp".to_owned()],
                ];
                return Err(TcpObjection { places: places.to_vec(), error });
            }
        }
    }
    Ok(())
}
