//! Every format, link type and byte order; damage at every byte; files of other formats.

mod support;

use netspurt_trace::capture::{CaptureReader, LinkType, Wrong};
use netspurt_trace::follow::Method;
use std::io::Write as _;
use std::path::Path;
use support::{
    Order, Script, Seen, V4, V6, block, enhanced, interface, pcap, pcapng, read, section, try_read,
};

const ORDERS: [Order; 2] = [Order::Big, Order::Little];

/// A handshake, two segments, and their ACKs: RTTs of 30 and 10 ms, then 20 and 25.
fn talk(addresses: netspurt_tcp::codec::Addresses) -> Vec<Seen> {
    let mut script = Script::new(addresses);
    script.open(Default::default());
    script.at(100).data(0, 600).at(120).ack(false, 600, Default::default());
    script.at(130).data(600, 400).at(155).ack(false, 1000, Default::default());
    script.packets
}

fn is_that_talk(file: &[u8]) {
    let told = read(file);
    assert!(told.damage.is_none());
    assert_eq!(told.times(Method::Handshake), [30_000, 10_000]);
    assert_eq!(told.times(Method::Karn), [20_000, 25_000]);
    assert_eq!((told.tally.packets, told.tally.segments), (7, 7));
    let report = told.report();
    assert_eq!(report.streams[0].acknowledged, 1000);
    assert_eq!(report.first.0, 1_700_000_000_000_000_000);
}

#[test]
fn both_formats_in_both_byte_orders_and_all_resolutions() {
    let packets = talk(V4);
    for order in ORDERS {
        for unit in [1, 1000] {
            is_that_talk(&pcap(order, unit, 101, 65_535, &packets));
        }
        is_that_talk(&pcapng(order, 101, None, |ns| ns / 1000, &packets));
        is_that_talk(&pcapng(order, 101, Some(3), |ns| ns / 1_000_000, &packets));
        is_that_talk(&pcapng(order, 101, Some(9), |ns| ns, &packets));
        is_that_talk(&pcapng(order, 101, Some(10), |ns| ns * 10, &packets));
    }
}

#[test]
fn a_resolution_in_powers_of_two() {
    let units = |ns: u64| ((u128::from(ns) << 30) / 1_000_000_000) as u64;
    let told = read(&pcapng(Order::Little, 101, Some(0x80 | 30), units, &talk(V4)));
    for (got, expected) in told.times(Method::Karn).into_iter().zip([20_000, 25_000_u64]) {
        assert!(got.abs_diff(expected) <= 1, "{got} instead of {expected}");
    }
}

#[test]
fn every_link_type_with_both_versions_of_ip() {
    let ethernet = |types: &[u8]| [&[0xAA; 12][..], types].concat();
    let heads: Vec<(u32, Vec<u8>, Vec<u8>)> = vec![
        (1, ethernet(&[8, 0]), ethernet(&[0x86, 0xDD])),
        (1, ethernet(&[0x81, 0, 0, 7, 8, 0]), ethernet(&[0x81, 0, 0, 7, 0x86, 0xDD])),
        (
            1,
            ethernet(&[0x88, 0xA8, 0, 9, 0x81, 0, 0, 7, 8, 0]),
            ethernet(&[0x91, 0, 0, 9, 0x81, 0, 0, 7, 0x86, 0xDD]),
        ),
        (0, vec![2, 0, 0, 0], vec![30, 0, 0, 0]),
        (0, vec![0, 0, 0, 2], vec![0, 0, 0, 24]),
        (108, vec![0, 0, 0, 2], vec![0, 0, 0, 28]),
        (101, vec![], vec![]),
        (12, vec![], vec![]),
        (14, vec![], vec![]),
        (113, [&[0; 14][..], &[8, 0]].concat(), [&[0; 14][..], &[0x86, 0xDD]].concat()),
        (
            1,
            ethernet(&[0x88, 0x64, 0x11, 0, 0, 1, 0, 9, 0, 0x21]),
            ethernet(&[0x88, 0x64, 0x11, 0, 0, 1, 0, 9, 0, 0x57]),
        ),
        (8, vec![0; 16], [&[1, 0x45][..], &[0; 14]].concat()),
        (9, vec![0xFF, 3, 0, 0x21], vec![0, 0x57]),
        (50, vec![0xFF, 3, 0, 0x21], vec![0x8F, 0, 0x86, 0xDD]),
        (51, vec![0x11, 0, 0, 1, 0, 9, 0, 0x21], vec![0x11, 0, 0, 1, 0, 9, 0, 0x57]),
        (104, vec![0x0F, 0, 8, 0], vec![0x8F, 0, 0x86, 0xDD]),
        (107, vec![0x18, 0x41, 3, 0xCC], vec![0x18, 0x41, 3, 0, 0x80, 0, 0, 0, 0x86, 0xDD]),
        (276, [&[8, 0][..], &[0; 18]].concat(), [&[0x86, 0xDD][..], &[0; 18]].concat()),
    ];
    let behind = |head: &[u8], packets: Vec<Seen>| -> Vec<Seen> {
        packets.into_iter().map(|seen| Seen { bytes: [head, &seen.bytes].concat(), ..seen }).collect()
    };
    for (link, v4, v6) in heads {
        for order in ORDERS {
            is_that_talk(&pcap(order, 1000, link, 65_535, &behind(&v4, talk(V4))));
            is_that_talk(&pcapng(order, link as u16, Some(9), |ns| ns, &behind(&v6, talk(V6))));
        }
    }
    is_that_talk(&pcap(Order::Little, 1, 228, 65_535, &talk(V4)));
    is_that_talk(&pcap(Order::Little, 1, 229, 65_535, &talk(V6)));
    // The upper bits describe Ethernet's frame check sequence.
    is_that_talk(&pcap(Order::Little, 1, 0x2400_0000 | 101, 65_535, &talk(V4)));
}

