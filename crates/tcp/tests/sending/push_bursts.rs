//! PSH on the last segment of each burst, as Linux sets it on the packets that an interface cuts up.

use crate::lab::Lab;
use netspurt_tcp::config::{Config, Recovery};
use netspurt_tcp::segment::Flags;
use netspurt_tcp::transmit::Transmit;

/// Ten segments at the start; at an RTT of 100 ms, Linux hands over two segments together.
fn lab(push_bursts: bool) -> Lab {
    let config = Config { push_bursts, transmit: Transmit::Minshall, ..crate::lab::config(Recovery::Rack) };
    Lab::with_sack(config)
}

/// Numbers of the segments that carry PSH, of all sent so far.
fn pushed(lab: &Lab) -> Vec<u64> {
    let with_push = lab.sent.iter().filter(|(_, sent)| sent.segment.flags.has(Flags::PSH));
    with_push.map(|(_, sent)| sent.segment.payload.offset / u64::from(crate::lab::MSS) + 1).collect()
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
fn a_short_rest_ends_the_burst() {
    let mut lab = lab(true);
    lab.write_bytes(1300);
    assert_eq!((lab.out().len(), pushed(&lab)), (2, vec![2]));
    // The rest of 1 byte waits, because a short segment is not acknowledged.
    lab.write_bytes(2001);
    assert_eq!(
        (lab.out().len(), pushed(&lab)),
        (2, vec![2, 3]),
        "the rest is held: the burst ends before it"
    );
}

#[test]
fn only_the_last_of_the_writes_that_wait_carries_psh() {
    for (push_bursts, expected) in [(true, vec![1, 3, 5, 7, 9, 12, 13]), (false, vec![1, 11, 12, 13])] {
        let mut lab = lab(push_bursts);
        lab.write(1).write(10).write(1).write(1).at(200).ack(10);
        assert_eq!(pushed(&lab), expected);
    }
}

#[test]
fn a_retransmission_of_one_segment_begins_no_burst() {
    let mut lab = lab(true);
    lab.write(10).at(200).sack(0, &[(2, 2)]).sack(0, &[(2, 3)]).sack(0, &[(2, 4)]).at(300);
    let again = lab.sent.last().expect("a retransmission").1;
    assert!(again.reason.is_retransmission(), "{again:?}");
    assert!(!again.segment.flags.has(Flags::PSH));
}
