//! When data leaves, and in segments of which size.

#[path = "../bottleneck/mod.rs"]
mod bottleneck;
#[path = "../common/mod.rs"]
mod common;
#[path = "../lab/mod.rs"]
mod lab;

mod interface;
mod path_mtu;
mod policies;
mod push_bursts;
mod records;
mod segmentation;
mod send_buffer;
