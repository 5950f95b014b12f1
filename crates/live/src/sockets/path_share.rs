//! What held a sender at the instant of a poll, where neither its peer's window nor its buffer did.

use super::info::{Avoidance, TcpInfo};
use super::socket::Socket;
use netspurt_budget::Limit;
use netspurt_tcp::time::Span;

/// BBR paces faster than twice the bandwidth in its start-up only (2/ln 2), in 1/256.
const STARTUP_GAIN: u32 = 512;
/// BBR's cwnd gain while it drains the queue to measure the round trip, in 1/256.
const PROBE_RTT_GAIN: u32 = 256;
/// Segments by which the kernel may leave cwnd unused, because it sends several at once.
const UNUSED: u32 = 3;
/// Silence for this time, or for two round trips if these are longer, is a wait for the retransmission timer. ACKs that
/// are delayed come earlier (40 ms in Linux).
const SILENCE: Span = Span::from_ms(60);
/// The least window in segments whose filling can be seen.
const LEAST_WINDOW: u64 = 8;
/// A standing queue has at least as many segments.
const LEAST_QUEUE: f64 = 2.0;

/// The limit at an instant with data that is not yet acknowledged; `None` if there is no such data.
pub(super) fn held(socket: &Socket) -> Option<Limit> {
    let info = &socket.info;
    if info.unacked == 0 && info.notsent_bytes == 0 {
        return None;
    }
    Some(repair(info).unwrap_or_else(|| sending(socket)))
}

/// The limit while lost segments are retransmitted.
pub(super) fn repair(info: &TcpInfo) -> Option<Limit> {
    if info.avoidance == Avoidance::Loss || info.retransmits > 0 || silent(info) {
        Some(Limit::Timeout)
    } else if info.avoidance == Avoidance::Recovery {
        Some(Limit::FastRecovery)
    } else {
        None
    }
}

/// Whether data is outstanding, and nothing was sent or acknowledged for long.
fn silent(info: &TcpInfo) -> bool {
    let quiet = info.last_data_sent.min(info.last_ack_recv);
    info.unacked > 0 && quiet > SILENCE.max(info.rtt.saturating_mul(2))
}

fn sending(socket: &Socket) -> Limit {
    let info = &socket.info;
    let slack = UNUSED.max(info.snd_cwnd / 8);
    let cwnd_is_full = info.in_flight().saturating_add(slack.min(info.snd_cwnd / 2)) >= info.snd_cwnd;
    if !cwnd_is_full && send_buffer_is_full(socket) {
        return Limit::SendBuffer;
    }
    if info.notsent_bytes == 0 && (info.app_limited || !cwnd_is_full) {
        return Limit::RoundTrip;
    }
    if let Some(bbr) = socket.bbr {
        if bbr.pacing_gain > STARTUP_GAIN {
            return Limit::SlowStart;
        }
        if bbr.cwnd_gain <= PROBE_RTT_GAIN {
            return Limit::CongestionWindow;
        }
    }
    if info.notsent_bytes > 0 && !cwnd_is_full && info.notsent_bytes < info.snd_mss && info.unacked > 0 {
        // Nagle's rule (RFC 896) lets a short segment wait for the ACK of all others.
        return Limit::NagleDelayedAck;
    }
    if info.max_pacing_rate.is_some() && info.pacing_rate == info.max_pacing_rate && !cwnd_is_full {
        return Limit::Pacing;
    }
    if queue_stands(info) {
        return Limit::Bottleneck;
    }
    if socket.bbr.is_some_and(|bbr| bbr.bandwidth > 0) {
        if window_is_full(info) {
            // BBR paces at the rate that the window permits, so that the clock `rwnd_limited` runs at times only.
            return Limit::ReceiveWindow;
        }
        // BBR sends at the rate of the bottleneck that it has measured, if it had enough to send meanwhile.
        return if info.app_limited && !cwnd_is_full { Limit::Pacing } else { Limit::Bottleneck };
    }
    if cwnd_is_full {
        let opening = info.snd_cwnd < info.snd_ssthresh && info.total_retrans == 0;
        return if opening { Limit::SlowStart } else { Limit::CongestionWindow };
    }
    if socket.memory.below > info.snd_mss.saturating_mul(2) {
        // The packets wait below TCP: this host's own interface is the slowest link.
        return Limit::Bottleneck;
    }
    Limit::Unknown
}

