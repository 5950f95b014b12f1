//! Input from a hostile peer: the host does not panic, and its memory stays within its limits.

use netspurt_live::host::app::{Http, Sink, Source, Writes};
use netspurt_live::host::{Application, ConnectError, Host, Limits, Mss, Next, Settings, Stream, Wire};
use netspurt_live::tun::{Checksum, Cut, Network, Offload, Protocol, Shape};
use netspurt_sim::random::Stream as Random;
use netspurt_tcp::codec::{
    Addresses, Body, Ip, Ports, Verify, decode_packet, encode_packet, internet_checksum,
};
use netspurt_tcp::options::{Layout, Timestamps};
use netspurt_tcp::profile;
use netspurt_tcp::segment::{Flags, Payload, Segment};
use netspurt_tcp::seq::Seq;
use netspurt_tcp::time::{Span, Time};
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};

const OURS: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 2);
const THEIRS: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const LIMITS: Limits = Limits { connections: 50, half_open: 100, time_wait: 20, memory: 64 << 20 };

/// Stores the last packet and counts the others.
struct Last {
    packet: Vec<u8>,
    count: u64,
}

impl Wire for Last {
    fn send(&mut self, _: &Shape, parts: &[&[u8]]) {
        self.packet = parts.concat();
        self.count += 1;
    }

    fn offload(&self) -> Offload {
        Offload::Nothing
    }
}

fn host() -> Host {
    host_within(LIMITS)
}

fn host_within(limits: Limits) -> Host {
    let config = profile::by_name("linux").expect("a profile").config.clone();
    let networks = vec![Network { address: OURS.into(), bits: 24 }];
    let settings = Settings { networks, mtu: 1500, config, mss: Mss::OfDevice, limits, key: [9; 16] };
    let mut host = Host::new(settings).expect("valid");
    host.listen(9, Box::new(|_| Some(Box::new(Sink))));
    host.listen(19, Box::new(|_| Some(Box::new(Source::new(None)))));
    host
}

fn packet(segment: &Segment, from: (Ipv4Addr, u16), port: u16, body: &[u8]) -> Vec<u8> {
    packet_to(OURS, segment, from, port, body)
}

fn packet_to(
    destination: Ipv4Addr,
    segment: &Segment,
    from: (Ipv4Addr, u16),
    port: u16,
    body: &[u8],
) -> Vec<u8> {
    let ip = Ip::new(Addresses::V4 { source: from.0, destination });
    let ports = Ports { source: from.1, destination: port };
    let mut bytes = Vec::new();
    let segment = Segment { payload: Payload { offset: 0, len: body.len() as u32 }, ..*segment };
    encode_packet(&segment, ports, &ip, Layout::SHARED, Body::Bytes(body), &mut bytes).expect("a packet");
    bytes
}

/// A packet arrives, and no other one waits.
fn give(host: &mut Host, now: Time, bytes: &[u8], wire: &mut Last) {
    host.note_empty_queue();
    give_one_of_many(host, now, bytes, wire);
}

/// A packet arrives, and others wait.
fn give_one_of_many(host: &mut Host, now: Time, bytes: &[u8], wire: &mut Last) {
    host.arrive(now, bytes, &Shape::default(), wire);
    host.pass(now);
    host.settle(now, wire);
    while host.poll_happening().is_some() {}
}

