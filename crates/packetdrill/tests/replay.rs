//! Scripts for `netspurt-replay`: closed sockets, the cork of MSG_MORE, and timers that the kernel's segments steer.

use netspurt_packetdrill::replay;
use netspurt_tcp::codec::{Addresses, Body, Ip, Ports, encode_packet};
use netspurt_tcp::options::{Layout, Options, SackBlock, Timestamps};
use netspurt_tcp::segment::{Flags, Payload, Segment};
use netspurt_tcp::seq::Seq;
use std::fmt::Write as _;
use std::net::Ipv4Addr;

const PORTS: Ports = Ports { source: 5000, destination: 8080 };
/// Our initial sequence number, and the peer's.
const ISS: u32 = 1000;
const IRS: u32 = 5000;
const MSG_MORE: i32 = libc::MSG_MORE;

/// A script, at times in milliseconds.
struct Script(String);

/// A segment that has left: its flags, its relative sequence number, and the length of its data.
type Left = (u64, Flags, u32, usize);

impl Script {
    /// A connection that a peer with segments of 1000 bytes has opened at 100 ms, in a round trip of 100 ms.
    fn open(profile: &str, timing: &str) -> Self {
        let mut script = Self(format!("new {profile} - 4000000 {timing} {ISS} 0\n"));
        for call in ["socket", "listen 8080"] {
            writeln!(script.0, "call 0 {call}").unwrap();
        }
        let options = Options { mss: Some(1000), sack_permitted: true, ..Options::NONE };
        script.segment(0, Segment { seq: Seq(IRS), flags: Flags::SYN, options, ..Segment::default() });
        script.gets(100, Flags::ACK, 1, 1, 0).call(100, "accept")
    }

    fn segment(&mut self, ms: u64, segment: Segment) {
        self.announce(ms, 30_000, segment);
    }

    /// A segment with a window.
    fn announce(&mut self, ms: u64, window: u16, segment: Segment) {
        let (source, destination) = (Ipv4Addr::new(10, 9, 0, 2), Ipv4Addr::new(10, 9, 0, 1));
        let mut ip = Ip::new(Addresses::V4 { source, destination });
        ip.ecn = segment.ecn;
        let segment = Segment { window, ..segment };
        let (body, mut bytes) = (vec![0; segment.payload.len as usize], Vec::new());
        encode_packet(&segment, PORTS, &ip, Layout::SHARED, Body::Bytes(&body), &mut bytes).unwrap();
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        writeln!(self.0, "packet {} {hex}", ms * 1_000_000).unwrap();
    }

    /// The peer's segment; numbers relative to the initial ones.
    fn gets(mut self, ms: u64, flags: Flags, seq: u32, ack: u32, len: u32) -> Self {
        let payload = Payload { offset: u64::from(seq - 1), len };
        let (seq, ack) = (Seq(IRS + seq), Seq(ISS + ack));
        self.segment(ms, Segment { seq, ack, flags, payload, ..Segment::default() });
        self
    }

    /// The same without data, with a timestamp.
    fn stamped(mut self, ms: u64, flags: Flags, seq: u32, ack: u32, value: u32) -> Self {
        let options = Options { timestamps: Some(stamps(value)), ..Options::NONE };
        let (seq, ack) = (Seq(IRS + seq), Seq(ISS + ack));
        self.segment(ms, Segment { seq, ack, flags, options, ..Segment::default() });
        self
    }

    fn call(mut self, ms: u64, words: &str) -> Self {
        writeln!(self.0, "call {} {words}", ms * 1_000_000).unwrap();
        self
    }

    fn line(mut self, line: &str) -> Self {
        writeln!(self.0, "{line}").unwrap();
        self
    }

    /// What leaves from `ms` on, until `end`.
    fn left(self, ms: u64, end: u64) -> Vec<Left> {
        let text = self.output(end);
        let sent = text.lines().filter_map(|line| line.strip_prefix("sent ")).map(decode);
        sent.filter(|left| left.0 >= ms).collect()
    }

    /// The headers of all that leaves until `end`.
    fn sent(self, end: u64) -> Vec<Vec<u8>> {
        let sent = |line: &str| Some(bytes_of(line.strip_prefix("sent ")?.split_once(' ')?.1));
        self.output(end).lines().filter_map(sent).collect()
    }

    fn output(self, end: u64) -> String {
        let mut output = Vec::new();
        let script = format!("{}to {}\n", self.0, end * 1_000_000);
        replay(script.as_bytes(), &mut output).unwrap();
        String::from_utf8(output).unwrap()
    }
}

