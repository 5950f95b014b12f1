//! Sends segments: encodes headers, and takes the payload from its ring buffer without a copy.

use crate::host::packets::burst::Burst;
use crate::host::ring::Ring;
use crate::tun::{Checksum, Cut, Offload, Protocol, Shape};
use netspurt_tcp::codec::{Addresses, Body, Ip, Ports, encode_packet, pseudo_header_sum};
use netspurt_tcp::options::Layout;
use netspurt_tcp::segment::{Flags, Segment};
use std::net::{IpAddr, SocketAddr};

/// Position of the checksum in a TCP header.
const CHECKSUM: usize = 16;

/// Sends packets.
pub trait Wire {
    /// Sends a packet, given in parts. It may be lost, as on any network.
    fn send(&mut self, shape: &Shape, parts: &[&[u8]]);

    /// Which work a packet may leave to the wire.
    fn offload(&self) -> Offload;
}

/// Addresses and IP settings of a connection.
#[derive(Clone, Copy, Debug)]
pub(in crate::host) struct Label {
    pub(in crate::host) addresses: Addresses,
    pub(in crate::host) ports: Ports,
    pub(in crate::host) layout: Layout,
    pub(in crate::host) identification: u16,
}

impl Label {
    /// For two endpoints of one address family; `None` if they differ.
    pub(in crate::host) fn new(from: SocketAddr, to: SocketAddr, layout: Layout) -> Option<Self> {
        let addresses = match (from.ip(), to.ip()) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => Addresses::V4 { source, destination },
            (IpAddr::V6(source), IpAddr::V6(destination)) => Addresses::V6 { source, destination },
            _ => return None,
        };
        let ports = Ports { source: from.port(), destination: to.port() };
        Some(Self { addresses, ports, layout, identification: 0 })
    }
}

/// Sends a burst with the payload in `bytes`. False if the payload is missing or the packet cannot be encoded.
#[must_use]
pub(in crate::host) fn send(
    burst: &Burst,
    label: &Label,
    bytes: &Ring,
    header: &mut Vec<u8>,
    wire: &mut dyn Wire,
) -> bool {
    let segment = &burst.whole;
    let payload = segment.payload;
    let Some((first, second)) = bytes.get(payload.offset, payload.len as usize) else { return false };
    header.clear();
    let (identification, ecn) = (label.identification, segment.ecn);
    let ip = Ip { identification, ecn, ..Ip::new(label.addresses) };
    let mut encode = |body| encode_packet(segment, label.ports, &ip, label.layout, body, header).is_ok();
    match wire.offload() {
        Offload::Nothing => {
            let made = encode(Body::Split(first, second));
            if made {
                wire.send(&Shape::default(), &[header]);
            }
            made
        }
        Offload::Segments => {
            let made = encode(Body::Virtual);
            if made {
                let shape = leave_undone(burst, label.addresses, header);
                wire.send(&shape, &[header, first, second]);
            }
            made
        }
    }
}

/// Leaves the checksum and the segmentation to the wire.
fn leave_undone(burst: &Burst, addresses: Addresses, header: &mut [u8]) -> Shape {
    let (start, protocol) = match addresses {
        Addresses::V4 { .. } => (20, Protocol::Tcp4),
        Addresses::V6 { .. } => (40, Protocol::Tcp6),
    };
    let len = (header.len() - start) as u32 + burst.whole.payload.len;
    let sum = pseudo_header_sum(addresses, len);
    header[start + CHECKSUM..start + CHECKSUM + 2].copy_from_slice(&sum.to_be_bytes());
    let cut = burst.is_several().then(|| Cut {
        protocol,
        header_len: header.len() as u16,
        size: burst.size as u16,
        ecn: burst.whole.flags.has(Flags::CWR),
    });
    Shape { checksum: Checksum::Partial { start: start as u16, offset: CHECKSUM as u16 }, cut }
}

/// Sends a segment that belongs to no connection.
pub(in crate::host) fn send_alone(
    segment: &Segment,
    label: &Label,
    header: &mut Vec<u8>,
    wire: &mut dyn Wire,
) {
    let sent = send(&Burst::of(*segment), label, &Ring::default(), header, wire);
    debug_assert!(sent || segment.payload.len > 0, "a bare segment can be sent");
}
