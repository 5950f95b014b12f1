//! Analysis of segments, as scripts at explicit times. The client sends, the server is 30 ms away, and the capture
//! point is 10 ms from the client.

mod support;

use netspurt_tcp::options::Options;
use netspurt_tcp::segment::{Flags, Segment};
use netspurt_tcp::seq::Seq;
use netspurt_tcp::time::Span;
use netspurt_trace::capture::CaptureReader;
use netspurt_trace::follow::{
    Cause, Closing, ConnectionId, ConnectionReport, Event, Limits, Method, Opening, Watch, follow,
};
use std::path::Path;
use support::{CLIENT_ISN, Order, SERVER_ISN, Script, V4, V6, pcap, read, sack, stamps};

const NONE: Options = Options::NONE;

fn opened() -> Script {
    let mut script = Script::new(V4);
    script.open(NONE);
    script
}

/// Five segments of 100 bytes, 1 ms apart, from 100 ms on; those in `but` are not captured.
fn five(script: &mut Script, but: &[u32]) {
    for n in (0..5).filter(|n| !but.contains(n)) {
        script.at(100 + u64::from(n)).data(100 * n, 100);
    }
}

#[test]
fn karns_rule_takes_no_sample_from_retransmitted_data() {
    let mut script = opened();
    script.at(100).data(0, 100).at(400).data(0, 100).at(430).ack(false, 100, NONE);
    script.at(500).data(100, 100).at(531).ack(false, 200, NONE);
    let told = script.told();
    assert_eq!(told.times(Method::Karn), [31_000]);
    assert_eq!(told.happened(), [("retransmitted", "timeout", 0)]);
}

#[test]
fn an_ack_that_waited_for_a_retransmission_is_no_sample() {
    let mut script = opened();
    five(&mut script, &[]);
    for n in 1..5 {
        script.at(130 + n).ack(false, 0, NONE);
    }
    script.at(144).data(0, 100).at(174).ack(false, 500, NONE);
    let told = script.told();
    assert_eq!(told.times(Method::Karn), []);
    assert_eq!(told.happened(), [("retransmitted", "fast", 0)]);
    assert_eq!(told.report().streams[0].duplicate_acks, 4);
    assert_eq!(told.report().streams[0].acknowledged, 500);
}

#[test]
fn timestamps_identify_the_acknowledged_transmission() {
    let mut script = opened();
    script.at(100).stamped(0, 100, stamps(100, 1)).at(400).stamped(0, 100, stamps(400, 1));
    script.at(430).ack(false, 100, stamps(9, 400));
    let told = script.told();
    assert_eq!((told.times(Method::Karn), told.times(Method::Timestamps)), (vec![], vec![30_000]));
    assert_eq!(told.happened(), [("retransmitted", "timeout", 0)]);
}

#[test]
fn an_echo_of_the_first_transmission_proves_the_second_spurious() {
    let mut script = opened();
    script.at(100).stamped(0, 100, stamps(100, 1)).at(400).stamped(0, 100, stamps(400, 1));
    script.at(420).ack(false, 100, stamps(9, 100));
    let told = script.told();
    assert_eq!(told.times(Method::Timestamps), [320_000]);
    assert_eq!(told.happened(), [("retransmitted", "timeout", 0), ("spurious", "timestamps", 0)]);
    assert_eq!(told.report().streams[0].spurious, 1);
}

#[test]
fn a_d_sack_proves_it_once() {
    let mut script = opened();
    script.at(100).data(0, 100).at(400).data(0, 100);
    script.at(410).ack(false, 100, NONE).at(430).ack(false, 100, sack(&[(0, 100)]));
    script.at(431).ack(false, 100, sack(&[(0, 100)]));
    let told = script.told();
    assert_eq!(told.happened(), [("retransmitted", "timeout", 0), ("spurious", "d-sack", 0)]);
}

#[test]
fn a_retransmission_after_its_acknowledgment_is_spurious() {
    let mut script = opened();
    script.at(100).data(0, 100).at(130).ack(false, 100, NONE).at(400).data(0, 100);
    let told = script.told();
    assert_eq!(told.happened(), [("retransmitted", "timeout", 0), ("spurious", "acknowledged", 0)]);
}

