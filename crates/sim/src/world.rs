//! The world: a network with hosts, their connections and their applications.
//!
//! This file is the main loop. `inbox.rs` and `serving.rs` have the work of endpoints, `starting.rs` the start of flows,
//! `turns.rs` hosts with a processor, `session_actions.rs` the connections of sessions, and `datagrams.rs` flows without a
//! connection.

mod answering;
mod datagrams;
mod detours;
mod endings;
mod fan_batch;
mod idle_path;
mod inbox;
mod messages;
mod part;
mod recording;
mod retiring;
mod serving;
mod session_actions;
mod starting;
mod turns;

pub use idle_path::idle_path;
pub(crate) use part::{Messages, Part};
pub(crate) use retiring::LINGER;

use crate::host::app::App;
use crate::host::endpoint::{Endpoint, Host};
use crate::host::fast_open::Cookies;
use crate::host::processor::{Interrupt, PROCESSORS, Pace, Turn};
use crate::host::session::Sessions;
use crate::network::packet::Content;
use crate::network::route::NoRoute;
use crate::network::{Due, Event, Network};
use crate::record::held_tail::HeldTails;
use crate::record::probe::Recorder;
use crate::record::result::RunResult;
use crate::record::summary::{self, Course, FlowRecord, Outcome};
use crate::spec::{Numbering, WorldSpec};
use netspurt_tcp::Connection;
use netspurt_tcp::time::Time;
use retiring::Retiring;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The starter of flows is the first timer of the world. Each endpoint has two more, and after all of them comes the
/// processor of each host.
const STARTER: u32 = 0;

/// Number of events or of data packets between two checks whether to stop.
const WORK_BETWEEN_CHECKS: u32 = 1 << 16;

/// A simulated world.
///
/// Create it with [`World::new`]. Then [`World::run`] it to its end, or advance it with [`World::run_until`] and end with
/// [`World::finish`]. The same specification and seed give the same result and digest, however it is advanced and whatever
/// is recorded.
#[derive(Debug)]
pub struct World {
    pub(crate) spec: WorldSpec,
    pub(crate) seed: u64,
    pub(crate) network: Network,
    pub(crate) hosts: Vec<Host>,
    pub(crate) endpoints: Vec<Endpoint>,
    /// Client endpoints that are free.
    free: Vec<u32>,
    /// When the next flow of each description starts, and its number.
    to_start: BinaryHeap<Reverse<(Time, u32)>>,
    /// Time of the starter's entry in the event queue.
    starter_armed_at: Time,
    pub(crate) sessions: Sessions,
    /// The pairs of endpoints of which at least one is over.
    retiring: Retiring,
    /// Whether states of endpoints are recorded or passed to other parts.
    is_watched: bool,
    /// Whether endpoints take the short loop of `answering.rs`.
    answers: bool,
    /// Which part of the world this is, if it is simulated in parts.
    part: Option<Box<Part>>,
    pub(crate) cookies: Cookies,
    pub(crate) numbering: Numbering,
    pub(crate) records: Vec<FlowRecord>,
    /// The outcomes of flows that are over.
    pub(crate) outcomes: Vec<Outcome>,
    /// Segments that were held for a delayed ACK.
    pub(crate) held_tails: HeldTails,
    /// Packets that arrived for a connection that was over at both ends.
    pub(crate) late_packets: u64,
    pub(crate) now: Time,
    /// The time up to which some endpoint has processed its events.
    ahead: Time,
}

impl World {
    /// The world of `spec` at time zero.
    pub fn new(spec: WorldSpec, seed: u64, recorder: Option<Recorder>) -> Result<Self, NoRoute> {
        let is_watched = recorder.is_some();
        let answers = spec.fuse && !is_watched;
        let network = Network::with_inboxes(&spec, seed, recorder, &Self::independent_hosts(&spec))?;
        let hosts = spec.nodes.iter().map(Host::new).collect();
        let numbering = spec.numbering();
        let some = spec.flows.iter().enumerate().filter(|(_, flow)| flow.count > 0);
        let to_start = some.map(|(at, flow)| Reverse((flow.start, numbering.number(at, 0)))).collect();
        let records = vec![FlowRecord::Waiting; numbering.count() as usize];
        let mut world = Self {
            spec,
            seed,
            network,
            hosts,
            endpoints: Vec::new(),
            free: Vec::new(),
            to_start,
            starter_armed_at: Time::NEVER,
            sessions: Sessions::default(),
            retiring: Retiring::default(),
            is_watched,
            answers,
            part: None,
            cookies: Cookies::default(),
            numbering,
            records,
            outcomes: Vec::new(),
            held_tails: HeldTails::default(),
            late_packets: 0,
            now: Time::ZERO,
            ahead: Time::ZERO,
        };
        world.arm_starter();
        Ok(world)
    }

