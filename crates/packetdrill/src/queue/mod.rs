//! Queueing disciplines of the interface.

pub(crate) mod fair;
pub(crate) mod refusing;
