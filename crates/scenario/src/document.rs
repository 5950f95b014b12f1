//! The results of a run as the JSON document that `netspurt run --json` prints.
//!
//! The simulator knows nothing of files; the names of its results in a file are defined here. Each result is destructured,
//! so that a new field does not compile before it is listed here or left out on purpose.

use crate::tcp::acking::Acking;
use crate::tcp::choices::Transmit;
use netspurt_sim::host::session::{ArrivalTally, VideoTally};
use netspurt_sim::network::medium::Contention;
use netspurt_sim::network::token_bucket::policer::Colours;
use netspurt_sim::record::datagrams::DatagramResult;
use netspurt_sim::record::result::{
    ChangeResult, FlowResult, GroupResult, LinkResult, Performance, RunResult, SessionResult, close_name,
};
use netspurt_tcp::state::CloseReason;
use netspurt_tcp::{acking, transmit};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

/// A result as JSON.
pub fn to_json(result: &RunResult) -> serde_json::Value {
    serde_json::json!(Run(result))
}

/// The same as text, with the keys in the order of the fields. The error says what has no form in JSON.
pub fn to_text(result: &RunResult) -> Result<String, serde_json::Error> {
    serde_json::to_string(&Run(result))
}

/// The name of a transmission policy in a scenario.
pub fn transmit_name(policy: transmit::Transmit) -> String {
    name(&Transmit::from(policy))
}

/// The name of a delayed-ACK policy in a scenario.
pub fn acking_name(policy: acking::Acking) -> String {
    name(&Acking::from(policy))
}

/// The name of a choice, with or without parameters.
fn name(choice: &impl Serialize) -> String {
    let written = serde_json::to_value(choice).unwrap_or_default();
    written.as_str().or_else(|| written["kind"].as_str()).unwrap_or_default().to_owned()
}

/// Declares how a result is written: the fields in this order, converted by the function after `as` if there is one; then
/// the entries of `flat` fields that have a value. Fields after `without` are left out.
macro_rules! written {
    ($name:ident for $type:ident {
        $($field:ident $(as $form:path)?),+ $(; flat $($flat:ident),+)? $(; without $($left:ident),+)?
    }) => {
        struct $name<'a>(&'a $type);

        impl Serialize for $name<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let $type { $($field,)+ $($($flat,)+)? $($($left: _,)+)? } = self.0;
                let mut map = serializer.serialize_map(None)?;
                $(map.serialize_entry(stringify!($field), &written!(@ $field $(, $form)?))?;)+
                $($(if let Some(flat) = $flat {
                    flat.entries(&mut map)?;
                })+)?
                map.end()
            }
        }
    };
    (@ $field:ident) => { $field };
    (@ $field:ident, $form:path) => { $form($field) };
}

written!(Run for RunResult {
    scenario, seed, digest, duration_s, active_s, interrupted, flows as all_flows, groups as all_groups,
    links as all_links, changes as all_changes, checksum_drops, late_packets, performance as Cost;
    without recording
});

written!(Flow for FlowResult {
    flow, index, from, to, bytes_asked, bytes_delivered, start_s, end_s, delivered_s, goodput_bps, segments_sent,
    retransmitted, timeouts, fast_retransmits, ecn_capable_sent, ecn_reductions, marks_received, marks_reported, naks_sent, rtt_mean_s,
    completed, wrong_bytes, held_tails, held_tail_s, held_at, held_by as policy, held_for as ack_policy,
    closed as close_reason; flat session, video, arrivals, datagrams; without client, server
});

written!(Group for GroupResult {
    flow, flows, bytes_delivered, goodput_bps, segments_sent, retransmitted, timeouts;
    flat session, video, arrivals, datagrams
});

written!(Link for LinkResult {
    link, direction, packets, bytes, drops, marked, held, duplicated, corrupted, utilisation, queue_mean_packets,
    queue_max_packets; flat contention, colours
});

written!(Change for ChangeResult { time_s, path, value });

written!(Cost for Performance { events, data_packets, wall_s, data_packets_per_s });

fn all_flows(flows: &[FlowResult]) -> Vec<Flow<'_>> {
    flows.iter().map(Flow).collect()
}

fn all_groups(groups: &[GroupResult]) -> Vec<Group<'_>> {
    groups.iter().map(Group).collect()
}

fn all_links(links: &[LinkResult]) -> Vec<Link<'_>> {
    links.iter().map(Link).collect()
}

fn all_changes(changes: &[ChangeResult]) -> Vec<Change<'_>> {
    changes.iter().map(Change).collect()
}

fn policy(policy: &Option<transmit::Transmit>) -> Option<String> {
    policy.map(transmit_name)
}

fn ack_policy(policy: &Option<acking::Acking>) -> Option<String> {
    policy.map(acking_name)
}

fn close_reason(reason: &Option<CloseReason>) -> Option<&'static str> {
    reason.map(close_name)
}

/// A result without a table of its own: its entries are written among those of the result that contains it.
trait Flat {
    fn entries<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;
}

impl Flat for SessionResult {
    fn entries<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        for (name, count) in self.counts() {
            map.serialize_entry(name, &count)?;
        }
        for (name, value) in self.measures() {
            map.serialize_entry(name, &value)?;
        }
        Ok(())
    }
}

impl Flat for VideoTally {
    fn entries<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        for (name, count) in self.counts() {
            map.serialize_entry(name, &count)?;
        }
        for (name, value) in self.measures() {
            map.serialize_entry(name, &value)?;
        }
        Ok(())
    }
}

impl Flat for ArrivalTally {
    fn entries<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        for (name, count) in self.counts() {
            map.serialize_entry(name, &count)?;
        }
        for (name, value) in self.measures() {
            map.serialize_entry(name, &value)?;
        }
        Ok(())
    }
}

impl Flat for DatagramResult {
    fn entries<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        for (name, count) in self.counts() {
            map.serialize_entry(name, &count)?;
        }
        for (name, value) in self.measures() {
            map.serialize_entry(name, &value)?;
        }
        Ok(())
    }
}

impl Flat for Colours {
    fn entries<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let Self { green, yellow, red } = self;
        map.serialize_entry("policed_green", green)?;
        map.serialize_entry("policed_yellow", yellow)?;
        map.serialize_entry("policed_red", red)
    }
}

impl Flat for Contention {
    fn entries<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let Self { deferrals, collisions } = self;
        map.serialize_entry("deferrals", deferrals)?;
        map.serialize_entry("collisions", collisions)
    }
}
