//! One connection whose peer is the test itself: every segment is written out, every answer is looked at.
//!
//! Sequence numbers are told relative to the two initial ones, both of which lie just below the wrap of the 32 bits.

use super::ms;
use netspurt_tcp::acking::Acking;
use netspurt_tcp::config::{Config, InitialWindow};
use netspurt_tcp::options::Options;
use netspurt_tcp::profile;
use netspurt_tcp::reason::Reason;
use netspurt_tcp::segment::{Flags, Payload, Segment};
use netspurt_tcp::seq::Seq;
use netspurt_tcp::state::State;
use netspurt_tcp::time::{Span, Time};
use netspurt_tcp::transmit::Transmit;
use netspurt_tcp::{Connection, Transmission};
use std::sync::Arc;

/// Our initial sequence number, and the peer's.
const ISS: Seq = Seq(u32::MAX - 1500);
const IRS: Seq = Seq(u32::MAX - 300);
/// The window that the peer's segments offer unless a test says otherwise.
pub(crate) const WINDOW: u16 = 5000;

/// The options of a peer that takes segments of 1000 bytes and knows nothing else.
pub(crate) const FULL: Options = Options { mss: Some(1000), ..Options::NONE };

pub(crate) const ACK: Flags = Flags::ACK;
pub(crate) const SYN: Flags = Flags::SYN;
pub(crate) const FIN: Flags = Flags::FIN;
pub(crate) const RST: Flags = Flags::RST;
pub(crate) const SYN_ACK: Flags = Flags(Flags::SYN.0 | Flags::ACK.0);
pub(crate) const FIN_ACK: Flags = Flags(Flags::FIN.0 | Flags::ACK.0);
pub(crate) const RST_ACK: Flags = Flags(Flags::RST.0 | Flags::ACK.0);

/// A TCP without options, whose segments hold 1000 bytes, which answers and sends at once.
pub(crate) fn plain() -> Config {
    let mut config = profile::by_name("reno").expect("a built-in profile").config.clone();
    config.mss = 1000;
    config.receive_window = 10_000;
    config.initial_window = InitialWindow::Segments(10);
    config.acking = Acking::EverySegment;
    config.transmit = Transmit::NoDelay;
    config.idle_restart = false;
    config
}

/// What left: relative numbers, and the segment itself.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Out {
    pub(crate) at: Time,
    pub(crate) seq: i32,
    pub(crate) ack: i32,
    pub(crate) flags: Flags,
    pub(crate) len: u32,
    pub(crate) reason: Reason,
    pub(crate) segment: Segment,
}

impl std::fmt::Debug for Out {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { at, seq, ack, flags, len, reason, segment } = self;
        write!(f, "{at:?}: {flags:?} seq {seq} ack {ack} len {len} window {} ({reason:?})", segment.window)
    }
}

/// The connection, and the time.
pub(crate) struct Lone {
    pub(crate) c: Connection,
    pub(crate) now: Time,
}

impl Lone {
    pub(crate) fn closed(config: Config) -> Self {
        config.validate().expect("a configuration without contradictions");
        Self { c: Connection::new(Arc::new(config), ISS), now: ms(0) }
    }

    pub(crate) fn listening(config: Config) -> Self {
        config.validate().expect("a configuration without contradictions");
        Self { c: Connection::listen(Arc::new(config), ISS), now: ms(0) }
    }

    /// Established by an active open, the peer's SYN carrying `options`; the handshake takes no time.
    pub(crate) fn established(config: Config, options: Options, window: u16) -> Self {
        let mut lone = Self::closed(config);
        lone.c.open(lone.now);
        lone.poll();
        lone.gets(Segment { options, window, ..segment(SYN_ACK, 0, 1) });
        assert_eq!(lone.c.state(), State::Established);
        lone
    }

    /// In `state`, reached by the book: where data may be outstanding, we have written 3000 bytes and the peer has
    /// acknowledged 1000 of them; it has sent 500, which were read.
    pub(crate) fn reached(config: Config, state: State) -> Self {
        let mut lone = match state {
            State::Listen | State::SynReceived => Self::listening(config),
            _ => Self::closed(config),
        };
        match state {
            State::Closed | State::Listen => {}
            State::SynReceived => drop(lone.gets(segment(SYN, 0, 0))),
            _ => {
                lone.c.open(lone.now);
                lone.poll();
                if state.is_synchronized() {
                    lone.walk(state);
                }
            }
        }
        assert_eq!(lone.c.state(), state);
        lone
    }