/// `T HEX`: the headers of an IPv4 packet without options.
fn decode(line: &str) -> Left {
    let (at, hex) = line.split_once(' ').unwrap();
    let bytes = bytes_of(hex);
    let seq = u32::from_be_bytes(bytes[24..28].try_into().unwrap());
    let total = usize::from(u16::from_be_bytes([bytes[2], bytes[3]]));
    let at = at.parse::<u64>().unwrap() / 1_000_000;
    (at, Flags(bytes[33].into()), seq.wrapping_sub(ISS), total - bytes.len())
}

/// Our end is closed at 200 ms, and the peer has acknowledged that: FIN-WAIT-2.
fn orphan() -> Script {
    Script::open("linux", "exact").call(200, "close").gets(300, Flags::ACK, 1, 2, 0)
}

#[test]
fn the_limit_of_answers_of_a_closed_socket_goes_on_behind_the_fin() {
    // tcp_timewait_state_process(): it is the same TIME-WAIT socket.
    let answered = |first| {
        let script = if first { orphan().stamped(400, Flags::ACK, 0, 2, 1) } else { orphan() };
        let script = script.gets(500, Flags::FIN | Flags::ACK, 1, 2, 0).stamped(600, Flags::ACK, 0, 2, 1);
        script.left(400, 700).iter().map(|left| left.0).collect::<Vec<u64>>()
    };
    assert_eq!((answered(true), answered(false)), (vec![400, 500], vec![500, 600]));
}

#[test]
fn a_closed_socket_in_fin_wait_2_keeps_its_window_when_the_fin_arrives() {
    // tw_rcv_wnd in tcp_time_wait(): the FIN would leave a byte less.
    let windows = |how| {
        let script = Script::open("linux", "exact").call(200, how).gets(300, Flags::ACK, 1, 2, 0);
        let script = script.gets(400, Flags::FIN | Flags::ACK, 1, 2, 0);
        script.sent(500).iter().map(|bytes| u16::from_be_bytes([bytes[34], bytes[35]])).collect::<Vec<_>>()
    };
    let (closed, shut) = (windows("close"), windows("shutdown 1"));
    assert_eq!((closed[1], closed[2]), (shut[1], shut[1]));
    assert_eq!(shut[2], shut[1] - 1);
}

#[test]
fn a_closed_socket_in_fin_wait_2_takes_only_a_fin_in_order() {
    // tcp_timewait_state_process()
    let (fin, rst) = (Flags::FIN | Flags::ACK, Flags::RST);
    let answers = |flags, seq, len| {
        let left = orphan().gets(400, flags, seq, 2, len).left(400, 500);
        left.iter().map(|left| left.1).collect::<Vec<Flags>>()
    };
    assert_eq!(answers(fin, 1, 0), [Flags::ACK], "TIME-WAIT");
    assert_eq!(answers(Flags::ACK, 1, 100), [rst], "new data");
    assert_eq!(answers(Flags::ACK, 201, 100), [rst], "also behind a gap");
    assert_eq!(answers(fin, 101, 0), [rst], "a FIN behind a gap");
    assert_eq!(answers(Flags::SYN | Flags::ACK, 101, 0), [rst]);
    assert_eq!(answers(Flags::SYN, 101, 0), [rst | Flags::ACK], "although another socket listens");
    assert_eq!(answers(Flags::ACK, 1, 0), []);
    assert_eq!(answers(Flags::ACK, 70_000, 0), [Flags::ACK], "outside the window");
}

#[test]
fn a_syn_with_a_new_number_opens_another_connection_in_time_wait_if_a_socket_listens() {
    // TCP_TW_SYN in tcp_v4_rcv()
    let waiting = || orphan().gets(350, Flags::FIN | Flags::ACK, 1, 2, 0);
    let answers = |seq| waiting().gets(400, Flags::SYN, seq, 0, 0).left(400, 450);
    assert_eq!(answers(900)[0].1, Flags::SYN | Flags::ACK);
    assert_eq!(answers(1)[0].1, Flags::ACK, "the number of the FIN");
}

#[test]
fn a_reset_anywhere_in_the_window_ends_a_closed_socket_in_fin_wait_2() {
    let script = orphan().gets(400, Flags::RST, 501, 0, 0);
    assert_eq!(script.gets(500, Flags::ACK, 1, 2, 0).left(400, 600)[0].1, Flags::RST, "no connection");
}

