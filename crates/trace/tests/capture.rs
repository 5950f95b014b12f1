//! Captures, read with another reader, and with tshark if it is installed.

use netspurt_tcp::codec::{Addresses, Ports};
use netspurt_tcp::ecn::{AccurateEcn, ByteCounters, Order};
use netspurt_tcp::options::{BigWindow, Layout, Nak, Options, SackBlock, Timestamps};
use netspurt_tcp::segment::{Flags, Payload, Segment};
use netspurt_tcp::seq::Seq;
use netspurt_tcp::time::{Span, Time};
use netspurt_trace::Stamp;
use netspurt_trace::capture::{
    CaptureError, CaptureWriter, Checksum, Direction, EPOCH_S, Host, Interface, Record, Setup, simulated,
};
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketOption;
use pcap_file::pcapng::blocks::opt_common::CommonOption;
use pcap_file::pcapng::{Block, PcapNgReader};
use std::fs;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::Command;

const CLIENT: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const SERVER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

/// An empty directory for this test.
fn directory(test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    drop(fs::remove_dir_all(&path));
    fs::create_dir_all(&path).unwrap();
    path
}

fn setup() -> Setup {
    let interface = |name: &str| Interface {
        name: name.to_owned(),
        description: "a test".to_owned(),
        speed: Some(1_544_000),
    };
    let host = |address, name: &str| Host { address, name: name.to_owned() };
    Setup {
        application: "netspurt".to_owned(),
        comment: "a test".to_owned(),
        interfaces: vec![interface("line@client"), interface("line@server")],
        hosts: vec![host(CLIENT, "client"), host(SERVER, "server")],
        snaplen: None,
        remarks: Vec::new(),
    }
}

fn record(time: Time, segment: Segment) -> Record {
    Record {
        datagram: false,
        time,
        interface: 0,
        direction: Direction::Outbound,
        addresses: Addresses::V4 { source: CLIENT, destination: SERVER },
        ports: Ports { source: 1024, destination: 80 },
        layout: Layout::SHARED,
        checksum: Checksum::Right,
        segment,
    }
}

fn data(offset: u64, len: u32) -> Segment {
    Segment {
        seq: Seq(1001).plus(offset as u32),
        ack: Seq(5001),
        flags: Flags::ACK | Flags::PSH,
        window: 1000,
        payload: Payload { offset, len },
        ..Segment::default()
    }
}

const fn answered(record: Record) -> Record {
    Record {
        direction: Direction::Inbound,
        addresses: Addresses::V4 { source: SERVER, destination: CLIENT },
        ports: Ports { source: 80, destination: 1024 },
        ..record
    }
}

/// A connection with every option.
fn conversation() -> Vec<Record> {
    let at = |ms| Time::ZERO + Span::from_ms(ms);
    let stamps = |value, echo| Some(Timestamps { value, echo });
    let offer = Options {
        mss: Some(1460),
        window_scale: Some(7),
        sack_permitted: true,
        timestamps: stamps(1, 0),
        ..Options::NONE
    };
    let syn =
        Segment { seq: Seq(1000), flags: Flags::SYN, window: 65_535, options: offer, ..Segment::default() };
    let accept = Segment {
        seq: Seq(5000),
        ack: Seq(1001),
        flags: Flags::SYN | Flags::ACK,
        options: Options { timestamps: stamps(9, 1), ..offer },
        ..syn
    };
    let stamped = Options { timestamps: stamps(2, 9), ..Options::NONE };
    let mut sack = Options { timestamps: stamps(10, 2), ..Options::NONE };
    sack.sack.push(SackBlock { left: Seq(2001), right: Seq(3001) });
    let nak = Options {
        nak: Some(Nak { first: Seq(1001), count: 1 }),
        big_window: Some(BigWindow::Upper(3)),
        ..Options::NONE
    };
    let ack = |options| Segment {
        seq: Seq(5001),
        ack: Seq(1001),
        flags: Flags::ACK,
        window: 500,
        options,
        ..Segment::default()
    };
    vec![
        record(at(0), syn),
        answered(record(at(10), accept)),
        record(at(10), Segment { options: stamped, ..data(0, 0) }),
        record(at(11), Segment { options: stamped, ..data(0, 1000) }),
        record(at(12), Segment { options: stamped, ..data(1000, 1000) }),
        answered(record(at(22), ack(sack))),
        answered(record(at(23), ack(nak))),
        record(at(30), Segment { options: stamped, ..data(0, 1000) }),
    ]
}

