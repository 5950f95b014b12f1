//! The path MTU: from ICMP messages (RFC 1191, RFC 8201) and from probes (RFC 4821, RFC 8899; Linux, `tcp_mtu_probe()`), and
//! the detection of black holes, where long packets are lost without a message (RFC 2923).
//!
//! A probe is a longer segment with waiting data. If it is delivered, all segments may have its length. If only the probe is
//! lost, it was too long; that is not a sign of congestion. A sender that does not probe has no [`Search`].

use crate::config::{CwndCounts, PathMtuDiscovery};
use crate::congestion::Signal;
use crate::context::Context;
use crate::opening::negotiate::{HEADERS, mss_for_path_mtu};
use crate::opening::state::State;
use crate::ranges::Range;
use crate::record::reason::{Hold, Reason};
use crate::recovery::Phase;
use crate::send::mtu::mtu_search::{LEAST_MTU, Search};
use crate::send::space::{Decision, Plan};
use crate::send::{MTU_SEARCH, Sender};
use crate::time::Time;
use crate::wire::seq::Seq;

/// Timeouts in a row after which a black hole is suspected: R1 (RFC 9293, section 3.8.3; Linux, `tcp_retries1`).
const R1: u8 = 3;
/// A probe requires a window of this many segments, and as many segments after it, whose ACKs reveal its loss (Linux,
/// `tcp_mtu_probe()`).
const LEAST_WINDOW: u32 = 11;
const BEHIND: u32 = 4;

/// The result of an ACK for the search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum OnAck {
    /// The probe was delivered.
    Fits,
    Nothing,
}

impl Sender {
    /// Bytes of data and options that a segment may have on this path.
    pub(crate) fn path_room(&self) -> u32 {
        u32::from(mss_for_path_mtu(self.effective_mtu()))
    }

    /// Sets the path MTU that a driver knows for a route. ICMP messages are passed to [`hear_too_big`](Self::hear_too_big).
    pub(crate) fn set_path_mtu(&mut self, cx: &mut Context, mtu: u32) {
        self.extras().path_mtu = mtu;
        if let Some(search) = self.search_mut().filter(|_| mtu > 0) {
            search.high = search.high.min(mtu);
            search.low = search.low.min(mtu);
        }
        self.size_segments(cx);
        self.retransmit_syn_without_data(cx);
    }

    /// A router reports that a packet with this sequence number exceeded the MTU of the next link, `mtu` bytes (RFC 1191;
    /// RFC 8201). Returns whether the message is accepted: the segment must be outstanding and longer than that (RFC 5927,
    /// section 4.1 and RFC 8201, section 4). Segments that were too long are retransmitted at once, without a sign of
    /// congestion.
    pub(crate) fn hear_too_big(&mut self, cx: &mut Context, now: Time, seq: Seq, mtu: u32) -> bool {
        let mtu = mtu.max(LEAST_MTU);
        if !self.has_outstanding(seq) {
            return false;
        }
        let position = self.space.position(seq) as u64;
        if let Some(search) = self.search_mut()
            && let Some((probe, size)) = search.probe
            && probe.start == position
            && mtu < size
            && mtu >= search.low
        {
            search.high = mtu;
            self.forgive(cx, now, probe, Reason::TooBig);
            return true;
        }
        let longest = u32::from(cx.agreed.payload) + u32::from(cx.agreed.header_len) + HEADERS / 2;
        if mtu >= longest {
            return false;
        }
        self.set_path_mtu(cx, mtu);
        self.send_shorter(cx, now);
        true
    }

    /// The path MTU; 0 if unknown.
    pub(crate) fn path_mtu(&self) -> u32 {
        self.extras.as_ref().map_or(0, |rare| rare.path_mtu)
    }

    /// The known limit of packet lengths; 0 if unknown.
    pub(crate) fn effective_mtu(&self) -> u32 {
        match (self.path_mtu(), self.search().map_or(0, |search| search.low)) {
            (0, one) | (one, 0) => one,
            (path, low) => path.min(low),
        }
    }

    fn search(&self) -> Option<&Search> {
        self.extras.as_ref()?.mtu_search.as_deref()
    }

    fn search_mut(&mut self) -> Option<&mut Search> {
        self.extras.as_mut()?.mtu_search.as_deref_mut()
    }

    /// Computes the segment size from the known limits.
    pub(crate) fn size_segments(&mut self, cx: &mut Context) {
        let (mtu, peer) = (self.effective_mtu(), self.peer_mss);
        let before = cx.agreed.payload;
        let config = &cx.config;
        cx.agreed.limit_segments(config, peer, mtu);
        self.bound_segments(cx);
        if cx.config.cwnd_counts == CwndCounts::Packets {
            self.keep_packets(before, cx.agreed.payload);
        }
    }