/// The headers of what leaves from `ms` on.
fn bytes(script: Script, ms: u64, end: u64) -> Vec<Vec<u8>> {
    let mut output = Vec::new();
    replay(format!("{}to {}\n", script.0, end * 1_000_000).as_bytes(), &mut output).unwrap();
    let text = String::from_utf8(output).unwrap();
    let sent = text.lines().filter_map(|line| line.strip_prefix("sent ")?.split_once(' '));
    let later = sent.filter(|(at, _)| at.parse::<u64>().unwrap() >= ms * 1_000_000);
    later.map(|(_, hex)| bytes_of(hex)).collect()
}

fn bytes_of(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2).map(|n| u8::from_str_radix(&hex[2 * n..2 * n + 2], 16).unwrap()).collect()
}

/// The lengths of the headers of what leaves from `ms` on.
fn headers(script: Script, ms: u64, end: u64) -> Vec<usize> {
    bytes(script, ms, end).iter().map(Vec::len).collect()
}

#[test]
fn the_socket_of_a_closed_one_answers_what_is_outside_its_window_without_reporting_it() {
    // tcp_timewait_state_process() knows no D-SACK, and answers a reset like any other segment.
    let closing = || {
        Script::open("linux", "exact")
            .gets(150, Flags::ACK, 1, 1, 100)
            .call(160, "read 1000")
            .call(200, "close")
    };
    let orphan = || closing().gets(300, Flags::ACK, 101, 2, 0);
    assert_eq!(headers(orphan().gets(400, Flags::ACK, 51, 2, 50), 400, 450), [40]);
    assert_eq!(headers(orphan().gets(400, Flags::RST, 90_000, 2, 0), 400, 450), [40]);
    // The segment that acknowledges the FIN is consumed with its old data (`tcp_rcv_state_process()`).
    assert_eq!(headers(closing().gets(300, Flags::ACK, 51, 2, 50), 300, 350), []);
}

/// Like [`orphan`], with timestamps: the last one of the peer is 20. A segment outside the window was answered just before.
fn stamped_orphan() -> Script {
    let mut script = Script(format!("new linux - 4000000 exact {ISS} 0\n"));
    for call in ["socket", "listen 8080"] {
        writeln!(script.0, "call 0 {call}").unwrap();
    }
    let options = Options { mss: Some(1000), timestamps: Some(stamps(10)), ..Options::NONE };
    script.segment(0, Segment { seq: Seq(IRS), flags: Flags::SYN, options, ..Segment::default() });
    let open = script.stamped(100, Flags::ACK, 1, 1, 15).call(100, "accept");
    open.call(200, "close").stamped(290, Flags::ACK, 90_000, 1, 16).stamped(300, Flags::ACK, 1, 2, 20)
}

fn stamps(value: u32) -> Timestamps {
    Timestamps { value, echo: 0 }
}

#[test]
fn a_closed_socket_in_fin_wait_2_answers_what_carries_an_old_timestamp() {
    // tcp_timewait_state_process(): also a reset, and data. The TIME-WAIT socket has answered nothing yet.
    let answers = |flags, len, value| {
        let mut script = stamped_orphan();
        let (seq, ack, payload) = (Seq(IRS + 1), Seq(ISS + 2), Payload { offset: 0, len });
        let options = Options { timestamps: Some(stamps(value)), ..Options::NONE };
        script.segment(310, Segment { seq, ack, flags, payload, options, ..Segment::default() });
        script.left(310, 400).iter().map(|left| left.1).collect::<Vec<Flags>>()
    };
    assert_eq!(answers(Flags::ACK, 0, 19), [Flags::ACK]);
    assert_eq!(answers(Flags::ACK, 0, 20), []);
    assert_eq!(answers(Flags::RST, 0, 19), [Flags::ACK]);
    assert_eq!(answers(Flags::ACK, 20, 19), [Flags::ACK]);
    assert_eq!(answers(Flags::ACK, 20, 20), [Flags::RST]);
}

#[test]
fn header_prediction_compares_the_length_of_the_header() {
    let mut script = Script::open("linux", "exact").call(200, &format!("write 100 {MSG_MORE}"));
    let mut options = Options::NONE;
    options.sack.push(SackBlock { left: Seq(ISS), right: Seq(ISS + 1) });
    let (seq, ack, payload) = (Seq(IRS + 1), Seq(ISS + 1), Payload { offset: 0, len: 50 });
    script.segment(210, Segment { seq, ack, flags: Flags::ACK, payload, options, ..Segment::default() });
    assert!(script.left(200, 250).iter().any(|left| left.3 == 100), "the cork has ended");
}

