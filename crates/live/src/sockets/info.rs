//! The kernel's `struct tcp_info` (Linux, include/uapi/linux/tcp.h).
//!
//! The structure has grown with the kernel. A field that an older kernel lacks is zero, or `None` where zero would mean
//! something; what a newer kernel adds is ignored.

use super::message::Bytes;
use netspurt_tcp::time::Span;

/// The state of the kernel's congestion avoidance (`enum tcp_ca_state`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Avoidance {
    /// Nothing is wrong.
    #[default]
    Open,
    /// Duplicate ACKs or SACK, but no loss yet.
    Disorder,
    /// cwnd was reduced after a congestion mark or a full local queue.
    Reduced,
    /// Lost segments are being retransmitted.
    Recovery,
    /// The retransmission timer has expired.
    Loss,
}

impl Avoidance {
    const fn from_number(number: u8) -> Self {
        match number {
            1 => Self::Disorder,
            2 => Self::Reduced,
            3 => Self::Recovery,
            4 => Self::Loss,
            _ => Self::Open,
        }
    }
}

/// How long a socket had something to send or to be acknowledged, and what limited it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Clocks {
    /// Data waited to be sent or to be acknowledged.
    pub busy: Span,
    /// As part of it: the peer's window permitted no more.
    pub rwnd_limited: Span,
    /// As part of it: the send buffer was empty and its writer waited for room.
    pub sndbuf_limited: Span,
}

/// What the kernel knows of a connection. Windows and counts without a unit are segments.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[expect(missing_docs, reason = "the names of tcp_info, documented where they need it")]
pub struct TcpInfo {
    pub avoidance: Avoidance,
    /// Consecutive timeouts of the same segment.
    pub retransmits: u8,
    /// Window probes without an answer.
    pub probes: u8,
    /// The last delivery rate was measured while the application had too little to send.
    pub app_limited: bool,
    pub rto: Span,
    pub snd_mss: u32,
    pub unacked: u32,
    pub sacked: u32,
    pub lost: u32,
    /// Retransmitted segments in flight.
    pub retrans: u32,
    /// Since data was sent last.
    pub last_data_sent: Span,
    /// Since an ACK arrived last.
    pub last_ack_recv: Span,
    pub rtt: Span,
    pub snd_ssthresh: u32,
    pub snd_cwnd: u32,
    pub reordering: u32,
    pub total_retrans: u32,
    /// Bytes per second; `None` without a limit.
    pub pacing_rate: Option<u64>,
    /// Bytes per second, of `SO_MAX_PACING_RATE`; `None` without it.
    pub max_pacing_rate: Option<u64>,
    pub bytes_acked: u64,
    pub bytes_received: u64,
    pub notsent_bytes: u32,
    pub min_rtt: Option<Span>,
    /// Bytes per second.
    pub delivery_rate: u64,
    /// `None` before Linux 4.10.
    pub clocks: Option<Clocks>,
    /// Segments that have arrived.
    pub delivered: u32,
    pub bytes_sent: u64,
    pub bytes_retrans: u64,
    /// Times that a segment arrived out of order.
    pub reord_seen: u32,
    /// The peer's window in bytes; `None` before Linux 5.4.
    pub snd_wnd: Option<u32>,
    /// Our window in bytes.
    pub rcv_wnd: u32,
    /// Time in recovery after timeouts; `None` before Linux 6.7.
    pub rto_recovery: Option<Span>,
}

/// What the kernel says for "no value".
const NONE_32: u32 = u32::MAX;
const NONE_64: u64 = u64::MAX;

impl TcpInfo {
    /// Reads as many fields as there are bytes.
    pub(super) fn parse(bytes: &[u8]) -> Self {
        let bytes = Bytes(bytes);
        let byte = |at| bytes.u8(at).unwrap_or(0);
        let word = |at| bytes.u32(at).unwrap_or(0);
        let long = |at| bytes.u64(at).unwrap_or(0);
        let us = |at| bytes.u64(at).map(microseconds);
        let rate = |at| bytes.u64(at).filter(|&rate| rate != NONE_64);
        let clocks = match (us(168), us(176), us(184)) {
            (Some(busy), Some(rwnd_limited), Some(sndbuf_limited)) => {
                Some(Clocks { busy, rwnd_limited, sndbuf_limited })
            }
            _ => None,
        };
        Self {
            avoidance: Avoidance::from_number(byte(1)),
            retransmits: byte(2),
            probes: byte(3),
            app_limited: byte(7) & 1 == 1,
            rto: Span::from_us(word(8).into()),
            snd_mss: word(16),
            unacked: word(24),
            sacked: word(28),
            lost: word(32),
            retrans: word(36),
            last_data_sent: Span::from_ms(word(44).into()),
            last_ack_recv: Span::from_ms(word(56).into()),
            rtt: Span::from_us(word(68).into()),
            snd_ssthresh: word(76),
            snd_cwnd: word(80),
            reordering: word(88),
            total_retrans: word(100),
            pacing_rate: rate(104),
            max_pacing_rate: rate(112),
            bytes_acked: long(120),
            bytes_received: long(128),
            notsent_bytes: word(144),
            min_rtt: bytes.u32(148).filter(|&us| us != NONE_32).map(|us| Span::from_us(us.into())),
            delivery_rate: long(160),
            clocks,
            delivered: word(192),
            bytes_sent: long(200),
            bytes_retrans: long(208),
            reord_seen: word(220),
            snd_wnd: bytes.u32(228),
            rcv_wnd: word(232),
            rto_recovery: bytes.u32(244).map(|ms| Span::from_ms(ms.into())),
        }
    }

