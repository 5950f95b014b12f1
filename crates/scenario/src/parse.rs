//! From the text of a file to a [`Scenario`], or to a sentence with the error and its place.

use crate::flow::among;
use crate::meaning::{self, Objection, TcpObjection};
use crate::paths;
use crate::reading::error::ScenarioError;
use crate::reading::shaped_tree;
use crate::reading::tree::{At, Fault, Node, Part};
use crate::scenario::{SCHEMA, Scenario};
use crate::values::distribution::Files;

impl Scenario {
    /// Reads the text of a scenario file, applies the overrides (path, value) in order, and checks the result. `file` is
    /// the file name for errors.
    ///
    /// A scenario that names other files is refused: [`Scenario::parse_with`] reads them.
    pub fn parse(text: &str, file: &str, overrides: &[(&str, &str)]) -> Result<Self, ScenarioError> {
        let alone = |_: &str| Err("this scenario stands alone, without a directory".to_owned());
        Self::parse_with(text, file, overrides, &alone)
    }

    /// The same for a scenario that may name other files, which `files` reads. Their contents become part of the scenario.
    pub fn parse_with(
        text: &str,
        file: &str,
        overrides: &[(&str, &str)],
        files: Files<'_>,
    ) -> Result<Self, ScenarioError> {
        Self::read(text, overrides, files).map_err(|fault| ScenarioError::new(fault, text, file, overrides))
    }

    fn read(text: &str, overrides: &[(&str, &str)], files: Files<'_>) -> Result<Self, Fault> {
        let mut tree = paths::tree(text, overrides)?;
        among::expand(&mut tree)?;
        let (tree, mut scenario) = shaped_tree::<Self>(&SCHEMA, tree)?;
        let placed = |objection: Objection| {
            let path: Vec<&str> = objection.path.iter().map(String::as_str).collect();
            Fault { at: locate(&tree, &path, objection.part), message: objection.message }
        };
        meaning::resolve(&mut scenario, files).map_err(placed)?;
        meaning::check(&scenario).map_err(placed)?;
        meaning::check_tcp(&scenario).map_err(|objection| Fault {
            at: locate_choice(&tree, &objection),
            message: objection.error.message,
        })?;
        Ok(scenario)
    }
}

/// An entry that is written as a list with one element is one step deeper than one that is written as a table.
fn locate(tree: &Node, path: &[&str], part: Part) -> At {
    if let ["link" | "hub", _, "loss" | "trace" | "mtu", .., key] = path
        && !tree.has(path)
    {
        let listed = [&path[..path.len() - 1], &["0", *key]].concat();
        if tree.has(&listed) {
            return tree.locate(&listed, part);
        }
    }
    tree.locate(path, part)
}

/// The nearest place that names a key at fault; else the nearest profile; else the flow.
fn locate_choice(tree: &Node, objection: &TcpObjection) -> At {
    let [first, second] = objection.error.keys;
    for keys in [&[first, second][..], &["profile"]] {
        for place in &objection.places {
            for key in keys {
                let mut path: Vec<&str> = place.iter().map(String::as_str).collect();
                path.push(key);
                if tree.has(&path) {
                    return tree.locate(&path, Part::Value);
                }
            }
        }
    }
    let flow: Vec<&str> = objection.places.first().into_iter().flatten().map(String::as_str).collect();
    tree.locate(flow.get(..2).unwrap_or_default(), Part::Value)
}