#[test]
fn the_cork_of_more_data_to_come_ends_when_linux_looks_for_data_to_send() {
    let corked = || Script::open("linux", "exact").call(200, &format!("write 100 {MSG_MORE}"));
    assert_eq!(corked().left(200, 250), []);
    // Header prediction takes data in order that acknowledges nothing.
    let data = |left: Vec<Left>| left.iter().filter(|left| left.3 > 0).count();
    assert_eq!(data(corked().gets(210, Flags::ACK, 1, 1, 50).left(200, 250)), 0);
    assert_eq!(data(corked().gets(210, Flags::ACK | Flags::FIN, 1, 1, 50).left(200, 250)), 1);
    assert_eq!(data(corked().gets(210, Flags::ACK, 101, 1, 50).left(200, 250)), 1, "behind a gap");
    // Linux refuses the segment before.
    assert_eq!(data(corked().gets(210, Flags::RST | Flags::ACK, 101, 1, 0).left(200, 250)), 0, "a challenge");
    assert_eq!(data(corked().gets(210, Flags::RST | Flags::ACK, 40_000, 1, 0).left(200, 250)), 0, "outside");
    assert_eq!(
        data(corked().gets(210, Flags::ACK, 1, 9000, 0).left(200, 250)),
        0,
        "an ACK of what was not sent"
    );
    // Header prediction takes an old ACK, whatever tcp_ack() says to it; not if the window is another.
    let old = |window| {
        let (seq, ack) = (Seq(IRS + 1), Seq(ISS));
        let mut script = corked();
        script.announce(210, window, Segment { seq, ack, flags: Flags::ACK, ..Segment::default() });
        data(script.left(200, 250))
    };
    assert_eq!([old(30_000), old(29_999)], [1, 0]);
    // There is no header prediction while a FIN is behind a gap.
    let opened = Script::open("linux", "exact").gets(150, Flags::ACK | Flags::FIN, 11, 1, 0);
    let behind = opened.call(200, &format!("write 100 {MSG_MORE}")).gets(210, Flags::ACK, 1, 0, 0);
    assert_eq!(data(behind.left(200, 250)), 0, "a FIN behind a gap");
    // The ACK of the data has left after 40 ms.
    let two = corked().gets(210, Flags::ACK, 1, 1, 50).gets(220, Flags::ACK, 51, 1, 50);
    assert_eq!(data(two.gets(300, Flags::ACK, 1, 1, 50).left(200, 350)), 0, "old data");
    // An answer to an earlier one came just before.
    let two = corked().gets(210, Flags::ACK, 90_000, 1, 0).gets(220, Flags::ACK, 90_000, 1, 0);
    assert_eq!(data(two.left(200, 250)), 0, "outside the window");
}

#[test]
fn an_overdue_timer_waits_for_the_kernel_as_long_as_when_it_was_set() {
    // Due at 400 ms, and waiting until 450 ms. A call in between changes nothing.
    let script = || Script::open("linux", "steered").call(200, "write 2000 0").call(430, "read 100");
    let probes = |end| script().line(&format!("to {end}000000")).left(210, end).len();
    assert_eq!([probes(445), probes(455)], [0, 1]);
    let script = || Script::open("linux", "steered-2").call(200, "write 2000 0").call(430, "read 100");
    let probes = |end| script().line(&format!("to {end}000000")).left(210, end).len();
    assert_eq!([probes(433), probes(443)], [0, 1], "three ticks sooner");
}

#[test]
fn a_retransmission_of_the_kernel_shows_that_its_timer_has_expired_and_new_data_that_pacing_sent_it() {
    // 2 and 3 of five segments are missing at 300 ms: the reordering timer is due a quarter of 100 ms later.
    let paced = |what| {
        let mut script = Script::open("bbr", "steered").call(200, "write 5000 0");
        let mut options = Options::NONE;
        options.sack.push(SackBlock { left: Seq(ISS + 3001), right: Seq(ISS + 5001) });
        let (seq, ack) = (Seq(IRS + 1), Seq(ISS + 1001));
        script.segment(300, Segment { seq, ack, flags: Flags::ACK, options, ..Segment::default() });
        let sent = 1 + 5 + 5;
        let script =
            script.call(323, "write 20000 0").line(&format!("emission 330000000 {} {what}", sent + 1));
        script.left(330, 330).iter().map(|left| left.2).collect::<Vec<u32>>()
    };
    assert_eq!(paced("again"), [1001]);
    assert_eq!(paced("new"), [10_001]);
}

