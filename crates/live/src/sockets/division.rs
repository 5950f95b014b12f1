//! The time budget of one interval, from what two polls found of a socket.
//!
//! The kernel counts how long a socket was busy, and for how much of that the peer's window or the send buffer limited
//! it. The rest of the busy time belongs to the path. The state at both ends of the interval and the counts between
//! them divide it.

use super::info::TcpInfo;
use super::path_share::{held, repair};
use super::socket::Socket;
use super::window::WindowHistory;
use netspurt_budget::Limit;
use netspurt_tcp::time::Span;

/// The limits that a budget from sockets may have.
pub const LIMITS: [Limit; 15] = [
    Limit::Handshake,
    Limit::Application,
    Limit::NagleDelayedAck,
    Limit::SendBuffer,
    Limit::ReceiveWindow,
    Limit::SlowReceiver,
    Limit::SlowStart,
    Limit::Bottleneck,
    Limit::CongestionWindow,
    Limit::Pacing,
    Limit::FastRecovery,
    Limit::Timeout,
    Limit::RoundTrip,
    Limit::Teardown,
    Limit::Unknown,
];

/// The time of each limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Shares([Span; Limit::ALL.len()]);

impl Shares {
    /// The time of a limit.
    pub const fn of(&self, limit: Limit) -> Span {
        self.0[limit as usize]
    }

    /// The sum of all times.
    pub fn total(&self) -> Span {
        self.0.iter().fold(Span::ZERO, |sum, &part| sum + part)
    }

    /// The limits with more than no time, in declaration order.
    pub fn parts(&self) -> impl Iterator<Item = (Limit, Span)> + '_ {
        Limit::ALL.into_iter().map(|limit| (limit, self.of(limit))).filter(|&(_, time)| time > Span::ZERO)
    }

    /// The limit with the most time.
    pub fn dominant(&self) -> Option<Limit> {
        self.parts().max_by_key(|&(limit, time)| (time, core::cmp::Reverse(limit))).map(|(limit, _)| limit)
    }

    /// Adds the times of another budget.
    pub fn add(&mut self, other: &Self) {
        for (sum, &part) in self.0.iter_mut().zip(&other.0) {
            *sum += part;
        }
    }

    /// Adds time to a limit.
    pub fn give(&mut self, limit: Limit, time: Span) {
        self.0[limit as usize] += time;
    }

    /// All times multiplied by `num / den`.
    #[must_use]
    pub fn scale(&self, num: u64, den: u64) -> Self {
        Self(self.0.map(|part| part.scale(num, den)))
    }
}

/// What two polls found of a socket.
#[derive(Clone, Copy, Debug)]
pub(super) struct Between<'a> {
    pub(super) before: &'a Socket,
    pub(super) after: &'a Socket,
    pub(super) elapsed: Span,
    pub(super) window: &'a WindowHistory,
}

/// Divides the interval. The times add up to `elapsed`, or to the busy time if that is longer: the kernel's clocks tick
/// once in some milliseconds.
pub(super) fn divide(between: Between<'_>) -> Shares {
    let mut shares = Shares::default();
    let Between { before, after, elapsed, window } = between;
    if after.state.opening() {
        shares.give(Limit::Handshake, elapsed);
        return shares;
    }
    let (Some(then), Some(now)) = (before.info.clocks, after.info.clocks) else {
        shares.give(Limit::Unknown, elapsed);
        return shares;
    };
    let busy = now.busy.saturating_sub(then.busy);
    let rwnd = now.rwnd_limited.saturating_sub(then.rwnd_limited).min(busy);
    let sndbuf = now.sndbuf_limited.saturating_sub(then.sndbuf_limited).min(busy.saturating_sub(rwnd));
    let idle = elapsed.saturating_sub(busy);
    shares.give(idle_limit(before, after), idle);
    shares.give(window.limit(&after.info), rwnd);
    shares.give(Limit::SendBuffer, sndbuf);
    divide_path(between, busy.saturating_sub(rwnd).saturating_sub(sndbuf), &mut shares);
    shares
}

/// The limit while nothing waits to be sent or acknowledged.
const fn idle_limit(before: &Socket, after: &Socket) -> Limit {
    if before.state.opening() {
        Limit::Handshake
    } else if after.state.closing() {
        Limit::Teardown
    } else {
        Limit::Application
    }
}

/// Divides the time that the path took.
fn divide_path(between: Between<'_>, path: Span, shares: &mut Shares) {
    let Between { before, after, .. } = between;
    let (then, now) = (&before.info, &after.info);
    let mut left = path;
    let timeouts = by_timeouts(then, now).min(left);
    shares.give(Limit::Timeout, timeouts);
    left = left.saturating_sub(timeouts);
    let unseen = [repair(then), repair(now)] == [None, None] && now.total_retrans > then.total_retrans;
    if unseen && timeouts == Span::ZERO {
        // A fast recovery that began and ended between two polls took about one round trip.
        let recovery = now.rtt.min(left);
        shares.give(Limit::FastRecovery, recovery);
        left = left.saturating_sub(recovery);
    }
    // The state found by a poll counts for half of the interval.
    let half = left.scale(1, 2);
    match [held(before), held(after)] {
        [Some(first), Some(last)] => {
            shares.give(first, half);
            shares.give(last, left.saturating_sub(half));
        }
        [Some(only), None] | [None, Some(only)] => shares.give(only, left),
        [None, None] => shares.give(between_idle_ends(then, now), left),
    }
}

