//! What happened inside a connection, with the time and the cause. Probes read events; they never reach into the state.

use crate::opening::state::{CloseReason, State};
use crate::record::reason::{Held, Reason};
use crate::time::{Span, Time};

/// The timers of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Timer {
    /// Something sent is unacknowledged.
    Retransmit,
    /// Nothing comes back: a probe before the retransmission timer (RFC 8985, section 7).
    TailProbe,
    /// What left before something that has arrived may still be on its way (RFC 8985, section 6).
    Reordering,
    /// The peer's window is closed.
    Persist,
    /// A short segment waits for the application: the ceiling on that.
    Ceiling,
    /// An acknowledgment waits.
    DelayedAck,
    /// The connection is idle.
    KeepAlive,
    /// 2·MSL.
    TimeWait,
    /// The user's patience.
    UserTimeout,
}

/// Phases of the sender.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Phase {
    /// cwnd below ssthresh.
    SlowStart,
    /// cwnd at or above ssthresh.
    CongestionAvoidance,
    /// A loss is being repaired without a timeout.
    Recovery,
    /// A timeout's losses are being repaired.
    TimeoutRecovery,
}

/// One event.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Event {
    /// The state of RFC 9293, figure 5, changed.
    State {
        /// Before.
        from: State,
        /// After.
        to: State,
    },
    /// A segment left.
    Sent {
        /// Stream offset of its first byte (or of the next one, for a segment without data).
        offset: u64,
        /// Payload bytes.
        len: u32,
        /// Why.
        reason: Reason,
    },
    /// The transmission policy begins to hold a short segment back.
    Held(Held),
    /// The peer acknowledged everything before this offset.
    Acknowledged {
        /// Stream offset.
        offset: u64,
    },
    /// A round-trip time was measured.
    RttSample {
        /// The sample.
        rtt: Span,
    },
    /// cwnd or ssthresh changed.
    Window {
        /// Congestion window, bytes.
        cwnd: u32,
        /// Slow start threshold, bytes; `u32::MAX` is infinite.
        ssthresh: u32,
    },
    /// The peer's window changed.
    PeerWindow {
        /// Bytes.
        window: u32,
    },
    /// A timer was armed, or moved to another instant.
    Armed {
        /// Which.
        timer: Timer,
        /// When it will run out.
        deadline: Time,
    },
    /// A timer ran out.
    Fired {
        /// Which.
        timer: Timer,
    },
    /// The sender entered a phase.
    Phase(Phase),
    /// The recovery, or the timeout, before was a mistake, and is undone.
    Undone,
    /// A NAK arrived.
    NakReceived {
        /// Stream offset of the first missing byte.
        offset: u64,
        /// Segments missing.
        count: u8,
    },
    /// The urgent pointer moved ahead: urgent data ends before this offset.
    Urgent {
        /// Stream offset.
        offset: u64,
    },
    /// The connection is over.
    Closed(CloseReason),
}
