//! Flows start: each connection gets a pair of endpoints, and its client opens it.

use crate::host::app::{App, AppSpec};
use crate::host::endpoint::Endpoint;
use crate::host::fast_open;
use crate::host::processor::{Interrupt, Pace, Turn};
use crate::record::probe::{Addresses, Wants};
use crate::record::summary::FlowRecord;
use crate::spec::FlowSpec;
use crate::world::{STARTER, World};
use netspurt_tcp::Connection;
use netspurt_tcp::seq::Seq;
use netspurt_tcp::time::Time;
use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;

impl World {
    /// The entry of the starter in the event queue is due.
    #[cold]
    pub(super) fn starter(&mut self, now: Time) {
        if now == self.starter_armed_at {
            self.starter_armed_at = Time::NEVER;
            self.turn_routes(now);
            self.retire(now);
            self.start_flows(now);
            self.wake_sessions(now);
            self.arm_starter();
        }
    }

    /// Enters into the event queue when the next route changes, the next flow starts, the next pair of endpoints becomes free, or the next session
    /// continues.
    pub(crate) fn arm_starter(&mut self) {
        let start = self.to_start.peek().map_or(Time::NEVER, |next| next.0.0);
        let turn = self.network.routes().next_turn();
        let next = start.min(self.sessions.next()).min(self.retiring.next()).min(turn);
        if next < self.starter_armed_at {
            self.starter_armed_at = next;
            self.network.arm(next, STARTER);
        }
    }

    /// A flow that is due to start, and its description.
    fn next_to_start(&mut self, now: Time) -> Option<(u32, usize)> {
        let mut next = self.to_start.peek_mut().filter(|next| next.0.0 <= now)?;
        let Reverse((_, flow)) = *next;
        let (description, position) = self.numbering.locate(flow);
        let alike = &self.spec.flows[description];
        if position + 1 < alike.count {
            *next = Reverse((alike.start_of(position + 1), flow + 1));
        } else {
            PeekMut::pop(next);
        }
        Some((flow, description))
    }

    /// Starts the flows that are due.
    fn start_flows(&mut self, now: Time) {
        while let Some((flow, description)) = self.next_to_start(now) {
            let alike = &self.spec.flows[description];
            match alike.app.clone() {
                AppSpec::Session(spec) => self.begin_session(now, flow, &spec),
                AppSpec::Datagrams(spec) => self.begin_datagrams(now, flow, description, &spec),
                _ => {
                    let client = self.settle(flow, description, None, addresses(alike, flow));
                    self.records[flow as usize] = FlowRecord::Live(client);
                    self.open(now, client);
                }
            }
        }
    }

    /// The client at `place` opens its connection.
    pub(crate) fn open(&mut self, now: Time, place: u32) {
        let endpoint = &mut self.endpoints[place as usize];
        self.cookies.open_client(now, &self.spec.flows[endpoint.description as usize], endpoint);
        if endpoint.pace == Pace::Free {
            self.serve(now, place);
        } else {
            let turn = Turn { place, generation: endpoint.generation };
            self.interrupt(now, place, Interrupt::Opened(turn));
        }
    }

    /// Gives a connection of a flow a pair of endpoints; returns the client's index. Without initial sequence numbers the
    /// hosts draw them.
    pub(crate) fn settle(
        &mut self,
        number: u32,
        description: usize,
        iss: Option<[Seq; 2]>,
        addresses: Addresses,
    ) -> u32 {
        let flow = &self.spec.flows[description];
        let fast = fast_open::server(flow, &mut self.hosts[flow.to.0 as usize], self.seed);
        let (there, back) = self
            .network
            .routes()
            .between_in_class(flow.from, flow.to, flow.dscp)
            .expect("routes cover all flows");
        let client = self.free.pop().unwrap_or(self.endpoints.len() as u32);
        let events = self.network.recorder.as_ref().is_some_and(|recorder| recorder.wants(Wants::EVENTS));
        let ends = [
            (flow.from, &flow.client, there, App::client as MakeApp),
            (flow.to, &flow.server, back, App::server),
        ];
        for ((place, (node, config, route, make)), server) in (client..).zip(ends).zip([false, true]) {
            let host = &mut self.hosts[node.0 as usize];
            let endpoint = begin_again(&mut self.endpoints, place, &flow.app, make);
            endpoint.pace = host.pace();
            (endpoint.flow, endpoint.description, endpoint.route) = (number, description as u32, route);
            if self.part.as_ref().is_some_and(|part| !part.has(node)) {
                continue;
            }
            let iss = iss.map_or_else(|| host.iss(self.seed), |both| both[usize::from(server)]);
            let config = host.config(config, self.seed);
            let connection = endpoint.connection.insert(match (server, fast) {
                (false, _) => Connection::new(config, iss),
                (true, None) => Connection::listen(config, iss),
                (true, Some(fast)) => Connection::listen(config, iss).listening_fast(fast),
            });
            connection.record_events(events);
            if let Some(own) = &flow.own[usize::from(server)] {
                own.equip(connection);
            }
        }
        if let Some(recorder) = &mut self.network.recorder {
            recorder.pair(client, addresses);
        }
        client
    }
}

/// Makes the application of one end.
type MakeApp = fn(&AppSpec) -> App;

/// The endpoint with this index begins anew, or for the first time.
#[inline(always)]
fn begin_again<'a>(
    endpoints: &'a mut Vec<Endpoint>,
    place: u32,
    spec: &AppSpec,
    make: MakeApp,
) -> &'a mut Endpoint {
    let place = place as usize;
    match endpoints.get_mut(place) {
        Some(before) => before.begin_again(spec, make),
        None => endpoints.push(Endpoint::new(make(spec))),
    }
    &mut endpoints[place]
}

/// An endpoint takes this place, after another one or as the first.
#[inline(always)]
pub(super) fn seat(endpoints: &mut Vec<Endpoint>, place: u32, endpoint: Endpoint) {
    match endpoints.get_mut(place as usize) {
        Some(before) => *before = endpoint,
        None => endpoints.push(endpoint),
    }
}

/// Addresses and ports of a flow.
pub(super) fn addresses(flow: &FlowSpec, number: u32) -> Addresses {
    const PORTS: u32 = 64_000;
    let ports = [1024 + (number % PORTS) as u16, 5001 + (number / PORTS) as u16];
    Addresses { flow: number, connection: 0, nodes: [flow.from.0, flow.to.0], ports }
}
