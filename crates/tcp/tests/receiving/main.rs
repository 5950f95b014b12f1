//! Windows, timestamps, and segments that are refused.

#[path = "../common/mod.rs"]
mod common;
#[path = "../lab/mod.rs"]
mod lab;

mod behind_gap;
mod desktop_systems;
mod freebsd_rules;
mod linux_windows;
mod receive_buffer;
mod rfc5961;
mod timestamps;
mod windows;
mod windows_by_system;