#[test]
fn what_an_ack_permits_leaves_at_one_time() {
    // 3 is missing, and a recovery begins. 11 to 14 left at 300 ms. An ACK of 11 that reports 14 shows that 12 and 13, which have
    // waited as long as 11, are lost.
    let sacks = |left: u32, right: u32| {
        let mut options = Options::NONE;
        options.sack.push(SackBlock { left: Seq(ISS + left), right: Seq(ISS + right) });
        options
    };
    let mut script =
        Script::open("linux", "exact").call(200, "write 30000 0").gets(300, Flags::ACK, 1, 2001, 0);
    let mut ack = |ms, ack: u32, options| {
        let (seq, ack) = (Seq(IRS + 1), Seq(ISS + ack));
        script.segment(ms, Segment { seq, ack, flags: Flags::ACK, options, ..Segment::default() });
    };
    ack(301, 2001, sacks(3001, 6001));
    ack(400, 11_001, sacks(13_001, 14_001));
    assert_eq!(script.left(400, 401)[0].2, 11_001);
}

#[test]
fn a_timer_expires_with_that_of_the_kernel_up_to_a_tick_sooner_and_some_ticks_later() {
    // The tail loss probe is due at 400 ms, twice the RTT after the data.
    let script = || Script::open("linux", "steered").call(200, "write 2000 0");
    let probes = |script: Script, end| script.left(210, end).len();
    for (emission, sent) in [(395, 0), (397, 1)] {
        let script = script().line(&format!("emission {emission}000000 4 again"));
        assert_eq!(probes(script, emission), sent, "the kernel counts ticks: {emission}");
    }
    // Five ticks, two of them for TCP_TIMEOUT_MIN_US, and a seventh of 200 ms for the wheel of timers.
    assert_eq!([probes(script(), 445), probes(script(), 455)], [0, 1]);
}

#[test]
fn a_fin_behind_a_gap_aborts_a_closed_connection() {
    // tcp_rcv_state_process(): TCPABORTONDATA
    let closed = Script::open("linux", "exact").call(200, "close");
    let left = closed.gets(250, Flags::FIN | Flags::ACK, 11, 1, 0).left(240, 300);
    assert_eq!(left.iter().map(|left| left.1).collect::<Vec<Flags>>(), [Flags::RST]);
    let open = Script::open("linux", "exact").gets(250, Flags::FIN | Flags::ACK, 11, 1, 0).left(240, 300);
    assert_eq!(open[0].1, Flags::ACK);
}

/// The bytes of TCP_INFO after the script.
fn info(script: Script) -> Vec<u8> {
    let mut output = Vec::new();
    replay(format!("{}info\n", script.0).as_bytes(), &mut output).unwrap();
    let text = String::from_utf8(output).unwrap();
    let hex = text.lines().find_map(|line| line.strip_prefix("info ")).expect("a line");
    (0..hex.len() / 2).map(|n| u8::from_str_radix(&hex[2 * n..2 * n + 2], 16).unwrap()).collect()
}

#[test]
fn tcp_info_shows_a_closed_socket_in_time_wait_and_no_data_of_a_connection_that_was_reset() {
    let unacknowledged = |info: &[u8]| u32::from_ne_bytes(info[24..28].try_into().unwrap());
    // We close first, and the peer follows.
    let fin = Flags::FIN | Flags::ACK;
    let script = Script::open("linux", "exact").call(200, "shutdown 1").gets(300, fin, 1, 2, 0);
    assert_eq!(info(script)[0], 7, "TCP_CLOSE");
    let written = || Script::open("linux", "exact").call(200, "write 5000 0");
    assert_eq!(unacknowledged(&info(written())), 5);
    let reset = info(written().gets(300, Flags::RST, 1, 0, 0));
    assert_eq!((reset[0], unacknowledged(&reset)), (7, 0));
}

#[test]
fn tcp_info_shows_last_ack_before_the_fin_leaves() {
    // tcp_close_state(). Data fills cwnd, so the FIN waits behind other data.
    let written = |end| Script::open("linux", "exact").call(200, "write 20000 0").gets(250, end, 1, 1, 0);
    let state = |script: Script| info(script)[0];
    let fin = Flags::FIN | Flags::ACK;
    assert_eq!(state(written(fin)), 8, "CLOSE-WAIT");
    assert_eq!(state(written(fin).call(260, "shutdown 1")), 9, "LAST-ACK");
    assert_eq!(state(written(Flags::ACK).call(260, "shutdown 1")), 4, "FIN-WAIT-1");
}

