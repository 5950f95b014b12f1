//! macOS, as far as Apple's published sources of its kernel (xnu) describe it.
//!
//! The names in the comments are those of bsd/netinet/tcp_*.c and of the settings `net.inet.tcp`.

use super::bsd::FREEBSD;
use crate::config::{
    Config, Counting, EcnUse, Growth, InitialWindow, Recovery, Reduces, StateMachine, Unstamped,
};
use crate::congestion;
use crate::receive::acking::Acking;
use crate::send::transmit::Transmit;
use crate::time::Span;

pub(super) const MACOS: Config = Config {
    // autorcvbufmax and autosndbufmax: 2 MB in the source, 4 MB on present machines. tcp_get_max_rwinscale(): the
    // smallest scale with which it can be announced, 6.
    receive_window: 65_535 << 6,
    send_buffer: 4 << 20,
    // recvspace and sendspace = 131,072; tcp_mss() rounds up to whole segments, of 1448 bytes with timestamps.
    initial_receive_window: Some(131_768),
    initial_send_buffer: Some(131_768),
    round_buffers: false,
    // tcp_input(): only a timestamp that is present is checked.
    unstamped: Unstamped::Accepted,
    // rack = 1, enable_tlp = 1; tcp_bad_rexmt_check(). PRR is not in the sources.
    recovery: Recovery::Rack,
    tail_loss_probe: true,
    undo: true,
    // net.inet.tcp.ecn = 1. That a host stops to request ECN on paths that drop such SYNs is not modelled.
    ecn: EcnUse::Rfc3168,
    // use_newreno = 0, cubic_rfc_compliant = 1. Its slow start has no delay rule.
    congestion: congestion::Kind::Cubic,
    // tcp_cubic_pre_fr(): min(cwnd, window).
    reduces: Reduces::Cwnd,
    // TCP_CC_CWND_INIT_PKTS; tcp_cubic_ack_rcvd() with cubic_minor_fixes: at most the initial window per ACK.
    initial_window: InitialWindow::Segments(10),
    growth: Growth { counting: Counting::Bytes { limit: 10 }, ..FREEBSD.growth },
    // tcp_cc_delay_ack(): every second segment; delayed ACKs wait 100 ms. That a fast receiver acknowledges less often
    // (delayed_ack = 3) is not modelled.
    acking: Acking::Delayed { every: 2, delay: Span::from_ms(100) },
    // TF_MAXSEGSNT: a short segment follows a full one.
    transmit: Transmit::NagleLiberal,
    // TCPTV_MSL = 15 s.
    time_wait: Span::from_secs(30),
    // FreeBSD's present rules for arriving segments are younger than the common source.
    state_machine: StateMachine::Rfc9293,
    rfc1337: false,
    // tcp_syn_backoff: 1, 1, 1, 1, 1, 2, 4 s and so on.
    syn_linear_timeouts: 4,
    // challengeack_limit, for each connection.
    challenge_acks_per_second: 10,
    // TCPTV_REXMTMIN and rexmt_slop, TCPTV_REXMTMAX, TCPTV_RTOBASE, TCPTV_KEEP_INIT, TCP_MAXRXTSHIFT,
    // layout, window growth, idle restart: as in FreeBSD.
    ..FREEBSD
};
