//! Cuts a connection into transfers: a request of the client, and what the server sends for it.
//!
//! A new transfer begins when the client sends new data after it has acknowledged everything that the server has sent since
//! the last request. Requests that do not wait for that, as in pipelining, belong to one transfer.

use crate::conversation::Side;
use netspurt_budget::{Budget, Timeline};
use netspurt_tcp::time::{Span, Time};

/// Maximum number of transfers of a connection; the last one contains all later ones.
const MOST: usize = 1 << 12;
/// A response comes no sooner than a round trip to the server, or this share of it, since the least one was measured later.
const SHARE: f64 = 0.8;

/// A request and its response.
#[derive(Clone, PartialEq, Debug)]
pub struct Transfer {
    /// Its begin since the begin of the connection; the first one begins with the connection.
    pub from: Time,
    /// When its last data was acknowledged.
    pub until: Time,
    /// Payload bytes of the client and of the server.
    pub bytes: [u64; 2],
    /// Its first and its last packet with new data or an ACK of it.
    pub packets: (u64, u64),
    /// The limits of the client until the response began, then those of the server.
    pub budget: Budget,
}

/// A transfer as the packets show it. Times are nanoseconds since the begin of the connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Exchange {
    began: u64,
    /// When new data of the server was captured first; 0 if none was.
    answered: u64,
    /// When new data of either side, or an ACK of it, was captured last.
    ended: u64,
    packets: (u64, u64),
    /// Positions after the last byte of each side before it.
    before: [i64; 2],
}

/// The transfers of one connection.
#[derive(Debug, Default)]
pub(super) struct Exchanges {
    done: Vec<Exchange>,
    now: Exchange,
    /// Positions after the last byte that each side has sent, and below which all of it is acknowledged.
    next: [i64; 2],
    una: [i64; 2],
    started: bool,
}

impl Exchanges {
    /// `side` acknowledges everything below `ack`.
    pub(super) fn note_ack(&mut self, at: u64, packet: u64, side: Side, ack: i64) {
        let of = 1 - side as usize;
        if ack > self.una[of] {
            self.una[of] = ack;
            if self.started {
                (self.now.ended, self.now.packets.1) = (at, packet);
            }
        }
    }

    /// `side` sends the data `start..end`.
    pub(super) fn note_data(&mut self, at: u64, packet: u64, side: Side, (start, end): (i64, i64)) {
        let from = side as usize;
        if !self.started {
            self.started = true;
            self.now.packets.0 = packet;
        }
        if self.next[from] == 0 {
            // Of a connection that began before the capture, earlier data was not seen.
            (self.next[from], self.now.before[from]) = (start, start);
            self.una[from] = self.una[from].max(start);
        }
        if end <= self.next[from] {
            return;
        }
        let answered = self.now.answered > 0 && self.una[1] >= self.next[1];
        if side == Side::A && answered && self.done.len() + 1 < MOST {
            self.done.push(self.now);
            self.now =
                Exchange { began: at, packets: (packet, packet), before: self.next, ..Exchange::default() };
        }
        if side == Side::B && self.now.answered == 0 {
            self.now.answered = at.max(1);
        }
        self.next[from] = end;
        (self.now.ended, self.now.packets.1) = (at, packet);
    }

    /// The transfers, if there are two or more: `round` is the least round trip from here to the server in nanoseconds.
    pub(super) fn finish(mut self, round: u64, timelines: [&Timeline; 2]) -> Vec<Transfer> {
        self.done.push(self.now);
        let least = (round as f64 * SHARE) as u64;
        let mut all: Vec<Exchange> = Vec::with_capacity(self.done.len());
        for next in self.done {
            match all.last_mut() {
                // What the server sends so soon was on its way before: this was no request.
                Some(last) if next.answered > 0 && next.answered - next.began < least => {
                    (last.ended, last.packets.1) = (next.ended, next.packets.1);
                }
                _ => all.push(next),
            }
        }
        if all.len() < 2 {
            return Vec::new();
        }
        let ends = all.iter().skip(1).map(|next| next.before).chain([self.next]);
        all.iter().zip(ends).map(|(exchange, after)| exchange.transfer(after, timelines)).collect()
    }
}

