//! Decides whether to poll for packets before a sleep. A wake-up on another processor takes tens of microseconds,
//! longer than most responses of a peer on the same machine; polling without success keeps a processor busy.
//!
//! As in virtual machine monitors (Linux, `halt_poll_ns`): a packet that arrives soon after the start of a sleep would
//! have been found by polling. If polling is unsuccessful, for example because both ends share a processor, it becomes
//! increasingly rare.

use netspurt_tcp::time::Span;

/// Maximum duration of polling.
const MOST: Span = Span::from_us(60);
/// After this number of unsuccessful attempts in a row, polling no longer becomes rarer.
const RAREST: u32 = 10;
/// With more bytes than this between sleeps, the cost of a sleep per packet is small.
const CROWD: usize = 4096;

/// The history of sleeps and polling.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in crate::host) struct Polling {
    /// Unsuccessful attempts, and turns until the next one.
    vain: u32,
    pause: u32,
    /// Whether the last sleep was so short that polling would have been better.
    pays: bool,
}

impl Polling {
    /// How long to poll before this sleep, with `octets` received since the last one.
    pub(in crate::host) const fn before_sleep(&mut self, octets: usize) -> Span {
        if octets == 0 || octets >= CROWD || !self.pays {
            return Span::ZERO;
        }
        if self.pause > 0 {
            self.pause -= 1;
            return Span::ZERO;
        }
        MOST
    }

    /// Records whether polling found a packet.
    pub(in crate::host) fn looked(&mut self, found: bool) {
        self.vain = if found { self.vain.saturating_sub(1) } else { (self.vain + 1).min(RAREST) };
        self.pause = if found || self.vain < 2 { 0 } else { 1 << self.vain };
    }

    /// Records the length of a sleep that a packet ended.
    pub(in crate::host) fn slept(&mut self, span: Span) {
        self.pays = span <= MOST;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Span = Span::from_us(30);

    /// Runs this number of turns with one byte each, in which polling always or never succeeds. Returns how often it
    /// polled.
    fn looks(polling: &mut Polling, turns: u32, found: bool) -> u32 {
        let mut looked = 0;
        for _ in 0..turns {
            if polling.before_sleep(1) > Span::ZERO {
                polling.looked(found);
                looked += 1;
            } else {
                polling.slept(SHORT);
            }
        }
        looked
    }

    #[test]
    fn after_quick_responses_it_polls_each_time() {
        let mut polling = Polling::default();
        assert_eq!(looks(&mut polling, 100, true), 99, "all but the first, before anything was known");
    }

    #[test]
    fn unsuccessful_polling_becomes_rare_and_recovers_after_success() {
        let mut polling = Polling::default();
        assert!(looks(&mut polling, 100_000, false) < 120);
        assert!(looks(&mut polling, 10_000, true) > 8000);
    }

    #[test]
    fn it_does_not_poll_after_long_sleeps_at_high_rates_or_without_packets() {
        let mut polling = Polling::default();
        polling.slept(SHORT);
        assert_eq!(polling.before_sleep(CROWD), Span::ZERO);
        assert_eq!(polling.before_sleep(0), Span::ZERO);
        assert_eq!(polling.before_sleep(40), MOST);
        polling.slept(Span::from_ms(1));
        assert_eq!(polling.before_sleep(40), Span::ZERO);
    }
}