#[test]
fn tcp_info_counts_window_probes_apart_from_retransmissions() {
    // tcp_send_probe0(): `icsk_probes_out`, and a timeout without backoff.
    let stalled = |end, answered| {
        let mut script = Script::open("linux", "exact").call(200, "write 20000 0");
        let (seq, ack) = (Seq(IRS + 1), Seq(ISS + 10_001));
        let closed = Segment { seq, ack, flags: Flags::ACK, ..Segment::default() };
        script.announce(300, 0, closed);
        if let Some(at) = answered {
            script.announce(at, 0, closed);
        }
        let info = info(script.line(&format!("to {}", end * 1_000_000)));
        let timeout = u32::from_ne_bytes(info[8..12].try_into().unwrap());
        ([info[2], info[3], info[4]], timeout)
    };
    let (counts, timeout) = stalled(310, None);
    assert_eq!(counts, [0; 3]);
    // Timeouts of 300 ms and of 600 ms.
    assert_eq!(stalled(1300, None), ([0, 2, 2], timeout), "no retransmission, two probes, backed off twice");
    assert_eq!(stalled(1300, Some(1290)), ([0, 0, 2], timeout), "the peer has answered");
}

#[test]
fn tcp_info_keeps_the_timeout_that_a_retransmission_has_doubled_while_the_window_is_closed() {
    // tcp_ack_update_rtt(): only an RTT sample ends the backoff.
    let timeout = |again: bool| {
        let mut script = Script::open("linux", "exact").call(200, "write 1000 0");
        let flags = Flags::ACK;
        let closed = Segment { seq: Seq(IRS + 1), ack: Seq(ISS + 1001), flags, ..Segment::default() };
        script.announce(if again { 1500 } else { 300 }, 0, closed);
        let info = info(script.call(1510, "write 1000 0").line("to 1520000000"));
        (u32::from_ne_bytes(info[8..12].try_into().unwrap()), info[4])
    };
    let (first, again) = (timeout(false), timeout(true));
    assert!(first.1 == 0 && again.1 > 0);
    assert!(again.0 > first.0 * 3 / 2, "{first:?} {again:?}");
}

#[test]
fn tcp_info_counts_no_probe_as_lost_when_new_data_follows_it() {
    // tcp_send_loss_probe()
    let probed = || Script::open("linux", "exact").call(200, "write 1000 0").line("to 650000000");
    for script in [probed(), probed().call(660, "write 100 0")] {
        let info = info(script);
        assert_eq!(info[32..40], [0; 8], "lost, retrans");
        assert_eq!(info[100], 1, "total_retrans");
    }
}

#[test]
fn tcp_info_reports_disorder_only_if_duplicate_acks_report_something() {
    // One segment is outstanding: it cannot be among those that a duplicate ACK without SACK reports.
    let script = Script::open("linux", "exact").call(200, "write 1000 0").gets(300, Flags::ACK, 1, 1, 0);
    assert_eq!(info(script)[1], 0, "TCP_CA_Open");
}

#[test]
fn after_a_reset_tcp_info_keeps_the_state_of_the_recovery() {
    // tcp_write_queue_purge() frees the queue alone. No ACK arrives before the timeout.
    let script = Script::open("linux", "exact").call(200, "write 8000 0").line("to 900000000");
    let unacknowledged = |info: &[u8]| u32::from_ne_bytes(info[24..28].try_into().unwrap());
    let before = info(Script(script.0.clone()));
    assert_eq!((before[1], unacknowledged(&before)), (4, 8), "TCP_CA_Loss");
    let after = info(script.gets(910, Flags::RST, 1, 0, 0));
    assert_eq!((after[0], after[1], unacknowledged(&after)), (7, 4, 0));
    assert_eq!(after[28..40], before[28..40], "sacked, lost, retrans");
}

#[test]
fn a_reset_in_close_wait_breaks_the_pipe() {
    let fin = Flags::FIN | Flags::ACK;
    let write = |script: Script| {
        let mut output = Vec::new();
        replay(script.call(400, "write 100 0").0.as_bytes(), &mut output).unwrap();
        let text = String::from_utf8(output).unwrap();
        let result = text.lines().rfind(|line| line.contains(" write ")).expect("a result");
        result.rsplit(' ').next().unwrap().parse::<i32>().unwrap()
    };
    let open = || Script::open("linux", "exact");
    let reset = |script: Script, seq| write(script.gets(300, Flags::RST, seq, 0, 0));
    assert_eq!(reset(open().gets(200, fin, 1, 1, 0), 2), -libc::EPIPE);
    assert_eq!(reset(open(), 1), -libc::ECONNRESET);
}

