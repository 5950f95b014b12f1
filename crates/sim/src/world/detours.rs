//! Routes that change during the run.

use super::World;
use netspurt_tcp::time::Time;

impl World {
    /// Endpoints send over the routes of now. Packets under way stay on theirs.
    pub(super) fn turn_routes(&mut self, now: Time) {
        if self.network.routes().next_turn() > now {
            return;
        }
        self.network.turn_routes(now);
        for (place, endpoint) in self.endpoints.iter_mut().enumerate() {
            let flow = &self.spec.flows[endpoint.description as usize];
            let ways = self.network.routes().between_in_class(flow.from, flow.to, flow.dscp);
            let (there, back) = ways.expect("routes cover all flows");
            endpoint.route = if place.is_multiple_of(2) { there } else { back };
        }
    }
}
