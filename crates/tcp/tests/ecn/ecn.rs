//! RFC 3168 at work: what stands on the segments, and what a mark does to both ends.

use crate::lab::{Lab, MSS, config};
use netspurt_tcp::config::{Config, EcnUse, Recovery};
use netspurt_tcp::options::Options;
use netspurt_tcp::reason::Reason::{FastRetransmit, NewData, Timeout};
use netspurt_tcp::segment::{Ecn, Flags, Payload, Segment};
use netspurt_tcp::seq::Seq;
use netspurt_tcp::time::{Span, Time};
use netspurt_tcp::{Connection, congestion};
use std::sync::Arc;

const SETUP: Flags = Flags(Flags::ECE.0 | Flags::CWR.0);
const OURS: Seq = Seq(0xFFFF_F000);

fn asking() -> Config {
    Config { ecn: EcnUse::Rfc3168, ..config(Recovery::NewReno) }
}

/// A connection whose peer has agreed.
fn agreed(config: Config) -> Lab {
    let options = Options { mss: Some(MSS as u16), ..Options::NONE };
    Lab::open_with(config, options, Flags::ECE)
}

/// An ACK up to segment `n` that tells of a mark.
fn echo(lab: &mut Lab, n: u32) {
    lab.arrives(Segment { ack: Lab::behind(n), flags: Flags::ACK | Flags::ECE, ..Segment::default() });
}

/// Number, codepoint and whether CWR is set, of the data sent since `from`.
fn data(lab: &Lab, from: usize) -> Vec<(u64, Ecn, bool)> {
    let segments = lab.sent[from..].iter().map(|(_, sent)| sent.segment);
    segments
        .filter(|s| s.payload.len > 0)
        .map(|s| (s.payload.offset / u64::from(MSS) + 1, s.ecn, s.flags.has(Flags::CWR)))
        .collect()
}

/// What the peer's data is answered with: whether ECE stands on it.
fn answer(lab: &mut Lab, offset: u32, ecn: Ecn, flags: Flags) -> bool {
    let from = lab.sent.len();
    lab.tcp.handle_segment(
        lab.now,
        &Segment {
            seq: Lab::their_first().plus(offset),
            ack: Lab::behind(0),
            flags: Flags::ACK | flags,
            ecn,
            window: lab.window,
            payload: Payload { offset: u64::from(offset), len: MSS },
            ..Segment::default()
        },
    );
    let now = lab.now;
    lab.tcp.read(now, u64::MAX);
    let ack = lab.tcp.poll_transmit(now).expect("each segment is acknowledged").segment;
    assert_eq!(ack.ecn, Ecn::NotEct, "no ACK without data is ECN-capable");
    assert_eq!((ack.flags.has(Flags::CWR), from), (false, lab.sent.len()));
    ack.flags.has(Flags::ECE)
}

#[test]
fn a_syn_requests_ecn_with_both_flags_and_is_not_ect_itself() {
    let lab = agreed(asking());
    let syn = lab.sent[0].1.segment;
    assert_eq!((syn.flags, syn.ecn), (Flags::SYN | SETUP, Ecn::NotEct));
    let ack = lab.sent[1].1.segment;
    assert_eq!((ack.flags, ack.ecn), (Flags::ACK, Ecn::NotEct));
}

#[test]
fn a_listener_with_ecn_answers_a_request_with_one_flag() {
    for (choice, asked, expected) in [
        (EcnUse::Accept, SETUP, Flags::ECE),
        (EcnUse::Rfc3168, SETUP, Flags::ECE),
        (EcnUse::Off, SETUP, Flags::NONE),
        (EcnUse::Rfc3168, Flags::NONE, Flags::NONE),
        (EcnUse::Rfc3168, Flags::ECE, Flags::NONE),
    ] {
        let config = Config { ecn: choice, ..config(Recovery::NewReno) };
        let mut tcp = Connection::listen(Arc::new(config), Seq(1));
        let syn = Segment { flags: Flags::SYN | asked, header_len: 20, ..Segment::default() };
        tcp.handle_segment(Time::ZERO, &syn);
        let answer = tcp.poll_transmit(Time::ZERO).expect("a SYN-ACK").segment;
        assert_eq!(answer.flags, Flags::SYN | Flags::ACK | expected, "{choice:?} {asked:?}");
        assert_eq!(answer.ecn, Ecn::NotEct);
    }
}

#[test]
fn new_data_is_ect_and_retransmissions_are_not() {
    let mut lab = agreed(asking());
    lab.write(20);
    assert!(data(&lab, 0).iter().all(|(_, ecn, cwr)| *ecn == Ecn::Ect0 && !cwr));
    let from = lab.sent.len();
    lab.at(200).acks(0, 3);
    assert_eq!(data(&lab, from), [(1, Ecn::NotEct, false)]);
    let from = lab.sent.len();
    lab.at(300).ack(10);
    assert_eq!(data(&lab, from)[0], (11, Ecn::Ect0, true), "a fast retransmit is told as a mark is");
    assert!(data(&lab, from)[1..].iter().all(|(_, ecn, cwr)| *ecn == Ecn::Ect0 && !cwr));
}