/// A server of profile `linux` has accepted a connection that uses ECN.
fn accepted_with_ecn() -> Script {
    let mut script = Script(format!("new linux - 4000000 exact {ISS} 0\n"));
    for call in ["socket", "listen 8080"] {
        writeln!(script.0, "call 0 {call}").unwrap();
    }
    let options = Options { mss: Some(1000), ..Options::NONE };
    let flags = Flags::SYN | Flags::ECE | Flags::CWR;
    script.segment(0, Segment { seq: Seq(IRS), flags, options, ..Segment::default() });
    script.gets(100, Flags::ACK, 1, 1, 0).call(100, "accept")
}

#[test]
fn a_time_wait_socket_echoes_no_mark() {
    // tcp_v4_timewait_ack(). The second ACK of a FIN is that of the TIME-WAIT socket, and of an orphan the first one.
    let mut script = accepted_with_ecn();
    let (seq, ack, payload) = (Seq(IRS + 1), Seq(ISS + 1), Payload { offset: 0, len: 1000 });
    let ecn = netspurt_tcp::segment::Ecn::Ce;
    script.segment(150, Segment { seq, ack, flags: Flags::ACK, payload, ecn, ..Segment::default() });
    let fin = Flags::FIN | Flags::ACK;
    let read = script.call(160, "read 100000");
    let answers = |script: Script| {
        let left = script.gets(350, fin, 1001, 2, 0).gets(1350, fin, 1001, 2, 0).left(340, 1400);
        left.iter().map(|left| left.1.has(Flags::ECE)).collect::<Vec<_>>()
    };
    let closed = |how| Script(read.0.clone()).call(200, how).gets(300, Flags::ACK, 1001, 2, 0);
    assert_eq!(answers(closed("shutdown 1")), [true, false]);
    assert_eq!(answers(closed("close")), [false, false]);
}

#[test]
fn a_closed_socket_acknowledges_the_fin_with_the_codepoint_of_its_last_segment() {
    // tw_tos, but not for what is outside the window (TCP_TW_ACK_OOW in tcp_v4_timewait_ack())
    let codepoints = |written: u32, outside: bool| {
        let script = accepted_with_ecn().call(200, &format!("write {written} 0")).call(210, "close");
        let script = script.gets(300, Flags::ACK, 1, 2001, 0).gets(400, Flags::ACK, 1, written + 2, 0);
        let (flags, seq) = if outside { (Flags::ACK, 70_000) } else { (Flags::FIN | Flags::ACK, 1) };
        let script = script.gets(500, flags, seq, written + 2, 0);
        bytes(script, 500, 600).iter().map(|packet| packet[1] & 3).collect::<Vec<u8>>()
    };
    assert_eq!(codepoints(11_000, false), [2], "the FIN left with data");
    assert_eq!(codepoints(2000, false), [0], "the FIN left alone");
    assert_eq!(codepoints(11_000, true), [0], "outside the window");
}

#[test]
fn only_a_write_sets_psh() {
    // __tcp_sock_set_cork(), __tcp_sock_set_nodelay()
    let corked = || Script::open("linux", "exact").call(200, &format!("write 100 {MSG_MORE}"));
    for option in ["6 1 1", "6 3 0"] {
        let left = corked().call(210, &format!("option {option}")).left(200, 250);
        assert_eq!(left, [(210, Flags::ACK, 1, 100)], "option {option}");
    }
    // The segment that has left is sent again as it was.
    let full = Script::open("linux", "exact").call(200, &format!("write 1000 {MSG_MORE}"));
    let again = full.call(210, "option 6 3 0").left(400, 650);
    assert_eq!(again.iter().map(|left| left.1).collect::<Vec<_>>(), [Flags::ACK]);
}

#[test]
fn nagles_rule_holds_back_what_a_cork_has_held_unless_nodelay_is_on() {
    // __tcp_sock_set_cork(): a short segment is outstanding.
    let uncorked = |nodelay| {
        let script = Script::open("linux", "exact").call(150, &format!("option 6 1 {nodelay}"));
        let script = script.call(200, "write 1100 0").call(210, "option 6 3 1").call(220, "write 50 0");
        script.call(230, "option 6 3 0").left(205, 250)
    };
    assert_eq!(uncorked(0), []);
    assert_eq!(uncorked(1), [(230, Flags::PSH | Flags::ACK, 1101, 50)]);
}

#[test]
fn the_timer_of_pacing_ends_the_cork_of_more_data_to_come() {
    // tcp_write_xmit() looks at pacing first, and tcp_tsq_write() for data to send.
    let sends_rest = |profile| {
        let script = Script::open(profile, "exact").call(200, "write 10000 0");
        let script = script.gets(300, Flags::ACK, 1, 10_001, 0).call(310, &format!("write 3100 {MSG_MORE}"));
        script.left(310, 350).iter().any(|left| left.3 == 100)
    };
    assert_eq!(["bbr", "linux"].map(sends_rest), [true, false]);
}