#[test]
fn segments_sent_again_behind_a_repaired_hole_are_spurious_if_they_cannot_have_caused_the_ack() {
    let mut script = opened();
    for n in 0..5 {
        script.at(100 + u64::from(n)).stamped(100 * n, 100, stamps(100 + n, 1));
    }
    // A timeout: everything is sent again. The first was lost, and the ACK of its repair covers the others.
    for (n, at) in [500, 501, 515].into_iter().enumerate() {
        script.at(at).stamped(100 * n as u32, 100, stamps(at as u32, 1));
    }
    script.at(530).ack(false, 500, stamps(9, 500));
    let told = script.told();
    assert_eq!(
        told.happened(),
        [
            ("retransmitted", "timeout", 0),
            ("retransmitted", "timeout", 100),
            ("retransmitted", "timeout", 200),
            ("spurious", "order", 100),
            ("spurious", "order", 200)
        ]
    );
}

#[test]
fn two_sack_reports_of_three_segments_are_a_loss_report() {
    let mut script = opened();
    five(&mut script, &[]);
    script.at(131).ack(false, 100, sack(&[(200, 300)])).at(132).ack(false, 100, sack(&[(200, 500)]));
    script.at(142).data(100, 100);
    script.at(172).ack(false, 500, NONE);
    assert_eq!(script.told().happened(), [("retransmitted", "fast", 100)]);
}

#[test]
fn the_last_segment_after_a_silence_is_a_tail_loss_probe() {
    let mut script = opened();
    five(&mut script, &[]);
    script.at(184).data(400, 100).at(214).ack(false, 300, sack(&[(400, 500)])).at(600).data(300, 100);
    let told = script.told();
    assert_eq!(told.happened(), [("retransmitted", "tail-probe", 400), ("retransmitted", "timeout", 300)]);
}

#[test]
fn retransmissions_of_data_outstanding_at_a_timeout_have_its_cause() {
    let mut script = opened();
    five(&mut script, &[]);
    script.at(500).data(0, 100).at(530).ack(false, 100, NONE).at(540).data(100, 100).data(200, 100);
    script.at(570).ack(false, 500, NONE).at(580).data(500, 100).data(600, 100).data(700, 100).data(800, 100);
    for n in 1..4 {
        script.at(610 + n).ack(false, 500, NONE);
    }
    script.at(623).data(500, 100);
    let causes: Vec<_> = script.told().happened().iter().map(|&(_, cause, start)| (cause, start)).collect();
    assert_eq!(causes, [("timeout", 0), ("timeout", 100), ("timeout", 200), ("fast", 500)]);
}

/// The first retransmission looks like new data, because its original and all that followed were lost before the capture.
#[test]
fn a_single_segment_after_a_silence_and_data_far_ahead_show_a_timeout() {
    let causes = |silent_until: u64| {
        let mut script = opened();
        let at = |ms: u64| stamps(ms as u32, 1);
        script.at(100).stamped(0, 100, at(100)).at(130).ack(false, 100, NONE);
        let [then, next, last] = [0, 40, 80].map(|later| silent_until + later);
        script.at(then).stamped(100, 100, at(then)).at(then + 30).ack(false, 200, NONE);
        script.at(next).stamped(900, 100, at(next)).stamped(1000, 100, at(next));
        script.at(next + 30).ack(false, 200, sack(&[(900, 1100)]));
        script.at(last).stamped(200, 100, at(last));
        script.told().happened()
    };
    assert_eq!(causes(500), [("retransmitted", "timeout", 200)]);
    assert_eq!(causes(140), [("retransmitted", "fast", 200)], "no timer is so short");
}

#[test]
fn a_sender_that_knows_its_timeout_to_be_needless_repairs_what_is_reported() {
    let causes = |echo: u32| {
        let mut script = opened();
        for n in 0..5 {
            script.at(100 + u64::from(n)).stamped(100 * n, 100, stamps(100 + n, 1));
        }
        script.at(400).stamped(0, 100, stamps(400, 1)).at(420).ack(false, 100, stamps(9, echo));
        script.at(425).ack(false, 100, sack(&[(200, 500)])).at(435).stamped(100, 100, stamps(435, 9));
        script.told().happened().last().copied()
    };
    assert_eq!(causes(100), Some(("retransmitted", "fast", 100)));
    assert_eq!(causes(400), Some(("retransmitted", "timeout", 100)));
}

