//! Events and counters of a host, and errors of opening a connection.

use super::id::Id;
use super::stream::Pair;
use netspurt_tcp::state::CloseReason;
use netspurt_tcp::stats::Stats;
use netspurt_tcp::time::Time;
use std::net::IpAddr;

/// An event of a connection.
#[derive(Clone, Copy, Debug)]
pub enum Happening {
    /// It is open.
    Opened(Id, Pair),
    /// It has ended.
    Closed(Id, Account),
}

/// The result of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Account {
    /// Its endpoints.
    pub pair: Pair,
    /// Why it ended.
    pub why: CloseReason,
    /// When it started and ended.
    pub lasted: (Time, Time),
    /// Stream bytes that the peer acknowledged.
    pub sent: u64,
    /// Stream bytes received in order.
    pub received: u64,
    /// Its counters.
    pub stats: Stats,
}

/// Counters apart from connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Segments received; a super-segment counts as its segments.
    pub segments: u64,
    /// Packets that are not complete TCP segments for this host from a unicast address.
    pub strange: u64,
    /// Packets with a wrong checksum or an invalid option.
    pub broken: u64,
    /// Segments without a connection, answered with RST.
    pub refused: u64,
    /// Connections in TIME-WAIT that were dropped for newer ones.
    pub gave_way: u64,
    /// Idle connections that were reset for newer ones, because the limit was reached.
    pub idle_gave_way: u64,
    /// SYNs answered with a SYN cookie, because the limit of half-open connections was reached.
    pub without_memory: u64,
    /// Segments and echo requests without a response, because so many were sent before, see
    /// [`Host::note_empty_queue`](super::Host::note_empty_queue).
    pub unanswered: u64,
    /// Connections refused because the limit was reached.
    pub too_many: u64,
    /// Segments whose data was dropped, because the limit of memory was reached.
    pub no_memory: u64,
}

/// Why a connection cannot be opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ConnectError {
    /// The address is not a unicast address of another host (RFC 9293, section 3.9.1.1, MUST-46).
    #[error("{0} is not the address of another host: use a unicast address")]
    NoPeer(IpAddr),
    /// The host has no address of that family.
    #[error("{0} cannot be reached: this host has no address of that family")]
    Family(IpAddr),
    /// The limit of connections is reached, or no port is free.
    #[error("no free port for another connection")]
    TooMany,
}
