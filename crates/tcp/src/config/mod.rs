//! Everything that can be chosen about a connection, as plain data.
//!
//! A driver makes one [`Config`], usually from a [`crate::config::profile`], checks it with [`Config::validate`], and shares it
//! between all connections that behave alike.

pub mod profile;
pub mod validate;

use crate::congestion;
use crate::receive::acking::Acking;
use crate::recovery::rto;
use crate::send::transmit::Transmit;
use crate::time::Span;
use crate::wire::options::Layout;

/// What the MSS counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MssCounts {
    /// Payload bytes alone, as in the BSD systems of the 1980s and in most simulators.
    Data,
    /// Payload and TCP options together: what stands in each segment shrinks by its options (RFC 6691; RFC 9293,
    /// section 3.7.1).
    DataAndOptions,
}

/// How a window larger than 16 bits is told to the peer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowOption {
    /// Not at all: 65,535 bytes at most.
    None,
    /// RFC 7323, section 2: a shift agreed on the SYN segments.
    Rfc7323,
    /// A shift in every segment ("TCP sending rate control at Tera bits per second", section II).
    ScaleEverySegment,
    /// RFC 1106, section 3: options B and C.
    BigWindow,
}

/// What stands on a SYN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SynOptions {
    /// Every option that is offered, as on a real network.
    Announced,
    /// None at all: each end takes it that the other is configured as itself. So work simulators whose packets have 40
    /// bytes of header and no negotiation.
    Assumed,
}

/// Which mechanism decides what is resent, beside the retransmission timer that every choice has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recovery {
    /// The timer alone.
    Timeout,
    /// 4.3BSD-Tahoe: the third duplicate ACK resends one segment and slow-starts.
    Tahoe,
    /// 4.3BSD-Reno, RFC 5681 section 3.2: fast retransmit and fast recovery, over at the first new ACK.
    Reno,
    /// RFC 6582: stays in recovery until all that was in flight is acknowledged.
    NewReno,
    /// RFC 6675.
    Sack,
    /// RFC 8985 (RACK); with a peer that knows no SACK, as [`NewReno`](Self::NewReno).
    Rack,
    /// RFC 1106, section 2: what the receiver asks for is resent at once.
    Nak,
}

/// What a loss is taken for (RFC 1106, section 4.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LossMeans {
    /// Congestion: the window shrinks.
    Congestion,
    /// Noise: a loss noticed without a timeout leaves the window as it is.
    Noise,
}

/// How large cwnd is at the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InitialWindow {
    /// So many full segments.
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

/// What an acknowledgment counts for when cwnd grows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counting {
    /// Each ACK of new data counts as one full segment, as in the BSD systems and ns-2.
    Acks,
    /// min(bytes acknowledged, MSS) for each ACK (RFC 5681, equation 2).
    AcksByRfc5681,
    /// Bytes acknowledged (RFC 3465), at most `limit` segments an ACK.
    Bytes {
        /// L of RFC 3465, section 2.2.
        limit: u8,
    },
}

/// Which acknowledgments open cwnd.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Grows {
    /// Every one, as in the BSD systems.
    Always,
    /// Only one before which cwnd held something back: a window that is not used says nothing about the path (RFC 7661's
    /// concern). So the ACK of a short request leaves the initial window as it is.
    WhenLimiting,
    /// Only while cwnd is in use: it was used up in the present window of data or, in slow start, at least half of it was
    /// (Linux, `tcp_is_cwnd_limited()`).
    WhenUsed,
}

/// What ssthresh becomes a share of when something is lost or marked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reduces {
    /// FlightSize: what was outstanding (RFC 5681, equation 4; RFC 9438, section 4.6).
    Flight,
    /// cwnd, which the growth rule keeps close to what is used (Linux, `tcp_reno_ssthresh()`,
    /// `cubictcp_recalc_ssthresh()`).
    Cwnd,
}

/// What asks whether a closed window has opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowProbe {
    /// One byte of the data that waits (RFC 9293, section 3.8.6.1).
    Byte,
    /// Nothing, one position before the window, which the peer answers as well (Linux, `tcp_xmit_probe_skb()`). What the
    /// window permits goes in its place.
    Empty,
}

/// What becomes of a segment without the timestamp agreed on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unstamped {
    /// It is dropped (RFC 7323, section 3.2: SHOULD).
    Dropped,
    /// It is taken as if none had been agreed on (Linux, `tcp_fast_parse_options()` and `tcp_paws_discard()`).
    Accepted,
}

