//! The configuration of a connection, as plain data.
//!
//! A driver makes one [`Config`], usually from a [`crate::config::profile`], checks it with [`Config::validate`], and
//! shares it between all connections with the same configuration.

pub mod profile;
pub mod validate;

use crate::congestion;
use crate::receive::acking::Acking;
use crate::recovery::rto;
use crate::send::transmit::Transmit;
use crate::time::Span;
use crate::wire::options::Layout;

/// Which bytes the MSS includes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MssCounts {
    /// Payload bytes alone, as in the BSD systems of the 1980s and in most simulators.
    Data,
    /// Payload and TCP options: options reduce the payload of a segment (RFC 6691; RFC 9293, section 3.7.1).
    DataAndOptions,
}

/// How a window above 65,535 bytes is announced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowOption {
    /// Not at all: 65,535 bytes at most.
    None,
    /// RFC 7323, section 2: a shift that the SYN segments negotiate.
    Rfc7323,
    /// A shift in every segment ("TCP sending rate control at Tera bits per second", section II).
    ScaleEverySegment,
    /// RFC 1106, section 3: options B and C.
    BigWindow,
}

/// Which options a SYN carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SynOptions {
    /// Every option that is offered, as on a real network.
    Announced,
    /// None: each end assumes that the other has the same configuration. Simulators with headers of 40 bytes and no
    /// negotiation work in this way.
    Assumed,
}

/// The loss recovery. Every choice also has the retransmission timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recovery {
    /// The timer alone.
    Timeout,
    /// 4.3BSD-Tahoe: the third duplicate ACK retransmits one segment and starts slow start.
    Tahoe,
    /// 4.3BSD-Reno, RFC 5681 section 3.2: fast retransmit and fast recovery, over at the first new ACK.
    Reno,
    /// RFC 6582: stays in recovery until all that was in flight is acknowledged.
    NewReno,
    /// RFC 6675.
    Sack,
    /// RFC 8985 (RACK); with a peer without SACK, the same as [`NewReno`](Self::NewReno).
    Rack,
    /// RFC 1106, section 2: the sender retransmits at once what a NAK requests.
    Nak,
}

/// How a loss is interpreted (RFC 1106, section 4.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LossMeans {
    /// Congestion: the window shrinks.
    Congestion,
    /// Noise: a loss that is detected without a timeout does not change the window.
    Noise,
}

/// The initial cwnd.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InitialWindow {
    /// This number of full segments.
    Segments(u32),
    /// RFC 2581, section 3.1: at most two segments.
    Rfc2581,
    /// RFC 3390: min(4·MSS, max(2·MSS, 4380 bytes)).
    Rfc3390,
    /// RFC 6928: min(10·MSS, max(2·MSS, 14600 bytes)).
    Rfc6928,
}

impl InitialWindow {
    /// In bytes, for segments of `mss` bytes.
    pub fn bytes(self, mss: u32) -> u32 {
        match self {
            Self::Segments(n) => n.saturating_mul(mss),
            Self::Rfc2581 => 2 * mss,
            Self::Rfc3390 => (4 * mss).min((2 * mss).max(4380)),
            Self::Rfc6928 => (10 * mss).min((2 * mss).max(14_600)),
        }
    }
}

/// How an ACK is counted for the growth of cwnd.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counting {
    /// Each ACK of new data counts as one full segment, as in the BSD systems and ns-2.
    Acks,
    /// min(bytes acknowledged, MSS) for each ACK (RFC 5681, equation 2).
    AcksByRfc5681,
    /// Bytes acknowledged (RFC 3465), at most `limit` segments per ACK.
    Bytes {
        /// L of RFC 3465, section 2.2.
        limit: u8,
    },
}

