//! Headers below TCP: link layers, serial links and UDP.

pub(super) mod datagram;
pub(super) mod link;
pub(super) mod serial;
