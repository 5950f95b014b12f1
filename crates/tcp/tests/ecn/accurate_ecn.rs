//! RFC 9768 at work: who agrees on what, what is counted, told and believed.

use crate::lab::{Lab, MSS, config};
use netspurt_tcp::acking::Acking;
use netspurt_tcp::config::{Config, EcnUse, Recovery};
use netspurt_tcp::congestion::{CongestionControl, Signal, View};
use netspurt_tcp::ecn::{AccurateEcn, ByteCounters, Order};
use netspurt_tcp::options::{Options, SackBlock};
use netspurt_tcp::segment::{Ecn, Flags, Payload, Segment};
use netspurt_tcp::seq::Seq;
use netspurt_tcp::state::{CloseReason, State};
use netspurt_tcp::time::{Span, Time};
use netspurt_tcp::{Connection, Info, congestion};
use std::sync::{Arc, Mutex};

const AE: Flags = Flags::AE;
const CWR: Flags = Flags::CWR;
const ECE: Flags = Flags::ECE;
const ALL: Flags = Flags(AE.0 | CWR.0 | ECE.0);
const OURS: Seq = Seq(0xFFFF_F000);

fn asking() -> Config {
    Config { ecn: EcnUse::Rfc9768, ..config(Recovery::NewReno) }
}

/// The three flags as a number.
fn ace(flags: Flags) -> u8 {
    u8::from(flags.has(AE)) << 2 | u8::from(flags.has(CWR)) << 1 | u8::from(flags.has(ECE))
}

/// The number as three flags.
fn field(ace: u32) -> Flags {
    let bit = |value, flag| if ace & value != 0 { flag } else { Flags::NONE };
    bit(4, AE) | bit(2, CWR) | bit(1, ECE)
}

/// A client whose SYN-ACK, with these flags, has come.
fn opened(config: Config, flags: Flags) -> Lab {
    Lab::open_with(config, Options { mss: Some(MSS as u16), ..Options::NONE }, flags)
}

/// One whose peer has agreed on accurate ECN.
fn agreed(config: Config) -> Lab {
    opened(config, CWR)
}

/// An ACK up to segment `n`, by a peer that has seen `marked` packets with a mark.
fn told(lab: &mut Lab, n: u32, marked: u32) {
    let flags = Flags::ACK | field(5 + marked);
    lab.arrives(Segment { ack: Lab::behind(n), flags, ..Segment::default() });
}

/// The same, with the bytes that were marked of all `n` segments.
fn told_in_bytes(lab: &mut Lab, n: u32, marked: u32, ce: u32) {
    let counters = ByteCounters { ect0: 1 + n * MSS - ce, ce, ect1: 1 };
    let option = AccurateEcn::new(Order::Ect0First, counters, 2);
    let options = Options::NONE.with_accurate_ecn(option);
    let flags = Flags::ACK | field(5 + marked);
    lab.arrives(Segment { ack: Lab::behind(n), flags, options, ..Segment::default() });
}

fn info(lab: &Lab) -> netspurt_tcp::ecn::AccurateEcnInfo {
    let Info { accurate_ecn: Some(info), .. } = lab.tcp.info() else { panic!("ECN is not accurate") };
    info
}

/// Whether new data of this connection can be marked.
fn sends(lab: &mut Lab) -> bool {
    let from = lab.sent.len();
    lab.write(1);
    let sent = &lab.sent[from..];
    assert!(!sent.is_empty());
    sent.iter().all(|(_, sent)| sent.segment.ecn == Ecn::Ect0)
}

#[test]
fn two_syns_request_accurate_ecn_and_later_ones_do_not() {
    let mut tcp = Connection::new(Arc::new(asking()), OURS);
    let (mut now, mut syns) = (Time::ZERO, Vec::new());
    tcp.open(now);
    for _ in 0..4 {
        let syn = tcp.poll_transmit(now).expect("a SYN").segment;
        assert_eq!((syn.ecn, syn.options.accurate_ecn()), (Ecn::NotEct, None));
        syns.push(syn.flags);
        now = tcp.next_deadline();
        tcp.handle_deadline(now);
    }
    assert_eq!(syns, [Flags::SYN | ALL, Flags::SYN | ALL, Flags::SYN, Flags::SYN]);
}

