//! Hand-made captures in every format.

#![expect(dead_code, reason = "each test uses a part of it")]

use netspurt_tcp::codec::{Addresses, Body, Ip, Ports, encode_packet};
use netspurt_tcp::options::{Layout, Options, SackBlock, Timestamps};
use netspurt_tcp::segment::{Flags, Payload, Segment};
use netspurt_tcp::seq::Seq;
use netspurt_trace::capture::{CaptureReader, Damage};
use netspurt_trace::follow::{
    ConnectionId, ConnectionReport, Event, Happened, Limits, Method, RttSample, Tally, Watch, follow,
};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::Path;

pub(crate) const V4: Addresses =
    Addresses::V4 { source: Ipv4Addr::new(10, 0, 0, 1), destination: Ipv4Addr::new(10, 0, 0, 2) };
pub(crate) const V6: Addresses = Addresses::V6 {
    source: Ipv6Addr::new(0xFD00, 0, 0, 0, 0, 0, 0, 1),
    destination: Ipv6Addr::new(0xFD00, 0, 0, 0, 0, 0, 0, 2),
};

pub(crate) const CLIENT_ISN: u32 = u32::MAX - 500;
pub(crate) const SERVER_ISN: u32 = 70_000;

/// Byte order of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Order {
    Big,
    Little,
}

impl Order {
    pub(crate) fn short(self, n: u16) -> [u8; 2] {
        if self == Self::Big { n.to_be_bytes() } else { n.to_le_bytes() }
    }

    pub(crate) fn long(self, n: u32) -> [u8; 4] {
        if self == Self::Big { n.to_be_bytes() } else { n.to_le_bytes() }
    }
}

/// A packet with its time in nanoseconds since 1970.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Seen {
    pub(crate) ns: u64,
    pub(crate) bytes: Vec<u8>,
}

/// pcap with times in units of this number of nanoseconds: 1 or 1000.
pub(crate) fn pcap(order: Order, unit: u64, link: u32, snaplen: usize, packets: &[Seen]) -> Vec<u8> {
    let magic = if unit == 1 { 0xA1B2_3C4D } else { 0xA1B2_C3D4 };
    let mut file = Vec::new();
    file.extend(order.long(magic));
    file.extend([order.short(2), order.short(4)].concat());
    file.extend([0; 8]);
    file.extend(order.long(snaplen as u32));
    file.extend(order.long(link));
    for Seen { ns, bytes } in packets {
        file.extend(order.long((ns / 1_000_000_000) as u32));
        file.extend(order.long((ns % 1_000_000_000 / unit) as u32));
        let captured = bytes.len().min(snaplen);
        file.extend(order.long(captured as u32));
        file.extend(order.long(bytes.len() as u32));
        file.extend(&bytes[..captured]);
    }
    file
}

/// A block of pcapng.
pub(crate) fn block(order: Order, kind: u32, body: &[u8]) -> Vec<u8> {
    let padded = body.len().next_multiple_of(4);
    let len = order.long(padded as u32 + 12);
    let mut block = [order.long(kind), len].concat();
    block.extend(body);
    block.resize(8 + padded, 0);
    block.extend(len);
    block
}

pub(crate) fn section(order: Order) -> Vec<u8> {
    let body = [&order.long(0x1A2B_3C4D)[..], &order.short(1), &order.short(0), &[0xFF; 8]].concat();
    block(order, 0x0A0D_0D0A, &body)
}

/// An interface with a resolution in the format of `if_tsresol`.
pub(crate) fn interface(order: Order, link: u16, resolution: Option<u8>) -> Vec<u8> {
    let mut body = [&order.short(link)[..], &[0, 0], &order.long(0)].concat();
    body.extend([&order.short(2)[..], &order.short(4), b"eth7"].concat());
    if let Some(resolution) = resolution {
        body.extend([&order.short(9)[..], &order.short(1), &[resolution, 0, 0, 0]].concat());
    }
    body.extend([0; 4]);
    block(order, 1, &body)
}