impl Exchange {
    /// The transfer, with the positions after it.
    fn transfer(&self, after: [i64; 2], [client, server]: [&Timeline; 2]) -> Transfer {
        let time = |ns: u64| Time::ZERO + Span::from_ns(ns);
        let (from, until) = (time(self.began), time(self.ended));
        // The client's limits count until the response begins; its own end with the last ACK of its data.
        let turn = if self.answered > 0 { time(self.answered).min(client.end().max(from)) } else { until };
        let mut limits = client.between(from, turn);
        limits.append(&server.between(turn, until));
        let bytes = [0, 1].map(|side| (after[side] - self.before[side]).max(0).cast_unsigned());
        Transfer { from, until, bytes, packets: self.packets, budget: Budget::of(&limits) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netspurt_budget::Limit;

    fn timeline(parts: &[(u64, Limit)]) -> Timeline {
        let mut timeline = Timeline::default();
        for &(until, limit) in parts {
            timeline.extend(Time::ZERO + Span::from_ns(until), limit);
        }
        timeline
    }

    /// Two requests of 100 bytes with responses of 1000 and 3000 bytes, captured at the server.
    fn two_requests() -> Exchanges {
        let mut exchanges = Exchanges::default();
        exchanges.note_data(40, 4, Side::A, (1, 101));
        exchanges.note_data(50, 5, Side::B, (1, 1001));
        exchanges.note_ack(90, 6, Side::A, 1001);
        exchanges.note_data(200, 7, Side::A, (101, 201));
        exchanges.note_data(230, 8, Side::B, (1001, 4001));
        exchanges.note_ack(270, 9, Side::A, 4001);
        exchanges
    }

    #[test]
    fn each_request_begins_a_transfer_with_limits_of_both_sides() {
        let client = timeline(&[(40, Limit::Handshake), (200, Limit::Application), (230, Limit::RoundTrip)]);
        let server = timeline(&[(50, Limit::Application), (230, Limit::SlowStart), (270, Limit::Bottleneck)]);
        let transfers = two_requests().finish(0, [&client, &server]);
        let seen: Vec<_> = transfers.iter().map(|each| (each.bytes, each.packets)).collect();
        assert_eq!(seen, [([100, 1000], (4, 6)), ([100, 3000], (7, 9))]);
        let budget = |index: usize| {
            let lines = transfers[index].budget.lines().iter();
            lines.map(|line| (line.limit, line.time.as_ps() / 1000)).collect::<Vec<_>>()
        };
        assert_eq!(budget(0), [(Limit::Handshake, 40), (Limit::SlowStart, 40), (Limit::Application, 10)]);
        assert_eq!(budget(1), [(Limit::Bottleneck, 40), (Limit::RoundTrip, 30)]);
    }

    #[test]
    fn one_request_is_the_whole_connection() {
        let mut exchanges = Exchanges::default();
        exchanges.note_data(40, 4, Side::A, (1, 101));
        exchanges.note_data(50, 5, Side::B, (1, 1001));
        let none = Timeline::default();
        assert!(exchanges.finish(0, [&none, &none]).is_empty());
    }

    #[test]
    fn data_of_the_client_during_a_response_is_no_request() {
        let mut exchanges = two_requests();
        exchanges.note_data(300, 10, Side::B, (4001, 5001));
        // At the server: not everything is acknowledged.
        exchanges.note_data(310, 11, Side::A, (201, 214));
        exchanges.note_ack(340, 12, Side::A, 5001);
        // At the client: everything is, but more arrives before a response can.
        exchanges.note_data(350, 13, Side::A, (214, 227));
        exchanges.note_data(360, 14, Side::B, (5001, 6001));
        let none = Timeline::default();
        let transfers = exchanges.finish(30, [&none, &none]);
        assert_eq!(transfers.len(), 2);
        assert_eq!(transfers[1].bytes, [126, 5000]);
    }

    #[test]
    fn a_connection_of_many_requests_needs_bounded_memory() {
        let mut exchanges = Exchanges::default();
        for n in 0..10_000_u32 {
            let (at, n) = (u64::from(n) * 100 + 1, i64::from(n));
            exchanges.note_data(at, 1, Side::A, (n * 10 + 1, n * 10 + 11));
            exchanges.note_data(at + 50, 2, Side::B, (n * 10 + 1, n * 10 + 11));
            exchanges.note_ack(at + 60, 3, Side::A, n * 10 + 11);
        }
        let none = Timeline::default();
        let transfers = exchanges.finish(0, [&none, &none]);
        assert_eq!(transfers.len(), MOST);
        assert_eq!(transfers.iter().map(|each| each.bytes[1]).sum::<u64>(), 100_000);
    }
}
