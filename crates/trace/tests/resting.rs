//! Memory of many open connections, and that those that were silent meanwhile are followed as if they had not been.

#![expect(unsafe_code, reason = "an allocator that counts is unsafe by its trait")]

mod support;

use netspurt_tcp::options::{Options, Timestamps};
use netspurt_tcp::segment::{Flags, Payload, Segment};
use netspurt_tcp::seq::Seq;
use netspurt_trace::Side;
use netspurt_trace::capture::{CaptureReader, LinkType, Packet};
use netspurt_trace::diagnosis::{ConnectionDiagnosis, Diagnoser};
use netspurt_trace::follow::{ConnectionReport, Follower, Limits, follow};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::net::Ipv4Addr;
use std::path::Path;
use support::{CLIENT_ISN, Order, SERVER_ISN, Seen, packet, pcap, read};

/// Counts the bytes that each thread has allocated.
struct Counting;

thread_local! {
    static BYTES: Cell<i64> = const { Cell::new(0) };
}

fn count(bytes: i64) {
    BYTES.with(|sum| sum.set(sum.get() + bytes));
}

// SAFETY: every call is passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

const EVERY: u32 = 100_000;
/// More than are kept awake.
const MANY: u32 = 5_000;

fn stamped(value: u32, echo: u32) -> Options {
    Options { timestamps: Some(Timestamps { value, echo }), ..Options::NONE }
}

/// Handshake, request of 300 bytes, response of two segments, both FINs.
fn exchange() -> Vec<(bool, u64, Segment)> {
    let offer =
        |stamps: Options| Options { mss: Some(1460), window_scale: Some(7), sack_permitted: true, ..stamps };
    let segment = |client: bool, flags: Flags, (seq, ack): (u32, u32), len: u32, options: Options| {
        let (mine, theirs) = if client { (CLIENT_ISN, SERVER_ISN) } else { (SERVER_ISN, CLIENT_ISN) };
        let (seq, ack) = (Seq(mine).plus(seq), Seq(theirs).plus(ack));
        let ack = if flags.has(Flags::ACK) { ack } else { Seq(0) };
        Segment {
            seq,
            ack,
            flags,
            window: 9000,
            payload: Payload { offset: 0, len },
            options,
            ..Segment::default()
        }
    };
    let (syn, ack, fin) = (Flags::SYN, Flags::ACK, Flags::FIN | Flags::ACK);
    vec![
        (true, 0, segment(true, syn, (0, 0), 0, offer(stamped(1, 0)))),
        (false, 30, segment(false, syn | ack, (0, 1), 0, offer(stamped(900, 1)))),
        (true, 40, segment(true, ack, (1, 1), 0, stamped(41, 900))),
        (true, 41, segment(true, ack | Flags::PSH, (1, 1), 300, stamped(42, 900))),
        (false, 130, segment(false, ack, (1, 301), 1448, stamped(1000, 42))),
        (false, 131, segment(false, ack | Flags::PSH, (1449, 301), 500, stamped(1001, 42))),
        (true, 140, segment(true, ack, (301, 1949), 0, stamped(141, 1001))),
        (true, 900, segment(true, fin, (301, 1949), 0, stamped(901, 1001))),
        (false, 930, segment(false, fin, (1949, 302), 0, stamped(1800, 901))),
        (true, 940, segment(true, ack, (302, 1950), 0, stamped(941, 1800))),
    ]
}

/// The packet of connection `n`: its client has an address of its own.
fn of(n: u32, client: bool, ms: u64, segment: &Segment) -> Seen {
    use netspurt_tcp::codec::{Addresses, Ports};
    let (here, there) = (Ipv4Addr::from(0x0A00_0000 + n), Ipv4Addr::new(192, 0, 2, 1));
    let (source, destination) = if client { (here, there) } else { (there, here) };
    let ports = if client {
        Ports { source: 40_000, destination: 80 }
    } else {
        Ports { source: 80, destination: 40_000 }
    };
    let ns = (1_700_000_000_000 + ms) * 1_000_000 + u64::from(n);
    Seen { ns, bytes: packet(Addresses::V4 { source, destination }, ports, segment) }
}

