//! rLEDBAT (RFC 9840): the receiver of a background transfer limits its sender by the announced window.
//!
//! The window is the smaller of that of flow control and RLWND, which LEDBAT++ computes from what the receiver can
//! measure: RTTs from the echoes of its timestamps, and losses from retransmissions that arrive. The right edge never
//! moves left, so a smaller RLWND takes effect as data arrives.

use crate::config::{Counting, Grows, Growth};
use crate::congestion::{CongestionControl, Ledbat, Signal, View};
use crate::time::{Coarse, Span, Time};
use crate::wire::options::{Timestamps, echo_age, timestamp};

/// RLWND at the start and in a slowdown, in segments.
pub(crate) const LOW: u32 = 2;

/// A segment with data that has arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) now: Time,
    /// The positions of its data.
    pub(super) start: u64,
    pub(super) end: u64,
    /// Bytes of a full segment.
    pub(super) mss: u32,
    pub(super) stamps: Timestamps,
    /// When our first segment was sent.
    pub(super) first: Coarse,
    /// RCV.NXT, and the right edge of the announced window.
    pub(super) nxt: u64,
    pub(super) edge: u64,
}

/// What an arrival says about the path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    /// New data. RLWND follows the delay.
    Delay,
    /// A retransmission of data that was sent since the last reduction: RLWND is halved.
    Loss,
    /// A further retransmission in the same window of data.
    SameLoss,
}

/// The time in which the peer answers one of our segments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Round {
    /// Our timestamp at its start. A segment that echoes a later one ends it.
    stamp: u32,
    /// The window that was open at its start, and the bytes that have arrived since.
    open: u32,
    arrived: u64,
}

/// The state of rLEDBAT.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Background {
    ledbat: Ledbat,
    srtt: Option<Span>,
    /// The last echoed timestamp. Only the first segment that echoes a timestamp gives a sample.
    echoed: u32,
    /// RCV.HGH and TSV.HGH: the highest position that arrived, and the peer's timestamp on it.
    highest: u64,
    highest_stamp: u32,
    /// RCV.HGH at the last reduction by a loss.
    reduced_at: u64,
    round: Option<Round>,
    /// Whether the sender used the window in the last round. An unused window says nothing about the path.
    is_used: bool,
}

impl Background {
    /// Starts with two segments of `mss` bytes.
    pub(crate) fn new(mss: u32) -> Self {
        let growth =
            Growth { grows: Grows::WhenUsed, counting: Counting::Bytes { limit: 2 }, slow_start_per_ack: 1 };
        Self {
            ledbat: Ledbat::new(mss.saturating_mul(LOW), u32::MAX, growth),
            srtt: None,
            echoed: 0,
            highest: 0,
            highest_stamp: 0,
            reduced_at: 0,
            round: None,
            is_used: true,
        }
    }

    /// RLWND, rounded up to what a window field can say in units of `unit` bytes: rounded down, two segments would be
    /// less than two.
    pub(crate) fn window(&self, unit: u32) -> u32 {
        self.ledbat.cwnd().checked_next_multiple_of(unit).unwrap_or(u32::MAX)
    }

    /// A retransmission lies below RCV.HGH and carries a later timestamp than TSV.HGH. A segment that was only
    /// reordered carries an earlier one.
    fn judge(&self, arrival: &Arrival) -> Verdict {
        let is_later = (arrival.stamps.value.wrapping_sub(self.highest_stamp) as i32) > 0;
        if arrival.end > self.highest || !is_later {
            Verdict::Delay
        } else if arrival.start >= self.reduced_at {
            Verdict::Loss
        } else {
            Verdict::SameLoss
        }
    }

