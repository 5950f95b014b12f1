//! The client of a session: what it fetches next, and over which connection.

use super::arrivals::{ArrivalTally, Arrivals};
use super::player::{Player, VideoTally};
use super::spec::{Closes, Fetch, Lasts, Order, SessionSpec};
use super::tally::Tally;
use crate::random::Stream;
use crate::record::probe::PageFetched;
use netspurt_tcp::time::Time;
use std::collections::VecDeque;
use std::sync::Arc;

/// A file to be fetched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct File {
    pub(crate) request: u64,
    pub(crate) reply: u64,
    /// Number of files of the page that it stands for.
    stands_for: u32,
    asked: Time,
}

/// A connection of a session.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// Its number in the session.
    pub(crate) number: u32,
    /// The index of the client's endpoint, once it is open.
    pub(crate) place: Option<u32>,
    /// Files requested over it that have not arrived completely, in order.
    pub(crate) files: VecDeque<File>,
    /// Bytes received when all files that have arrived were complete.
    received: u64,
    /// No further file will be requested over it.
    pub(crate) last: bool,
    /// Retransmissions and timeouts counted when the session last looked.
    seen: [u32; 2],
}

impl Call {
    /// How many bytes have been received when the next file is complete, if one is expected.
    pub(crate) fn next_there(&self) -> Option<u64> {
        self.files.front().map(|file| self.received + file.reply)
    }
}

/// An instruction of a session for one of its connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SessionAction {
    /// Open it, and request its files.
    Open(u32),
    /// Request the last files of its list, this many.
    Ask(u32, u32),
    /// Close it.
    Close(u32),
}

/// A page that is being fetched.
#[derive(Clone, Debug)]
struct Page {
    began: Time,
    files: u32,
    there: u32,
    bytes: u64,
    connections: u32,
    retransmitted: u32,
    timeouts: u32,
    /// Files that have not been requested.
    waiting: VecDeque<File>,
}

/// The random streams of a client. Each quantity has its own, so that what is fetched does not depend on how.
#[derive(Clone, Debug)]
struct Streams {
    files: Stream,
    sizes: Stream,
    requests: Stream,
    think: Stream,
}

/// The client of a session.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    flow: u32,
    spec: Arc<SessionSpec>,
    streams: Streams,
    /// When it wants to be woken.
    due: Time,
    /// The last time that was passed on to the caller.
    armed: Time,
    /// Number of pages begun.
    begun: u64,
    page: Option<Page>,
    /// Connections over which data is, or may be, still to arrive.
    calls: Vec<Call>,
    /// Connections that could not be opened because no port was free.
    postponed: Vec<u32>,
    /// When all its pages were complete.
    done: Time,
    /// The player of its video, once the first segment has been requested.
    player: Option<Box<Player>>,
    /// When its transfers arrive, if it is an open loop.
    arrivals: Option<Box<Arrivals>>,
    pub(crate) tally: Tally,
}

impl Session {
    /// The client of the flow with this number and name, which starts at `now`.
    pub(crate) fn new(spec: &Arc<SessionSpec>, seed: u64, (flow, name): (u32, &str), now: Time) -> Self {
        let stream = |what: &str| Stream::new(seed, &format!("flow/{name}/{what}"));
        let mut streams = Streams {
            files: stream("files"),
            sizes: stream("sizes"),
            requests: stream("requests"),
            think: stream("think"),
        };
        let first = spec.first.draw_span(&mut streams.think);
        let arrivals =
            spec.arrivals.as_ref().map(|spec| Box::new(Arrivals::new(spec, now + first, &mut streams.think)));
        Self {
            flow,
            spec: Arc::clone(spec),
            streams,
            due: arrivals.as_ref().map_or(now + first, |arrivals| arrivals.next()),
            armed: Time::NEVER,
            begun: 0,
            page: None,
            calls: Vec::new(),
            postponed: Vec::new(),
            done: Time::NEVER,
            player: None,
            arrivals,
            tally: Tally::default(),
        }
    }

    /// The next instruction.
    pub(crate) fn spec(&self) -> &Arc<SessionSpec> {
        &self.spec
    }

