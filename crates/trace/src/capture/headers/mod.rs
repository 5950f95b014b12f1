//! Headers below TCP: link layers, serial links, the protocol fields in front of IP, and UDP.

pub(super) mod datagram;
pub(super) mod link;
pub(super) mod protocol;
pub(super) mod serial;