#[test]
fn table_2_as_the_client_sees_it() {
    for (syn_ack, accurate, capable) in [
        (CWR, true, true),
        // Our SYN could not be marked, and arrived as if it could: somebody writes there (section 3.2.2.3).
        (CWR | ECE, true, false),
        (AE, true, false),
        (AE | CWR, true, false),
        (AE | ECE, true, true),
        (ECE, false, true),
        (Flags::NONE, false, false),
        (ALL, false, false),
    ] {
        let mut lab = opened(asking(), syn_ack);
        assert_eq!(lab.tcp.info().accurate_ecn.is_some(), accurate, "{syn_ack:?}");
        assert_eq!(sends(&mut lab), capable, "{syn_ack:?}");
        // Classic feedback begins with no flag; the ACK of the SYN-ACK says that it came unmarked.
        let first = lab.sent[1].1.segment;
        let expected = if accurate { Flags::ACK | CWR } else { Flags::ACK };
        assert_eq!((first.flags, first.payload.len), (expected, 0), "{syn_ack:?}");
    }
    let marked = opened(asking(), AE | CWR);
    assert_eq!(
        (marked.cwnd(), marked.tcp.stats().ecn_reductions, marked.tcp.stats().marks_reported),
        (5, 0, 1)
    );
}

/// A listener that has answered a SYN with these flags, under this codepoint.
fn listener(config: Config, flags: Flags, ecn: Ecn) -> (Connection, Segment) {
    let mut tcp = Connection::listen(Arc::new(config), Seq(1));
    tcp.handle_segment(Time::ZERO, &syn(flags, ecn));
    let answer = tcp.poll_transmit(Time::ZERO).expect("a SYN-ACK").segment;
    (tcp, answer)
}

fn syn(flags: Flags, ecn: Ecn) -> Segment {
    let options = Options { mss: Some(MSS as u16), ..Options::NONE };
    Segment { flags: Flags::SYN | flags, header_len: 24, window: 60_000, ecn, options, ..Segment::default() }
}

#[test]
fn a_listener_answers_the_request_and_reports_the_codepoint_of_the_syn() {
    use EcnUse::{Accept, AcceptRfc9768, Off, Rfc3168, Rfc9768};
    for choice in [AcceptRfc9768, Rfc9768] {
        for (asked, ecn, expected) in [
            (ALL, Ecn::NotEct, CWR),
            (ALL, Ecn::Ect1, CWR | ECE),
            (ALL, Ecn::Ect0, AE),
            (ALL, Ecn::Ce, AE | CWR),
            (CWR | ECE, Ecn::NotEct, ECE),
            (Flags::NONE, Ecn::Ce, Flags::NONE),
            // Somebody's of the future.
            (AE, Ecn::NotEct, CWR),
            (AE | ECE, Ecn::NotEct, CWR),
        ] {
            let config = Config { ecn: choice, ..config(Recovery::NewReno) };
            let (_, answer) = listener(config, asked, ecn);
            assert_eq!(answer.flags, Flags::SYN | Flags::ACK | expected, "{choice:?} {asked:?} {ecn:?}");
        }
    }
    // Who knows RFC 3168 alone takes the three flags for its two.
    for (choice, expected) in [(Accept, ECE), (Rfc3168, ECE), (Off, Flags::NONE)] {
        let (_, answer) = listener(Config { ecn: choice, ..config(Recovery::NewReno) }, ALL, Ecn::NotEct);
        assert_eq!(answer.flags, Flags::SYN | Flags::ACK | expected, "{choice:?}");
    }
}