    /// When it wants to be woken, if the caller does not know it yet.
    pub(crate) fn arm(&mut self) -> Option<Time> {
        let new = self.due != self.armed && !self.due.is_never();
        self.armed = self.due;
        new.then_some(self.due)
    }

    /// When all its pages were complete; [`Time::NEVER`] if they are not.
    pub(crate) const fn done(&self) -> Time {
        self.done
    }

    /// Results of its video until `end`, if it plays one.
    pub(crate) fn video(&self, end: Time) -> Option<VideoTally> {
        self.spec.video.as_ref()?;
        Some(self.player.as_ref().map_or_else(VideoTally::default, |player| player.result(end)))
    }

    /// Results of its transfers, if it is an open loop.
    pub(crate) fn arrivals(&self) -> Option<&ArrivalTally> {
        self.arrivals.as_ref().map(|arrivals| arrivals.tally())
    }

    /// The connection with this number.
    pub(crate) fn call(&mut self, number: u32) -> Option<&mut Call> {
        let position = self.position(number)?;
        self.calls.get_mut(position)
    }

    /// The position of a connection in the list of open ones, which is sorted by number.
    fn position(&self, number: u32) -> Option<usize> {
        self.calls.binary_search_by_key(&number, |call| call.number).ok()
    }

    /// Does what is due at `now`.
    pub(crate) fn wake(&mut self, now: Time, actions: &mut Vec<SessionAction>) {
        if now < self.due {
            return;
        }
        self.due = Time::NEVER;
        actions.extend(self.postponed.drain(..).map(SessionAction::Open));
        if self.arrivals.is_some() {
            return self.arrive(now, actions);
        }
        if self.page.is_none() && self.done.is_never() {
            self.begin_page(now, actions);
        }
    }

    /// No port was free for this connection: it is tried again.
    pub(crate) fn postpone(&mut self, number: u32, until: Time) {
        self.tally.port_waits += 1;
        self.postponed.push(number);
        self.due = self.due.min(until);
    }

    /// A connection has received this many bytes in all, and its ends have sent so many segments again and had so many timeouts.
    /// Returns the page if this completed it.
    pub(crate) fn note_progress(
        &mut self,
        now: Time,
        number: u32,
        (received, repairs): (u64, [u32; 2]),
        actions: &mut Vec<SessionAction>,
    ) -> Option<PageFetched> {
        self.count(number, repairs);
        if self.arrivals.is_some() {
            return self.note_transfer_progress(now, number, received, actions);
        }
        let position = self.position(number)?;
        let call = &mut self.calls[position];
        let page = self.page.as_mut()?;
        let before = page.there;
        while let Some(file) =
            call.files.front().filter(|file| call.received + file.reply <= received).copied()
        {
            call.received += file.reply;
            page.there += file.stands_for;
            page.bytes += file.reply;
            self.tally.file(now - file.asked, file.reply);
            call.files.pop_front();
        }
        if call.files.is_empty() && call.last {
            if self.spec.closes == Closes::Client {
                actions.push(SessionAction::Close(number));
            }
            self.calls.remove(position);
        }
        if page.there == before {
            return None;
        }
        if page.there < page.files {
            self.go_on(now, number, actions);
            return None;
        }
        self.end_page(now, actions)
    }

    /// A connection is over. Files that did not arrive over it are requested again over a new connection.
    pub(crate) fn lost(&mut self, number: u32, repairs: [u32; 2], actions: &mut Vec<SessionAction>) {
        self.count(number, repairs);
        let Some(position) = self.position(number) else { return };
        let call = self.calls.remove(position);
        if !call.files.is_empty() {
            self.tally.broken += 1;
            self.open(call.files, call.last, actions);
        }
    }

    /// Adds the events on a connection since the session last looked to the page that is being fetched.
    fn count(&mut self, number: u32, all: [u32; 2]) {
        let Some(position) = self.position(number) else { return };
        let call = &mut self.calls[position];
        if let Some(page) = &mut self.page {
            page.retransmitted += all[0] - call.seen[0];
            page.timeouts += all[1] - call.seen[1];
        } else if self.arrivals.is_none() {
            return;
        }
        call.seen = all;
    }

