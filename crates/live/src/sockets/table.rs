//! The sockets of a host over time: what each poll adds to their budgets. Without I/O.

use super::division::{Between, Shares, divide};
use super::info::{Clocks, TcpInfo};
use super::processes::Process;
use super::socket::Socket;
use super::window::WindowHistory;
use netspurt_budget::Limit;
use netspurt_tcp::time::{Span, Time};
use std::collections::BTreeMap;

/// `recent` covers between one and two of these.
const RECENT: Span = Span::from_secs(1);

/// The limits of time in which nothing waited to be sent or acknowledged. They fill what the kernel's clocks leave.
const IDLE: [Limit; 3] = [Limit::Handshake, Limit::Application, Limit::Teardown];

/// Bytes of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Volume {
    /// Sent and acknowledged.
    pub acked: u64,
    /// Received in order.
    pub received: u64,
    /// Sent again.
    pub retransmitted: u64,
}

impl Volume {
    const fn of(info: &TcpInfo) -> Self {
        Self { acked: info.bytes_acked, received: info.bytes_received, retransmitted: info.bytes_retrans }
    }

    const fn since(&self, earlier: &Self) -> Self {
        Self {
            acked: self.acked.saturating_sub(earlier.acked),
            received: self.received.saturating_sub(earlier.received),
            retransmitted: self.retransmitted.saturating_sub(earlier.retransmitted),
        }
    }

    const fn add(&mut self, other: &Self) {
        self.acked += other.acked;
        self.received += other.received;
        self.retransmitted += other.retransmitted;
    }
}

/// A time with its budget and its bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Account {
    /// How long it lasts.
    pub elapsed: Span,
    shares: Shares,
    /// What was carried.
    pub volume: Volume,
}

impl Account {
    fn add(&mut self, other: &Self) {
        self.elapsed += other.elapsed;
        self.shares.add(&other.shares);
        self.volume.add(&other.volume);
    }

    /// The budget. Its times add up to `elapsed`.
    ///
    /// The kernel's clocks tick once in some milliseconds, so that short times of theirs do not fit exactly.
    pub fn budget(&self) -> Shares {
        let idle: Span = IDLE.into_iter().fold(Span::ZERO, |sum, limit| sum + self.shares.of(limit));
        let busy = self.shares.total().saturating_sub(idle);
        let rest = self.elapsed.saturating_sub(busy);
        let mut fitted = Shares::default();
        let mut left = self.elapsed;
        for (limit, time) in self.shares.parts() {
            let scaled = if IDLE.contains(&limit) {
                time.scale(rest.as_ps(), idle.as_ps().max(1))
            } else if busy > self.elapsed {
                time.scale(self.elapsed.as_ps(), busy.as_ps())
            } else {
                time
            };
            fitted.give(limit, scaled.min(left));
            left = left.saturating_sub(scaled);
        }
        // What rounding leaves, and what no interval has covered.
        fitted.give(fitted.dominant().unwrap_or(Limit::Unknown), left);
        fitted
    }
}

/// Who owns a socket, as far as it is known.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Owner {
    /// Not looked for, or not found yet; how often it was looked for.
    #[default]
    Unknown,
    /// Looked for once without success.
    Sought,
    /// Not found: this user may not see it, or no process has it.
    Hidden,
    /// This process.
    Process(Process),
}

/// A socket that is or was watched.
#[derive(Clone, Debug)]
pub struct Tracked {
    /// Its number: 0 for the first that was seen.
    pub number: u64,
    /// As the last poll found it.
    pub socket: Socket,
    /// When it was seen first or, if it was opened later than the watch began, an estimate of that instant.
    pub first: Time,
    /// When it was seen last.
    pub last: Time,
    /// Since `first`.
    pub whole: Account,
    /// Its owner.
    pub owner: Owner,
    recent: [Account; 2],
    window: WindowHistory,
}

impl Tracked {
    fn new(number: u64, socket: Socket, now: Time) -> Self {
        let mut window = WindowHistory::default();
        window.learn(&socket.info, Span::ZERO, 0, Span::ZERO);
        Self {
            number,
            socket,
            first: now,
            last: now,
            whole: Account::default(),
            owner: Owner::default(),
            recent: [Account::default(); 2],
            window,
        }
    }

    /// One that was opened since the poll at `before`.
    fn opened(number: u64, socket: Socket, before: Time, now: Time) -> (Self, Account) {
        let busy = socket.info.clocks.unwrap_or_default().busy;
        let age = (now - before).scale(1, 2).max(busy).min(now - before);
        let mut tracked = Self::new(number, socket, now);
        let begun = before + (now - before).saturating_sub(age);
        (tracked.first, tracked.last) = (begun, begun);
        let info = TcpInfo { clocks: Some(Clocks::default()), ..TcpInfo::default() };
        tracked.socket.info = info;
        let account = tracked.update(socket, now);
        (tracked, account)
    }