/// Which ACKs increase cwnd.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Grows {
    /// Every ACK, as in the BSD systems.
    Always,
    /// Only an ACK before which cwnd limited the sender: an unused window gives no information about the path (RFC
    /// 7661). The ACK of a short request therefore does not change the initial window.
    WhenLimiting,
    /// Only while cwnd is in use: the present window of data used it fully or, in slow start, at least half of it
    /// (Linux, `tcp_is_cwnd_limited()`).
    WhenUsed,
}

/// The base value from which ssthresh is computed after a loss or a mark.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reduces {
    /// FlightSize: the outstanding data (RFC 5681, equation 4; RFC 9438, section 4.6).
    Flight,
    /// cwnd, which the growth rule keeps close to its use (Linux, `tcp_reno_ssthresh()`, `cubictcp_recalc_ssthresh()`).
    Cwnd,
}

/// What a zero-window probe carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowProbe {
    /// One byte of unsent data (RFC 9293, section 3.8.6.1).
    Byte,
    /// No data, at one sequence number before the window, which the peer answers too (Linux, `tcp_xmit_probe_skb()`).
    /// If the window permits data, data is sent instead.
    Empty,
}

/// The treatment of a segment without the negotiated timestamp.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unstamped {
    /// It is dropped (RFC 7323, section 3.2: SHOULD).
    Dropped,
    /// It is accepted as if timestamps had not been negotiated (Linux, `tcp_fast_parse_options()` and
    /// `tcp_paws_discard()`).
    Accepted,
}

/// The reaction to an ACK of data that was never sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnsentAcked {
    /// An ACK (RFC 9293, section 3.10.7.4; RFC 5961, section 5).
    Answered,
    /// Nothing (Linux, `tcp_ack()`).
    Ignored,
}

/// Whether a SYN may carry data (RFC 7413).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FastOpenUse {
    /// Fast Open is neither requested nor granted.
    Off,
    /// A client requests a cookie or sends the one that it has. A server grants cookies. The driver stores them.
    On,
}

/// When data is cut into segments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cutting {
    /// When it is sent. The window can limit the size of a segment, within silly window avoidance (RFC 9293, section
    /// 3.8.6.2.1).
    AtSend,
    /// When it is written. A segment that does not fit into the window waits. The segment size is at most half of the
    /// window on the peer's SYN, because a larger segment might never fit (Linux 2.2, `tcp_do_sendmsg()`,
    /// `tcp_sync_mss()`).
    AtWrite,
}

/// How the receive window is announced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowGrowth {
    /// Its right edge moves in steps of a segment or half the buffer (RFC 9293, section 3.8.6.2.2).
    InSteps,
    /// Every segment announces all free space, unless it is less than a segment and a quarter of the buffer (4.4BSD,
    /// `tcp_output()`).
    AtOnce,
}

/// When slow start ends without a loss.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HyStart {
    /// Not before ssthresh.
    Off,
    /// Immediately when the RTT increases or the ACK train is long (Linux, `tcp_cubic.c`).
    Linux,
    /// After rounds of conservative slow start when the RTT increases (HyStart++, RFC 9406).
    Rfc9406,
}

/// How cwnd grows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Growth {
    /// Which ACKs increase it.
    pub grows: Grows,
    /// How an ACK is counted.
    pub counting: Counting,
    /// The increase of cwnd in segments for each counted segment in slow start: 1, or 2 (RFC 1106, section 4.2).
    pub slow_start_per_ack: u8,
}

/// The granularity of the retransmission timer and of RTT measurements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TimerGrain {
    /// Timers expire exactly at their deadline.
    Continuous,
    /// A free-running clock: a timer of n ticks expires at the n-th tick from now. An RTT is the number of ticks in
    /// between. BSD ticks every 500 ms.
    Ticks {
        /// Length of a tick.
        period: Span,
        /// The time of the first tick, less than `period`.
        phase: Span,
    },
}

/// Keep-alive probes (RFC 9293, section 3.8.4); off by default.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeepAlive {
    /// Idle time before the first probe: two hours by RFC 9293, MUST-28.
    pub idle: Span,
    /// Time between probes.
    pub interval: Span,
    /// The number of unanswered probes that ends the connection.
    pub probes: u8,
}