fn give(follower: &mut Follower, diagnoser: &mut Diagnoser, seen: &Seen) {
    let packet = Packet {
        at: Some(netspurt_trace::Stamp(seen.ns)),
        interface: 0,
        link: LinkType(101),
        bytes: &seen.bytes,
        wire_len: seen.bytes.len() as u32,
    };
    follower.process(&packet, diagnoser);
}

/// Bytes for each connection after the first segments of so many exchanges at once.
fn bytes_each(connections: u32, segments: usize) -> f64 {
    let before = BYTES.with(Cell::get);
    let mut follower = Follower::new(Limits::default());
    let mut diagnoser = Diagnoser::new(1);
    for (client, ms, segment) in &exchange()[..segments] {
        for n in 0..connections {
            give(&mut follower, &mut diagnoser, &of(n, *client, *ms, segment));
        }
    }
    let bytes = BYTES.with(Cell::get) - before;
    assert_eq!(follower.connections(), u64::from(connections));
    drop((follower, diagnoser));
    bytes as f64 / f64::from(connections.min(EVERY))
}

#[test]
fn an_open_connection_with_few_segments_needs_640_bytes() {
    for segments in [3, 7] {
        let each = bytes_each(EVERY, segments);
        println!("{segments} segments: {each:.0} bytes");
        assert!(each <= 640.0, "{segments} segments: {each} bytes for each of {EVERY} connections");
    }
}

#[test]
fn a_scan_of_many_addresses_needs_no_more_memory_than_open_connections_may() {
    let each = bytes_each(2 * EVERY, 1);
    assert!(each <= 640.0, "{each} bytes for each connection that is kept");
}

fn reports(packets: &[Seen]) -> Vec<ConnectionReport> {
    let told = read(&pcap(Order::Little, 1, 101, 65_535, packets));
    told.reports.into_iter().map(|(_, report)| report).collect()
}

fn diagnoses(packets: &[Seen]) -> Vec<ConnectionDiagnosis> {
    let file = std::io::Cursor::new(pcap(Order::Little, 1, 101, 65_535, packets));
    let mut reader = CaptureReader::new(Box::new(file), Path::new("a")).unwrap();
    let mut diagnoser = Diagnoser::new(1);
    follow(&mut reader, Limits::default(), &mut diagnoser).1.unwrap();
    diagnoser.take()
}

#[test]
fn connections_that_rested_are_reported_and_diagnosed_as_if_they_were_alone() {
    let exchange = exchange();
    let all: Vec<Seen> = exchange
        .iter()
        .flat_map(|(client, ms, segment)| (0..MANY).map(move |n| of(n, *client, *ms, segment)))
        .collect();
    let (reports_of_all, diagnoses_of_all) = (reports(&all), diagnoses(&all));
    assert_eq!((reports_of_all.len(), diagnoses_of_all.len()), (MANY as usize, MANY as usize));
    for n in [0, 1, MANY / 2, MANY - 1] {
        let alone: Vec<Seen> =
            exchange.iter().map(|(client, ms, segment)| of(n, *client, *ms, segment)).collect();
        assert_eq!(reports_of_all[n as usize], reports(&alone)[0]);
        let (among, alone) = (&diagnoses_of_all[n as usize], &diagnoses(&alone)[0]);
        assert_eq!(among.who, alone.who);
        for (among, alone) in among.directions.iter().zip(&alone.directions) {
            assert_eq!((&among.timeline, &among.sentence), (&alone.timeline, &alone.sentence));
            assert_eq!((among.bytes, among.vantage), (alone.bytes, alone.vantage));
        }
        assert_eq!(among.directions[Side::B as usize].bytes, 1948);
    }
}
