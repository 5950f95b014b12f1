//! The loop: moves packets from devices to the network, and back at their arrival times.

use super::capture::Captures;
use super::clock::{self, Clock};
use super::connections::Seen;
use super::error::EmulateError;
use super::hosts::{Host, Hosts};
use super::observer::{Intervals, Observer};
use super::plan::Plan;
use super::report::{self, DelayError, Ended, Report};
use super::wakefulness::{self, Wakefulness};
use crate::emulator::hosts::leftovers;
use crate::emulator::hosts::privilege;
use crate::emulator::packets::real_network::{Arrival, RealNetwork, Refused};
use crate::emulator::packets::train::Train;
use crate::tun::{FRAME_ROOM, Pieces};
use netspurt_sim::spec::NodeId;
use netspurt_tcp::time::{Span, Time};
use netspurt_trace::capture::Direction;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use std::os::fd::AsFd as _;
use std::time::Duration;

/// Interval of the checks for signals, commands and requests to stop.
const ATTENTION: Span = Span::from_ms(50);
/// How long the main command waits until the others listen.
const SETTLING: Span = Span::from_secs(5);
/// How long programs may take to terminate.
const FAREWELL: Span = Span::from_ms(1000);
/// How long connections may take to close, besides some round trips.
const CLOSING: Span = Span::from_secs(2);
const CLOSING_ROUND_TRIPS: u64 = 3;
/// Maximum of packets read from one device before the next one.
const BATCH: usize = 32;
/// Maximum of connections whose packets are combined.
const TRAINS: usize = 8;

/// The phases of an emulation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// All commands but the main one run; it starts at this time at the latest, earlier if they listen.
    Settling(Time),
    /// All commands run.
    Running,
    /// The main command has ended. Its connections close, and the captures continue until this time at the latest.
    Closing(Time),
    /// Remaining processes were asked to terminate, and are killed at this time.
    Ending(Time),
    /// No process is left. Connections close until this time at the latest.
    Emptying(Time),
}

/// A running emulation.
pub(super) struct Emulation {
    plan: Plan,
    clock: Clock,
    real_network: RealNetwork,
    hosts: Hosts,
    /// Delay errors for each pair of hosts.
    errors: Vec<DelayError>,
    captures: Captures,
    /// Packets that are about to be delivered.
    trains: Vec<Train>,
    /// Buffer of the next train.
    next: Train,
    phase: Phase,
    /// When the command started and ended.
    began: Time,
    over: Time,
    ended: Option<Ended>,
    /// Times of the first and the last packet.
    busy: Option<(Time, Time)>,
    wakefulness: Wakefulness,
    intervals: Intervals,
    removed: usize,
    stolen_before: Option<f64>,
    /// Hosts that have sent packets.
    waiting: Vec<bool>,
    buffer: Box<[u8]>,
    /// Buffer for one packet of a super-segment.
    piece: Vec<u8>,
}

impl Emulation {
    /// Creates the namespaces.
    pub(super) fn new(mut plan: Plan) -> Result<Self, EmulateError> {
        plan.check()?;
        let nodes: Vec<NodeId> = plan.hosts().iter().map(|command| command.host).collect();
        let watched = Captures::watched(&plan, &nodes);
        // Captures need separate channels.
        plan.spec.fuse &= watched.is_empty();
        let mut real_network = RealNetwork::new(&plan.spec, &nodes, plan.seed).map_err(|ends| {
            let [from, to] = ends.map(|node| plan.name(node).to_owned());
            EmulateError::NoRoute { from, to }
        })?;
        plan.check_captures(&real_network, &nodes)?;
        if let Some(outside) = &plan.outside
            && let Some(number) = nodes.iter().position(|node| *node == outside.node)
        {
            real_network.join(plan.addresses(), number);
        }
        real_network.watch(watched.into_iter());
        privilege::obtain()?;
        let removed = leftovers::remove();
        let mut captures = Captures::create(&plan, &nodes)?;
        let hosts = Hosts::new(&plan, &real_network)?;
        let clock = Clock::new();
        captures.announce(&plan, clock);
        Ok(Self {
            captures,
            trains: std::iter::repeat_with(Train::default).take(TRAINS).collect(),
            next: Train::default(),
            hosts,
            clock,
            intervals: Intervals::new(real_network.network().channels()),
            real_network,
            errors: vec![DelayError::default(); nodes.len() * nodes.len()],
            phase: Phase::Settling(Time::ZERO + SETTLING),
            began: Time::ZERO,
            over: Time::ZERO,
            ended: None,
            busy: None,
            wakefulness: Wakefulness::new(),
            removed,
            stolen_before: clock::stolen_s(),
            waiting: vec![false; nodes.len()],
            buffer: vec![0; FRAME_ROOM].into(),
            piece: Vec::new(),
            plan,
        })
    }

