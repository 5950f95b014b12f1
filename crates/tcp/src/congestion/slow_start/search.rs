//! SEARCH, Slow start Exit At Right CHokepoint (draft-chung-ccwg-search).
//!
//! While slow start is unlimited, the data delivered in a window of time is the data sent in that window one RTT before.
//! When the path is full, less is delivered. Unlike the RTT, this measure hardly depends on jitter.

use super::hystart::Pace;
use crate::congestion::View;
use crate::time::{Span, Time};

/// WINDOW_FACTOR in tenths: the window is 3.5 times the first RTT.
const WINDOW_TENTHS: u64 = 35;
/// W: the bins of a window.
const WINDOW: u64 = 10;
/// EXTRA_BINS: the largest RTT in bins.
const EXTRA: u64 = 15;
/// THRESH: the part of the sent data that is missing, in hundredths.
const MISSING: u64 = 35;
/// A power of two above `WINDOW + EXTRA + 1`.
const RING: usize = 32;

/// The state of the detection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::congestion) struct Search {
    /// The first RTT and the duration of a bin; `None` before the first sample.
    first: Option<(Span, Span)>,
    bin_ends: Time,
    /// The number of the last complete bin. Bin 0 ends at the first sample.
    bin: u64,
    /// The bytes acknowledged and sent until the end of each bin.
    acked: [u64; RING],
    sent: [u64; RING],
    /// The initial cwnd.
    initial: u32,
}

impl Search {
    /// The initial state.
    pub(in crate::congestion) fn new() -> Self {
        Self { first: None, bin_ends: Time::ZERO, bin: 0, acked: [0; RING], sent: [0; RING], initial: 0 }
    }

    /// An ACK of new data in slow start, with `cwnd` in bytes before it.
    pub(in crate::congestion) fn on_ack(&mut self, view: &View, cwnd: u32) -> Pace {
        let Some(rtt) = view.rtt.or(view.srtt) else { return Pace::Full };
        let Some((first_rtt, duration)) = self.first else {
            self.begin(rtt, view, cwnd);
            return Pace::Full;
        };
        if view.now < self.bin_ends {
            return Pace::Full;
        }
        if !self.close_bins(duration, view) {
            *self = Self::new();
            return Pace::Full;
        }
        if !self.is_full(rtt, duration) {
            return Pace::Full;
        }
        let reduced = self.drained(cwnd, first_rtt, duration);
        *self = Self::new();
        Pace::OverAt(reduced)
    }

    fn begin(&mut self, rtt: Span, view: &View, cwnd: u32) {
        let duration = Span::from_ps((rtt.as_ps() / (10 * WINDOW)).saturating_mul(WINDOW_TENTHS).max(1));
        self.first = Some((rtt, duration));
        self.bin_ends = view.now + duration;
        self.initial = cwnd;
        (self.acked[0], self.sent[0]) = (view.acknowledged, view.sent);
    }

    /// Closes the bins that are over. Returns `false` if there was a pause that is longer than the history.
    fn close_bins(&mut self, duration: Span, view: &View) -> bool {
        let over = view.now.since(self.bin_ends).as_ps() / duration.as_ps() + 1;
        if over > WINDOW {
            return false;
        }
        let last = slot(self.bin);
        let (acked, sent) = (self.acked[last], self.sent[last]);
        for _ in 1..over {
            self.bin += 1;
            let at = slot(self.bin);
            (self.acked[at], self.sent[at]) = (acked, sent);
        }
        self.bin += 1;
        let at = slot(self.bin);
        (self.acked[at], self.sent[at]) = (view.acknowledged, view.sent);
        self.bin_ends += duration.scale(over, 1);
        true
    }

    /// Whether the delivered data of the last window is less than the data sent one RTT before, by the threshold.
    fn is_full(&self, rtt: Span, duration: Span) -> bool {
        let (bins, rest) = (rtt.as_ps() / duration.as_ps(), rtt.as_ps() % duration.as_ps());
        if bins >= EXTRA || self.bin < WINDOW + bins + 1 {
            return false;
        }
        let to = self.bin - bins;
        let sent_until = |bin: u64| {
            let (later, earlier) = (self.sent[slot(bin)], self.sent[slot(bin.saturating_sub(1))]);
            let part = u128::from(later - earlier) * u128::from(rest) / u128::from(duration.as_ps());
            later - part as u64
        };
        let sent = sent_until(to) - sent_until(to - WINDOW);
        let delivered = self.acked[slot(self.bin)] - self.acked[slot(self.bin - WINDOW)];
        sent > 0 && sent.saturating_sub(delivered) * 100 >= sent * MISSING
    }

