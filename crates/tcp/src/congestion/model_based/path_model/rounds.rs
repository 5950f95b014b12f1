//! Rounds counted by deliveries, not by a clock: a pause of the application does not end a round.

/// The rounds of a connection. A round ends when data sent after its start is delivered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in crate::congestion) struct Rounds {
    /// The number of rounds.
    pub(in crate::congestion) count: u64,
    /// Whether the current ACK starts a round.
    pub(in crate::congestion) start: bool,
    end: u64,
}

impl Rounds {
    /// Processes an ACK. `delivered` is the total of delivered bytes; `prior` is the total when the acknowledged data
    /// was sent, if known. Returns whether a round starts.
    pub(in crate::congestion) fn see(&mut self, prior: Option<u64>, delivered: u64) -> bool {
        self.start = prior.is_some_and(|prior| prior >= self.end);
        if self.start {
            self.count += 1;
            self.restart(delivered);
        }
        self.start
    }

    /// Starts a round without counting it.
    pub(in crate::congestion) fn restart(&mut self, delivered: u64) {
        self.end = delivered;
    }
}
