//! `among` in place of `from` and `to`: a flow between each two of several nodes (all-to-all), in the tree of a file.

use crate::reading::tree::{Entry, Fault, Node, Value};
use serde_json::{Value as Json, json};

/// The key.
const KEY: &str = "among";
/// The largest number of nodes: a flow is written for each pair.
const MOST: usize = 256;

/// Replaces each flow with `among` by flows with `from` and `to`: one for each ordered pair.
pub(crate) fn expand(tree: &mut Node) -> Result<(), Fault> {
    let Value::Table(file) = &mut tree.value else { return Ok(()) };
    let Some(Entry { node: Node { value: Value::Array(flows), .. }, .. }) = file.get_mut("flow") else {
        return Ok(());
    };
    let mut all = Vec::with_capacity(flows.len());
    for (index, mut flow) in std::mem::take(flows).into_iter().enumerate() {
        let among = match &mut flow.value {
            Value::Table(keys) => keys.shift_remove(KEY),
            _ => None,
        };
        match among {
            Some(among) => all.extend(pairs(index, &flow, among)?),
            None => all.push(flow),
        }
    }
    *flows = all;
    Ok(())
}

fn pairs(index: usize, flow: &Node, among: Entry) -> Result<Vec<Node>, Fault> {
    let fault = |at, message: &str| Fault { at, message: format!("flow.{index}.{KEY}: {message}") };
    let Value::Table(keys) = &flow.value else { return Ok(Vec::new()) };
    if let Some(entry) = ["from", "to"].iter().find_map(|key| keys.get(*key)) {
        return Err(fault(entry.key_at, "it names both ends of each flow: leave \"from\" and \"to\" out"));
    }
    let Value::Array(nodes) = among.node.value else {
        return Err(fault(among.node.at, "expected a list of nodes, such as [\"a\", \"b\", \"c\"]"));
    };
    if !(2..=MOST).contains(&nodes.len()) {
        let message = format!("there are {} nodes, and between 2 and {MOST} are possible", nodes.len());
        return Err(fault(among.node.at, &message));
    }
    let mut names = std::collections::BTreeSet::new();
    for node in &nodes {
        let Value::String(name) = &node.value else {
            return Err(fault(node.at, "a node is a name in quotation marks"));
        };
        if !names.insert(name) {
            return Err(fault(node.at, &format!("\"{name}\" is there twice: name each node once")));
        }
    }
    let mut flows = Vec::with_capacity(nodes.len() * (nodes.len() - 1));
    for (from, sender) in nodes.iter().enumerate() {
        for (_, receiver) in nodes.iter().enumerate().filter(|(to, _)| *to != from) {
            let mut keys = keys.clone();
            for (key, end) in [("from", sender), ("to", receiver)] {
                keys.insert(key.to_owned(), Entry { key_at: among.key_at, node: end.clone() });
            }
            flows.push(Node { at: flow.at, value: Value::Table(keys) });
        }
    }
    Ok(flows)
}

/// Adds the key to the schema of a flow. The type does not have it, because it is replaced while a file is read.
pub(crate) fn admit(schema: &mut Json) {
    schema["$defs"]["Flow"]["properties"][KEY] = json!({
        "description": "In place of `from` and `to`: the nodes between each two of which there is such a flow, in both \
                        directions (all-to-all). All of them have the name of this one. Default: none.",
        "type": "array",
        "items": { "type": "string" },
        "minItems": 2,
        "maxItems": MOST,
    });
}

/// A flow in a file has `from` and `to`, or `among`.
pub(crate) fn relax(schema: &mut Json) {
    let flow = &mut schema["$defs"]["Flow"];
    flow["required"] = json!(["app"]);
    flow["oneOf"] = json!([{ "required": ["from", "to"] }, { "required": [KEY] }]);
}