    /// Runs to the end, or until `stop` says so.
    pub fn run(mut self, stop: &dyn Fn() -> bool) -> RunResult {
        let mut interrupted = false;
        while !interrupted && self.proceed() {
            interrupted = stop();
        }
        self.finish(interrupted)
    }

    /// Runs for a while. Returns whether there is more to do.
    ///
    /// This is for a driver that does something else in between. Everything that is reported after this call happens at
    /// [`World::now`] or later.
    pub fn proceed(&mut self) -> bool {
        self.steps(Time::ZERO + self.spec.duration, WORK_BETWEEN_CHECKS)
    }

    /// Runs everything that is due up to and including `until`.
    pub fn run_until(&mut self, until: Time) {
        while self.steps(until, WORK_BETWEEN_CHECKS) {}
    }

    /// Ends the run now.
    pub fn finish(mut self, interrupted: bool) -> RunResult {
        // All endpoints and routers get as far as the first of them.
        self.run_until(self.ahead.max(self.network.ahead()));
        self.sum_up_sessions();
        summary::summarise(self.into_course(), interrupted)
    }

    /// The outcome of the run.
    pub(crate) fn into_course(self) -> Course {
        let Self { spec, seed, network, hosts, endpoints, sessions, numbering, .. } = self;
        let Self { records, outcomes, held_tails, late_packets, now, .. } = self;
        let sessions = sessions.all;
        Course {
            spec,
            seed,
            network,
            hosts,
            endpoints,
            sessions,
            numbering,
            records,
            outcomes,
            held_tails,
            late_packets,
            now,
        }
    }

    /// The time of the last event.
    pub const fn now(&self) -> Time {
        self.now
    }

    /// The connections of a flow in progress: the client's and the server's.
    pub fn connections(&self, flow: u32) -> Option<[&Connection; 2]> {
        let FlowRecord::Live(client) = self.records.get(flow as usize)? else { return None };
        let connection = |place: u32| self.endpoints[place as usize].connection.as_ref();
        Some([connection(*client)?, connection(client + 1)?])
    }

    /// Number of endpoints, used or free: the memory of a world grows with it.
    pub const fn places(&self) -> usize {
        self.endpoints.len()
    }

    /// The network.
    pub const fn network(&self) -> &Network {
        &self.network
    }

    /// Processes about `count` events or data packets up to `until`. Returns whether there may be more.
    fn steps(&mut self, until: Time, count: u32) -> bool {
        let enough = self.network.data_packets() + u64::from(count);
        for _ in 0..count {
            let Some((now, event)) = self.network.next_event(until) else { return false };
            self.now = now;
            match event {
                Event::Inbox(channel) => {
                    self.open_inbox(now, channel, until);
                    if self.network.data_packets() >= enough {
                        return true;
                    }
                }
                Event::Fan(channel) => {
                    self.open_fan(now, channel, until);
                    if self.network.data_packets() >= enough {
                        return true;
                    }
                }
                Event::Due(Due::Packet(slot)) => self.deliver(now, slot),
                Event::Due(Due::Timer(STARTER)) => self.starter(now),
                Event::Due(Due::Timer(timer)) if timer >= PROCESSORS => {
                    self.processor_timer(now, (timer - PROCESSORS) as usize);
                }
                Event::Due(Due::Timer(timer)) if timer % 2 == 1 => self.connection_timer(now, timer / 2),
                Event::Due(Due::Timer(timer)) => self.app_timer(now, timer / 2 - 1),
            }
        }
        true
    }

    /// The packet is not a segment, or the host's processor takes time.
    #[cold]
    fn deliver_specially(&mut self, now: Time, slot: u32) {
        let packet = self.network.packet(slot);
        let place = packet.endpoint;
        if packet.content != Content::Segment {
            return self.deliver_other(now, slot);
        }
        let endpoint = &self.endpoints[place as usize];
        if packet.generation == endpoint.generation && endpoint.connection.is_some() {
            self.interrupt(now, place, Interrupt::Packet { slot });
        } else {
            self.late_packets += 1;
            self.network.release(slot);
        }
    }