    /// Begins the transfers that have arrived.
    fn arrive(&mut self, now: Time, actions: &mut Vec<SessionAction>) {
        while let Some(arrivals) = self.arrivals.as_mut().filter(|arrivals| arrivals.next() <= now) {
            self.begun += 1;
            arrivals
                .arrived(self.spec.pages.is_some_and(|pages| self.begun >= pages), &mut self.streams.think);
            let file = File {
                request: self.spec.request.draw_bytes(&mut self.streams.requests),
                reply: self.spec.primary.draw_bytes(&mut self.streams.sizes),
                stands_for: 1,
                asked: now,
            };
            self.tally.bytes_asked += file.reply;
            self.open(VecDeque::from([file]), true, actions);
        }
        self.due = self.arrivals.as_ref().map_or(Time::NEVER, |arrivals| arrivals.next());
    }

    /// The connection of an arrived transfer has received this many bytes. Returns the transfer if it is complete.
    fn note_transfer_progress(
        &mut self,
        now: Time,
        number: u32,
        received: u64,
        actions: &mut Vec<SessionAction>,
    ) -> Option<PageFetched> {
        let position = self.position(number)?;
        let file = self.calls[position].files.front().filter(|file| file.reply <= received).copied()?;
        let [retransmitted, timeouts] = self.calls.remove(position).seen;
        if self.spec.closes == Closes::Client {
            actions.push(SessionAction::Close(number));
        }
        let took = now - file.asked;
        self.tally.file(took, file.reply);
        self.tally.page(took);
        let arrivals = self.arrivals.as_mut()?;
        arrivals.complete(file.reply, took);
        if arrivals.next().is_never() && self.calls.is_empty() {
            self.done = now;
        }
        Some(PageFetched {
            flow: self.flow,
            page: u64::from(number),
            asked: file.asked,
            done: now,
            files: 1,
            bytes: file.reply,
            connections: 1,
            retransmitted,
            timeouts,
        })
    }

    fn begin_page(&mut self, now: Time, actions: &mut Vec<SessionAction>) {
        self.begun += 1;
        let segment = self
            .spec
            .video
            .as_ref()
            .map(|video| self.player.get_or_insert_with(|| Box::new(Player::new(video, now))).ask(now));
        let (spec, streams) = (&self.spec, &mut self.streams);
        let files = spec.files.draw_count(&mut streams.files).max(1);
        let mut file = |position| {
            let length = if position == 0 { &spec.primary } else { &spec.embedded };
            File {
                request: spec.request.draw_bytes(&mut streams.requests),
                reply: segment.unwrap_or_else(|| length.draw_bytes(&mut streams.sizes)),
                stands_for: 1,
                asked: now,
            }
        };
        let mut waiting: VecDeque<File> = (0..files).map(&mut file).collect();
        if matches!(self.spec.fetch, Fetch::Single { order: Order::AsOne, .. }) {
            let reply = waiting.iter().map(|file| file.reply).sum();
            waiting.truncate(1);
            waiting[0] = File { reply, stands_for: files, ..waiting[0] };
        }
        self.tally.bytes_asked += waiting.iter().map(|file| file.reply).sum::<u64>();
        let at_once = if matches!(self.spec.fetch, Fetch::Fan { .. }) { waiting.len() } else { 1 };
        let first: VecDeque<File> = waiting.drain(..at_once).collect();
        let nothing_behind = waiting.is_empty();
        self.page = Some(Page {
            began: now,
            files,
            there: 0,
            bytes: 0,
            connections: 0,
            retransmitted: 0,
            timeouts: 0,
            waiting,
        });
        match self.spec.fetch {
            Fetch::Parallel { .. } => self.open(first, true, actions),
            Fetch::Fan { .. } => self.fan_out(first, actions),
            Fetch::Single { .. } => self.ask(first, self.is_last(nothing_behind), actions),
        }
    }

