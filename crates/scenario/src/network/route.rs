//! The route between two nodes, in a change.

use crate::network::Link;
use crate::values::suggest;
use indexmap::{IndexMap, IndexSet};
use netspurt_sim::network::schedule::Change;
use netspurt_sim::spec::{Detour, NodeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The links that packets between two nodes take from then on, in both directions. Packets under way stay on their route. At
/// the beginning, and between all other nodes, packets take the route with the fewest links.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// The two nodes: the ends of flows, or hosts of an emulation.
    pub between: [String; 2],
    /// The names of the links, in order from the first node to the second.
    #[schemars(length(min = 1))]
    pub links: Vec<String>,
}

/// The key at fault, and a sentence.
type Wrong = (Vec<String>, String);

impl Route {
    /// Its name among the changes of a result.
    pub(crate) fn path(&self) -> String {
        format!("route.{}.{}", self.between[0], self.between[1])
    }

    /// What it must not say. `hosts` send and receive.
    pub(crate) fn check(&self, links: &IndexMap<String, Link>, hosts: &[&str]) -> Result<(), Wrong> {
        for (index, end) in self.between.iter().enumerate() {
            if !hosts.contains(&end.as_str()) {
                let known = suggest::among(end, hosts.iter().copied());
                let message = format!("no flow begins or ends at \"{end}\": {known}");
                return Err((vec!["between".to_owned(), index.to_string()], message));
            }
        }
        let [from, to] = &self.between;
        if from == to {
            let message = format!("a route leads from one node to another, not from \"{from}\" to itself");
            return Err((vec!["between".to_owned()], message));
        }
        self.channels(links).map(|_| ())
    }

    /// The channels from the first node to the second.
    fn channels(&self, links: &IndexMap<String, Link>) -> Result<Vec<u32>, Wrong> {
        let wrong =
            |index: usize, message: String| Err((vec!["links".to_owned(), index.to_string()], message));
        let [from, to] = &self.between;
        let (mut here, mut passed, mut channels) = (from, IndexSet::from([from]), Vec::new());
        for (index, name) in self.links.iter().enumerate() {
            let Some((number, _, link)) = links.get_full(name) else {
                let known = suggest::among(name, links.keys().map(String::as_str));
                return wrong(index, format!("there is no link \"{name}\": {known}"));
            };
            let Some(way) = link.between.iter().position(|end| end == here) else {
                let [a, b] = &link.between;
                let message = format!(
                    "link \"{name}\" joins \"{a}\" and \"{b}\", and the route has come to \"{here}\": name the links in their \
                     order from \"{from}\" to \"{to}\""
                );
                return wrong(index, message);
            };
            here = &link.between[1 - way];
            if !passed.insert(here) {
                return wrong(
                    index,
                    format!("the route comes to \"{here}\" a second time: packets would go round"),
                );
            }
            channels.push(2 * number as u32 + way as u32);
        }
        if here == to {
            return Ok(channels);
        }
        wrong(
            self.links.len().saturating_sub(1),
            format!("the route ends at \"{here}\" and not at \"{to}\": name all its links"),
        )
    }

    /// The same for the simulator, at these times. `number` finds the number of a node.
    pub(crate) fn build(
        &self,
        when: Change<()>,
        links: &IndexMap<String, Link>,
        number: impl Fn(&str) -> Option<usize>,
    ) -> Option<Detour> {
        let [from, to] = self.between.each_ref().map(|end| number(end).map(|node| NodeId(node as u32)));
        let channels = self.channels(links).ok()?;
        Some(Detour { ends: [from?, to?], channels: channels.into(), when })
    }
}