/// After a timeout and its ACK, `new` segments of new data, and three ACKs that report them; the ACK `reports` something too.
fn cause_after_new_data(reports: &[(u32, u32)], new: u32) -> Option<(&'static str, &'static str, i64)> {
    let mut script = opened();
    five(&mut script, &[]);
    script.at(400).data(0, 100).at(430).ack(false, 300, sack(reports));
    for n in 0..new {
        script.at(440 + u64::from(n)).data(500 + 100 * n, 100);
    }
    for time in [470, 471, 472] {
        script.at(time).ack(false, 300, sack(&[(500, 500 + 100 * new)]));
    }
    script.at(480).data(300, 100);
    script.told().happened().last().copied()
}

/// The ACK of the needless retransmission reports a copy, because earlier ACKs were lost.
#[test]
fn a_reported_copy_shows_a_sender_that_its_timeout_was_needless() {
    assert_eq!(cause_after_new_data(&[(0, 100)], 2), Some(("retransmitted", "fast", 300)));
    assert_eq!(cause_after_new_data(&[], 2), Some(("retransmitted", "timeout", 300)));
}

#[test]
fn new_data_before_what_is_missing_shows_that_the_timeout_was_taken_back() {
    assert_eq!(cause_after_new_data(&[], 3), Some(("retransmitted", "fast", 300)));
}

/// The network delayed the first transmission, and both come.
#[test]
fn a_segment_that_was_reported_lost_is_retransmitted_although_its_original_has_come() {
    let mut script = opened();
    five(&mut script, &[1]);
    for n in 1..4 {
        script.at(130 + n).ack(false, 100, NONE);
    }
    script.at(133).data(100, 100).at(134).ack(false, 100, NONE).at(144).data(100, 100);
    assert_eq!(script.told().happened(), [("reordered", "", 100), ("retransmitted", "fast", 100)]);
}

#[test]
fn one_report_and_a_quarter_of_a_round_trip_are_enough_for_rack() {
    let happened = |ms: u64| {
        let mut script = opened();
        script.at(100).data(0, 100).at(130).ack(false, 100, NONE);
        script.at(200).data(200, 100).at(230).ack(false, 100, sack(&[(200, 300)]));
        script.at(ms).data(100, 100);
        script.told().happened().last().copied()
    };
    assert_eq!(happened(250), Some(("retransmitted", "fast", 100)));
    assert_eq!(happened(241), Some(("reordered", "", 100)), "no round trip later");
}

#[test]
fn a_reordered_segment_is_no_retransmission() {
    let mut script = opened();
    five(&mut script, &[1]);
    script.at(106).data(100, 100);
    let told = script.told();
    assert_eq!(told.happened(), [("reordered", "", 100)]);
    let Event::Reordered { extent, late } = told.events[0].1.event else { panic!() };
    assert_eq!((extent, late), (3, Span::from_ms(4)));
    let stream = &told.report().streams[0];
    assert_eq!((stream.reordered, stream.reordering_extent, stream.retransmissions()), (1, 3, 0));
}

#[test]
fn a_segment_in_a_gap_is_a_retransmission_if_the_sender_had_cause_and_time() {
    let mut script = opened();
    five(&mut script, &[1]);
    for n in 1..5 {
        script.at(130 + n).ack(false, 100, NONE);
    }
    script.at(144).data(100, 100).at(174).ack(false, 500, NONE);
    let told = script.told();
    assert_eq!(told.happened(), [("retransmitted", "fast", 100)]);
    assert_eq!(told.times(Method::Karn), [31_000], "of the first segment alone");
}

