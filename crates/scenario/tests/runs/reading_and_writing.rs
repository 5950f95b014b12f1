//! Applications and buffers: readers with a buffer and a pace of their own, and writes that find no room.

use netspurt_scenario::Scenario;
use netspurt_sim::World;
use netspurt_sim::record::probe::{End, Recorder, Sent, Wants};
use netspurt_sim::record::result::RunResult;
use netspurt_tcp::segment::Flags;
use netspurt_tcp::time::Time;

/// Two hosts and a link of 1 ms without limits. What `settings` say is put over it.
fn run(app: &str, settings: &[(&str, &str)]) -> RunResult {
    let text = format!(
        "duration = \"1000 s\"\n[tcp]\nprofile = \"newreno\"\nmss = \"1000 B\"\ntransmit = \"nodelay\"\n\
         acking = \"every-segment\"\ninitial_window = \"100 segments\"\n[link.l]\nbetween = [\"client\", \"server\"]\n\
         delay = \"1 ms\"\n[[flow]]\nfrom = \"client\"\nto = \"server\"\napp = {app}\n"
    );
    let spec = Scenario::parse(&text, "reading.toml", settings).unwrap().build("reading").unwrap();
    World::new(spec, 1, Some(Recorder::new(Wants::SEGMENTS))).unwrap().run(&|| false)
}

fn sent(result: &RunResult, end: End) -> Vec<Sent> {
    result.recording.segments.iter().copied().filter(|sent| sent.end == end).collect()
}

const MEGABYTE: &str = "{ kind = \"bulk\", bytes = \"1 MB\" }";

#[test]
fn a_transfer_takes_as_long_as_its_reader() {
    // 8 Mbit/s: a byte in a microsecond. The first byte is there after one and a half round trips; from then on the reader
    // always finds something, since reading a window takes longer than a round trip.
    for (window, buffer) in
        [("64 KiB", "1 KiB"), ("4000 B", "4000 B"), ("4000 B", "700 B"), ("64 KiB", "1 MiB")]
    {
        let settings = [
            ("tcp.receive_window", window),
            ("host.server.reader.buffer", buffer),
            ("host.server.reader.rate", "8 Mbit/s"),
        ];
        let flow = &run(MEGABYTE, &settings).flows[0];
        assert!(flow.completed && flow.bytes_delivered == 1_000_000);
        let took = flow.delivered_s.unwrap();
        assert!((took - 1.003).abs() < 1e-9, "{window} {buffer}: {took}");
    }
}

#[test]
fn what_a_reader_leaves_fills_the_window_and_no_more_is_sent() {
    let settings = [
        ("tcp.receive_window", "8000 B"),
        ("host.server.reader.buffer", "1000 B"),
        ("host.server.reader.rate", "80 kbit/s"),
    ];
    let result = run("{ kind = \"bulk\", bytes = \"20 kB\" }", &settings);
    let flow = &result.flows[0];
    // 10,000 bytes a second: two seconds of reading.
    assert!((flow.delivered_s.unwrap() - 2.003).abs() < 1e-9, "{:?}", flow.delivered_s);
    assert_eq!(flow.retransmitted, 0);
    // Until the reader has come to 2,000 bytes, a window of 8,000 and the 1,000 read at once are all that leaves.
    let early: u64 = sent(&result, End::Client)
        .iter()
        .filter(|sent| sent.time < Time::from_ps(90_000_000_000))
        .map(|sent| u64::from(sent.segment.payload.len))
        .sum();
    assert_eq!(early, 9000);
    // The window is closed, and opens again by two segments each time, as RFC 9293, section 3.8.6.2.2, has it.
    let windows: Vec<u16> = sent(&result, End::Server).iter().map(|sent| sent.segment.window).collect();
    assert!(windows.contains(&0) || windows.contains(&1000), "{windows:?}");
}

#[test]
fn a_reader_is_busy_for_itself_and_not_for_its_host() {
    let settings = [
        ("flow.0.count", "3"),
        ("tcp.receive_window", "64 KiB"),
        ("host.server.reader.buffer", "2 KiB"),
        ("host.server.reader.rate", "8 Mbit/s"),
    ];
    let result = run(MEGABYTE, &settings);
    for flow in &result.flows {
        assert!((flow.delivered_s.unwrap() - 1.003).abs() < 1e-9, "{:?}", flow.delivered_s);
    }
}

