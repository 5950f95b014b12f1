//! Named bundles of choices: what a system, a simulator or a standard did, as data.
//!
//! A profile is a starting point; a scenario overrides single keys. A choice without a comment follows from the
//! profile's document or makes no difference to it. The phase of a free-running tick is zero here: the driver sets it.

use crate::acking::Acking;
use crate::config::{
    Config, Counting, DupAcks, Growth, InitialWindow, LossMeans, MssCounts, Recovery, SynOptions, TimerGrain,
    WindowOption,
};
use crate::congestion;
use crate::options::Layout;
use crate::rto;
use crate::time::Span;
use crate::transmit::Transmit;

/// A named configuration.
#[derive(Clone, PartialEq, Debug)]
pub struct Profile {
    /// Lower-case, as in a scenario file.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Where the choices come from.
    pub document: &'static str,
    /// The choices.
    pub config: Config,
}

/// The profile in force where nothing else is said.
pub const DEFAULT: &str = "rfc";

/// Every built-in profile, the oldest first.
pub fn profiles() -> &'static [Profile] {
    &PROFILES
}

/// The profile of that name.
pub fn by_name(name: &str) -> Option<&'static Profile> {
    PROFILES.iter().find(|profile| profile.name == name)
}

static PROFILES: [Profile; 9] = [
    Profile {
        name: "bsd43-tahoe",
        summary: "4.3BSD-Tahoe of 1988: slow start, fast retransmit, 500 ms timer ticks, 64 KB windows",
        document: "Jacobson, \"Congestion avoidance and control\", SIGCOMM 1988; 4.3BSD-Tahoe, netinet/tcp_*.c",
        config: BSD43_TAHOE,
    },
    Profile {
        name: "bsd43-bigwindow",
        summary: "4.3BSD-Tahoe with the Big Window option and an ACK for every segment",
        document: "RFC 1106, section 3",
        config: BSD43_BIGWINDOW,
    },
    Profile {
        name: "bsd43-bigwindow-nak",
        summary: "4.3BSD-Tahoe with Big Window and NAK options, loss taken as noise",
        document: "RFC 1106, sections 2 to 4",
        config: BSD43_BIGWINDOW_NAK,
    },
    Profile {
        name: "reno",
        summary: "fast retransmit and fast recovery, two segments at the start, delayed ACKs, no options but MSS",
        document: "RFC 2581, RFC 5681, RFC 6298",
        config: RENO,
    },
    Profile {
        name: "newreno",
        summary: "reno that stays in recovery until the whole window is repaired, with limited transmit",
        document: "RFC 6582, RFC 3042",
        config: NEWRENO,
    },
    Profile {
        name: "ssfnet",
        summary: "SSFNet's TCP as the terabit paper used it: 100 whole segments of 1500 bytes at most, scaled windows",
        document: "\"TCP sending rate control at Tera bits per second\", section III; SSFNet 2.0, SSF.OS.TCP",
        config: SSFNET,
    },
    Profile {
        name: "ns2",
        summary: "one-way TCP of ns-2 (Agent/TCP/Reno with TCPSink): 1000-byte packets, 20 of them at most",
        document: "ns-2.35, tcl/lib/ns-default.tcl",
        config: NS2,
    },
    Profile {
        name: "rfc",
        summary: "what today's standards say: SACK recovery, CUBIC, ten segments at the start, timestamps, scaling",
        document: "RFC 9293, RFC 5681, RFC 6675, RFC 6298, RFC 6928, RFC 7323, RFC 9438, RFC 3042",
        config: RFC,
    },
    Profile {
        name: "linux",
        summary: "Linux 6, as near as the mechanisms here allow: CUBIC, SACK, 200 ms least timeout, 40 ms delayed ACK",
        document: "Linux, Documentation/networking/ip-sysctl.rst, net/ipv4/tcp*.c",
        config: LINUX,
    },
];

/// One ACK counts as one segment, slow start opens by one.
const BY_ACKS: Growth = Growth { counting: Counting::Acks, slow_start_per_ack: 1 };