/// Whether what is in flight comes within [`UNUSED`] segments of the peer's window. A window of few segments says nothing.
fn window_is_full(info: &TcpInfo) -> bool {
    let mss = u64::from(info.snd_mss);
    let flight = (u64::from(info.in_flight()) + u64::from(UNUSED)) * mss;
    info.snd_wnd.is_some_and(|window| flight >= u64::from(window) && u64::from(window) >= LEAST_WINDOW * mss)
}

/// Whether the send buffer has no room for its writer, although it holds little that is unsent.
///
/// The kernel wakes a waiting writer when a third of the buffer is free. A buffer that the kernel sizes by itself has room
/// for twice cwnd: if that is full, cwnd or more waits to be sent. The clock `sndbuf_limited` runs only if the last segment
/// left while the writer already waited, and misses most of this time.
fn send_buffer_is_full(socket: &Socket) -> bool {
    let (used, size) = (u64::from(socket.memory.send_used), u64::from(socket.memory.send_size));
    let cwnd = u64::from(socket.info.snd_cwnd) * u64::from(socket.info.snd_mss);
    size > 0 && 3 * used >= 2 * size && 2 * u64::from(socket.info.notsent_bytes) < cwnd
}

/// Whether packets of the connection wait somewhere on the path: the RTT exceeds the least one by a quarter, and that
/// excess holds some segments.
fn queue_stands(info: &TcpInfo) -> bool {
    let Some(least) = info.min_rtt.filter(|&least| least > Span::ZERO) else { return false };
    let excess = info.rtt.saturating_sub(least);
    let share = excess.as_secs_f64() / info.rtt.max(least).as_secs_f64();
    excess.saturating_mul(4) >= least && share * f64::from(info.in_flight()) >= LEAST_QUEUE
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::sockets::info::Bbr;
    use crate::sockets::socket::tests::message;

    /// A sender in the middle of a transfer: cwnd of 10 segments, all in flight, more to send, an RTT without a queue.
    pub(crate) fn sender() -> Socket {
        let mut socket = Socket::parse(&message(&[(2, &[0; 248])])).expect("whole");
        socket.info.snd_mss = 1448;
        socket.info.snd_cwnd = 10;
        socket.info.snd_ssthresh = 8;
        socket.info.unacked = 10;
        socket.info.notsent_bytes = 100_000;
        socket.info.rtt = Span::from_ms(20);
        socket.info.min_rtt = Some(Span::from_ms(20));
        (socket.info.pacing_rate, socket.info.max_pacing_rate) = (None, None);
        socket.info.snd_wnd = Some(64_000);
        socket
    }

    fn changed(change: impl FnOnce(&mut Socket)) -> Option<Limit> {
        let mut socket = sender();
        change(&mut socket);
        held(&socket)
    }

    #[test]
    fn a_full_cwnd_without_a_queue_is_the_congestion_window() {
        assert_eq!(changed(|_| {}), Some(Limit::CongestionWindow));
    }

    #[test]
    fn below_ssthresh_it_is_slow_start_until_something_is_lost() {
        assert_eq!(changed(|socket| socket.info.snd_ssthresh = 100), Some(Limit::SlowStart));
        let lossy = changed(|socket| (socket.info.snd_ssthresh, socket.info.total_retrans) = (100, 1));
        assert_eq!(lossy, Some(Limit::CongestionWindow));
    }

    #[test]
    fn an_rtt_above_the_least_one_is_the_bottleneck() {
        assert_eq!(changed(|socket| socket.info.rtt = Span::from_ms(26)), Some(Limit::Bottleneck));
        let shorter = changed(|socket| socket.info.rtt = Span::from_ms(24));
        assert_eq!(shorter, Some(Limit::CongestionWindow));
        // The excess of a single segment may be its own transmission or a delayed ACK.
        let single = changed(|socket| {
            (socket.info.rtt, socket.info.unacked) = (Span::from_ms(60), 1);
            (socket.info.snd_cwnd, socket.info.snd_ssthresh) = (1, 1);
        });
        assert_eq!(single, Some(Limit::CongestionWindow));
    }

    #[test]
    fn repair_comes_before_all_else() {
        assert_eq!(changed(|socket| socket.info.avoidance = Avoidance::Recovery), Some(Limit::FastRecovery));
        assert_eq!(changed(|socket| socket.info.avoidance = Avoidance::Loss), Some(Limit::Timeout));
        assert_eq!(changed(|socket| socket.info.retransmits = 1), Some(Limit::Timeout));
    }

    #[test]
    fn silence_with_data_outstanding_waits_for_the_timer() {
        let silent = |ms| {
            changed(|socket| {
                (socket.info.last_data_sent, socket.info.last_ack_recv) =
                    (Span::from_ms(ms), Span::from_ms(ms + 20));
            })
        };
        assert_eq!(silent(61), Some(Limit::Timeout));
        assert_eq!(silent(60), Some(Limit::CongestionWindow));
    }

    #[test]
    fn all_sent_and_room_in_cwnd_is_the_round_trip() {
        let alone = changed(|socket| (socket.info.unacked, socket.info.notsent_bytes) = (2, 0));
        assert_eq!(alone, Some(Limit::RoundTrip));
        assert_eq!(changed(|socket| (socket.info.unacked, socket.info.notsent_bytes) = (0, 0)), None);
    }

    #[test]
    fn a_full_send_buffer_and_room_in_cwnd_is_the_send_buffer() {
        let full = |unacked, unsent, used| {
            changed(|socket| {
                (socket.info.unacked, socket.info.notsent_bytes) = (unacked, unsent);
                (socket.memory.send_used, socket.memory.send_size) = (used, 30_000);
            })
        };
        assert_eq!(full(5, 0, 20_000), Some(Limit::SendBuffer));
        assert_eq!(full(5, 7_000, 40_000), Some(Limit::SendBuffer));
        assert_eq!(full(5, 0, 19_999), Some(Limit::RoundTrip));
        assert_eq!(full(10, 7_000, 40_000), Some(Limit::CongestionWindow));
        // Half of cwnd waits to be sent: something else holds it.
        assert_eq!(full(5, 7_240, 40_000), Some(Limit::Unknown));
    }

    #[test]
    fn a_short_segment_that_waits_is_nagles_rule() {
        let short = changed(|socket| (socket.info.unacked, socket.info.notsent_bytes) = (1, 100));
        assert_eq!(short, Some(Limit::NagleDelayedAck));
    }

    #[test]
    fn a_pacing_rate_that_the_application_has_set_is_pacing() {
        let paced = changed(|socket| {
            (socket.info.unacked, socket.info.pacing_rate, socket.info.max_pacing_rate) =
                (3, Some(1000), Some(1000));
        });
        assert_eq!(paced, Some(Limit::Pacing));
    }

    #[test]
    fn a_full_interface_of_this_host_is_the_bottleneck() {
        let full = changed(|socket| (socket.info.unacked, socket.memory.below) = (3, 60_000));
        assert_eq!(full, Some(Limit::Bottleneck));
        assert_eq!(changed(|socket| socket.info.unacked = 3), Some(Limit::Unknown));
    }

    #[test]
    fn the_gains_of_bbr_show_its_phase() {
        let bbr = |pacing_gain, cwnd_gain| {
            let min_rtt = Span::from_ms(20);
            changed(|socket| {
                socket.bbr = Some(Bbr { bandwidth: 1_000_000, min_rtt, pacing_gain, cwnd_gain });
            })
        };
        assert_eq!(bbr(739, 739), Some(Limit::SlowStart));
        assert_eq!(bbr(320, 512), Some(Limit::Bottleneck));
        assert_eq!(bbr(256, 256), Some(Limit::CongestionWindow));
        let window = |segments: u32| {
            let min_rtt = Span::from_ms(20);
            changed(|socket| {
                socket.bbr = Some(Bbr { bandwidth: 1_000_000, min_rtt, pacing_gain: 256, cwnd_gain: 512 });
                socket.info.snd_wnd = Some(segments * 1448);
            })
        };
        assert_eq!(window(13), Some(Limit::ReceiveWindow));
        assert_eq!(window(14), Some(Limit::Bottleneck));
        assert_eq!(window(7), Some(Limit::Bottleneck));
        let starved = changed(|socket| {
            let min_rtt = Span::from_ms(20);
            socket.bbr = Some(Bbr { bandwidth: 1_000_000, min_rtt, pacing_gain: 256, cwnd_gain: 512 });
            (socket.info.app_limited, socket.info.unacked) = (true, 5);
        });
        assert_eq!(starved, Some(Limit::Pacing));
    }
}