#[test]
fn packets_of_an_unknown_link_type_are_counted_by_interface() {
    let packets = talk(V4);
    let order = Order::Little;
    let mut file = [section(order), interface(order, 127, None), interface(order, 101, Some(9))].concat();
    for Seen { ns, bytes } in &packets {
        file.extend(enhanced(order, 0, ns / 1000, bytes));
        file.extend(enhanced(order, 1, *ns, bytes));
    }
    let told = read(&file);
    assert_eq!(told.tally.unknown_link.get(&(0, 127)), Some(&7));
    assert_eq!(told.times(Method::Karn), [20_000, 25_000]);
    assert_eq!(LinkType(127).to_string(), "127 (IEEE802_11_RADIOTAP)");
}

#[test]
fn sections_may_differ_in_byte_order_and_count_interfaces_anew() {
    let packets = talk(V4);
    let mut file = Vec::new();
    for (n, Seen { ns, bytes }) in packets.iter().enumerate() {
        let order = ORDERS[n % 2];
        file.extend(section(order));
        if n % 2 == 1 {
            file.extend(interface(order, 127, None));
        }
        file.extend(interface(order, 101, Some(9)));
        // Name resolution, and a private block.
        file.extend(block(order, 4, &[0; 4]));
        file.extend(block(order, 0x8000_0001, &[7; 13]));
        file.extend(enhanced(order, n as u32 % 2, *ns, bytes));
    }
    let told = read(&file);
    assert_eq!((told.tally.packets, told.tally.segments, told.damage.is_none()), (7, 7, true));
    assert_eq!(
        told.opened.len(),
        2,
        "the interface numbered 0 is the same in each section, and so is number 1"
    );
}

#[test]
fn blocks_of_the_older_kinds_are_read() {
    let packets = talk(V4);
    let order = Order::Big;
    let mut file = [section(order), interface(order, 101, Some(9))].concat();
    for Seen { ns, bytes } in &packets {
        let len = order.long(bytes.len() as u32);
        let time = [order.long((ns >> 32) as u32), order.long(*ns as u32)].concat();
        file.extend(block(order, 2, &[&[0; 4], &time[..], &len, &len, bytes].concat()));
    }
    file.extend(block(order, 3, &[&order.long(40)[..], &packets[0].bytes].concat()));
    let told = read(&file);
    assert_eq!((told.tally.packets, told.tally.segments, told.tally.untimed), (8, 7, 1));
    assert_eq!(told.times(Method::Karn), [20_000, 25_000]);
}

#[test]
fn packets_truncated_after_their_headers_are_followed() {
    is_that_talk(&pcap(Order::Little, 1000, 101, 60, &talk(V4)));
    let told = read(&pcap(Order::Little, 1000, 101, 39, &talk(V4)));
    assert_eq!((told.tally.cut, told.tally.segments), (7, 0));
}

