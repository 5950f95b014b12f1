//! What a well-formed scenario must not say: names of nodes that are not there, rates of zero, contradictions.

use super::Scenario;
use super::flow::End;
use super::network::{Duplex, Link, Loss};
use super::quantity::{Packets, Quantity, Rate};
use super::suggest;
use super::tcp::TcpError;
use super::tree::Part;
use indexmap::{IndexMap, IndexSet};
use netspurt_tcp::time::Span;

/// Something wrong, and the path of what is at fault.
#[derive(Clone, Debug)]
pub(super) struct Objection {
    pub(super) path: Vec<String>,
    pub(super) part: Part,
    pub(super) message: String,
}

/// Paths at which to look for a contradiction in the choices of one end, the nearest first.
pub(super) struct TcpObjection {
    pub(super) places: Vec<Vec<String>>,
    pub(super) error: TcpError,
}

fn object(path: &[&str], part: Part, message: String) -> Objection {
    Objection { path: path.iter().map(|step| (*step).to_owned()).collect(), part, message }
}

/// All but the choices about TCP.
pub(super) fn check(scenario: &Scenario) -> Result<(), Objection> {
    if scenario.duration.0 == Span::ZERO {
        return Err(object(&["duration"], Part::Value, "duration must be more than zero".to_owned()));
    }
    for (name, link) in &scenario.link {
        check_link(name, link)?;
    }
    let nodes: IndexSet<&str> = scenario.nodes().into_iter().collect();
    for name in scenario.host.keys() {
        if !nodes.contains(name.as_str()) {
            return Err(object(&["host", name], Part::Key, stranger(name, &nodes)));
        }
    }
    if scenario.flow.is_empty() {
        return Err(object(&["flow"], Part::Value, "there must be at least one flow".to_owned()));
    }
    check_flows(scenario, &nodes)
}

fn stranger(name: &str, nodes: &IndexSet<&str>) -> String {
    format!("no link has a node \"{name}\": {}", suggest::among(name, nodes.iter().copied()))
}

fn check_link(name: &str, link: &Link) -> Result<(), Objection> {
    let [a, b] = &link.between;
    for (index, node) in ["0", "1"].into_iter().zip([a, b]) {
        if node.is_empty() || node.contains("->") || node.trim() != node {
            let message = format!(
                "{node:?} is no name for a node: it must not be empty, begin or end with a space, or hold \"->\""
            );
            return Err(object(&["link", name, "between", index], Part::Value, message));
        }
    }
    if a == b {
        let message = format!("link \"{name}\" joins \"{a}\" to itself: a link joins two different nodes");
        return Err(object(&["link", name, "between", "1"], Part::Value, message));
    }
    if link.rate == Some(Rate(0)) {
        let message = format!(
            "link \"{name}\" has a rate of zero: give it a rate above zero, or none for infinitely fast"
        );
        return Err(object(&["link", name, "rate"], Part::Value, message));
    }
    let place = format!("the queue of link \"{name}\"");
    if let Some(Err((key, message))) = link.queue.map(|queue| queue.check(&place)) {
        return Err(object(&["link", name, "queue", key], Part::Value, message));
    }
    if link.duplex == Duplex::Half && link.queue.is_some_and(|queue| queue.spans_departures()) {
        let message = format!(
            "link \"{name}\" is half-duplex, first come, first served in both directions: \
             a queue that decides on departure needs a full-duplex link"
        );
        return Err(object(&["link", name, "queue", "kind"], Part::Value, message));
    }
    link.loss.0.iter().enumerate().try_for_each(|(index, loss)| check_loss(name, link, index, loss))
}

fn check_loss(name: &str, link: &Link, index: usize, loss: &Loss) -> Result<(), Objection> {
    // Written as one table or as a list: the index leads nowhere in a table, and `locate` stops there.
    let index = index.to_string();
    let path = |key| -> Vec<&str> {
        if link.loss.0.len() == 1 {
            vec!["link", name, "loss", key]
        } else {
            vec!["link", name, "loss", &index, key]
        }
    };
    if let Loss::ExponentialGaps { mean: Packets(0), .. } = loss {
        return Err(object(&path("mean"), Part::Value, "the mean gap must be at least 1 packet".to_owned()));
    }
    let [a, b] = &link.between;
    match loss.direction() {
        Some(way) if !((way.from == *a && way.to == *b) || (way.from == *b && way.to == *a)) => {
            let message = format!(
                "\"{}\" is no direction of link \"{name}\": it has \"{a}->{b}\" and \"{b}->{a}\"",
                way.print()
            );
            Err(object(&path("direction"), Part::Value, message))
        }
        _ => Ok(()),
    }
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
        if flow.from == flow.to {
            let message = format!("a flow from \"{}\" to itself needs no network", flow.from);
            return Err(object(&["flow", &index, "to"], Part::Value, message));
        }
        if islands.get(flow.from.as_str()) != islands.get(flow.to.as_str()) {
            let message = format!("no links lead from \"{}\" to \"{}\"", flow.from, flow.to);
            return Err(object(&["flow", &index, "to"], Part::Value, message));
        }
    }
    Ok(())
}

/// For each node a number that all nodes share which links join, directly or by way of others.
fn islands(scenario: &Scenario) -> IndexMap<&str, usize> {
    let mut neighbours: IndexMap<&str, Vec<&str>> = IndexMap::new();
    for link in scenario.link.values() {
        let [a, b] = &link.between;
        neighbours.entry(a).or_default().push(b);
        neighbours.entry(b).or_default().push(a);
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
pub(super) fn check_tcp(scenario: &Scenario) -> Result<(), TcpObjection> {
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