    /// Segments in flight.
    pub const fn in_flight(&self) -> u32 {
        let left = self.sacked.saturating_add(self.lost);
        self.unacked.saturating_sub(left).saturating_add(self.retrans)
    }
}

/// Keeps a value that no kernel reports from overflowing [`Span`].
fn microseconds(us: u64) -> Span {
    Span::from_us(us.min(u64::MAX / 2_000_000))
}

/// The bandwidth that BBR has measured, and how it uses it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bbr {
    /// Bytes per second.
    pub bandwidth: u64,
    /// The least RTT.
    pub min_rtt: Span,
    /// Pacing rate by bandwidth, in 1/256.
    pub pacing_gain: u32,
    /// cwnd by the bandwidth-delay product, in 1/256.
    pub cwnd_gain: u32,
}

impl Bbr {
    /// Reads `struct tcp_bbr_info`.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let bytes = Bytes(bytes);
        Some(Self {
            bandwidth: u64::from(bytes.u32(4)?) << 32 | u64::from(bytes.u32(0)?),
            min_rtt: Span::from_us(bytes.u32(8)?.into()),
            pacing_gain: bytes.u32(12)?,
            cwnd_gain: bytes.u32(16)?,
        })
    }
}

/// The RTT that Vegas or one of its relatives has measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Vegas {
    /// The last RTT.
    pub rtt: Span,
    /// The least RTT.
    pub min_rtt: Span,
}

impl Vegas {
    /// Reads `struct tcpvegas_info`.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let bytes = Bytes(bytes);
        let time = |at| bytes.u32(at).map(|us| Span::from_us(us.into()));
        Some(Self { rtt: time(8)?, min_rtt: time(12)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(length: usize) -> Vec<u8> {
        (0..length).map(|at| (at % 251) as u8).collect()
    }

    #[test]
    fn a_field_that_the_kernel_lacks_is_absent() {
        let whole = TcpInfo::parse(&filled(280));
        assert!(whole.clocks.is_some() && whole.snd_wnd.is_some() && whole.rto_recovery.is_some());
        // Linux 4.9, 4.10, 5.4 and 6.6.
        let old = TcpInfo::parse(&filled(168));
        assert_eq!((old.clocks, old.snd_wnd), (None, None));
        assert_eq!(old.delivery_rate, whole.delivery_rate);
        assert!(TcpInfo::parse(&filled(192)).clocks.is_some());
        assert_eq!(TcpInfo::parse(&filled(191)).clocks, None);
        assert_eq!(TcpInfo::parse(&filled(232)).snd_wnd, whole.snd_wnd);
        assert_eq!(TcpInfo::parse(&filled(240)).rto_recovery, None);
    }

    #[test]
    fn fields_are_read_from_their_places() {
        let mut bytes = vec![0; 248];
        bytes[1] = 4;
        bytes[7] = 1;
        bytes[80..84].copy_from_slice(&10u32.to_ne_bytes());
        bytes[104..112].copy_from_slice(&u64::MAX.to_ne_bytes());
        bytes[148..152].copy_from_slice(&u32::MAX.to_ne_bytes());
        bytes[168..176].copy_from_slice(&2_500_000u64.to_ne_bytes());
        bytes[244..248].copy_from_slice(&300u32.to_ne_bytes());
        let info = TcpInfo::parse(&bytes);
        assert_eq!(info.avoidance, Avoidance::Loss);
        assert!(info.app_limited);
        assert_eq!((info.snd_cwnd, info.pacing_rate, info.min_rtt), (10, None, None));
        assert_eq!(info.clocks.expect("clocks").busy, Span::from_ms(2500));
        assert_eq!(info.rto_recovery, Some(Span::from_ms(300)));
    }

    #[test]
    fn the_bandwidth_of_bbr_has_two_halves() {
        let words = [1u32, 2, 3, 739, 512];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let bbr = Bbr::parse(&bytes).expect("whole");
        assert_eq!((bbr.bandwidth, bbr.pacing_gain), (0x2_0000_0001, 739));
        assert_eq!(Bbr::parse(&bytes[..19]), None);
        assert_eq!(Vegas::parse(&bytes).expect("whole").min_rtt, Span::from_us(739));
    }
}
