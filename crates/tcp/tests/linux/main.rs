//! The profile `linux` held against what the kernel does.

#[path = "../common/mod.rs"]
mod common;
#[path = "../lab/mod.rs"]
mod lab;

mod answered;
mod as_linux;
mod as_linux_recovery;
mod as_linux_segments;
mod bursts_and_probes;
mod closing;
mod cwnd_in_packets;
mod marks_and_parts;
mod marks_and_undo;
mod old_acks;
mod recounted;
mod round_trips;
mod short_segments;
mod small_sockets;
mod undone;
mod usual_acks;