fn write(path: &Path, setup: &Setup, records: Vec<Record>) -> Result<u64, CaptureError> {
    let mut writer = CaptureWriter::create(path, setup)?;
    for record in records {
        writer.push(record);
    }
    writer.finish()
}

/// Interface, nanoseconds since the epoch, length on the wire and captured bytes of each packet.
fn read(path: &Path) -> Vec<(u32, u64, u32, Vec<u8>)> {
    let bytes = fs::read(path).unwrap();
    let mut reader = PcapNgReader::new(&bytes[..]).unwrap();
    let mut packets = Vec::new();
    while let Some(block) = reader.next_block() {
        if let (Block::EnhancedPacket(packet), _) = block.unwrap() {
            let since = packet.timestamp.as_nanos() as u64 - EPOCH_S * 1_000_000_000;
            packets.push((packet.interface_id, since, packet.original_len, packet.data.into_owned()));
        }
    }
    packets
}

fn names(directory: &Path) -> Vec<String> {
    let entry = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    fs::read_dir(directory).unwrap().map(entry).collect()
}

#[test]
fn packets_are_written_in_order_of_time() {
    let file = directory("order").join("a.pcapng");
    let mut writer = CaptureWriter::create(&file, &setup()).unwrap();
    let at = |ns: u64, interface| Record { interface, ..record(Time::from_ps(ns * 1000 + 999), data(0, 10)) };
    for (ns, interface) in [(5, 0), (3, 1), (9, 1), (3, 0)] {
        writer.push(at(ns, interface));
    }
    writer.settle(Time::from_ps(6000)).unwrap();
    for (ns, interface) in [(7, 0), (9, 0), (1 << 42, 1)] {
        writer.push(at(ns, interface));
    }
    assert_eq!(writer.finish().unwrap(), 7);
    let seen: Vec<_> = read(&file).into_iter().map(|(interface, ns, ..)| (ns, interface)).collect();
    assert_eq!(seen, [(3, 1), (3, 0), (5, 0), (7, 0), (9, 1), (9, 0), (1 << 42, 1)]);
}

/// The comment of each packet.
fn comments(path: &Path) -> Vec<Option<String>> {
    let bytes = fs::read(path).unwrap();
    let mut reader = PcapNgReader::new(&bytes[..]).unwrap();
    let mut comments = Vec::new();
    while let Some(block) = reader.next_block() {
        if let (Block::EnhancedPacket(packet), _) = block.unwrap() {
            comments.push(packet.options.iter().find_map(|option| match option {
                EnhancedPacketOption::Common(CommonOption::Comment(text)) => Some(text.to_string()),
                _ => None,
            }));
        }
    }
    comments
}

#[test]
fn a_remark_stands_on_the_first_packet_from_its_time_on() {
    let file = directory("remarks").join("a.pcapng");
    let at = |ms| Time::ZERO + Span::from_ms(ms);
    let remarks =
        [(2, "a"), (5, "b"), (6, "c"), (30, "never")].map(|(ms, text)| (simulated(at(ms)), text.to_owned()));
    let setup = Setup { remarks: remarks.into(), ..setup() };
    let records = [1, 2, 3, 10, 11].map(|ms| record(at(ms), data(0, 10)));
    write(&file, &setup, records.into()).unwrap();
    let expected = [None, Some("a"), None, Some("b; c"), None].map(|text| text.map(str::to_owned));
    assert_eq!(comments(&file), expected);
    // The direction follows the comment.
    assert_eq!(read(&file).len(), 5);
}