    /// New data has arrived. Returns what it says.
    pub(super) fn arrives(&mut self, arrival: &Arrival) -> Verdict {
        let verdict = self.judge(arrival);
        let rtt = if verdict == Verdict::Delay { self.measure(arrival) } else { None };
        self.follow_round(arrival);
        let view = self.view(arrival, rtt);
        match verdict {
            Verdict::Delay => {
                let bytes = (arrival.end - arrival.start) as u32;
                self.ledbat.on(Signal::Acked { bytes }, &view);
            }
            Verdict::Loss => {
                self.ledbat.halve(&view);
                self.reduced_at = self.highest;
            }
            Verdict::SameLoss => {}
        }
        if arrival.end > self.highest {
            (self.highest, self.highest_stamp) = (arrival.end, arrival.stamps.value);
        }
        verdict
    }

    /// The time since we sent the timestamp that the segment echoes.
    fn measure(&mut self, arrival: &Arrival) -> Option<Span> {
        let echo = arrival.stamps.echo;
        if echo == self.echoed {
            return None;
        }
        let rtt = echo_age(arrival.now, echo, arrival.first)?;
        self.echoed = echo;
        let smooth = |old: Span| Span::from_ps(old.as_ps() - old.as_ps() / 8 + rtt.as_ps() / 8);
        self.srtt = Some(self.srtt.map_or(rtt, smooth));
        Some(rtt)
    }

    /// All data of the window that was open at the start of a round arrives in it, if the sender uses the window.
    fn follow_round(&mut self, arrival: &Arrival) {
        let bytes = arrival.end - arrival.start;
        match &mut self.round {
            Some(round) if (arrival.stamps.echo.wrapping_sub(round.stamp) as i32) <= 0 => {
                round.arrived += bytes
            }
            round => {
                if let Some(Round { open, arrived, .. }) = *round {
                    self.is_used = arrived.saturating_mul(4) >= u64::from(open).saturating_mul(3);
                }
                let open = arrival.edge.saturating_sub(arrival.nxt) as u32;
                *round = Some(Round { stamp: timestamp(arrival.now), open, arrived: 0 });
            }
        }
    }

