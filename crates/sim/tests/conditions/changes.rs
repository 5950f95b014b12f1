//! Links that change at given times.

use crate::line::{MS, US, send, traffic, with_queues};
use netspurt_sim::network::loss::Cause;
use netspurt_sim::network::schedule::Change;
use netspurt_sim::spec::{CakeSpec, Changes, ChannelSpec, LossSpec, QueueSpec, Room};
use netspurt_tcp::time::{Span, Time};

fn once<T>(at: u64, value: T) -> Change<T> {
    Change { at: Time::from_ps(at), every: None, until: None, value }
}

fn again<T>(at: u64, every: u64, value: T) -> Change<T> {
    Change { every: Some(Span::from_ps(every)), ..once(at, value) }
}

/// An octet takes a microsecond, and another one to arrive.
fn link(changes: Changes) -> ChannelSpec {
    ChannelSpec { changes, ..ChannelSpec::new(8_000_000, Span::from_us(1)) }
}

#[test]
fn while_a_link_is_down_queued_packets_wait_and_the_one_on_the_link_is_sent() {
    let changes = Changes { up: vec![once(1500 * US, false), once(9 * MS, true)], ..Changes::default() };
    for link in with_queues(&link(changes)) {
        let passed =
            send(&link, &[(0, 1000), (0, 1000), (0, 1000), (0, 1000), (5 * MS, 1000), (20 * MS, 1000)]);
        // The second is being sent when the link goes down.
        let expected = [1, 2, 10, 11, 12, 21].map(|ms| ms * MS + US);
        assert_eq!(passed.times(), expected);
        assert_eq!(passed.counters.drops.iter().sum::<u64>(), 0);
    }
}

#[test]
fn a_queue_with_a_bandwidth_of_its_own_catches_up_after_an_outage_and_then_keeps_to_it() {
    let changes = Changes { up: vec![once(2500 * US, false), once(9 * MS, true)], ..Changes::default() };
    // The link alone would take 0.1 ms for a packet, the queue lets one leave each millisecond.
    let cake = CakeSpec { bandwidth: Some(8_000_000), rtt: Span::from_secs(1000), ..CakeSpec::default() };
    let link = ChannelSpec {
        queue: QueueSpec::Cake(cake),
        changes,
        ..ChannelSpec::new(80_000_000, Span::from_us(1))
    };
    let passed = send(&link, &[(0, 1000); 12]);
    assert_eq!(passed.numbers(), (0..12).collect::<Vec<_>>());
    // As in Linux, packets that were due meanwhile leave as fast as the link takes them.
    let starts = [0, 1000, 2000, 9000, 9100, 9200, 9300, 9400, 9500, 9600, 10_000, 11_000];
    assert_eq!(passed.times(), starts.map(|us| (us + 101) * US));
}

#[test]
fn a_link_that_stays_down_delivers_nothing_and_its_queue_fills() {
    let changes = Changes { up: vec![once(0, false)], ..Changes::default() };
    let passed = send(&link(changes).with_queue(3), &[(0, 1000); 5]);
    assert_eq!((passed.arrived.len(), passed.counters.drops[Cause::Queue as usize]), (0, 2));
}

#[test]
fn an_outage_every_second_delays_and_loses_nothing() {
    let changes = Changes {
        up: vec![again(10 * MS, 20 * MS, false), again(15 * MS, 20 * MS, true)],
        ..Changes::default()
    };
    let sent = traffic(3, 2000, 900 * US);
    for link in with_queues(&link(changes)) {
        let passed = send(&link, &sent);
        assert_eq!(passed.numbers(), (0..sent.len()).collect::<Vec<_>>());
        // Nothing begins to leave while the link is down: the last bit of a packet leaves a microsecond before it arrives.
        for (number, arrival) in &passed.arrived {
            let start = (arrival - US - u64::from(sent[*number].1) * US) % (20 * MS);
            assert!(!(10 * MS..15 * MS).contains(&start), "packet {number} began at {start}");
        }
    }
}