    /// cwnd without the data delivered in the last two RTTs, which is what slow start has added since the path was full;
    /// at least the initial cwnd.
    fn drained(&self, cwnd: u32, first_rtt: Span, duration: Span) -> u32 {
        let back = (2 * first_rtt.as_ps() / duration.as_ps()).min(self.bin);
        let overshoot = self.acked[slot(self.bin)] - self.acked[slot(self.bin - back)];
        let reduced = u64::from(cwnd).saturating_sub(overshoot) as u32;
        reduced.max(self.initial.min(cwnd))
    }
}

fn slot(bin: u64) -> usize {
    (bin % RING as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::view;

    const MSS: u32 = 1000;

    /// A slow start over a path of `rate` segments per ms and 50 ms, each ACK of a segment permitting two; with this jitter
    /// of the RTT in ms. Returns the cwnd at the exit, before and after, and the RTT then.
    fn slow_start(rate: u64, jitter: u64) -> Option<(u32, u32, u64)> {
        let mut search = Search::new();
        let (mut cwnd, mut sent, mut acked) = (10 * MSS, 0_u64, 0_u64);
        // The departure of each segment at the bottleneck, in ms, in tenths.
        let mut arrivals = std::collections::VecDeque::new();
        let mut free = 0_u64;
        let mut send = |now: u64, count: u64, arrivals: &mut std::collections::VecDeque<(u64, u64)>| {
            for _ in 0..count {
                free = free.max(now) + 1000 / rate;
                arrivals.push_back((free + 50_000 + (free * 7 % 13) * jitter * 1000 / 13, now));
            }
        };
        send(0, 10, &mut arrivals);
        sent += 10;
        let mut last = 0;
        while let Some((at, left)) = arrivals.pop_front() {
            let at = at.max(last);
            last = at;
            acked += 1;
            let seen = View {
                now: Time::ZERO + Span::from_us(at),
                rtt: Some(Span::from_us(at - left)),
                acknowledged: acked * u64::from(MSS),
                sent: sent * u64::from(MSS),
                ..view(MSS, cwnd)
            };
            if let Pace::OverAt(reduced) = search.on_ack(&seen, cwnd) {
                return Some((cwnd / MSS, reduced / MSS, at - left));
            }
            cwnd += MSS;
            send(at, 2, &mut arrivals);
            sent += 2;
            if sent > 200_000 {
                return None;
            }
        }
        None
    }

    #[test]
    fn slow_start_ends_after_the_path_is_full_and_goes_back_towards_its_volume() {
        for rate in [2, 10, 20] {
            let volume = 50 * rate as u32;
            let (before, after, _) = slow_start(rate, 0).expect("the path has an end");
            // With an endless queue the RTT grows by half of the time since the path was full, so that the data sent one RTT
            // before exceeds the threshold about five of the first RTTs later: two windows of ACKs per RTT of these.
            assert!(before > 4 * volume && before < 8 * volume, "{rate}: {before} of {volume}");
            // Two RTTs in whole bins: five of 17.5 ms.
            let expected = volume * 7 / 4;
            assert!((before - after).abs_diff(expected) <= volume / 10, "{rate}: {before} {after}");
        }
    }

    #[test]
    fn jitter_of_the_round_trip_time_does_not_end_slow_start() {
        // 50 ms and up to 20 more: HyStart sees an increase by more than an eighth.
        let (before, _, _) = slow_start(20, 20).expect("the path has an end");
        assert!(before > 1000, "{before}");
    }

    #[test]
    fn a_pause_longer_than_the_window_starts_over() {
        let mut search = Search::new();
        let at = |ms: u64, acked: u64| View {
            now: Time::ZERO + Span::from_ms(ms),
            rtt: Some(Span::from_ms(50)),
            acknowledged: acked,
            sent: acked,
            ..view(MSS, 10 * MSS)
        };
        assert_eq!(search.on_ack(&at(0, 0), 10 * MSS), Pace::Full);
        assert_eq!(search.on_ack(&at(20, 1000), 10 * MSS), Pace::Full);
        assert_eq!(search.bin, 1);
        assert_eq!(search.on_ack(&at(5000, 2000), 10 * MSS), Pace::Full);
        assert_eq!(search, Search::new());
    }
}
