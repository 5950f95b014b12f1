//! The TCP implementations of simulators.

use super::standard::{BY_ACKS, RENO, RTO_RFC6298};
use crate::config::{
    Config, Counting, Grows, Growth, InitialWindow, MssCounts, Recovery, SynOptions, TimerGrain, WindowOption,
};
use crate::congestion;
use crate::receive::acking::Acking;
use crate::recovery::rto;
use crate::send::transmit::Transmit;
use crate::time::Span;

pub(super) const SSFNET: Config = Config {
    // Packets of 1540 bytes on the wire: only this MSS reproduces the printed digits of the table.
    mss: 1500,
    mss_counts: MssCounts::Data,
    // 65,535 scaled by 2^14, RFC 7323's largest, and no option on the SYN (section III).
    receive_window: 65_535 << 14,
    window_option: WindowOption::Rfc7323,
    syn_options: SynOptions::Assumed,
    // 100 segments: neither 99 nor 101 reproduce the table.
    send_window: Some(100 * 1500),
    whole_segments: true,
    timestamps: false,
    recovery: Recovery::Reno,
    congestion: congestion::Kind::Reno,
    initial_window: InitialWindow::Segments(1),
    // The paper's "without scaling" column; "with" it is 65,535·2^14.
    initial_ssthresh: 65_535,
    growth: BY_ACKS,
    rto: RTO_RFC6298,
    acking: Acking::EverySegment,
    // The last short segment follows the full ones immediately.
    transmit: Transmit::NoDelay,
    ..RENO
};

pub(super) const NS2: Config = Config {
    // packetSize_ = 1000, without the header of 40 bytes.
    mss: 1000,
    mss_counts: MssCounts::Data,
    receive_window: 65_535,
    // window_ = 20 packets; ssthresh has the same initial value.
    send_window: Some(20 * 1000),
    initial_ssthresh: 20 * 1000,
    whole_segments: true,
    // tcpip_base_hdr_size_ = 40 for every packet.
    syn_options: SynOptions::Assumed,
    // singledup_ = 1.
    limited_transmit: true,
    // windowInit_ = 2.
    initial_window: InitialWindow::Segments(2),
    growth: BY_ACKS,
    // slow_start_restart_ = true.
    idle_restart: true,
    // minrto_ = 0.2 s, maxrto_ = 60 s, rtxcur_init_ = 3 s, tcpTick_ = 10 ms.
    rto: rto::Kind::Rfc6298 {
        min: Span::from_ms(200),
        max: Span::from_secs(60),
        initial: Span::from_secs(3),
        granularity: Span::from_ms(10),
    },
    timer_grain: TimerGrain::Ticks { period: Span::from_ms(10), phase: Span::ZERO },
    // TCPSink, not TCPSink/DelAck.
    acking: Acking::EverySegment,
    transmit: Transmit::NoDelay,
    ..RENO
};

/// The names in the comments are those of ns-2's baytcp/tcp-full-bay.cc.
pub(super) const NS2_BAYTCP: Config = Config {
    // RFC 2415, section 2: segments of 1460 bytes, packets of 1500 (TCPIP_BASE_PKTSIZE = 40).
    mss: 1460,
    mss_counts: MssCounts::Data,
    syn_options: SynOptions::Assumed,
    // The same section: a window of at most 11 packets; ssthresh has the same initial value (reinit()).
    send_window: Some(11 * 1460),
    initial_ssthresh: 11 * 1460,
    whole_segments: true,
    recovery: Recovery::Reno,
    congestion: congestion::Kind::Reno,
    // The document varies it from 1 to 4.
    initial_window: InitialWindow::Segments(1),
    // recv(): opencwnd() is called for each ACK, but not before the first data of the peer ("especially to compare
    // IWs"). The ACK of a request therefore does not increase cwnd. The rule here has the same effect for a request and
    // is more general.
    growth: Growth { grows: Grows::WhenLimiting, counting: Counting::Acks, slow_start_per_ack: 1 },
    // reinit() is called for a new connection only.
    idle_restart: false,
    // rtxcur_init_ was 6 s until 2006; minrto_ is 0.2 s. tcpTick_ is 10 ms; it was 100 ms until 2002.
    rto: rto::Kind::Rfc6298 {
        min: Span::from_ms(200),
        max: Span::from_secs(64),
        initial: Span::from_secs(6),
        granularity: Span::from_ms(10),
    },
    timer_grain: TimerGrain::Ticks { period: Span::from_ms(10), phase: Span::ZERO },
    // switch_spa_thresh_ = 16 KB, segsperack_ = 2, interval_ = 100 ms.
    acking: Acking::QuickStart { young: 16 << 10, every: 2, period: Span::from_ms(100), phase: Span::ZERO },
    // output(): the segment that empties the buffer carries PSH, and segments with PSH are sent.
    transmit: Transmit::NoDelay,
    // ns-2 has no TIME-WAIT; this is long enough to acknowledge a retransmitted FIN.
    time_wait: Span::from_secs(1),
    ..RENO
};
