//! PSH on the last segment of each burst, as Linux sets it on the packets that an interface cuts up.

mod lab;

use lab::Lab;
use netspurt_tcp::config::{Config, Recovery};
use netspurt_tcp::segment::Flags;
use netspurt_tcp::transmit::Transmit;

/// Ten segments at the start; at an RTT of 100 ms, Linux hands over two segments together.
fn lab(push_bursts: bool) -> Lab {
    let config = Config { push_bursts, transmit: Transmit::Minshall, ..lab::config(Recovery::Rack) };
    Lab::with_sack(config)
}

/// Numbers of the segments that carry PSH, of all sent so far.
fn pushed(lab: &Lab) -> Vec<u64> {
    let with_push = lab.sent.iter().filter(|(_, sent)| sent.segment.flags.has(Flags::PSH));
    with_push.map(|(_, sent)| sent.segment.payload.offset / u64::from(lab::MSS) + 1).collect()
}

#[test]
fn the_last_segment_of_each_burst_carries_psh() {
    assert_eq!(pushed(lab(true).write(30)), [2, 4, 6, 8, 10]);
    assert_eq!(pushed(lab(false).write(30)), [] as [u64; 0]);
}

#[test]
fn each_ack_begins_a_burst() {
    let mut lab = lab(true);
    lab.write(40).at(200).ack(1).ack(2);
    assert_eq!(pushed(&lab)[5..], [12, 14], "two segments for each ACK in slow start");
    lab.ack(5);
    assert_eq!(pushed(&lab)[7..], [16, 18], "four segments: two bursts");
}

#[test]
fn a_single_segment_carries_no_psh() {
    let mut lab = lab(true);
    lab.write(30).at(200);
    lab.window = 10_000;
    lab.ack(1);
    assert_eq!(lab.out().len(), 11);
    assert_eq!(pushed(&lab), [2, 4, 6, 8, 10]);
    lab.ack(4);
    assert_eq!(lab.out().len(), 3, "a burst of two, and one alone");
    assert_eq!(pushed(&lab)[5..], [13]);
}

#[test]
fn a_short_rest_ends_the_burst_unless_it_is_held() {
    let mut one = lab(true);
    one.write_bytes(1300);
    assert_eq!(pushed(&one), [2], "the rest");
    one.write_bytes(1700);
    // The write ends in the third segment; the short one of before is not acknowledged, so the rest of 1 byte waits.
    assert_eq!(one.out().len(), 3);
    one.write_bytes(2001);
    assert_eq!(one.out().len(), 2);
    assert_eq!(pushed(&one).len(), 3, "{:?}", pushed(&one));
}

#[test]
fn a_retransmission_of_one_segment_begins_no_burst() {
    let mut lab = lab(true);
    lab.write(10).at(200).sack(0, &[(2, 2)]).sack(0, &[(2, 3)]).sack(0, &[(2, 4)]).at(300);
    let again = lab.sent.last().expect("a retransmission").1;
    assert!(again.reason.is_retransmission(), "{again:?}");
    assert!(!again.segment.flags.has(Flags::PSH));
}
