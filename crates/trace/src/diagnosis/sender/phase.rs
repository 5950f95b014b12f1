//! What the packets show of a sender's state at each instant, before anything is known of the path.

/// The visible state of a sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(in crate::diagnosis) enum Phase {
    /// The connection is not open.
    Opening,
    /// Nothing is outstanding.
    Empty,
    /// Data is outstanding, and the sender has sent all that it had. It sent more later, not on an ACK.
    Drained,
    /// As [`Phase::Drained`], but the last segment was full: the rest of what was written may wait for an ACK.
    RestHeld,
    /// As [`Phase::RestHeld`], and ACKs of most of the data did not make the sender send.
    RestKept,
    /// Data is outstanding, and the sender has sent all that it had until it was acknowledged.
    Delivering,
    /// As [`Phase::Delivering`], for longer than a round trip of the empty path: data waits on the path, or its ACK was delayed.
    Unanswered,
    /// A short segment waited for an ACK of the one before.
    ShortHeld,
    /// The receive window has no space for a segment.
    WindowFull,
    /// Data is outstanding, windows have space, and more data followed on ACKs.
    Sending,
    /// Segments are retransmitted after duplicate ACKs or SACK.
    FastRecovery,
    /// The sender waits for its timer, or repairs after it has expired.
    Timeout,
    /// As for a timeout or a probe, and nothing that was sent later had arrived.
    TailLoss,
    /// All data is acknowledged, and a FIN was sent.
    Closing,
}

impl Phase {
    /// Whether lost data is sent again, or the sender waits for that.
    pub(in crate::diagnosis) const fn is_repair(self) -> bool {
        matches!(self, Self::FastRecovery | Self::Timeout | Self::TailLoss)
    }
}

/// A time in one phase.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::diagnosis) struct Stretch {
    /// Nanoseconds since the begin of the connection.
    pub(in crate::diagnosis) until: u64,
    pub(in crate::diagnosis) phase: Phase,
}

/// Maximum number of stretches; above that, short ones are put together.
const MOST: usize = 1 << 14;

/// The phases of a sender in order of time.
#[derive(Debug, Default)]
pub(in crate::diagnosis) struct Phases {
    stretches: Vec<Stretch>,
    /// Stretches that are shorter are given to the ones around them if these are in the same phase.
    least: u64,
    /// Shorter ones are put together if there are too many.
    window: u64,
}

impl Phases {
    /// Stretches shorter than `least` nanoseconds between two of the same phase need not be kept.
    pub(in crate::diagnosis) fn set_least(&mut self, least: u64) {
        self.least = self.least.max(least);
    }

    pub(in crate::diagnosis) fn end(&self) -> u64 {
        self.stretches.last().map_or(0, |last| last.until)
    }

    pub(in crate::diagnosis) fn push(&mut self, until: u64, phase: Phase) {
        if until <= self.end() {
            return;
        }
        if let [.., before, between] = self.stretches[..]
            && before.phase == phase
            && between.until - before.until < self.least
        {
            self.stretches.pop();
        }
        self.append(until, phase);
        if self.stretches.len() > MOST {
            self.thin_out();
        }
    }

    fn append(&mut self, until: u64, phase: Phase) {
        match self.stretches.last_mut() {
            Some(last) if last.phase == phase => last.until = until,
            _ => self.stretches.push(Stretch { until, phase }),
        }
    }

    /// Halves the number of stretches: puts those of one phase together that lie in the same window of time, which doubles until
    /// enough are gone. Each phase keeps its time. A connection with many short exchanges would else seem to be in the phase of the first.
    #[cold]
    fn thin_out(&mut self) {
        self.window = self.window.max(self.least).max(1000);
        loop {
            let mut from = 0;
            let mut sums: Vec<(Phase, u64)> = Vec::new();
            for Stretch { until, phase } in core::mem::take(&mut self.stretches) {
                let lasts = until - from;
                from = until;
                if lasts >= self.window {
                    self.append_sums(&mut sums);
                    self.append(until, phase);
                    continue;
                }
                match sums.iter_mut().find(|sum| sum.0 == phase) {
                    Some(sum) => sum.1 += lasts,
                    None => sums.push((phase, lasts)),
                }
                if sums.iter().map(|sum| sum.1).sum::<u64>() >= self.window {
                    self.append_sums(&mut sums);
                }
            }
            self.append_sums(&mut sums);
            if self.stretches.len() <= MOST / 2 {
                return;
            }
            self.window *= 2;
        }
    }

    fn append_sums(&mut self, sums: &mut Vec<(Phase, u64)>) {
        for (phase, lasts) in sums.drain(..) {
            self.append(self.end() + lasts, phase);
        }
    }

    pub(in crate::diagnosis) fn iter(&self) -> impl Iterator<Item = (u64, Stretch)> + '_ {
        let from = core::iter::once(0).chain(self.stretches.iter().map(|stretch| stretch.until));
        from.zip(self.stretches.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_stretch_between_two_of_the_same_phase_is_dropped() {
        let mut phases = Phases::default();
        phases.set_least(5);
        phases.push(10, Phase::WindowFull);
        phases.push(12, Phase::Sending);
        phases.push(20, Phase::WindowFull);
        assert_eq!(phases.iter().collect::<Vec<_>>(), [(0, Stretch { until: 20, phase: Phase::WindowFull })]);
    }

    #[test]
    fn a_long_connection_needs_bounded_memory() {
        let mut phases = Phases::default();
        for n in 1..1_000_000_u64 {
            phases.push(n * 1000, if n % 2 == 0 { Phase::Sending } else { Phase::WindowFull });
        }
        assert!(phases.stretches.len() <= MOST);
        assert_eq!(phases.end(), 999_999_000);
        let sending = || phases.iter().filter(|(_, stretch)| stretch.phase == Phase::Sending);
        let time: u64 = sending().map(|(began, stretch)| stretch.until - began).sum();
        assert_eq!(time, 499_999_000, "each phase keeps its time");
        assert!(sending().last().is_some_and(|(began, _)| began > 990_000_000), "and its place");
    }
}