#[test]
fn without_negotiation_no_segment_is_ect() {
    for said in [Flags::NONE, SETUP] {
        let options = Options { mss: Some(MSS as u16), ..Options::NONE };
        let mut lab = Lab::open_with(asking(), options, said);
        lab.write(10);
        assert!(data(&lab, 0).iter().all(|(_, ecn, _)| *ecn == Ecn::NotEct), "{said:?}");
        echo(&mut lab, 1);
        assert_eq!(lab.cwnd(), 11, "ECE means nothing then");
        assert!(!answer(&mut lab, 0, Ecn::Ce, Flags::NONE));
    }
}

#[test]
fn a_mark_halves_the_window_once_for_each_window_of_data() {
    let mut lab = agreed(asking());
    lab.write(100);
    lab.out();
    lab.at(200);
    let from = lab.sent.len();
    echo(&mut lab, 1);
    assert_eq!(lab.cwnd(), 5, "half of the ten that were out");
    for n in 2..=10 {
        echo(&mut lab, n);
    }
    assert_eq!((lab.cwnd(), lab.tcp.stats().ecn_reductions), (5, 1), "nothing more, and no growth");
    let sent = data(&lab, from);
    assert_eq!(sent[0], (11, Ecn::Ect0, true), "the first new data tells that it has");
    assert_eq!(sent.iter().filter(|(_, _, cwr)| *cwr).count(), 1);
    // The ACK of that segment may tell of a mark of its own.
    lab.at(300);
    echo(&mut lab, 11);
    assert_eq!((lab.cwnd(), lab.tcp.stats().ecn_reductions), (2, 2));
    assert_eq!((lab.tcp.stats().retransmitted, lab.tcp.stats().timeouts), (0, 0));
}

#[test]
fn a_mark_and_a_loss_in_one_window_are_one_reduction() {
    let mut lab = agreed(asking());
    lab.write(100);
    lab.at(200);
    echo(&mut lab, 1);
    assert_eq!(lab.cwnd(), 5);
    lab.out();
    lab.at(300).acks(1, 3);
    assert_eq!(lab.out()[0], (2, FastRetransmit));
    let reduced = lab.tcp.ssthresh();
    lab.at(400);
    echo(&mut lab, 5);
    assert_eq!((lab.tcp.ssthresh(), lab.tcp.stats().ecn_reductions), (reduced, 1));
}

#[test]
fn the_receiver_sets_ece_until_the_sender_has_reduced() {
    let mut lab = agreed(asking());
    assert!(!answer(&mut lab, 0, Ecn::Ect0, Flags::NONE));
    assert!(answer(&mut lab, MSS, Ecn::Ce, Flags::NONE));
    assert!(answer(&mut lab, 2 * MSS, Ecn::Ect0, Flags::NONE));
    assert!(answer(&mut lab, 3 * MSS, Ecn::NotEct, Flags::NONE));
    assert!(!answer(&mut lab, 4 * MSS, Ecn::Ect0, Flags::CWR));
    assert!(answer(&mut lab, 5 * MSS, Ecn::Ce, Flags::CWR), "CWR first, then the mark");
    assert_eq!(lab.tcp.stats().marks_received, 2);
}

#[test]
fn a_mark_outside_the_window_is_ignored() {
    let mut lab = agreed(asking());
    assert!(!answer(&mut lab, 0, Ecn::Ect0, Flags::NONE));
    assert!(!answer(&mut lab, 0, Ecn::Ce, Flags::NONE), "it came before");
    assert!(!answer(&mut lab, 1_000_000, Ecn::Ce, Flags::NONE), "beyond the right edge");
    assert_eq!(lab.tcp.stats().marks_received, 0);
}

#[test]
fn a_window_probe_is_not_ect() {
    let mut lab = agreed(asking());
    lab.write(1).at(200);
    lab.window = 0;
    lab.ack(1).write(1);
    let from = lab.sent.len();
    lab.at(5000);
    let probes = data(&lab, from);
    assert!(!probes.is_empty() && probes.iter().all(|(_, ecn, _)| *ecn == Ecn::NotEct), "{probes:?}");
}

#[test]
fn the_first_new_data_after_a_timeout_carries_cwr() {
    let mut lab = agreed(asking());
    lab.write(12);
    lab.out();
    let from = lab.sent.len();
    lab.at(1200);
    assert_eq!(lab.out()[0], (1, Timeout));
    lab.ack(10);
    assert_eq!(lab.out(), [(11, NewData), (12, NewData)]);
    assert_eq!(data(&lab, from), [(1, Ecn::NotEct, false), (11, Ecn::Ect0, true), (12, Ecn::Ect0, false)]);
}

/// The SYN segments of a client whose first ones have no answer.
fn unanswered(config: Config) -> (Connection, Vec<Flags>) {
    let mut tcp = Connection::new(Arc::new(config), OURS);
    let (mut now, mut syns) = (Time::ZERO, Vec::new());
    tcp.open(now);
    for _ in 0..3 {
        syns.push(tcp.poll_transmit(now).expect("a SYN").segment.flags);
        now = tcp.next_deadline();
        tcp.handle_deadline(now);
    }
    (tcp, syns)
}

