//! The packet scheduler `fq`: it keeps each packet of several segments until the time that TCP has written on it
//! (`tcp_update_skb_after_send()`).

use netspurt_tcp::Connection;
use netspurt_tcp::time::{Span, Time};

/// Segments at the start of a connection that are not paced.
const UNPACED: u64 = 10;

/// The departure times of a connection's packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Schedule {
    /// The earliest departure of the next packet (`tcp_wstamp_ns`).
    next: Time,
    /// Segments with data so far.
    segments: u64,
}

impl Schedule {
    pub(crate) const fn new() -> Self {
        Self { next: Time::ZERO, segments: 0 }
    }

    /// When a packet of so many segments with `len` bytes leaves, that TCP sends now at this rate in bytes per second.
    pub(crate) fn departure(&mut self, now: Time, segments: u64, len: u64, rate: Option<u64>) -> Time {
        let at = self.next.max(now);
        let late = at - self.next;
        self.next = at;
        self.segments += segments;
        if let Some(rate) = rate.filter(|_| len > 0 && self.segments >= UNPACED) {
            let takes = len.saturating_mul(1_000_000_000) / rate.max(1);
            let forgiven = (takes / 2).min(late.as_ps() / 1000);
            self.next += Span::from_ps((takes - forgiven).saturating_mul(1000));
        }
        at
    }
}

/// The pacing rate in bytes per second, once there is an RTT sample (`tcp_update_pacing_rate()`).
pub(crate) fn rate(stream: &Connection) -> Option<u64> {
    let (cwnd, ssthresh) = (u64::from(stream.cwnd()), u64::from(stream.ssthresh()));
    let percent = if cwnd < ssthresh / 2 { 200 } else { 120 };
    let nanos = stream.srtt()?.as_ps() / 1000;
    let window = cwnd.max(stream.info().unacknowledged);
    Some(window.saturating_mul(percent * 10_000_000) / nanos.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    #[test]
    fn packets_behind_the_tenth_segment_leave_at_the_rate_and_a_late_one_makes_up_for_half() {
        let mut schedule = Schedule::new();
        let mut departs =
            |now, segments| schedule.departure(at(now), segments, segments * 1000, Some(1_000_000));
        assert_eq!(departs(100, 8), at(100));
        assert_eq!(departs(100, 2), at(100));
        assert_eq!(departs(100, 2), at(2100));
        assert_eq!(departs(9000, 2), at(9000));
        assert_eq!(departs(9000, 2), at(10_000), "half of two milliseconds are made up for");
        assert_eq!(departs(9000, 2), at(12_000));
    }
}
