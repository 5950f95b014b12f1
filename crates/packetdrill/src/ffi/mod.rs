//! The C interface, which contains all unsafe code of this crate.

mod current;
mod data;
mod device;
mod files;
pub(crate) mod interface;
mod memory;
mod options;
mod poll;
mod preload;
mod result;
mod sockets;
mod userdata;
