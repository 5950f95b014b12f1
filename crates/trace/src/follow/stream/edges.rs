//! Positions and times that a stream remembers: its edges, requests of the receiver, and the sender's recovery.

use crate::follow::retransmission::Phase;
use crate::stamp::Stamp;

/// The first position that is not acknowledged, and the one after the last byte seen.
#[derive(Clone, Copy, Debug)]
pub(in crate::follow) struct Edges {
    pub(in crate::follow) una: i64,
    pub(in crate::follow) next: i64,
}

/// The receiver reports that `start` to `end` is missing.
#[derive(Clone, Copy, Debug)]
pub(in crate::follow) struct Asked {
    pub(in crate::follow) at: Stamp,
    pub(in crate::follow) start: i64,
    pub(in crate::follow) end: i64,
}

/// The sender's recovery: its start and its end position.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::follow) struct Repair {
    pub(in crate::follow) phase: Phase,
    pub(in crate::follow) since: Stamp,
    pub(in crate::follow) until: i64,
    /// Whether the last outstanding segment was retransmitted.
    pub(in crate::follow) rescued: bool,
    /// Whether an ACK has shown that the timeout that began it was needless.
    pub(in crate::follow) needless: bool,
    /// Whether the latest ACK reports that data of this recovery arrived twice (RFC 2883).
    pub(in crate::follow) copied: bool,
    /// The recovery before, and when it ended.
    pub(in crate::follow) before: (Phase, Stamp),
}
