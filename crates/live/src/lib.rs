//! The real world: what needs a clock, a socket or a device. Linux only.
//!
//! Lives here: the prober, TUN devices. Must not live here: anything that could be simulated; whatever decides takes the time and what
//! arrived as arguments, here as everywhere, and is tested without a socket.
//!
//! * `prober/`: ICMP echo, one host or many
//! * `tun/`: TUN devices

pub mod prober;
pub mod tun;