/// What answers an acknowledgment of what was never sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnsentAcked {
    /// An ACK (RFC 9293, section 3.10.7.4; RFC 5961, section 5).
    Answered,
    /// Nothing (Linux, `tcp_ack()`).
    Ignored,
}

/// Whether data may leave with a SYN (RFC 7413).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FastOpenUse {
    /// Neither asked for nor granted.
    Off,
    /// A client asks for a cookie, and shows the one it has; a server grants them. The driver keeps them.
    On,
}

/// When data is cut into segments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cutting {
    /// When it is sent: a segment may be made to fit the window, if that is not silly (RFC 9293, section 3.8.6.2.1).
    AtSend,
    /// When it is written: a segment that the window does not take whole waits. Segments are at most half of the window
    /// that the peer's SYN offered, or none might ever fit (Linux 2.2, `tcp_do_sendmsg()`, `tcp_sync_mss()`).
    AtWrite,
}

/// How an open receive window is told to the peer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowGrowth {
    /// Its right edge moves in steps of a segment or half the buffer (RFC 9293, section 3.8.6.2.2).
    InSteps,
    /// Every segment tells all the room there is, unless that is less than a segment and a quarter of the buffer (4.4BSD,
    /// `tcp_output()`).
    AtOnce,
}

/// When slow start is left without a loss.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HyStart {
    /// Not before ssthresh.
    Off,
    /// At once when round trips grow longer, or ACKs come in a long train (Linux, `tcp_cubic.c`).
    Linux,
    /// By careful rounds when round trips grow longer (HyStart++, RFC 9406).
    Rfc9406,
}

/// How cwnd grows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Growth {
    /// Which ACKs open it.
    pub grows: Grows,
    /// What an ACK counts for.
    pub counting: Counting,
    /// Segments by which cwnd opens for each counted segment in slow start: 1, or 2 (RFC 1106, section 4.2).
    pub slow_start_per_ack: u8,
}

/// The grain of the retransmission timer and of the round-trip clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TimerGrain {
    /// Timers run out when they are due.
    Continuous,
    /// A free-running clock: a timer of n ticks runs out at the n-th tick to come; round trips are counted in ticks
    /// crossed. 500 ms in BSD.
    Ticks {
        /// Length of a tick.
        period: Span,
        /// When the first tick falls, less than `period`.
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
    /// Unanswered probes before the connection is given up.
    pub probes: u8,
}

/// Whether duplicate ACKs are counted by a sender that listens to NAKs (RFC 1106, section 4.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DupAcks {
    /// They start a fast retransmit.
    Counted,
    /// They mean nothing, as soon as the peer is known to send NAKs.
    Ignored,
}

/// Whether explicit congestion notification is used (RFC 3168), and how marks are told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EcnUse {
    /// Neither asked for nor accepted.
    Off,
    /// Accepted if the peer asks for it.
    Accept,
    /// Asked for, and accepted.
    Rfc3168,
    /// Accepted if the peer asks for it, with accurate feedback if it asks for that (RFC 9768).
    AcceptRfc9768,
    /// Asked for with accurate feedback, and accepted with or without.
    Rfc9768,
}

impl EcnUse {
    /// Whether a connection that is opened asks for it.
    pub const fn asks(self) -> bool {
        matches!(self, Self::Rfc3168 | Self::Rfc9768)
    }
}

/// How the largest packet is found that a path takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PathMtuDiscovery {
    /// By what routers say (RFC 1191, RFC 8201).
    Icmp,
    /// The same; but where several timeouts in a row suggest that nobody says anything, segments become shorter, and probes look for
    /// what gets through (RFC 4821, section 7.6.4).
    ProbeAfterBlackHole,
    /// By probes from the beginning (RFC 4821, RFC 8899), and by what routers say.
    Probe,
}