/// Opens a connection from a port. Returns the next sequence numbers of both sides.
fn open(host: &mut Host, now: Time, from: u16, port: u16, wire: &mut Last) -> (Seq, Seq) {
    let timestamps = Some(Timestamps { value: 1, echo: 0 });
    let mut syn = Segment { seq: Seq(1000), flags: Flags::SYN, window: 65_535, ..Segment::default() };
    syn.options.mss = Some(1460);
    syn.options.window_scale = Some(7);
    syn.options.sack_permitted = true;
    syn.options.timestamps = timestamps;
    give(host, now, &packet(&syn, (THEIRS, from), port, &[]), wire);
    let answer = decode_packet(&wire.packet, Layout::SHARED, Verify::All).expect("a SYN-ACK").tcp.segment;
    assert!(answer.flags.has(Flags::SYN | Flags::ACK), "{answer:?}");
    let mut ack = Segment { seq: Seq(1001), ack: answer.seq.plus(1), flags: Flags::ACK, ..syn };
    ack.options = Default::default();
    ack.options.timestamps = timestamps;
    give(host, now, &packet(&ack, (THEIRS, from), port, &[]), wire);
    (Seq(1001), answer.seq.plus(1))
}

/// One test at a time, because they measure the memory of the process.
static ALONE: Mutex<()> = Mutex::new(());

/// Resident memory of this process in kilobytes.
fn memory() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = text.lines().find(|line| line.starts_with("VmRSS")).expect("Linux says it");
    line.split_whitespace().nth(1).and_then(|word| word.parse().ok()).expect("a number")
}

#[test]
fn a_syn_flood_fills_a_bounded_list_and_other_connections_still_open() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (mut host, mut wire) = (host(), Last { packet: Vec::new(), count: 0 });
    let mut random = Random::new(1, "flood");
    let mut now = Time::ZERO;
    let mut grown = 0;
    for n in 0..200_000_u64 {
        now += Span::from_us(1);
        let from =
            (Ipv4Addr::from(0x0A00_0000 | random.below(1 << 24) as u32), 1024 + random.below(60_000) as u16);
        let syn =
            Segment { seq: Seq(random.bits() as u32), flags: Flags::SYN, window: 1000, ..Segment::default() };
        give(&mut host, now, &packet(&syn, from, 9, &[]), &mut wire);
        let [open, half_open, waiting] = host.counts();
        assert!((open, waiting) == (0, 0) && half_open <= LIMITS.half_open, "{n}: {:?}", host.counts());
        if n == 50_000 {
            grown = memory();
        }
    }
    // Each quarter sends as many as the first, so stored state of each SYN would be visible.
    assert!(memory() < grown + 4096, "{} kB after {grown}", memory());
    open(&mut host, now, 5000, 9, &mut wire);
    assert_eq!(host.counts()[0], 1, "an honest peer gets through");
    assert!(host.tally().without_memory > 190_000, "it was not remembered: {:?}", host.tally());
    // Invalid cookies open no connection.
    for n in 0..50_000_u64 {
        let (seq, ack) = (Seq(random.bits() as u32), Seq(random.bits() as u32));
        let segment = Segment { seq, ack, flags: Flags::ACK, window: 1000, ..Segment::default() };
        let from = (Ipv4Addr::from(0x0A00_0000 | n as u32), 4000);
        give(&mut host, now, &packet(&segment, from, 9, &[]), &mut wire);
    }
    assert_eq!(host.counts()[0], 1, "{:?}", host.tally());
}

