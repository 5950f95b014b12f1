//! The BSD systems and their descendants.

use super::standard::BY_ACKS;
use super::standard::RENO;
use crate::config::{
    Config, Counting, Cutting, CwndCounts, DupAcks, EcnUse, FastOpenUse, GivesUp, Growth, HyStart,
    InitialWindow, LossMeans, MssCounts, OldSegments, PathMtuDiscovery, PrrRule, ReceiveMemory,
    ReceiverCongestion, Recovery, Reduces, SendMemory, StateMachine, SynOptions, TimerGrain, UnsentAcked,
    Unstamped, WindowGrowth, WindowOption, WindowProbe, WithoutSack,
};
use crate::congestion;
use crate::receive::acking::Acking;
use crate::recovery::rto;
use crate::send::transmit::Transmit;
use crate::time::Span;
use crate::wire::options::Layout;

pub(super) const BSD43_TAHOE: Config = Config {
    // tcp_mss() rounded down to whole clusters of 1024 bytes (MCLBYTES); RFC 1106's figures fit it as well.
    mss: 1024,
    mss_counts: MssCounts::Data,
    // The largest 16-bit value. RFC 1106's "64K" row.
    receive_window: 65_535,
    send_window: None,
    // It does not limit: the window of the scenario represents the socket buffer of that time.
    send_buffer: 1 << 20,
    initial_receive_window: None,
    receive_memory: ReceiveMemory::Bytes,
    initial_send_buffer: None,
    send_memory: SendMemory::Bytes,
    round_buffers: false,
    window_growth: WindowGrowth::InSteps,
    receiver_congestion: ReceiverCongestion::Off,
    cutting: Cutting::AtSend,
    half_window_segments: false,
    window_probe: WindowProbe::Byte,
    unstamped: Unstamped::Dropped,
    unsent_acked: UnsentAcked::Answered,
    old_segments: OldSegments::Outside,
    gives_up: GivesUp::WithReset,
    state_machine: StateMachine::Rfc9293,
    fast_open: FastOpenUse::Off,
    path_mtu_discovery: PathMtuDiscovery::Icmp,
    base_mss: 1024,
    whole_segments: false,
    window_option: WindowOption::None,
    syn_options: SynOptions::Announced,
    layout: Layout::DOCUMENT,
    timestamps: false,
    sack: false,
    recovery: Recovery::Tahoe,
    // tcprexmtthresh = 3.
    dup_ack_threshold: 3,
    // RFC 1106, section 4.3; without NAKs it has no effect.
    dup_acks_beside_naks: DupAcks::Ignored,
    limited_transmit: false,
    without_sack: WithoutSack::NewReno,
    reordering_tick: Span::ZERO,
    rto_tick: Span::ZERO,
    tail_loss_probe: false,
    prr: false,
    prr_rule: PrrRule::Rfc9937,
    undo: false,
    hystart: HyStart::Off,
    reduces: Reduces::Flight,
    cwnd_counts: CwndCounts::Bytes,
    abe: false,
    careful_resume: None,
    ecn: EcnUse::Off,
    loss_means: LossMeans::Congestion,
    congestion: congestion::Kind::Tahoe,
    // tcp_template(): snd_cwnd = t_maxseg.
    initial_window: InitialWindow::Segments(1),
    // snd_ssthresh = 65535 in the code: with 16-bit windows this is infinite; RFC 1106's larger windows need it to be
    // so.
    initial_ssthresh: u32::MAX,
    growth: BY_ACKS,
    // tcp_output(): an idle connection restarts from one segment.
    pacing: false,
    paced_bursts: false,
    segmentation_offload: false,
    push_bursts: false,
    autocork: 0,
    idle_restart: true,
    // PR_SLOWHZ = 2: TCPTV_MIN = 1 s, TCPTV_REXMTMAX = 64 s; mean and two deviations; Reno introduced four.
    rto: rto::Kind::Tahoe { tick: Span::from_ms(500), min_ticks: 2, max_ticks: 128 },
    timer_grain: TimerGrain::Ticks { period: Span::from_ms(500), phase: Span::ZERO },
    // PR_FASTHZ = 5; the second segment brings a window update of two segments, which tcp_output() sends at once.
    acking: Acking::FreeTick { every: 2, period: Span::from_ms(200), phase: Span::ZERO },
    // tcp_output(): a short segment is sent only when idle.
    transmit: Transmit::NagleStrict,
    keep_alive: None,
    user_timeout: None,
    // TCPTV_KEEP_INIT = 75 s, after 6 s, 12 s, 24 s of waiting.
    syn_retries: 3,
    syn_ack_retries: 3,
    syn_linear_timeouts: 0,
    // TCP_MAXRXTSHIFT = 12.
    retries: 12,
    // TCPTV_MSL = 30 s.
    time_wait: Span::from_secs(60),
    rfc1337: false,
    insecure_rst: false,
    challenge_acks_per_second: 0,
    invalid_ratelimit: Span::ZERO,
};

pub(super) const BSD43_BIGWINDOW: Config = Config {
    // The largest window of RFC 1106's figures: 156K.
    receive_window: 156 * 1024,
    window_option: WindowOption::BigWindow,
    acking: Acking::EverySegment,
    ..BSD43_TAHOE
};

pub(super) const BSD43_BIGWINDOW_NAK: Config = Config {
    recovery: Recovery::Nak,
    // Section 4.2: the loss of a packet is interpreted as noise.
    loss_means: LossMeans::Noise,
    ..BSD43_BIGWINDOW
};

