//! Linux.

use super::standard::{BY_ACKS, RENO};
use crate::config::{
    Config, Counting, Cutting, CwndCounts, EcnUse, GivesUp, Grows, Growth, HyStart, InitialWindow, MssCounts,
    OldSegments, PathMtuDiscovery, PrrRule, ReceiveMemory, Recovery, Reduces, SendMemory, StateMachine,
    TimerGrain, UnsentAcked, Unstamped, WindowOption, WindowProbe, WithoutSack,
};
use crate::congestion;
use crate::receive::acking::{Acking, Bounds, QuickCounts};
use crate::recovery::rto;
use crate::send::transmit::Transmit;
use crate::time::Span;

pub(super) const LINUX: Config = Config {
    mss: 1460,
    mss_counts: MssCounts::DataAndOptions,
    // tcp_rmem[2] since 6.16 and [1], of which the window initially gets half; tcp_wmem[2] and [1].
    receive_window: 32 << 20,
    initial_receive_window: Some(65_536),
    receive_memory: ReceiveMemory::Linux,
    send_buffer: 4 << 20,
    initial_send_buffer: Some(16_384),
    // sk_stream_memory_free(), sk_stream_write_space().
    send_memory: SendMemory::Linux,
    window_option: WindowOption::Rfc7323,
    // tcp_bound_to_half_wnd().
    half_window_segments: true,
    // tcp_write_wakeup(), tcp_xmit_probe_skb().
    window_probe: WindowProbe::Empty,
    // tcp_paws_discard() checks saw_tstamp.
    unstamped: Unstamped::Accepted,
    // tcp_ack() of 6.18.44 sends a challenge ACK for an ACK beyond SND.NXT; earlier versions drop it.
    unsent_acked: UnsentAcked::Answered,
    // tcp_sequence(), TCP_PAWS_WINDOW, tcp_send_dupack().
    old_segments: OldSegments::Linux,
    // tcp_write_err().
    gives_up: GivesUp::Silently,
    state_machine: StateMachine::Rfc9293,
    timestamps: true,
    sack: true,
    // tcp_recovery = 1, tcp_early_retrans = 3; tcp_cwnd_reduction(); tcp_try_undo_recovery(), tcp_frto = 2.
    recovery: Recovery::Rack,
    // tcp_add_reno_sack(), tcp_newreno_mark_lost().
    without_sack: WithoutSack::Linux,
    // TCP_TIMEOUT_MIN, two ticks of CONFIG_HZ, is omitted: systems differ, and a capture can hardly show it.
    reordering_tick: Span::ZERO,
    rto_tick: Span::ZERO,
    tail_loss_probe: true,
    prr: true,
    // tcp_cwnd_reduction().
    prr_rule: PrrRule::Linux,
    undo: true,
    // fq_codel, the packet scheduler of most systems, does not pace, and CUBIC does not require pacing.
    pacing: false,
    // tcp_tso_autosize(), bbr_min_tso_segs().
    paced_bursts: true,
    segmentation_offload: false,
    // __tcp_transmit_skb() since 5.4: interfaces cut packets of several segments up.
    push_bursts: true,
    autocork: 0,
    limited_transmit: true,
    // tcp_mtu_probing = 0, tcp_base_mss.
    path_mtu_discovery: PathMtuDiscovery::Icmp,
    base_mss: 1024,
    // tcp_ecn = 2; tcp_ecn_fallback = 1.
    ecn: EcnUse::Accept,
    congestion: congestion::Kind::CubicLinux,
    // hystart = 1, hystart_detect = 3.
    hystart: HyStart::Linux,
    // tcp_reno_ssthresh(), cubictcp_recalc_ssthresh().
    reduces: Reduces::Cwnd,
    // tcp_packets_in_flight().
    cwnd_counts: CwndCounts::Packets,
    // TCP_INIT_CWND = 10.
    initial_window: InitialWindow::Segments(10),
    initial_ssthresh: u32::MAX,
    // tcp_slow_start() adds all acknowledged segments.
    growth: Growth {
        grows: Grows::WhenUsed,
        counting: Counting::Bytes { limit: u8::MAX },
        slow_start_per_ack: 1,
    },
    // tcp_slow_start_after_idle = 1.
    idle_restart: true,
    // TCP_RTO_MIN, TCP_RTO_MAX, TCP_TIMEOUT_INIT.
    rto: rto::Kind::Linux { min: Span::from_ms(200), max: Span::from_secs(120), initial: Span::from_secs(1) },
    timer_grain: TimerGrain::Continuous,
    // TCP_ATO_MIN, TCP_DELACK_MAX, TCP_MAX_QUICKACKS.
    acking: Acking::Adaptive(Bounds {
        min: Span::from_ms(40),
        max: Span::from_ms(200),
        quick: 16,
        counts: QuickCounts::Acks,
        // tcp_comp_sack_delay_ns.
        behind_gap: Span::from_ms(1),
    }),
    // tcp_minshall_check().
    transmit: Transmit::Minshall,
    // tcp_syn_retries, tcp_synack_retries, tcp_syn_linear_timeouts (since 6.5), tcp_retries2.
    syn_retries: 6,
    syn_ack_retries: 5,
    syn_linear_timeouts: 4,
    retries: 15,
    // TCP_TIMEWAIT_LEN.
    time_wait: Span::from_secs(60),
    // tcp_challenge_ack_limit counts those of the host, without a limit since 5.19; tcp_invalid_ratelimit.
    // tcp_rfc1337 = 0.
    rfc1337: false,
    insecure_rst: false,
    challenge_acks_per_second: u32::MAX,
    invalid_ratelimit: Span::from_ms(500),
    ..RENO
};