#[test]
fn of_a_fragmented_packet_the_first_part_is_followed_and_the_others_are_counted() {
    let mut packets = talk(V4);
    // A data segment of 600 bytes in two fragments, the second one twice.
    let whole = packets[3].clone();
    let mut first = whole.clone();
    first.bytes.truncate(320);
    first.bytes[2..4].copy_from_slice(&320_u16.to_be_bytes());
    first.bytes[6] = 0x20;
    let mut second = Seen { bytes: [&whole.bytes[..20], &whole.bytes[320..]].concat(), ..whole };
    second.bytes[2..4].copy_from_slice(&320_u16.to_be_bytes());
    second.bytes[6..8].copy_from_slice(&(300_u16 / 8).to_be_bytes());
    packets.splice(3..4, [first, second]);
    let told = read(&pcap(Order::Little, 1, 101, 65_535, &packets));
    assert_eq!((told.tally.fragments, told.tally.segments), (2, 7));
    assert_eq!(told.report().streams[0].unseen_bytes, 320);
    assert_eq!(told.times(Method::Karn), [25_000], "what the ACK waited for was not seen");
}

#[test]
fn ipv6_may_have_headers_in_between() {
    let mut packets = talk(V6);
    for seen in &mut packets {
        let len = u16::from_be_bytes([seen.bytes[4], seen.bytes[5]]) + 24;
        seen.bytes[4..6].copy_from_slice(&len.to_be_bytes());
        seen.bytes[6] = 0;
        // Hop-by-hop options, and destination options of 16 bytes.
        let between = [&[60, 0, 1, 4, 0, 0, 0, 0][..], &[6, 1], &[0; 14]].concat();
        seen.bytes.splice(40..40, between);
    }
    is_that_talk(&pcap(Order::Little, 1, 101, 65_535, &packets));
}

#[test]
fn packets_of_other_protocols_are_counted() {
    let mut packets = talk(V4);
    packets[3].bytes[9] = 17;
    packets[4].bytes[0] = 0x95;
    packets[5].bytes.truncate(3);
    let told = read(&pcap(Order::Little, 1, 101, 65_535, &packets));
    let tally = &told.tally;
    assert_eq!((tally.not_tcp, tally.malformed, tally.cut, tally.segments), (1, 1, 1, 4));
}

#[test]
fn compressed_captures_are_read_without_a_temporary_file() {
    let plain = pcapng(Order::Little, 101, Some(9), |ns| ns, &talk(V4));
    let gzip = |bytes: &[u8]| {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        packer.write_all(bytes).unwrap();
        packer.finish().unwrap()
    };
    let zstd =
        |bytes: &[u8]| ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest);
    let (head, tail) = plain.split_at(200);
    let skippable = [&[0x53, 0x2A, 0x4D, 0x18, 3, 0, 0, 0][..], &[1, 2, 3]].concat();
    let gzipped = gzip(&plain);
    let zipped = zstd(&plain);
    is_that_talk(&gzipped);
    is_that_talk(&zipped);
    is_that_talk(&[gzip(head), gzip(tail)].concat());
    is_that_talk(&[&skippable[..], &zstd(head), &skippable, &zstd(tail)].concat());
    for file in [&gzipped[..], &zipped] {
        for len in 0..file.len() {
            // A truncated file is damaged or, if nothing could be decompressed, not a capture.
            match try_read(&file[..len]) {
                Ok(told) if told.damage.is_some() => {
                    let words = told.damage.unwrap().wrong.to_string();
                    let ends =
                        ["the file ends within the record", "the file ends within the compressed data"];
                    assert!(ends.contains(&words.as_str()), "{len} octets: {words}");
                }
                Ok(told) => assert_eq!(told.tally.packets, 7, "{len} octets"),
                Err(words) => assert!(words.contains("a.pcap"), "{words}"),
            }
        }
    }
}

#[test]
fn a_damaged_file_is_read_up_to_the_damage() {
    let file = pcap(Order::Little, 1, 101, 65_535, &talk(V4));
    let told = read(&file[..file.len() - 1]);
    let damage = told.damage.unwrap();
    assert_eq!((damage.packet, damage.offset as usize), (7, file.len() - 16 - 40));
    let words = format!("damaged at packet 7, byte {}: the file ends within the record", damage.offset);
    assert_eq!(damage.to_string(), words);
    assert_eq!(told.tally.packets, 6);
    assert_eq!(told.reports.len(), 1);
}

