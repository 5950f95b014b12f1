//! The ports that a client uses towards one server, and which of them are in TIME-WAIT.
//!
//! A connection takes the next free port of the range (RFC 6056, section 3.3.3: one counter for each server, starting at a
//! secret offset). The end that closed first keeps the pair of sockets in TIME-WAIT for 2·MSL.
//!
//! If that end is the client, the port stays in use meanwhile, unless [`Reuse::ByTimestamp`] allows it again for a later
//! timestamp. If it is the server, the client does not know of it and takes the port. The server accepts the SYN if its
//! sequence number or timestamp is beyond the last one seen (RFC 6191). Initial sequence numbers that follow a clock (RFC
//! 6528) nearly always are. If the SYN is not acceptable, a real client would receive an ACK, answer it with RST and try
//! again; here it takes the next port at once.
//!
//! A [`TimeWait`] of about twenty bytes is kept for each end, instead of a connection. Ports are used in order, so those that
//! are held lie close together: they are kept in a ring, in which each is found by its distance from the first.

use netspurt_tcp::TimeWait;
use netspurt_tcp::seq::Seq;
use netspurt_tcp::time::{Span, Time};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Time until a program that found no port tries again, if the time at which one becomes free is unknown.
const RETRY_AFTER: Span = Span::from_secs(1);

/// A range of ports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PortRange {
    /// The first.
    pub first: u16,
    /// The last.
    pub last: u16,
}

impl Default for PortRange {
    /// The dynamic ports (RFC 6335, section 6).
    fn default() -> Self {
        Self { first: 49_152, last: 65_535 }
    }
}

impl PortRange {
    fn len(self) -> usize {
        usize::from(self.last.saturating_sub(self.first)) + 1
    }
}

/// When a client may use a port again that is in TIME-WAIT at the client.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Reuse {
    /// Only when 2·MSL are over.
    #[default]
    Never,
    /// As soon as its timestamp clock has advanced (RFC 6191, section 2; Linux `tcp_tw_reuse`).
    ByTimestamp,
}

/// The least time between two uses of a port with [`Reuse::ByTimestamp`] (Linux: the clock must have advanced by one
/// second).
const LATER: Span = Span::from_secs(1);

/// Why a port is not available.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Held {
    /// A connection uses it.
    Live,
    /// It is in TIME-WAIT, at the client, at the server, or at both.
    Waiting {
        /// When TIME-WAIT began.
        since: Time,
        /// When TIME-WAIT ends at the client.
        client: Option<Time>,
        /// The TIME-WAIT state of the server.
        server: Option<TimeWait>,
    },
}

impl Held {
    /// When the client may use the port again: at the end of its TIME-WAIT, or, with timestamps, a short time after its
    /// start.
    fn rested(&self, by_clock: bool) -> Option<Time> {
        match self {
            Self::Waiting { since, .. } if by_clock => Some(*since + LATER),
            _ => self.end(),
        }
    }

    /// When TIME-WAIT is over at both ends.
    fn end(&self) -> Option<Time> {
        match self {
            Self::Live => None,
            Self::Waiting { client, server, .. } => {
                (*client).max(server.as_ref().map(|waiting| waiting.until))
            }
        }
    }
}

/// The ports of a client towards one server.
#[derive(Debug)]
pub(crate) struct Ports {
    range: PortRange,
    reuse: Reuse,
    next: u16,
    /// The ports before `next`, the last of them last. The first one is held, and a free one is `None`.
    held: VecDeque<Option<Held>>,
    /// When TIME-WAIT ends, for each port in it. A port that was taken before that has an entry that is out of date.
    ends: BinaryHeap<Reverse<(Time, u16)>>,
}

impl Ports {
    /// The ports of `range`, starting at this offset.
    pub(crate) fn new(range: PortRange, reuse: Reuse, offset: u64) -> Self {
        let next = range.first + (offset % range.len() as u64) as u16;
        Self { range, reuse, next, held: VecDeque::new(), ends: BinaryHeap::new() }
    }