#[test]
fn an_original_that_arrives_after_its_retransmission_is_no_retransmission() {
    for (value, expected) in [(100, vec!["reordered", "spurious"]), (400, vec!["retransmitted"])] {
        let mut script = opened();
        script.at(400).stamped(0, 100, stamps(350, 1));
        script.at(401).stamped(0, 100, stamps(value, 1));
        let told = script.told();
        let names: Vec<&str> = told.happened().iter().map(|event| event.0).collect();
        assert_eq!(names, expected, "sent at {value}");
    }
}

#[test]
fn the_senders_timestamps_distinguish_late_segments_from_retransmissions() {
    for (value, expected) in [(100, "reordered"), (144, "retransmitted")] {
        let mut script = opened();
        for n in [0, 2, 3, 4] {
            script.at(100 + u64::from(n)).stamped(100 * n, 100, stamps(100 + n, 1));
        }
        for n in 2..5 {
            script.at(130 + n).ack(false, 100, stamps(9, 100));
        }
        script.at(144).stamped(100, 100, stamps(value, 1));
        assert_eq!(script.told().happened()[0].0, expected);
    }
}

#[test]
fn a_copy_that_arrives_too_soon_was_made_by_the_network() {
    let mut script = opened();
    script.at(100).data(0, 100).at(101).data(0, 100).at(130).ack(false, 100, NONE);
    let told = script.told();
    assert_eq!(told.happened(), [("duplicated", "", 0)]);
    assert_eq!(told.times(Method::Karn), [30_000], "its sender sent it once");
}

#[test]
fn probes_of_a_closed_window_and_keep_alives_are_no_retransmissions() {
    let mut script = opened();
    script.at(100).data(0, 100).at(130).window(false, 100, 0, NONE);
    script.at(600).data(100, 1).at(630).window(false, 100, 0, NONE);
    script.at(1600).data(100, 1).at(1630).window(false, 101, 9000, NONE);
    script.at(1640).data(101, 99).at(1670).window(false, 200, 9000, NONE);
    script.at(9000).data(199, 1).at(9030).window(false, 200, 9000, NONE);
    script.at(19_000).data(199, 0).at(19_030).window(false, 200, 9000, NONE);
    let told = script.told();
    let names: Vec<_> = told.happened().iter().map(|&(name, _, start)| (name, start)).collect();
    assert_eq!(
        names,
        [
            ("zero-window", 100),
            ("window-probe", 100),
            ("window-probe", 100),
            ("keep-alive", 199),
            ("keep-alive", 199)
        ]
    );
    let stream = &told.report().streams[0];
    assert_eq!((stream.zero_windows, stream.window_probes, stream.keep_alives), (1, 2, 2));
    assert_eq!((stream.retransmissions(), stream.acknowledged), (0, 200));
}

#[test]
fn acknowledged_data_that_was_not_captured_is_counted_and_prevents_a_sample() {
    let mut script = opened();
    five(&mut script, &[1, 4]);
    script.at(134).ack(false, 500, NONE);
    let told = script.told();
    assert_eq!(told.happened(), [("unseen", "", 100), ("unseen", "", 400)]);
    assert_eq!(told.times(Method::Karn), []);
    assert_eq!(told.report().streams[0].unseen_bytes, 200);
}

#[test]
fn an_ack_of_part_of_a_long_segment_measures_that_part() {
    let mut script = opened();
    script.at(100).data(0, 5000).at(130).ack(false, 1448, NONE).at(131).ack(false, 5000, NONE);
    assert_eq!(script.told().times(Method::Karn), [30_000, 31_000]);
}

#[test]
fn a_retransmitted_part_of_a_long_segment_prevents_samples_of_that_part_only() {
    let mut script = opened();
    script.at(100).data(0, 5000).at(130).ack(false, 1000, NONE);
    for n in 1..4 {
        script.at(130 + n).ack(false, 1000, NONE);
    }
    script.at(143).data(1000, 1000).at(173).ack(false, 2000, NONE).at(174).ack(false, 5000, NONE);
    let told = script.told();
    assert_eq!(told.happened(), [("retransmitted", "fast", 1000)]);
    assert_eq!(told.times(Method::Karn), [30_000, 74_000]);
}