#[test]
fn invalid_lengths_are_reported() {
    let wrong = |file: &[u8]| read(file).damage.unwrap().wrong.to_string();
    let mut file = pcap(Order::Little, 1, 101, 65_535, &talk(V4));
    file[32..36].copy_from_slice(&300_000_u32.to_le_bytes());
    assert_eq!(wrong(&file), "invalid packet length: 300000 bytes");
    let order = Order::Little;
    let head = [section(order), interface(order, 101, None)].concat();
    assert_eq!(
        wrong(&[&head[..], &enhanced(order, 3, 0, &[0; 4])].concat()),
        "the packet's interface 3 is not described in the file"
    );
    let mut bad = enhanced(order, 0, 0, &[0; 4]);
    bad[4] = 13;
    assert_eq!(wrong(&[&head[..], &bad].concat()), "invalid block length: 13 bytes");
    let mut bad = enhanced(order, 0, 0, &[0; 4]);
    let end = bad.len() - 4;
    bad[end] ^= 4;
    assert!(wrong(&[&head[..], &bad].concat()).contains("the two lengths of a block differ"));
    let mut bad = enhanced(order, 0, 0, &[0; 4]);
    bad[20..24].copy_from_slice(&30_u32.to_le_bytes());
    assert_eq!(wrong(&[&head[..], &bad].concat()), "invalid packet length: 30 bytes");
}

#[test]
fn damage_at_any_byte_does_not_panic() {
    for file in [
        pcap(Order::Little, 1, 101, 65_535, &talk(V4)),
        pcap(Order::Big, 1000, 101, 50, &talk(V6)),
        pcapng(Order::Little, 101, Some(9), |ns| ns, &talk(V4)),
        pcapng(Order::Big, 101, None, |ns| ns / 1000, &talk(V6)),
    ] {
        let whole = read(&file).tally.packets;
        for at in 0..file.len() {
            if let Ok(told) = try_read(&file[..at]) {
                assert!(told.tally.packets <= whole, "cut at {at}");
                let ends_well = told.damage.is_none();
                assert_eq!(ends_well, is_boundary(&file, at), "cut at {at}: {:?}", told.damage);
            }
            for flip in [0x01, 0x80, 0xFF] {
                let mut bad = file.clone();
                bad[at] ^= flip;
                if let Ok(told) = try_read(&bad) {
                    assert!(told.tally.packets <= whole + 1, "octet {at} changed by {flip}");
                }
            }
        }
    }
}

/// Whether a record ends there, according to a reader.
fn is_boundary(file: &[u8], at: usize) -> bool {
    let source = Box::new(std::io::Cursor::new(file.to_vec()));
    let mut reader = CaptureReader::new(source, Path::new("a")).unwrap();
    let mut ends = vec![reader.octets()];
    while let Some(_packet) = reader.next().unwrap() {
        ends.push(reader.octets());
    }
    ends.push(file.len() as u64);
    // The section header of pcapng.
    ends.contains(&(at as u64)) || file[0] == 0x0A && at == 28
}

#[test]
fn a_file_of_another_format_is_reported_in_a_sentence() {
    let words = |file: &[u8]| try_read(file).unwrap_err();
    assert_eq!(words(b""), "a.pcap is empty; expected a capture in pcap or pcapng format");
    assert_eq!(
        words(b"PK\x03\x04"),
        "a.pcap is not a capture: it begins with 50 4b 03 04, expected pcap or pcapng (uncompressed, gzip or zstd)"
    );
    assert!(words(b"duration = \"5 s\"").contains("it begins with \"duration\", expected pcap"));
    assert!(words(&[0x1F, 0x8B, 8, 0, 0]).starts_with("cannot read a.pcap: "));
    let missing = CaptureReader::open(Path::new("/there/is/none.pcap")).unwrap_err().to_string();
    assert!(missing.starts_with("cannot read /there/is/none.pcap: No such file"), "{missing}");
}

#[test]
fn the_error_of_a_source_is_reported() {
    struct Breaks(std::io::Cursor<Vec<u8>>);
    impl std::io::Read for Breaks {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            match self.0.read(buffer)? {
                0 => Err(std::io::Error::other("the disk has gone")),
                count => Ok(count),
            }
        }
    }
    let file = pcap(Order::Little, 1, 101, 65_535, &talk(V4));
    let mut reader =
        CaptureReader::new(Box::new(Breaks(std::io::Cursor::new(file))), Path::new("a")).unwrap();
    for _ in 0..7 {
        assert!(reader.next().unwrap().is_some());
    }
    let damage = reader.next().unwrap_err();
    assert!(matches!(damage.wrong, Wrong::Source(_)));
    assert!(damage.to_string().ends_with("the disk has gone"), "{damage}");
    assert!(reader.next().unwrap().is_none(), "nothing follows an error");
}
