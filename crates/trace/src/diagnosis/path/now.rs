//! What a slice of a sender shows of the path.

/// The facts about the path in one slice.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(in crate::diagnosis) struct PathNow {
    /// Round trip of the whole path in nanoseconds; the latest one, if the slice has no sample.
    pub(in crate::diagnosis) rtt: u64,
    /// How much of it exceeds the least one.
    pub(in crate::diagnosis) queueing: u64,
    /// Whether the packets of this sender alone explain the delays here, and whether that is so exact that no bucket of tokens took part.
    pub(in crate::diagnosis) alone: bool,
    pub(in crate::diagnosis) exact: bool,
    /// Where bursts show the delay: whether it is always the same.
    pub(in crate::diagnosis) steady: bool,
    /// Whether the times between segments show that its link transmits all the time, and mostly packets of others.
    pub(in crate::diagnosis) of_others: bool,
    /// Whether the path marked packets in the last round trips.
    pub(in crate::diagnosis) marked: bool,
    /// Whether the path was full during the last round trip.
    pub(in crate::diagnosis) full: bool,
    /// Where no delays show a queue: segments came without pauses, as they leave a queue.
    pub(in crate::diagnosis) even: bool,
    /// Whether enough segments passed for that to be sure.
    pub(in crate::diagnosis) many: bool,
    /// Bytes per second that arrived during the last round trip.
    pub(in crate::diagnosis) rate: f64,
}

impl PathNow {
    /// Whether the path is full, if the receive window is not.
    pub(in crate::diagnosis) const fn is_full(&self) -> bool {
        self.full || self.even
    }
}