#[test]
fn a_retransmitted_syn_ack_drops_first_the_option_and_then_the_flags() {
    let (mut tcp, first) = listener(asking(), ALL, Ecn::NotEct);
    let option = first.options.accurate_ecn().expect("the first tries the path");
    assert_eq!((option.ect0(), first.header_len), (Some(1), 32), "MSS, and one counter");
    let mut now = Time::ZERO;
    let mut again = || {
        now = tcp.next_deadline();
        tcp.handle_deadline(now);
        tcp.poll_transmit(now).expect("a SYN-ACK").segment
    };
    let (second, third) = (again(), again());
    assert_eq!((second.flags, second.options.accurate_ecn()), (Flags::SYN | Flags::ACK | CWR, None));
    assert_eq!((third.flags, third.options.accurate_ecn()), (Flags::SYN | Flags::ACK, None));
    // It counts all the same, but nothing that it sends can be marked.
    let ack = Segment {
        seq: Seq(1),
        ack: Seq(2),
        flags: Flags::ACK | field(5),
        window: 60_000,
        ..syn(CWR, Ecn::NotEct)
    };
    tcp.handle_segment(now, &Segment { flags: Flags::ACK | CWR, ..ack });
    assert_eq!(tcp.write(now, 100), Ok(100));
    assert_eq!(tcp.poll_transmit(now).expect("data").segment.ecn, Ecn::NotEct);
    assert!(tcp.info().accurate_ecn.is_some());
}

#[test]
fn classic_and_accurate_ecn_in_one_handshake_disable_ecn() {
    for (first, then) in [(ALL, CWR | ECE), (CWR | ECE, ALL)] {
        let (mut tcp, _) = listener(asking(), first, Ecn::NotEct);
        let later = Time::ZERO + Span::from_ms(900);
        tcp.handle_segment(later, &syn(then, Ecn::NotEct));
        assert!(tcp.poll_transmit(later).expect("a reset").segment.flags.has(Flags::RST), "{first:?}");
        assert_eq!((tcp.state(), tcp.closed()), (State::Closed, Some(CloseReason::Reset)));
    }
}

#[test]
fn a_listener_whose_peer_falls_back_counts_marks_but_sends_no_ect() {
    let (mut tcp, _) = listener(asking(), ALL, Ecn::NotEct);
    let later = Time::ZERO + Span::from_ms(900);
    tcp.handle_segment(later, &syn(Flags::NONE, Ecn::Ce));
    let again = tcp.poll_transmit(later).expect("a SYN-ACK").segment;
    assert_eq!(
        again.flags,
        Flags::SYN | Flags::ACK | AE | CWR,
        "it stays in its mode, and tells of the last SYN"
    );
    assert_eq!(again.options.accurate_ecn(), None);
    assert!(!tcp.info().accurate_ecn.expect("it counts").sends);
}

/// A listener whose SYN-ACK this ACK answers.
fn accepted(flags: Flags) -> Lab {
    let (mut tcp, _) = listener(asking(), ALL, Ecn::NotEct);
    let ack =
        Segment { seq: Seq(1), ack: Seq(2), flags: Flags::ACK | flags, window: 60_000, ..Segment::default() };
    tcp.handle_segment(Time::ZERO, &ack);
    let mut lab = agreed(asking());
    lab.tcp = tcp;
    lab
}

#[test]
fn table_4_as_the_server_reads_it() {
    for (ace, capable, marked) in [
        (0b000, false, 0),
        (0b001, true, 0),
        (0b010, true, 0),
        (0b011, false, 0),
        (0b100, false, 0),
        (0b101, true, 0),
        (0b110, false, 1),
        (0b111, true, 0),
    ] {
        let lab = accepted(field(ace));
        let info = lab.tcp.info().accurate_ecn.expect("it counts");
        assert_eq!((info.sends, info.marks_delivered), (capable, marked), "{ace:03b}");
        assert_eq!(lab.cwnd(), if marked > 0 { 5 } else { 10 });
    }
}

#[test]
fn the_bare_ack_comes_first_where_a_writer_has_waited() {
    let mut lab = Lab::open_with(asking(), Options::NONE, CWR);
    lab.write(3);
    let first: Vec<_> = lab.sent[1..3].iter().map(|(_, sent)| sent.segment).collect();
    assert_eq!((first[0].payload.len, ace(first[0].flags)), (0, 0b010), "the handshake's encoding");
    assert!(first[0].options.accurate_ecn().is_some(), "which tries the path");
    assert_eq!(ace(first[1].flags), 5, "the count");
    assert!(first[1].options.accurate_ecn().is_some(), "and so does the first data");
    assert_eq!(lab.sent[3].1.segment.options.accurate_ecn(), None, "the second says nothing new");
}

