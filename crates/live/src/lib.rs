//! Everything that needs a clock, a socket or a device. Linux only.
//!
//! This crate contains the prober, TUN devices, our TCP on them, and the emulator. It must not contain what can be
//! simulated. Decisions take times and packets as arguments, and are tested without sockets.
//!
//! * `emulator/`: real programs on a simulated path
//! * `prober/`: ICMP echo, one host or many
//! * `sockets/`: the kernel's TCP sockets, and what limits them
//! * `tun/`: TUN devices
//! * `host/`: our TCP on a wire

pub mod emulator;
pub mod host;
pub mod prober;
pub mod sockets;
pub mod tun;