    /// Requests each file over a connection of its own: over open ones first, then over new ones.
    fn fan_out(&mut self, files: VecDeque<File>, actions: &mut Vec<SessionAction>) {
        let last = self.is_last(true);
        let there = self.calls.len();
        for (position, file) in files.into_iter().enumerate() {
            if position >= there {
                self.open(VecDeque::from([file]), last, actions);
                continue;
            }
            let call = &mut self.calls[position];
            call.last = last;
            call.files.push_back(file);
            actions.push(SessionAction::Ask(call.number, 1));
        }
    }

    /// Whether a shared connection is no longer needed after the files requested now. `rest_of_page` says that they
    /// complete the page.
    fn is_last(&self, rest_of_page: bool) -> bool {
        let (Fetch::Single { lasts, .. } | Fetch::Fan { lasts }) = self.spec.fetch else { return true };
        rest_of_page && (lasts == Lasts::Page || self.spec.pages.is_some_and(|pages| self.begun >= pages))
    }

    /// A file is complete, but its page is not.
    fn go_on(&mut self, now: Time, number: u32, actions: &mut Vec<SessionAction>) {
        let Some(page) = &mut self.page else { return };
        let room = match self.spec.fetch {
            Fetch::Parallel { limit } => {
                let busy = self.calls.iter().filter(|call| !call.files.is_empty()).count();
                limit.map_or(usize::MAX, |limit| (limit as usize).saturating_sub(busy))
            }
            Fetch::Fan { .. } => 0,
            Fetch::Single { order: Order::Pipelined, .. } => usize::MAX,
            Fetch::Single { .. } => usize::from(self.calls.iter().all(|call| call.files.is_empty())),
        };
        let room = room.min(page.waiting.len());
        let mut next: VecDeque<File> = page.waiting.drain(..room).collect();
        next.iter_mut().for_each(|file| file.asked = now);
        let nothing_behind = page.waiting.is_empty();
        match self.spec.fetch {
            Fetch::Parallel { .. } => {
                next.into_iter().for_each(|file| self.open(VecDeque::from([file]), true, actions));
            }
            Fetch::Fan { .. } => {}
            Fetch::Single { .. } if next.is_empty() => {}
            Fetch::Single { .. } => {
                debug_assert!(self.calls.iter().any(|call| call.number == number), "it is not closed");
                self.ask(next, self.is_last(nothing_behind), actions);
            }
        }
    }

    /// Requests files over the connection that is open, or over a new one.
    fn ask(&mut self, files: VecDeque<File>, last: bool, actions: &mut Vec<SessionAction>) {
        let Some(call) = self.calls.last_mut() else { return self.open(files, last, actions) };
        call.last = last;
        actions.push(SessionAction::Ask(call.number, files.len() as u32));
        call.files.extend(files);
    }

    fn open(&mut self, files: VecDeque<File>, last: bool, actions: &mut Vec<SessionAction>) {
        let number = self.tally.connections;
        self.tally.connections += 1;
        if let Some(page) = &mut self.page {
            page.connections += 1;
        }
        self.calls.push(Call { number, place: None, files, received: 0, last, seen: [0; 2] });
        actions.push(SessionAction::Open(number));
    }

    fn end_page(&mut self, now: Time, actions: &mut Vec<SessionAction>) -> Option<PageFetched> {
        let page = self.page.take()?;
        self.tally.page(now - page.began);
        let fetched = PageFetched {
            flow: self.flow,
            page: self.begun - 1,
            asked: page.began,
            done: now,
            files: page.files,
            bytes: page.bytes,
            connections: page.connections,
            retransmitted: page.retransmitted,
            timeouts: page.timeouts,
        };
        let last = self.spec.pages.is_some_and(|pages| self.begun >= pages);
        let (took, bytes) = (now.since(page.began), page.bytes);
        let waits = self.player.as_mut().map(|player| player.fetched(now, took, bytes, last));
        if last {
            self.done = now;
        } else {
            self.due = now + waits.unwrap_or_else(|| self.spec.think.draw_span(&mut self.streams.think));
            self.wake(now, actions);
        }
        Some(fetched)
    }
}
