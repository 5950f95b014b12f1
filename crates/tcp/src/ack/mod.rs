//! What an arriving ACK means to the sender.

pub(crate) mod process;
