//! Events inside a connection, with time and cause. Probes read events and do not access the state.

use crate::opening::state::{CloseReason, State};
use crate::record::reason::{Held, Reason};
use crate::time::{Span, Time};

/// The timers of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Timer {
    /// The retransmission timer: sent data or a flag is unacknowledged.
    Retransmit,
    /// The probe timeout (PTO) of a tail loss probe (RFC 8985, section 7).
    TailProbe,
    /// The reordering timer of RACK (RFC 8985, section 6).
    Reordering,
    /// The peer's window is closed.
    Persist,
    /// The upper limit on the time for which a short segment waits for more data.
    Ceiling,
    /// The delayed ACK timer.
    DelayedAck,
    /// The connection is idle.
    KeepAlive,
    /// 2·MSL.
    TimeWait,
    /// The user timeout.
    UserTimeout,
}

/// Phases of the sender.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Phase {
    /// cwnd below ssthresh.
    SlowStart,
    /// cwnd at or above ssthresh.
    CongestionAvoidance,
    /// Loss recovery without a timeout.
    Recovery,
    /// Loss recovery after a timeout.
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
    /// A segment was sent.
    Sent {
        /// Stream offset of its first byte (or of the next one, for a segment without data).
        offset: u64,
        /// Payload bytes.
        len: u32,
        /// Why.
        reason: Reason,
    },
    /// The transmission policy starts to hold back a short segment.
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
        /// When it expires.
        deadline: Time,
    },
    /// A timer expired.
    Fired {
        /// Which.
        timer: Timer,
    },
    /// The sender entered a phase.
    Phase(Phase),
    /// The last recovery or timeout was spurious and has been undone.
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