#[test]
fn a_flood_faster_than_the_host_gets_few_responses_and_peers_that_are_known_still_open() {
    let (mut host, mut wire) = (host(), Last { packet: Vec::new(), count: 0 });
    open(&mut host, Time::ZERO, 5000, 9, &mut wire);
    let flood = |host: &mut Host, wire: &mut Last, began: Time| {
        for n in 0..20_000_u64 {
            // A SYN to a listening port, and one to a closed port, which would be reset.
            let from = (Ipv4Addr::from(0x0A10_0000 | n as u32), 4000);
            let syn = Segment { seq: Seq(n as u32), flags: Flags::SYN, window: 1000, ..Segment::default() };
            give_one_of_many(
                host,
                began + Span::from_us(n),
                &packet(&syn, from, 9 + (n % 2) as u16, &[]),
                wire,
            );
        }
        began + Span::from_us(19_999)
    };
    let sent_before = wire.count;
    let end = flood(&mut host, &mut wire, Time::ZERO + Span::from_secs(1));
    let responses = wire.count - sent_before;
    // The half-open connections, and in each period of 10 ms 32 cookies and 32 resets; three periods at most.
    let first = LIMITS.half_open as u64;
    assert!((first + 64..=first + 192).contains(&responses), "{responses}");
    assert_eq!(host.tally().unanswered, 20_000 - responses);
    let mut answers_to = |host: &mut Host, from: Ipv4Addr| {
        let before = wire.count;
        let syn = Segment { seq: Seq(7), flags: Flags::SYN, window: 1000, ..Segment::default() };
        give_one_of_many(host, end, &packet(&syn, (from, 6000), 9, &[]), &mut wire);
        wire.count - before
    };
    let stranger = Ipv4Addr::new(10, 9, 9, 9);
    assert_eq!(answers_to(&mut host, stranger), 0);
    assert_eq!(answers_to(&mut host, THEIRS), 1, "it had a connection before");
    host.note_empty_queue();
    assert_eq!(answers_to(&mut host, stranger), 1);
}

#[test]
fn a_listener_resets_only_segments_with_an_ack() {
    // RFC 9293, section 3.10.7.2; where nobody listens, section 3.10.7.1.
    let segment = |flags| Segment { seq: Seq(100), ack: Seq(7), flags, window: 1000, ..Segment::default() };
    let bare = [Flags::NONE, Flags::FIN, Flags::RST];
    for (port, flags, answers) in bare.map(|flags| (9, flags, 0)).into_iter().chain([
        (9, Flags::ACK, 1),
        (10, Flags::NONE, 1),
        (10, Flags::FIN, 1),
        (10, Flags::RST, 0),
    ]) {
        let (mut host, mut wire) = (host(), Last { packet: Vec::new(), count: 0 });
        give(&mut host, Time::ZERO, &packet(&segment(flags), (THEIRS, 2000), port, b"text"), &mut wire);
        assert_eq!(wire.count, answers, "port {port}, {flags:?}");
    }
}

#[test]
fn connections_beyond_the_limit_are_reset() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (mut host, mut wire) = (host(), Last { packet: Vec::new(), count: 0 });
    for n in 0..LIMITS.connections as u16 + 30 {
        open(&mut host, Time::ZERO, 2000 + n, 9, &mut wire);
    }
    assert_eq!((host.counts(), host.tally().too_many), ([LIMITS.connections, 0, 0], 30));
    let last = decode_packet(&wire.packet, Layout::SHARED, Verify::All).expect("a packet").tcp.segment;
    assert!(last.flags.has(Flags::RST), "{last:?}");
}

#[test]
fn at_the_limit_the_longest_idle_connection_gives_way() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (mut host, mut wire) = (host(), Last { packet: Vec::new(), count: 0 });
    let at = |seconds| Time::ZERO + Span::from_secs(seconds);
    let places: Vec<_> = (0..LIMITS.connections as u16)
        .map(|n| open(&mut host, at(u64::from(n) / 10), 2000 + n, 9, &mut wire))
        .collect();
    let data = |host: &mut Host, seconds, n: u16, wire: &mut Last| {
        let (seq, ack) = places[usize::from(n)];
        let mut segment = Segment { seq, ack, flags: Flags::ACK, window: 65_535, ..Segment::default() };
        segment.options.timestamps = Some(Timestamps { value: 1, echo: 0 });
        give(host, at(seconds), &packet(&segment, (THEIRS, 2000 + n), 9, b"text"), wire);
    };
    // The first one is active again, so the second one gives way to the next client.
    data(&mut host, 8, 0, &mut wire);
    open(&mut host, at(9), 4000, 9, &mut wire);
    host.settle(at(9), &mut wire);
    assert_eq!((host.counts()[0], host.tally().idle_gave_way), (LIMITS.connections, 1));
    assert_eq!(host.tally().too_many, 0);
    let peers: Vec<u16> = host.connections().map(|(pair, ..)| pair.remote.port()).collect();
    assert!(peers.contains(&2000) && !peers.contains(&2001) && peers.contains(&4000), "{peers:?}");
    // Clients that are all active keep their places.
    for n in (0..LIMITS.connections as u16).filter(|n| *n != 1) {
        let (seq, ack) = places[usize::from(n)];
        let seq = if n == 0 { seq.plus(4) } else { seq };
        let mut segment = Segment { seq, ack, flags: Flags::ACK, window: 65_535, ..Segment::default() };
        segment.options.timestamps = Some(Timestamps { value: 1, echo: 0 });
        give(&mut host, at(9), &packet(&segment, (THEIRS, 2000 + n), 9, b"text"), &mut wire);
    }
    open(&mut host, at(9), 4001, 9, &mut wire);
    assert_eq!((host.tally().idle_gave_way, host.tally().too_many), (1, 1));
}