/// An enhanced packet with a time in the interface's units, and the direction option.
pub(crate) fn enhanced(order: Order, interface: u32, units: u64, bytes: &[u8]) -> Vec<u8> {
    let len = order.long(bytes.len() as u32);
    let mut body =
        [order.long(interface), order.long((units >> 32) as u32), order.long(units as u32), len, len]
            .concat();
    body.extend(bytes);
    body.resize(body.len().next_multiple_of(4), 0);
    body.extend([&order.short(2)[..], &order.short(4), &order.long(1), &[0; 4]].concat());
    block(order, 6, &body)
}

pub(crate) fn pcapng(
    order: Order,
    link: u16,
    resolution: Option<u8>,
    units: fn(u64) -> u64,
    packets: &[Seen],
) -> Vec<u8> {
    let mut file = [section(order), interface(order, link, resolution)].concat();
    for Seen { ns, bytes } in packets {
        file.extend(enhanced(order, 0, units(*ns), bytes));
    }
    file
}

pub(crate) fn packet(addresses: Addresses, ports: Ports, segment: &Segment) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_packet(segment, ports, &Ip::new(addresses), Layout::SHARED, Body::Virtual, &mut bytes).unwrap();
    bytes.resize(bytes.len() + segment.payload.len as usize, 0x55);
    bytes
}

/// Writes the segments of a connection, by positions in the two streams.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    pub(crate) packets: Vec<Seen>,
    pub(crate) addresses: Addresses,
    pub(crate) client_port: u16,
    ms: u64,
}

impl Script {
    pub(crate) fn new(addresses: Addresses) -> Self {
        Self { packets: Vec::new(), addresses, client_port: 40_000, ms: 1_700_000_000_000 }
    }

    /// `ms` after the start.
    pub(crate) fn at(&mut self, ms: u64) -> &mut Self {
        self.ms = 1_700_000_000_000 + ms;
        self
    }

    pub(crate) fn put(&mut self, client: bool, segment: &Segment) -> &mut Self {
        let there = Ports { source: self.client_port, destination: 80 };
        let (addresses, ports) = match (client, self.addresses) {
            (true, addresses) => (addresses, there),
            (false, Addresses::V4 { source, destination }) => (
                Addresses::V4 { source: destination, destination: source },
                Ports { source: 80, destination: self.client_port },
            ),
            (false, Addresses::V6 { source, destination }) => (
                Addresses::V6 { source: destination, destination: source },
                Ports { source: 80, destination: self.client_port },
            ),
        };
        self.packets.push(Seen { ns: self.ms * 1_000_000, bytes: packet(addresses, ports, segment) });
        self
    }

    /// SYN, SYN-ACK after 30 ms, ACK after 10 more; with the options `offer` on both.
    pub(crate) fn open(&mut self, offer: Options) -> &mut Self {
        let syn = Segment {
            seq: Seq(CLIENT_ISN),
            flags: Flags::SYN,
            window: 10_000,
            options: offer,
            ..Segment::default()
        };
        let accept = Segment {
            seq: Seq(SERVER_ISN),
            ack: Seq(CLIENT_ISN).plus(1),
            flags: Flags::SYN | Flags::ACK,
            ..syn
        };
        self.at(0).put(true, &syn).at(30).put(false, &accept).at(40).ack(true, 0, Options::NONE)
    }

    /// Data from the client.
    pub(crate) fn data(&mut self, start: u32, len: u32) -> &mut Self {
        self.stamped(start, len, Options::NONE)
    }

    pub(crate) fn stamped(&mut self, start: u32, len: u32, options: Options) -> &mut Self {
        let data = Segment {
            seq: Seq(CLIENT_ISN).plus(1).plus(start),
            ack: Seq(SERVER_ISN).plus(1),
            flags: Flags::ACK,
            window: 10_000,
            payload: Payload { offset: 0, len },
            options,
            ..Segment::default()
        };
        self.put(true, &data)
    }