pub(super) const BBR: Config = Config {
    // tcp_congestion_control = bbr. It sets cwnd during recoveries itself; prr has no effect.
    congestion: congestion::Kind::Bbr,
    // bbr_init(): SK_PACING_NEEDED; the packet scheduler fq or TCP's internal timers do the pacing.
    pacing: true,
    // Only bictcp has it.
    hystart: HyStart::Off,
    ..LINUX
};

pub(super) const DCTCP: Config = Config {
    // tcp_congestion_control = dctcp; dctcp_shift_g = 4 and dctcp_alpha_on_init = 1024 are constants here.
    congestion: congestion::Kind::Dctcp,
    // TCP_CONG_NEEDS_ECN: its SYN segments request ECN regardless of tcp_ecn. dctcp.rst recommends tcp_ecn_fallback =
    // 0; here a retransmitted SYN does not request ECN.
    ecn: EcnUse::Rfc3168,
    // Only bictcp has it.
    hystart: HyStart::Off,
    ..LINUX
};

pub(super) const PRAGUE: Config = Config {
    // The reference implementation is a fork of Linux: tcp_congestion_control = prague.
    congestion: congestion::Kind::Prague,
    // TCP_CONG_NEEDS_ACCECN; RFC 9331, section 4.2.
    ecn: EcnUse::Rfc9768,
    // The draft, section 2.4.1. Bursts of a millisecond would be marked by a queue that permits one.
    pacing: true,
    paced_bursts: false,
    // Only bictcp has it.
    hystart: HyStart::Off,
    ..LINUX
};

pub(super) const LINUX22: Config = Config {
    // The draft, section 3: 16 KB.
    receive_window: 16_384,
    initial_receive_window: None,
    receive_memory: ReceiveMemory::Bytes,
    // SK_WMEM_MAX.
    send_buffer: 65_535,
    initial_send_buffer: None,
    send_memory: SendMemory::Bytes,
    // tcp_do_sendmsg() cuts a write into segments; tcp_snd_test() sends only whole ones.
    cutting: Cutting::AtWrite,
    half_window_segments: false,
    // sysctl_tcp_window_scaling, _timestamps and _sack: on.
    window_option: WindowOption::Rfc7323,
    timestamps: true,
    sack: true,
    recovery: Recovery::Sack,
    without_sack: WithoutSack::NewReno,
    reordering_tick: Span::ZERO,
    rto_tick: Span::ZERO,
    tail_loss_probe: false,
    prr: false,
    undo: false,
    ecn: EcnUse::Off,
    limited_transmit: false,
    congestion: congestion::Kind::NewReno,
    hystart: HyStart::Off,
    reduces: Reduces::Flight,
    cwnd_counts: CwndCounts::Bytes,
    // tcp_v4_init_sock(): two, because of peers that count the SYN.
    initial_window: InitialWindow::Segments(2),
    growth: BY_ACKS,
    idle_restart: false,
    // TCP_RTO_MIN, TCP_RTO_MAX, TCP_TIMEOUT_INIT.
    rto: rto::Kind::Linux { min: Span::from_ms(200), max: Span::from_secs(120), initial: Span::from_secs(3) },
    // The draft, section 3: 10 ms, adapted to arriving segments (HZ/100 in tcp_enter_quickack_mode(), until one ACK is
    // sent; HZ/2 at most).
    acking: Acking::Adaptive(Bounds {
        min: Span::from_ms(10),
        max: Span::from_ms(500),
        quick: 1,
        counts: QuickCounts::Segments,
        behind_gap: Span::ZERO,
    }),
    // tcp_snd_test().
    transmit: Transmit::Linux22,
    // TSO came with 2.6.
    push_bursts: false,
    paced_bursts: false,
    challenge_acks_per_second: 0,
    invalid_ratelimit: Span::ZERO,
    unsent_acked: UnsentAcked::Ignored,
    syn_linear_timeouts: 0,
    ..LINUX
};
