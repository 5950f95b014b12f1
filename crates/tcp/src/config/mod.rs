//! The configuration of a connection, as plain data.
//!
//! A driver makes one [`Config`], usually from a [`crate::config::profile`], checks it with [`Config::validate`], and
//! shares it between all connections with the same configuration.

pub(crate) mod choices;
pub mod profile;
pub mod validate;

pub use choices::{
    Counting, Cutting, CwndCounts, DupAcks, EcnUse, FastOpenUse, GivesUp, Grows, Growth, HyStart,
    InitialWindow, KeepAlive, LossMeans, MssCounts, OldSegments, PathMtuDiscovery, PrrRule, ReceiveMemory,
    ReceiverCongestion, Recovery, Reduces, SavedPath, SendMemory, StateMachine, SynOptions, TimerGrain,
    UnsentAcked, Unstamped, WindowGrowth, WindowOption, WindowProbe, WithoutSack,
};

use crate::congestion;
use crate::receive::acking::Acking;
use crate::recovery::rto;
use crate::send::transmit::Transmit;
use crate::time::Span;
use crate::wire::options::Layout;

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
    /// What a receive buffer counts that adapts to the reader: `receive_window` is the size of the buffer, in bytes of this
    /// kind.
    pub receive_memory: ReceiveMemory,
    /// Cap on unacknowledged bytes, whatever the peer offers.
    pub send_window: Option<u32>,
    /// Send buffer in bytes: data written and not yet acknowledged.
    pub send_buffer: u64,
    /// The send buffer grows from this many bytes to `send_buffer` with cwnd (Linux); `None`: it has its full size from
    /// the start.
    pub initial_send_buffer: Option<u64>,
    /// What the send buffer counts.
    pub send_memory: SendMemory,
    /// Round both buffers up to whole segments, once their size is known (4.4BSD, `tcp_mss()`).
    pub round_buffers: bool,
    /// How the receive window is announced.
    pub window_growth: WindowGrowth,
    /// Congestion control by the receiver. It requires `initial_receive_window` and timestamps.
    pub receiver_congestion: ReceiverCongestion,
    /// When data is cut into segments.
    pub cutting: Cutting,
    /// Segments of at most half of the largest window that the peer has announced, as long as that is small (Linux,
    /// `tcp_bound_to_half_wnd()`).
    pub half_window_segments: bool,
    /// What a zero-window probe carries.
    pub window_probe: WindowProbe,
    /// Use the window only in whole segments.
    pub whole_segments: bool,
    /// The treatment of a segment without the negotiated timestamp.
    pub unstamped: Unstamped,
    /// The reaction to an ACK of data that was never sent.
    pub unsent_acked: UnsentAcked,
    /// Which old segments pass the first checks, and which are reported.
    pub old_segments: OldSegments,
    /// How a connection ends that has waited too long for an ACK.
    pub gives_up: GivesUp,
    /// The rules for arriving segments where systems differ.
    pub state_machine: StateMachine,
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
    /// The recovery of [`Recovery::Rack`] on a connection without SACK.
    pub without_sack: WithoutSack,
    /// Granularity of RACK's reordering timer, which then expires two ticks late (Linux, `TCP_TIMEOUT_MIN`). With zero
    /// it is exact (RFC 8985, section 6.2, step 5).
    pub reordering_tick: Span,
    /// Whole ticks in which the RTO counts where a tail loss probe is set behind new data: it may not leave later than the timeout
    /// (Linux, `__tcp_set_rto()`, `tcp_schedule_loss_probe()`). With zero they are compared exactly.
    pub rto_tick: Span,
    /// Tail loss probes (RFC 8985, section 7); with [`Recovery::Rack`].
    pub tail_loss_probe: bool,
    /// Proportional rate reduction during a recovery (RFC 9937, RFC 6937); with [`Recovery::Rack`].
    pub prr: bool,
    /// How it computes the window.
    pub prr_rule: PrrRule,
    /// Undo a spurious recovery or timeout (RFC 3522, RFC 3708, RFC 5682); with [`Recovery::Rack`].
    pub undo: bool,
    /// Explicit congestion notification.
    pub ecn: EcnUse,
    /// How a loss is interpreted.
    pub loss_means: LossMeans,
    /// The congestion control algorithm.
    pub congestion: congestion::Kind,
    /// What cwnd counts.
    pub cwnd_counts: CwndCounts,
    /// cwnd at the start.
    pub initial_window: InitialWindow,
    /// ssthresh at the start in bytes; `u32::MAX` is infinite.
    pub initial_ssthresh: u32,
    /// How cwnd grows.
    pub growth: Growth,
    /// The base value from which ssthresh is computed.
    pub reduces: Reduces,
    /// The start with the capacity that an earlier connection has found (Careful Resume, RFC 9959).
    pub careful_resume: Option<SavedPath>,
    /// A mark reduces cwnd less than a loss (RFC 8511); with Reno, NewReno and CUBIC.
    pub abe: bool,
    /// When CUBIC leaves slow start without a loss. Only [`Recovery::Rack`] measures the RTT with every ACK. Without it
    /// HyStart has no effect.
    pub hystart: HyStart,
    /// Pace segments. The rate is that of congestion control, or else the rate that Linux computes from cwnd and the
    /// RTT.
    pub pacing: bool,
    /// With pacing and `push_bursts`: the segments of a burst leave at once, and the next burst waits for the time of all of them
    /// (Linux, `tcp_update_skb_after_send()`).
    pub paced_bursts: bool,
    /// TCP segmentation offload: a small burst waits for a larger one if an ACK is near (Linux,
    /// `tcp_tso_should_defer()`).
    pub segmentation_offload: bool,
    /// The last segment of a burst of two or more carries PSH (Linux, `__tcp_transmit_skb()`). The end of a write carries
    /// none if another write follows before it is sent (`tcp_sendmsg_locked()`).
    pub push_bursts: bool,
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
    /// Retransmissions of a SYN-ACK before the half-open connection is given up (Linux, `tcp_synack_retries`).
    pub syn_ack_retries: u8,
    /// Further retransmissions of the SYN of an active open before the others, without backoff (Linux,
    /// `tcp_syn_linear_timeouts`).
    pub syn_linear_timeouts: u8,
    /// Retransmissions of data before giving up (R2 of RFC 9293, section 3.8.3).
    pub retries: u8,
    /// 2·MSL: how long TIME-WAIT lasts.
    pub time_wait: Span,
    /// TIME-WAIT ignores resets, which may answer an old duplicate (RFC 1337, section 3, F1; Linux, `tcp_rfc1337`).
    pub rfc1337: bool,
    /// A reset anywhere in the window ends the connection (RFC 793, section 3.4; FreeBSD, `insecure_rst`). Without it only one
    /// at RCV.NXT does (RFC 5961, section 3.2).
    pub insecure_rst: bool,
    /// Challenge ACKs per second (RFC 5961, section 7).
    pub challenge_acks_per_second: u32,
    /// Least time between two ACKs that answer segments without data, or SYNs, that are invalid: outside the window, with
    /// an old timestamp, or challenged (Linux, `tcp_invalid_ratelimit`). Pure ACKs with an old timestamp and an old sequence
    /// number get none (Linux, since 6.15). Zero: no limit.
    pub invalid_ratelimit: Span,
}

