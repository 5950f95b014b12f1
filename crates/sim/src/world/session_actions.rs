//! Carries out the actions of sessions: opens connections, sends requests over them, closes them, and frees ports.

use super::World;
use crate::host::app::App;
use crate::host::endpoint::{Endpoint, address};
use crate::host::ports::Ports;
use crate::host::session::{Closes, Session, SessionAction, SessionSpec};
use crate::random::Stream;
use crate::record::probe::Addresses;
use crate::record::summary::FlowRecord;
use netspurt_tcp::codec;
use netspurt_tcp::seq::Seq;
use netspurt_tcp::stats::Stats;
use netspurt_tcp::time::Time;
use std::cmp::Reverse;
use std::sync::Arc;

impl World {
    /// The session of a flow, if it has one.
    fn session(&mut self, flow: u32) -> Option<&mut Session> {
        match self.records[flow as usize] {
            FlowRecord::Session(position) => self.sessions.all.get_mut(position as usize),
            _ => None,
        }
    }

    /// A flow with a session starts.
    pub(crate) fn begin_session(&mut self, now: Time, flow: u32, spec: &Arc<SessionSpec>) {
        let (description, position) = self.numbering.locate(flow);
        let alike = &self.spec.flows[description];
        let name = format!("{}/{}", alike.name, alike.first_index + position);
        self.records[flow as usize] = FlowRecord::Session(self.sessions.all.len() as u32);
        self.sessions.all.push(Session::new(spec, self.seed, (flow, &name), now));
        self.wake_session(now, flow);
    }

    /// Wakes the sessions that are due.
    pub(crate) fn wake_sessions(&mut self, now: Time) {
        while self.sessions.next() <= now {
            if let Some(Reverse((_, flow))) = self.sessions.wakes.pop() {
                self.wake_session(now, flow);
            }
        }
    }

    fn wake_session(&mut self, now: Time, flow: u32) {
        let mut actions = core::mem::take(&mut self.sessions.actions);
        if let Some(session) = self.session(flow) {
            session.wake(now, &mut actions);
        }
        self.run_actions(now, flow, actions);
    }

    /// The client at endpoint `place` has news for its session. The session is served before the consequences of
    /// the news.
    #[cold]
    pub(crate) fn attend(&mut self, now: Time, place: u32) {
        let reported = self.report_to_session(now, place);
        self.serve(now, place);
        if let Some((flow, actions)) = reported {
            self.run_actions(now, flow, actions);
        }
    }

    /// Tells the session of the client at endpoint `place` its news. What the session asks for on this connection is
    /// started; its other actions are returned, with the flow.
    pub(crate) fn report_to_session(&mut self, now: Time, place: u32) -> Option<(u32, Vec<SessionAction>)> {
        let pair = &self.endpoints[place as usize..][..2];
        let (flow, Some(connection), App::Asker(asker)) = (pair[0].flow, &pair[0].connection, &pair[0].app)
        else {
            return None;
        };
        let (number, received, over) = (asker.number, connection.received(), connection.closed().is_some());
        let repairs = repairs(pair);
        let mut actions = core::mem::take(&mut self.sessions.actions);
        let session = self.session(flow)?;
        let fetched = session.note_progress(now, number, (received, repairs), &mut actions);
        if over {
            session.lost(number, repairs, &mut actions);
        }
        if let (Some(fetched), Some(recorder)) = (fetched, &mut self.network.recorder) {
            recorder.page(fetched);
        }
        // Requests on this connection are made before its ACK is sent, so that they can carry it.
        let own = |action: &SessionAction| matches!(*action, SessionAction::Ask(other, _) | SessionAction::Close(other) if other == number);
        actions.iter().filter(|action| own(action)).for_each(|&action| self.instruct(flow, place, action));
        self.report_next_file(flow, place, number);
        actions.retain(|action| !own(action));
        Some((flow, actions))
    }

    /// Carries out actions of a session, and arms its next wake-up.
    pub(crate) fn run_actions(&mut self, now: Time, flow: u32, mut actions: Vec<SessionAction>) {
        for action in actions.drain(..) {
            match action {
                SessionAction::Open(number) => self.open_call(now, flow, number),
                SessionAction::Ask(number, _) | SessionAction::Close(number) => {
                    let place = self.session(flow).and_then(|session| session.call(number)?.place);
                    if let Some(place) = place {
                        self.instruct(flow, place, action);
                        self.report_next_file(flow, place, number);
                        self.stir(now, place);
                    }
                }
            }
        }
        self.sessions.actions = actions;
        if let Some(due) = self.session(flow).and_then(Session::arm) {
            self.sessions.wakes.push(Reverse((due, flow)));
        }
        self.arm_starter();
    }

    /// Tells both ends of a connection what is requested over it, or the client that it is to close.
    fn instruct(&mut self, flow: u32, place: u32, action: SessionAction) {
        let FlowRecord::Session(position) = self.records[flow as usize] else { return };
        let session = &mut self.sessions.all[position as usize];
        let [client, server] = &mut self.endpoints[place as usize..][..2] else { return };
        let (App::Asker(asker), App::Answerer(answerer)) = (&mut client.app, &mut server.app) else { return };
        let SessionAction::Ask(number, count) = action else { return asker.finish() };
        let closes = session.spec().closes;
        let Some(call) = session.call(number) else { return };
        for file in call.files.iter().skip(call.files.len() - count as usize) {
            asker.ask(file.request);
            answerer.expect(file.request, file.reply);
        }
        if call.last && closes == Closes::Server {
            answerer.finish();
        }
    }

