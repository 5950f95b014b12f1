//! How much of its buffers a connection uses: the window that it offers begins small and follows what the application reads
//! (Linux, `tcp_grow_window()` and `tcp_rcv_space_adjust()`; "Dynamic Right-Sizing", Fisk and Feng, 2001), and the send buffer
//! follows cwnd (Linux, `tcp_sndbuf_expand()`).
//!
//! Linux counts the memory of packets; here buffers are counted in bytes of data, of which its default of half takes account.

use crate::context::Context;
use crate::opening::state::State;
use crate::receive::receiver::Receiver;
use crate::time::{Coarse, Span, Time};
use crate::wire::options::echo_age;
use crate::wire::segment::Segment;

/// Segments that the application is expected to read in the first round trip (`TCP_INIT_CWND`).
const FIRST_SEGMENTS: u32 = 10;
/// The largest window that a SYN announces, with which the offer begins (`tcp_select_initial_window()`).
const FIRST_WINDOW: u32 = 65_535;

/// What is remembered of the receive window's growth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Tuning {
    /// The buffer as it is now, and the largest it may become.
    buffer: u32,
    most: u32,
    /// The window that is offered to an application which reads at once: it opens with each segment that comes.
    offered: u32,
    /// A round trip as the receiver sees it: by echoed timestamps, else no longer than a window's worth takes to come.
    rtt: Option<Span>,
    /// The timestamp that was echoed last: each tells its round trip once.
    echoed: u32,
    /// The position whose arrival ends a window's worth, and when that began.
    window_end: u64,
    window_since: Time,
    /// Bytes that the application read in the best round trip.
    space: u32,
    /// Where it was, and when, as this round trip began.
    read_before: u64,
    read_since: Time,
}

impl Tuning {
    /// Begins with a buffer of `first` bytes, which may grow to `most`.
    pub(crate) fn new(now: Time, first: u32, most: u32, mss: u32) -> Self {
        Self {
            buffer: first.min(most),
            most,
            offered: first.min(most).min(FIRST_WINDOW),
            rtt: None,
            echoed: 0,
            window_end: 0,
            window_since: now,
            space: (FIRST_SEGMENTS * mss).min(first).max(1),
            read_before: 1,
            read_since: now,
        }
    }

    /// How far the right edge may lie from what was read, `unread` bytes waiting.
    pub(crate) fn limit(&self, unread: u64) -> u32 {
        u64::from(self.offered).saturating_add(unread).min(u64::from(self.buffer)) as u32
    }

    /// A segment of `len` bytes has come in order: the offer opens by two segments, unless it is a sliver, whose packet takes
    /// more memory than the window that it would open.
    pub(crate) fn arrives(&mut self, len: u32, mss: u32) {
        if len.saturating_mul(2) >= mss {
            let opens = 2 * mss.max(len);
            self.offered = self.offered.saturating_add(opens).min(self.buffer).max(self.offered);
        }
    }

    /// A timestamp comes back (`tcp_rcv_rtt_measure_ts()`). It is ours only if it can be: our first segment left at `first`.
    fn echoes(&mut self, now: Time, echo: u32, first: Coarse) {
        if echo != self.echoed
            && let Some(rtt) = echo_age(now, echo, first)
        {
            self.echoed = echo;
            self.echo(rtt.max(Span::from_ms(1)));
        }
    }

    /// A round trip took so long.
    #[cold]
    fn echo(&mut self, rtt: Span) {
        let rtt = rtt.as_ps().max(1);
        let smooth = self.rtt.map_or(rtt, |old| old.as_ps() - old.as_ps() / 8 + rtt / 8);
        self.rtt = Some(Span::from_ps(smooth));
    }

    /// Without timestamps: data up to `received` has come. A window's worth takes a round trip at least
    /// (`tcp_rcv_rtt_measure()`).
    pub(crate) fn received(&mut self, now: Time, received: u64, window: u32) {
        if received < self.window_end {
            return;
        }
        if self.window_end > 0 {
            let took = now - self.window_since;
            self.rtt = Some(self.rtt.map_or(took, |least| least.min(took)));
        }
        self.window_end = received + u64::from(window);
        self.window_since = now;
    }

    /// The application has read up to `read`. If it read more than ever in a round trip, the sender may be about to double its
    /// window: there is to be room for twice as much, and more while the rate grows.
    pub(crate) fn read(&mut self, now: Time, read: u64, mss: u32) {
        let Some(rtt) = self.rtt else { return };
        if now - self.read_since < rtt {
            return;
        }
        let copied = (read - self.read_before).min(u64::from(u32::MAX));
        let space = u64::from(self.space);
        if copied > space {
            let window = 2 * copied + 16 * u64::from(mss);
            let growth = window * (copied - space) / space;
            let wanted = window.saturating_add(2 * growth).min(u64::from(self.most)) as u32;
            self.buffer = self.buffer.max(wanted);
            self.space = copied as u32;
        }
        self.read_before = read;
        self.read_since = now;
    }
}

