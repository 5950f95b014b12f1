//! Requests and their responses on one connection.
//!
//! A new request begins when the client writes after it has received all that the server has written since the request
//! before. Requests that do not wait for that, as in pipelining, belong to one exchange.

use crate::record::end::End;
use netspurt_tcp::time::Time;

/// Maximum number of exchanges of a connection; the last one contains all later ones.
const MOST: usize = 1 << 12;

/// A request and its response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exchange {
    /// When the client wrote it; the first one begins with the connection.
    pub from: Time,
    /// When the server began to answer.
    pub answered: Option<Time>,
    /// When data of either side was acknowledged last.
    pub until: Time,
    /// Bytes that the client and the server have written for it.
    pub bytes: [u64; 2],
}

/// What one end knows when it is served.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    pub(super) written: u64,
    pub(super) acknowledged: u64,
    pub(super) received: u64,
}

/// The exchanges of one connection.
#[derive(Debug, Default)]
pub(super) struct ExchangeLog {
    done: Vec<Exchange>,
    now: Option<Exchange>,
    /// Bytes written and acknowledged by client and server.
    written: [u64; 2],
    acknowledged: [u64; 2],
}

impl ExchangeLog {
    /// An end was served at `now`.
    pub(super) fn served(&mut self, now: Time, end: End, progress: Progress) {
        let side = end as usize;
        let exchange =
            self.now.get_or_insert(Exchange { from: now, answered: None, until: now, bytes: [0; 2] });
        if progress.acknowledged > self.acknowledged[side] {
            self.acknowledged[side] = progress.acknowledged;
            exchange.until = now;
        }
        let Some(fresh) = progress.written.checked_sub(self.written[side]).filter(|&fresh| fresh > 0) else {
            return;
        };
        self.written[side] = progress.written;
        let is_next = end == End::Client
            && exchange.answered.is_some()
            && progress.received >= self.written[1]
            && self.done.len() + 1 < MOST;
        if is_next {
            self.done.push(*exchange);
            *exchange = Exchange { from: now, answered: None, until: now, bytes: [0; 2] };
        }
        if end == End::Server {
            exchange.answered.get_or_insert(now);
        }
        exchange.bytes[side] += fresh;
    }

    /// All exchanges; none if there are fewer than two.
    pub(super) fn finish(self) -> Vec<Exchange> {
        let mut all = self.done;
        all.extend(self.now);
        if all.len() < 2 { Vec::new() } else { all }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ends served in order: time in microseconds, the end, bytes written, acknowledged, received.
    fn exchanges(served: &[(u64, End, [u64; 3])]) -> Vec<Exchange> {
        let mut log = ExchangeLog::default();
        for &(at, end, [written, acknowledged, received]) in served {
            log.served(Time::from_ps(at), end, Progress { written, acknowledged, received });
        }
        log.finish()
    }

    #[test]
    fn a_request_after_the_whole_response_begins_a_new_exchange() {
        let found = exchanges(&[
            (0, End::Client, [0, 0, 0]),
            (10, End::Client, [100, 0, 0]),
            (20, End::Server, [5000, 0, 100]),
            (30, End::Client, [100, 100, 5000]),
            (40, End::Server, [5000, 5000, 100]),
            (90, End::Client, [300, 100, 5000]),
            (95, End::Server, [7000, 5000, 300]),
            (99, End::Server, [7000, 7000, 300]),
        ]);
        let times: Vec<u64> = found.iter().map(|each| each.from.as_ps()).collect();
        assert_eq!(times, [0, 90]);
        assert_eq!(found[0].bytes, [100, 5000]);
        assert_eq!(found[1].bytes, [200, 2000]);
        assert_eq!([found[0].until, found[1].until].map(Time::as_ps), [40, 99]);
        assert_eq!(found[1].answered.map(Time::as_ps), Some(95));
    }

    #[test]
    fn a_request_before_the_end_of_the_response_belongs_to_the_same_exchange() {
        let found = exchanges(&[
            (10, End::Client, [100, 0, 0]),
            (20, End::Server, [5000, 0, 100]),
            (30, End::Client, [200, 100, 4000]),
        ]);
        assert!(found.is_empty());
    }
}
