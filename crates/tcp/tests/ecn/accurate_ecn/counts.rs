//! What is counted, reported and believed after the handshake.

use super::{CWR, ace, agreed, asking, field, info, sends, told, told_in_bytes};
use crate::lab::{Lab, MSS, config};
use netspurt_tcp::acking::Acking;
use netspurt_tcp::config::{Config, EcnUse, Recovery};
use netspurt_tcp::congestion;
use netspurt_tcp::congestion::{CongestionControl, Signal, View};
use netspurt_tcp::ecn::{AccurateEcn, ByteCounters, Order};
use netspurt_tcp::options::{Options, SackBlock};
use netspurt_tcp::segment::{Ecn, Flags, Payload, Segment};
use netspurt_tcp::time::{Span, Time};
use std::sync::{Arc, Mutex};

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
