//! The states of BBR version 3.

/// The state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    Startup,
    Drain,
    /// The four states of bandwidth probing: below the rate of the path, to drain a queue,
    Down,
    /// at its rate,
    Cruise,
    /// at its rate, with the largest known volume in flight,
    Refill,
    /// and above its rate.
    Up,
    ProbeRtt,
}
