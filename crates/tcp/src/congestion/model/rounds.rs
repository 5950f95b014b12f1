//! Round trips counted by what is delivered, not by a clock: a pause of the application ends none.

/// The rounds of a connection; one ends when what left at its end is delivered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in crate::congestion) struct Rounds {
    /// So far.
    pub(in crate::congestion) count: u64,
    /// One begins with the acknowledgment that is being taken in.
    pub(in crate::congestion) start: bool,
    end: u64,
}

impl Rounds {
    /// An acknowledgment, `delivered` bytes in all, `prior` when what it is of left, if it tells. Returns whether a round
    /// begins.
    pub(in crate::congestion) fn see(&mut self, prior: Option<u64>, delivered: u64) -> bool {
        self.start = prior.is_some_and(|prior| prior >= self.end);
        if self.start {
            self.count += 1;
            self.restart(delivered);
        }
        self.start
    }

    /// A round begins now, uncounted.
    pub(in crate::congestion) fn restart(&mut self, delivered: u64) {
        self.end = delivered;
    }
}
