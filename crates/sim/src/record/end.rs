//! The two ends of a flow, and the owner of a packet.

/// The two ends of a flow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum End {
    /// The one that opened the connection.
    Client,
    /// The one that accepted it.
    Server,
}

/// The flow, connection and end that sent a packet, for captures.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Addresses {
    pub(crate) flow: u32,
    pub(crate) connection: u32,
    pub(crate) nodes: [u32; 2],
    pub(crate) ports: [u16; 2],
}

/// Which end of its flow an endpoint is.
pub(crate) const fn end_of(endpoint: u32) -> End {
    if endpoint.is_multiple_of(2) { End::Client } else { End::Server }
}
