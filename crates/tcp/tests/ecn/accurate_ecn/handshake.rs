//! Who agrees on accurate ECN, and what the handshake reports.

use super::{AE, ALL, CWR, ECE, OURS, ace, agreed, asking, field, opened, sends};
use crate::lab::{Lab, MSS, config};
use netspurt_tcp::Connection;
use netspurt_tcp::config::{Config, EcnUse, Recovery};
use netspurt_tcp::options::Options;
use netspurt_tcp::segment::{Ecn, Flags, Segment};
use netspurt_tcp::seq::Seq;
use netspurt_tcp::state::{CloseReason, State};
use netspurt_tcp::time::{Span, Time};
use std::sync::Arc;

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