#[test]
fn a_bare_ack_of_the_kernel_is_the_delayed_one_not_the_answer_of_another_timer() {
    // The tail loss probe is due at 400 ms, the delayed ACK at 401 ms.
    let left = |what| {
        let script = Script::open("linux", "steered").gets(190, Flags::ACK, 1, 1, 100);
        let script = script.call(200, "write 2000 0").gets(361, Flags::ACK, 101, 1, 100);
        script.line(&format!("emission 398500000 5 {what}")).left(361, 399)
    };
    let lengths = |what| left(what).iter().map(|left| (left.0, left.3)).collect::<Vec<_>>();
    assert_eq!(lengths("ack"), [(398, 0)]);
    assert_eq!(lengths("again"), [(398, 1000)]);
}

#[test]
fn the_end_of_the_peers_stream_is_read_before_an_error() {
    // tcp_recvmsg_locked()
    let fin = Flags::FIN | Flags::ACK;
    let script = Script::open("linux", "exact").gets(200, fin, 1, 1, 0).gets(300, Flags::RST, 2, 0, 0);
    let mut output = Vec::new();
    replay(script.call(400, "read 100").0.as_bytes(), &mut output).unwrap();
    assert!(String::from_utf8(output).unwrap().ends_with("read 0\n"));
}

/// What a script answers in lines of a kind.
fn answers(script: Script, end: u64, kind: &str) -> Vec<String> {
    let mut output = Vec::new();
    replay(format!("{}to {}\ninfo\n", script.0, end * 1_000_000).as_bytes(), &mut output).unwrap();
    let text = String::from_utf8(output).unwrap();
    text.lines().filter_map(|line| line.strip_prefix(kind)).map(str::to_owned).collect()
}

#[test]
fn data_that_the_queue_refuses_is_tried_every_half_second_until_the_user_timeout() {
    // tcp_check_probe_timer(), tcp_send_probe0(): first after a timeout, of 300 ms here. tcp_probe_timer() counts from then.
    let refused = || {
        let option = format!("option {} {} 1200", libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT);
        Script::open("linux", "exact").call(200, &option).line("queue refusing").call(1000, "write 10 0")
    };
    assert_eq!(refused().left(200, 2400), []);
    let taken = refused().line("to 1900000000").line("queue default");
    assert_eq!(
        taken.left(200, 3000).first(),
        Some(&(2300, Flags::ACK | Flags::PSH, 1, 10)),
        "at the next attempt"
    );
    // The fourth byte of TCP_INFO is the number of probes.
    let at_end = |end, kind| answers(refused().call(end, "write 10 0"), end, kind);
    assert_eq!(at_end(2400, "info ")[0][6..8], *"03");
    assert!(at_end(2400, "result ").last().unwrap().ends_with("write 10"));
    assert!(at_end(2600, "result ").last().unwrap().ends_with(&format!("write -{}", libc::ETIMEDOUT)));
}

#[test]
fn a_retransmission_that_the_queue_refuses_is_not_sent() {
    // tcp_retransmit_skb(), tcp_retransmit_timer(): after the timeout, at 700 ms behind a probe, it is tried every 500 ms.
    let lost = || Script::open("linux", "exact").call(200, "write 3000 0").line("queue refusing");
    assert_eq!(lost().left(201, 3000), []);
    let later = lost().line("to 2900000000").line("queue default").left(201, 6000);
    assert_eq!(later.first().map(|left| (left.0, left.2)), Some((3200, 1)));
}

#[test]
fn the_receive_buffer_of_a_script_takes_the_place_of_the_profile() {
    // The window scale of the SYN-ACK is that of the buffer: 6 MiB instead of 32 MiB.
    let scale = |buffer: &str| {
        let mut script = Script(format!("new linux - 4000000 exact {ISS} 0{buffer}\n"));
        for call in ["socket", "listen 8080"] {
            writeln!(script.0, "call 0 {call}").unwrap();
        }
        let options = Options { mss: Some(1000), window_scale: Some(2), ..Options::NONE };
        script.segment(0, Segment { seq: Seq(IRS), flags: Flags::SYN, options, ..Segment::default() });
        let mut output = Vec::new();
        replay(format!("{}to 1000000\n", script.0).as_bytes(), &mut output).unwrap();
        String::from_utf8(output).unwrap().trim_end().chars().next_back()
    };
    assert_eq!((scale(""), scale(" 6291456")), (Some('a'), Some('7')));
}