    /// From SYN-SENT to a synchronized state.
    pub(crate) fn walk(&mut self, state: State) {
        self.gets(segment(SYN_ACK, 0, 1));
        self.gets(data(1, 1, 500));
        assert_eq!(self.reads(u64::MAX).0, 500);
        assert_eq!(self.writes(3000).len(), 3);
        self.gets(segment(ACK, 501, 1001));
        if matches!(state, State::CloseWait | State::LastAck) {
            self.gets(segment(FIN_ACK, 501, 1001));
        }
        if !matches!(state, State::Established | State::CloseWait) {
            self.closes();
        }
        match state {
            State::FinWait2 | State::TimeWait => drop(self.gets(segment(ACK, 501, 3002))),
            State::Closing => drop(self.gets(segment(FIN_ACK, 501, 1001))),
            _ => {}
        }
        if state == State::TimeWait {
            self.gets(segment(FIN_ACK, 501, 3002));
        }
    }

    /// Everything that the connection wants to send now.
    pub(crate) fn poll(&mut self) -> Vec<Out> {
        let mut all = Vec::new();
        while let Some(Transmission { segment, reason }) = self.c.poll_transmit(self.now) {
            all.push(Out {
                at: self.now,
                seq: segment.seq.distance_from(ISS),
                ack: if segment.flags.has(ACK) { segment.ack.distance_from(IRS) } else { 0 },
                flags: segment.flags,
                len: segment.payload.len,
                reason,
                segment,
            });
            assert!(all.len() < 10_000, "it never stops sending: {:?}", all.last());
        }
        all
    }

    /// A segment arrives; what does it answer?
    pub(crate) fn gets(&mut self, segment: Segment) -> Vec<Out> {
        self.c.handle_segment(self.now, &segment);
        self.poll()
    }

    /// The application writes; what leaves?
    pub(crate) fn writes(&mut self, len: u64) -> Vec<Out> {
        assert_eq!(self.c.write(self.now, len), Ok(len), "the write is accepted whole");
        self.poll()
    }

    /// The application closes; what leaves?
    pub(crate) fn closes(&mut self) -> Vec<Out> {
        self.c.close(self.now);
        self.poll()
    }

    /// The application reads at most `max` bytes; how many were there, and what leaves?
    pub(crate) fn reads(&mut self, max: u64) -> (u32, Vec<Out>) {
        let got = self.c.read(self.now, max).len;
        (got, self.poll())
    }

    /// Lets the time pass, with every deadline on the way; what left when?
    pub(crate) fn until(&mut self, end: Time) -> Vec<Out> {
        let mut all = Vec::new();
        while self.c.next_deadline() <= end {
            self.now = self.now.max(self.c.next_deadline());
            self.c.handle_deadline(self.now);
            all.extend(self.poll());
            assert!(all.len() < 10_000, "its deadlines never end: {:?}", all.last());
        }
        self.now = end;
        all
    }

    pub(crate) fn passes(&mut self, span: Span) -> Vec<Out> {
        self.until(self.now + span)
    }
}

/// A segment of the peer: numbers relative to the initial ones.
pub(crate) fn segment(flags: Flags, seq: i32, ack: i32) -> Segment {
    Segment {
        seq: IRS.plus(seq.cast_unsigned()),
        ack: if flags.has(ACK) { ISS.plus(ack.cast_unsigned()) } else { Seq(0) },
        flags,
        header_len: 20,
        window: WINDOW,
        options: Options { mss: flags.has(SYN).then_some(1000), ..Options::NONE },
        ..Segment::default()
    }
}

/// The peer's bytes at `seq`, with an ACK.
pub(crate) fn data(seq: i32, ack: i32, len: u32) -> Segment {
    with_text(segment(ACK, seq, ack), len)
}

/// The segment with text in it.
pub(crate) fn with_text(segment: Segment, len: u32) -> Segment {
    let first = segment.seq.distance_from(IRS) + i32::from(segment.flags.has(SYN));
    let offset = u64::try_from(first - 1).unwrap_or(0);
    Segment { payload: Payload { offset, len }, ..segment }
}

/// An ACK that offers `window`.
pub(crate) fn ack(seq: i32, ack: i32, window: u16) -> Segment {
    Segment { window, ..segment(ACK, seq, ack) }
}

/// The absolute form of one of our relative numbers.
pub(crate) fn ours(relative: i32) -> Seq {
    ISS.plus(relative.cast_unsigned())
}

/// The absolute form of one of the peer's relative numbers.
pub(crate) fn theirs(relative: i32) -> Seq {
    IRS.plus(relative.cast_unsigned())
}

/// When each of them left, in milliseconds.
pub(crate) fn times(all: &[Out]) -> Vec<u64> {
    all.iter().map(|out| out.at.as_ps() / 1_000_000_000).collect()
}
