//! One connection whose peer is the test itself: segments of 1000 bytes numbered from 1, acknowledged by number, at
//! explicit times. What comes out is told as (segment, reason).
#![allow(dead_code, reason = "each test program uses its own part of the lab")]

use netspurt_tcp::acking::Acking;
use netspurt_tcp::config::{
    Config, Counting, Growth, InitialWindow, LossMeans, MssCounts, Recovery, TimerGrain,
};
use netspurt_tcp::options::{Nak, Options, SackBlock, Timestamps};
use netspurt_tcp::reason::Reason;
use netspurt_tcp::segment::{Flags, Payload, Segment};
use netspurt_tcp::seq::Seq;
use netspurt_tcp::time::{Span, Time};
use netspurt_tcp::transmit::Transmit;
use netspurt_tcp::{Connection, Transmission, congestion, profile, rto};
use std::sync::Arc;

pub(crate) const MSS: u32 = 1000;
const OURS: Seq = Seq(0xFFFF_F000);
const THEIRS: Seq = Seq(0xFFFF_E000);

/// Segments of 1000 bytes, an ACK for each, ten segments at the start, a timeout of one second.
pub(crate) fn config(recovery: Recovery) -> Config {
    Config {
        mss: MSS as u16,
        mss_counts: MssCounts::Data,
        recovery,
        sack: matches!(recovery, Recovery::Sack | Recovery::Rack),
        limited_transmit: false,
        tail_loss_probe: false,
        prr: false,
        undo: false,
        hystart: netspurt_tcp::config::HyStart::Off,
        loss_means: LossMeans::Congestion,
        congestion: match recovery {
            Recovery::Tahoe | Recovery::Timeout | Recovery::Nak => congestion::Kind::Tahoe,
            Recovery::Reno => congestion::Kind::Reno,
            Recovery::NewReno | Recovery::Sack | Recovery::Rack => congestion::Kind::NewReno,
        },
        initial_window: InitialWindow::Segments(10),
        growth: Growth {
            grows: netspurt_tcp::config::Grows::Always,
            counting: Counting::Acks,
            slow_start_per_ack: 1,
        },
        rto: rto::Kind::Rfc6298 {
            min: Span::from_secs(1),
            max: Span::from_secs(60),
            initial: Span::from_secs(1),
            granularity: Span::from_ms(1),
        },
        timer_grain: TimerGrain::Continuous,
        acking: Acking::EverySegment,
        transmit: Transmit::NoDelay,
        ..profile::by_name("reno").expect("built in").config.clone()
    }
}

/// The connection and its clock.
pub(crate) struct Lab {
    pub(crate) tcp: Connection,
    pub(crate) now: Time,
    /// All that it sent.
    pub(crate) sent: Vec<(Time, Transmission)>,
    /// What it sent since it was last asked.
    fresh: usize,
    /// Next sequence number of the peer.
    pub(crate) seq: Seq,
    pub(crate) window: u16,
    /// Timestamps on the peer's data.
    pub(crate) stamp: Option<Timestamps>,
}

impl Lab {
    /// Opens actively at time 0; the peer answers at 100 ms with `options`.
    pub(crate) fn open(config: Config, options: Options) -> Self {
        Self::open_with(config, options, Flags::NONE)
    }

    /// The same with more flags on the peer's SYN-ACK.
    pub(crate) fn open_with(config: Config, options: Options, flags: Flags) -> Self {
        let mut lab = Self {
            tcp: Connection::new(Arc::new(config), OURS),
            now: Time::ZERO,
            sent: Vec::new(),
            fresh: 0,
            seq: THEIRS,
            window: 60_000,
            stamp: None,
        };
        lab.tcp.open(lab.now);
        lab.drain();
        lab.at(100);
        let flags = Flags::SYN | Flags::ACK | flags;
        lab.arrives(Segment { ack: OURS.plus(1), flags, options, ..Segment::default() });
        lab.seq = THEIRS.plus(1);
        lab.fresh = lab.sent.len();
        lab
    }

    /// Opened, with a peer that knows MSS and SACK.
    pub(crate) fn with_sack(config: Config) -> Self {
        Self::open(config, Options { mss: Some(MSS as u16), sack_permitted: true, ..Options::NONE })
    }

    /// Opened, with a peer that knows the MSS alone.
    pub(crate) fn plain(config: Config) -> Self {
        Self::open(config, Options { mss: Some(MSS as u16), ..Options::NONE })
    }

    /// Lets the clock run to `ms`, with the timers that run out on the way.
    pub(crate) fn at(&mut self, ms: u64) -> &mut Self {
        self.run_to(Time::ZERO + Span::from_ms(ms))
    }

    /// Lets the clock run to `until`.
    pub(crate) fn run_to(&mut self, until: Time) -> &mut Self {
        assert!(until >= self.now, "the clock goes forward");
        while self.tcp.next_deadline() <= until {
            self.now = self.now.max(self.tcp.next_deadline());
            self.tcp.handle_deadline(self.now);
            self.drain();
        }
        self.now = until;
        self
    }