    /// The segment size has changed: windows that count packets keep their number.
    fn keep_packets(&mut self, before: u16, after: u16) {
        let resized = |window: u32| {
            let bytes = u64::from(window) / u64::from(before.max(1)) * u64::from(after);
            if window == u32::MAX { window } else { u32::try_from(bytes).unwrap_or(u32::MAX) }
        };
        if before != after {
            self.congestion.set_windows(resized(self.congestion.cwnd()), resized(self.congestion.ssthresh()));
        }
    }

    /// The longest packets that both ends accept, without regard to the path.
    fn widest(&self, cx: &Context) -> u32 {
        let ends = u32::from(cx.config.mss.min(self.peer_mss)) + HEADERS;
        if self.path_mtu() == 0 { ends } else { ends.min(self.path_mtu()) }
    }

    fn base(&self, cx: &Context) -> u32 {
        (u32::from(cx.config.base_mss) + HEADERS).min(self.widest(cx))
    }

    /// Both SYN segments are known. An active opener begins with the base size. A passive opener begins with the negotiated
    /// size (Linux, `tcp_mtup_init()` and `tcp_sync_mss()`).
    pub(crate) fn begin_mtu_search(&mut self, cx: &mut Context, now: Time) {
        if cx.config.path_mtu_discovery == PathMtuDiscovery::Probe {
            self.start_search(cx, now);
            if !cx.passive {
                self.size_segments(cx);
            }
        }
    }

    fn start_search(&mut self, cx: &Context, now: Time) {
        let search = Search { low: self.base(cx), high: self.widest(cx), since: now, probe: None };
        self.unusual.set(MTU_SEARCH, true);
        self.extras().mtu_search = Some(Box::new(search));
    }

    /// The retransmission timer has expired. From the third time on, the path may have a black hole for long packets (RFC
    /// 2923, section 2.1; RFC 4821, section 7.6.4).
    pub(crate) fn suspect_black_hole(&mut self, cx: &mut Context, now: Time) {
        if cx.config.path_mtu_discovery == PathMtuDiscovery::Icmp || self.timers.unanswered < R1 {
            return;
        }
        let base = self.base(cx);
        match self.search_mut() {
            Some(search) => search.retreat(base),
            None => self.start_search(cx, now),
        }
        self.size_segments(cx);
    }

    /// Whether the next segment is a probe, or waits until the window has room for one. There must be no sign of a loss, and
    /// enough data after the probe to detect its loss.
    #[inline]
    pub(crate) fn decide_mtu_probe(&self, cx: &Context, now: Time) -> Option<Decision> {
        let search = self.search()?;
        self.decide_probe_of(cx, search, now)
    }

    #[cold]
    fn decide_probe_of(&self, cx: &Context, search: &Search, now: Time) -> Option<Decision> {
        let snd = &self.space;
        let calm = search.probe.is_none() && snd.nxt == snd.max;
        if !calm {
            return None;
        }
        let (size, _) = search.next(now, self.widest(cx))?;
        let (mss, cwnd) = (u32::from(cx.agreed.payload), self.congestion.cwnd());
        let len = size.saturating_sub(HEADERS / 2 + u32::from(cx.agreed.header_len));
        let needed = len + BEHIND * mss;
        let window = snd.wnd.min(cx.config.send_window.unwrap_or(u32::MAX));
        let waiting = snd.data_end().saturating_sub(snd.nxt);
        if len <= mss || cwnd < LEAST_WINDOW * mss || waiting < u64::from(needed) || window < needed {
            return None;
        }
        let outstanding = snd.nxt - snd.una;
        if outstanding + u64::from(needed) > u64::from(window) {
            return Some(Decision::Hold(Hold::ReceiveWindow));
        }
        if outstanding + u64::from(len) > u64::from(cwnd) {
            return (outstanding > 0).then_some(Decision::Hold(Hold::CongestionWindow));
        }
        Some(Decision::Send(snd.plan(snd.nxt, len, Reason::MtuProbe, false)))
    }

    /// A probe is sent. New options may have reduced it to an ordinary segment.
    pub(crate) fn note_mtu_probe(&mut self, cx: &mut Context, now: Time, plan: &Plan, end: u64) {
        let widest = self.widest(cx);
        let size = plan.len + HEADERS / 2 + u32::from(cx.agreed.header_len);
        if plan.len <= u32::from(cx.agreed.payload) {
            return;
        }
        cx.counters().mtu_probes += 1;
        if let Some(search) = self.search_mut() {
            if let Some((_, high)) = search.next(now, widest)
                && high != search.high
            {
                (search.high, search.since) = (high, now);
            }
            search.probe = Some((Range::new(plan.start, end), size));
        }
    }

    /// A retransmission: the result of an outstanding probe is no longer valid.
    #[inline]
    pub(crate) fn forget_mtu_probe(&mut self) {
        if let Some(search) = self.search_mut() {
            search.probe = None;
        }
    }

