//! The standards, past and present.

use crate::config::{
    Config, Counting, Cutting, CwndCounts, DupAcks, EcnUse, FastOpenUse, GivesUp, Grows, Growth, HyStart,
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

/// One ACK counts as one segment; slow start increases cwnd by one segment.
pub(super) const BY_ACKS: Growth =
    Growth { grows: Grows::Always, counting: Counting::Acks, slow_start_per_ack: 1 };

pub(super) const RENO: Config = Config {
    // Ethernet's 1500 bytes minus 40.
    mss: 1460,
    mss_counts: MssCounts::DataAndOptions,
    receive_window: 65_535,
    send_window: None,
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
    // RFC 4821, section 7.2; Linux, tcp_base_mss.
    base_mss: 1024,
    whole_segments: false,
    window_option: WindowOption::None,
    syn_options: SynOptions::Announced,
    layout: Layout::SHARED,
    timestamps: false,
    sack: false,
    recovery: Recovery::Reno,
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
    // RFC 8511 is experimental.
    abe: false,
    careful_resume: None,
    ecn: EcnUse::Off,
    loss_means: LossMeans::Congestion,
    congestion: congestion::Kind::Reno,
    initial_window: InitialWindow::Rfc2581,
    // RFC 5681, section 3.1: arbitrarily high.
    initial_ssthresh: u32::MAX,
    // As deployed at that time; RFC 5681's counting is a separate choice.
    growth: BY_ACKS,
    pacing: false,
    paced_bursts: false,
    segmentation_offload: false,
    push_bursts: false,
    autocork: 0,
    // RFC 5681, section 4.1.
    idle_restart: true,
    rto: RTO_RFC6298,
    timer_grain: TimerGrain::Continuous,
    // RFC 5681, section 4.2: every second full segment, within 500 ms; 200 ms was usual in practice.
    acking: DELAYED,
    // RFC 9293, section 3.7.4.
    transmit: Transmit::NagleStrict,
    keep_alive: None,
    user_timeout: None,
    // RFC 9293, section 3.8.3: at least 3 minutes for a SYN, which takes seven retransmissions from 1 s on.
    syn_retries: 7,
    syn_ack_retries: 7,
    syn_linear_timeouts: 0,
    // The same section: at least 100 s. Twelve (BSD) to fifteen (Linux) are usual.
    retries: 15,
    // RFC 9293, section 3.4.2: MSL = 2 minutes.
    time_wait: Span::from_secs(240),
    // RFC 5961, section 7, gives 10 in 5 s as an example.
    rfc1337: false,
    insecure_rst: false,
    challenge_acks_per_second: 2,
    invalid_ratelimit: Span::ZERO,
};

/// RFC 6298, sections 2 and 2.5; the upper bound is the smallest that it allows.
pub(super) const RTO_RFC6298: rto::Kind = rto::Kind::Rfc6298 {
    min: Span::from_secs(1),
    max: Span::from_secs(60),
    initial: Span::from_secs(1),
    granularity: Span::from_ms(1),
};

/// RFC 5681, section 4.2.
pub(super) const DELAYED: Acking = Acking::Delayed { every: 2, delay: Span::from_ms(200) };

pub(super) const NEWRENO: Config = Config {
    recovery: Recovery::NewReno,
    congestion: congestion::Kind::NewReno,
    limited_transmit: true,
    ..RENO
};

pub(super) const RFC: Config = Config {
    // No document gives a size; this one does not limit a path of 100 Mbit/s over two satellites.
    receive_window: 16 << 20,
    send_buffer: 16 << 20,
    window_option: WindowOption::Rfc7323,
    timestamps: true,
    sack: true,
    recovery: Recovery::Sack,
    limited_transmit: true,
    congestion: congestion::Kind::Cubic,
    initial_window: InitialWindow::Rfc6928,
    growth: Growth { grows: Grows::Always, counting: Counting::AcksByRfc5681, slow_start_per_ack: 1 },
    // RFC 9293, section 3.8.2 (SHLD-8): ECN is accepted if the peer requests it.
    ecn: EcnUse::Accept,
    ..RENO
};