/// The flags of what a host sends on a connection to port 80 when `serve` gives it segments at these seconds. The client
/// acknowledges what it has received each second.
fn http(until: u64, mut arrives: impl FnMut(u64) -> Option<&'static [u8]>) -> Vec<(u64, Flags)> {
    let (mut host, mut wire) = (host(), Last { packet: Vec::new(), count: 0 });
    let root = std::env::temp_dir();
    let app = move || Http::new(root.clone(), Writes::Whole).idle_timeout(Span::from_secs(10));
    host.listen(80, Box::new(move |_| Some(Box::new(app()))));
    let (mut seq, mut ack) = open(&mut host, Time::ZERO, 2000, 80, &mut wire);
    let (mut sent, mut received) = (Vec::new(), false);
    for second in 0..=until {
        let now = Time::ZERO + Span::from_secs(second);
        wire.packet.clear();
        let text = arrives(second).or(core::mem::take(&mut received).then_some(b""));
        if let Some(text) = text {
            let mut segment = Segment { seq, ack, flags: Flags::ACK, window: 65_535, ..Segment::default() };
            segment.options.timestamps = Some(Timestamps { value: 1, echo: 0 });
            give(&mut host, now, &packet(&segment, (THEIRS, 2000), 80, text), &mut wire);
            seq = seq.plus(text.len() as u32);
        }
        host.pass(now);
        host.settle(now, &mut wire);
        if let Ok(packet) = decode_packet(&wire.packet, Layout::SHARED, Verify::All) {
            let segment = packet.tcp.segment;
            sent.push((second, segment.flags));
            if segment.payload.len > 0 {
                (ack, received) = (segment.seq.plus(segment.payload.len), true);
            }
        }
    }
    sent.retain(|(_, flags)| flags.any(Flags::FIN | Flags::RST));
    sent.dedup_by_key(|(_, flags)| *flags);
    sent
}

#[test]
fn http_disconnects_clients_that_send_no_request() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let closes = [(10, Flags::FIN | Flags::ACK), (20, Flags::RST | Flags::ACK)];
    assert_eq!(http(30, |_| None), closes, "silence");
    assert_eq!(http(20, |_| Some(b"x")), closes, "a request of one byte a second that never ends");
    // Requests are answered with 404, and each one restarts the timeout, as does the ACK of the answer a second later.
    let asks = |second: u64| second.is_multiple_of(8).then_some(&b"GET /none HTTP/1.1\r\n\r\n"[..]);
    let sent = http(30, |second| if second <= 16 { asks(second) } else { None });
    assert_eq!(sent.first().map(|(at, flags)| (*at, flags.has(Flags::FIN))), Some((27, true)), "{sent:?}");
}

