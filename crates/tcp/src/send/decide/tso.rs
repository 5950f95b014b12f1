//! Linux's adaptation to the network interface. Linux passes several segments at once to the interface, which segments them
//! (TSO). If an ACK is expected soon, it defers a small burst (`tcp_tso_should_defer()`). It holds back a short segment
//! while the interface still transmits earlier data (`tcp_should_autocork()`).

use crate::congestion::pacing;
use crate::context::Context;
use crate::record::reason::{Hold, Reason};
use crate::recovery::Phase;
use crate::send::interface::Interface;
use crate::send::space::Plan;
use crate::send::{INTERFACE, Sender};
use crate::time::{Span, Time};
use crate::wire::segment::Flags;

/// The maximum size of a burst in bytes (sk_gso_max_size).
const MOST_BYTES: u64 = 65_536;
/// Room for this fraction of the window is enough for a burst (net.ipv4.tcp_tso_win_divisor).
const PART: u64 = 3;
/// An ACK that is expected within this time is near. A burst within this time of another one belongs to it.
const SOON: Span = Span::from_ms(1);

/// The input of the decision whether a burst begins.
#[derive(Clone, Copy, Debug)]
struct Burst {
    /// The maximum size of a burst in bytes.
    most: u64,
    /// Bytes that the windows permit, and the smaller window.
    room: u64,
    window: u64,
    /// Bytes written and not yet sent, and whether they are the last ones.
    waiting: u64,
    ends: bool,
    /// The time since data was last sent.
    quiet: Span,
    /// The expected time until the next ACK, from the smoothed RTT.
    next_ack: Span,
    srtt: Span,
}

/// Whether to wait for the next ACK: only a small burst may be sent now, and the ACK will soon permit a larger one.
fn is_worth_waiting(b: &Burst) -> bool {
    let near = b.quiet <= SOON && b.next_ack <= SOON.min(b.srtt.scale(1, 2));
    let small = b.room < b.most && b.room < b.window / PART;
    near && small && (b.room <= b.waiting || !b.ends)
}

/// Whether the present burst is incomplete, `sent` bytes after the start of an opportunity to send `room` bytes.
fn is_under_way(sent: u64, room: u64, most: u64) -> bool {
    let mut handed_over = 0;
    while handed_over < sent {
        handed_over += most.min(room - handed_over).max(1);
    }
    handed_over > sent
}

impl Sender {
    /// Sets the network interface, if a mechanism depends on it.
    pub(crate) fn begin_interface(&mut self, cx: &Context) {
        if cx.config.segmentation_offload || cx.config.autocork > 0 {
            self.unusual.set(INTERFACE, true);
            self.extras().interface = Some(Interface { rate: cx.config.autocork, free: Time::ZERO });
        }
    }

    /// The least number of segments of a burst on a slow path.
    #[inline]
    pub(crate) fn least_burst(&self) -> u64 {
        if self.is_paced() { self.congestion.least_burst() } else { pacing::LEAST_BURST }
    }

    /// The maximum number of segments in a burst of Linux, at least `least`: what it would send in a millisecond with pacing,
    /// more on a short path (`tcp_tso_autosize()`), but no more than
    /// half of cwnd (`tcp_cwnd_test()`).
    pub(crate) fn segments_together(&self, cx: &Context, least: u64) -> u64 {
        let mss = u64::from(cx.agreed.payload.max(1));
        let half = u64::from(self.cwnd()) / mss / 2;
        half.min((self.bytes_together(cx) / mss).max(least)).max(1)
    }

    fn bytes_together(&self, cx: &Context) -> u64 {
        let Some(srtt) = self.srtt(cx) else { return MOST_BYTES };
        let rate = match self.paced() {
            Some(paced) if cx.config.pacing => paced.pacer.rate(),
            _ => pacing::by_window(self.cwnd(), self.ssthresh(), 0, Some(srtt)),
        };
        let least = self.recovery.least_rtt().unwrap_or(srtt);
        let halvings = u32::try_from((least.as_ps() / 1_000_000) >> 9).unwrap_or(u32::MAX);
        let near = MOST_BYTES.checked_shr(halvings).unwrap_or(0);
        (rate >> 10).saturating_add(near).min(MOST_BYTES)
    }