/// A whole configuration.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// Largest segment we send, and announce to be ready to receive, in bytes.
    pub mss: u16,
    /// What `mss` counts.
    pub mss_counts: MssCounts,
    /// Receive buffer in bytes: the largest window we offer, below 2^30.
    pub receive_window: u32,
    /// The window grows from this many bytes to `receive_window` as the application reads (Linux); `None`: all of it is there
    /// from the beginning.
    pub initial_receive_window: Option<u32>,
    /// Cap on unacknowledged bytes, whatever the peer offers.
    pub send_window: Option<u32>,
    /// Send buffer in bytes: data written and not yet acknowledged.
    pub send_buffer: u64,
    /// The send buffer grows from this many bytes to `send_buffer` with cwnd (Linux); `None`: all of it is there from the
    /// beginning.
    pub initial_send_buffer: Option<u64>,
    /// Round both buffers up to whole segments, once their size is known (4.4BSD, `tcp_mss()`).
    pub round_buffers: bool,
    /// How the receive window grows in the peer's eyes.
    pub window_growth: WindowGrowth,
    /// When data is cut into segments.
    pub cutting: Cutting,
    /// What asks whether a closed window has opened.
    pub window_probe: WindowProbe,
    /// Use the window in whole segments only.
    pub whole_segments: bool,
    /// What becomes of a segment without the timestamp agreed on.
    pub unstamped: Unstamped,
    /// What answers an acknowledgment of what was never sent.
    pub unsent_acked: UnsentAcked,
    /// Whether data may leave with a SYN.
    pub fast_open: FastOpenUse,
    /// How large windows are announced.
    pub window_option: WindowOption,
    /// What stands on a SYN.
    pub syn_options: SynOptions,
    /// How the path MTU is found.
    pub path_mtu_discovery: PathMtuDiscovery,
    /// The MSS that probes begin with, and which a black hole leaves.
    pub base_mss: u16,
    /// How experimental options look on the wire.
    pub layout: Layout,
    /// Offer timestamps (RFC 7323, section 3).
    pub timestamps: bool,
    /// Offer and send SACK (RFC 2018, with D-SACK of RFC 2883).
    pub sack: bool,
    /// What is resent.
    pub recovery: Recovery,
    /// Duplicate ACKs that start a fast retransmit: 3.
    pub dup_ack_threshold: u8,
    /// Whether a sender with NAKs counts duplicate ACKs as well.
    pub dup_acks_beside_naks: DupAcks,
    /// New data on the first two duplicate ACKs (RFC 3042).
    pub limited_transmit: bool,
    /// Grain of RACK's reordering timer, which then waits two ticks more than it must (Linux, `TCP_TIMEOUT_MIN`); zero: it is
    /// exact (RFC 8985, section 6.2, step 5).
    pub reordering_tick: Span,
    /// A probe before the timeout when nothing comes back (RFC 8985, section 7); with [`Recovery::Rack`].
    pub tail_loss_probe: bool,
    /// The window falls with the clock of the ACKs during a recovery (RFC 6937); with [`Recovery::Rack`].
    pub prr: bool,
    /// A recovery or timeout that turns out a mistake is undone (RFC 3522, RFC 3708, RFC 5682); with [`Recovery::Rack`].
    pub undo: bool,
    /// Explicit congestion notification.
    pub ecn: EcnUse,
    /// What a loss is taken for.
    pub loss_means: LossMeans,
    /// The congestion control algorithm.
    pub congestion: congestion::Kind,
    /// cwnd at the start.
    pub initial_window: InitialWindow,
    /// ssthresh at the start in bytes; `u32::MAX` is infinite.
    pub initial_ssthresh: u32,
    /// How cwnd grows.
    pub growth: Growth,
    /// What it falls from.
    pub reduces: Reduces,
    /// When CUBIC leaves slow start without a loss. Only [`Recovery::Rack`] knows a round-trip time with every ACK: without it
    /// slow start is never left.
    pub hystart: HyStart,
    /// Segments leave at a rate instead of in bursts: the one that congestion control asks for, else what Linux takes from
    /// cwnd and the round-trip time.
    pub pacing: bool,
    /// Segments are handed to an interface that cuts them up, several at once: where an ACK is near, a burst waits for as much
    /// as makes it worth it (Linux, `tcp_tso_should_defer()`).
    pub segmentation_offload: bool,
    /// What is short waits while the interface, of so many bits per second, is busy with what left before (Linux,
    /// `tcp_should_autocork()`); 0: it does not.
    pub autocork: u64,
    /// Restart from the initial window after an idle RTO (RFC 5681, section 4.1).
    pub idle_restart: bool,
    /// The estimator.
    pub rto: rto::Kind,
    /// Whether only the RTT of one segment at a time is measured (without timestamps), and timers tick.
    pub timer_grain: TimerGrain,
    /// When received data is acknowledged.
    pub acking: Acking,
    /// When a short segment leaves.
    pub transmit: Transmit,
    /// Keep-alive probes.
    pub keep_alive: Option<KeepAlive>,
    /// Give up when data stays unacknowledged for so long (RFC 9293, section 3.8.3); `None`: only by retries.
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
