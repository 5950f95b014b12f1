//! The piece of a connection that a rule judges.

use super::sender::phase::Phase;

/// The judged piece: a slice or a part of it, and the stretch of its phase.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub(super) phase: Phase,
    /// Begin and end of the stretch, in nanoseconds since the begin of the connection.
    pub(super) from: u64,
    pub(super) until: u64,
    /// The middle of the judged piece.
    pub(super) at: u64,
    /// The slice.
    pub(super) index: usize,
}