#[test]
fn handshake_options_windows_and_goodput_are_reported() {
    let offer = Options {
        mss: Some(1460),
        window_scale: Some(3),
        sack_permitted: true,
        timestamps: stamps(1, 0).timestamps,
        ..NONE
    };
    let mut script = Script::new(V6);
    script.open(offer);
    script.at(1000).data(0, 1000).at(1030).window(false, 1000, 500, NONE);
    script.at(1900).data(1000, 1000).at(2000).window(false, 2000, 250, NONE);
    let told = script.told();
    let report = told.report();
    assert_eq!(report.opening, Opening::Whole);
    assert_eq!(report.handshake, Some(Span::from_ms(40)));
    assert_eq!(report.who.client.to_string(), "[fd00::1]:40000");
    assert_eq!(report.who.server.to_string(), "[fd00::2]:80");
    let stream = &report.streams[0];
    assert_eq!((stream.mss, stream.window_scale), (Some(1460), Some(3)));
    assert!(stream.sack_permitted && stream.timestamps);
    assert_eq!(stream.window_most, Some(4000), "scaled by what the server's SYN offered");
    assert_eq!(stream.flight_most, 1000);
    assert_eq!(stream.goodput_bps(), Some(16_000.0));
    assert_eq!(stream.rtt.least(), Some(Span::from_ms(30)));
    assert_eq!(stream.rtt.largest(), Some(Span::from_ms(100)));
}

/// A segment without data from the client or the server.
fn bare(client: bool, flags: Flags, seq: u32, ack: u32) -> Segment {
    let (mine, theirs) = if client { (CLIENT_ISN, SERVER_ISN) } else { (SERVER_ISN, CLIENT_ISN) };
    let (seq, ack) = (Seq(mine).plus(1).plus(seq), Seq(theirs).plus(1).plus(ack));
    Segment { seq, ack, flags, window: 10_000, ..Segment::default() }
}

#[test]
fn the_report_says_which_side_closed_first_and_how() {
    let fin = Flags::FIN | Flags::ACK;
    let mut script = opened();
    script.at(100).put(false, &bare(false, fin, 0, 0)).at(110).put(true, &bare(true, fin, 0, 1));
    script.at(140).put(false, &bare(false, Flags::ACK, 1, 1));
    let told = script.told();
    assert_eq!(told.report().closing, Closing::Closed(netspurt_trace::Side::B));
    assert_eq!(told.times(Method::Karn), [10_000, 30_000], "a FIN is answered like data");
    assert_eq!(told.report().streams.each_ref().map(|stream| stream.acknowledged), [0, 0]);
    let mut script = opened();
    script.at(100).put(true, &bare(true, Flags::RST, 0, 0));
    assert_eq!(script.told().report().closing, Closing::Reset(netspurt_trace::Side::A));
    assert_eq!(opened().told().report().closing, Closing::Open);
}

#[test]
fn the_same_ports_serve_one_connection_after_the_other() {
    let mut script = opened();
    let syn = Segment { seq: Seq(77), flags: Flags::SYN, ..Segment::default() };
    script.at(5000).put(true, &syn).at(6000).put(true, &syn);
    let told = script.told();
    assert_eq!(told.opened, [ConnectionId(0), ConnectionId(1)]);
    let [(_, first), (_, second)] = &told.reports[..] else { panic!() };
    assert_eq!((first.opening, second.opening), (Opening::Whole, Opening::Half));
    assert_eq!(second.streams[0].retransmitted[Cause::Timeout as usize], 1, "and its SYN went twice");
}

#[test]
fn a_capture_may_begin_in_the_middle() {
    let mut script = Script::new(V4);
    script.at(100).ack(false, 4000, NONE).data(4000, 100).at(130).ack(false, 4100, NONE);
    let told = script.told();
    assert_eq!(told.report().opening, Opening::Missing);
    assert_eq!(told.report().who.client.port(), 40_000, "servers listen at low ports");
    assert_eq!(told.times(Method::Karn), [30_000]);
    assert_eq!((told.happened(), told.report().streams[0].acknowledged), (vec![], 100));
}