#[test]
fn garbage_altered_packets_and_random_segments_neither_panic_nor_leak_memory() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    for seed in 0..6 {
        let (mut host, mut wire) = (host(), Last { packet: Vec::new(), count: 0 });
        let mut random = Random::new(seed, "hostile");
        let mut now = Time::ZERO;
        let mut peers: Vec<(u16, u16, Seq, Seq)> = Vec::new();
        let before = memory();
        for _ in 0..30_000 {
            now += Span::from_us(random.below(3000));
            if peers.len() < 20 && random.below(50) == 0 {
                let (from, port) = (3000 + random.below(500) as u16, [9, 19][random.below(2) as usize]);
                if !peers.iter().any(|peer| peer.0 == from) {
                    peers.push((from, port, Seq(0), Seq(0)));
                    let syn =
                        Segment { seq: Seq(1000), flags: Flags::SYN, window: 65_535, ..Segment::default() };
                    give(&mut host, now, &packet(&syn, (THEIRS, from), port, &[]), &mut wire);
                    if let Ok(answer) = decode_packet(&wire.packet, Layout::SHARED, Verify::All) {
                        let ack = answer.tcp.segment.seq.plus(1);
                        *peers.last_mut().expect("just pushed") = (from, port, Seq(1001), ack);
                        let ack = Segment {
                            seq: Seq(1001),
                            ack,
                            flags: Flags::ACK,
                            window: 65_535,
                            ..Segment::default()
                        };
                        give(&mut host, now, &packet(&ack, (THEIRS, from), port, &[]), &mut wire);
                    }
                }
            }
            let bytes = match (random.below(4), peers.is_empty()) {
                (0, _) => (0..random.below(200)).map(|_| random.bits() as u8).collect(),
                (_, true) => continue,
                (kind, false) => {
                    let (from, port, seq, ack) = peers[random.below(peers.len() as u64) as usize];
                    let mut wild = |base: Seq| match random.below(4) {
                        0 => base,
                        1 => base.plus(random.below(100_000) as u32),
                        2 => base.minus(random.below(100_000) as u32),
                        _ => Seq(random.bits() as u32),
                    };
                    let (seq, ack) = (wild(seq), wild(ack));
                    // Resets would end it too soon.
                    let flags = Flags(random.bits() as u16 & Flags::ALL.0 & !Flags::RST.0 | Flags::ACK.0);
                    let (window, urgent) = (random.below(4) as u16 * 20_000, random.bits() as u16);
                    let segment = Segment { seq, ack, flags, window, urgent, ..Segment::default() };
                    let body = vec![1; random.below(1460) as usize];
                    let mut bytes = packet(&segment, (THEIRS, from), port, &body);
                    if kind == 1 {
                        // Altered with a correct checksum; options above all.
                        let at = 32 + random.below(bytes.len() as u64 - 32).min(30) as usize;
                        bytes[at] = random.bits() as u8;
                    }
                    bytes
                }
            };
            let cut = Cut {
                protocol: Protocol::Tcp4,
                header_len: 40,
                size: 1 + random.below(1460) as u16,
                ecn: false,
            };
            let shape = Shape { checksum: Checksum::Verified, cut: (random.below(3) == 0).then_some(cut) };
            host.arrive(now, &bytes, &shape, &mut wire);
            host.pass(now);
            host.settle(now, &mut wire);
            while host.poll_happening().is_some() {}
        }
        let [open, half_open, waiting] = host.counts();
        assert!(open <= 50 && half_open <= 100 && waiting <= 20, "seed {seed}: {:?}", host.counts());
        // Twenty send buffers of 4 MiB may be filled; more would be a leak.
        assert!(memory() < before + 120_000, "seed {seed}: {} kB after {before}", memory());
    }
}

