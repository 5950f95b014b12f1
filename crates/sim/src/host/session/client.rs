//! The head of a client: what it fetches next, over which connection.

use super::arrivals::{ArrivalTally, Arrivals};
use super::player::{Player, VideoTally};
use super::spec::{Closes, Fetch, Lasts, Order, SessionSpec};
use super::tally::Tally;
use crate::random::Stream;
use crate::record::probe::PageFetched;
use netspurt_tcp::stats::Stats;
use netspurt_tcp::time::Time;
use std::collections::VecDeque;
use std::sync::Arc;

/// A file to be fetched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct File {
    pub(crate) request: u64,
    pub(crate) reply: u64,
    /// For how many files of the page it stands.
    stands_for: u32,
    asked: Time,
}

/// A connection, as its session sees it.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// Its number in the session.
    pub(crate) number: u32,
    /// The client's place, once it is there.
    pub(crate) place: Option<u32>,
    /// What was asked for over it and is not there, in order.
    pub(crate) files: VecDeque<File>,
    /// Bytes received when all that has come so far had come.
    received: u64,
    /// Nothing more will be asked for over it.
    pub(crate) last: bool,
    /// What was counted on it when its session last looked: retransmissions and timeouts.
    seen: [u32; 2],
}

impl Call {
    /// How much has been received when the next file is there, if one is to come.
    pub(crate) fn next_there(&self) -> Option<u64> {
        self.files.front().map(|file| self.received + file.reply)
    }
}

/// What a session wants to be done, to a connection by its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Errand {
    /// Open it, and ask for its files.
    Open(u32),
    /// Ask for its last so many files.
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
    /// Files that have not been asked for.
    waiting: VecDeque<File>,
}

/// What a client draws, each from a stream of its own, so that what it fetches does not depend on how.
#[derive(Clone, Debug)]
struct Streams {
    files: Stream,
    sizes: Stream,
    requests: Stream,
    think: Stream,
}

/// The head of a client.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    flow: u32,
    spec: Arc<SessionSpec>,
    streams: Streams,
    /// When it wants to be woken.
    due: Time,
    /// When it has said so.
    armed: Time,
    /// Pages begun.
    begun: u64,
    page: Option<Page>,
    /// Connections over which something is, or may be, still to come.
    calls: Vec<Call>,
    /// Connections that could not be opened for want of a port.
    put_off: Vec<u32>,
    /// When all its pages were there.
    done: Time,
    /// The player of its video, once it has asked for the first segment.
    player: Option<Box<Player>>,
    /// When its transfers arrive, if they do in an open loop.
    arrivals: Option<Box<Arrivals>>,
    pub(crate) tally: Tally,
}

