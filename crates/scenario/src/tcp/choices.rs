//! The choices of each mechanism family of TCP that have a name and nothing else, as a scenario file writes them.
//!
//! The doc comments here are what the schema, `netspurt mechanisms` and an editor show. A paragraph that begins with
//! `Document:` names the source.

use super::setting::Setting;
use netspurt_tcp::{config, congestion, transmit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A choice without parameters: one enum in the file, one in `tcp`, the same arms. An arm that one of them lacks does
/// not compile.
macro_rules! names {
    ($(#[$doc:meta])* $name:ident for $tcp:path { $($(#[$arm_doc:meta])* $arm:ident),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "lowercase")]
        pub enum $name {
            $($(#[$arm_doc])* $arm,)+
        }

        impl From<$name> for $tcp {
            fn from(name: $name) -> Self {
                match name {
                    $($name::$arm => Self::$arm,)+
                }
            }
        }

        impl From<$tcp> for $name {
            fn from(choice: $tcp) -> Self {
                match choice {
                    $(<$tcp>::$arm => Self::$arm,)+
                }
            }
        }

        impl Setting<$tcp> for $name {
            fn put(&self, place: &mut $tcp, _key: &str, _mss: u16) -> Result<(), String> {
                *place = (*self).into();
                Ok(())
            }
            fn of(place: &$tcp) -> Option<Self> {
                Some((*place).into())
            }
        }
    };
}

names! {
    /// The bytes that the MSS includes.
    MssCounts for config::MssCounts {
        /// Only payload bytes.
        ///
        /// Document: the BSD systems of the 1980s and most simulators.
        Data,
        /// Payload and TCP options together.
        ///
        /// Document: RFC 6691; RFC 9293, section 3.7.1.
        #[serde(rename = "data-and-options")]
        DataAndOptions,
    }
}

names! {
    /// How windows above 16 bits are announced.
    WindowOption for config::WindowOption {
        /// Not at all: the maximum window is 65,535 bytes.
        ///
        /// Document: RFC 793.
        None,
        /// A window scale that is negotiated in the SYN segments.
        ///
        /// Document: RFC 7323, section 2.
        Rfc7323,
        /// A window scale in every segment.
        ///
        /// Document: "TCP sending rate control at Tera bits per second", section II.
        #[serde(rename = "scale-every-segment")]
        ScaleEverySegment,
        /// The Big Window option: 30 bits, the upper 15 of them in every segment.
        ///
        /// Document: RFC 1106, section 3.
        #[serde(rename = "big-window")]
        BigWindow,
    }
}

names! {
    /// The options on a SYN.
    SynOptions for config::SynOptions {
        /// All options that are offered, as on a real network.
        ///
        /// Document: RFC 9293, section 3.2.
        Announced,
        /// None: each end assumes that the other one has the same configuration.
        ///
        /// Document: simulators whose packets have 40 bytes of header and no negotiation (SSFNet, ns-2).
        Assumed,
    }
}

names! {
    /// The mechanism of loss recovery, in addition to the retransmission timer.
    Recovery for config::Recovery {
        /// Only the retransmission timer.
        ///
        /// Document: RFC 793.
        Timeout,
        /// The third duplicate ACK causes the retransmission of one segment, then slow start.
        ///
        /// Document: 4.3BSD-Tahoe.
        Tahoe,
        /// Fast retransmit and fast recovery until the first ACK of new data.
        ///
        /// Document: RFC 5681, section 3.2.
        Reno,
        /// Recovery until all data that was in flight is acknowledged.
        ///
        /// Document: RFC 6582.
        NewReno,
        /// With a scoreboard of SACK reports.
        ///
        /// Document: RFC 6675.
        Sack,
        /// By time: a segment is lost if a segment that was sent sufficiently later was delivered. With a peer without SACK, as
        /// "newreno".
        ///
        /// Document: RFC 8985.
        Rack,
        /// Data that the receiver requests with the NAK option is retransmitted at once.
        ///
        /// Document: RFC 1106, section 2.
        Nak,
    }
}

names! {
    /// Whether a sender that processes NAKs also counts duplicate ACKs.
    DupAcksBesideNaks for config::DupAcks {
        /// They start a fast retransmit.
        Counted,
        /// They mean nothing.
        ///
        /// Document: RFC 1106, section 4.3.
        Ignored,
    }
}

names! {
    /// What recovery "rack" does on a connection without SACK.
    WithoutSack for config::WithoutSack {
        /// The same as recovery "newreno": duplicate ACKs widen cwnd.
        ///
        /// Document: RFC 6582.
        NewReno,
        /// Each duplicate ACK counts as the report of a segment. `prr` and `undo` apply.
        ///
        /// Document: Linux, tcp_add_reno_sack(), tcp_newreno_mark_lost().
        Linux,
    }
}

names! {
    /// What a send buffer counts.
    SendMemory for config::SendMemory {
        /// Bytes of data. A writer continues when there is room.
        Bytes,
        /// Memory: data, and 832 bytes for each packet of several segments. A packet that has begun is filled in any case, and
        /// sent meanwhile if the windows permit it, so a small buffer holds up to half of the peer's window more. A writer
        /// that found no room continues when a third is free. The size is twice that of SO_SNDBUF.
        ///
        /// Document: Linux, tcp_sendmsg_locked(), sk_stream_memory_free(), sk_stream_write_space().
        Linux,
    }
}

names! {
    /// What a receive buffer counts that adapts to the reader, from `initial_receive_window` on.
    ReceiveMemory for config::ReceiveMemory {
        /// Bytes of data: the window may grow to `receive_window`.
        Bytes,
        /// The memory of packets: at first the window gets half of it, and after a full segment the part that is data, 5/8
        /// of `receive_window` with segments of 1448 bytes. Each segment that opens the window is acknowledged at once.
        ///
        /// Document: Linux 6.18, tcp_grow_window(), tcp_rcvbuf_grow().
        Linux,
    }
}

names! {
    /// How `prr` computes the window.
    PrrRule for config::PrrRule {
        /// From the outstanding data at the loss.
        ///
        /// Document: RFC 6937. One segment more only for an ACK that advances SND.UNA and shows no loss.
        Rfc6937,
        /// From the data in flight at the loss. An ACK that delivers nothing permits nothing.
        ///
        /// Document: RFC 9937.
        Rfc9937,
        /// From cwnd before the loss, in whole segments, rounded up.
        ///
        /// Document: Linux, tcp_cwnd_reduction().
        Linux,
    }
}

names! {
    /// When CUBIC leaves slow start without a loss. It requires recovery "rack", which has an RTT
    /// sample for every ACK. Without it CUBIC does not leave slow start.
    HyStart for config::HyStart {
        /// Not before ssthresh.
        Off,
        /// At once when the RTT increases, or at a long ACK train.
        ///
        /// Document: Linux, tcp_cubic.c; Ha and Rhee, Computer Networks 55(9), 2011.
        Linux,
        /// With conservative slow start when the RTT increases (HyStart++).
        ///
        /// Document: RFC 9406.
        Rfc9406,
        /// When clearly less data is delivered than was sent one RTT before (SEARCH). Jitter does not end slow start. The
        /// window
        /// is reduced to the capacity of the path.
        ///
        /// Document: draft-chung-ccwg-search.
        Search,
    }
}

names! {
    /// Explicit congestion notification: routers mark packets instead of dropping them, and the sender slows down.
    EcnUse for config::EcnUse {
        /// Neither requested nor accepted.
        Off,
        /// Used if the peer requests it.
        ///
        /// Document: Linux, tcp_ecn = 2.
        Accept,
        /// Requested, and used if the peer agrees. A retransmitted SYN does not request it.
        ///
        /// Document: RFC 3168, section 6.1.
        Rfc3168,
        /// Used if the peer requests it; with accurate feedback, which counts the marks, if the peer requests that.
        ///
        /// Document: RFC 9768; Linux, tcp_ecn = 5.
        #[serde(rename = "accept-rfc9768")]
        AcceptRfc9768,
        /// Requested with accurate feedback, and used if the peer agrees, with or without it. The third SYN does not
        /// request it.
        ///
        /// Document: RFC 9768, section 3.1; Linux, tcp_ecn = 3.
        Rfc9768,
    }
}

names! {
    /// How the path MTU is found.
    PathMtuDiscovery for config::PathMtuDiscovery {
        /// From ICMP messages of routers.
        ///
        /// Document: RFC 1191; RFC 8201; Linux, tcp_mtu_probing = 0.
        Icmp,
        /// The same. After three consecutive timeouts the segment size falls to `base_mss`, and probes search for the path MTU.
        ///
        /// Document: RFC 4821, section 7.6.4; Linux, tcp_mtu_probing = 1.
        #[serde(rename = "probe-after-black-hole")]
        ProbeAfterBlackHole,
        /// With probes, starting with segments of `base_mss`, and from ICMP messages of routers.
        ///
        /// Document: RFC 4821; RFC 8899; Linux, tcp_mtu_probing = 2.
        Probe,
    }
}

names! {
    /// The interpretation of a loss.
    LossMeans for config::LossMeans {
        /// Congestion: cwnd is reduced.
        ///
        /// Document: RFC 5681.
        Congestion,
        /// Noise: a loss without a timeout does not change cwnd.
        ///
        /// Document: RFC 1106, section 4.2.
        Noise,
    }
}

names! {
    /// Congestion control: how much may be in flight.
    Congestion for congestion::Kind {
        /// Only the windows limit the sender.
        None,
        /// Slow start and congestion avoidance. Every loss reduces cwnd to one segment.
        ///
        /// Document: Jacobson, "Congestion avoidance and control", SIGCOMM 1988.
        Tahoe,
        /// A loss without a timeout halves cwnd.
        ///
        /// Document: RFC 5681.
        Reno,
        /// Reno with the conservative end of recovery.
        ///
        /// Document: RFC 6582, section 3.2.
        NewReno,
        /// Reno of Linux, in whole segments; recovery ends with cwnd = ssthresh.
        ///
        /// Document: RFC 5681; Linux, tcp_cong.c, `tcp_reno_cong_avoid()`.
        #[serde(rename = "reno-linux")]
        RenoLinux,
        /// The window grows as a cubic function of the time since the last loss.
        ///
        /// Document: RFC 9438.
        Cubic,
        /// CUBIC of Linux, in whole segments. After slow start it grows sooner than RFC 9438.
        ///
        /// Document: Ha, Rhee and Xu, ACM SIGOPS OSR 42(5), 2008; Linux, tcp_cubic.c.
        #[serde(rename = "cubic-linux")]
        CubicLinux,
        /// cwnd is reduced in proportion to the share of marked bytes; needs ecn = "rfc3168" or "rfc9768".
        ///
        /// Document: RFC 8257.
        Dctcp,
        /// Keeps between two and four segments in the queue, from RTT samples.
        ///
        /// Document: Brakmo and Peterson, IEEE JSAC 13(8), 1995; Linux, tcp_vegas.c.
        Vegas,
        /// Sends at the measured delivery rate, with about two bandwidth-delay products in flight; needs pacing = true.
        ///
        /// Document: Cardwell et al., ACM Queue 14(5), 2016; Linux, tcp_bbr.c (version 1).
        Bbr,
        /// BBR with a limit of data in flight when more than 2 % are lost; needs pacing = true.
        ///
        /// Document: draft-ietf-ccwg-bbr (version 3).
        Bbr3,
        /// Grows faster with the time since the last congestion event. A loss reduces cwnd just enough to empty the queue.
        ///
        /// Document: draft-leith-tcp-htcp-06.
        Htcp,
        /// Grows fast while the queue is short. A loss reduces cwnd by an eighth to a half: more if the queue is long.
        ///
        /// Document: Liu, Başar and Srikant, Performance Evaluation 65(6-7), 2008.
        Illinois,
        /// A loss reduces the window to the measured bandwidth times the minimum RTT (Westwood+).
        ///
        /// Document: Grieco and Mascolo, ACM CCR 34(2), 2004; Linux, tcp_westwood.c.
        Westwood,
        /// L4S: the window shrinks in proportion to the marks, and grows the same at all RTTs up to 25 ms; sends ECT(1); needs
        /// ecn = "rfc9768" and pacing = true.
        ///
        /// Document: draft-briscoe-iccrg-prague-congestion-control; RFC 9331.
        Prague,
        /// Background transfers (LEDBAT++): yields to other flows, and keeps the queueing delay at 60 ms if it is alone.
        ///
        /// Document: draft-irtf-iccrg-ledbat-plus-plus.
        #[serde(rename = "ledbat-plus-plus")]
        Ledbat,
    }
}

names! {
    /// When a segment that is not full may leave.
    Transmit for transmit::Transmit {
        /// At once: Nagle's rule is off.
        NoDelay,
        /// Each segment judged alone: a short one waits while anything is unacknowledged.
        ///
        /// Document: RFC 896; RFC 9293, section 3.7.4.
        #[serde(rename = "nagle-strict")]
        NagleStrict,
        /// All that may be sent judged together: a tail follows the full segments before it, a short segment alone waits while
        /// anything is unacknowledged.
        ///
        /// Document: draft-doupnik-tcpimpl-nagle-mode-00, section 1.5; Solaris.
        #[serde(rename = "nagle-liberal")]
        NagleLiberal,
        /// A short segment waits only while an earlier short one is unacknowledged.
        ///
        /// Document: draft-minshall-nagle-01; Linux since 2.4.
        Minshall,
        /// A segment of at least half an MSS is sent; a shorter one waits while any data is unacknowledged.
        ///
        /// Document: Linux 2.2, tcp_snd_test().
        Linux22,
        /// A short segment is sent if it includes the end of application data, and waits for that end otherwise.
        ///
        /// Document: draft-doupnik-tcpimpl-nagle-mode-00, section 2.1, rules 1 and 2.
        Doupnik,
        /// The same, and a tail follows the full segments before it.
        ///
        /// Document: draft-doupnik-tcpimpl-nagle-mode-00, section 2.1, rules 1 to 3.
        #[serde(rename = "doupnik-liberal")]
        DoupnikLiberal,
        /// Full segments only, until the application uncorks or closes, or 200 ms have passed.
        ///
        /// Document: Linux, tcp(7), TCP_CORK.
        Cork,
    }
}

names! {
    /// Which acknowledgments open cwnd.
    Grows for config::Grows {
        /// Every one.
        ///
        /// Document: the BSD systems.
        Always,
        /// Only those that arrive after cwnd has held back data.
        ///
        /// Document: RFC 7661, section 3; RFC 9438, section 5.8.
        #[serde(rename = "when-limiting")]
        WhenLimiting,
        /// Those of a window of data that used cwnd up or, in slow start, half of it.
        ///
        /// Document: Linux, tcp_is_cwnd_limited().
        #[serde(rename = "when-used")]
        WhenUsed,
    }
}

names! {
    /// What cwnd counts.
    CwndCounts for config::CwndCounts {
        /// Bytes.
        ///
        /// Document: RFC 5681.
        Bytes,
        /// With recovery "rack": packets. A short segment takes as much of cwnd as a full one, and opens it as much.
        ///
        /// Document: Linux, tcp_packets_in_flight().
        Packets,
    }
}

names! {
    /// The base of ssthresh after a loss or a mark.
    Reduces for config::Reduces {
        /// The outstanding data.
        ///
        /// Document: RFC 5681, section 3.1, equation 4; RFC 9438, section 4.6.
        Flight,
        /// cwnd.
        ///
        /// Document: Linux, tcp_reno_ssthresh(), cubictcp_recalc_ssthresh().
        Cwnd,
    }
}

names! {
    /// How a closed window is probed.
    WindowProbe for config::WindowProbe {
        /// One byte of the data that waits.
        ///
        /// Document: RFC 9293, section 3.8.6.1.
        Byte,
        /// Nothing, one position before the window, which the peer answers as well.
        ///
        /// Document: Linux, tcp_xmit_probe_skb().
        Empty,
    }
}

names! {
    /// How a connection ends that has waited too long for an acknowledgment. Keep-alives end with a reset in either case.
    GivesUp for config::GivesUp {
        /// With a reset.
        ///
        /// Document: FreeBSD, tcp_drop().
        WithReset,
        /// Without any segment.
        ///
        /// Document: RFC 9293, sections 3.8.3 and 3.10.8; Linux, tcp_write_err().
        Silently,
    }
}

names! {
    /// What happens to a segment without the negotiated timestamp.
    Unstamped for config::Unstamped {
        /// It is dropped.
        ///
        /// Document: RFC 7323, section 3.2.
        Dropped,
        /// It is accepted.
        ///
        /// Document: Linux, tcp_paws_discard().
        Accepted,
    }
}

names! {
    /// The response to an acknowledgment of unsent data.
    UnsentAcked for config::UnsentAcked {
        /// An ACK.
        ///
        /// Document: RFC 9293, section 3.10.7.4; RFC 5961, section 5.
        Answered,
        /// Nothing.
        ///
        /// Document: Linux before 6.18.44, tcp_ack().
        Ignored,
    }
}

names! {
    /// Which old segments pass the first checks, and which are reported.
    OldSegments for config::OldSegments {
        /// Those with a part in the window and no older timestamp. D-SACK reports those of the connection.
        ///
        /// Document: RFC 9293, section 3.10.7.4; RFC 7323, section 5.3.
        Outside,
        /// Also those that end between the last acknowledgment sent and RCV.NXT, and those whose timestamp is one unit older.
        /// D-SACK reports each old segment, and SACK a FIN behind a gap. Segments without ACK, SYN and RST are dropped first. A
        /// reset counts one before RCV.NXT after a FIN, and at the end of the highest reported block. An ACK of what was
        /// never sent is answered on both sides. Without SACK, the first ACK behind data is no duplicate.
        ///
        /// Document: Linux, tcp_sequence(), TCP_PAWS_WINDOW, tcp_send_dupack(), tcp_validate_incoming(), tcp_ack().
        Linux,
    }
}

names! {
    /// The rules for arriving segments where systems differ.
    StateMachine for config::StateMachine {
        /// Those of the standard.
        ///
        /// Document: RFC 9293, section 3.10.7.
        Rfc9293,
        /// A listener drops a SYN-ACK without a reset. What fits into the free buffer is acceptable. The ACK of a segment with
        /// nothing new counts. Each ACK repeats a FIN that is not acknowledged. A reset in CLOSING and LAST-ACK is an error.
        ///
        /// Document: FreeBSD, tcp_input(), tcp_output().
        Freebsd,
    }
}

names! {
    /// Whether data may leave with a SYN.
    FastOpenUse for config::FastOpenUse {
        /// No cookie is requested, and none is granted.
        ///
        /// Document: RFC 9293, section 3.10.7.2.
        Off,
        /// A client requests a cookie, and sends the cookie that it has; a server grants cookies.
        ///
        /// Document: RFC 7413.
        On,
    }
}

names! {
    /// How the open receive window is announced.
    WindowGrowth for config::WindowGrowth {
        /// In steps of a segment or half the buffer.
        ///
        /// Document: RFC 9293, section 3.8.6.2.2.
        #[serde(rename = "in-steps")]
        InSteps,
        /// All of it with every segment, unless it is less than a segment and a quarter of the buffer.
        ///
        /// Document: 4.4BSD, tcp_output().
        #[serde(rename = "at-once")]
        AtOnce,
    }
}

names! {
    /// Congestion control by the receiver.
    ReceiverCongestion for config::ReceiverCongestion {
        /// None: the announced window only says how much the receiver can store.
        Off,
        /// rLEDBAT: the receiver of a background transfer announces a window that LEDBAT++ computes from the RTTs and
        /// retransmissions that it sees. It yields to other flows whatever the sender does; needs timestamps = true.
        ///
        /// Document: RFC 9840.
        Rledbat,
    }
}

names! {
    /// When data is cut into segments.
    Cutting for config::Cutting {
        /// When it is sent: a segment may be made to fit the window.
        ///
        /// Document: RFC 9293, section 3.8.6.2.1.
        #[serde(rename = "at-send")]
        AtSend,
        /// When it is written: a segment that the window does not take whole waits; none is larger than half of the first
        /// window.
        ///
        /// Document: Linux 2.2, tcp_do_sendmsg(), tcp_sync_mss().
        #[serde(rename = "at-write")]
        AtWrite,
    }
}