#[test]
fn small_out_of_order_segments_are_stored_only_within_the_window() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (mut host, mut wire) = (host(), Last { packet: Vec::new(), count: 0 });
    let (seq, ack) = open(&mut host, Time::ZERO, 4000, 9, &mut wire);
    let before = memory();
    let timestamps = Some(Timestamps { value: 1, echo: 0 });
    let mut segment = Segment { ack, flags: Flags::ACK, window: 65_535, ..Segment::default() };
    segment.options.timestamps = timestamps;
    for n in 0..400_000_u32 {
        // Every other byte and never the first, so nothing can be read and no two are adjacent.
        segment.seq = seq.plus(1 + 2 * n);
        give(&mut host, Time::ZERO, &packet(&segment, (THEIRS, 4000), 9, b"x"), &mut wire);
    }
    // 16,384 ranges, and a ring of at most the window of 6 MiB.
    assert!(memory() < before + 20_000, "{} kB after {before}", memory());
    assert_eq!(host.counts()[0], 1);
}

#[test]
fn at_the_limit_of_memory_a_connection_keeps_few_gaps_in_its_data() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let limits = Limits { memory: 1 << 20, ..LIMITS };
    let (mut host, mut wire) = (host_within(limits), Last { packet: Vec::new(), count: 0 });
    let mut segment = Segment { flags: Flags::ACK, window: 65_535, ..Segment::default() };
    segment.options.timestamps = Some(Timestamps { value: 1, echo: 0 });
    let before = memory();
    for from in 4000..4030 {
        let (seq, ack) = open(&mut host, Time::ZERO, from, 9, &mut wire);
        // As in the test above, for each of the connections.
        for n in 0..16_384_u32 {
            segment = Segment { seq: seq.plus(1 + 2 * n), ack, ..segment };
            give(&mut host, Time::ZERO, &packet(&segment, (THEIRS, from), 9, b"x"), &mut wire);
        }
        // Data in order is still taken.
        let text = [7; 1000];
        give(
            &mut host,
            Time::ZERO,
            &packet(&Segment { seq, ..segment }, (THEIRS, from), 9, &text),
            &mut wire,
        );
        let received = host.connections().find(|(pair, ..)| pair.remote.port() == from);
        assert!(received.is_some_and(|(.., connection)| connection.received() >= 1000));
    }
    // All of their ranges would take 20 MB; beyond the limit each connection has 64 KiB and 1024 ranges.
    println!("{} kB, of which {} bytes are counted", memory() - before, host.memory());
    assert!(memory() < before + 8_000, "{} kB after {before}", memory());
    assert!(host.tally().no_memory > 400_000, "{:?}", host.tally());
}

#[test]
fn packets_from_our_own_or_an_invalid_address_are_ignored() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (mut host, mut wire) = (host(), Last { packet: Vec::new(), count: 0 });
    let syn = Segment { seq: Seq(1), flags: Flags::SYN, window: 9, ..Segment::default() };
    let ack = Segment { flags: Flags::ACK, ..syn };
    let mut count = 0;
    // A SYN to a listening port would get a SYN-ACK, other segments an RST.
    for (segment, port) in [(syn, 9), (syn, 5), (ack, 9), (ack, 5)] {
        for from in NOBODY {
            give(&mut host, Time::ZERO, &packet(&segment, (from, 77), port, &[]), &mut wire);
            count += 1;
        }
    }
    give(&mut host, Time::ZERO, &packet(&syn, (OURS, 9), 9, &[]), &mut wire);
    assert_eq!((wire.count, host.counts(), host.tally().strange), (0, [0; 3], count + 1));
}

/// Multicast, broadcast, the network's broadcast, unspecified, and loopback addresses.
const NOBODY: [Ipv4Addr; 7] = [
    Ipv4Addr::new(224, 0, 0, 1),
    Ipv4Addr::new(239, 255, 255, 250),
    Ipv4Addr::BROADCAST,
    Ipv4Addr::new(192, 0, 2, 255),
    Ipv4Addr::new(192, 0, 2, 0),
    Ipv4Addr::UNSPECIFIED,
    Ipv4Addr::new(127, 0, 0, 1),
];

