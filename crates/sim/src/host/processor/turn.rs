//! The queue of tasks.

/// One connection at an endpoint. A task for an earlier connection of the same endpoint is discarded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Turn {
    pub(crate) place: u32,
    pub(crate) generation: u16,
}