#[test]
fn one_captured_direction_is_followed_as_far_as_possible() {
    let mut script = Script::new(V4);
    five(&mut script, &[]);
    script.at(500).data(0, 100);
    let told = script.told();
    assert_eq!(told.happened(), [("retransmitted", "timeout", 0)]);
    assert!(told.samples.is_empty());
}

/// Records the maximum of open connections.
#[derive(Default)]
struct Crowd {
    open: usize,
    most: usize,
    forgotten: usize,
}

impl Watch for Crowd {
    fn opened(&mut self, _id: ConnectionId, _who: &netspurt_trace::follow::Endpoints) {
        self.open += 1;
        self.most = self.most.max(self.open);
    }

    fn closed(&mut self, _id: ConnectionId, report: &ConnectionReport) {
        self.open -= 1;
        self.forgotten += usize::from(report.closing == Closing::Forgotten);
    }
}

fn crowd(script: &Script, limits: Limits) -> Crowd {
    let file = pcap(Order::Little, 1, 101, 65_535, &script.packets);
    let mut reader = CaptureReader::new(Box::new(std::io::Cursor::new(file)), Path::new("a")).unwrap();
    let mut crowd = Crowd::default();
    follow(&mut reader, limits, &mut crowd).1.unwrap();
    assert_eq!(crowd.open, 0, "every connection ends");
    crowd
}

#[test]
fn a_syn_flood_does_not_exhaust_memory() {
    let mut script = Script::new(V4);
    let syn = Segment { seq: Seq(CLIENT_ISN), flags: Flags::SYN, ..Segment::default() };
    for port in 1..=60_000 {
        script.client_port = port;
        script.put(true, &syn);
    }
    let crowd = crowd(&script, Limits { connections: 1000, ..Limits::default() });
    assert_eq!((crowd.most, crowd.forgotten), (1000, 59_000));
}

#[test]
fn unacknowledged_data_does_not_exhaust_memory() {
    let mut script = Script::new(V4);
    for n in 0..5000 {
        script.client_port = 1000 + n as u16 % 10;
        script.data(n, 1);
    }
    let crowd = crowd(&script, Limits { records: 1000, ..Limits::default() });
    assert!(crowd.forgotten >= 4, "the silent make room: {}", crowd.forgotten);
}

#[test]
fn a_closed_connection_is_removed_after_its_time() {
    let fin = Flags::FIN | Flags::ACK;
    let mut script = Script::new(V4);
    for n in 0..50_u16 {
        let begin = u64::from(n) * 61_000;
        script.client_port = 1000 + n;
        script.at(begin).put(true, &bare(true, fin, 0, 0)).put(false, &bare(false, fin, 0, 1));
        script.put(true, &bare(true, Flags::ACK, 1, 1));
    }
    assert_eq!(crowd(&script, Limits::default()).most, 1);
}

#[test]
fn random_sequence_numbers_do_not_panic() {
    let mut script = opened();
    let mut number = 1_u32;
    for n in 0..20_000_u64 {
        // A pseudo-random Lehmer generator.
        number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let mut segment = bare(n % 3 > 0, Flags((number >> 3) as u16 & 0xFF), number, number.rotate_left(7));
        segment.window = (number >> 9) as u16;
        segment.payload.len = (number >> 20) % 3000;
        segment.options =
            if n % 5 == 0 { sack(&[(number, number >> 1), (number >> 2, number >> 3)]) } else { NONE };
        script.at(n / 7).put(n % 3 > 0, &segment);
    }
    let told = script.told();
    assert!(told.damage.is_none() && told.tally.packets > 20_000);
}

#[test]
fn a_clock_that_is_set_back_does_not_panic() {
    let mut script = opened();
    script.at(100).data(0, 100).at(50).ack(false, 100, NONE);
    let told = script.told();
    assert_eq!(told.tally.backwards, 1);
    assert_eq!(told.times(Method::Karn), [0]);
}

#[test]
fn only_the_order_of_packets_matters() {
    let mut script = opened();
    five(&mut script, &[2]);
    let file = pcap(Order::Big, 1000, 101, 65_535, &script.packets);
    assert_eq!(format!("{:?}", read(&file).events), format!("{:?}", read(&file).events));
}
