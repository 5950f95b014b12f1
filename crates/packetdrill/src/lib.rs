//! A shared object for packetdrill (github.com/google/packetdrill): sockets over [`netspurt_tcp::Connection`], on a virtual
//! clock. `packetdrill --so_filename=libnetspurt_packetdrill.so script.pkt` then judges our TCP as it judges a kernel's.
//!
//! * `stack.rs`: the clock, and packets between the wire and the sockets: deterministic, no threads
//! * `socket.rs`, `calls.rs`: what sockets are, and the calls that can be told to come again
//! * `options.rs`, `info.rs`, `ready.rs`: socket options, TCP_INFO, poll and epoll
//! * `machine.rs`: who waits for whom: blocking calls run on a thread of their own
//! * `interface.rs`, `memory.rs`, `preload.rs`: the C edge, and the only unsafe code
//!
//! The stack holds no payload: what it sends and hands to readers are zeros, as packetdrill's own payloads are.

mod calls;
mod fast_open;
mod ffi;
mod offload;
mod shared_stack;
mod socket;
mod stack;
mod sysctl;

pub use ffi::interface::{Interface, packetdrill_interface_init};