pub(super) const FREEBSD3: Config = Config {
    // The hosts of the draft are on one Ethernet.
    mss: 1460,
    // rc.conf: tcp_extensions="NO", so that no option but MSS is offered.
    timestamps: false,
    sack: false,
    window_option: WindowOption::None,
    // net.inet.tcp.recvspace and sendspace.
    receive_window: 16_384,
    send_buffer: 16_384,
    // tcp_mss(): both are rounded up to whole segments, 17,520 bytes here.
    round_buffers: true,
    // tcp_output(): each segment announces all free space.
    window_growth: WindowGrowth::AtOnce,
    recovery: Recovery::Reno,
    congestion: congestion::Kind::Reno,
    // tcp_mss(): snd_cwnd = maxseg.
    initial_window: InitialWindow::Segments(1),
    // tcp_output(): an idle connection restarts from one segment.
    idle_restart: true,
    // PR_SLOWHZ = 2, TCPTV_MIN = 1 s, TCPTV_REXMTMAX = 64 s; mean and four deviations.
    rto: rto::Kind::Jacobson88 { tick: Span::from_ms(500), min_ticks: 2, max_ticks: 128 },
    timer_grain: TimerGrain::Ticks { period: Span::from_ms(500), phase: Span::ZERO },
    // PR_FASTHZ = 5; tcp_input() only sets TF_DELACK. Before the tick only a window update acknowledges, after the
    // reader has freed two segments or half of the buffer.
    acking: Acking::FreeTickBytes { every: 2, period: Span::from_ms(200), phase: Span::ZERO },
    // The draft, section 3: strict Nagle mode.
    transmit: Transmit::NagleStrict,
    // TCPTV_KEEP_INIT, TCP_MAXRXTSHIFT, TCPTV_MSL.
    syn_retries: 3,
    syn_ack_retries: 3,
    retries: 12,
    time_wait: Span::from_secs(60),
    challenge_acks_per_second: 0,
    ..RENO
};

/// The sources were not available, not even to the author of the draft. His description differs from FreeBSD only in
/// the window.
pub(super) const UNIXWARE7: Config = Config {
    // The draft, section 3: 32 KB.
    receive_window: 32_768,
    send_buffer: 32_768,
    round_buffers: false,
    ..FREEBSD3
};

pub(super) const FREEBSD: Config = Config {
    mss: 1460,
    mss_counts: MssCounts::DataAndOptions,
    // net.inet.tcp.recvbuf_max and recvspace, sendbuf_max and sendspace, recvbuf_auto and sendbuf_auto.
    receive_window: 2 << 20,
    initial_receive_window: Some(65_536),
    send_buffer: 2 << 20,
    initial_send_buffer: Some(32_768),
    // tcp_mss() rounds the buffers up to whole segments: 65,700 bytes with an MSS of 1460. tcp_default_output(): each
    // segment announces all free space.
    round_buffers: true,
    window_growth: WindowGrowth::AtOnce,
    // net.inet.tcp.rfc1323 and sack.enable; tolerate_missing_ts = 0.
    // tcp_connect(), syncache_add(): the smallest scale with which sb_max, 2 MB, can be announced: 6.
    window_option: WindowOption::Rfc7323,
    timestamps: true,
    sack: true,
    // tcp_addoptions(): MSS, window scale, SACK-permitted, timestamps.
    layout: Layout::BSD,
    unstamped: Unstamped::Dropped,
    state_machine: StateMachine::Freebsd,
    // The default stack: RFC 6675 with rfc6675_pipe; do_prr is not modelled without RACK. rfc3042.
    recovery: Recovery::Sack,
    limited_transmit: true,
    // net.inet.tcp.ecn.enable = 2.
    ecn: EcnUse::Accept,
    // net.inet.tcp.cc.algorithm, since 14.0.
    congestion: congestion::Kind::Cubic,
    // initcwnd_segments, abc_l_var; cc_after_idle().
    initial_window: InitialWindow::Segments(10),
    growth: Growth { counting: Counting::Bytes { limit: 2 }, ..BY_ACKS },
    idle_restart: true,
    // TCPTV_MIN and rexmit_slop, 30 and 200 ms; TCPTV_REXMTMAX; TCPTV_RTOBASE; clocks of 1 ms.
    rto: rto::Kind::Rfc6298 {
        min: Span::from_ms(230),
        max: Span::from_secs(64),
        initial: Span::from_secs(1),
        granularity: Span::from_ms(1),
    },
    // delayed_ack, delacktime.
    acking: Acking::Delayed { every: 2, delay: Span::from_ms(40) },
    // tcp_default_output(): a short segment is sent only when idle.
    transmit: Transmit::NagleStrict,
    // tcp_backoff: 1, 2, 4 s and so on. keepinit = 75 s ends a connection that does not open, after the retransmission at
    // 63 s; here the next timeout does.
    syn_retries: 6,
    // SYNCACHE_MAXREXMTS.
    syn_ack_retries: 3,
    // TCP_MAXRXTSHIFT, TCPTV_MSL.
    retries: 12,
    time_wait: Span::from_secs(60),
    // tcp_twcheck() drops resets.
    rfc1337: true,
    // ack_war_cnt in ack_war_timewindow.
    challenge_acks_per_second: 5,
    ..RENO
};
