//! Choices that a configuration makes. They know nothing of the mechanisms that they choose.

use crate::time::Span;

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
    /// RFC 8985 (RACK); with a peer without SACK as [`WithoutSack`] says.
    Rack,
    /// RFC 1106, section 2: the sender retransmits at once what a NAK requests.
    Nak,
}

/// The recovery of a sender with [`Recovery::Rack`] whose connection has no SACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WithoutSack {
    /// As [`Recovery::NewReno`]: duplicate ACKs inflate cwnd (RFC 6582).
    NewReno,
    /// Linux: each duplicate ACK counts as the report of a segment (`tcp_add_reno_sack()`). PRR, undo and F-RTO apply.
    Linux,
}

/// What a send buffer counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SendMemory {
    /// Bytes of data. A writer continues when there is room.
    Bytes,
    /// Linux: memory, with a head for each packet of several segments. A packet that has begun is filled in any case, and a
    /// writer that found no room continues when a third is free (`tcp_sendmsg_locked()`, `sk_stream_write_space()`).
    Linux,
}

/// What a receive buffer counts that adapts to the reader.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReceiveMemory {
    /// Bytes of data.
    Bytes,
    /// Linux: the memory of packets. The window gets a part of it, which the estimate of a full segment shows, and each segment is
    /// acknowledged at once while the window opens (`tcp_grow_window()`, `tcp_rcvbuf_grow()`).
    Linux,
}

/// What cwnd counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CwndCounts {
    /// Bytes (RFC 5681).
    Bytes,
    /// Packets, as Linux: a short segment takes as much of cwnd as a full one, and opens it as much
    /// (`tcp_packets_in_flight()`). With [`Recovery::Rack`].
    Packets,
}

/// How proportional rate reduction computes the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PrrRule {
    /// RFC 6937, with the conservative bound unless an ACK advances SND.UNA and shows no loss.
    Rfc6937,
    /// RFC 9937.
    Rfc9937,
    /// Linux, `tcp_cwnd_reduction()`: from cwnd before the loss, in whole segments.
    Linux,
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
    /// Nothing (older Linux, `tcp_ack()`).
    Ignored,
}

/// Which old segments pass the first checks, and which are reported.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OldSegments {
    /// Those with a part in the window (RFC 9293, section 3.10.7.4) and no older timestamp (RFC 7323, section 5.3). D-SACK
    /// reports those of the connection.
    Outside,
    /// Also those that end between the last acknowledgment that we sent and RCV.NXT: their ACK and their timestamp count
    /// (Linux, `tcp_sequence()`). A timestamp may be one unit older (`TCP_PAWS_WINDOW`). D-SACK reports each old segment with
    /// its FIN, also one from before the SYN (`tcp_send_dupack()`). A segment without ACK, RST and SYN is dropped before its
    /// sequence number is checked (`tcp_rcv_established()`). An ACK older than the first byte sent is answered, and without
    /// SACK the first ACK behind data is no duplicate (`tcp_ack()`). SACK reports a FIN behind a gap (`tcp_data_queue_ofo()`).
    /// A reset counts one before RCV.NXT after a FIN, and at the end of the highest reported block
    /// (`tcp_validate_incoming()`). A listener drops a SYN with a FIN. Data of a SYN, and data and FIN of a SYN-ACK, count
    /// only with Fast Open (`tcp_rcv_state_process()`, `tcp_rcv_fastopen_synack()`).
    Linux,
}

/// How a connection ends that has waited too long for an ACK. Keep-alives end with a reset in either case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GivesUp {
    /// With a reset (FreeBSD, `tcp_drop()`).
    WithReset,
    /// Without any segment (RFC 9293, sections 3.8.3 and 3.10.8; Linux, `tcp_write_err()`).
    Silently,
}

/// The rules for arriving segments where systems differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StateMachine {
    /// RFC 9293, section 3.10.7.
    Rfc9293,
    /// FreeBSD, `tcp_input()` and `tcp_output()`. A listener drops a SYN-ACK and sends no reset. What fits into the free
    /// buffer is acceptable, even if the window field was too small to announce it. The ACK of a segment with nothing new
    /// counts. Until its FIN is acknowledged, a connection repeats it with each ACK but a challenge ACK. A reset in CLOSING
    /// and LAST-ACK is reported as an error.
    Freebsd,
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

/// Congestion control by the receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReceiverCongestion {
    /// None: the announced window only says how much the receiver can store.
    Off,
    /// rLEDBAT: the announced window yields to other traffic (RFC 9840).
    Rledbat,
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
    /// When less is delivered than was sent one RTT before (SEARCH, draft-chung-ccwg-search).
    Search,
}

/// What an earlier connection has found out about the path (Careful Resume, RFC 9959).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SavedPath {
    /// saved_rtt: its minimum RTT.
    pub rtt: Span,
    /// saved_cwnd: its cwnd in bytes.
    pub cwnd: u32,
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
