//! ACKs of data behind a gap: Linux joins those that follow the third (`__tcp_ack_snd_check()`).

use crate::lab::{Lab, MSS};
use netspurt_tcp::config::Config;
use netspurt_tcp::options::{Options, SackBlock};
use netspurt_tcp::profile;
use netspurt_tcp::segment::Segment;
use netspurt_tcp::time::{Span, Time};

/// The peer has sent 50 segments in order, one each millisecond from 200 ms on, so quick ACKs are over. The RTT is 100 ms.
fn receiver() -> Lab {
    let linux = profile::by_name("linux").expect("a profile").config.clone();
    let mut lab = Lab::with_sack(Config { initial_receive_window: None, receive_window: 1 << 20, ..linux });
    for n in 0..50 {
        lab.at(200 + u64::from(n)).data(n * MSS, MSS);
    }
    lab
}

/// When the ACKs left that were sent since `from`, in microseconds after `since`, and the ends of their first blocks in segments.
fn reports(lab: &Lab, from: usize, since: Time) -> Vec<(u64, u32)> {
    let end = |segment: &Segment| {
        let block: Option<&SackBlock> = segment.options.sack.as_slice().first();
        block.map_or(0, |block| Lab::theirs(block.right) / MSS)
    };
    lab.sent[from..]
        .iter()
        .map(|(at, sent)| ((*at - since).as_ps() / 1_000_000, end(&sent.segment)))
        .collect()
}

/// Segments 52 to 51 + `count` arrive `apart` one after the other, segment 51 does not.
fn behind_a_gap(lab: &mut Lab, count: u32, apart: Span) -> Vec<(u64, u32)> {
    let (from, since) = (lab.sent.len(), lab.now);
    for n in 0..count {
        lab.run_to(since + apart.saturating_mul(u64::from(n)));
        lab.data((51 + n) * MSS, MSS);
    }
    lab.run_to(lab.now + Span::from_ms(10));
    reports(lab, from, since)
}

#[test]
fn three_acks_for_a_gap_leave_at_once_and_others_report_what_comes_within_a_millisecond() {
    let mut lab = receiver();
    lab.at(300);
    let out = behind_a_gap(&mut lab, 12, Span::from_us(300));
    // The fourth waits from 900 µs on, the eighth from 2100 µs on.
    assert_eq!(out, [(0, 52), (300, 53), (600, 54), (2000, 58), (3200, 62), (4400, 63)]);
}

#[test]
fn what_fills_a_gap_is_acknowledged_at_once_with_all_that_waits() {
    let mut lab = receiver();
    lab.at(300);
    for n in 51..55 {
        lab.data(n * MSS, MSS);
    }
    let from = lab.sent.len();
    let filled = lab.data(50 * MSS, MSS);
    assert_eq!(filled.iter().map(|ack| Lab::theirs(ack.ack) / MSS).collect::<Vec<_>>(), [55]);
    lab.at(310);
    assert_eq!(lab.sent.len(), from + 1, "nothing waits any more");
}

#[test]
fn profiles_of_other_systems_report_each_segment_at_once() {
    let freebsd = profile::by_name("freebsd").expect("a profile").config.clone();
    let peer = Options { mss: Some(MSS as u16), sack_permitted: true, ..Options::NONE };
    let mut lab = Lab::open(freebsd, peer);
    lab.at(200).data(0, MSS);
    let from = lab.sent.len();
    for n in 2..8 {
        lab.data(n * MSS, MSS);
    }
    assert_eq!(lab.sent.len(), from + 6);
}
