//! Two connections over a path with one bottleneck: a rate, a delay, a queue with an end, and losses at random. What the
//! sender believes of the path can be held against what the path is.
#![expect(dead_code, reason = "each test file uses its own part of it")]

pub(crate) mod by_model;

use netspurt_tcp::acking::Acking;
use netspurt_tcp::config::{Config, SendMemory, WindowOption};
use netspurt_tcp::segment::Segment;
use netspurt_tcp::seq::Seq;
use netspurt_tcp::time::{Span, Time};
use netspurt_tcp::{Connection, Departure, profile};
use std::collections::VecDeque;
use std::sync::Arc;

/// Payload of a full segment.
pub(crate) const MSS: u32 = 1000;
/// Headers below TCP's options take no time here: rates are those of the payload.
const HEADERS: u32 = 0;

/// Segments of 1000 bytes, an ACK for each, no options in them, windows and buffers that limit nothing.
pub(crate) fn config(name: &str) -> Config {
    let config = profile::by_name(name).expect("built in").config.clone();
    Config {
        mss: MSS as u16,
        timestamps: false,
        window_option: WindowOption::Rfc7323,
        receive_window: 1 << 28,
        initial_receive_window: None,
        send_buffer: 1 << 28,
        initial_send_buffer: None,
        send_memory: SendMemory::Bytes,
        acking: Acking::EverySegment,
        ..config
    }
}

/// A path from the first to the second; the way back takes as long and is free.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    /// Bytes per second.
    pub(crate) rate: u64,
    /// One way.
    pub(crate) delay: Span,
    /// Bytes that may wait.
    pub(crate) queue: u64,
    /// Segments with data lost of a million.
    pub(crate) loss: u32,
}

/// One segment with data that left, and what was in the queue when it came there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Left {
    pub(crate) at: Time,
    pub(crate) offset: u64,
    pub(crate) len: u32,
    pub(crate) queued: u64,
}

pub(crate) struct World {
    pub(crate) sender: Connection,
    receiver: Connection,
    pub(crate) path: Path,
    pub(crate) now: Time,
    /// When the bottleneck is free again.
    free: Time,
    there: VecDeque<(Time, Segment)>,
    back: VecDeque<(Time, Segment)>,
    pub(crate) left: Vec<Left>,
    pub(crate) dropped: u64,
    dice: u64,
}

impl World {
    /// Opened at time 0.
    pub(crate) fn new(config: Config, path: Path, seed: u64) -> Self {
        let mut world = Self::unopened(config, path, seed);
        world.open();
        world
    }

    /// Not yet opened.
    pub(crate) fn unopened(config: Config, path: Path, seed: u64) -> Self {
        let config = Arc::new(config);
        Self {
            sender: Connection::new(Arc::clone(&config), Seq(seed as u32)),
            receiver: Connection::listen(config, Seq(9)),
            path,
            now: Time::ZERO,
            free: Time::ZERO,
            there: VecDeque::new(),
            back: VecDeque::new(),
            left: Vec::new(),
            dropped: 0,
            dice: seed,
        }
    }

    /// Opens, and lets the opening segments pass.
    pub(crate) fn open(&mut self) {
        self.sender.open(self.now);
        self.settle();
        self.run_for(Span::from_ps(4 * self.path.delay.as_ps()));
    }

    pub(crate) fn write(&mut self, bytes: u64) {
        let taken = self.sender.write(self.now, bytes).expect("open");
        assert_eq!(taken, bytes, "the buffer holds it");
        self.settle();
    }

    /// What waits at the bottleneck, in bytes.
    pub(crate) fn queued(&self) -> u64 {
        let ps = u128::from((self.free - self.now).as_ps());
        (ps * u128::from(self.path.rate) / 1_000_000_000_000) as u64
    }

    pub(crate) fn run_for(&mut self, span: Span) {
        let end = self.now + span;
        loop {
            let arrivals = [&self.there, &self.back].into_iter().filter_map(|way| way.front().map(|f| f.0));
            let deadlines = [self.sender.next_deadline(), self.receiver.next_deadline()];
            let next = arrivals.chain(deadlines).min().expect("two at least");
            if next > end {
                self.now = end;
                return;
            }
            self.now = self.now.max(next);
            self.step();
        }
    }

    fn step(&mut self) {
        let now = self.now;
        if self.there.front().is_some_and(|first| first.0 <= now) {
            let (_, segment) = self.there.pop_front().expect("just seen");
            self.receiver.handle_segment(now, &segment);
            self.receiver.read(now, u64::MAX);
        } else if self.back.front().is_some_and(|first| first.0 <= now) {
            let (_, segment) = self.back.pop_front().expect("just seen");
            self.sender.handle_segment(now, &segment);
        } else {
            self.sender.handle_deadline(now);
            self.receiver.handle_deadline(now);
        }
        self.settle();
    }

    fn settle(&mut self) {
        let mut segment = Segment::default();
        while let Some(Departure { .. }) = self.sender.transmit_into(self.now, &mut segment) {
            self.enter(segment);
        }
        while self.receiver.transmit_into(self.now, &mut segment).is_some() {
            self.back.push_back((self.now + self.path.delay, segment));
        }
    }

    fn enter(&mut self, segment: Segment) {
        let (len, queued) = (segment.payload.len, self.queued());
        if len > 0 {
            self.left.push(Left { at: self.now, offset: segment.payload.offset, len, queued });
            self.dice =
                self.dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let unlucky = (self.dice >> 33) % 1_000_000 < u64::from(self.path.loss);
            if unlucky || queued + u64::from(len) > self.path.queue {
                self.dropped += 1;
                return;
            }
        }
        let takes = u64::from(len + HEADERS) * 1_000_000_000_000 / self.path.rate;
        self.free = self.free.max(self.now) + Span::from_ps(takes);
        self.there.push_back((self.free + self.path.delay, segment));
    }

    /// Bytes of the stream that have arrived.
    pub(crate) fn arrived(&self) -> u64 {
        self.receiver.received()
    }

    /// Bytes per second that arrive from now on, over such a span.
    pub(crate) fn goodput(&mut self, span: Span) -> f64 {
        let before = self.arrived();
        self.run_for(span);
        (self.arrived() - before) as f64 / span.as_secs_f64()
    }

    /// The largest queue that a segment met, and the mean, of those that left since.
    pub(crate) fn queue_since(&self, since: Time) -> (u64, f64) {
        let met: Vec<u64> =
            self.left.iter().filter(|left| left.at >= since).map(|left| left.queued).collect();
        let max = met.iter().copied().max().unwrap_or(0);
        (max, met.iter().sum::<u64>() as f64 / met.len().max(1) as f64)
    }
}
