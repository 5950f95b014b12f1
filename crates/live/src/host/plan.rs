//! What a host is asked to be, before anything of it is there.

use super::app::Writes;
use super::settings::{Limits, Mss};
use super::splice::Stdio;
use crate::tun::{Network, Offload};
use netspurt_tcp::config::Config;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Where a role finds its peers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Where {
    /// They come to this port.
    Port(u16),
    /// So many connections are opened to this address.
    Remote(SocketAddr, u32),
}

/// What the host does.
#[derive(Debug)]
pub enum Role {
    /// One connection, spliced to standard input and output.
    Splice(Where, Stdio),
    /// Takes what comes.
    Sink(Where),
    /// Sends so many bytes on each connection; without a number, until the peer closes.
    Source(Where, Option<u64>),
    /// Serves files.
    Http(u16, PathBuf, Writes),
}

/// What a service is to be.
#[derive(Debug)]
pub struct Plan {
    /// The name of its device. One that exists is taken as it is.
    pub device: String,
    /// What kernel and host may leave to each other.
    pub offload: Offload,
    /// The host's addresses. The kernel gets the first other address of each network.
    pub networks: Vec<Network>,
    /// The longest packet of the device, if the device is made here.
    pub mtu: u32,
    /// How its TCP behaves.
    pub config: Config,
    /// Whether the segment size stands there.
    pub mss: Mss,
    /// Limits to what peers may cause.
    pub limits: Limits,
    /// What it does.
    pub role: Role,
    /// Where to write what passes.
    pub capture: Option<PathBuf>,
}