/// A client whose SYN has crossed the peer's, and that has been sent the peer's SYN-ACK, with what it sends then.
fn crossed(bytes: u64, syn_ack: Ecn) -> (Connection, Vec<Segment>) {
    let mut tcp = Connection::new(Arc::new(asking()), OURS);
    tcp.open(Time::ZERO);
    assert!(tcp.poll_transmit(Time::ZERO).is_some());
    tcp.handle_segment(Time::ZERO, &syn(ALL, Ecn::NotEct));
    let answer = tcp.poll_transmit(Time::ZERO).expect("a SYN-ACK").segment;
    assert_eq!(answer.flags, Flags::SYN | Flags::ACK | CWR);
    assert_eq!(tcp.write(Time::ZERO, bytes), Ok(bytes));
    let peers = Segment { ack: OURS.plus(1), ..syn(Flags::ACK | CWR, syn_ack) };
    tcp.handle_segment(Time::ZERO, &peers);
    assert_eq!(tcp.state(), State::Established);
    let sent = std::iter::from_fn(|| tcp.poll_transmit(Time::ZERO)).map(|sent| sent.segment).collect();
    (tcp, sent)
}

#[test]
fn in_a_simultaneous_open_the_ack_of_the_syn_ack_reports_its_codepoint() {
    for (arrived, report, count) in
        [(Ecn::NotEct, 0b010, 5), (Ecn::Ect1, 0b011, 5), (Ecn::Ect0, 0b100, 5), (Ecn::Ce, 0b110, 6)]
    {
        let (_, sent) = crossed(100, arrived);
        assert_eq!(sent.iter().map(|s| s.payload.len).collect::<Vec<_>>(), [0, 100], "{arrived:?}");
        assert_eq!([ace(sent[0].flags), ace(sent[1].flags)], [report, count], "{arrived:?}");
    }
}

#[test]
fn in_a_simultaneous_open_the_peers_report_is_no_count() {
    // Data is in flight when the ACK of our SYN-ACK arrives.
    for (reported, marked, sends) in [(0b010, 0, true), (0b100, 0, false), (0b110, 1, false)] {
        let (mut tcp, _) = crossed(100, Ecn::NotEct);
        let ack = Segment {
            seq: Seq(1),
            ack: OURS.plus(1),
            flags: Flags::ACK | field(reported),
            window: 60_000,
            ..Segment::default()
        };
        tcp.handle_segment(Time::ZERO, &ack);
        let info = tcp.info().accurate_ecn.expect("it counts");
        assert_eq!((info.marks_delivered, info.sends), (marked, sends), "{reported:03b}");
        // Later ones are counts.
        let flags = Flags::ACK | field(5 + marked + 1);
        tcp.handle_segment(Time::ZERO, &Segment { ack: OURS.plus(101), flags, ..ack });
        assert_eq!(tcp.info().accurate_ecn.expect("it counts").marks_delivered, marked + 1);
    }
}

#[test]
fn a_mark_halves_the_window_once_in_a_round_trip_and_is_reported_once() {
    let mut lab = agreed(asking());
    lab.write(100);
    lab.out();
    lab.at(200);
    told(&mut lab, 1, 1);
    assert_eq!(lab.cwnd(), 5, "half of the ten that were out");
    (2..=10).for_each(|n| told(&mut lab, n, 1));
    assert_eq!((lab.cwnd(), lab.tcp.stats().ecn_reductions), (5, 1), "nothing more, and no growth");
    assert!(
        lab.sent.iter().skip(2).all(|(_, sent)| ace(sent.segment.flags) == 5),
        "no CWR: the field is ours"
    );
    lab.at(300);
    told(&mut lab, 11, 2);
    assert_eq!((lab.cwnd(), lab.tcp.stats().ecn_reductions, lab.tcp.stats().marks_reported), (2, 2, 2));
}

/// Ignores marks until a time, and records when it gets one.
#[derive(Debug)]
struct IgnoresUntil(Time, Arc<Mutex<Vec<Time>>>);

impl CongestionControl for IgnoresUntil {
    fn on(&mut self, signal: Signal, view: &View) {
        if signal == Signal::EcnCe {
            self.1.lock().unwrap().push(view.now);
        }
    }
    fn cwnd(&self) -> u32 {
        10 * MSS
    }
    fn ssthresh(&self) -> u32 {
        u32::MAX
    }
    fn heeds_marks(&self, now: Time) -> bool {
        now >= self.0
    }
}