/// Time in recovery after timeouts, where the kernel counts it.
fn by_timeouts(then: &TcpInfo, now: &TcpInfo) -> Span {
    match (then.rto_recovery, now.rto_recovery) {
        (Some(then), Some(now)) => now.saturating_sub(then),
        _ => Span::ZERO,
    }
}

/// The limit of a burst that began and ended between two polls.
const fn between_idle_ends(then: &TcpInfo, now: &TcpInfo) -> Limit {
    let sent = now.bytes_acked.saturating_sub(then.bytes_acked);
    let window = now.snd_mss as u64 * now.snd_cwnd as u64;
    if sent <= window {
        // One flight carries it.
        Limit::RoundTrip
    } else if now.total_retrans == 0 && now.snd_cwnd < now.snd_ssthresh {
        Limit::SlowStart
    } else {
        Limit::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sockets::info::{Avoidance, Clocks};
    use crate::sockets::path_share::tests::sender;
    use crate::sockets::socket::State;

    const INTERVAL: Span = Span::from_ms(100);

    fn ms(n: u64) -> Span {
        Span::from_ms(n)
    }

    /// The times after 100 ms in which the clocks advanced by `clocks` (busy, rwnd, sndbuf) milliseconds.
    fn after(clocks: [u64; 3], change: impl FnOnce(&mut Socket, &mut Socket)) -> Vec<(Limit, Span)> {
        let [busy, rwnd_limited, sndbuf_limited] = clocks.map(ms);
        let (mut before, mut after) = (sender(), sender());
        after.info.clocks = Some(Clocks { busy, rwnd_limited, sndbuf_limited });
        change(&mut before, &mut after);
        let mut window = WindowHistory::default();
        window.learn(&after.info, INTERVAL, 1_000_000, rwnd_limited);
        let between = Between { before: &before, after: &after, elapsed: INTERVAL, window: &window };
        divide(between).parts().collect()
    }

    #[test]
    fn the_clocks_of_the_kernel_decide_what_they_count() {
        let parts = after([80, 30, 20], |_, _| {});
        let expected = [
            (Limit::Application, ms(20)),
            (Limit::SendBuffer, ms(20)),
            (Limit::ReceiveWindow, ms(30)),
            (Limit::CongestionWindow, ms(30)),
        ];
        assert_eq!(parts, expected);
    }

    #[test]
    fn each_end_stands_for_half_of_the_path() {
        let parts = after([100, 0, 0], |_, after| after.info.rtt = ms(60));
        assert_eq!(parts, [(Limit::Bottleneck, ms(50)), (Limit::CongestionWindow, ms(50))]);
        let parts = after([40, 0, 0], |_, after| {
            (after.info.unacked, after.info.notsent_bytes) = (0, 0);
        });
        assert_eq!(parts, [(Limit::Application, ms(60)), (Limit::CongestionWindow, ms(40))]);
    }

    #[test]
    fn the_kernel_counts_the_recovery_after_timeouts() {
        let parts = after([100, 0, 0], |before, after| {
            (before.info.rto_recovery, after.info.rto_recovery) = (Some(ms(5)), Some(ms(35)));
        });
        assert_eq!(parts, [(Limit::CongestionWindow, ms(70)), (Limit::Timeout, ms(30))]);
    }

    #[test]
    fn a_recovery_between_two_polls_took_a_round_trip() {
        let parts = after([100, 0, 0], |_, after| after.info.total_retrans = 3);
        assert_eq!(parts, [(Limit::CongestionWindow, ms(80)), (Limit::FastRecovery, ms(20))]);
        let parts = after([100, 0, 0], |before, after| {
            after.info.total_retrans = 3;
            before.info.avoidance = Avoidance::Recovery;
        });
        assert_eq!(parts, [(Limit::CongestionWindow, ms(50)), (Limit::FastRecovery, ms(50))]);
    }

    #[test]
    fn a_burst_between_two_polls_is_a_round_trip_if_one_flight_carries_it() {
        let burst = |bytes, ssthresh| {
            after([30, 0, 0], |before, after| {
                for socket in [before, &mut *after] {
                    (socket.info.unacked, socket.info.notsent_bytes) = (0, 0);
                    socket.info.snd_ssthresh = ssthresh;
                }
                after.info.bytes_acked = bytes;
            })
        };
        assert!(burst(14_480, 8).contains(&(Limit::RoundTrip, ms(30))));
        assert!(burst(14_481, 100).contains(&(Limit::SlowStart, ms(30))));
        assert!(burst(14_481, 8).contains(&(Limit::Unknown, ms(30))));
    }

    #[test]
    fn states_before_and_after_the_transfer_have_limits_of_their_own() {
        assert_eq!(after([0, 0, 0], |_, after| after.state = State::SynSent), [(Limit::Handshake, INTERVAL)]);
        let opened = after([40, 0, 0], |before, _| before.state = State::SynSent);
        assert_eq!(opened[0], (Limit::Handshake, ms(60)));
        let closed = after([0, 0, 0], |_, after| after.state = State::FinWait2);
        assert_eq!(closed, [(Limit::Teardown, INTERVAL)]);
    }

    #[test]
    fn a_kernel_without_clocks_decides_nothing() {
        assert_eq!(after([9, 0, 0], |_, after| after.info.clocks = None), [(Limit::Unknown, INTERVAL)]);
    }

    #[test]
    fn clocks_that_contradict_each_other_do_not_exceed_the_busy_time() {
        assert_eq!(Shares::default().dominant(), None);
        let parts = after([50, 70, 70], |_, _| {});
        assert_eq!(parts, [(Limit::Application, ms(50)), (Limit::ReceiveWindow, ms(50))]);
    }
}
