//! Diagnosis of captures that miss one direction, the begin or the options, or that have packets twice. The client sends, the server
//! is 30 ms away, and the capture point is 10 ms from the client.

mod support;

use netspurt_budget::Limit;
use netspurt_tcp::options::Options;
use netspurt_trace::capture::CaptureReader;
use netspurt_trace::diagnosis::{ConnectionDiagnosis, Diagnoser};
use netspurt_trace::follow::{Limits, follow};
use std::path::Path;
use support::{Order, Script, Seen, V4, pcap, read};

const SEGMENT: u32 = 1000;

/// Options of both SYNs: windows are scaled by 128.
fn scaled() -> Options {
    Options { mss: Some(1000), window_scale: Some(7), ..Options::NONE }
}

/// After the handshake, rounds of 40 ms with so many segments each, which one ACK of the window field 200 acknowledges.
fn rounds(count: u64, segments: u32) -> Vec<Seen> {
    let mut script = Script::new(V4);
    script.open(scaled());
    for round in 0..count {
        let first = round as u32 * segments;
        for n in first..first + segments {
            script.at(40 + 40 * round).data(n * SEGMENT, SEGMENT);
        }
        script.at(70 + 40 * round).window(false, (first + segments) * SEGMENT, 200, Options::NONE);
    }
    script.packets
}

fn is_from_client(seen: &Seen) -> bool {
    seen.bytes[15] == 1
}

fn diagnosed(snaplen: usize, packets: &[Seen]) -> ConnectionDiagnosis {
    let file = std::io::Cursor::new(pcap(Order::Little, 1, 101, snaplen, packets));
    let mut reader = CaptureReader::new(Box::new(file), Path::new("a")).unwrap();
    let mut diagnoser = Diagnoser::new(1);
    follow(&mut reader, Limits::default(), &mut diagnoser).1.unwrap();
    let [diagnosis] = <[_; 1]>::try_from(diagnoser.take()).unwrap();
    diagnosis
}

#[test]
fn without_acks_only_the_handshake_is_known() {
    let packets: Vec<Seen> = rounds(10, 5).into_iter().filter(is_from_client).collect();
    let diagnosis = diagnosed(65_535, &packets);
    let [client, server] = &diagnosis.directions;
    assert_eq!((client.bytes, client.limit()), (50_000, Limit::Unknown));
    assert!(client.budget.share(Limit::Unknown) + client.budget.share(Limit::Handshake) > 0.999);
    assert!(client.sentence.contains("no packet of the receiver"), "{}", client.sentence);
    let handshake = client.lines().find(|(line, _)| line.limit == Limit::Handshake).unwrap().1;
    assert_eq!(handshake.packets.unwrap().0, 1, "packets are counted from 1");
    assert_eq!(server.bytes, 0);
}

#[test]
fn acks_alone_show_how_much_was_sent_and_nothing_more() {
    let packets: Vec<Seen> = rounds(10, 5).into_iter().filter(|seen| !is_from_client(seen)).collect();
    // From the SYN on, and from the third ACK of ten on, which is where counting begins then.
    for (begin, acknowledged) in [(0, 50_000), (3, 35_000)] {
        let diagnosis = diagnosed(65_535, &packets[begin..]);
        let found = diagnosis.main();
        assert!(found.budget.share(Limit::Unknown) > 0.999);
        assert!(found.sentence.contains("only ACKs"), "{}", found.sentence);
        assert_eq!(found.bytes, acknowledged);
    }
}

#[test]
fn a_window_whose_scale_was_not_captured_permits_what_is_in_flight() {
    // 20 kB in flight within 25,600 bytes, of which the field shows 200.
    let packets = rounds(20, 20);
    let begin = packets.iter().position(|seen| seen.ns > packets[0].ns + 100_000_000).unwrap();
    for (snaplen, packets) in [(65_535, &packets[..]), (65_535, &packets[begin..]), (40, &packets[..])] {
        let diagnosis = diagnosed(snaplen, packets);
        let found = diagnosis.main();
        let windows = [Limit::ReceiveWindow, Limit::SlowReceiver].map(|limit| found.budget.share(limit));
        assert!(windows.iter().sum::<f64>() < 0.05, "snaplen {snaplen}: {windows:?} in {:?}", found.budget);
    }
}

/// The packets, each twice, the second one a moment later; IP identifications are counted by `step`.
fn twice(packets: &[Seen], step: u16) -> Vec<Seen> {
    let identified = packets.iter().zip(1_u16..).map(|(seen, number)| {
        let mut seen = seen.clone();
        seen.bytes[4..6].copy_from_slice(&(number * step).to_be_bytes());
        seen
    });
    let mut copied: Vec<Seen> =
        identified.flat_map(|seen| [Seen { ns: seen.ns + 5000, ..seen.clone() }, seen]).collect();
    copied.sort_by_key(|seen| seen.ns);
    copied
}

#[test]
fn packets_that_a_mirror_port_copies_change_nothing() {
    let packets = rounds(10, 5);
    // With identifications, and without: some systems send 0 where a packet must not be split (RFC 6864).
    for step in [1, 0] {
        copies_change_nothing(&packets, &twice(&packets, step));
    }
}

#[track_caller]
fn copies_change_nothing(packets: &[Seen], copied: &[Seen]) {
    let (once, both) = (diagnosed(65_535, packets), diagnosed(65_535, copied));
    for (once, both) in once.directions.iter().zip(&both.directions) {
        assert_eq!(once.bytes, both.bytes);
        assert_eq!(once.timeline, both.timeline);
        assert_eq!(both.retransmitted, 0);
    }
    let told = read(&pcap(Order::Little, 1, 101, 65_535, copied));
    let [client, server] = &told.report().streams;
    assert_eq!((client.duplicated, client.bytes, client.duplicate_acks), (52, 50_000, 0));
    assert_eq!((client.packets, server.duplicated), (104, 11));
}

#[test]
fn a_clock_that_was_set_back_leaves_only_how_much_was_sent() {
    let shifted = |back_ns: u64| {
        let mut packets = rounds(40, 5);
        let middle = packets.len() / 2;
        packets[middle..].iter_mut().for_each(|seen| seen.ns -= back_ns);
        packets
    };
    let set_back = diagnosed(65_535, &shifted(500_000_000));
    let found = set_back.main();
    assert_eq!((found.bytes, found.limit()), (200_000, Limit::Unknown));
    assert!(found.budget.share(Limit::Unknown) > 0.999);
    assert!(found.sentence.contains("went back by 0.50 s at packet 122"), "{}", found.sentence);
    // Packets of several queues of a network card are a little out of order.
    assert_ne!(diagnosed(65_535, &shifted(50_000_000)).main().limit(), Limit::Unknown);
}

#[test]
fn a_packet_without_length_has_that_on_the_wire() {
    let mut packets = rounds(3, 5);
    for seen in &mut packets {
        if seen.bytes.len() > 1000 {
            seen.bytes[2..4].fill(0);
        }
    }
    for snaplen in [65_535, 96] {
        let told = read(&pcap(Order::Little, 1, 101, snaplen, &packets));
        assert_eq!(told.report().streams[0].bytes, 15_000, "snaplen {snaplen}");
        assert_eq!(told.report().streams[0].unseen_bytes, 0);
    }
}
