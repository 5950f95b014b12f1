//! An objection to a scenario, and the objections that links and hubs share.

use crate::network::Loss;
use crate::network::queue::{Line, Queue};
use crate::reading::tree::Part;
use crate::values::quantity::{Direction, Packets, Quantity};

/// An error, and the path of the key at fault.
#[derive(Clone, Debug)]
pub(crate) struct Objection {
    pub(crate) path: Vec<String>,
    pub(crate) part: Part,
    pub(crate) message: String,
}

pub(super) fn object(path: &[&str], part: Part, message: String) -> Objection {
    Objection { path: path.iter().map(|step| (*step).to_owned()).collect(), part, message }
}

/// Refuses names of links and flows that no table, option or message could show.
pub(super) fn check_name(path: &[&str], part: Part, what: &str, name: &str) -> Result<(), Objection> {
    if is_visible(name) {
        return Ok(());
    }
    let message =
        format!("{name:?} is no name for a {what}: it must not be empty, or begin or end with a space");
    Err(object(path, part, message))
}

fn is_visible(name: &str) -> bool {
    !name.is_empty() && name.trim() == name
}

/// Refuses names of nodes with which no direction could be written.
pub(super) fn check_names(path: &[&str], names: &[String]) -> Result<(), Objection> {
    for (index, node) in names.iter().enumerate() {
        if !is_visible(node) || node.contains("->") {
            let message = format!(
                "{node:?} is no name for a node: it must not be empty, begin or end with a space, or hold \"->\""
            );
            return Err(object(&[path, &[&index.to_string()]].concat(), Part::Value, message));
        }
    }
    Ok(())
}

pub(super) fn check_queue(path: &[&str], queue: Option<&Queue>, line: Line<'_>) -> Result<(), Objection> {
    let Some(Err((key, message))) = queue.map(|queue| queue.check(line)) else { return Ok(()) };
    Err(object(&[path, &[key]].concat(), Part::Value, message))
}

pub(super) fn object_to_loss(
    path: &[&str],
    loss: &Loss,
    ways: &[[&str; 2]],
) -> Option<(&'static str, String)> {
    if let Loss::ExponentialGaps { mean: Packets(0), .. } = loss {
        return Some(("mean", "the mean gap must be at least 1 packet".to_owned()));
    }
    Some(("direction", stray_direction(path, loss.direction(), ways)?))
}

/// An error in the direction of a setting of a link or a hub.
pub(super) fn stray_direction(path: &[&str], way: Option<&Direction>, ways: &[[&str; 2]]) -> Option<String> {
    let way = way.filter(|way| !ways.contains(&[way.from.as_str(), way.to.as_str()]))?;
    let [kind, name] = [path[0], path[1]];
    let known: Vec<String> = ways.iter().map(|[from, to]| format!("\"{from}->{to}\"")).collect();
    let known = known.join(" and ");
    Some(format!("\"{}\" is no direction of {kind} \"{name}\": it has {known}", way.print()))
}