    /// The client at endpoint `place` reports to its session when the next file is complete.
    fn report_next_file(&mut self, flow: u32, place: u32, number: u32) {
        let next = self.session(flow).and_then(|session| session.call(number)?.next_there());
        if let App::Asker(asker) = &mut self.endpoints[place as usize].app {
            asker.report_at(next.unwrap_or(u64::MAX));
        }
    }

    /// Opens a connection, unless no port is free.
    fn open_call(&mut self, now: Time, flow: u32, number: u32) {
        let description = self.numbering.locate(flow).0;
        let Some(server_port) = self.session(flow).map(|session| session.spec().port) else { return };
        let alike = &self.spec.flows[description];
        let (from, to) = (alike.from, alike.to);
        let timestamp = alike.client.timestamps.then(|| netspurt_tcp::timestamp(now));
        let keys = [from, to].map(|node| self.hosts[node.0 as usize].isn_key(self.seed));
        let ends = [from, to].map(|node| address(node.0));
        let isn =
            |port, end: usize| isn(&keys[end], now, [ends[end], ends[1 - end]], [port, server_port], end);
        let ports = self.sessions.ports.entry((from, to, server_port)).or_insert_with(|| {
            let [client, server] = [from, to].map(|node| &self.spec.nodes[node.0 as usize]);
            let name = format!("host/{}/ports/{}:{server_port}", client.name, server.name);
            Ports::new(client.ports, client.reuse, Stream::new(self.seed, &name).bits())
        });
        let port = match ports.take(now, |port| isn(port, 0), timestamp) {
            Ok(port) => port,
            Err(until) => {
                return self.session(flow).map_or((), |session| session.postpone(number, until));
            }
        };
        let addresses =
            Addresses { flow, connection: number, nodes: [from.0, to.0], ports: [port, server_port] };
        let place = self.settle(flow, description, Some([0, 1].map(|end| isn(port, end))), addresses);
        if let App::Asker(asker) = &mut self.endpoints[place as usize].app {
            (asker.number, asker.port) = (number, port);
        }
        let asked = self.session(flow).and_then(|session| {
            let call = session.call(number)?;
            call.place = Some(place);
            Some(call.files.len() as u32)
        });
        self.instruct(flow, place, SessionAction::Ask(number, asked.unwrap_or(0)));
        self.report_next_file(flow, place, number);
        self.open(now, place);
    }

    /// Adds a session's connection that is over at both ends to its results, and frees its port.
    pub(crate) fn retire_call_if_over(&mut self, client: u32) {
        let now = self.now;
        let pair = &self.endpoints[client as usize..][..2];
        if !pair.iter().all(Endpoint::is_over) {
            return;
        }
        let flow = pair[0].flow;
        let alike = &self.spec.flows[pair[0].description as usize];
        let App::Asker(asker) = &pair[0].app else { return };
        let (number, port) = (asker.number, asker.port);
        let waiting = [0, 1].map(|end: usize| pair[end].connection.as_ref().and_then(|c| c.time_wait()));
        let FlowRecord::Session(position) = self.records[flow as usize] else { return };
        let session = &mut self.sessions.all[position as usize];
        let server_port = session.spec().port;
        if let Some(ports) = self.sessions.ports.get_mut(&(alike.from, alike.to, server_port)) {
            ports.give_back(now, port, waiting);
        }
        sum_up(session, pair);
        let mut actions = core::mem::take(&mut self.sessions.actions);
        session.lost(number, repairs(pair), &mut actions);
        self.vacate(client);
        self.run_actions(now, flow, actions);
    }

    /// The run ends: adds connections in progress to the results.
    pub(crate) fn sum_up_sessions(&mut self) {
        for pair in self.endpoints.chunks_exact(2).filter(|pair| pair[0].connection.is_some()) {
            if let FlowRecord::Session(position) = self.records[pair[0].flow as usize] {
                sum_up(&mut self.sessions.all[position as usize], pair);
            }
        }
    }
}

/// Adds a connection to the results of its session.
fn sum_up(session: &mut Session, pair: &[Endpoint]) {
    let delivered = pair[0].connection.as_ref().map_or(0, |connection| connection.received());
    session.tally.over(delivered, counted(pair), [0, 1].map(|end: usize| pair[end].digest.value()));
}

/// How many segments both ends have sent again, and how often their timers have expired.
fn repairs(pair: &[Endpoint]) -> [u32; 2] {
    let of_end = |end: &Endpoint| end.connection.as_ref().map_or([0; 2], |connection| connection.repairs());
    let [client, server] = [of_end(&pair[0]), of_end(&pair[1])];
    [client[0] + server[0], client[1] + server[1]]
}

/// The counters of both ends.
fn counted(pair: &[Endpoint]) -> [Stats; 2] {
    [0, 1].map(|end: usize| pair[end].connection.as_ref().map_or_else(Stats::default, |c| c.stats()))
}

/// The initial sequence number of one end of a session's connection: it follows a clock (RFC 6528), so that a pair of
/// sockets can be used again.
fn isn(
    key: &[u8; 16],
    now: Time,
    [source, destination]: [std::net::Ipv4Addr; 2],
    [port, server_port]: [u16; 2],
    end: usize,
) -> Seq {
    let addresses = codec::Addresses::V4 { source, destination };
    let (source, destination) = if end == 0 { (port, server_port) } else { (server_port, port) };
    netspurt_tcp::isn::initial_sequence_number(key, addresses, codec::Ports { source, destination }, now)
}