    /// An ACK of the other side's data before this position.
    pub(crate) fn ack(&mut self, client: bool, place: u32, options: Options) -> &mut Self {
        self.window(client, place, 10_000, options)
    }

    pub(crate) fn window(&mut self, client: bool, place: u32, window: u16, options: Options) -> &mut Self {
        let (mine, theirs) = if client { (CLIENT_ISN, SERVER_ISN) } else { (SERVER_ISN, CLIENT_ISN) };
        let ack = Segment {
            seq: Seq(mine).plus(1),
            ack: Seq(theirs).plus(1).plus(place),
            flags: Flags::ACK,
            window,
            options,
            ..Segment::default()
        };
        self.put(client, &ack)
    }

    pub(crate) fn told(&self) -> Told {
        read(&pcap(Order::Little, 1, 101, 65_535, &self.packets))
    }
}

pub(crate) const fn stamps(value: u32, echo: u32) -> Options {
    Options { timestamps: Some(Timestamps { value, echo }), ..Options::NONE }
}

/// SACK blocks, as positions in the client's stream.
pub(crate) fn sack(blocks: &[(u32, u32)]) -> Options {
    let mut options = Options::NONE;
    for &(left, right) in blocks {
        let place = |at| Seq(CLIENT_ISN).plus(1).plus(at);
        options.sack.push(SackBlock { left: place(left), right: place(right) });
    }
    options
}

/// Records all events of a capture.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) opened: Vec<ConnectionId>,
    pub(crate) samples: Vec<(ConnectionId, RttSample)>,
    pub(crate) events: Vec<(ConnectionId, Happened)>,
    pub(crate) reports: Vec<(ConnectionId, ConnectionReport)>,
    pub(crate) tally: Tally,
    pub(crate) damage: Option<Damage>,
}

impl Watch for Told {
    fn opened(&mut self, id: ConnectionId, _who: &netspurt_trace::follow::Endpoints) {
        self.opened.push(id);
    }

    fn sample(&mut self, id: ConnectionId, sample: &RttSample) {
        self.samples.push((id, *sample));
    }

    fn happened(&mut self, id: ConnectionId, happened: &Happened) {
        self.events.push((id, *happened));
    }

    fn closed(&mut self, id: ConnectionId, report: &ConnectionReport) {
        self.reports.push((id, report.clone()));
    }
}

impl Told {
    /// RTTs in microseconds.
    pub(crate) fn times(&self, method: Method) -> Vec<u64> {
        let of = self.samples.iter().filter(|(_, sample)| sample.method == method);
        of.map(|(_, sample)| sample.rtt().as_ps() / 1_000_000).collect()
    }

    /// Names and causes of all events but duplicate ACKs, with their positions.
    pub(crate) fn happened(&self) -> Vec<(&'static str, &'static str, i64)> {
        self.events
            .iter()
            .filter(|(_, happened)| !matches!(happened.event, Event::DuplicateAck { .. }))
            .map(|(_, happened)| (happened.event.name(), happened.event.reason(), happened.start))
            .collect()
    }

    pub(crate) fn report(&self) -> &ConnectionReport {
        let [(_, report)] = &self.reports[..] else { panic!("{} connections", self.reports.len()) };
        report
    }
}

/// Reads a capture from memory.
pub(crate) fn read(file: &[u8]) -> Told {
    try_read(file).unwrap()
}

pub(crate) fn try_read(file: &[u8]) -> Result<Told, String> {
    let source = Box::new(std::io::Cursor::new(file.to_vec()));
    let mut reader = CaptureReader::new(source, Path::new("a.pcap")).map_err(|error| error.to_string())?;
    let mut told = Told::default();
    let (tally, outcome) = follow(&mut reader, Limits::default(), &mut told);
    told.tally = tally;
    told.damage = outcome.err();
    Ok(told)
}
