//! Positions and times that a stream remembers: its edges, what the receiver has asked for, and the sender's recovery.

use super::retransmission::Phase;
use crate::stamp::Stamp;

/// The first position that is not acknowledged, and the one after the last byte seen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edges {
    pub(super) una: i64,
    pub(super) next: i64,
}

/// The receiver reports that `start` to `end` is missing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) at: Stamp,
    pub(super) start: i64,
    pub(super) end: i64,
}

/// The sender's recovery: its start and its end position.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Repair {
    pub(super) phase: Phase,
    pub(super) since: Stamp,
    pub(super) until: i64,
    /// Whether the last outstanding segment was retransmitted.
    pub(super) rescued: bool,
    /// The recovery before, and when it ended.
    pub(super) before: (Phase, Stamp),
}