    /// Takes a port for a new connection. `iss` returns the sequence number of its SYN, and the timestamp is that of the
    /// SYN.
    ///
    /// # Errors
    /// No port is free; the error is the time at which to try again.
    pub(crate) fn take(
        &mut self,
        now: Time,
        iss: impl Fn(u16) -> Seq,
        timestamp: Option<u32>,
    ) -> Result<u16, Time> {
        self.forget(now);
        for _ in 0..self.range.len() {
            let port = self.next;
            self.next = if port >= self.range.last { self.range.first } else { port + 1 };
            let held = self.advance();
            if held.is_none_or(|held| self.may_be_taken(now, &held, || iss(port), timestamp)) {
                self.held.push_back(Some(Held::Live));
                return Ok(port);
            }
            self.held.push_back(held);
        }
        let by_clock = self.goes_by_clock(timestamp);
        let soonest = self.held.iter().flatten().filter_map(|held| held.rested(by_clock)).min();
        Err(soonest.filter(|&then| then > now).unwrap_or(now + RETRY_AFTER))
    }

    /// Whether a later timestamp is enough to use a port again that is in TIME-WAIT at the client.
    fn goes_by_clock(&self, timestamp: Option<u32>) -> bool {
        self.reuse == Reuse::ByTimestamp && timestamp.is_some()
    }

    /// The next port leaves the front of the ring, if it has come round.
    fn advance(&mut self) -> Option<Held> {
        if self.held.len() < self.range.len() {
            return None;
        }
        let first = self.held.pop_front().flatten();
        self.trim();
        first
    }

    /// Free ports leave the front of the ring.
    fn trim(&mut self) {
        while let Some(None) = self.held.front() {
            self.held.pop_front();
        }
    }

    /// The place of a port in the ring.
    fn place(&self, port: u16) -> Option<usize> {
        let [next, port, range] = [usize::from(self.next), usize::from(port), self.range.len()];
        let before_next = if port < next { next - port } else { next + range - port };
        self.held.len().checked_sub(before_next)
    }

    fn may_be_taken(&self, now: Time, held: &Held, iss: impl Fn() -> Seq, timestamp: Option<u32>) -> bool {
        match held {
            Held::Live => false,
            Held::Waiting { since, client, server } => {
                let by_clock = self.goes_by_clock(timestamp) && now - *since >= LATER;
                let client_lets = by_clock || client.is_none_or(|until| until <= now);
                client_lets
                    && server
                        .is_none_or(|waiting| waiting.until <= now || waiting.accepts_syn(iss(), timestamp))
            }
        }
    }

    /// The connection on `port` is over; these are the TIME-WAIT states of its client and its server.
    pub(crate) fn give_back(&mut self, now: Time, port: u16, [client, server]: [Option<TimeWait>; 2]) {
        let waiting = Held::Waiting { since: now, client: client.map(|waiting| waiting.until), server };
        let end = waiting.end();
        if let Some(place) = self.place(port) {
            self.held[place] = end.map(|_| waiting);
        }
        match end {
            Some(end) => self.ends.push(Reverse((end, port))),
            None => self.trim(),
        }
    }

