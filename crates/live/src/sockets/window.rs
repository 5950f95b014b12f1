//! Which end of the receive window is to blame: its size, or the application that reads.

use super::info::TcpInfo;
use netspurt_budget::Limit;
use netspurt_tcp::time::Span;

/// What counts of the past fades to half in this time, or in [`ROUND_TRIPS`] if these last longer.
const HALF_LIFE: Span = Span::from_ms(500);
const ROUND_TRIPS: u64 = 4;

/// What was sent while the peer's window limited a connection.
///
/// A window that the receiver's application keeps open lets one window of data through in a round trip. Where less than
/// half of that came through, the window waited for the application and not for the round trip. So it did where it was
/// closed: smaller than a segment, or with nothing in flight whose ACK could open it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WindowHistory {
    /// The largest window so far, in bytes.
    pub(super) largest: u32,
    limited_s: f64,
    /// Acknowledged bytes, as far as they belong to `limited_s`.
    acked: f64,
    /// The part of `limited_s` at whose end the window was closed.
    closed_s: f64,
}

impl WindowHistory {
    /// Takes in an interval: what was acknowledged in it, and how much of it the window limited.
    pub(super) fn learn(&mut self, info: &TcpInfo, elapsed: Span, acked: u64, limited: Span) {
        self.largest = self.largest.max(info.snd_wnd.unwrap_or(0));
        if elapsed == Span::ZERO {
            return;
        }
        let half_life = HALF_LIFE.max(info.rtt.saturating_mul(ROUND_TRIPS)).as_secs_f64();
        let kept = (-elapsed.as_secs_f64() / half_life).exp2();
        let share = (limited.as_secs_f64() / elapsed.as_secs_f64()).min(1.0);
        self.limited_s = self.limited_s * kept + limited.as_secs_f64();
        self.acked = self.acked * kept + acked as f64 * share;
        let closed = if is_closed(info) { limited } else { Span::ZERO };
        self.closed_s = self.closed_s * kept + closed.as_secs_f64();
    }

    /// The limit that the time on the kernel's clock `rwnd_limited` belongs to.
    pub(super) fn limit(&self, info: &TcpInfo) -> Limit {
        if info.snd_wnd.is_none() {
            // A kernel before 5.4 does not report the window. Probes show that it is closed.
            return if info.probes > 0 { Limit::SlowReceiver } else { Limit::ReceiveWindow };
        }
        if 2.0 * self.closed_s > self.limited_s {
            return Limit::SlowReceiver;
        }
        let round_trips = self.limited_s / info.rtt.as_secs_f64().max(1e-6);
        let possible = f64::from(self.largest) * round_trips;
        if 2.0 * self.acked < possible { Limit::SlowReceiver } else { Limit::ReceiveWindow }
    }
}

fn is_closed(info: &TcpInfo) -> bool {
    let waits = info.unacked == 0 && info.notsent_bytes > 0;
    waits || info.snd_wnd.is_some_and(|window| window < info.snd_mss)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(rtt_ms: u64, window: u32) -> TcpInfo {
        TcpInfo { rtt: Span::from_ms(rtt_ms), snd_wnd: Some(window), ..TcpInfo::default() }
    }

    #[test]
    fn one_window_in_a_round_trip_is_the_window_itself() {
        let info = info(50, 65_536);
        let mut history = WindowHistory::default();
        // 100 ms are two round trips.
        for _ in 0..10 {
            history.learn(&info, Span::from_ms(100), 2 * 65_536, Span::from_ms(100));
        }
        assert_eq!(history.limit(&info), Limit::ReceiveWindow);
    }

    #[test]
    fn a_round_trip_longer_than_an_interval_is_averaged() {
        let info = info(300, 65_536);
        let mut history = WindowHistory::default();
        for number in 0..30 {
            let acked = if number % 3 == 0 { 65_536 } else { 0 };
            history.learn(&info, Span::from_ms(100), acked, Span::from_ms(100));
            assert_eq!(history.limit(&info), Limit::ReceiveWindow, "interval {number}");
        }
    }

    #[test]
    fn much_less_than_a_window_in_a_round_trip_is_a_slow_reader() {
        let mut history = WindowHistory::default();
        history.learn(&info(1, 65_536), Span::from_ms(100), 65_536, Span::ZERO);
        for _ in 0..5 {
            history.learn(&info(1, 0), Span::from_ms(100), 20_000, Span::from_ms(98));
        }
        assert_eq!(history.limit(&info(1, 0)), Limit::SlowReceiver);
    }

    #[test]
    fn a_window_that_is_closed_at_most_polls_is_a_slow_reader() {
        // It is opened by 20 kB once in 10 ms, which looks like the RTT because the ACK waits for the reader too.
        let open = info(10, 20_000);
        let closed = [TcpInfo { snd_mss: 65_483, ..open }, TcpInfo { unacked: 0, notsent_bytes: 9, ..open }];
        for closed in closed {
            let mut history = WindowHistory::default();
            for number in 0..10 {
                let now = if number % 3 == 0 { open } else { closed };
                history.learn(&now, Span::from_ms(100), 200_000, Span::from_ms(100));
            }
            assert_eq!(history.limit(&open), Limit::SlowReceiver);
        }
    }

    #[test]
    fn without_the_window_only_probes_show_a_slow_reader() {
        let old = TcpInfo { snd_wnd: None, ..info(1, 0) };
        let history = WindowHistory::default();
        assert_eq!(history.limit(&old), Limit::ReceiveWindow);
        assert_eq!(history.limit(&TcpInfo { probes: 1, ..old }), Limit::SlowReceiver);
    }
}
