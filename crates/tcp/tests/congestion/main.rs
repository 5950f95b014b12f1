//! Congestion control: windows, rates and pacing.

#[path = "../bottleneck/mod.rs"]
mod bottleneck;
#[path = "../common/mod.rs"]
mod common;

mod bbr;
mod bbr3;
mod custom;
mod pacing;
mod switching;
mod vegas;
mod without_sack;