impl Session {
    /// The client of the flow of this number and name, which starts at `now`.
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
            put_off: Vec::new(),
            done: Time::NEVER,
            player: None,
            arrivals,
            tally: Tally::default(),
        }
    }

    /// What it is to do.
    pub(crate) fn spec(&self) -> &Arc<SessionSpec> {
        &self.spec
    }

    /// When it wants to be woken, if it has not said so.
    pub(crate) fn arm(&mut self) -> Option<Time> {
        let new = self.due != self.armed && !self.due.is_never();
        self.armed = self.due;
        new.then_some(self.due)
    }

    /// When all its pages were there; [`Time::NEVER`] if they are not.
    pub(crate) const fn done(&self) -> Time {
        self.done
    }

    /// What came of its video until `end`, if it plays one.
    pub(crate) fn video(&self, end: Time) -> Option<VideoTally> {
        self.spec.video.as_ref()?;
        Some(self.player.as_ref().map_or_else(VideoTally::default, |player| player.result(end)))
    }

    /// What came of its transfers, if they arrive in an open loop.
    pub(crate) fn arrivals(&self) -> Option<&ArrivalTally> {
        self.arrivals.as_ref().map(|arrivals| arrivals.tally())
    }

    /// A connection by its number.
    pub(crate) fn call(&mut self, number: u32) -> Option<&mut Call> {
        let position = self.position(number)?;
        self.calls.get_mut(position)
    }

    /// Where a connection stands among those that are open, which are in the order of their numbers.
    fn position(&self, number: u32) -> Option<usize> {
        self.calls.binary_search_by_key(&number, |call| call.number).ok()
    }

    /// Its time has come, if it has.
    pub(crate) fn wake(&mut self, now: Time, errands: &mut Vec<Errand>) {
        if now < self.due {
            return;
        }
        self.due = Time::NEVER;
        errands.extend(self.put_off.drain(..).map(Errand::Open));
        if self.arrivals.is_some() {
            return self.arrive(now, errands);
        }
        if self.page.is_none() && self.done.is_never() {
            self.begin_page(now, errands);
        }
    }

    /// There was no port for this connection: it tries again.
    pub(crate) fn put_off(&mut self, number: u32, until: Time) {
        self.tally.port_waits += 1;
        self.put_off.push(number);
        self.due = self.due.min(until);
    }

    /// So much has been received over a connection in all, and so much was counted at its ends. Returns a page if this was
    /// the last of it.
    pub(crate) fn heard(
        &mut self,
        now: Time,
        number: u32,
        (received, counted): (u64, [Stats; 2]),
        errands: &mut Vec<Errand>,
    ) -> Option<PageFetched> {
        self.count(number, &counted);
        if self.arrivals.is_some() {
            return self.heard_arrival(now, number, received, errands);
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
                errands.push(Errand::Close(number));
            }
            self.calls.remove(position);
        }
        if page.there == before {
            return None;
        }
        if page.there < page.files {
            self.go_on(now, number, errands);
            return None;
        }
        self.end_page(now, errands)
    }

    /// A connection is over. What did not come over it is asked for again, over a new one.
    pub(crate) fn lost(&mut self, number: u32, counted: [Stats; 2], errands: &mut Vec<Errand>) {
        self.count(number, &counted);
        let Some(position) = self.position(number) else { return };
        let call = self.calls.remove(position);
        if !call.files.is_empty() {
            self.tally.broken += 1;
            self.open(call.files, call.last, errands);
        }
    }

    /// What was counted on a connection since its session last looked is the page's that is under way.
    fn count(&mut self, number: u32, counted: &[Stats; 2]) {
        let Some(position) = self.position(number) else { return };
        let call = &mut self.calls[position];
        let [client, server] = counted;
        let all = [client.retransmitted + server.retransmitted, client.timeouts + server.timeouts];
        if let Some(page) = &mut self.page {
            page.retransmitted += all[0] - call.seen[0];
            page.timeouts += all[1] - call.seen[1];
        } else if self.arrivals.is_none() {
            return;
        }
        call.seen = all;
    }

    /// Transfers whose time has come arrive.
    fn arrive(&mut self, now: Time, errands: &mut Vec<Errand>) {
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
            self.open(VecDeque::from([file]), true, errands);
        }
        self.due = self.arrivals.as_ref().map_or(Time::NEVER, |arrivals| arrivals.next());
    }

    /// So much has been received over the connection of a transfer that arrived. Returns it if it is complete.
    fn heard_arrival(
        &mut self,
        now: Time,
        number: u32,
        received: u64,
        errands: &mut Vec<Errand>,
    ) -> Option<PageFetched> {
        let position = self.position(number)?;
        let file = self.calls[position].files.front().filter(|file| file.reply <= received).copied()?;
        let [retransmitted, timeouts] = self.calls.remove(position).seen;
        if self.spec.closes == Closes::Client {
            errands.push(Errand::Close(number));
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

    fn begin_page(&mut self, now: Time, errands: &mut Vec<Errand>) {
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
            Fetch::Parallel { .. } => self.open(first, true, errands),
            Fetch::Fan { .. } => self.fan_out(first, errands),
            Fetch::Single { .. } => self.ask(first, self.is_last(nothing_behind), errands),
        }
    }

    /// Asks for each file over a connection of its own: over those that are there, and over new ones.
    fn fan_out(&mut self, files: VecDeque<File>, errands: &mut Vec<Errand>) {
        let last = self.is_last(true);
        let there = self.calls.len();
        for (position, file) in files.into_iter().enumerate() {
            if position >= there {
                self.open(VecDeque::from([file]), last, errands);
                continue;
            }
            let call = &mut self.calls[position];
            call.last = last;
            call.files.push_back(file);
            errands.push(Errand::Ask(call.number, 1));
        }
    }

    /// Whether a connection that several files share has nothing to do behind what is asked for now, which is, or is not,
    /// the rest of its page.
    fn is_last(&self, rest_of_page: bool) -> bool {
        let (Fetch::Single { lasts, .. } | Fetch::Fan { lasts }) = self.spec.fetch else { return true };
        rest_of_page && (lasts == Lasts::Page || self.spec.pages.is_some_and(|pages| self.begun >= pages))
    }

    /// A file is there, and the page is not.
    fn go_on(&mut self, now: Time, number: u32, errands: &mut Vec<Errand>) {
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
                next.into_iter().for_each(|file| self.open(VecDeque::from([file]), true, errands));
            }
            Fetch::Fan { .. } => {}
            Fetch::Single { .. } if next.is_empty() => {}
            Fetch::Single { .. } => {
                debug_assert!(self.calls.iter().any(|call| call.number == number), "it is not closed");
                self.ask(next, self.is_last(nothing_behind), errands);
            }
        }
    }

    /// Asks over the connection that there is, or over a new one.
    fn ask(&mut self, files: VecDeque<File>, last: bool, errands: &mut Vec<Errand>) {
        let Some(call) = self.calls.last_mut() else { return self.open(files, last, errands) };
        call.last = last;
        errands.push(Errand::Ask(call.number, files.len() as u32));
        call.files.extend(files);
    }

    fn open(&mut self, files: VecDeque<File>, last: bool, errands: &mut Vec<Errand>) {
        let number = self.tally.connections;
        self.tally.connections += 1;
        if let Some(page) = &mut self.page {
            page.connections += 1;
        }
        self.calls.push(Call { number, place: None, files, received: 0, last, seen: [0; 2] });
        errands.push(Errand::Open(number));
    }

    fn end_page(&mut self, now: Time, errands: &mut Vec<Errand>) -> Option<PageFetched> {
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
            self.wake(now, errands);
        }
        Some(fetched)
    }
}
