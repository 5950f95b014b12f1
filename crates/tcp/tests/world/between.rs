//! Two connections with an adversary between them, who holds back, repeats, changes and invents segments. The oracle is a
//! small model of each receiver's stream and of the acceptance of segments (RFC 9293, section 3.10.7.4): it knows
//! which bytes have arrived at all, and nothing about how a connection works.

use netspurt_tcp::config::Config;
use netspurt_tcp::options::{Options, SackBlock, Timestamps};
use netspurt_tcp::segment::{Flags, Payload, Segment};
use netspurt_tcp::seq::Seq;
use netspurt_tcp::state::State;
use netspurt_tcp::time::{Span, Time};
use netspurt_tcp::{Connection, profile};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A step: what happens, to which end, and a number that means what the kind of step makes of it.
pub(crate) type Step = (u8, u8, u32);

/// The segments that the adversary holds of each direction.
const HELD: usize = 64;

/// What may have reached a receiver.
#[derive(Default)]
struct Model {
    /// Stream offsets that some segment carried: starts, with ends, disjoint.
    arrived: BTreeMap<i64, i64>,
    /// Offsets at which some segment carried a FIN.
    fins: BTreeSet<i64>,
    acknowledged: i64,
}

impl Model {
    fn add(&mut self, mut start: i64, mut end: i64) {
        start = start.max(0);
        if start >= end {
            return;
        }
        while let Some((&s, &e)) = self.arrived.range(..=end).next_back().filter(|(_, e)| **e >= start) {
            self.arrived.remove(&s);
            (start, end) = (start.min(s), end.max(e));
        }
        self.arrived.insert(start, end);
    }

    /// The end of what is complete from the beginning.
    fn prefix(&self) -> i64 {
        self.arrived.get(&0).copied().unwrap_or(0)
    }

    /// All bytes that arrived.
    fn total(&self) -> u64 {
        self.arrived.iter().map(|(start, end)| (end - start) as u64).sum()
    }
}

struct End {
    tcp: Connection,
    model: Model,
    read: u64,
    window: i64,
}

/// The connections, the clock, and what was sent and not delivered.
pub(crate) struct Between {
    ends: [End; 2],
    now: Time,
    held: [Vec<Segment>; 2],
    /// The most segments that left in one step.
    pub(crate) most_sent: usize,
    /// Bytes that were read, and segments outside a window that were checked.
    pub(crate) seen: [u64; 2],
}

impl Between {
    /// Two ends with these profiles, by number. The second listens unless `both` open.
    pub(crate) fn new(profiles: [u8; 2], both: bool) -> Self {
        let all = profile::profiles();
        let config = |n: u8| {
            let mut config = all[usize::from(n) % all.len()].config.clone();
            config.receive_window = config.receive_window.min(100_000);
            Arc::new(config)
        };
        let end = |config: Arc<Config>, active: bool, iss: Seq| {
            let window = i64::from(config.receive_window);
            let mut tcp = if active { Connection::new(config, iss) } else { Connection::listen(config, iss) };
            if active {
                tcp.open(Time::ZERO);
            }
            End { tcp, model: Model::default(), read: 0, window }
        };
        let ends = [
            end(config(profiles[0]), true, Seq(u32::MAX - 900)),
            end(config(profiles[1]), both, Seq(0x7FFF_FF00)),
        ];
        let mut this = Self { ends, now: Time::ZERO, held: Default::default(), most_sent: 0, seen: [0; 2] };
        this.drain(0);
        this.drain(1);
        this
    }

    /// Carries out one step, and checks it against the model.
    pub(crate) fn step(&mut self, (kind, end, n): Step) {
        let e = usize::from(end & 1);
        let now = self.now;
        match kind % 16 {
            0 => drop(self.ends[e].tcp.write(now, u64::from(n % 20_000))),
            1 => self.read(e, n),
            2 if n % 8 == 0 => self.ends[e].tcp.close(now),
            2 if n % 64 == 1 => self.ends[e].tcp.abort(now),
            2 => self.ends[e].tcp.end_record(),
            3 => self.pass(Span::from_ms(u64::from(n % 500))),
            4 => {
                let deadline = self.ends[e].tcp.next_deadline();
                if !deadline.is_never() {
                    self.pass(deadline.since(now));
                }
            }
            // Delivery in order is the most frequent step: else no transfer would get far.
            5..=9 => {
                if !self.held[e].is_empty() {
                    let segment = self.held[e].remove(0);
                    self.deliver(1 - e, segment);
                }
            }
            10 => {
                if let Some(at) = self.pick(e, n) {
                    let segment = self.held[e].remove(at);
                    self.deliver(1 - e, segment);
                }
            }
            11 => {
                if let Some(at) = self.pick(e, n) {
                    let segment = self.held[e][at];
                    self.deliver(1 - e, segment);
                }
            }
            12 => {
                if let Some(at) = self.pick(e, n) {
                    self.held[e].remove(at);
                }
            }
            13 | 14 => {
                if let Some(at) = self.pick(e, n) {
                    let segment = changed(self.held[e][at], n >> 6);
                    self.deliver(1 - e, segment);
                }
            }
            _ => {
                let near = self.held[e].last().copied().unwrap_or_default();
                self.deliver(1 - e, invented(near, n));
            }
        }
        self.drain(0);
        self.drain(1);
    }

    fn pick(&self, e: usize, n: u32) -> Option<usize> {
        let count = self.held[e].len();
        (count > 0).then(|| n as usize % count)
    }

