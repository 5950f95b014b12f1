//! The memory of idle flows.
//!
//! `idle [FLOWS]` prints the resident memory that each idle flow costs.

use crate::Outcome;
use crate::bulk::newreno;
use crate::request::Request;
use netspurt_sim::World;
use netspurt_sim::host::app::AppSpec;
use netspurt_sim::spec::{ChannelSpec, WorldSpec};
use netspurt_tcp::time::{Span, Time};
use std::error::Error;
use std::sync::Arc;

pub(crate) fn measure(request: &Request) -> Outcome {
    idle(request.number(0, 100_000)?)
}

/// Resident memory in bytes.
fn resident() -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    Ok(kibibytes.ok_or("no VmRSS in /proc/self/status")? * 1024)
}

/// Flows that exchange one small message and then wait, on one pair of hosts.
fn idle(flows: u32) -> Outcome {
    let mut spec = WorldSpec::new("idle", Span::from_secs(3600));
    let ends = [spec.node("a"), spec.node("b")];
    spec.link("l", ends, &ChannelSpec::new(100_000_000_000, Span::from_us(10)));
    let config = Arc::new(newreno(1 << 20));
    let app =
        AppSpec::RequestResponse { request: 100, response: 100, exchanges: 2, gap: Span::from_secs(1800) };
    let before = resident()?;
    let alike = spec.flow("idle", ends, app, &config);
    (alike.count, alike.stagger) = (flows, Span::from_us(10));
    let described = resident()?;
    let mut world = World::new(spec, 1, None).expect("a connected world");
    world.run_until(Time::ZERO + Span::from_secs(900));
    let settled = resident()?;
    let each = |bytes: u64| bytes as f64 / f64::from(flows);
    let alive = (0..flows).filter(|&flow| world.connections(flow).is_some()).count();
    println!(
        "idle flows {flows} (alive {alive})  {:.0} bytes each, of which {:.0} description; connection {} bytes, \
         events {}",
        each(settled.saturating_sub(before)),
        each(described.saturating_sub(before)),
        size_of::<netspurt_tcp::Connection>(),
        world.network().events(),
    );
    Ok(())
}
