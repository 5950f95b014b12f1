//! Hosts with a processor: which task is next, and its effects.

use super::{World, arm_app};
use crate::host::app::Action;
use crate::host::endpoint::{Endpoint, note_wake};
use crate::host::processor::{Interrupt, PROCESSORS, Pace, Part, Process, Processor, Task, Turn};
use crate::record::probe::{Sent, end_of};
use netspurt_tcp::Departure;
use netspurt_tcp::time::{Span, Time};

impl World {
    /// A task has arrived for a host's processor, which begins with it if it is idle.
    #[cold]
    pub(crate) fn interrupt(&mut self, now: Time, place: u32, interrupt: Interrupt) {
        let host = self.host_of(place);
        self.processor(host).interrupts.push_back(interrupt);
        self.begin(now, host);
    }

    /// The time that an application has waited for has come.
    #[cold]
    pub(crate) fn wake(&mut self, now: Time, place: u32) {
        self.make_ready(place);
        self.begin(now, self.host_of(place));
    }

    /// A processor has finished its task.
    #[cold]
    pub(crate) fn processor_timer(&mut self, now: Time, host: usize) {
        if let Some(task) = self.processor(host).task.take() {
            self.carry_out(now, host, task);
            self.processor(host).is_busy = false;
            self.begin(now, host);
        }
    }

    fn host_of(&self, place: u32) -> usize {
        let flow = &self.spec.flows[self.endpoints[place as usize].description as usize];
        let node = if place.is_multiple_of(2) { flow.from } else { flow.to };
        node.0 as usize
    }

    fn processor(&mut self, host: usize) -> &mut Processor {
        self.hosts[host].processor.as_mut().expect("only endpoints of a host with a processor wait for it")
    }

    /// The endpoint of the task, if it still has the same connection.
    fn meant(&mut self, turn: Turn) -> Option<&mut Endpoint> {
        self.endpoints
            .get_mut(turn.place as usize)
            .filter(|endpoint| endpoint.generation == turn.generation && endpoint.connection.is_some())
    }

    /// Adds an application to the queue, if it is not in it.
    fn make_ready(&mut self, place: u32) {
        let endpoint = &mut self.endpoints[place as usize];
        if endpoint.pace == Pace::Asleep && endpoint.open {
            endpoint.pace = Pace::Ready;
            let turn = Turn { place, generation: endpoint.generation };
            let host = self.host_of(place);
            self.processor(host).processes.push_back(Process { turn, rest: None });
        }
    }

    /// Carries out tasks that take no time, and begins one that does. A busy processor is left alone. So is one that is
    /// being asked for its next task, if the answer itself caused this call.
    fn begin(&mut self, now: Time, host: usize) {
        if self.processor(host).is_busy {
            return;
        }
        self.processor(host).is_busy = true;
        while let Some((task, cost)) = self.next_task(now, host) {
            if cost > Span::ZERO {
                self.processor(host).task = Some(task);
                return self.network.arm(now + cost, PROCESSORS + host as u32);
            }
            self.carry_out(now, host, task);
        }
        self.processor(host).is_busy = false;
    }

    /// The next task and its cost: segments of the last connection served, then arrivals and timers, then programs.
    fn next_task(&mut self, now: Time, host: usize) -> Option<(Task, Span)> {
        loop {
            if let Some(turn) = self.processor(host).serving {
                if let Some(departure) = self.next_departure(now, host, turn) {
                    return Some(departure);
                }
                self.processor(host).serving = None;
                self.served(now, turn);
            } else if let Some(interrupt) = self.processor(host).interrupts.pop_front() {
                match interrupt {
                    Interrupt::Packet { slot } => {
                        let payload = self.network.packet(slot).segment.payload;
                        return Some((Task::Arrival { slot }, self.processor(host).costs.arrival(payload)));
                    }
                    Interrupt::Deadline(turn) => return Some((Task::Deadline(turn), Span::ZERO)),
                    Interrupt::Opened(turn) => self.processor(host).serving = Some(turn),
                }
            } else {
                let process = self.processor(host).processes.front().copied()?;
                if let Some(step) = self.next_step(now, host, process) {
                    return Some(step);
                }
                self.processor(host).processes.pop_front();
            }
        }
    }

    /// The next segment of the connection that is being served.
    fn next_departure(&mut self, now: Time, host: usize, turn: Turn) -> Option<(Task, Span)> {
        let endpoint = self.endpoints.get_mut(turn.place as usize)?;
        if endpoint.generation != turn.generation {
            return None;
        }
        let segment = self.network.draft();
        let Departure { reason, .. } = endpoint.connection.as_mut()?.transmit_any(now, segment)?;
        let label = endpoint.label(turn.place).on(segment, reason);
        let slot = self.network.take_draft();
        let payload = self.network.packet(slot).segment.payload;
        Some((Task::Departure { slot, turn, label, reason }, self.processor(host).costs.departure(payload)))
    }