    /// Whether the interface is the reason to hold this segment back.
    pub(crate) fn waits_for_interface(
        &self,
        cx: &Context,
        interface: &Interface,
        now: Time,
        plan: &Plan,
    ) -> Option<Hold> {
        let fresh = matches!(plan.reason, Reason::NewData | Reason::LimitedTransmit);
        let ends = self.is_closing() || plan.flags.any(Flags::SYN | Flags::FIN);
        if !fresh || self.recovery.phase() != Phase::Open || !self.space.is_outstanding() {
            return None;
        }
        let mss = u64::from(cx.agreed.payload);
        let most = self.segments_together(cx, self.least_burst()) * mss;
        let waiting = self.space.data_end().saturating_sub(plan.start);
        if waiting < most && interface.free > now && !ends {
            return Some(Hold::Autocork);
        }
        if !cx.config.segmentation_offload || waiting <= mss {
            return None;
        }
        let (room, _) = self.allowed(cx, plan.start);
        let sent = u64::from(self.run);
        if is_under_way(sent, room.min(waiting) + sent, most) {
            return None;
        }
        let burst = Burst {
            most,
            room,
            window: u64::from(self.cwnd().min(self.space.wnd)),
            waiting,
            ends,
            quiet: now - self.last_departure(),
            next_ack: (self.oldest_departure()? + self.srtt(cx)?) - now,
            srtt: self.srtt(cx)?,
        };
        is_worth_waiting(&burst).then_some(Hold::Burst)
    }

    /// When data was last sent, or when pacing permitted more again (`tcp_wstamp_ns`).
    fn last_departure(&self) -> Time {
        self.paced().map_or(self.space.last_sent, |paced| paced.pacer.next().max(self.space.last_sent))
    }

    /// When the oldest unacknowledged segment was sent, if known.
    fn oldest_departure(&self) -> Option<Time> {
        self.recovery.first_sent_once().or_else(|| self.recovery.timed().sent_above(self.space.una))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    /// Two segments of room in a window of twenty, an ACK due at once, the last data just gone.
    const FEW: Burst = Burst {
        most: 10 * MSS,
        room: 2 * MSS,
        window: 20 * MSS,
        waiting: 100 * MSS,
        ends: false,
        quiet: Span::ZERO,
        next_ack: Span::ZERO,
        srtt: Span::from_ms(10),
    };

    #[test]
    fn a_burst_waits_only_while_it_is_small_and_an_ack_is_near() {
        assert!(is_worth_waiting(&FEW));
        let late = Span::from_us(1001);
        assert!(!is_worth_waiting(&Burst { next_ack: late, ..FEW }));
        assert!(!is_worth_waiting(&Burst { quiet: late, ..FEW }), "it begins a burst of its own");
        assert!(!is_worth_waiting(&Burst { room: 7 * MSS, ..FEW }), "a third of the window");
        assert!(!is_worth_waiting(&Burst { most: 2 * MSS, ..FEW }), "as many as ever leave together");
        let short = Burst { srtt: Span::from_us(100), next_ack: Span::from_us(60), ..FEW };
        assert!(!is_worth_waiting(&short), "half of a round trip");
        assert!(is_worth_waiting(&Burst { next_ack: Span::from_us(50), ..short }));
    }

    #[test]
    fn the_last_data_of_all_waits_for_no_more() {
        let rest = Burst { waiting: MSS + 1, ..FEW };
        assert!(is_worth_waiting(&rest));
        assert!(!is_worth_waiting(&Burst { ends: true, ..rest }));
        assert!(is_worth_waiting(&Burst { ends: true, ..FEW }), "the window cuts it short");
    }

    #[test]
    fn what_was_handed_over_together_leaves_together() {
        let under_way = |sent| is_under_way(sent, 7 * MSS, 3 * MSS);
        assert_eq!(
            [0, 1, 2, 3, 4, 6, 7].map(|n| under_way(n * MSS)),
            [false, true, true, false, true, false, false]
        );
    }

    #[test]
    fn an_interface_is_busy_for_as_long_as_its_rate_takes() {
        let mut interface = Interface { rate: 8_000_000, free: Time::ZERO };
        let now = Time::ZERO + Span::from_ms(5);
        interface.take(now, 1000);
        interface.take(now, 500);
        assert_eq!(interface.free(), now + Span::from_us(1500));
    }
}