    /// Runs until the command ends or the observer requests the end. After the second request it does not wait.
    pub(super) fn run(mut self, observer: &mut dyn Observer) -> Result<Report, EmulateError> {
        wakefulness::be_prompt().map_err(EmulateError::system)?;
        let outcome = self.live(observer);
        wakefulness::be_ordinary();
        self.hosts.evict();
        outcome?;
        let last = self.hosts.process_news()?;
        self.ended = self.ended.or(last);
        self.captures.see(self.real_network.take_sightings(), self.clock.now(), self.clock);
        std::mem::take(&mut self.captures).finish(self.clock.now(), self.clock)?;
        Ok(self.report())
    }

    fn live(&mut self, observer: &mut dyn Observer) -> Result<(), EmulateError> {
        self.hosts.start_others(&self.plan)?;
        let mut attention = Time::ZERO;
        loop {
            let now = self.clock.now();
            if now >= attention {
                attention = now + ATTENTION;
                if self.attend(now, observer.asks_to_stop())? {
                    return Ok(());
                }
                if let (Phase::Running, Some(interval)) = (self.phase, observer.interval())
                    && self.intervals.over(now, interval)
                {
                    let channels = self.real_network.network().channels();
                    observer.see(&self.intervals.end(&self.plan.spec, channels, self.began, now));
                }
            }
            self.hand_over(now);
            for number in 0..self.hosts.all.len() {
                if std::mem::take(&mut self.waiting[number]) {
                    self.take_in(number)?;
                }
            }
            if self.sleep(attention)? == Woken::ByNews {
                attention = Time::ZERO;
            }
        }
    }

    /// Checks commands and requests to stop. Returns whether the emulation is over.
    fn attend(&mut self, now: Time, stop_requested: bool) -> Result<bool, EmulateError> {
        if let Some(ended) = self.hosts.process_news()? {
            self.ended = Some(ended);
        }
        if self.ended.is_some() && matches!(self.phase, Phase::Settling(_) | Phase::Running) {
            self.over = now;
            if self.captures.is_empty() {
                self.dismiss(now);
            } else {
                self.hosts.connections().hurry();
                self.phase = Phase::Closing(now + self.closing_time());
            }
        }
        let none_closes = |seen: &Seen| seen.closing == 0;
        let none_is_open = |seen: &Seen| seen.open == 0;
        match self.phase {
            Phase::Settling(until) if now >= until || self.hosts.others_listen() => {
                (self.phase, self.began) = (Phase::Running, now);
                self.intervals.begin(now);
                self.hosts.start_first(&self.plan);
            }
            Phase::Closing(until)
                if stop_requested
                    || now >= until
                    || self.hosts.connections().seen().is_some_and(none_closes) =>
            {
                self.dismiss(now);
            }
            Phase::Ending(until) if stop_requested || now >= until => return Ok(true),
            Phase::Ending(_) if self.hosts.are_empty() => {
                if self.captures.is_empty() {
                    return Ok(true);
                }
                self.hosts.connections().hurry();
                self.phase = Phase::Emptying(now + self.closing_time());
            }
            Phase::Emptying(until) => {
                let empty = self.hosts.connections().seen().is_some_and(none_is_open);
                return Ok(stop_requested || now >= until || empty);
            }
            Phase::Settling(_) | Phase::Running if stop_requested => {
                self.over = now;
                self.dismiss(now);
            }
            Phase::Settling(_) | Phase::Running | Phase::Closing(_) | Phase::Ending(_) => {}
        }
        Ok(false)
    }

    /// Asks remaining processes to terminate, once.
    fn dismiss(&mut self, now: Time) {
        self.phase = Phase::Ending(now + FAREWELL);
        self.hosts.dismiss();
    }

    /// How long the captures wait for connections to close.
    fn closing_time(&self) -> Span {
        let delays = self.plan.spec.links.iter().flat_map(|link| &link.directions).map(|way| way.delay);
        CLOSING + delays.fold(Span::ZERO, |sum, delay| sum + delay).saturating_mul(CLOSING_ROUND_TRIPS)
    }

    /// Delivers packets that have arrived by `now`. Segments of one connection that are due together are delivered as
    /// one frame.
    fn hand_over(&mut self, now: Time) {
        while let Some(arrival) = self.real_network.next(now) {
            let Arrival { at, label, .. } = arrival;
            let own = self.trains.iter().position(|train| train.is_of(label));
            let place = match own.or_else(|| self.trains.iter().position(Train::is_empty)) {
                Some(place) => place,
                None => {
                    self.dispatch_all();
                    0
                }
            };
            let Self { real_network, captures, trains, clock, .. } = self;
            let joined = real_network.unload(arrival, |content| {
                if captures.watch_hosts() {
                    captures.note_arrival(label.to, clock.calendar(clock.now()), content);
                }
                let joined = trains[place].join(label, at, &content.bytes, content.checksum);
                if !joined {
                    self.next.begin(label, at, &content.bytes, content.checksum);
                }
                joined
            });
            if !joined {
                self.dispatch(place);
                std::mem::swap(&mut self.trains[place], &mut self.next);
            }
        }
        self.dispatch_all();
        self.captures.see(self.real_network.take_sightings(), now, self.clock);
    }