    /// Takes in what a poll found. Returns the interval since the last one.
    fn update(&mut self, socket: Socket, now: Time) -> Account {
        let elapsed = now - self.last;
        let volume = Volume::of(&socket.info).since(&Volume::of(&self.socket.info));
        let limited = match (self.socket.info.clocks, socket.info.clocks) {
            (Some(then), Some(now)) => now.rwnd_limited.saturating_sub(then.rwnd_limited),
            _ => Span::ZERO,
        };
        self.window.learn(&socket.info, elapsed, volume.acked, limited);
        let between = Between { before: &self.socket, after: &socket, elapsed, window: &self.window };
        let account = Account { elapsed, shares: divide(between), volume };
        self.whole.add(&account);
        if self.recent[1].elapsed >= RECENT {
            self.recent = [self.recent[1], Account::default()];
        }
        self.recent[1].add(&account);
        (self.socket, self.last) = (socket, now);
        account
    }

    /// The last one or two seconds.
    pub fn recent(&self) -> Account {
        let mut both = self.recent[0];
        both.add(&self.recent[1]);
        both
    }

    /// The largest window of the peer so far, in bytes.
    pub const fn largest_window(&self) -> u32 {
        self.window.largest
    }
}

/// One interval of one socket.
#[derive(Clone, Debug)]
pub struct Row {
    /// The number of the socket.
    pub number: u64,
    /// Its begin.
    pub from: Time,
    /// The interval.
    pub account: Account,
    /// The socket at the end of the interval.
    pub socket: Socket,
}

/// The data that is kept of each interval.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Keep {
    /// Sums only.
    Sums,
    /// A row for each interval in which a socket was busy, received something or changed its state.
    Intervals,
}

/// The sockets of a host. For each poll call [`begin`](Self::begin), [`see`](Self::see) for each socket, then
/// [`end`](Self::end); times do not go back.
#[derive(Debug)]
pub(super) struct Table {
    keep: Keep,
    sockets: BTreeMap<u64, Tracked>,
    rows: Vec<Row>,
    ended: Vec<Tracked>,
    polls: u64,
    numbers: u64,
    opened: u64,
    before: Time,
    now: Time,
}

impl Table {
    pub(super) const fn new(keep: Keep) -> Self {
        Self {
            keep,
            sockets: BTreeMap::new(),
            rows: Vec::new(),
            ended: Vec::new(),
            polls: 0,
            numbers: 0,
            opened: 0,
            before: Time::ZERO,
            now: Time::ZERO,
        }
    }

    pub(super) const fn begin(&mut self, now: Time) {
        (self.before, self.now) = (self.now, now);
        self.polls += 1;
    }

    pub(super) fn see(&mut self, socket: Socket) {
        let now = self.now;
        let (number, from, account, changed) = match self.sockets.get_mut(&socket.cookie) {
            Some(tracked) if tracked.last == now => return,
            Some(tracked) => {
                let (from, changed) = (tracked.last, tracked.socket.state != socket.state);
                (tracked.number, from, tracked.update(socket, now), changed)
            }
            None => {
                let number = self.numbers;
                self.numbers += 1;
                let (tracked, account) = if self.polls == 1 {
                    (Tracked::new(number, socket, now), Account::default())
                } else {
                    self.opened += 1;
                    Tracked::opened(number, socket, self.before, now)
                };
                let from = tracked.first;
                self.sockets.insert(socket.cookie, tracked);
                (number, from, account, true)
            }
        };
        let moved = account.volume != Volume::default();
        let busy = socket.info.unacked > 0 || socket.info.notsent_bytes > 0;
        if self.keep == Keep::Intervals && account.elapsed > Span::ZERO && (changed || moved || busy) {
            self.rows.push(Row { number, from, account, socket });
        }
    }

    pub(super) fn end(&mut self) {
        let now = self.now;
        self.ended.extend(self.sockets.extract_if(.., |_, tracked| tracked.last < now).map(|(_, each)| each));
    }

    /// The sockets that exist, by cookie.
    pub(super) fn sockets(&self) -> impl Iterator<Item = &Tracked> {
        self.sockets.values()
    }

    pub(super) fn sockets_mut(&mut self) -> impl Iterator<Item = &mut Tracked> {
        self.sockets.values_mut()
    }

    pub(super) fn take_rows(&mut self) -> Vec<Row> {
        core::mem::take(&mut self.rows)
    }

    pub(super) fn take_ended(&mut self) -> Vec<Tracked> {
        core::mem::take(&mut self.ended)
    }

    /// Number of sockets that were seen, and of those that appeared after the first poll.
    pub(super) const fn seen(&self) -> (u64, u64) {
        (self.numbers, self.opened)
    }