/// Whether a sender with NAKs counts duplicate ACKs (RFC 1106, section 4.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DupAcks {
    /// They start a fast retransmit.
    Counted,
    /// They are ignored once the peer has negotiated NAKs.
    Ignored,
}

/// Whether explicit congestion notification is used (RFC 3168), and the form of the feedback.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EcnUse {
    /// Neither requested nor accepted.
    Off,
    /// Accepted if the peer requests it.
    Accept,
    /// Requested and accepted.
    Rfc3168,
    /// Accepted if the peer requests it, with accurate feedback if the peer requests that (RFC 9768).
    AcceptRfc9768,
    /// Requested with accurate feedback, and accepted with or without it.
    Rfc9768,
}

impl EcnUse {
    /// Whether an active open requests ECN.
    pub const fn asks(self) -> bool {
        matches!(self, Self::Rfc3168 | Self::Rfc9768)
    }
}

/// How the path MTU is discovered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PathMtuDiscovery {
    /// By ICMP messages of routers (RFC 1191, RFC 8201).
    Icmp,
    /// By ICMP messages. Several consecutive timeouts indicate an ICMP black hole. The segments then become shorter,
    /// and probes search for the path MTU (RFC 4821, section 7.6.4).
    ProbeAfterBlackHole,
    /// By probes from the start (RFC 4821, RFC 8899), and by ICMP messages.
    Probe,
}