    fn forget(&mut self, now: Time) {
        while self.ends.peek().is_some_and(|next| next.0.0 <= now)
            && let Some(Reverse((end, port))) = self.ends.pop()
        {
            // Not if the port was taken again.
            if let Some(place) = self.place(port)
                && self.held[place].is_some_and(|held| held.end() == Some(end))
            {
                self.held[place] = None;
                self.trim();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netspurt_tcp::Connection;
    use netspurt_tcp::segment::Segment;

    const RANGE: PortRange = PortRange { first: 10, last: 13 };

    fn at(seconds: u64) -> Time {
        Time::ZERO + Span::from_secs(seconds)
    }

    /// The TIME-WAIT state of a connection whose peer started at `irs`; it lasts from `since` for 240 s.
    fn time_wait(irs: Seq, since: Time) -> TimeWait {
        let config = crate::testing::config();
        let (mut a, mut b) = (Connection::new(config.clone(), Seq(7)), Connection::new(config, irs));
        a.open(since);
        b.open(since);
        let turn = |a: &mut Connection, b: &mut Connection| {
            let mut segment = Segment::default();
            while a.transmit_into(since, &mut segment).is_some() {
                b.handle_segment(since, &segment);
            }
        };
        let both = |a: &mut Connection, b: &mut Connection| {
            for _ in 0..6 {
                turn(a, b);
                turn(b, a);
            }
        };
        both(&mut a, &mut b);
        a.close(since);
        both(&mut a, &mut b);
        b.close(since);
        both(&mut a, &mut b);
        a.time_wait().expect("a closed first")
    }

    /// What [`Ports`] does, for ports that wait at the client only, written down plainly.
    struct Plain {
        next: u16,
        /// Until when each port is held.
        held: std::collections::BTreeMap<u16, Time>,
    }

    impl Plain {
        fn take(&mut self, now: Time) -> Option<u16> {
            for _ in RANGE.first..=RANGE.last {
                let port = self.next;
                self.next = if port == RANGE.last { RANGE.first } else { port + 1 };
                if self.held.get(&port).is_none_or(|&until| until <= now) {
                    self.held.insert(port, Time::NEVER);
                    return Some(port);
                }
            }
            None
        }
    }

    proptest::proptest! {
        #[test]
        fn ports_given_back_in_any_order_are_taken_in_the_order_of_their_numbers(
            steps in proptest::collection::vec((0..3u8, 0..4usize, proptest::bool::ANY, 0..200u64), 1..200),
        ) {
            let (mut ports, mut now) = (Ports::new(RANGE, Reuse::Never, 1), at(1));
            let mut plain = Plain { next: RANGE.first + 1, held: std::collections::BTreeMap::new() };
            let (mut live, mut waiting) = (Vec::new(), time_wait(Seq(100), at(1)));
            for (step, which, waits, pause) in steps {
                now += Span::from_secs(pause);
                if step > 0 {
                    let taken = ports.take(now, any, None).ok();
                    proptest::prop_assert_eq!(taken, plain.take(now));
                    live.extend(taken);
                } else if which < live.len() {
                    let port = live.remove(which);
                    waiting.until = now + Span::from_secs(240);
                    ports.give_back(now, port, [waits.then_some(waiting), None]);
                    plain.held.insert(port, if waits { waiting.until } else { now });
                }
                proptest::prop_assert!(ports.held.len() <= RANGE.len() && ports.held.front() != Some(&None));
            }
        }
    }

    fn any(_: u16) -> Seq {
        Seq(0)
    }

    #[test]
    fn ports_are_assigned_in_order_and_none_twice() {
        let mut ports = Ports::new(RANGE, Reuse::Never, 2);
        let taken: Vec<_> = (0..4).map(|_| ports.take(at(0), any, None)).collect();
        assert_eq!(taken, [Ok(12), Ok(13), Ok(10), Ok(11)]);
        assert_eq!(ports.take(at(5), any, None), Err(at(6)), "nothing says when one will be free");
        ports.give_back(at(6), 13, [None, None]);
        assert_eq!(ports.take(at(6), any, None), Ok(13));
    }

    #[test]
    fn a_port_in_the_clients_time_wait_is_not_taken_before_its_end() {
        let mut ports = Ports::new(PortRange { first: 10, last: 10 }, Reuse::Never, 0);
        assert_eq!(ports.take(at(0), any, Some(0)), Ok(10));
        let waiting = time_wait(Seq(100), at(1));
        assert_eq!(waiting.until, at(241));
        ports.give_back(at(1), 10, [Some(waiting), None]);
        assert_eq!(ports.take(at(240), any, Some(240_000)), Err(at(241)));
        assert_eq!(ports.take(at(241), any, Some(241_000)), Ok(10));
        assert!(ports.ends.is_empty() && ports.held.len() == 1);
    }

    #[test]
    fn a_clock_lets_it_be_taken_after_a_second() {
        let mut ports = Ports::new(PortRange { first: 10, last: 10 }, Reuse::ByTimestamp, 0);
        assert_eq!(ports.take(at(0), any, Some(0)), Ok(10));
        ports.give_back(at(1), 10, [Some(time_wait(Seq(100), at(1))), None]);
        assert_eq!(ports.take(at(1), any, Some(1000)), Err(at(2)));
        assert_eq!(ports.take(at(1), any, None), Err(at(241)), "without timestamps there is no clock");
        assert_eq!(ports.take(at(2), any, Some(2000)), Ok(10));
    }

    #[test]
    fn a_server_in_time_wait_admits_a_later_number_only() {
        let ports = || {
            let mut ports = Ports::new(RANGE, Reuse::Never, 0);
            assert_eq!(ports.take(at(0), any, None), Ok(10));
            ports.give_back(at(1), 10, [None, Some(time_wait(Seq(1000), at(1)))]);
            (0..3).for_each(|_| assert!(ports.take(at(1), any, None).is_ok()));
            ports
        };
        // SYN and FIN take one sequence number each.
        assert_eq!(ports().take(at(2), |_| Seq(1002), None), Ok(10));
        assert_eq!(ports().take(at(2), |_| Seq(1001), None), Err(at(241)));
        assert_eq!(ports().take(at(241), |_| Seq(1001), None), Ok(10));
    }
}
