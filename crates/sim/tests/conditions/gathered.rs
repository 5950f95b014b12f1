//! Packets that go on in bursts, ACKs that are left out, and middleboxes, on a link.

use crate::line::{MS, US, send, send_segments, traffic, with_queues};
use netspurt_sim::network::gather::{Aggregation, Thinning};
use netspurt_sim::network::loss::Cause;
use netspurt_sim::network::middlebox::MiddleboxSpec;
use netspurt_sim::spec::ChannelSpec;
use netspurt_tcp::options::{SackBlock, SackBlocks};
use netspurt_tcp::segment::{Flags, Payload, Segment};
use netspurt_tcp::seq::Seq;
use netspurt_tcp::time::Span;

fn gathering(aggregation: Aggregation) -> ChannelSpec {
    ChannelSpec { aggregation: Some(aggregation), ..ChannelSpec::new(80_000_000, Span::from_ms(1)) }
}

#[test]
fn bursts_go_on_at_multiples_of_an_interval() {
    for link in with_queues(&gathering(Aggregation::Every(Span::from_ms(2)))) {
        let passed =
            send(&link, &[(0, 1000), (100 * US, 1000), (1900 * US, 1000), (2 * MS, 1000), (7 * MS, 1000)]);
        // What comes at a multiple goes on at once.
        assert_eq!(passed.times(), [1100, 3100, 3200, 3300, 9100].map(|us| us * US));
    }
}

#[test]
fn bursts_go_on_when_there_are_enough_packets_or_after_a_timeout() {
    let aggregation = Aggregation::Of { packets: 3, timeout: Span::from_ms(5) };
    for link in with_queues(&gathering(aggregation)) {
        let sent = [(0, 1000), (MS, 1000), (2 * MS, 1000), (3 * MS, 1000), (20 * MS, 1000)];
        let passed = send(&link, &sent);
        assert_eq!(passed.times(), [3100, 3200, 3300, 9100, 26_100].map(|us| us * US));
    }
}

#[test]
fn nothing_is_lost_or_reordered_by_gathering() {
    let sent = traffic(7, 3000, 300 * US);
    for aggregation in
        [Aggregation::Every(Span::from_us(700)), Aggregation::Of { packets: 8, timeout: Span::from_ms(2) }]
    {
        for link in with_queues(&gathering(aggregation)) {
            let passed = send(&link, &sent);
            assert_eq!(passed.numbers(), (0..sent.len()).collect::<Vec<_>>());
        }
    }
}

/// An ACK of so many octets for an endpoint, at a time in microseconds.
fn ack(us: u64, endpoint: u32, ack: u32) -> (u64, u32, u32, Segment) {
    (us * US, 40, endpoint, Segment { flags: Flags::ACK, ack: Seq(ack), ..Segment::default() })
}

fn thinning() -> ChannelSpec {
    let thinning = Some(Thinning { keep: 3, interval: Span::from_ms(1) });
    ChannelSpec { thinning, ..ChannelSpec::default() }
}

#[test]
fn the_last_of_a_group_of_acks_is_forwarded_and_none_waits_longer_than_the_interval() {
    for link in with_queues(&thinning()) {
        let sent =
            [ack(0, 1, 10), ack(10, 1, 20), ack(15, 2, 10), ack(20, 1, 30), ack(30, 1, 40), ack(40, 1, 50)];
        let passed = send_segments(&link, &sent);
        let expected = [(3, 20 * US), (2, 1015 * US), (5, 1030 * US)];
        assert_eq!(passed.arrived, expected);
        assert_eq!(passed.counters.drops[Cause::AckThinning as usize], 3);
    }
}

#[test]
fn acks_with_more_than_an_ack_number_are_not_left_out() {
    let mut sack = SackBlocks::EMPTY;
    sack.push(SackBlock { left: Seq(5), right: Seq(9) });
    let mut with_sack = ack(20, 1, 10);
    with_sack.3.options.sack = sack;
    let mut data = ack(50, 1, 30);
    data.3.payload = Payload { offset: 0, len: 1 };
    let fin = (60 * US, 40, 1, Segment { flags: Flags(Flags::ACK.0 | Flags::FIN.0), ..Segment::default() });
    // A duplicate, a SACK, data behind an ACK, a FIN: all go on, in order and at once.
    let sent = [ack(0, 1, 10), ack(10, 1, 10), with_sack, ack(40, 1, 20), data, fin];
    let passed = send_segments(&thinning(), &sent);
    let expected =
        [(0, 10), (1, 10), (2, 20), (3, 50), (4, 50), (5, 60)].map(|(number, us)| (number, us * US));
    assert_eq!(passed.arrived, expected);
}

#[test]
fn packets_of_a_forgotten_connection_are_dropped_under_their_own_name() {
    let middlebox = MiddleboxSpec { idle: Some(Span::from_ms(1)), ..MiddleboxSpec::default() };
    let link = ChannelSpec { middlebox: Some(middlebox), ..ChannelSpec::default() };
    let sent = [ack(0, 1, 10), ack(900, 1, 20), ack(1900, 1, 30), ack(3000, 1, 40), ack(3000, 2, 10)];
    let passed = send_segments(&link, &sent);
    assert_eq!(passed.numbers(), [0, 1, 2, 4]);
    assert_eq!(passed.counters.drops[Cause::IdleTimeout as usize], 1);
}