#[test]
fn a_retransmitted_syn_does_not_request_ecn() {
    let (_, syns) = unanswered(asking());
    assert_eq!(syns, [Flags::SYN | SETUP, Flags::SYN, Flags::SYN]);
}

#[test]
fn an_end_that_has_fallen_back_sends_no_ect_but_reports_marks() {
    let (mut tcp, _) = unanswered(asking());
    let now = Time::ZERO + Span::from_secs(8);
    let accept = Segment {
        seq: Seq(0),
        ack: OURS.plus(1),
        flags: Flags::SYN | Flags::ACK | Flags::ECE,
        header_len: 20,
        window: 60_000,
        ..Segment::default()
    };
    tcp.handle_segment(now, &accept);
    assert_eq!(tcp.write(now, 100), Ok(100));
    while let Some(sent) = tcp.poll_transmit(now) {
        assert_eq!(sent.segment.ecn, Ecn::NotEct);
    }
    let payload = Payload { offset: 0, len: 100 };
    let marked = Segment { seq: Seq(1), flags: Flags::ACK, ecn: Ecn::Ce, payload, ..accept };
    tcp.handle_segment(now, &marked);
    assert!(tcp.poll_transmit(now).expect("an ACK").segment.flags.has(Flags::ECE));
}

#[test]
fn a_listener_whose_peer_falls_back_forgets_the_request() {
    let mut tcp = Connection::listen(Arc::new(asking()), Seq(1));
    let syn =
        |flags| Segment { flags: Flags::SYN | flags, header_len: 20, window: 60_000, ..Segment::default() };
    tcp.handle_segment(Time::ZERO, &syn(SETUP));
    assert!(tcp.poll_transmit(Time::ZERO).expect("a SYN-ACK").segment.flags.has(Flags::ECE));
    let later = Time::ZERO + Span::from_ms(900);
    tcp.handle_segment(later, &syn(Flags::NONE));
    let again = tcp.poll_transmit(later).expect("a SYN-ACK").segment;
    assert_eq!(again.flags, Flags::SYN | Flags::ACK);
    let ack = Segment { seq: Seq(1), ack: Seq(2), flags: Flags::ACK, window: 60_000, ..syn(Flags::NONE) };
    tcp.handle_segment(later, &ack);
    assert_eq!(tcp.write(later, 100), Ok(100));
    assert_eq!(tcp.poll_transmit(later).expect("data").segment.ecn, Ecn::NotEct);
}

fn dctcp() -> Config {
    Config { congestion: congestion::Kind::Dctcp, ..asking() }
}

#[test]
fn a_dctcp_receiver_reports_each_change_at_once() {
    let acking = netspurt_tcp::acking::Acking::Delayed { every: 2, delay: Span::from_ms(40) };
    let mut lab = agreed(Config { acking, ..dctcp() });
    let mut acks = |n: u32, ecn| {
        let now = lab.now;
        let segment = Segment {
            seq: Lab::their_first().plus(n * MSS),
            ack: Lab::behind(0),
            flags: Flags::ACK,
            ecn,
            window: 60_000,
            payload: Payload { offset: u64::from(n * MSS), len: MSS },
            ..Segment::default()
        };
        lab.tcp.handle_segment(now, &segment);
        lab.tcp.read(now, u64::MAX);
        lab.tcp.poll_transmit(now).map(|sent| sent.segment.flags.has(Flags::ECE))
    };
    let (clean, marked) = (Ecn::Ect0, Ecn::Ce);
    let said: Vec<_> = [clean, clean, clean, marked, marked, marked, clean, clean, clean]
        .into_iter()
        .zip(0..)
        .map(|(ecn, n)| acks(n, ecn))
        .collect();
    let expected = [None, Some(false), None, Some(true), None, Some(true), Some(false), None, Some(false)];
    assert_eq!(said, expected);
}

#[test]
fn a_dctcp_sender_cuts_its_window_by_half_of_what_was_marked() {
    let mut lab = agreed(Config {
        initial_ssthresh: 10_000,
        send_buffer: 1 << 22,
        initial_send_buffer: None,
        ..dctcp()
    });
    lab.write(2000);
    let (mut n, mut ms) = (0, 200);
    // Rounds without a mark: alpha, which began with 1, falls by a sixteenth in each.
    for _ in 0..30 {
        let round = lab.cwnd();
        lab.at(ms);
        for _ in 0..round {
            n += 1;
            lab.ack(n);
        }
        ms += 100;
    }
    let before = f64::from(lab.tcp.cwnd());
    lab.at(ms);
    echo(&mut lab, n + 1);
    let cut = 1.0 - f64::from(lab.tcp.cwnd()) / before;
    let alpha = (15.0_f64 / 16.0).powi(30);
    assert!((cut - alpha / 2.0).abs() < 0.01, "cut by {cut}, alpha {alpha}");
    assert_eq!(lab.tcp.stats().ecn_reductions, 1);
}
