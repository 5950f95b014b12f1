//! The result of a run in parts: each part contributes what happened in it.

use super::partition::Partition;
use crate::record::result::RunResult;
use crate::record::summary::{self, Course, FlowRecord};
use crate::spec::NodeId;

/// Combines the outcomes of the parts; each says whether it was stopped.
pub(super) fn join(courses: Vec<(Course, bool)>, partition: &Partition) -> RunResult {
    let mut all = courses.into_iter();
    let (mut whole, interrupted) = all.next().expect("there are two parts at least");
    for (part, (course, _)) in (1..).zip(all) {
        let was_there = |node: NodeId| partition.of_node[node.0 as usize] == part;
        merge_from(&mut whole, course, &was_there, &|channel| partition.of_channel[channel as usize] == part);
    }
    summary::summarise(whole, interrupted)
}

/// Adds the outcome of another part.
fn merge_from(
    whole: &mut Course,
    mut other: Course,
    was_there: &dyn Fn(NodeId) -> bool,
    simulated_there: &dyn Fn(u32) -> bool,
) {
    let spec = &whole.spec;
    whole.network.merge_from(other.network, simulated_there);
    for (node, (ours, theirs)) in (0..).map(NodeId).zip(whole.hosts.iter_mut().zip(other.hosts)) {
        if was_there(node) {
            *ours = theirs;
        }
    }
    let end_there = |description: u32, end: usize| {
        let flow = &spec.flows[description as usize];
        was_there([flow.from, flow.to][end])
    };
    for (place, (ours, theirs)) in whole.endpoints.iter_mut().zip(other.endpoints).enumerate() {
        if end_there(ours.description, place % 2) {
            *ours = theirs;
        }
    }
    for (flow, (record, _)) in whole.records.iter().zip(&other.records).enumerate() {
        if let FlowRecord::Over(outcome) = *record {
            let description = whole.numbering.locate(flow as u32).0;
            let ends = [0, 1].map(|end| end_there(description as u32, end));
            let app = &spec.flows[description].app;
            let (ours, theirs) = (&mut whole.outcomes[outcome as usize], &other.outcomes[outcome as usize]);
            ours.merge_from(theirs, ends, app);
        }
    }
    whole.held_tails.append(&mut other.held_tails);
    whole.late_packets += other.late_packets;
    whole.now = whole.now.max(other.now);
}