/// A whole configuration.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// Largest segment that we send and announce as our MSS, in bytes.
    pub mss: u16,
    /// Which bytes `mss` includes.
    pub mss_counts: MssCounts,
    /// Receive buffer in bytes: the largest window we offer, below 2^30.
    pub receive_window: u32,
    /// The window grows from this many bytes to `receive_window` as the application reads (Linux); `None`: it has its
    /// full size from the start.
    pub initial_receive_window: Option<u32>,
    /// Cap on unacknowledged bytes, whatever the peer offers.
    pub send_window: Option<u32>,
    /// Send buffer in bytes: data written and not yet acknowledged.
    pub send_buffer: u64,
    /// The send buffer grows from this many bytes to `send_buffer` with cwnd (Linux); `None`: it has its full size from
    /// the start.
    pub initial_send_buffer: Option<u64>,
    /// Round both buffers up to whole segments, once their size is known (4.4BSD, `tcp_mss()`).
    pub round_buffers: bool,
    /// How the receive window is announced.
    pub window_growth: WindowGrowth,
    /// When data is cut into segments.
    pub cutting: Cutting,
    /// What a zero-window probe carries.
    pub window_probe: WindowProbe,
    /// Use the window only in whole segments.
    pub whole_segments: bool,
    /// The treatment of a segment without the negotiated timestamp.
    pub unstamped: Unstamped,
    /// The reaction to an ACK of data that was never sent.
    pub unsent_acked: UnsentAcked,
    /// Whether a SYN may carry data.
    pub fast_open: FastOpenUse,
    /// How large windows are announced.
    pub window_option: WindowOption,
    /// Which options a SYN carries.
    pub syn_options: SynOptions,
    /// How the path MTU is found.
    pub path_mtu_discovery: PathMtuDiscovery,
    /// The MSS with which path MTU probing starts, and the MSS after a black hole is detected.
    pub base_mss: u16,
    /// The encoding of experimental options.
    pub layout: Layout,
    /// Offer timestamps (RFC 7323, section 3).
    pub timestamps: bool,
    /// Offer and send SACK (RFC 2018, with D-SACK of RFC 2883).
    pub sack: bool,
    /// The loss recovery.
    pub recovery: Recovery,
    /// Duplicate ACKs that start a fast retransmit: 3.
    pub dup_ack_threshold: u8,
    /// Whether a sender with NAKs counts duplicate ACKs as well.
    pub dup_acks_beside_naks: DupAcks,
    /// New data on the first two duplicate ACKs (RFC 3042).
    pub limited_transmit: bool,
    /// Granularity of RACK's reordering timer, which then expires two ticks late (Linux, `TCP_TIMEOUT_MIN`). With zero
    /// it is exact (RFC 8985, section 6.2, step 5).
    pub reordering_tick: Span,
    /// Tail loss probes (RFC 8985, section 7); with [`Recovery::Rack`].
    pub tail_loss_probe: bool,
    /// Proportional rate reduction during a recovery (RFC 6937); with [`Recovery::Rack`].
    pub prr: bool,
    /// Undo a spurious recovery or timeout (RFC 3522, RFC 3708, RFC 5682); with [`Recovery::Rack`].
    pub undo: bool,
    /// Explicit congestion notification.
    pub ecn: EcnUse,
    /// How a loss is interpreted.
    pub loss_means: LossMeans,
    /// The congestion control algorithm.
    pub congestion: congestion::Kind,
    /// cwnd at the start.
    pub initial_window: InitialWindow,
    /// ssthresh at the start in bytes; `u32::MAX` is infinite.
    pub initial_ssthresh: u32,
    /// How cwnd grows.
    pub growth: Growth,
    /// The base value from which ssthresh is computed.
    pub reduces: Reduces,
    /// When CUBIC leaves slow start without a loss. Only [`Recovery::Rack`] measures the RTT with every ACK. Without it
    /// HyStart has no effect.
    pub hystart: HyStart,
    /// Pace segments. The rate is that of congestion control, or else the rate that Linux computes from cwnd and the
    /// RTT.
    pub pacing: bool,
    /// TCP segmentation offload: a small burst waits for a larger one if an ACK is near (Linux,
    /// `tcp_tso_should_defer()`).
    pub segmentation_offload: bool,
    /// Rate of the interface in bits per second for automatic corking: a short segment waits while the interface
    /// transmits earlier packets (Linux, `tcp_should_autocork()`). 0 turns it off.
    pub autocork: u64,
    /// Restart from the initial window after an idle RTO (RFC 5681, section 4.1).
    pub idle_restart: bool,
    /// The RTO estimator.
    pub rto: rto::Kind,
    /// The granularity of timers and of RTT measurements.
    pub timer_grain: TimerGrain,
    /// When received data is acknowledged.
    pub acking: Acking,
    /// When a short segment is sent.
    pub transmit: Transmit,
    /// Keep-alive probes.
    pub keep_alive: Option<KeepAlive>,
    /// User timeout: close the connection if data stays unacknowledged for this time (RFC 9293, section 3.8.3). With
    /// `None` only the number of retries ends it.
    pub user_timeout: Option<Span>,
    /// Retransmissions of a SYN before giving up.
    pub syn_retries: u8,
    /// Retransmissions of data before giving up (R2 of RFC 9293, section 3.8.3).
    pub retries: u8,
    /// 2·MSL: how long TIME-WAIT lasts.
    pub time_wait: Span,
    /// Challenge ACKs per second (RFC 5961, section 7).
    pub challenge_acks_per_second: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn initial_windows_are_those_of_their_documents() {
        // RFC 3390, section 1: four segments up to 1095 bytes, three up to 2190, two beyond.
        for (mss, segments) in [(536, 4), (1095, 4), (1460, 3), (2190, 2), (9000, 2)] {
            assert_eq!(InitialWindow::Rfc3390.bytes(mss).div_ceil(mss), segments, "{mss}");
        }
        assert_eq!(InitialWindow::Rfc3390.bytes(1460), 4380);
        // RFC 6928, section 2: ten segments up to 1460 bytes, two from 7300 on.
        assert_eq!([536, 1460, 9000].map(|mss| InitialWindow::Rfc6928.bytes(mss)), [5360, 14_600, 18_000]);
        // RFC 2581, section 3.1: two.
        assert_eq!(InitialWindow::Rfc2581.bytes(1460), 2920);
    }
}
