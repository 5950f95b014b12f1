//! What is known of a connection when it is over.

use super::distribution::Distribution;
use super::retransmission::Cause;
use super::who::Endpoints;
use crate::conversation::Side;
use crate::stamp::Stamp;
use netspurt_tcp::time::Span;

/// How much of the opening was captured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Opening {
    /// A SYN and its answer.
    Whole,
    /// A SYN that nobody answered, or an answer without a question.
    Half,
    /// Nothing: the capture began later.
    Missing,
}

impl Opening {
    /// The name used in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Half => "half",
            Self::Missing => "missing",
        }
    }
}

/// How it ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Closing {
    /// It did not, as far as the capture goes.
    Open,
    /// By a FIN; this side's came first.
    Closed(Side),
    /// By a reset from this side.
    Reset(Side),
    /// It was forgotten, because there were too many others.
    Forgotten,
}

impl Closing {
    /// The name used in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Closed(Side::A) => "client-fin",
            Self::Closed(Side::B) => "server-fin",
            Self::Reset(Side::A) => "client-reset",
            Self::Reset(Side::B) => "server-reset",
            Self::Forgotten => "forgotten",
        }
    }
}

/// A connection, looked back upon.
#[derive(Clone, PartialEq, Debug)]
pub struct ConnectionReport {
    /// Its ends.
    pub who: Endpoints,
    /// Its first packet.
    pub first: Stamp,
    /// Its last packet.
    pub last: Stamp,
    /// How much of the opening was seen.
    pub opening: Opening,
    /// How it ended.
    pub closing: Closing,
    /// From the SYN to the ACK of its answer, if neither was sent again: the round-trip time of the whole path, wherever
    /// on it the capture was taken.
    pub handshake: Option<Span>,
    /// What the client sent, then what the server sent.
    pub streams: [StreamReport; 2],
}

impl ConnectionReport {
    /// The side that more bytes came from.
    pub fn sender(&self) -> Side {
        let [a, b] = &self.streams;
        if b.acknowledged.max(b.bytes) > a.acknowledged.max(a.bytes) { Side::B } else { Side::A }
    }

    /// What this side sent.
    pub const fn stream(&self, side: Side) -> &StreamReport {
        match side {
            Side::A => &self.streams[0],
            Side::B => &self.streams[1],
        }
    }
}

/// One direction of it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct StreamReport {
    /// Packets.
    pub packets: u64,
    /// Those that carry data, a SYN or a FIN.
    pub segments: u64,
    /// Octets of data, whatever was sent twice counted twice.
    pub bytes: u64,
    /// Octets of data that the receiver acknowledged.
    pub acknowledged: u64,
    /// The first segment with data, and the last ACK of something new.
    pub data_from: Option<Stamp>,
    /// See [`StreamReport::data_from`].
    pub data_until: Option<Stamp>,
    /// Retransmitted segments, by [`Cause::ALL`].
    pub retransmitted: [u64; Cause::ALL.len()],
    /// Octets of data in them.
    pub retransmitted_bytes: u64,
    /// How many of them turned out to have been needless.
    pub spurious: u64,
    /// Segments that were overtaken.
    pub reordered: u64,
    /// By at most so many.
    pub reordering_extent: u64,
    /// Segments that came twice though they were sent once.
    pub duplicated: u64,
    /// Octets that were acknowledged and not captured.
    pub unseen_bytes: u64,
    /// Duplicate ACKs that its receiver sent.
    pub duplicate_acks: u64,
    /// How often its receiver closed the window.
    pub zero_windows: u64,
    /// Probes of a closed window.
    pub window_probes: u64,
    /// Segments with data that came by here with a congestion mark (RFC 3168).
    pub marked: u64,
    /// Keep-alives.
    pub keep_alives: u64,
    /// Most bytes on their way.
    pub flight_most: u64,
    /// The largest window that its receiver offered after the SYN.
    pub window_most: Option<u32>,
    /// Longest segment, octets of data.
    pub segment_most: u32,
    /// What its sender's SYN offered: maximum segment size.
    pub mss: Option<u16>,
    /// Shift of the window scale option.
    pub window_scale: Option<u8>,
    /// SACK-permitted.
    pub sack_permitted: bool,
    /// Timestamps.
    pub timestamps: bool,
    /// Round-trip times by Karn's rule.
    pub rtt: Distribution,
    /// Round-trip times by timestamps.
    pub rtt_timestamps: Distribution,
}

impl StreamReport {
    /// Retransmitted segments of all causes.
    pub fn retransmissions(&self) -> u64 {
        self.retransmitted.iter().sum()
    }

    /// Bits per second of what was acknowledged, from the first segment with data to the last ACK of something new.
    pub fn goodput_bps(&self) -> Option<f64> {
        let seconds = self.data_until?.since(self.data_from?).as_secs_f64();
        (seconds > 0.0 && self.acknowledged > 0).then(|| self.acknowledged as f64 * 8.0 / seconds)
    }
}
