//! What a host tells: what happened to connections, what else is counted, and why one cannot be opened.

use super::sockets::Id;
use super::stream::Pair;
use netspurt_tcp::state::CloseReason;
use netspurt_tcp::stats::Stats;
use netspurt_tcp::time::Time;
use std::net::IpAddr;

/// What happened to a connection.
#[derive(Clone, Copy, Debug)]
pub enum Happening {
    /// It is open.
    Opened(Id, Pair),
    /// It is over.
    Closed(Id, Account),
}

/// What became of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Account {
    /// Its ends.
    pub pair: Pair,
    /// Why it is over.
    pub why: CloseReason,
    /// When it began and ended.
    pub lasted: (Time, Time),
    /// Stream bytes that the peer acknowledged.
    pub sent: u64,
    /// Stream bytes received in order.
    pub received: u64,
    /// Its counters.
    pub stats: Stats,
}

/// What is counted beside connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Segments received, those of a super-segment singly.
    pub segments: u64,
    /// Packets that are no whole TCP segments for us, or not from a host.
    pub strange: u64,
    /// Those with a wrong checksum or an impossible option.
    pub broken: u64,
    /// Segments answered with RST, since there is no connection.
    pub refused: u64,
    /// Connections in TIME-WAIT that gave way to newer ones.
    pub gave_way: u64,
    /// SYN segments answered with a cookie, since too many connections were half open.
    pub without_memory: u64,
    /// Connections that were refused because there were too many.
    pub too_many: u64,
}

/// Why a connection cannot be opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ConnectError {
    /// No single other host has this address (RFC 9293, section 3.9.1.1, MUST-46).
    #[error("{0} is not the address of another host: use a unicast address")]
    NoPeer(IpAddr),
    /// No own address of that family.
    #[error("{0} cannot be reached: this host has no address of that family")]
    Family(IpAddr),
    /// There are too many connections, or no port is left.
    #[error("no free port for another connection")]
    TooMany,
}
