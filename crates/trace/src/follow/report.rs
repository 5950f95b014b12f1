//! The report of a connection.

use super::endpoints::Endpoints;
use super::retransmission::Cause;
use crate::conversation::Side;
use crate::follow::rtt::distribution::Distribution;
use crate::stamp::Stamp;
use netspurt_tcp::time::Span;

/// How much of the handshake was captured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Opening {
    /// The SYN and the SYN-ACK.
    Whole,
    /// Only one of them.
    Half,
    /// None: the capture starts later.
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

/// How the connection ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Closing {
    /// It did not end within the capture.
    Open,
    /// By FINs; this side sent the first one.
    Closed(Side),
    /// By a reset from this side.
    Reset(Side),
    /// Its state was dropped because there were too many connections.
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

/// The report of a connection.
#[derive(Clone, PartialEq, Debug)]
pub struct ConnectionReport {
    /// Its endpoints.
    pub who: Endpoints,
    /// Its first packet.
    pub first: Stamp,
    /// Its last packet.
    pub last: Stamp,
    /// How much of the handshake was captured.
    pub opening: Opening,
    /// How it ended.
    pub closing: Closing,
    /// From the SYN to the ACK of the SYN-ACK, if neither was retransmitted: the RTT of the whole path, wherever the
    /// capture point is.
    pub handshake: Option<Span>,
    /// What the client sent, then what the server sent.
    pub streams: [StreamReport; 2],
}

impl ConnectionReport {
    /// The side that has sent more bytes.
    pub fn sender(&self) -> Side {
        let [a, b] = &self.streams;
        if b.acknowledged.max(b.bytes) > a.acknowledged.max(a.bytes) { Side::B } else { Side::A }
    }

    /// The stream from this side.
    pub const fn stream(&self, side: Side) -> &StreamReport {
        match side {
            Side::A => &self.streams[0],
            Side::B => &self.streams[1],
        }
    }
}

/// The report of one direction.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct StreamReport {
    /// Packets.
    pub packets: u64,
    /// Packets with data, SYN or FIN.
    pub segments: u64,
    /// Payload bytes, retransmissions included.
    pub bytes: u64,
    /// Payload bytes that the receiver acknowledged.
    pub acknowledged: u64,
    /// Time of the first segment with data, and of the last ACK of new data.
    pub data_from: Option<Stamp>,
    /// See [`StreamReport::data_from`].
    pub data_until: Option<Stamp>,
    /// Retransmitted segments, by [`Cause::ALL`].
    pub retransmitted: [u64; Cause::ALL.len()],
    /// Payload bytes of retransmissions.
    pub retransmitted_bytes: u64,
    /// Number of spurious retransmissions.
    pub spurious: u64,
    /// Reordered segments.
    pub reordered: u64,
    /// Maximum reordering extent.
    pub reordering_extent: u64,
    /// Segments that were captured twice but sent once.
    pub duplicated: u64,
    /// Bytes that were acknowledged but not captured.
    pub unseen_bytes: u64,
    /// Duplicate ACKs from the receiver.
    pub duplicate_acks: u64,
    /// How often the receiver closed the window.
    pub zero_windows: u64,
    /// Window probes.
    pub window_probes: u64,
    /// Segments with data that were marked with congestion experienced (RFC 3168).
    pub marked: u64,
    /// Keep-alives.
    pub keep_alives: u64,
    /// Maximum of bytes in flight.
    pub flight_most: u64,
    /// The largest receive window after the SYN.
    pub window_most: Option<u32>,
    /// Largest payload of a segment in bytes.
    pub segment_most: u32,
    /// Maximum segment size in the sender's SYN.
    pub mss: Option<u16>,
    /// Shift of the window scale option.
    pub window_scale: Option<u8>,
    /// SACK-permitted.
    pub sack_permitted: bool,
    /// Timestamps.
    pub timestamps: bool,
    /// RTT samples by Karn's rule.
    pub rtt: Distribution,
    /// RTT samples by timestamps.
    pub rtt_timestamps: Distribution,
}

impl StreamReport {
    /// Retransmissions of all causes.
    pub fn retransmissions(&self) -> u64 {
        self.retransmitted.iter().sum()
    }

    /// Acknowledged bits per second, from the first segment with data to the last ACK of new data.
    pub fn goodput_bps(&self) -> Option<f64> {
        let seconds = self.data_until?.since(self.data_from?).as_secs_f64();
        (seconds > 0.0 && self.acknowledged > 0).then(|| self.acknowledged as f64 * 8.0 / seconds)
    }
}
