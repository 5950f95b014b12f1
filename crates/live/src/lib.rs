//! The real world: what needs a clock, a socket or a device. Linux only.
//!
//! Lives here: the prober, TUN devices, the emulator. Must not live here: anything that could be simulated; whatever decides takes the time and what
//! arrived as arguments, here as everywhere, and is tested without a socket.
//!
//! * `emulator/`: real programs on a simulated path
//! * `prober/`: ICMP echo, one host or many
//! * `tun/`: TUN devices

pub mod emulator;
pub mod prober;
pub mod tun;
