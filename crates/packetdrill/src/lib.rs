//! A shared object for packetdrill (github.com/google/packetdrill): sockets over [`netspurt_tcp::Connection`], on a virtual
//! clock. With `packetdrill --so_filename=libnetspurt_packetdrill.so script.pkt`, packetdrill tests this TCP instead of the
//! kernel's.
//!
//! * `ffi/`: the C interface, which contains all unsafe code
//! * `shared_stack.rs`: the stack as packetdrill's two threads share it; blocking calls
//! * `calls/`: the socket calls, none of which waits
//! * `replay.rs`: scripts from a pipe instead of packetdrill
//! * `stack/`: the virtual clock, and the packets between the network and the sockets
//! * `socket.rs`, `socket_options.rs`, `epoll.rs`, `fast_open.rs`, `sysctl.rs`, `icmp.rs`, `offload.rs`, `queue/`: the parts of the stack
//!
//! Each layer imports only those below it. The stack stores no payload: it sends zeros, and readers get zeros, as in
//! packetdrill's own
//! packets.

mod calls;
mod epoll;
mod error_queue;
mod fast_open;
mod ffi;
mod icmp;
mod offload;
mod queue;
mod replay;
mod shared_stack;
mod socket;
mod socket_options;
mod stack;
mod sysctl;

pub use ffi::interface::{Interface, packetdrill_interface_init};
pub use replay::replay;