    /// The packet is not a segment, or not a readable one.
    #[cold]
    fn deliver_other(&mut self, now: Time, slot: u32) {
        let packet = *self.network.packet(slot);
        self.network.release(slot);
        let place = packet.endpoint;
        let endpoint = &mut self.endpoints[place as usize];
        if packet.content.is_damaged() {
            let flow = &self.spec.flows[endpoint.description as usize];
            let host = if place.is_multiple_of(2) { flow.from } else { flow.to };
            self.hosts[host.0 as usize].checksum_drops += 1;
            if let App::DatagramSink(sink) = &mut self.endpoints[place as usize].app {
                sink.damaged += 1;
            }
            return;
        }
        if packet.content == Content::Datagram {
            return self.take_datagram(now, &packet);
        }
        let current = packet.generation == endpoint.generation;
        if let Some(connection) = endpoint.connection.as_mut().filter(|_| current)
            && connection.handle_packet_too_big(now, packet.segment.seq, u32::from(packet.mtu))
        {
            self.stir(now, place);
        }
    }

    /// The entry of a connection in the event queue is due.
    fn connection_timer(&mut self, now: Time, place: u32) {
        let endpoint = &mut self.endpoints[place as usize];
        if endpoint.armed_at != now {
            return;
        }
        endpoint.armed_at = Time::NEVER;
        let Some(connection) = &mut endpoint.connection else { return };
        let deadline = connection.next_deadline();
        if deadline > now {
            endpoint.armed_at = deadline;
            return arm_connection(&mut self.network, deadline, place);
        }
        if endpoint.pace != Pace::Free {
            // No timer is needed until the processor serves it.
            endpoint.armed_at = Time::ZERO;
            let turn = Turn { place, generation: endpoint.generation };
            return self.interrupt(now, place, Interrupt::Deadline(turn));
        }
        self.serve_deadline(now, place);
        self.serve(now, place);
    }

    /// A deadline of a connection has passed.
    pub(crate) fn serve_deadline(&mut self, now: Time, place: u32) {
        let Some(connection) = &mut self.endpoints[place as usize].connection else { return };
        let delayed_since = connection.ack_delayed_since(now);
        connection.handle_deadline(now);
        if let Some(since) = delayed_since
            && connection.ack_delayed_since(now).is_none()
        {
            if let Some(part) = &mut self.part {
                return part.note_delayed_ack(now, place, since, &self.endpoints);
            }
            let recorder = self.network.recorder.as_deref_mut();
            self.held_tails.look(now, place, since, &self.endpoints, recorder);
        }
    }

    /// The entry of an application in the event queue is due.
    fn app_timer(&mut self, now: Time, place: u32) {
        let endpoint = &mut self.endpoints[place as usize];
        if endpoint.app_armed_at == now {
            endpoint.app_armed_at = Time::NEVER;
            if matches!(endpoint.app, App::DatagramSource(_)) {
                return self.send_datagrams(now, place);
            }
            self.stir(now, place);
        }
    }

    /// The application of an endpoint has something to do, though its connection has made no progress.
    pub(crate) fn stir(&mut self, now: Time, place: u32) {
        match self.endpoints[place as usize].pace {
            Pace::Free => self.serve(now, place),
            Pace::Asleep | Pace::Ready => self.wake(now, place),
        }
    }

    /// An endpoint has been served and its deadline is noted: records its state, and ends a connection that is over.
    #[inline(always)]
    fn conclude(&mut self, now: Time, place: u32, is_over: bool) {
        if self.is_watched {
            self.record(now, place);
        }
        if is_over {
            self.note_over(now, place);
        }
    }

    /// The same for an endpoint whose deadline has not been noted yet.
    pub(crate) fn note_and_conclude(&mut self, now: Time, place: u32) {
        let is_over = note_deadline(&mut self.endpoints[place as usize], &mut self.network, now, place);
        self.conclude(now, place, is_over);
    }
}

/// Arms the timer of an endpoint's connection, if it has an earlier deadline than before. Returns whether the connection is
/// over.
#[inline(always)]
fn note_deadline(endpoint: &mut Endpoint, network: &mut Network, now: Time, place: u32) -> bool {
    let Some(connection) = &endpoint.connection else { return false };
    let deadline = connection.next_deadline();
    if deadline < endpoint.armed_at {
        // A processor may serve it later than its deadline.
        endpoint.armed_at = deadline.max(now);
        arm_connection(network, endpoint.armed_at, place);
    }
    endpoint.is_over()
}

/// Enters the deadline of a connection into the event queue. This is rare, since an existing entry is moved when it is due.
#[cold]
#[inline(never)]
fn arm_connection(network: &mut Network, at: Time, place: u32) {
    network.arm(at, 2 * place + 1);
}

/// The same for the time that an application waits for.
#[cold]
#[inline(never)]
pub(crate) fn arm_app(network: &mut Network, at: Time, place: u32) {
    network.arm(at, 2 * place + 2);
}
