//! The path MTU: what ICMP reports, and probes that search for it.

pub(super) mod mtu_search;
pub(super) mod path_mtu;