#[test]
fn the_first_mark_that_is_not_ignored_reduces_although_one_before_it_was_in_the_same_round() {
    let at = |ms| Time::ZERO + Span::from_ms(ms);
    let mut lab = agreed(asking());
    let heard = Arc::default();
    lab.tcp.set_congestion(Box::new(IgnoresUntil(at(205), Arc::clone(&heard))));
    lab.write(100);
    for (n, ms) in [(1, 200), (2, 204), (3, 206), (4, 208)] {
        lab.at(ms);
        told(&mut lab, n, n);
    }
    assert_eq!(*heard.lock().unwrap(), [at(206)], "and once in the round trip");
    assert_eq!((lab.tcp.stats().ecn_reductions, lab.tcp.stats().marks_reported), (1, 4));
}

#[test]
fn the_field_wraps_and_every_mark_is_counted() {
    let mut lab = agreed(Config { congestion: congestion::Kind::None, ..asking() });
    lab.write(30);
    lab.at(200);
    (1..=30).for_each(|n| told(&mut lab, n, n));
    assert_eq!((info(&lab).marks_delivered, lab.tcp.stats().marks_reported), (30, 30));
}

#[test]
fn thinned_acks_are_taken_for_the_worst_that_is_likely() {
    let run = |acked: u32, marked: u32, ce: Option<u32>| {
        let mut lab = agreed(Config { congestion: congestion::Kind::None, ..asking() });
        lab.write(40);
        lab.at(200);
        match ce {
            None => told(&mut lab, acked, marked),
            Some(ce) => told_in_bytes(&mut lab, acked, marked, ce),
        }
        info(&lab).marks_delivered
    };
    assert_eq!(run(7, 2, None), 2, "the field cannot have gone round");
    assert_eq!(run(9, 2, None), 2, "nor here: ten would be too many");
    assert_eq!(run(10, 2, None), 10, "here it can");
    assert_eq!(run(40, 0, None), 40);
    // With the option nothing is left to guess.
    assert_eq!(run(10, 2, Some(2 * MSS)), 2);
    assert_eq!(run(40, 26, Some(26 * MSS)), 26);
    assert_eq!(run(40, 0, Some(0)), 0);
}

#[test]
fn an_older_ack_does_not_count_marks_twice() {
    let mut lab = agreed(Config { congestion: congestion::Kind::None, ..asking() });
    lab.write(20);
    lab.at(200);
    told(&mut lab, 6, 3);
    told(&mut lab, 4, 1);
    told(&mut lab, 6, 3);
    told(&mut lab, 7, 3);
    assert_eq!(info(&lab).marks_delivered, 3);
}

#[test]
fn an_ace_field_that_begins_with_zero_is_ignored() {
    let mut lab = agreed(asking());
    lab.write(20);
    lab.at(200);
    told(&mut lab, 1, 3);
    assert_eq!((lab.cwnd(), info(&lab).sends), (10, false), "it is not heeded, and nothing can be marked");
    told(&mut lab, 2, 4);
    assert_eq!(lab.cwnd(), 11);
    assert_eq!((lab.tcp.stats().ecn_reductions, lab.tcp.stats().marks_reported), (0, 0));
    // Three packets can have been marked by then.
    let mut lab = agreed(asking());
    lab.write(20);
    lab.at(200);
    told(&mut lab, 3, 3);
    assert_eq!((lab.cwnd(), info(&lab).sends), (5, true));
}

#[test]
fn counters_that_begin_with_zero_are_ignored() {
    let option = AccurateEcn::new(Order::Ect0First, ByteCounters::default(), 3);
    let options = Options { mss: Some(MSS as u16), ..Options::NONE }.with_accurate_ecn(option);
    let mut lab = Lab::open_with(Config { congestion: congestion::Kind::None, ..asking() }, options, CWR);
    lab.write(20);
    lab.at(200);
    told_in_bytes(&mut lab, 10, 2, 2 * MSS);
    assert_eq!(info(&lab).marks_delivered, 10, "the field alone is heard, at its worst");
    assert!(info(&lab).sends);
}