    fn pass(&mut self, span: Span) {
        let until = self.now + span.min(Span::from_secs(200));
        while let Some(due) =
            self.ends.iter().map(|end| end.tcp.next_deadline()).min().filter(|d| *d <= until)
        {
            self.now = self.now.max(due);
            for e in 0..2 {
                if self.ends[e].tcp.next_deadline() <= self.now {
                    self.ends[e].tcp.handle_deadline(self.now);
                }
                self.drain(e);
            }
        }
        self.now = until;
    }

    fn read(&mut self, e: usize, n: u32) {
        let end = &mut self.ends[e];
        let readable = end.tcp.readable();
        let Payload { offset, len } = end.tcp.read(self.now, u64::from(n % 30_000));
        assert!(u64::from(len) <= readable);
        if len > 0 {
            assert_eq!(offset, end.read, "a reader gets the stream in order and once");
            end.read += u64::from(len);
            self.seen[0] += u64::from(len);
            assert!(end.read as i64 <= end.model.prefix(), "bytes are read that never arrived");
        }
    }

    fn deliver(&mut self, e: usize, segment: Segment) {
        let end = &mut self.ends[e];
        let (state, received, ahead) = (end.tcp.state(), end.tcp.received(), end.tcp.info().out_of_order);
        end.tcp.handle_segment(self.now, &segment);
        if matches!(end.tcp.state(), State::Listen | State::SynSent) {
            (end.model, end.read) = (Model::default(), 0);
            return;
        }
        if state == State::Closed || end.tcp.state() == State::Closed {
            return;
        }
        let syn = segment.flags.has(Flags::SYN);
        let start = end.tcp.place(segment.seq) + i64::from(syn);
        let stop = start + i64::from(segment.payload.len);
        end.model.add(start, stop);
        if segment.flags.has(Flags::FIN) {
            end.model.fins.insert(stop);
        }
        let (took, keeps) = (end.tcp.received(), end.tcp.info().out_of_order);
        assert!(took as i64 <= end.model.prefix(), "{took} bytes received, {} arrived", end.model.prefix());
        assert!(took >= received || !state.is_synchronized(), "the stream goes back");
        assert!(took + keeps <= end.model.total(), "more is kept than arrived");
        assert!(keeps as i64 <= end.window + 3000, "{keeps} bytes out of order exceed the window");
        // RFC 9293, section 3.10.7.4, table 6: nothing of a segment before or behind the window is taken.
        let outside = stop <= received as i64 || start > received as i64 + end.window + 3000;
        if outside && segment.payload.len > 0 && state.is_synchronized() {
            self.seen[1] += 1;
            assert_eq!((took, keeps), (received, ahead), "an unacceptable segment is taken");
        }
    }

    fn drain(&mut self, e: usize) {
        let end = &mut self.ends[e];
        let mut count = 0;
        while let Some(out) = end.tcp.poll_transmit(self.now) {
            count += 1;
            let segment = out.segment;
            let behind = segment.payload.offset + u64::from(segment.payload.len);
            assert!(segment.payload.len == 0 || behind <= end.tcp.written(), "bytes leave that nobody wrote");
            let known = segment.flags.has(Flags::ACK) && !segment.flags.has(Flags::RST);
            if known && end.tcp.state() != State::Closed {
                let ack = end.tcp.place(segment.ack);
                let prefix = end.model.prefix();
                let most = prefix + i64::from(end.model.fins.contains(&prefix));
                assert!(ack <= most, "{ack} is acknowledged, {most} arrived: {segment:?}");
                assert!(ack >= end.model.acknowledged, "the acknowledgment goes back: {segment:?}");
                end.model.acknowledged = ack;
            }
            if self.held[e].len() < HELD {
                self.held[e].push(segment);
            }
        }
        assert!(end.tcp.acknowledged() <= end.tcp.written());
        self.most_sent = self.most_sent.max(count);
        // Each segment that leaves has data of its own, is an ACK or a probe.
        let data = (end.tcp.written() - end.tcp.acknowledged()) as usize;
        assert!(count <= data + 4, "{count} segments leave for {data} bytes");
    }
}

/// The segment with one field changed.
fn changed(mut segment: Segment, n: u32) -> Segment {
    let amount = (n >> 4) % 5000;
    match n % 10 {
        0 => segment.seq = segment.seq.plus(amount),
        1 => segment.seq = segment.seq.minus(amount),
        2 => segment.ack = segment.ack.plus(amount),
        3 => segment.ack = segment.ack.minus(amount),
        4 => segment.window = amount as u16,
        5 => segment.flags = Flags(segment.flags.0 ^ 1 << (amount % 6)),
        6 => segment.payload.len = amount % 1461,
        7 => segment.options.timestamps = Some(Timestamps { value: amount, echo: n }),
        8 => {
            let left = segment.ack.plus(amount);
            segment.options.sack.push(SackBlock { left, right: left.plus(1 + n % 3000) });
        }
        _ => segment.options = Options::NONE,
    }
    segment
}

/// A segment of the adversary's own, near a real one.
fn invented(near: Segment, n: u32) -> Segment {
    let flags = Flags(((n >> 3) & 0x3F) as u16);
    let len = if n & 1 == 0 { 0 } else { (n >> 9) % 1461 };
    let seq = near.seq.plus((n >> 12) % 4000).minus(2000);
    let window = (n >> 16) as u16;
    Segment { seq, flags, window, payload: Payload { offset: u64::from(n % 7000), len }, ..near }
}