#[test]
fn an_answer_begins_when_the_question_has_been_read() {
    let app = "{ kind = \"request-response\", request = \"500 B\", response = \"300 B\", exchanges = 4 }";
    let slow = [("host.server.reader.rate", "8 Mbit/s"), ("host.client.reader.rate", "24 kbit/s")];
    let took = |settings: &[(&str, &str)]| run(app, settings).flows[0].end_s.unwrap();
    // 500 us for each question, 100 ms for each answer.
    assert!((took(&slow) - took(&[]) - 4.0 * 0.1005).abs() < 1e-9);
}

#[test]
fn a_reader_without_limits_changes_nothing() {
    let app = "{ kind = \"request-response\", request = \"500 B\", response = \"30 kB\", exchanges = 4 }";
    let times = |settings: &[(&str, &str)]| -> Vec<_> {
        let data =
            sent(&run(app, settings), End::Server).into_iter().filter(|sent| sent.segment.payload.len > 0);
        data.map(|sent| (sent.time, sent.segment.payload)).collect()
    };
    assert_eq!(
        times(&[]),
        times(&[("host.server.reader.buffer", "1 MiB"), ("host.client.reader.buffer", "1 MiB")])
    );
}

/// Lengths of the answer's segments, and which of them carry PSH. Of the 20,000 bytes that are written at once, 4,500 find
/// room.
fn answer(policy: &str, host: &[(&str, &str)]) -> Vec<(u32, bool)> {
    let app = "{ kind = \"request-response\", request = \"100 B\", \
               response = { size = \"20500 B\", writes = [\"500 B\"] } }";
    let settings = [&[("tcp.transmit", policy), ("tcp.send_buffer", "4500 B")], host].concat();
    let data =
        sent(&run(app, &settings), End::Server).into_iter().filter(|sent| sent.segment.payload.len > 0);
    data.map(|sent| (sent.segment.payload.len, sent.segment.flags.has(Flags::PSH))).collect()
}

#[test]
fn a_part_of_a_write_that_found_room_is_not_the_end_of_application_data() {
    for policy in ["nodelay", "doupnik", "doupnik-liberal", "nagle-strict"] {
        for host in
            [&[][..], &[("host.server.handover", "clusters")], &[("host.server.handover", "segments")]]
        {
            let segments = answer(policy, host);
            assert_eq!(segments.iter().map(|(len, _)| len).sum::<u32>(), 20_500);
            // The first write ends, and the last byte of the second.
            let pushed: Vec<usize> = (0..segments.len()).filter(|&at| segments[at].1).collect();
            assert_eq!(pushed, [0, segments.len() - 1], "{policy} {host:?}: {segments:?}");
        }
    }
}

#[test]
fn behind_a_segment_that_waits_linux_sends_nothing_before_its_write_is_over() {
    // 76 bytes wait for the 60 before them; they are filled up at once, and leave when the whole write has been copied.
    let app = "{ kind = \"request-response\", request = \"100 B\", \
               response = { size = \"3136 B\", writes = [\"60 B\", \"76 B\"] } }";
    let leave = |policy| -> Vec<(u64, u32)> {
        let settings = [
            ("tcp.transmit", policy),
            ("host.server.handover", "segments"),
            ("host.server.processor.byte_written", "1 us"),
            ("link.l.delay", "10 ms"),
        ];
        let data =
            sent(&run(app, &settings), End::Server).into_iter().filter(|sent| sent.segment.payload.len > 0);
        data.map(|sent| (sent.time.as_ps() / 1_000_000, sent.segment.payload.len)).collect()
    };
    // The request is there after 30 ms; the last 136 bytes wait for the ACK.
    assert_eq!(
        leave("linux22"),
        [(30_060, 60), (33_136, 1000), (33_136, 1000), (33_136, 1000), (53_136, 76)]
    );
    assert_eq!(
        leave("nodelay"),
        [(30_060, 60), (30_136, 76), (31_136, 1000), (32_136, 1000), (33_136, 1000)]
    );
}