impl Config {
    /// The first window, of which our SYN announces what its field holds: in Linux whole segments of `segment` bytes
    /// (`tcp_select_initial_window()`, since 6.10 without a limit of 64 KB).
    pub(crate) fn first_window(&self, segment: u32) -> u32 {
        let own = self.initial_receive_window.unwrap_or(u32::MAX);
        let first = match self.receiver_congestion {
            ReceiverCongestion::Off => own,
            ReceiverCongestion::Rledbat => own.min(u32::from(self.mss) * 2),
        };
        let whole = if first > segment { first - first % segment.max(1) } else { first };
        match (self.receive_memory, self.initial_receive_window) {
            (ReceiveMemory::Bytes, _) => first,
            (ReceiveMemory::Linux, Some(_)) => whole,
            // The buffer has its largest size from the beginning, and the field of the SYN bounds the first window.
            (ReceiveMemory::Linux, None) => whole.min(0xFFFF),
        }
    }

    /// Whether the receive buffer counts the memory of packets.
    pub(crate) fn counts_received_memory(&self) -> bool {
        self.receive_memory == ReceiveMemory::Linux
    }

    /// Whether ACKs count as in Linux: duplicates, reports above a gap, and in the order of `tcp_ack()`. It belongs to
    /// [`Grows::WhenUsed`], Linux's rule for a cwnd that is not used.
    #[inline(always)]
    pub(crate) fn counts_as_linux(&self) -> bool {
        self.growth.grows == Grows::WhenUsed
    }

    /// Whether the ACK of a refused segment carries no data, as in Linux.
    pub(crate) fn answers_bare(&self) -> bool {
        self.old_segments == OldSegments::Linux
    }

    /// What congestion control needs of it.
    pub(crate) fn congestion_setup(&self) -> congestion::Setup {
        let Self { congestion: kind, initial_ssthresh: ssthresh, growth, hystart, abe, .. } = *self;
        congestion::Setup { kind, ssthresh, growth, hystart, abe, resume: self.careful_resume }
    }
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