    fn dispatch_all(&mut self) {
        (0..self.trains.len()).for_each(|place| self.dispatch(place));
    }

    /// Delivers a train, if there is one.
    fn dispatch(&mut self, place: usize) {
        let train = &mut self.trains[place];
        if train.is_empty() {
            return;
        }
        let label = train.label();
        let host = &mut self.hosts.all[label.to];
        let done = self.clock.now();
        let (shape, frame) = train.frame();
        let handed = host.thread.device.send(&shape, &[frame]);
        let count = train.times().len() as u64;
        match handed {
            Ok(()) => host.report.received += count,
            Err(_) => host.report.rejected += count,
        }
        let error = &mut self.errors[label.from * self.hosts.all.len() + label.to];
        train.times().iter().for_each(|&at| error.note(at, done));
        let first = train.times()[0];
        self.busy = Some((self.busy.map_or(first, |(first, _)| first), done));
        train.clear();
    }

    /// Reads packets that a host sends.
    fn take_in(&mut self, number: usize) -> Result<(), EmulateError> {
        for _ in 0..BATCH {
            let now = self.clock.now();
            self.hand_over(now);
            let Host { thread, report, .. } = &mut self.hosts.all[number];
            let frame = thread.device.receive(&mut self.buffer).map_err(EmulateError::system)?;
            let Some(frame) = frame else { break };
            // On this network, as on any other, a super-segment is a burst of packets.
            let mut pieces = Pieces::undone(frame.packet, frame.shape);
            while pieces.next_into(&mut self.piece) {
                let checksum = pieces.checksum();
                let sent = self.real_network.send(now, number, &self.piece, checksum);
                match sent {
                    Ok(()) => report.sent += 1,
                    Err(Refused::Stray) => report.stray += 1,
                    Err(Refused::Full) => report.refused += 1,
                    Err(Refused::Chatter) => continue,
                }
                if self.captures.watch_hosts() {
                    let at = self.clock.calendar(now);
                    self.captures.note(number, at, Direction::Outbound, &self.piece, checksum);
                }
            }
        }
        Ok(())
    }

    /// Sleeps until a host sends a packet, a packet is due, or a command ends.
    fn sleep(&mut self, attention: Time) -> Result<Woken, EmulateError> {
        let due = self.real_network.next_due().map_or(attention, |due| due.min(attention));
        let now = self.clock.now();
        let asleep = due.since(now).saturating_sub(self.wakefulness.margin(now));
        let timeout = TimeSpec::from_duration(Duration::from_nanos(asleep.as_ps() / 1000));
        let devices = self.hosts.all.iter().map(|host| host.thread.device.as_fd());
        let mut wanted: Vec<PollFd<'_>> = std::iter::once(self.hosts.wake.as_fd())
            .chain(devices)
            .map(|fd| PollFd::new(fd, PollFlags::POLLIN))
            .collect();
        let outcome = ppoll(&mut wanted, Some(timeout), None);
        if asleep > Span::ZERO {
            let woken = self.clock.now();
            self.wakefulness.waited(now, woken);
            if outcome == Ok(0) {
                self.wakefulness.overslept(woken.since(now + asleep));
            }
        }
        match outcome {
            Ok(0) => return Ok(Woken::ByTime),
            Ok(_) => {}
            Err(Errno::EINTR) => return Ok(Woken::ByNews),
            Err(errno) => return Err(EmulateError::system(errno)),
        }
        let readable = |fd: &PollFd<'_>| fd.any() == Some(true);
        let news = readable(&wanted[0]);
        // Polls only hosts that have sent packets recently, because polling many hosts is expensive.
        for (waiting, device) in self.waiting.iter_mut().zip(&wanted[1..]) {
            *waiting = readable(device);
        }
        Ok(if news { Woken::ByNews } else { Woken::ByTime })
    }

    fn report(mut self) -> Report {
        let (channels, count) = (self.real_network.network().channels(), self.hosts.all.len());
        let mut errors = vec![DelayError::default(); channels.len()];
        for (pair, error) in self.errors.iter().enumerate() {
            let on_the_way = self.real_network.channels(pair / count, pair % count);
            on_the_way.for_each(|channel| errors[channel as usize].merge(error));
        }
        let busy = self.busy.map_or(Span::ZERO, |(first, last)| last.since(first));
        Report {
            ended: self.ended,
            seconds: self.over.since(self.began).as_secs_f64(),
            stolen: clock::stolen_s().zip(self.stolen_before).map(|(after, before)| after - before),
            removed: self.removed,
            links: report::links(&self.plan.spec, channels, errors, busy),
            hosts: self.hosts.reports(),
        }
    }
}

/// Why a sleep ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Woken {
    /// The time is reached, or packets have arrived.
    ByTime,
    /// A command has ended, or a signal has arrived.
    ByNews,
}
