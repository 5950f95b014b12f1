//! Whether to look for packets for a while before going to sleep. To be woken on another processor takes tens of
//! microseconds, longer than most answers of a peer on the same machine; to look in vain keeps a processor from it.
//!
//! As virtual machine monitors do it (Linux, `halt_poll_ns`): what came soon after falling asleep would have been found by
//! looking. Where looking has been in vain, as it is if both share a processor, it is tried ever more rarely.

use netspurt_tcp::time::Span;

/// So long is looked at most.
const MOST: Span = Span::from_us(60);
/// After so many attempts in vain without one that paid, no more often than once in as many turns as a power of two of them.
const RAREST: u32 = 10;
/// Where packets come in crowds, a sleep costs little for each of them.
const CROWD: usize = 4096;

/// What is known of sleeping and looking.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Polling {
    /// Attempts in vain, and turns until the next one is worth it.
    vain: u32,
    pause: u32,
    /// Whether the last sleep was so short that looking would have been better.
    pays: bool,
}

impl Polling {
    /// How long to look before this sleep, `octets` having come since the last one.
    pub(super) const fn before_sleep(&mut self, octets: usize) -> Span {
        if octets == 0 || octets >= CROWD || !self.pays {
            return Span::ZERO;
        }
        if self.pause > 0 {
            self.pause -= 1;
            return Span::ZERO;
        }
        MOST
    }

    /// Something came while we looked, or nothing did.
    pub(super) fn looked(&mut self, found: bool) {
        self.vain = if found { self.vain.saturating_sub(1) } else { (self.vain + 1).min(RAREST) };
        self.pause = if found || self.vain < 2 { 0 } else { 1 << self.vain };
    }

    /// A packet ended a sleep of this length.
    pub(super) fn slept(&mut self, span: Span) {
        self.pays = span <= MOST;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Span = Span::from_us(30);

    /// So many turns: each time one octet came, and looking would find something or not. How often it was looked.
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
    fn where_answers_come_soon_they_are_looked_for_each_time() {
        let mut polling = Polling::default();
        assert_eq!(looks(&mut polling, 100, true), 99, "all but the first, before anything was known");
    }

    #[test]
    fn where_looking_is_in_vain_it_becomes_rare_and_recovers_where_it_is_not() {
        let mut polling = Polling::default();
        assert!(looks(&mut polling, 100_000, false) < 120);
        assert!(looks(&mut polling, 10_000, true) > 8000);
    }

    #[test]
    fn nobody_looks_after_a_long_sleep_or_among_crowds_or_without_a_packet() {
        let mut polling = Polling::default();
        polling.slept(SHORT);
        assert_eq!(polling.before_sleep(CROWD), Span::ZERO);
        assert_eq!(polling.before_sleep(0), Span::ZERO);
        assert_eq!(polling.before_sleep(40), MOST);
        polling.slept(Span::from_ms(1));
        assert_eq!(polling.before_sleep(40), Span::ZERO);
    }
}