#[test]
fn a_packet_that_is_being_sent_goes_on_at_the_new_rate() {
    let changes =
        Changes { rate: vec![once(500 * US, 4_000_000), once(3 * MS, 80_000_000)], ..Changes::default() };
    for link in with_queues(&link(changes)) {
        let passed = send(&link, &[(0, 1000), (0, 1000), (0, 1000)]);
        // 500 octets at 1, then 500 at 2 µs each; 750 at 2 µs, 250 at 0.1 µs; 1000 at 0.1 µs.
        assert_eq!(passed.times(), [1500, 3025, 3125].map(|us| us * US + US));
    }
}

#[test]
fn a_link_without_a_rate_can_get_one() {
    let changes = Changes { rate: vec![once(MS, 8_000_000)], ..Changes::default() };
    let link = ChannelSpec { changes, ..ChannelSpec::default() };
    assert_eq!(send(&link, &[(0, 1000), (0, 1000), (MS, 1000), (MS, 1000)]).times(), [0, 0, 2 * MS, 3 * MS]);
}

#[test]
fn no_packet_overtakes_another_because_the_delay_has_changed() {
    let changes = Changes {
        delay: vec![once(10 * MS, Span::from_ms(50)), once(20 * MS, Span::from_ms(5))],
        ..Changes::default()
    };
    let link = ChannelSpec { changes, ..ChannelSpec::new(8_000_000_000, Span::from_ms(1)) };
    let passed = send(&link, &[(0, 1000), (15 * MS, 1000), (21 * MS, 1000), (70 * MS, 1000)]);
    assert_eq!(passed.times(), [MS + US, 65 * MS + US, 65 * MS + US, 75 * MS + US]);
    assert_eq!(passed.numbers(), [0, 1, 2, 3]);
}

#[test]
fn the_limit_of_a_queue_and_the_rate_of_a_loss_change() {
    let changes = Changes {
        room: vec![once(100 * MS, Room::Packets(5)), once(200 * MS, Room::Bytes(2000))],
        ..Changes::default()
    };
    let burst = |at| [(at, 1000); 10];
    let sent = [burst(0), burst(100 * MS), burst(200 * MS)].concat();
    let passed = send(&link(changes).with_queue(2), &sent);
    assert_eq!(passed.numbers(), [0, 1, 2, 10, 11, 12, 13, 14, 15, 20, 21, 22]);

    let changes = Changes { loss: vec![(0, once(MS, 1.0)), (0, once(2 * MS, 0.0))], ..Changes::default() };
    let lossy = link(changes).with_loss(LossSpec::PacketError { rate: 0.0 });
    let passed = send(&lossy, &[(0, 10), (MS, 10), (MS, 10), (2 * MS, 10)]);
    assert_eq!(passed.numbers(), [0, 3]);
    assert_eq!(passed.counters.drops[Cause::PacketError as usize], 2);
}

#[test]
fn utilisation_counts_the_time_in_which_it_was_busy() {
    use netspurt_sim::network::channel::Channel;
    let changes = Changes { rate: vec![once(500 * US, 4_000_000)], ..Changes::default() };
    let mut spec = netspurt_sim::spec::WorldSpec::new("busy", Span::from_secs(1));
    let ends = [spec.node("a"), spec.node("b")];
    spec.link("l", ends, &link(changes));
    let mut network = netspurt_sim::network::Network::joining(&spec, std::iter::once((ends[0], ends[1])), 1);
    let (route, _) = network.routes().between(ends[0], ends[1]).unwrap();
    let label = netspurt_sim::network::packet::Label { route, size: 1000, ..Default::default() };
    network.send(Time::ZERO, &netspurt_tcp::segment::Segment::default(), label);
    let channel: &Channel = &network.channels()[0];
    assert!((channel.utilisation(Time::from_ps(3 * MS)) - 0.5).abs() < 1e-12);
}
