//! Memory of a host under load, and after it.

use netspurt_live::host::app::Source;
use netspurt_live::host::{Host, Limits, Mss, Settings, Wire};
use netspurt_live::tun::{Network, Offload, Shape};
use netspurt_tcp::codec::{Addresses, Body, Ip, Ports, Verify, decode_packet, encode_packet};
use netspurt_tcp::options::Layout;
use netspurt_tcp::profile;
use netspurt_tcp::segment::{Flags, Payload, Segment};
use netspurt_tcp::seq::Seq;
use netspurt_tcp::time::{Span, Time};
use std::collections::VecDeque;
use std::net::Ipv4Addr;
use std::process::Command;

const OURS: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 2);
const THEIRS: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const DOWNLOADS: u16 = 500;
const SIZE: u32 = 1 << 20;

/// Keeps what the host sends, without the payload.
struct Sent(VecDeque<(u16, Segment)>);

impl Wire for Sent {
    fn send(&mut self, _: &Shape, parts: &[&[u8]]) {
        let packet = parts.concat();
        let packet = decode_packet(&packet, Layout::SHARED, Verify::All).expect("a packet");
        self.0.push_back((packet.tcp.ports.destination, packet.tcp.segment));
    }

    fn offload(&self) -> Offload {
        Offload::Nothing
    }
}

/// Resident memory of this process in kilobytes.
fn memory() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = text.lines().find(|line| line.starts_with("VmRSS")).expect("Linux says it");
    line.split_whitespace().nth(1).and_then(|word| word.parse().ok()).expect("a number")
}

fn give(host: &mut Host, now: Time, from: u16, segment: &Segment, wire: &mut Sent) {
    let ip = Ip::new(Addresses::V4 { source: THEIRS, destination: OURS });
    let ports = Ports { source: from, destination: 19 };
    let mut bytes = Vec::new();
    let segment = Segment { payload: Payload::default(), ..*segment };
    encode_packet(&segment, ports, &ip, Layout::SHARED, Body::Bytes(&[]), &mut bytes).expect("a packet");
    host.arrive(now, &bytes, &Shape::default(), wire);
    host.pass(now);
    host.settle(now, wire);
    while host.poll_happening().is_some() {}
}

/// Downloads at once, each of which acknowledges what arrives a round trip later. Returns the
/// largest memory meanwhile.
fn download(host: &mut Host, start: Time) -> u64 {
    let mut wire = Sent(VecDeque::new());
    let mut now = start;
    let base = Segment { seq: Seq(1000), window: 65_535, ..Segment::default() };
    for n in 0..DOWNLOADS {
        let mut syn = Segment { flags: Flags::SYN, ..base };
        syn.options.mss = Some(1460);
        syn.options.window_scale = Some(7);
        give(host, now, 2000 + n, &syn, &mut wire);
    }
    let mut most = 0;
    while !wire.0.is_empty() {
        now += Span::from_ms(10);
        for (port, segment) in core::mem::take(&mut wire.0) {
            let ack = segment.seq.plus(segment.seq_len());
            let fin = segment.flags.has(Flags::FIN);
            let flags = if fin { Flags::ACK | Flags::FIN } else { Flags::ACK };
            if segment.seq_len() > 0 {
                give(host, now, port, &Segment { seq: Seq(1001), ack, flags, ..base }, &mut wire);
            }
        }
        most = most.max(memory());
    }
    // The connections are in TIME-WAIT, and return what they do not need.
    assert_eq!(host.counts(), [0, 0, usize::from(DOWNLOADS)]);
    host.pass(now + Span::from_secs(2));
    host.settle(now + Span::from_secs(2), &mut wire);
    assert_eq!(host.counts(), [0, 0, usize::from(DOWNLOADS)]);
    most
}

/// glibc gives each thread a heap whose end is not returned when memory is trimmed. The host works in the main thread, a test
/// does not. So the test runs itself with one heap for all threads.
const ONE_HEAP: &str = "MALLOC_ARENA_MAX";

#[test]
fn memory_returns_after_many_downloads() {
    if std::env::var_os(ONE_HEAP).is_none() {
        let program = std::env::current_exe().expect("the test program");
        let mut test = Command::new(program);
        test.args(["--exact", "memory_returns_after_many_downloads", "--show-output"]).env(ONE_HEAP, "1");
        let output = test.output().expect("the test runs itself");
        print!("{}", String::from_utf8_lossy(&output.stdout));
        assert!(output.status.success(), "see above");
        return;
    }
    let config = profile::by_name("linux").expect("a profile").config.clone();
    let networks = vec![Network { address: OURS.into(), bits: 24 }];
    let limits = Limits::default();
    let settings = Settings { networks, mtu: 1500, config, mss: Mss::OfDevice, limits, key: [9; 16] };
    let mut host = Host::new(settings).expect("valid");
    host.listen(19, Box::new(|_| Some(Box::new(Source::new(Some(u64::from(SIZE)))))));
    let before = memory();
    let most = download(&mut host, Time::ZERO);
    let after = memory();
    println!("{before} kB before, {most} kB at most, {after} kB after");
    assert!(most > before + 100_000, "{most} kB after {before}: the downloads are in memory at once");
    assert!(after < before + 20_000, "{after} kB after {before}");
}