    /// An ACK is processed.
    #[inline]
    pub(crate) fn judge_mtu_probe(&mut self, cx: &mut Context) {
        let una = self.space.una;
        let verdict = self
            .search()
            .and_then(|search| search.probe)
            .map_or(OnAck::Nothing, |(probe, _)| if probe.end <= una { OnAck::Fits } else { OnAck::Nothing });
        if verdict == OnAck::Fits {
            self.widen_segments(cx);
        }
    }

    #[cold]
    fn widen_segments(&mut self, cx: &mut Context) {
        if let Some(search) = self.search_mut()
            && let Some((_, size)) = search.probe.take()
        {
            search.low = size;
            self.size_segments(cx);
        }
    }

    /// A loss is detected. If only a probe is lost, it was too long: its data is retransmitted in shorter segments, without
    /// further reaction (RFC 4821, section 7.6.1). Returns whether that is the case.
    pub(crate) fn forgives_loss(&mut self, cx: &mut Context, now: Time, reason: Reason) -> bool {
        let Some((probe, size)) = self.search().and_then(|search| search.probe) else { return false };
        if probe.start != self.space.una || !self.is_lost_alone(probe) {
            return false;
        }
        if let Some(search) = self.search_mut() {
            search.high = size - 1;
        }
        cx.counters().mtu_probes_lost += 1;
        self.forgive(cx, now, probe, reason);
        true
    }

    /// Whether no other data is known to be missing.
    fn is_lost_alone(&self, probe: Range) -> bool {
        if self.recovery.is_by_time() {
            return self.recovery.is_lost_alone(probe);
        }
        let Some(board) = self.recovery.scoreboard() else { return true };
        let reported = board.reported().at_or_after(self.space.una).map(|first| first.start);
        reported == Some(probe.end)
            && board.reported().at_or_after(probe.end + 1).is_none_or(|r| r.start == probe.end)
    }

    /// Retransmits the data of a segment that was too long in shorter segments.
    fn forgive(&mut self, cx: &Context, now: Time, probe: Range, reason: Reason) {
        self.forget_mtu_probe();
        let max = self.space.max;
        // Losses of data that is outstanding now have the same cause.
        self.recovery.extend(max);
        self.recovery.send_next(probe, reason);
        self.forget_timing();
        self.recovery.forgive();
        self.restart_retransmit(cx, now);
    }

    /// The path MTU has decreased: outstanding data may be lost. It is retransmitted as after a timeout, but cwnd does not
    /// change.
    fn send_shorter(&mut self, cx: &mut Context, now: Time) {
        let (una, max) = (self.space.una, self.space.max);
        let opening = matches!(cx.state(), State::SynSent | State::SynReceived);
        if una >= max || opening || self.timers.is_persisting() {
            return;
        }
        if self.recovery.phase() == Phase::Fast {
            self.signal(cx, now, Signal::ExitRecovery, max - una);
        }
        let first = Range::new(una, (una + u64::from(cx.agreed.payload)).min(max));
        if !self.recovery.is_by_time() {
            self.space.nxt = una;
        }
        self.recovery.go_back(max);
        self.recovery.send_next(first, Reason::TooBig);
        self.recovery.forget_retransmissions();
        self.forget_timing();
        self.recovery.lose_all(now, Range::new(una, max));
        self.restart_retransmit(cx, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Span;

    fn search(low: u32, high: u32) -> Search {
        Search { low, high, since: Time::ZERO, probe: None }
    }

    #[test]
    fn the_search_halves_the_distance_until_it_is_not_worth_a_probe() {
        let mut found = search(1064, 1500);
        let (mut tried, path) = (Vec::new(), 1400);
        while let Some((size, _)) = found.next(Time::ZERO, 1500) {
            tried.push(size);
            if size <= path { found.low = size } else { found.high = size - 1 }
        }
        assert_eq!(tried, [1282, 1391, 1445, 1417, 1403, 1396]);
        assert!(found.low <= path && path - found.low < 8, "{found:?}");
    }

    #[test]
    fn after_ten_minutes_it_looks_again() {
        let found = search(1396, 1402);
        let at = |secs| Time::ZERO + Span::from_secs(secs);
        assert_eq!(found.next(at(599), 1500), None);
        assert_eq!(found.next(at(600), 1500), Some((1448, 1500)));
        assert_eq!(search(1496, 1500).next(at(600), 1500), None, "there is nothing to be found");
    }

    #[test]
    fn in_a_black_hole_packets_become_shorter_by_halves() {
        let mut found = search(1500, 1500);
        let sizes: Vec<u32> = (0..6)
            .map(|_| {
                found.retreat(1064);
                found.low - HEADERS
            })
            .collect();
        assert_eq!(sizes, [730, 365, 182, 91, 45, 28]);
        let mut found = search(9000, 9000);
        found.retreat(1064);
        assert_eq!(found.low, 1064);
    }
}