    /// The next action of the first program in the queue; `None` if it waits, or its connection is gone.
    fn next_step(&mut self, now: Time, host: usize, process: Process) -> Option<(Task, Span)> {
        let turn = process.turn;
        let (action, part) = match process.rest {
            None => (self.next_action(now, host, turn)?, Part::First),
            Some(rest) => (rest, Part::Later),
        };
        let Processor { costs, handover, .. } = *self.processor(host);
        let connection = self.meant(turn)?.connection.as_ref()?;
        let (action, rest, cost) = match action {
            Action::Read(most) => {
                let readable = connection.readable().min(most);
                let len = self.processor(host).readers.read(now, turn, readable);
                (Action::Read(len), None, costs.reading(len))
            }
            Action::Write(len) | Action::WritePart(len) => {
                let now = handover.part(len, connection);
                let cost = costs.writing(now, part);
                match action {
                    _ if now == len => (action, None, cost),
                    Action::Write(_) => (Action::WritePart(now), Some(Action::Write(len - now)), cost),
                    _ => (Action::WritePart(now), Some(Action::WritePart(len - now)), cost),
                }
            }
            Action::Work => (action, None, costs.request),
            Action::Close | Action::Wait(_) => (action, None, Span::ZERO),
        };
        Some((Task::Step { turn, action, rest }, cost))
    }

    /// The next action of an application; `None` if it waits, its connection is gone, or it is busy with what it has read.
    /// Before it waits, its session learns what has happened since; if there was anything, the application decides again.
    fn next_action(&mut self, now: Time, host: usize, turn: Turn) -> Option<Action> {
        if let Some(until) = self.processor(host).readers.busy_until(now, turn) {
            self.put_to_sleep(turn, until);
            return None;
        }
        loop {
            let endpoint = self.endpoints.get_mut(turn.place as usize)?;
            let connection =
                endpoint.connection.as_ref().filter(|_| endpoint.generation == turn.generation)?;
            let app = &self.spec.flows[endpoint.description as usize].app;
            let until = match endpoint.app.next(now, app, connection) {
                Action::Wait(until) => until,
                action => return Some(action),
            };
            if !self.pass_news(now, turn.place) {
                self.put_to_sleep(turn, until);
                return None;
            }
        }
    }

    /// An application waits until its connection makes progress, or until this time.
    fn put_to_sleep(&mut self, turn: Turn, until: Time) {
        let Some(endpoint) = self.meant(turn) else { return };
        endpoint.pace = Pace::Asleep;
        if let Some(wake) = note_wake(&mut endpoint.app_armed_at, until) {
            arm_app(&mut self.network, wake, turn.place);
        }
    }

    /// The time of a task has passed.
    fn carry_out(&mut self, now: Time, host: usize, task: Task) {
        match task {
            Task::Arrival { slot } => {
                let turn = self.take_in(now, slot);
                self.processor(host).serving = turn;
            }
            Task::Deadline(turn) => {
                if let Some(endpoint) = self.meant(turn) {
                    endpoint.armed_at = Time::NEVER;
                    self.serve_deadline(now, turn.place);
                    self.processor(host).serving = Some(turn);
                }
            }
            Task::Departure { slot, turn, label, reason } => {
                let segment = self.network.packet(slot).segment;
                // The segment is sent even if its connection is over: it was made before.
                let (flow, end) = (self.endpoints[turn.place as usize].flow, end_of(turn.place));
                self.network.note_sent(turn.place, |connection| Sent {
                    time: now,
                    flow,
                    connection,
                    end,
                    segment,
                    reason,
                });
                self.network.send_slot(now, slot, label);
            }
            Task::Step { turn, action, rest } => self.step(now, host, turn, action, rest),
        }
    }

    /// The first application in the queue has carried out an action.
    fn step(&mut self, now: Time, host: usize, turn: Turn, action: Action, rest: Option<Action>) {
        if let Some(process) = self.processor(host).processes.front_mut() {
            process.rest = rest;
        }
        let handover = self.processor(host).handover;
        let Some(endpoint) = self.meant(turn) else { return };
        let Some(connection) = endpoint.connection.as_ref() else { return };
        let asks = rest.is_none() || handover.asks_behind_part(connection);
        endpoint.perform(now, action);
        if asks {
            self.processor(host).serving = Some(turn);
        }
    }

    /// A packet is processed by its connection. Returns the task of that connection.
    fn take_in(&mut self, now: Time, slot: u32) -> Option<Turn> {
        let packet = *self.network.packet(slot);
        self.network.release(slot);
        let turn = Turn { place: packet.endpoint, generation: packet.generation };
        let endpoint = self.meant(turn)?;
        endpoint.digest.fold_segment(now.as_ps(), &packet.segment);
        endpoint.connection.as_mut()?.handle_any_segment(now, &packet.segment);
        Some(turn)
    }

    /// Tells the session of an application its news, if there are any, and carries out its actions. Then the application is
    /// to be asked again.
    fn pass_news(&mut self, now: Time, place: u32) -> bool {
        if !self.endpoints[place as usize].app.take_news() {
            return false;
        }
        if let Some((flow, actions)) = self.report_to_session(now, place) {
            self.run_actions(now, flow, actions);
        }
        true
    }

    /// A connection has been served: its application may run, and its deadline is noted.
    fn served(&mut self, now: Time, turn: Turn) {
        let Some(endpoint) = self.meant(turn) else { return };
        let place = turn.place;
        if !endpoint.open {
            let Endpoint { connection: Some(connection), app, open, .. } = endpoint else { return };
            *open = connection.state().is_synchronized();
            app.note_failure(connection);
            self.pass_news(now, place);
        }
        self.make_ready(place);
        self.note_and_conclude(now, place);
    }
}
