//! What a connection records: reasons, events, counters, and what limited the sender.

pub mod event;
pub(crate) mod info;
pub(crate) mod limits;
pub mod reason;
pub mod stats;
