//! ACKs of data behind a gap, of which Linux joins several (`tcp_comp_sack_delay_ns` and others, since 4.18).
//!
//! After three ACKs for a gap, which show the loss, another one waits for a twentieth of the RTT, one millisecond at most, and
//! reports all that arrives meanwhile (`__tcp_ack_snd_check()`).

use super::Due;
use crate::time::{Span, Time};

/// ACKs for a gap that leave at once (`TCP_FASTRETRANS_THRESH`).
const AT_ONCE: u8 = 3;
/// The most segments that wait for one ACK (`tcp_comp_sack_nr`).
const MOST: u8 = 44;
/// How much later than asked the timer may expire (`tcp_comp_sack_slack_ns`).
const SLACK: Span = Span::from_us(100);

/// The ACKs for the present gap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct BehindGap {
    /// What had arrived in order before the gap (`compressed_ack_rcv_nxt`).
    received: u64,
    /// ACKs for it that left at once (`dup_ack_counter`).
    at_once: u8,
    /// Segments that wait for one ACK (`compressed_ack`).
    waiting: u8,
    /// The last ACK that counts as having left at once has not left yet.
    is_owed: bool,
}

impl BehindGap {
    pub(super) const fn new() -> Self {
        Self { received: 0, at_once: 0, waiting: 0, is_owed: false }
    }

    /// A segment behind a gap at `received` arrives. Its ACK leaves now or waits, `longest` at most; an ACK that waits is due at
    /// `armed`. `rtt` is that of the path, or zero.
    pub(super) fn arrives(
        &mut self,
        now: Time,
        received: u64,
        (longest, rtt, armed): (Span, Span, Time),
    ) -> Due {
        let delay = longest.min(Span::from_ps(rtt.as_ps() / 20));
        // A timer of no length expires at once.
        if delay == Span::ZERO || self.waiting >= MOST {
            return Due::Now;
        }
        if self.received != received {
            (self.received, self.at_once) = (received, 0);
        }
        if self.at_once < AT_ONCE {
            (self.at_once, self.is_owed) = (self.at_once + 1, true);
            return Due::Now;
        }
        self.waiting += 1;
        if self.waiting > 1 {
            return Due::At(armed);
        }
        Due::At((now + delay + SLACK).min(armed))
    }

    /// Whether the ACK of such a segment waits.
    pub(super) const fn waits(&self) -> bool {
        self.waiting > 0
    }

    /// An ACK leaves, alone or with data. Linux counts after it has sent data (`tcp_data_snd_check()` before `tcp_ack_snd_check()`):
    /// an ACK that data carries does not count.
    pub(super) const fn leaves(&mut self, with_data: bool) {
        if self.is_owed && with_data {
            self.at_once -= 1;
        }
        (self.waiting, self.is_owed) = (0, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONGEST: Span = Span::from_ms(1);

    /// What happens to the ACKs of segments that come every 100 µs, of which none leaves otherwise: the delay in µs, or 0.
    fn delays(count: u64, rtt: Span, longest: Span) -> Vec<u64> {
        let (mut gap, mut armed) = (BehindGap::new(), Time::NEVER);
        (0..count)
            .map(|n| {
                let now = Time::ZERO + Span::from_us(100 * n);
                match gap.arrives(now, 5000, (longest, rtt, armed)) {
                    Due::Now => {
                        gap.leaves(false);
                        armed = Time::NEVER;
                        0
                    }
                    Due::At(when) => {
                        armed = when;
                        (when - now).as_ps() / 1_000_000
                    }
                }
            })
            .collect()
    }

    #[test]
    fn three_acks_leave_at_once_and_the_others_wait_for_one_timer() {
        let rtt = Span::from_ms(100);
        assert_eq!(delays(6, rtt, LONGEST), [0, 0, 0, 1100, 1000, 900]);
        assert_eq!(delays(5, Span::from_ms(4), LONGEST), [0, 0, 0, 300, 200], "a twentieth of the RTT");
        assert_eq!(delays(5, rtt, Span::ZERO), [0; 5], "without joining");
        assert_eq!(delays(5, Span::ZERO, LONGEST), [0; 5], "before the RTT is known");
        let many = delays(60, rtt, LONGEST);
        assert_eq!(many[3 + 44], 0, "at most 44 segments wait");
    }

    #[test]
    fn an_ack_that_data_carries_does_not_count() {
        let mut gap = BehindGap::new();
        let rtt = Span::from_ms(40);
        let mut arrives = |with_data| {
            let due = gap.arrives(Time::ZERO, 5, (LONGEST, rtt, Time::NEVER));
            gap.leaves(with_data);
            due
        };
        let waits = Due::At(Time::ZERO + LONGEST + SLACK);
        assert_eq!([false, true, true, false].map(&mut arrives), [Due::Now; 4]);
        assert_eq!([true, false, false, true].map(arrives), [Due::Now, Due::Now, waits, waits]);
    }

    #[test]
    fn a_new_gap_is_reported_at_once() {
        let mut gap = BehindGap::new();
        let rtt = Span::from_ms(40);
        let mut arrives = |received| gap.arrives(Time::ZERO, received, (LONGEST, rtt, Time::NEVER));
        let waits = Due::At(Time::ZERO + LONGEST + SLACK);
        assert_eq!([5, 5, 5, 5, 9].map(&mut arrives), [Due::Now, Due::Now, Due::Now, waits, Due::Now]);
    }
}