    pub(super) const fn polls(&self) -> u64 {
        self.polls
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sockets::path_share::tests::sender;

    fn ms(n: u64) -> Span {
        Span::from_ms(n)
    }

    fn at(cookie: u64, busy: u64, acked: u64) -> Socket {
        let mut socket = sender();
        socket.cookie = cookie;
        socket.info.bytes_acked = acked;
        socket.info.clocks = Some(Clocks { busy: ms(busy), ..Clocks::default() });
        socket
    }

    fn poll(table: &mut Table, now: u64, sockets: &[Socket]) {
        table.begin(Time::ZERO + ms(now));
        sockets.iter().for_each(|&socket| table.see(socket));
        table.end();
    }

    #[test]
    fn a_budget_begins_with_the_first_poll_and_adds_up() {
        let mut table = Table::new(Keep::Sums);
        for number in 0..=10 {
            poll(&mut table, 1000 + 100 * number, &[at(1, 5000 + 40 * number, 10_000 * number)]);
        }
        let tracked = table.sockets().next().expect("one");
        let budget = tracked.whole.budget();
        assert_eq!((budget.of(Limit::Application), budget.of(Limit::CongestionWindow)), (ms(600), ms(400)));
        assert_eq!(budget.total(), tracked.last - tracked.first);
        assert_eq!((tracked.whole.volume.acked, tracked.whole.elapsed), (100_000, ms(1000)));
    }

    #[test]
    fn clocks_that_tick_coarsely_do_not_make_a_budget_longer_than_its_time() {
        let mut table = Table::new(Keep::Sums);
        // Busy all the time; the clock jumps by 0 or 200 ms.
        for number in 0..=10 {
            poll(&mut table, 100 * number, &[at(1, 200 * (number / 2), number)]);
        }
        let budget = table.sockets().next().expect("one").whole.budget();
        assert_eq!(budget.total(), ms(1000));
        assert_eq!(budget.of(Limit::CongestionWindow), ms(1000));
    }

    #[test]
    fn a_socket_that_is_opened_while_watching_counts_from_its_begin() {
        let mut table = Table::new(Keep::Sums);
        poll(&mut table, 0, &[]);
        poll(&mut table, 100, &[at(1, 80, 500)]);
        let tracked = table.sockets().next().expect("one");
        assert_eq!((tracked.first, tracked.whole.elapsed), (Time::ZERO + ms(20), ms(80)));
        assert_eq!(tracked.whole.volume.acked, 500);
        assert_eq!(table.seen(), (1, 1));
    }

    #[test]
    fn a_socket_missing_from_the_dump_has_ended() {
        let mut table = Table::new(Keep::Sums);
        poll(&mut table, 0, &[at(1, 0, 0), at(2, 0, 0)]);
        poll(&mut table, 100, &[at(2, 0, 0)]);
        let ended = table.take_ended();
        assert_eq!(ended.iter().map(|each| each.socket.cookie).collect::<Vec<_>>(), [1]);
        assert_eq!(table.sockets().count(), 1);
        assert!(table.take_ended().is_empty());
        // A cookie is used again only by another system; the number is another one anyway.
        poll(&mut table, 200, &[at(1, 0, 0), at(2, 0, 0)]);
        assert_eq!(table.sockets().map(|each| each.number).collect::<Vec<_>>(), [2, 1]);
    }

    #[test]
    fn only_intervals_with_something_in_them_are_rows() {
        let mut table = Table::new(Keep::Intervals);
        let mut idle = at(2, 0, 0);
        (idle.info.unacked, idle.info.notsent_bytes) = (0, 0);
        for number in 0..3 {
            poll(&mut table, 100 * number, &[at(1, 100 * number, number), idle]);
        }
        let rows = table.take_rows();
        assert_eq!(rows.iter().map(|row| row.number).collect::<Vec<_>>(), [0, 0]);
        assert_eq!(rows[1].from, Time::ZERO + ms(100));
    }

    #[test]
    fn recent_means_at_most_two_seconds() {
        let mut table = Table::new(Keep::Sums);
        for number in 0..100 {
            poll(&mut table, 100 * number, &[at(1, 0, 1000 * number)]);
        }
        let recent = table.sockets().next().expect("one").recent();
        assert!(recent.elapsed >= ms(900) && recent.elapsed <= ms(2000), "{:?}", recent.elapsed);
        assert_eq!(recent.volume.acked * 100, (recent.elapsed.as_secs_f64() * 1e6).round() as u64);
    }

    #[test]
    fn a_socket_that_a_dump_lists_twice_counts_once() {
        let mut table = Table::new(Keep::Sums);
        poll(&mut table, 0, &[at(1, 0, 0)]);
        poll(&mut table, 100, &[at(1, 100, 10), at(1, 100, 10)]);
        assert_eq!(table.sockets().next().expect("one").whole.volume.acked, 10);
    }
}