#[test]
fn a_live_capture_has_remarks_on_its_own_clock() {
    let file = directory("live-remarks").join("a.pcapng");
    let mut writer = CaptureWriter::create(&file, &setup()).unwrap();
    writer.set_remarks(vec![(Stamp(5_000), "a".to_owned()), (Stamp(7_000), "b".to_owned())]);
    for at in [4_999, 5_000, 6_000, 9_000] {
        writer.write_seen(0, Stamp(at), Direction::Inbound, &[0x45; 40]).unwrap();
    }
    writer.finish().unwrap();
    assert_eq!(comments(&file), [None, Some("a".to_owned()), None, Some("b".to_owned())]);
}

#[test]
fn a_capture_truncates_packets_to_the_snap_length() {
    let directory = directory("snaplen");
    for (snaplen, kept) in [(None, 1040), (Some(0), 1040), (Some(96), 96), (Some(9000), 1040)] {
        let file = directory.join("a.pcapng");
        let setup = Setup { snaplen, ..setup() };
        write(&file, &setup, vec![record(Time::ZERO, data(0, 1000))]).unwrap();
        let [(_, _, len, bytes)] = &read(&file)[..] else { panic!("one packet") };
        assert_eq!((*len, bytes.len()), (1040, kept));
        assert!(bytes[40..].iter().all(|&byte| byte == 0));
    }
    assert_eq!(names(&directory), ["a.pcapng"]);
}

#[test]
fn the_headers_contain_the_ecn_field_and_flags() {
    use netspurt_tcp::segment::Ecn;
    let file = directory("ecn").join("a.pcapng");
    let marked = Segment { ecn: Ecn::Ce, flags: Flags::ACK | Flags::CWR, ..data(0, 100) };
    let capable = Segment { ecn: Ecn::Ect0, flags: Flags::ACK | Flags::ECE, ..data(100, 100) };
    let records = [marked, capable, data(200, 100)].into_iter().zip(0..);
    let records = records.map(|(segment, ms)| record(Time::ZERO + Span::from_ms(ms), segment)).collect();
    write(&file, &setup(), records).unwrap();
    let seen: Vec<_> = read(&file).into_iter().map(|(.., bytes)| (bytes[1] & 3, bytes[33] & 0xC0)).collect();
    assert_eq!(seen, [(3, 0x80), (2, 0x40), (0, 0)]);
}

#[test]
fn an_existing_file_stays_until_the_capture_is_complete() {
    let directory = directory("whole");
    let file = directory.join("a.pcapng");
    fs::write(&file, "before").unwrap();
    let mut writer = CaptureWriter::create(&file, &setup()).unwrap();
    writer.push(record(Time::ZERO, data(0, 1000)));
    writer.settle(Time::NEVER).unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"before");
    drop(writer);
    assert_eq!(fs::read(&file).unwrap(), b"before");
    assert_eq!(names(&directory), ["a.pcapng"]);
    write(&file, &setup(), conversation()).unwrap();
    assert_eq!(read(&file).len(), conversation().len());
}

#[test]
fn a_path_that_is_not_writable_fails_at_once() {
    let directory = directory("unwritable");
    for path in [directory.join("missing").join("a.pcapng"), directory] {
        let error = CaptureWriter::create(&path, &setup()).unwrap_err();
        let CaptureError::Write { path: named, source } = error else { panic!("{error}") };
        assert_eq!(named, path);
        assert!(source.raw_os_error().is_some());
    }
}

#[test]
fn a_full_disk_is_an_error_and_leaves_nothing() {
    use std::os::unix::fs::FileTypeExt as _;
    let full = Path::new("/dev/full");
    let is_device = || fs::metadata(full).is_ok_and(|there| there.file_type().is_char_device());
    if !is_device() {
        return println!("skipped: /dev/full does not exist");
    }
    let many = (0..1000).map(|n| record(Time::from_ps(n), data(0, 1000))).collect();
    let error = write(full, &setup(), many).unwrap_err();
    assert!(
        matches!(error, CaptureError::Write { ref source, .. } if source.kind() == std::io::ErrorKind::StorageFull)
    );
    assert!(is_device(), "a device is written to, never replaced");
}

#[test]
fn a_packet_that_ip_cannot_carry_is_reported() {
    let file = directory("giant").join("a.pcapng");
    let error = write(&file, &setup(), vec![record(Time::ZERO + Span::from_secs(2), data(0, 65_500))]);
    assert_eq!(
        error.unwrap_err().to_string(),
        "a packet sent at 2 s cannot be captured: 65540 bytes are too long for an IP packet: the limit is 65535"
    );
}