#[test]
fn bytes_marked_without_a_marked_packet_are_ignored() {
    let mut lab = agreed(Config { congestion: congestion::Kind::None, ..asking() });
    lab.write(20);
    lab.at(200);
    told_in_bytes(&mut lab, 2, 0, MSS);
    assert!(info(&lab).sends, "once may be a mistake of ours");
    told_in_bytes(&mut lab, 4, 0, 2 * MSS);
    assert!(!sends(&mut lab));
}

/// Data of the peer under these codepoints, in order; what each is answered with, if it is at once: ACE, and ECT(0), CE and
/// ECT(1)
/// as far as they are told.
type Answer = Option<(u8, [Option<u32>; 3])>;

fn receives(lab: &mut Lab, first: u32, packets: &[Ecn]) -> Vec<Answer> {
    let now = lab.now;
    let one = |(n, &ecn): (u32, &Ecn)| {
        let offset = n * MSS;
        let segment = Segment {
            seq: Lab::their_first().plus(offset),
            ack: Lab::behind(0),
            flags: Flags::ACK | field(5),
            ecn,
            window: 60_000,
            payload: Payload { offset: u64::from(offset), len: MSS },
            ..Segment::default()
        };
        lab.tcp.handle_segment(now, &segment);
        lab.tcp.read(now, u64::MAX);
        let ack = lab.tcp.poll_transmit(now)?.segment;
        assert_eq!((ack.ecn, ack.payload.len), (Ecn::NotEct, 0));
        let option = ack.options.accurate_ecn();
        let fields = [AccurateEcn::ect0, AccurateEcn::ce, AccurateEcn::ect1]
            .map(|field| option.as_ref().and_then(field));
        Some((ace(ack.flags), fields))
    };
    (first..).zip(packets).map(one).collect()
}

#[test]
fn a_mark_after_none_and_every_second_mark_are_acknowledged_at_once() {
    let acking = Acking::Delayed { every: 4, delay: Span::from_ms(40) };
    let mut lab = agreed(Config { acking, ..asking() });
    let (clean, marked) = (Ecn::Ect0, Ecn::Ce);
    let answers = receives(
        &mut lab,
        0,
        &[clean, clean, marked, marked, marked, clean, marked, clean, clean, clean, clean],
    );
    let m = MSS;
    assert_eq!(
        answers,
        [
            None,
            None,
            Some((6, [Some(1 + 2 * m), Some(m), None])),
            None,
            Some((0, [Some(1 + 2 * m), Some(3 * m), None])),
            None,
            Some((1, [Some(1 + 3 * m), Some(4 * m), None])),
            None,
            None,
            None,
            // By its regular rule.
            Some((1, [Some(1 + 7 * m), Some(4 * m), None])),
        ]
    );
    assert_eq!((lab.tcp.stats().marks_received, info(&lab).received.ce), (4, 4 * m));
}

#[test]
fn only_changed_counters_are_reported_and_only_with_a_change() {
    let mut lab = agreed(asking());
    let told = |lab: &mut Lab, n, ecn| receives(lab, n, &[ecn])[0].expect("each is acknowledged").1;
    assert_eq!(told(&mut lab, 0, Ecn::NotEct), [None; 3]);
    assert_eq!(
        told(&mut lab, 1, Ecn::Ect1),
        [None, None, Some(1 + MSS)],
        "in the other order, which is shorter"
    );
    assert_eq!(told(&mut lab, 2, Ecn::Ce), [None, Some(MSS), Some(1 + MSS)]);
    assert_eq!(told(&mut lab, 3, Ecn::Ect0), [Some(1 + MSS), Some(MSS), Some(1 + MSS)]);
    assert_eq!(told(&mut lab, 4, Ecn::NotEct), [None; 3], "nothing is new");
}

#[test]
fn marked_acks_are_acknowledged_by_threes_and_never_else() {
    let mut lab = agreed(asking());
    lab.write(1);
    let from = lab.sent.len();
    let ack =
        Segment { ack: Lab::behind(1), flags: Flags::ACK | field(5), ecn: Ecn::Ce, ..Segment::default() };
    (0..7).for_each(|_| lab.arrives(ack));
    let acks: Vec<u8> = lab.sent[from..].iter().map(|(_, sent)| ace(sent.segment.flags)).collect();
    assert_eq!(acks, [0, 3], "after three, and after six");
    assert_eq!(info(&lab).received, ByteCounters { ect0: 0, ce: 0, ect1: 0 });
}

