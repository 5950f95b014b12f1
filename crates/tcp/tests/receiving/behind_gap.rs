//! ACKs of data behind a gap: Linux joins those that follow the third (`__tcp_ack_snd_check()`).

use crate::lab::{Lab, MSS};
use netspurt_tcp::acking::Acking;
use netspurt_tcp::config::ReceiveMemory;
use netspurt_tcp::options::{Options, SackBlock, Timestamps};
use netspurt_tcp::profile;
use netspurt_tcp::segment::Segment;
use netspurt_tcp::time::{Span, Time};

/// Segments that come in order. Behind so many, quick ACKs are over.
const IN_ORDER: u32 = 400;

/// The peer has sent segments in order, one each millisecond from 200 ms on. Timestamps show an RTT of
/// 100 ms or more.
fn receiver(behind_gap: Span, sack_permitted: bool) -> Lab {
    let mut linux = profile::by_name("linux").expect("a profile").config.clone();
    let Acking::Adaptive(bounds) = &mut linux.acking else { panic!("its ACKs are adaptive") };
    bounds.behind_gap = behind_gap;
    // No segment opens the window, for which an ACK would leave at once.
    (linux.receive_memory, linux.receive_window) = (ReceiveMemory::Bytes, 6 << 20);
    let stamp = Some(Timestamps { value: 1, echo: 0 });
    let peer = Options { mss: Some(MSS as u16), sack_permitted, timestamps: stamp, ..Options::NONE };
    let mut lab = Lab::open(linux, peer);
    let opened = lab.sent[1].1.segment.options.timestamps.expect("both have them").value;
    lab.stamp = Some(Timestamps { value: 2, echo: opened });
    for n in 0..IN_ORDER {
        lab.at(200 + u64::from(n)).data(n * MSS, MSS);
    }
    lab
}

/// When the ACKs left that were sent since `from`, in microseconds after `since`, and the ends of their first blocks in
/// segments behind those in order.
fn reports(lab: &Lab, from: usize, since: Time) -> Vec<(u64, u32)> {
    let end = |segment: &Segment| {
        let block: Option<&SackBlock> = segment.options.sack.as_slice().first();
        block.map_or(0, |block| Lab::theirs(block.right) / MSS - IN_ORDER)
    };
    lab.sent[from..]
        .iter()
        .map(|(at, sent)| ((*at - since).as_ps() / 1_000_000, end(&sent.segment)))
        .collect()
}

/// The first segment is lost, and `count` more arrive `apart` one after the other.
fn behind_a_gap(lab: &mut Lab, count: u32, apart: Span) -> Vec<(u64, u32)> {
    behind_a_gap_from(lab, IN_ORDER, count, apart)
}

/// The same behind so many segments in order.
fn behind_a_gap_from(lab: &mut Lab, in_order: u32, count: u32, apart: Span) -> Vec<(u64, u32)> {
    let (from, since) = (lab.sent.len(), lab.now);
    for n in 0..count {
        lab.run_to(since + apart.saturating_mul(u64::from(n)));
        lab.data((in_order + 1 + n) * MSS, MSS);
    }
    lab.run_to(lab.now + Span::from_ms(10));
    reports(lab, from, since)
}

#[test]
fn three_acks_for_a_gap_leave_at_once_and_others_report_what_comes_within_a_millisecond() {
    let mut lab = receiver(Span::from_ms(1), true);
    lab.at(700);
    let out = behind_a_gap(&mut lab, 12, Span::from_us(300));
    // The fourth waits from 900 µs on, the eighth from 2100 µs on.
    assert_eq!(out, [(0, 2), (300, 3), (600, 4), (2000, 8), (3200, 12), (4400, 13)]);
}

#[test]
fn an_ack_that_waits_leaves_before_a_third_block_and_no_block_goes_unreported() {
    let mut lab = receiver(Span::from_ms(1), true);
    lab.at(700);
    let (from, since) = (lab.sent.len(), lab.now);
    // Every second segment is lost.
    for n in 0..7 {
        lab.run_to(since + Span::from_us(100 * n));
        lab.data((IN_ORDER + 1 + 2 * n as u32) * MSS, MSS);
    }
    lab.run_to(lab.now + Span::from_ms(10));
    // The fourth waits. The fifth sends the ACK that reports it, and causes none itself; so does the seventh.
    assert_eq!(reports(&lab, from, since), [(0, 2), (100, 4), (200, 6), (400, 8), (600, 12)]);
    let last = &lab.sent.last().expect("an ACK").1.segment.options.sack;
    let ends = last.as_slice().iter().map(|block| Lab::theirs(block.right) / MSS - IN_ORDER);
    assert_eq!(ends.collect::<Vec<_>>(), [12, 10, 8]);
}