const BSD43_TAHOE: Config = Config {
    // tcp_mss() rounded down to whole clusters of 1024 bytes (MCLBYTES); RFC 1106's figures fit it as well.
    mss: 1024,
    mss_counts: MssCounts::Data,
    // The largest that 16 bits can say. RFC 1106's "64K" row.
    receive_window: 65_535,
    send_window: None,
    // Not what limits: the socket buffer of the day is given by the window of the scenario.
    send_buffer: 1 << 20,
    whole_segments: false,
    window_option: WindowOption::None,
    syn_options: SynOptions::Announced,
    layout: Layout::DOCUMENT,
    timestamps: false,
    sack: false,
    recovery: Recovery::Tahoe,
    // tcprexmtthresh = 3.
    dup_ack_threshold: 3,
    // RFC 1106, section 4.3; without NAKs it means nothing.
    dup_acks_beside_naks: DupAcks::Ignored,
    limited_transmit: false,
    loss_means: LossMeans::Congestion,
    congestion: congestion::Kind::Tahoe,
    // tcp_template(): snd_cwnd = t_maxseg.
    initial_window: InitialWindow::Segments(1),
    // snd_ssthresh = 65535 in the code: with 16-bit windows the same as infinite; RFC 1106's larger windows need it so.
    initial_ssthresh: u32::MAX,
    growth: BY_ACKS,
    // tcp_output(): an idle connection starts again from one segment.
    idle_restart: true,
    // PR_SLOWHZ = 2: TCPTV_MIN = 1 s, TCPTV_REXMTMAX = 64 s; mean and two deviations, four came with Reno.
    rto: rto::Kind::Tahoe { tick: Span::from_ms(500), min_ticks: 2, max_ticks: 128 },
    timer_grain: TimerGrain::Ticks { period: Span::from_ms(500), phase: Span::ZERO },
    // PR_FASTHZ = 5; the second segment brings a window update of two segments, which tcp_output() sends at once.
    acking: Acking::FreeTick { every: 2, period: Span::from_ms(200), phase: Span::ZERO },
    // tcp_output(): a short segment goes only when idle.
    transmit: Transmit::NagleStrict,
    keep_alive: None,
    user_timeout: None,
    // TCPTV_KEEP_INIT = 75 s, after 6 s, 12 s, 24 s of waiting.
    syn_retries: 3,
    // TCP_MAXRXTSHIFT = 12.
    retries: 12,
    // TCPTV_MSL = 30 s.
    time_wait: Span::from_secs(60),
    challenge_acks_per_second: 0,
};

const BSD43_BIGWINDOW: Config = Config {
    // The largest window of RFC 1106's figures: 156K.
    receive_window: 156 * 1024,
    window_option: WindowOption::BigWindow,
    acking: Acking::EverySegment,
    ..BSD43_TAHOE
};

const BSD43_BIGWINDOW_NAK: Config = Config {
    recovery: Recovery::Nak,
    // Section 4.2: the loss of a packet is taken as noise.
    loss_means: LossMeans::Noise,
    ..BSD43_BIGWINDOW
};

const RENO: Config = Config {
    // Ethernet's 1500 bytes less 40.
    mss: 1460,
    mss_counts: MssCounts::DataAndOptions,
    receive_window: 65_535,
    send_window: None,
    send_buffer: 1 << 20,
    whole_segments: false,
    window_option: WindowOption::None,
    syn_options: SynOptions::Announced,
    layout: Layout::SHARED,
    timestamps: false,
    sack: false,
    recovery: Recovery::Reno,
    dup_ack_threshold: 3,
    // RFC 1106, section 4.3; without NAKs it means nothing.
    dup_acks_beside_naks: DupAcks::Ignored,
    limited_transmit: false,
    loss_means: LossMeans::Congestion,
    congestion: congestion::Kind::Reno,
    initial_window: InitialWindow::Rfc2581,
    // RFC 5681, section 3.1: arbitrarily high.
    initial_ssthresh: u32::MAX,
    // As deployed in that era; RFC 5681's own counting is a choice of its own.
    growth: BY_ACKS,
    // RFC 5681, section 4.1.
    idle_restart: true,
    rto: RTO_RFC6298,
    timer_grain: TimerGrain::Continuous,
    // RFC 5681, section 4.2: every second full segment, within 500 ms; 200 ms was the rule in practice.
    acking: DELAYED,
    // RFC 9293, section 3.7.4.
    transmit: Transmit::NagleStrict,
    keep_alive: None,
    user_timeout: None,
    // RFC 9293, section 3.8.3: at least 3 minutes for a SYN, which takes seven retransmissions from 1 s on.
    syn_retries: 7,
    // The same section: at least 100 s. Twelve (BSD) to fifteen (Linux) are usual.
    retries: 15,
    // RFC 9293, section 3.4.2: MSL = 2 minutes.
    time_wait: Span::from_secs(240),
    // RFC 5961, section 7, gives 10 in 5 s as an example.
    challenge_acks_per_second: 2,
};

