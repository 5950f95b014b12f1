//! The request for a service.

use crate::host::app::Writes;
use crate::host::settings::{Limits, Mss};
use crate::host::splice::Stdio;
use crate::tun::{Network, Offload};
use netspurt_tcp::config::Config;
use std::net::SocketAddr;
use std::path::PathBuf;

/// The peers of a role.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Where {
    /// Accepts connections to this port.
    Port(u16),
    /// Opens this number of connections to this address.
    Remote(SocketAddr, u32),
}

/// What the host does.
#[derive(Debug)]
pub enum Role {
    /// One connection, connected to standard input and output.
    Splice(Where, Stdio),
    /// Receives and discards data.
    Sink(Where),
    /// Sends this number of bytes on each connection; without a number, until the peer closes.
    Source(Where, Option<u64>),
    /// Serves files.
    Http(u16, PathBuf, Writes),
}

/// The configuration of a service.
#[derive(Debug)]
pub struct Plan {
    /// Name of its device. An existing device is used unchanged.
    pub device: String,
    /// Which work kernel and host may leave to each other.
    pub offload: Offload,
    /// The host's addresses. The kernel gets the first other address of each network.
    pub networks: Vec<Network>,
    /// MTU of the device, if the service creates it.
    pub mtu: u32,
    /// The configuration of its TCP.
    pub config: Config,
    /// Whether the configuration determines the segment size.
    pub mss: Mss,
    /// Limits of resources that peers can use.
    pub limits: Limits,
    /// Its role.
    pub role: Role,
    /// The file of a capture.
    pub capture: Option<PathBuf>,
}
