//! Data that the application has written: its buffer, and where segments carry PSH.

pub(super) mod buffer;
pub(super) mod bursts;
mod growth;
mod joined;
pub(crate) mod marks;
mod memory;
pub(super) mod packets;
mod records;
