//! Policers: packets that exceed a token bucket are dropped or marked on arrival. No packet waits.
//!
//! With a second bucket packets have three colours: green, yellow and red. Earlier colours are ignored (colour-blind mode).

use crate::network::token_bucket::bucket::{Bucket, Tokens};

/// The configuration of a policer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PolicerSpec {
    /// The committed rate and burst.
    pub committed: Bucket,
    /// The second bucket, which distinguishes yellow from red. Without it no packet is yellow.
    pub excess: Excess,
    /// The action on yellow packets.
    pub yellow: Action,
    /// The action on red packets.
    pub red: Action,
}

impl PolicerSpec {
    /// The rate in bits per second above which it drops; `None` if it marks or passes everything.
    pub(crate) fn drops_above(&self) -> Option<u64> {
        match (self.excess, self.yellow, self.red) {
            (Excess::Burst(_) | Excess::Peak(_), Action::Drop, _) => Some(self.committed.rate),
            (Excess::Peak(peak), _, Action::Drop) => Some(peak.rate),
            (Excess::None | Excess::Burst(_), _, Action::Drop) => Some(self.committed.rate),
            _ => None,
        }
    }
}

/// The second bucket.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Excess {
    /// No second bucket.
    #[default]
    None,
    /// A bucket of this many bytes, filled by the excess of the first one (RFC 2697).
    Burst(u64),
    /// A bucket with a rate of its own, not below that of the first one (RFC 2698).
    Peak(Bucket),
}

/// The action on packets of a colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// They pass.
    Pass,
    /// They are marked CE if they are ECN-capable, and dropped otherwise.
    Mark,
    /// They are dropped.
    Drop,
}

/// The number of packets of each colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Colours {
    /// Within the committed rate and burst.
    pub green: u64,
    /// Within the second bucket.
    pub yellow: u64,
    /// Above both.
    pub red: u64,
}

/// A policer with its state.
#[derive(Clone, Debug)]
pub(crate) struct Policer {
    spec: PolicerSpec,
    committed: Tokens,
    excess: Option<Tokens>,
    pub(crate) colours: Colours,
}

impl Policer {
    pub(crate) fn new(spec: PolicerSpec) -> Self {
        let excess = match spec.excess {
            Excess::None => None,
            Excess::Burst(burst) => Some(Tokens::of(burst)),
            Excess::Peak(bucket) => Some(Tokens::new(bucket)),
        };
        Self { spec, committed: Tokens::new(spec.committed), excess, colours: Colours::default() }
    }

    /// The action on a packet of this many bytes that arrives at `now`.
    pub(crate) fn judge(&mut self, now: u64, size: u32) -> Action {
        let overflow = self.committed.fill(now);
        let Some(excess) = &mut self.excess else {
            return if self.committed.take(size) { self.green() } else { self.red() };
        };
        if let Excess::Burst(_) = self.spec.excess {
            // RFC 2697, section 3: the second bucket gets what the first has no room for.
            excess.add(overflow);
            return if self.committed.take(size) {
                self.green()
            } else if excess.take(size) {
                self.yellow()
            } else {
                self.red()
            };
        }
        // RFC 2698, section 3: what exceeds the peak is red and takes no tokens; green packets take those of both.
        excess.fill(now);
        if !excess.take(size) {
            self.red()
        } else if self.committed.take(size) {
            self.green()
        } else {
            self.yellow()
        }
    }

    const fn green(&mut self) -> Action {
        self.colours.green += 1;
        Action::Pass
    }

    const fn yellow(&mut self) -> Action {
        self.colours.yellow += 1;
        self.spec.yellow
    }

    const fn red(&mut self) -> Action {
        self.colours.red += 1;
        self.spec.red
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: u64 = 1_000_000;
    /// A byte a microsecond.
    const OCTET: u64 = 8_000_000;

    fn policer(excess: Excess) -> Policer {
        let committed = Bucket { rate: OCTET, burst: 1000 };
        Policer::new(PolicerSpec { committed, excess, yellow: Action::Mark, red: Action::Drop })
    }

    fn judged(policer: &mut Policer, packets: &[(u64, u32)]) -> Vec<Action> {
        packets.iter().map(|&(us, size)| policer.judge(us * US, size)).collect()
    }

    #[test]
    fn a_single_bucket_passes_or_drops() {
        let mut policer = policer(Excess::None);
        let packets = [(0, 600), (0, 600), (200, 600), (200, 1), (10_000, 1000), (10_000, 1)];
        let [pass, drop] = [Action::Pass, Action::Drop];
        assert_eq!(judged(&mut policer, &packets), [pass, drop, pass, drop, pass, drop]);
    }

    #[test]
    fn one_rate_and_three_colours_are_those_of_rfc_2697() {
        let mut policer = policer(Excess::Burst(500));
        // The first bucket is emptied, then the second; both are filled by one rate, the first first.
        let packets = [(0, 1000), (0, 500), (0, 1), (1000, 600), (1000, 500), (1500, 500), (2200, 500)];
        use Action::{Drop, Mark, Pass};
        assert_eq!(judged(&mut policer, &packets), [Pass, Mark, Drop, Pass, Drop, Pass, Pass]);
        assert_eq!(policer.colours, Colours { green: 4, yellow: 1, red: 2 });
        // A second later both are full again.
        assert_eq!(
            judged(&mut policer, &[(1_000_000, 1000), (1_000_000, 500), (1_000_000, 1)]),
            [Pass, Mark, Drop]
        );
    }

    #[test]
    fn two_rates_and_three_colours_are_those_of_rfc_2698() {
        // Peak: two bytes a microsecond, 1500 at once.
        let mut policer = policer(Excess::Peak(Bucket { rate: 2 * OCTET, burst: 1500 }));
        use Action::{Drop, Mark, Pass};
        let packets = [(0, 1000), (0, 500), (0, 1), (100, 200), (100, 1), (200, 100), (200, 100)];
        // At 100 µs: 100 and 200 tokens, so that 200 bytes are yellow; at 200 µs: 200 and 200.
        assert_eq!(judged(&mut policer, &packets), [Pass, Mark, Drop, Mark, Drop, Pass, Pass]);
    }
}