#[test]
fn multicast_and_broadcast_packets_get_no_response() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (mut host, mut wire) = (host(), Last { packet: Vec::new(), count: 0 });
    let syn = Segment { seq: Seq(1), flags: Flags::SYN, window: 9, ..Segment::default() };
    let ack = Segment { flags: Flags::ACK, ..syn };
    for to in NOBODY {
        for (segment, port) in [(syn, 9), (syn, 5), (ack, 9), (ack, 5)] {
            give(&mut host, Time::ZERO, &packet_to(to, &segment, (THEIRS, 77), port, &[]), &mut wire);
        }
        give(&mut host, Time::ZERO, &echo(THEIRS, to), &mut wire);
    }
    assert_eq!((wire.count, host.counts()), (0, [0; 3]));
    give(&mut host, Time::ZERO, &echo(Ipv4Addr::new(192, 0, 2, 255), OURS), &mut wire);
    assert_eq!(wire.count, 0, "an answer to everybody");
    give(&mut host, Time::ZERO, &echo(THEIRS, OURS), &mut wire);
    assert_eq!(wire.count, 1);
}

/// An ICMP echo request (RFC 792).
fn echo(from: Ipv4Addr, to: Ipv4Addr) -> Vec<u8> {
    let mut packet = vec![0x45, 0, 0, 28, 0, 0, 0, 0, 64, 1, 0, 0];
    packet.extend([from.octets(), to.octets()].concat());
    let sum = internet_checksum(&packet);
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
    packet.extend([8, 0, 0xF7, 0xFF, 0, 0, 0, 0]);
    packet
}

#[test]
fn no_connection_is_opened_to_an_address_that_is_not_unicast() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut host = host();
    for to in NOBODY.into_iter().chain([OURS]) {
        let refused = host.connect(Time::ZERO, (to, 9).into(), Box::new(Sink)).expect_err("no host");
        assert_eq!(refused, ConnectError::NoPeer(to.into()));
    }
    assert!(host.connect(Time::ZERO, (THEIRS, 9).into(), Box::new(Sink)).is_ok());
}

/// Collects what arrives.
struct Collector(Arc<Mutex<Vec<u8>>>);

impl Application for Collector {
    fn serve(&mut self, stream: &mut Stream<'_>) -> Next {
        let mut received = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (first, second) = stream.readable();
        received.extend(first);
        received.extend(second);
        let len = first.len() + second.len();
        stream.consume(len);
        Next::Waits
    }
}

#[test]
fn text_on_the_syn_of_a_simultaneous_open_reaches_the_application_once_it_is_sent_again() {
    // Linux discards it (`tcp_rcv_synsent_state_process()`), and the SYN-ACK acknowledges only the SYN.
    let (mut host, mut wire) = (host(), Last { packet: Vec::new(), count: 0 });
    let received = Arc::new(Mutex::new(Vec::new()));
    host.connect(Time::ZERO, (THEIRS, 80).into(), Box::new(Collector(Arc::clone(&received))))
        .expect("a connection");
    host.settle(Time::ZERO, &mut wire);
    let read = |wire: &Last| decode_packet(&wire.packet, Layout::SHARED, Verify::All).expect("a packet").tcp;
    let ours = read(&wire);
    let port = ours.ports.source;
    let syn = Segment { seq: Seq(1000), flags: Flags::SYN, window: 65_535, ..Segment::default() };
    give(&mut host, Time::ZERO, &packet(&syn, (THEIRS, 80), port, b"abc"), &mut wire);
    assert_eq!(read(&wire).segment.ack, Seq(1001));
    let text = Segment { seq: Seq(1001), ack: ours.segment.seq.plus(1), flags: Flags::ACK, ..syn };
    give(&mut host, Time::ZERO, &packet(&text, (THEIRS, 80), port, b"abcdef"), &mut wire);
    assert_eq!(read(&wire).segment.ack, Seq(1007));
    assert_eq!(*received.lock().unwrap_or_else(PoisonError::into_inner), b"abcdef");
}
