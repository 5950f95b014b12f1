//! Windows, as far as public sources describe it. Its TCP is not published, so the profile is "like" Windows, not Windows.
//!
//! "Settings" in a comment are those of the template Internet in Microsoft's documentation and published outputs of
//! `Get-NetTCPSetting` and `netsh interface tcp show global` (Windows Server 2022, Windows 11).

use super::standard::{BY_ACKS, RENO};
use crate::config::{
    Config, Counting, EcnUse, Growth, HyStart, InitialWindow, MssCounts, PrrRule, Recovery, WindowOption,
};
use crate::congestion;
use crate::receive::acking::Acking;
use crate::recovery::rto;
use crate::time::Span;
use crate::wire::options::Layout;

pub(super) const WINDOWS: Config = Config {
    mss: 1460,
    mss_counts: MssCounts::DataAndOptions,
    // AutoTuningLevel = normal: Microsoft gives a scale of 8 and a limit of 16 MB. No document gives the window of the
    // SYN; captures of Windows 10 and 11 have 64,240 bytes, 44 segments.
    receive_window: 65_535 << 8,
    initial_receive_window: Some(64_240),
    // The ideal send backlog (SIO_IDEAL_SEND_BACKLOG_QUERY) follows the path. Its sizes are not documented: 64 KB at first,
    // and the limit of the receiver, stand for them.
    send_buffer: 16 << 20,
    initial_send_buffer: Some(65_536),
    window_option: WindowOption::Rfc7323,
    // Settings: Timestamps = disabled.
    timestamps: false,
    sack: true,
    // Captures: MSS, window scale, SACK-permitted, as in BSD systems.
    layout: Layout::WINDOWS,
    // Microsoft announced RACK and tail loss probes for Windows 10 (2016), and names both, PRR and HyStart++ in "Algorithmic
    // improvements boost TCP performance on the Internet" (2021). Limited transmit is not documented: as in `rfc`.
    recovery: Recovery::Rack,
    tail_loss_probe: true,
    limited_transmit: true,
    prr: true,
    // The RFC of that time.
    prr_rule: PrrRule::Rfc6937,
    // draft-balasubramanian-tcpm-hystartplusplus, abstract: it describes the implementation in Windows.
    hystart: HyStart::Rfc9406,
    // Settings: EcnCapability = disabled.
    ecn: EcnUse::Off,
    // Settings: CongestionProvider = CUBIC; RFC 9438, abstract.
    congestion: congestion::Kind::Cubic,
    // Settings: InitialCongestionWindow = 10.
    initial_window: InitialWindow::Segments(10),
    // RFC 9406, section 4.3, by the authors of this implementation: L = 8 without pacing.
    growth: Growth { counting: Counting::Bytes { limit: 8 }, ..BY_ACKS },
    // Settings: CwndRestart = false.
    idle_restart: false,
    // Settings: MinRto = 300 ms, InitialRto = 1 s (3 s before 2019). The limit is not published: RFC 6298's.
    rto: rto::Kind::Rfc6298 {
        min: Span::from_ms(300),
        max: Span::from_secs(60),
        initial: Span::from_secs(1),
        granularity: Span::from_ms(1),
    },
    // Settings: DelayedAckFrequency = 2, DelayedAckTimeout = 40 ms.
    acking: Acking::Delayed { every: 2, delay: Span::from_ms(40) },
    // Settings: MaxSynRetransmissions = 4 (2 before 2019).
    syn_retries: 4,
    // Documents of present versions name no number for SYN-ACKs; as for a SYN.
    syn_ack_retries: 4,
    // TcpMaxDataRetransmissions = 5.
    retries: 5,
    // TcpTimedWaitDelay: documents give 120 or 240 s.
    time_wait: Span::from_secs(120),
    ..RENO
};