#[test]
fn the_option_is_dropped_if_the_first_data_with_it_is_lost() {
    let mut lab = agreed(asking());
    lab.write(1);
    lab.at(1500);
    let again = lab.sent.last().expect("it was sent again").1.segment;
    assert_eq!((again.payload.offset, again.ecn, again.options.accurate_ecn()), (0, Ecn::NotEct, None));
    let answers = receives(&mut lab, 0, &[Ecn::Ect0, Ecn::Ce]);
    assert_eq!(answers, [Some((5, [None; 3])), Some((6, [None; 3]))], "the field tells on");
}

#[test]
fn two_sack_blocks_come_before_the_counters() {
    let stamps = netspurt_tcp::options::Timestamps { value: 1, echo: 0 };
    let config = Config { timestamps: true, ecn: EcnUse::Rfc9768, ..config(Recovery::Sack) };
    let options =
        Options { mss: Some(MSS as u16), sack_permitted: true, timestamps: Some(stamps), ..Options::NONE };
    let mut lab = Lab::open_with(config, options, CWR);
    lab.stamp = Some(stamps);
    // Every second segment is missing.
    let mut seen = Vec::new();
    for n in [1_u32, 3, 5, 7] {
        let segment = Segment {
            seq: Lab::their_first().plus(n * MSS),
            ack: Lab::behind(0),
            flags: Flags::ACK | field(5),
            ecn: Ecn::Ce,
            window: 60_000,
            payload: Payload { offset: u64::from(n * MSS), len: MSS },
            options: Options { timestamps: Some(stamps), ..Options::NONE },
            ..Segment::default()
        };
        lab.tcp.handle_segment(lab.now, &segment);
        let ack = lab.tcp.poll_transmit(lab.now).expect("a duplicate ACK").segment;
        assert!(ack.header_len <= 60);
        seen.push((ack.options.sack.as_slice().len(), ack.options.accurate_ecn().map(|o| o.wire_len())));
    }
    assert_eq!(seen, [(1, Some(8)), (2, Some(8)), (2, Some(8)), (2, Some(8))]);
}

#[test]
fn dctcp_cuts_its_window_by_half_of_what_was_marked() {
    let config = Config {
        congestion: congestion::Kind::Dctcp,
        initial_ssthresh: 10_000,
        send_buffer: 1 << 22,
        initial_send_buffer: None,
        ..asking()
    };
    let mut lab = agreed(config);
    lab.write(2000);
    // Every fourth packet is marked; one ACK for all of a round, which the option goes with. Alpha goes to a quarter.
    let (mut n, mut ms, mut marked) = (0, 200, 0);
    for _ in 0..120 {
        lab.at(ms);
        let round = lab.tcp.flight() / MSS;
        n += round;
        marked += round / 4;
        told_in_bytes(&mut lab, n, marked, marked * MSS);
        ms += 100;
        if n > 1800 {
            break;
        }
    }
    assert_eq!(info(&lab).marks_delivered, marked);
    let stats = lab.tcp.stats();
    assert_eq!((stats.marks_reported, stats.retransmitted, stats.timeouts), (marked, 0, 0));
}

#[test]
fn a_sack_block_does_not_hide_marks() {
    let config = Config { ecn: EcnUse::Rfc9768, ..config(Recovery::Sack) };
    let options = Options { mss: Some(MSS as u16), sack_permitted: true, ..Options::NONE };
    let mut lab = Lab::open_with(config, options, CWR);
    lab.write(20);
    lab.at(200);
    let mut options = Options::NONE;
    options.sack.push(SackBlock { left: Lab::behind(1), right: Lab::behind(3) });
    let counters = ByteCounters { ect0: 1 + MSS, ce: MSS, ect1: 1 };
    let options = options.with_accurate_ecn(AccurateEcn::new(Order::Ect0First, counters, 2));
    lab.arrives(Segment { ack: Lab::behind(0), flags: Flags::ACK | field(6), options, ..Segment::default() });
    assert_eq!((info(&lab).marks_delivered, lab.cwnd(), lab.tcp.stats().ecn_reductions), (1, 5, 1));
}
