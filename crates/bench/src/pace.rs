//! How fast a simulation ran.

use netspurt_sim::record::result::Performance;
use std::time::Instant;

/// The work that was done, and the time since `begun`, as a part of a line.
pub(crate) fn pace(mut performance: Performance, begun: Instant) -> String {
    performance.took(begun.elapsed().as_secs_f64());
    format!(
        "data packets {}  events {}  wall {:.3} s  {:.2} million data packets/s",
        performance.data_packets,
        performance.events,
        performance.wall_s.unwrap_or(0.0),
        performance.data_packets_per_s.unwrap_or(0.0) * 1e-6,
    )
}
