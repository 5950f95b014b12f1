//! Checks the changes of links.

use crate::meaning::objection::{Objection, object};
use crate::network::Link;
use crate::network::change::{Change, Wrong};
use crate::reading::tree::Part;
use indexmap::IndexMap;

pub(super) fn check(
    changes: &[Change],
    links: &IndexMap<String, Link>,
    hosts: &[&str],
) -> Result<(), Objection> {
    for (index, change) in changes.iter().enumerate() {
        let index = index.to_string();
        if let Err((key, message)) = change.check_times() {
            let message = format!("change.{index}.{key}: {message}");
            return Err(object(&["change", &index, key], Part::Value, message));
        }
        if change.set.is_empty() && change.route.is_none() {
            let message = format!(
                "change.{index}.set: a change sets something: name a number of a link, or give a \"route\""
            );
            return Err(object(&["change", &index, "set"], Part::Value, message));
        }
        if let Some(Err((key, message))) = change.route.as_ref().map(|route| route.check(links, hosts)) {
            let steps = ["change", &index, "route"].into_iter().chain(key.iter().map(String::as_str));
            let message = format!("change.{index}.route.{}: {message}", key.join("."));
            return Err(object(&steps.collect::<Vec<_>>(), Part::Value, message));
        }
        for (path, value) in &change.set {
            let at = ["change", &index, "set", path];
            match Change::settings(path, value, links) {
                Ok(_) => {}
                Err(Wrong::Path(message)) => {
                    return Err(object(&at, Part::Key, format!("change.{index}: {message}")));
                }
                Err(Wrong::Value(step, message)) => {
                    let steps: Vec<&str> = at.into_iter().chain(step).collect();
                    return Err(object(&steps, Part::Value, format!("change.{index}: {path}: {message}")));
                }
            }
        }
    }
    Ok(())
}
