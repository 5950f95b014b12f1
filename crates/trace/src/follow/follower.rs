//! Assigns packets to connections.

use super::endpoints::Key;
use super::layout::layout_of;
use super::packet_facts::PacketFacts;
use super::table::{Limits, ReceivedSegment, Table};
use super::watch::Watch;
use crate::capture::{CaptureReader, Damage, LinkType, NoNetwork, Packet};
use crate::stamp::Stamp;
use netspurt_tcp::codec::{DecodeError, Verify, decode_packet};
use std::collections::BTreeMap;

/// Counts of the packets of a capture.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// All packets.
    pub packets: u64,
    /// Segments of connections.
    pub segments: u64,
    /// Packets with an unsupported link type, by interface and link type.
    pub unknown_link: BTreeMap<(u32, u16), u64>,
    /// Packets of other protocols than IP, for example ARP.
    pub not_ip: u64,
    /// IP packets of other protocols than TCP.
    pub not_tcp: u64,
    /// IP fragments. The first fragment counts as the part of the segment that it contains; the others have no TCP
    /// header.
    pub fragments: u64,
    /// Packets whose captured bytes end within a header.
    pub cut: u64,
    /// Packets with invalid headers.
    pub malformed: u64,
    /// Packets without a time.
    pub untimed: u64,
    /// Packets older than the one before them in the file.
    pub backwards: u64,
    /// Times of the first and the last packet.
    pub first: Option<Stamp>,
    /// See [`Tally::first`].
    pub last: Option<Stamp>,
}

/// Follows all connections of a capture.
///
/// Either call [`follow`], or [`Follower::new`], any number of [`Follower::process`] in the order of the capture, and
/// [`Follower::finish`]. Memory grows with the number of open connections, up to the [`Limits`].
#[derive(Debug)]
pub struct Follower {
    table: Table,
    tally: Tally,
}

impl Follower {
    /// A follower without connections.
    pub fn new(limits: Limits) -> Self {
        Self { table: Table::new(limits), tally: Tally::default() }
    }

    /// Counts of the packets so far.
    pub const fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Number of connections so far.
    pub const fn connections(&self) -> u64 {
        self.table.begun()
    }

    /// Processes the next packet.
    #[inline]
    pub fn process<W: Watch>(&mut self, packet: &Packet<'_>, watch: &mut W) {
        self.tally.packets += 1;
        let Some(at) = packet.at else {
            self.tally.untimed += 1;
            return;
        };
        self.note_time(at);
        let network = match packet.link.network(packet.bytes) {
            Ok(network) => network,
            Err(why) => return self.note_no_network(why, packet.interface, packet.link),
        };
        // Checksums are not verified: with checksum offload, those of outgoing packets are wrong in a capture.
        match decode_packet(network, layout_of(network), Verify::Headers) {
            Ok(mut decoded) => {
                self.tally.segments += 1;
                if has_no_length(network) {
                    let missing = packet.wire_len.saturating_sub(packet.bytes.len() as u32);
                    decoded.tcp.segment.payload.len += missing;
                }
                self.tally.fragments += u64::from(decoded.fragment);
                let (key, sender) = Key::new(decoded.ip.addresses, decoded.tcp.ports, packet.interface);
                let segment = &decoded.tcp.segment;
                let identification = decoded.ip.identification;
                let packet = PacketFacts { identification, number: self.tally.packets, at };
                self.table.process(&ReceivedSegment { key, sender, segment, packet }, watch);
            }
            Err(error) => self.note_undecoded(&error),
        }
    }

    /// Ends all connections. Returns the counts of packets.
    pub fn finish<W: Watch>(mut self, watch: &mut W) -> Tally {
        self.table.finish(watch);
        self.tally
    }

    #[inline]
    fn note_time(&mut self, at: Stamp) {
        if self.tally.last.is_some_and(|last| at < last) {
            self.tally.backwards += 1;
        }
        self.tally.first.get_or_insert(at);
        self.tally.last = Some(at);
    }

    #[cold]
    fn note_no_network(&mut self, why: NoNetwork, interface: u32, link: LinkType) {
        match why {
            NoNetwork::Link => *self.tally.unknown_link.entry((interface, link.0)).or_default() += 1,
            NoNetwork::Protocol => self.tally.not_ip += 1,
            NoNetwork::Short => self.tally.cut += 1,
        }
    }

    #[cold]
    fn note_undecoded(&mut self, error: &DecodeError) {
        match error {
            DecodeError::Short { .. } => self.tally.cut += 1,
            DecodeError::Protocol(_) => self.tally.not_tcp += 1,
            DecodeError::Fragment => self.tally.fragments += 1,
            DecodeError::Version(_)
            | DecodeError::IpLength
            | DecodeError::IpChecksum
            | DecodeError::DataOffset(_)
            | DecodeError::Checksum
            | DecodeError::Option(_) => self.tally.malformed += 1,
        }
    }
}

/// Whether the IP header gives no length: the packet is split later, or is longer than the field can say (BIG TCP). Its length is then
/// that on the wire.
#[inline]
fn has_no_length(network: &[u8]) -> bool {
    matches!(network, [0x40..=0x4F, _, 0, 0, ..] | [0x60..=0x6F, _, _, _, 0, 0, ..])
}

/// Reads a capture to its end, or to its damaged place, and follows its connections. The packets before that place are
/// in the counts and were reported to `watch`.
pub fn follow<W: Watch>(
    reader: &mut CaptureReader,
    limits: Limits,
    watch: &mut W,
) -> (Tally, Result<(), Damage>) {
    let mut follower = Follower::new(limits);
    let outcome = loop {
        match reader.next() {
            Ok(Some(packet)) => follower.process(&packet, watch),
            Ok(None) => break Ok(()),
            Err(damage) => break Err(damage),
        }
    };
    (follower.finish(watch), outcome)
}
