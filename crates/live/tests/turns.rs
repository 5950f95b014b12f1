//! Connections that send at the same time share the host.

use netspurt_live::host::app::{Sink, Source};
use netspurt_live::host::{Host, Limits, Mss, Settings, Wire};
use netspurt_live::tun::{Network, Offload, Shape};
use netspurt_tcp::codec::{Addresses, Body, Ip, Ports, Verify, decode_packet, encode_packet};
use netspurt_tcp::config::InitialWindow;
use netspurt_tcp::options::Layout;
use netspurt_tcp::profile;
use netspurt_tcp::segment::{Flags, Payload, Segment};
use netspurt_tcp::seq::Seq;
use netspurt_tcp::time::Time;
use std::net::Ipv4Addr;

const OURS: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 2);
const THEIRS: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
/// Ports of a sender of much data, and of a receiver.
const SOURCE: u16 = 19;
const SINK: u16 = 9;
/// What a connection may send at once, in segments of 1460 bytes.
const WINDOW: u32 = 2000;
/// A quantum, which ends with a whole segment.
const QUANTUM: u32 = 60_000 + 1460;
/// What one call sends for a single connection: two turns of eight quanta.
const MOST_ALONE: u32 = 16 * QUANTUM;
/// What one call sends for many connections that take turns.
const MOST_OF_MANY: u32 = 3 * QUANTUM;

/// The port and the segment of each packet that was sent.
struct Sent {
    packets: Vec<(u16, Segment)>,
}

impl Sent {
    fn of(&self, port: u16) -> impl Iterator<Item = &Segment> {
        self.packets.iter().filter(move |(to, _)| *to == port).map(|(_, segment)| segment)
    }

    fn bytes(&self, port: u16) -> u32 {
        self.of(port).map(|segment| segment.payload.len).sum()
    }
}

impl Wire for Sent {
    fn send(&mut self, _: &Shape, parts: &[&[u8]]) {
        let packet = parts.concat();
        let packet = decode_packet(&packet, Layout::SHARED, Verify::All).expect("a packet");
        self.packets.push((packet.tcp.ports.destination, packet.tcp.segment));
    }

    fn offload(&self) -> Offload {
        Offload::Nothing
    }
}

struct World {
    host: Host,
    sent: Sent,
}

impl World {
    fn new() -> Self {
        let mut config = profile::by_name("linux").expect("a profile").config.clone();
        (config.initial_window, config.pacing) = (InitialWindow::Segments(WINDOW), false);
        (config.send_buffer, config.initial_send_buffer) = (4 << 20, None);
        let networks = vec![Network { address: OURS.into(), bits: 24 }];
        let (mss, limits) = (Mss::OfDevice, Limits::default());
        let settings = Settings { networks, mtu: 1500, config, mss, limits, key: [9; 16] };
        let mut host = Host::new(settings).expect("valid");
        host.listen(SINK, Box::new(|_| Some(Box::new(Sink))));
        host.listen(SOURCE, Box::new(|_| Some(Box::new(Source::new(None)))));
        Self { host, sent: Sent { packets: Vec::new() } }
    }

    /// A segment arrives at a port of the host. Nothing is sent yet.
    fn arrive(&mut self, from: u16, to: u16, segment: &Segment, body: &[u8]) {
        let ip = Ip::new(Addresses::V4 { source: THEIRS, destination: OURS });
        let ports = Ports { source: from, destination: to };
        let mut bytes = Vec::new();
        let segment = Segment { payload: Payload { offset: 0, len: body.len() as u32 }, ..*segment };
        encode_packet(&segment, ports, &ip, Layout::SHARED, Body::Bytes(body), &mut bytes).expect("a packet");
        self.host.arrive(Time::ZERO, &bytes, &Shape::default(), &mut self.sent);
    }

    /// Sends once, and returns what was sent.
    fn settle(&mut self) -> Sent {
        self.host.settle(Time::ZERO, &mut self.sent);
        Sent { packets: core::mem::take(&mut self.sent.packets) }
    }

    /// Handshakes whose last ACKs have arrived, and have not been served.
    fn open_all(&mut self, from: core::ops::Range<u16>, to: u16) {
        let acks: Vec<_> = from.map(|from| (from, self.greet(from, to))).collect();
        acks.iter().for_each(|(from, ack)| self.arrive(*from, to, ack, &[]));
    }

    /// A handshake up to the SYN-ACK. Returns the ACK of it.
    fn greet(&mut self, from: u16, to: u16) -> Segment {
        let mut syn = Segment { seq: Seq(1000), flags: Flags::SYN, window: 65_535, ..Segment::default() };
        (syn.options.mss, syn.options.window_scale) = (Some(1460), Some(7));
        self.arrive(from, to, &syn, &[]);
        self.host.settle(Time::ZERO, &mut self.sent);
        let answer = *self.sent.of(from).last().expect("a SYN-ACK");
        self.sent.packets.retain(|(port, _)| *port != from);
        let ack = answer.seq.plus(1);
        Segment { seq: Seq(1001), ack, flags: Flags::ACK, window: 65_535, ..Segment::default() }
    }
}

#[test]
fn a_large_transfer_is_sent_in_rounds_without_a_gap() {
    let mut world = World::new();
    world.open_all(5000..5001, SOURCE);
    let (mut all, mut rounds) = (0, 0);
    let mut next = None;
    while !world.host.is_settled() {
        let sent = world.settle();
        assert!(sent.bytes(5000) <= MOST_ALONE, "{}", sent.bytes(5000));
        for segment in sent.of(5000) {
            assert!(next.is_none_or(|next| next == segment.seq), "{segment:?} after {next:?}");
            next = Some(segment.seq.plus(segment.payload.len));
        }
        (all, rounds) = (all + sent.bytes(5000), rounds + 1);
    }
    assert!(all > (WINDOW - 1) * 1460 && rounds >= 3, "{all} bytes in {rounds} rounds");
}

#[test]
fn a_small_response_does_not_wait_for_large_transfers() {
    let mut world = World::new();
    let small = world.greet(4000, SINK);
    world.arrive(4000, SINK, &small, &[]);
    world.open_all(5000..5016, SOURCE);
    world.settle();
    assert!(!world.host.is_settled());
    // A segment that needs an ACK at once, out of order. Most of the others have had one turn so far.
    let gap = Segment { seq: small.seq.plus(1000), ..small };
    world.arrive(4000, SINK, &gap, &[7; 100]);
    let sent = world.settle();
    assert_eq!(sent.packets[0].0, 4000, "the response is the first packet");
    let others: u32 = (5000..5016).map(|port| sent.bytes(port)).sum();
    assert!(others > 0 && others <= MOST_OF_MANY, "{others}");
}

#[test]
fn large_transfers_take_turns() {
    let mut world = World::new();
    world.open_all(5000..5004, SOURCE);
    // A turn of one in four, and at the end of one in two.
    let most = 2 * (8 * 60_000 / 4 + 1460);
    let mut had = [0_u32; 4];
    while !world.host.is_settled() {
        let sent = world.settle();
        for (had, port) in had.iter_mut().zip(5000..) {
            *had += sent.bytes(port);
        }
        let spread = had.iter().max().zip(had.iter().min()).map(|(most, least)| most - least);
        assert!(spread.is_some_and(|spread| spread <= most), "{had:?}");
    }
    assert!(had.iter().all(|&had| had > (WINDOW - 1) * 1460), "{had:?}");
}