impl Receiver {
    /// Both SYN segments are known: the window begins to grow from here, if it does.
    pub(crate) fn begin_tuning(&mut self, cx: &Context, now: Time) {
        let Some(first) = cx.config.initial_receive_window else { return };
        let most = cx.config.receive_window.min(cx.agreed.largest_window());
        // Less than one step of the scale could not be told from nothing.
        let first = first.max(1 << cx.agreed.shifts().1);
        let tuning = Tuning::new(now, first, most, u32::from(cx.agreed.mss));
        self.set_buffer(tuning.limit(0));
        self.extras().tuning = Some(Box::new(tuning));
    }

    /// Data has arrived in order; our first segment left at `first`.
    #[cold]
    pub(crate) fn tune_to_arrival(&mut self, cx: &Context, now: Time, first: Coarse, segment: &Segment) {
        // What came with a SYN says nothing of a rate.
        if cx.state() == State::SynReceived {
            return;
        }
        let (received, window) = (self.nxt, self.window());
        let (mss, unread) = (u32::from(cx.agreed.payload), self.readable());
        let stamps = segment.options.timestamps.filter(|_| cx.agreed.timestamps);
        let Some(tuning) = self.extras.as_mut().and_then(|rare| rare.tuning.as_mut()) else { return };
        match stamps {
            Some(stamps) if segment.payload.len >= mss => tuning.echoes(now, stamps.echo, first),
            Some(_) => {}
            None => tuning.received(now, received, window),
        }
        tuning.arrives(segment.payload.len, mss);
        let limit = tuning.limit(unread);
        self.set_buffer(limit);
    }

    /// The application has read.
    #[cold]
    pub(crate) fn tune_to_reader(&mut self, cx: &Context, now: Time) {
        let (read, mss, unread) = (self.read, u32::from(cx.agreed.payload), self.readable());
        let Some(tuning) = self.extras.as_mut().and_then(|rare| rare.tuning.as_mut()) else { return };
        tuning.read(now, read, mss);
        let limit = tuning.limit(unread);
        self.set_buffer(limit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u32 = 1000;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn tuning() -> Tuning {
        let mut tuning = Tuning::new(at(0), 65_536, 6 << 20, MSS);
        tuning.echo(Span::from_ms(100));
        tuning
    }

    #[test]
    fn the_offer_opens_by_two_segments_for_each_that_comes_up_to_the_buffer() {
        let mut tuning = Tuning { buffer: 70_000, ..tuning() };
        assert_eq!(tuning.limit(0), 65_535);
        tuning.arrives(MSS, MSS);
        assert_eq!(tuning.limit(0), 67_535);
        tuning.arrives(100, MSS);
        assert_eq!(tuning.limit(0), 67_535, "slivers open nothing");
        (0..5).for_each(|_| tuning.arrives(MSS, MSS));
        assert_eq!(tuning.limit(0), 70_000);
    }

    #[test]
    fn what_nobody_reads_narrows_the_window_only_when_the_buffer_fills() {
        let tuning = Tuning { buffer: 200_000, ..tuning() };
        assert_eq!(tuning.limit(100_000) - 100_000, 65_535);
        assert_eq!(tuning.limit(150_000) - 150_000, 50_000);
    }

    #[test]
    fn a_reader_that_doubles_its_rate_each_round_trip_finds_room_for_the_next_doubling() {
        let (mut tuning, mut read) = (tuning(), 1);
        for round in 1..=8_u64 {
            // Slow start from ten segments.
            let comes = 10_000 << (round - 1);
            read += comes;
            tuning.read(at(100 * round), read, MSS);
            assert!(u64::from(tuning.buffer) >= 2 * comes, "round {round}: {}", tuning.buffer);
        }
        let before = tuning.buffer;
        tuning.read(at(900), read + 10_000, MSS);
        assert_eq!(tuning.buffer, before, "a pause takes nothing away");
    }

    #[test]
    fn the_buffer_never_grows_beyond_its_bound_nor_within_a_round_trip() {
        let mut tuning = Tuning::new(at(0), 65_536, 100_000, MSS);
        tuning.read(at(1000), 1_000_000, MSS);
        assert_eq!(tuning.buffer, 65_536, "no round trip is known");
        tuning.echo(Span::from_ms(100));
        tuning.read(at(99), 1_000_000, MSS);
        assert_eq!(tuning.buffer, 65_536);
        tuning.read(at(100), 1_000_000, MSS);
        assert_eq!(tuning.buffer, 100_000);
    }

    #[test]
    fn without_timestamps_a_round_trip_is_no_longer_than_the_quickest_window() {
        let mut tuning = Tuning::new(at(0), 65_536, 6 << 20, MSS);
        tuning.received(at(0), 1, 10_000);
        tuning.received(at(50), 9_000, 10_000);
        assert_eq!(tuning.rtt, None);
        tuning.received(at(80), 10_001, 10_000);
        assert_eq!(tuning.rtt, Some(Span::from_ms(80)));
        tuning.received(at(120), 20_001, 10_000);
        tuning.received(at(300), 30_001, 10_000);
        assert_eq!(tuning.rtt, Some(Span::from_ms(40)));
    }
}
