//! Pacing: segments, or short bursts of them, are sent at a rate, not as ACKs permit them (Linux, `tcp_output.c`,
//! `tcp_pacing_check()` and `tcp_update_skb_after_send()`; draft-ietf-ccwg-bbr, section "Pacing Rate").

use crate::time::{Span, Time};

/// The number of data segments at the start of a connection that are not paced. Linux does not pace the first window,
/// like its packet scheduler `fq`.
const UNPACED: u8 = 10;

/// The least number of segments that a host hands over together, if it may (Linux, `net.ipv4.tcp_min_tso_segs`).
pub(crate) const LEAST_BURST: u64 = 2;

/// No pacing.
pub(crate) const UNLIMITED: u64 = u64::MAX;

/// The state of pacing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Pacer {
    /// Bytes of data per second.
    rate: u64,
    /// The earliest departure time of the next data segment. ACKs without data are not paced.
    next: Time,
    /// The number of segments sent, up to [`UNPACED`].
    sent: u8,
    /// The end of the present burst, for all of which the next one waits.
    burst_end: u64,
}

impl Pacer {
    /// The initial state without a rate.
    pub(crate) const fn new() -> Self {
        Self { rate: UNLIMITED, next: Time::ZERO, sent: 0, burst_end: 0 }
    }

    /// The rate in bytes per second; [`UNLIMITED`] if none is set.
    pub(crate) fn rate(&self) -> u64 {
        self.rate
    }

    /// Sets the rate. It does not affect segments that were already sent.
    pub(crate) fn set_rate(&mut self, bytes_per_second: u64) {
        self.rate = bytes_per_second.max(1);
    }

    /// The earliest departure time of the next segment.
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// The end of the last burst.
    pub(crate) fn burst_end(&self) -> u64 {
        self.burst_end
    }

    /// Records the start of a burst up to `end`, of `len` bytes in so many segments.
    pub(crate) fn begin_burst(&mut self, now: Time, end: u64, (len, segments): (u64, u64)) {
        self.burst_end = end;
        self.sent(now, len, segments);
    }

    /// Records the transmission of `len` bytes in so many segments. The next segment waits for the time that these bytes take at
    /// the rate. If these were late, up to half of that time is deducted.
    pub(crate) fn sent(&mut self, now: Time, len: u64, segments: u64) {
        let late = now - self.next;
        self.next = self.next.max(now);
        self.sent = self.sent.saturating_add(u8::try_from(segments).unwrap_or(u8::MAX));
        if self.sent < UNPACED || self.rate == UNLIMITED {
            return;
        }
        let takes = duration(len, self.rate);
        let forgiven = late.min(Span::from_ps(takes.as_ps() / 2));
        self.next += takes.saturating_sub(forgiven);
    }
}

/// The time that `bytes` take at a rate in bytes per second, rounded up.
pub(crate) fn duration(bytes: u64, rate: u64) -> Span {
    let ps = (u128::from(bytes) * u128::from(PS_PER_SECOND)).div_ceil(u128::from(rate.max(1)));
    Span::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
}

/// The rate of `bytes` in a span, in bytes per second, rounded down.
pub(crate) fn rate(bytes: u64, span: Span) -> u64 {
    let per_second = u128::from(bytes) * u128::from(PS_PER_SECOND) / u128::from(span.as_ps().max(1));
    u64::try_from(per_second).unwrap_or(u64::MAX)
}

/// The bytes of a span at a rate in bytes per second, rounded down.
pub(crate) fn volume(rate: u64, span: Span) -> u64 {
    let bytes = u128::from(rate) * u128::from(span.as_ps()) / u128::from(PS_PER_SECOND);
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

const PS_PER_SECOND: u64 = 1_000_000_000_000;

/// The rate for a congestion control without a pacing rate: two windows per RTT in slow start, otherwise 1.2 windows
/// (Linux, `tcp_update_pacing_rate()` with `tcp_pacing_ss_ratio` = 200 and `tcp_pacing_ca_ratio` = 120). For pacing,
/// slow start ends at half of ssthresh.
pub(crate) fn by_window(cwnd: u32, ssthresh: u32, outstanding: u64, srtt: Option<Span>) -> u64 {
    let Some(srtt) = srtt else { return UNLIMITED };
    let percent = if cwnd < ssthresh / 2 { 200 } else { 120 };
    rate(u64::from(cwnd).max(outstanding).saturating_mul(percent), srtt) / 100
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    /// One that is past its first window, at 1 MB/s.
    fn pacer() -> Pacer {
        let mut pacer = Pacer::new();
        (0..UNPACED - 1).for_each(|_| pacer.sent(at(0), 1000, 1));
        pacer.set_rate(1_000_000);
        pacer
    }

    #[test]
    fn the_gap_behind_a_segment_is_its_length_by_the_rate() {
        let mut pacer = pacer();
        for n in 1..=5 {
            let now = pacer.next();
            pacer.sent(now, 1000, 1);
            assert_eq!(pacer.next(), at(1000 * n));
        }
        pacer.sent(pacer.next(), 250, 1);
        assert_eq!(pacer.next(), at(5250));
    }

    #[test]
    fn the_first_ten_leave_together() {
        let mut pacer = Pacer::new();
        pacer.set_rate(1_000_000);
        for _ in 0..9 {
            pacer.sent(at(0), 1000, 1);
            assert_eq!(pacer.next(), at(0));
        }
        pacer.sent(at(0), 1000, 1);
        assert_eq!(pacer.next(), at(1000), "the eleventh waits");
    }

    #[test]
    fn a_late_sender_makes_up_for_half_a_gap_at_most() {
        let mut pacer = pacer();
        pacer.sent(at(0), 1000, 1);
        pacer.sent(at(1300), 1000, 1);
        assert_eq!(pacer.next(), at(2000));
        pacer.sent(at(9000), 1000, 1);
        assert_eq!(pacer.next(), at(9500));
    }

    #[test]
    fn a_late_burst_makes_up_for_half_of_the_time_that_all_of_it_takes() {
        let mut pacer = pacer();
        pacer.begin_burst(at(0), 4000, (4000, 4));
        assert_eq!((pacer.next(), pacer.burst_end()), (at(4000), 4000));
        pacer.begin_burst(at(5000), 8000, (4000, 4));
        assert_eq!((pacer.next(), pacer.burst_end()), (at(8000), 8000));
        pacer.begin_burst(at(20_000), 12_000, (4000, 4));
        assert_eq!(pacer.next(), at(22_000));
    }

    #[test]
    fn a_window_is_paced_at_twice_its_rate_in_slow_start_and_at_twelve_tenths_after() {
        let srtt = Some(Span::from_ms(100));
        assert_eq!(by_window(100_000, u32::MAX, 0, srtt), 2_000_000);
        assert_eq!(by_window(100_000, 200_000, 0, srtt), 1_200_000);
        assert_eq!(by_window(100_000, 100_000, 150_000, srtt), 1_800_000);
        assert_eq!(by_window(100_000, 100_000, 0, None), UNLIMITED);
    }

    #[test]
    fn rates_durations_and_volumes_agree_and_saturate() {
        assert_eq!(duration(1500, 3), Span::from_secs(500));
        assert_eq!(rate(1500, Span::from_secs(500)), 3);
        assert_eq!(volume(3, Span::from_secs(500)), 1500);
        assert_eq!(duration(u64::MAX, 1), Span::MAX);
        assert_eq!(rate(u64::MAX, Span::ZERO), u64::MAX);
    }
}