    pub(crate) fn write(&mut self, segments: u64) -> &mut Self {
        self.write_bytes(segments * u64::from(MSS))
    }

    pub(crate) fn write_bytes(&mut self, bytes: u64) -> &mut Self {
        assert_eq!(self.tcp.write(self.now, bytes), Ok(bytes));
        self.drain();
        self
    }

    fn drain(&mut self) {
        while let Some(sent) = self.tcp.poll_transmit(self.now) {
            self.sent.push((self.now, sent));
        }
    }

    /// Hands over a segment; its sequence number and window are filled in.
    pub(crate) fn arrives(&mut self, mut segment: Segment) {
        segment.seq = self.seq;
        segment.window = self.window;
        self.tcp.handle_segment(self.now, &segment);
        self.drain();
    }

    /// Acknowledges the segments up to `n`, with options.
    pub(crate) fn ack_with(&mut self, n: u32, options: Options) -> &mut Self {
        self.arrives(Segment { ack: Self::behind(n), flags: Flags::ACK, options, ..Segment::default() });
        self
    }

    pub(crate) fn ack(&mut self, n: u32) -> &mut Self {
        self.ack_with(n, Options::NONE)
    }

    /// The same acknowledgment, `times` times.
    pub(crate) fn acks(&mut self, n: u32, times: u32) -> &mut Self {
        for _ in 0..times {
            self.ack(n);
        }
        self
    }

    /// Acknowledges up to `n` and reports segments `from`..=`to`, for each pair.
    pub(crate) fn sack(&mut self, n: u32, blocks: &[(u32, u32)]) -> &mut Self {
        let mut options = Options::NONE;
        for &(from, to) in blocks {
            options.sack.push(SackBlock { left: Self::behind(from - 1), right: Self::behind(to) });
        }
        self.ack_with(n, options)
    }

    /// Acknowledges up to `n` and asks for `count` segments from `first` on.
    pub(crate) fn nak(&mut self, n: u32, first: u32, count: u8) -> &mut Self {
        let nak = Some(Nak { first: Self::behind(first - 1), count });
        self.ack_with(n, Options { nak, ..Options::NONE })
    }

    /// The sequence number behind segment `n`.
    pub(crate) fn behind(n: u32) -> Seq {
        OURS.plus(1 + n * MSS)
    }

    /// Data of the peer: `len` bytes at stream offset `offset`; what the connection answers.
    pub(crate) fn data(&mut self, offset: u32, len: u32) -> Vec<Segment> {
        self.data_at(u64::from(offset), len)
    }

    /// The same, beyond the 32 bits of the sequence numbers.
    pub(crate) fn data_at(&mut self, offset: u64, len: u32) -> Vec<Segment> {
        let from = self.sent.len();
        let segment = Segment {
            seq: THEIRS.plus(1).plus(offset as u32),
            ack: Self::behind(0),
            flags: Flags::ACK,
            window: self.window,
            payload: Payload { offset, len },
            options: Options { timestamps: self.stamp, ..Options::NONE },
            ..Segment::default()
        };
        self.tcp.handle_segment(self.now, &segment);
        self.tcp.read(self.now, u64::MAX);
        self.drain();
        self.sent[from..].iter().map(|(_, sent)| sent.segment).collect()
    }

    /// The sequence number of the peer's first byte.
    pub(crate) fn their_first() -> Seq {
        THEIRS.plus(1)
    }

    /// Stream offset of one of the peer's sequence numbers.
    pub(crate) fn theirs(seq: Seq) -> u32 {
        seq.minus(THEIRS.0).minus(1).0
    }

    /// The data sent since this was last asked: number of the segment, reason.
    pub(crate) fn out(&mut self) -> Vec<(u64, Reason)> {
        let from = core::mem::replace(&mut self.fresh, self.sent.len());
        let data = self.sent[from..].iter().filter(|(_, sent)| sent.segment.payload.len > 0);
        data.map(|(_, sent)| (sent.segment.payload.offset / u64::from(MSS) + 1, sent.reason)).collect()
    }

    /// The data sent since this was last asked: when in ms, number of the segment, reason.
    pub(crate) fn timed(&mut self) -> Vec<(u64, u64, Reason)> {
        let from = self.fresh;
        let at: Vec<u64> = self.sent[from..]
            .iter()
            .filter(|(_, sent)| sent.segment.payload.len > 0)
            .map(|(at, _)| at.as_ps() / 1_000_000_000)
            .collect();
        at.into_iter().zip(self.out()).map(|(at, (n, why))| (at, n, why)).collect()
    }

    pub(crate) fn cwnd(&self) -> u32 {
        self.tcp.cwnd() / MSS
    }
}