/// The output of tshark, one line for each packet that passes the filter; `None` without tshark.
fn tshark(file: &Path, filter: &str, fields: &[&str]) -> Option<Vec<String>> {
    let mut command = Command::new("tshark");
    command.args(["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE", "-r"]).arg(file);
    command.args(["-Y", filter, "-T", "fields"]);
    for field in fields {
        command.args(["-e", field]);
    }
    let output = command.output().ok()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect())
}

#[test]
fn tshark_reads_accurate_ecn() {
    let file = directory("tshark-accurate-ecn").join("a.pcapng");
    let counters = ByteCounters { ect0: 1001, ce: 2000, ect1: 1 };
    let with = |order, len| Options::NONE.with_accurate_ecn(AccurateEcn::new(order, counters, len));
    let ack = |flags, options| Segment { flags: Flags::ACK | flags, options, ..data(0, 0) };
    let records = [
        ack(Flags::AE | Flags::ECE, Options::NONE),
        ack(Flags::CWR, with(Order::Ect0First, 3)),
        ack(Flags::AE, with(Order::Ect1First, 2)),
        ack(Flags::NONE, with(Order::Ect0First, 1)),
    ];
    let records = records.into_iter().map(|segment| record(Time::ZERO, segment)).collect();
    write(&file, &setup(), records).unwrap();
    let fields =
        ["tcp.flags", "tcp.options.acc_ecn.ee0b", "tcp.options.acc_ecn.eceb", "tcp.options.acc_ecn.ee1b"];
    let Some(read) = tshark(&file, "tcp", &fields) else {
        return println!("skipped: tshark is not installed (on Debian: apt-get install tshark)");
    };
    assert_eq!(read, ["0x0150\t\t\t", "0x0090\t1001\t2000\t1", "0x0110\t\t2000\t1", "0x0010\t1001\t\t"]);
    assert_eq!(
        tshark(&file, "_ws.malformed || tcp.checksum.status == \"Bad\"", &["frame.number"]).unwrap(),
        [""; 0]
    );
}

#[test]
fn tshark_reads_every_option_and_finds_every_checksum_right() {
    let file = directory("tshark").join("a.pcapng");
    let mut records = conversation();
    let damaged = Record { checksum: Checksum::Wrong, ..records[4].clone() };
    records.insert(5, Record { time: Time::ZERO + Span::from_ms(13), ..damaged });
    write(&file, &setup(), records).unwrap();
    let Some(wrong) = tshark(&file, "tcp.checksum.status == \"Bad\"", &["frame.number"]) else {
        return println!("skipped: tshark is not installed (on Debian: apt-get install tshark)");
    };
    assert_eq!(wrong, ["6"], "the damaged packet, and no other");
    let ask = |filter: &str, fields: &[&str]| tshark(&file, filter, fields).unwrap();
    assert_eq!(ask("ip.checksum.status == \"Bad\" || _ws.malformed", &["frame.number"]), [""; 0]);
    assert_eq!(
        ask(
            "tcp.flags.syn == 1",
            &["tcp.options.mss_val", "tcp.options.wscale.shift", "tcp.options.timestamp.tsval"]
        ),
        ["1460\t7\t1", "1460\t7\t9"]
    );
    assert_eq!(ask("tcp.options.sack_le", &["tcp.options.sack.count", "tcp.window_size"]), ["1\t64000"]);
    // Several experiments share kind 253.
    assert_eq!(ask("tcp.option_kind == 253", &["frame.number"]), ["8"]);
    assert_eq!(ask("frame.number == 1", &["frame.time_epoch", "frame.interface_name"]).len(), 1);
    let first = &ask("frame.number == 1", &["frame.time_epoch", "frame.interface_name"])[0];
    assert!(first.starts_with("946684800.000000000") && first.ends_with("line@client"), "{first}");
    assert_eq!(ask("tcp.analysis.retransmission || tcp.analysis.out_of_order", &["frame.number"]).len(), 2);
}