    /// The receiver's view of the path, in the sender's terms.
    fn view(&self, arrival: &Arrival, rtt: Option<Span>) -> View {
        let window = self.ledbat.cwnd();
        View {
            now: arrival.now,
            mss: arrival.mss,
            flight: window,
            window,
            srtt: self.srtt,
            rtt,
            paced: false,
            acknowledged: arrival.nxt,
            sent: arrival.edge,
            cwnd_limited: self.is_used,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u32 = 1000;

    /// A path of this RTT on which the sender always uses the window.
    struct Path {
        rledbat: Background,
        ms: u64,
        nxt: u64,
        edge: u64,
    }

    impl Path {
        fn new() -> Self {
            Self { rledbat: Background::new(MSS), ms: 1000, nxt: 1, edge: 2001 }
        }

        /// A segment at `start` that was sent half an RTT ago and echoes what we sent an RTT ago.
        fn arrival(&self, start: u64, rtt: u64) -> Arrival {
            Arrival {
                now: Time::ZERO + Span::from_ms(self.ms),
                start,
                end: start + u64::from(MSS),
                mss: MSS,
                stamps: Timestamps { value: (self.ms - rtt / 2) as u32, echo: (self.ms - rtt) as u32 },
                first: Coarse::at(Time::ZERO),
                nxt: self.nxt,
                edge: self.edge,
            }
        }

        /// One RTT, in which all that the window holds at its start arrives, spread over it.
        fn round(&mut self, rtt: u64) {
            self.part_of_round(rtt, 1);
        }

        /// One RTT, in which the sender sends only one `share`-th of the window.
        fn part_of_round(&mut self, rtt: u64, share: u64) {
            let (began, open) = (self.ms, self.edge - self.nxt);
            let segments = (open / share / u64::from(MSS)).max(1);
            for n in 0..segments {
                self.ms = began + n * rtt / segments;
                let start = self.nxt;
                self.nxt += u64::from(MSS);
                let arrival = self.arrival(start, rtt);
                assert_eq!(self.rledbat.arrives(&arrival), Verdict::Delay);
                self.edge = self.edge.max(self.nxt + u64::from(self.rledbat.window(1)));
            }
            self.ms = began + rtt;
        }
    }

    #[test]
    fn the_window_starts_with_two_segments_and_doubles_per_round_trip_at_a_gain_of_one() {
        let mut path = Path::new();
        assert_eq!(path.rledbat.window(1), 2 * MSS);
        // A base delay of 120 ms gives a gain of one.
        (0..4).for_each(|_| path.round(120));
        let window = path.rledbat.window(1);
        assert!((24 * MSS..=32 * MSS).contains(&window), "{window}");
    }

    #[test]
    fn a_delay_above_the_target_reduces_it_and_the_edge_stays() {
        let mut path = Path::new();
        (0..6).for_each(|_| path.round(120));
        let (before, edge) = (path.rledbat.window(1), path.edge);
        // 90 ms of queueing delay: 30 above the target. The first rounds still hold an RTT of the base.
        (0..3).for_each(|_| path.round(210));
        assert!(path.rledbat.window(1) < before, "{} {before}", path.rledbat.window(1));
        assert!(path.edge >= edge);
    }

    #[test]
    fn a_retransmission_halves_the_window_once_per_window_of_data() {
        let mut path = Path::new();
        (0..5).for_each(|_| path.round(120));
        let before = path.rledbat.window(1);
        let hole = path.nxt;
        // The data above the hole arrives first.
        path.nxt += 3 * u64::from(MSS);
        let high = path.arrival(path.nxt, 120);
        assert_eq!(path.rledbat.arrives(&high), Verdict::Delay);
        let grown = path.rledbat.window(1);
        assert!(grown >= before);
        path.ms += 120;
        let again = path.arrival(hole, 120);
        assert_eq!(path.rledbat.arrives(&again), Verdict::Loss);
        assert_eq!(path.rledbat.window(1), grown / 2);
        let next = path.arrival(hole + u64::from(MSS), 120);
        assert_eq!(path.rledbat.arrives(&next), Verdict::SameLoss);
        assert_eq!(path.rledbat.window(1), grown / 2);
    }

    #[test]
    fn reordering_is_no_loss() {
        let mut path = Path::new();
        (0..3).for_each(|_| path.round(120));
        let late = path.arrival(path.nxt, 120);
        path.ms += 1;
        let early = path.arrival(path.nxt + u64::from(MSS), 120);
        assert_eq!(path.rledbat.arrives(&early), Verdict::Delay);
        let before = path.rledbat.window(1);
        assert_eq!(path.rledbat.arrives(&late), Verdict::Delay);
        assert!(path.rledbat.window(1) >= before);
    }

    #[test]
    fn losses_never_reduce_it_below_two_segments() {
        let mut path = Path::new();
        for _ in 0..5 {
            let high = path.arrival(path.nxt + u64::from(MSS), 120);
            path.rledbat.arrives(&high);
            path.ms += 120;
            let hole = path.arrival(path.nxt, 120);
            assert_eq!(path.rledbat.arrives(&hole), Verdict::Loss);
            path.nxt += 2 * u64::from(MSS);
        }
        assert_eq!(path.rledbat.window(1), 2 * MSS);
    }

    #[test]
    fn a_window_that_the_sender_does_not_use_stops_growing() {
        let mut path = Path::new();
        (0..5).for_each(|_| path.round(120));
        (0..2).for_each(|_| path.part_of_round(120, 4));
        let before = path.rledbat.window(1);
        (0..3).for_each(|_| path.part_of_round(120, 4));
        assert_eq!(path.rledbat.window(1), before);
    }

    #[test]
    fn the_window_field_never_says_less_than_the_window() {
        let rledbat = Background::new(1448);
        assert_eq!(rledbat.window(1 << 7), 2944);
        assert_eq!(rledbat.window(1 << 11), 4096);
    }
}
