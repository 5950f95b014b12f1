//! The socket calls, as methods of [`crate::stack::Stack`]. None of them waits.

pub(crate) mod connection;
pub(crate) mod data;
mod fast_open;
mod info;
mod options;
mod poll;