#[test]
fn what_fills_a_gap_is_acknowledged_at_once_with_all_that_waits() {
    let mut lab = receiver(Span::from_ms(1), true);
    lab.at(700);
    for n in 1..5 {
        lab.data((IN_ORDER + n) * MSS, MSS);
    }
    let from = lab.sent.len();
    let filled = lab.data(IN_ORDER * MSS, MSS);
    assert_eq!(filled.iter().map(|ack| Lab::theirs(ack.ack) / MSS).collect::<Vec<_>>(), [IN_ORDER + 5]);
    lab.at(710);
    assert_eq!(lab.sent.len(), from + 1, "nothing waits any more");
}

#[test]
fn without_a_delay_each_segment_is_reported_at_once() {
    let mut lab = receiver(Span::ZERO, true);
    lab.at(700);
    assert_eq!(behind_a_gap(&mut lab, 12, Span::from_us(300)).len(), 12);
}

#[test]
fn without_sack_each_segment_causes_a_duplicate_ack_at_once() {
    let mut lab = receiver(Span::from_ms(1), false);
    lab.at(700);
    assert_eq!(behind_a_gap(&mut lab, 12, Span::from_us(300)).len(), 12);
}

/// A timestamp of the peer.
fn echoing(echo: u32) -> Option<Timestamps> {
    Some(Timestamps { value: 2, echo })
}

/// A receiver whose window is as large as it becomes, so that no segment opens it, and the timestamp of its SYN-ACK.
fn with_its_largest_window() -> (Lab, u32) {
    let mut linux = profile::by_name("linux").expect("a profile").config.clone();
    linux.receive_window = linux.initial_receive_window.expect("it grows");
    let peer =
        Options { mss: Some(MSS as u16), sack_permitted: true, timestamps: echoing(0), ..Options::NONE };
    let lab = Lab::open(linux, peer);
    let opened = lab.sent[1].1.segment.options.timestamps.expect("both have them").value;
    (lab, opened)
}

/// What the kernel counts of echoed timestamps: after data in order that echoes one, first in a segment of `len` bytes, four full
/// segments behind a gap echo one of `age` ms. How many ACKs leave at once?
fn at_once_after(len: u32, age: u32) -> usize {
    let (mut lab, opened) = with_its_largest_window();
    lab.stamp = echoing(opened);
    lab.at(200).data(0, len);
    for n in 0..IN_ORDER {
        lab.at(201 + u64::from(n)).data(len + n * MSS, MSS);
    }
    lab.at(700);
    lab.stamp = echoing(opened.wrapping_add(600 - age));
    let from = lab.sent.len();
    for n in 1..=4 {
        lab.data(len + (IN_ORDER + n) * MSS, MSS);
    }
    lab.sent.len() - from
}

#[test]
fn each_timestamp_measures_the_rtt_once_by_its_first_segment_if_that_is_full_also_behind_a_gap() {
    assert_eq!(at_once_after(MSS, 600), 3, "the RTT is known");
    assert_eq!(at_once_after(1, 600), 4, "a short segment has used the timestamp up (rcv_rtt_last_tsecr)");
    assert_eq!(at_once_after(1, 50), 3, "another one behind the gap measures (tcp_rcv_rtt_measure_ts())");
}

/// How long the fourth ACK behind a gap waits, in microseconds, after a segment has filled another gap, before data that is behind it
/// if `fills`. The RTT was 10 ms before, and the timestamp that this segment echoes is 300 ms old.
fn waits_after_a_gap_was_filled(fills: bool) -> u64 {
    let (mut lab, opened) = with_its_largest_window();
    lab.stamp = echoing(opened.wrapping_add(90));
    for n in 0..IN_ORDER {
        lab.at(200 + u64::from(n)).data(n * MSS, MSS);
    }
    lab.at(700);
    if fills {
        lab.data((IN_ORDER + 1) * MSS, MSS);
    }
    lab.stamp = echoing(opened.wrapping_add(600 - 300));
    lab.data(IN_ORDER * MSS, MSS);
    lab.at(710);
    let in_order = IN_ORDER + 1 + u32::from(fills);
    let out = behind_a_gap_from(&mut lab, in_order, 5, Span::from_us(100));
    out.iter().find(|(at, _)| *at > 300).map_or(0, |(at, _)| at - 300)
}

#[test]
fn a_segment_that_fills_a_gap_measures_the_rtt_as_others_do() {
    // A twentieth of the RTT, at most a millisecond, and a tenth of one more for the timer. In Linux nothing waits for the application
    // when the segment comes (tcp_rcv_rtt_update()), though it sets free what is behind it.
    assert_eq!(waits_after_a_gap_was_filled(false), 1100);
    assert_eq!(waits_after_a_gap_was_filled(true), 1100);
}
