//! Queueing disciplines of the interface.

pub(crate) mod fair;
pub(crate) mod refusing;
pub(crate) mod send_buffer;
