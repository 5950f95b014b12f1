//! File formats: pcap and pcapng.

pub(super) mod blocks;
pub(super) mod order;
pub(super) mod pcap;
pub(super) mod pcapng;
pub(super) mod resolution;