/// RFC 6298, sections 2 and 2.5; its upper bound is the least one allowed.
const RTO_RFC6298: rto::Kind = rto::Kind::Rfc6298 {
    min: Span::from_secs(1),
    max: Span::from_secs(60),
    initial: Span::from_secs(1),
    granularity: Span::from_ms(1),
};

/// RFC 5681, section 4.2.
const DELAYED: Acking = Acking::Delayed { every: 2, delay: Span::from_ms(200) };

const NEWRENO: Config = Config {
    recovery: Recovery::NewReno,
    congestion: congestion::Kind::NewReno,
    limited_transmit: true,
    ..RENO
};

const SSFNET: Config = Config {
    // Packets of 1540 bytes on the wire: the only MSS that gives the table's printed digits.
    mss: 1500,
    mss_counts: MssCounts::Data,
    // 65,535 scaled by 2^14, RFC 7323's largest, and nothing said of it on the SYN (section III).
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
    // A last short segment follows the full ones at once.
    transmit: Transmit::NoDelay,
    ..RENO
};

const NS2: Config = Config {
    // packetSize_ = 1000, to which 40 bytes of header come.
    mss: 1000,
    mss_counts: MssCounts::Data,
    receive_window: 65_535,
    // window_ = 20 packets; ssthresh starts there as well.
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

const RFC: Config = Config {
    // No document says how large; this much does not limit a path of 100 Mbit/s by way of two satellites.
    receive_window: 16 << 20,
    send_buffer: 16 << 20,
    window_option: WindowOption::Rfc7323,
    timestamps: true,
    sack: true,
    recovery: Recovery::Sack,
    limited_transmit: true,
    congestion: congestion::Kind::Cubic,
    initial_window: InitialWindow::Rfc6928,
    growth: Growth { counting: Counting::AcksByRfc5681, slow_start_per_ack: 1 },
    ..RENO
};

const LINUX: Config = Config {
    mss: 1460,
    mss_counts: MssCounts::DataAndOptions,
    // tcp_rmem[2] and tcp_wmem[2]; their automatic growth from smaller values is not modelled.
    receive_window: 6 << 20,
    send_buffer: 4 << 20,
    window_option: WindowOption::Rfc7323,
    timestamps: true,
    sack: true,
    // Linux notices losses by RACK-TLP (RFC 8985); SACK by RFC 6675 is the nearest here.
    recovery: Recovery::Sack,
    limited_transmit: true,
    congestion: congestion::Kind::Cubic,
    // TCP_INIT_CWND = 10.
    initial_window: InitialWindow::Segments(10),
    initial_ssthresh: u32::MAX,
    // tcp_slow_start() adds all that was acknowledged.
    growth: Growth { counting: Counting::Bytes { limit: u8::MAX }, slow_start_per_ack: 1 },
    // tcp_slow_start_after_idle = 1.
    idle_restart: true,
    // TCP_RTO_MIN, TCP_RTO_MAX, TCP_TIMEOUT_INIT.
    rto: rto::Kind::Linux { min: Span::from_ms(200), max: Span::from_secs(120), initial: Span::from_secs(1) },
    timer_grain: TimerGrain::Continuous,
    // TCP_DELACK_MIN; the quick ACKs of a connection's start are not modelled.
    acking: Acking::Delayed { every: 2, delay: Span::from_ms(40) },
    // Linux has Minshall's variant of Nagle's rule, under which a tail follows full segments at once; of the choices
    // here, sending at once is nearer to it than judging each segment alone.
    transmit: Transmit::NoDelay,
    // tcp_syn_retries, tcp_retries2.
    syn_retries: 6,
    retries: 15,
    // TCP_TIMEWAIT_LEN.
    time_wait: Span::from_secs(60),
    // tcp_challenge_ack_limit of Linux 4.7 to 5.18.
    challenge_acks_per_second: 1000,
    ..RENO
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_is_valid_and_found_by_its_name() {
        for profile in profiles() {
            assert_eq!(profile.config.validate(), Ok(()), "{}", profile.name);
            assert_eq!(by_name(profile.name), Some(profile));
        }
        assert!(by_name(DEFAULT).is_some());
        assert_eq!(by_name("vegas"), None);
    }

    #[test]
    fn names_are_distinct() {
        for (at, profile) in profiles().iter().enumerate() {
            assert!(profiles()[..at].iter().all(|earlier| earlier.name != profile.name));
        }
    }

    #[test]
    fn the_terabit_window_is_below_two_to_the_thirty() {
        let ssfnet = &by_name("ssfnet").expect("a built-in profile").config;
        assert_eq!(ssfnet.receive_window, (1 << 30) - (1 << 14));
        assert_eq!(ssfnet.send_window, Some(150_000));
    }
}
