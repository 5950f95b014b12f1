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

/// Maximum number of stretches; above that, short ones are merged.
const MOST: usize = 1 << 14;

/// The phases of a sender in order of time.
#[derive(Debug, Default)]
pub(in crate::diagnosis) struct Phases {
    stretches: Vec<Stretch>,
    /// Stretches that are shorter are given to the ones around them if these are in the same phase.
    least: u64,
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
        match self.stretches.last_mut() {
            Some(last) if last.phase == phase => last.until = until,
            _ => self.stretches.push(Stretch { until, phase }),
        }
        if self.stretches.len() > MOST {
            self.thin_out();
        }
    }

    /// Halves the number of stretches by doubling the least length until enough are gone.
    #[cold]
    fn thin_out(&mut self) {
        while self.stretches.len() > MOST / 2 {
            self.least = (self.least * 2).max(1000);
            let all = core::mem::take(&mut self.stretches);
            let mut from = 0;
            for Stretch { until, phase } in all {
                // The last one takes the time of a short one.
                match self.stretches.last_mut() {
                    Some(last) if last.phase == phase || until - from < self.least => last.until = until,
                    _ => self.stretches.push(Stretch { until, phase }),
                }
                from = until;
            }
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
    }
}
