//! Links against closed forms.

use netspurt_sim::network::channel::{Channel, Passage};
use netspurt_sim::network::loss::Cause;
use netspurt_sim::spec::{ChannelSpec, QueueSpec};
use netspurt_tcp::time::{Span, Time};

fn channel(rate: u64, delay: Span) -> Channel {
    Channel::new(&ChannelSpec::new(rate, delay), 1, "test")
}

#[test]
fn a_t1_link_is_busy_to_the_picosecond_after_many_packets() {
    let rate = 1_544_000;
    for (size, n) in [(1068, 1000u32), (44, 12_345), (1500, 100_000)] {
        let mut link = channel(rate, Span::from_ms(290));
        for _ in 0..n {
            link.enter(0, size).unwrap();
        }
        let work = u128::from(size) * 8 * 1_000_000_000_000 * u128::from(n);
        let (busy_until, remainder) = link.occupied();
        assert_eq!(u128::from(busy_until.as_ps()), work / u128::from(rate));
        assert_eq!(u128::from(remainder), work % u128::from(rate));
    }
}

#[test]
fn the_fraction_is_forgotten_when_the_link_has_been_idle() {
    let mut link = channel(3, Span::ZERO);
    // 8 bits at 3 bit/s last 2.666… s.
    link.enter(0, 1).unwrap();
    assert_eq!(link.occupied(), (Time::from_ps(2_666_666_666_666), 2));
    link.enter(2_666_666_666_666, 1).unwrap();
    assert_eq!(link.occupied(), (Time::from_ps(5_333_333_333_333), 1));
    link.enter(9_000_000_000_000, 1).unwrap();
    assert_eq!(link.occupied(), (Time::from_ps(11_666_666_666_666), 2));
}

#[test]
fn extreme_rates_do_not_overflow() {
    for (rate, size, took) in [
        (1, 65_535, 524_280_000_000_000_000),
        (100_000_000_000_000, 65_535, 5242),
        (100_000_000_000_000, 40, 3),
        (10_000_000_000_000, 40, 32),
        (10_000_000_000_000, 1540, 1232),
        // A byte takes more picoseconds than 32 bits can count.
        (1000, 1500, 12_000_000_000_000),
        (99_999_999_999_977, 65_535, 5242),
    ] {
        let mut link = channel(rate, Span::from_us(1));
        let passage = link.enter(5, size).unwrap();
        assert_eq!(passage, Passage { start: 5, arrival: 5 + took + 1_000_000 }, "{rate} bit/s");
    }
}

#[test]
fn an_infinite_rate_costs_the_delay_alone() {
    let spec = ChannelSpec { delay: Span::from_ns(7), ..ChannelSpec::default() };
    let mut link = Channel::new(&spec, 1, "test");
    for _ in 0..3 {
        assert_eq!(link.enter(100, 1500).unwrap(), Passage { start: 100, arrival: 7100 });
    }
}

#[test]
fn drop_tail_counts_what_waits_and_not_what_is_being_sent() {
    // 1000 octets at 8 Mbit/s last 1 ms.
    let ms = 1_000_000_000;
    let mut link = Channel::new(&ChannelSpec::new(8_000_000, Span::ZERO).with_queue(2), 1, "test");
    let mut starts = Vec::new();
    for _ in 0..5 {
        starts.push(link.enter(0, 1000).map(|passage| passage.start));
    }
    assert_eq!(starts, [Ok(0), Ok(ms), Ok(2 * ms), Err(Cause::Queue), Err(Cause::Queue)]);
    // Just before the first departure both places are still taken; at the departure one is free.
    assert!(link.enter(ms - 1, 1000).is_err());
    assert_eq!(link.enter(ms, 1000).map(|passage| passage.start), Ok(3 * ms));
    assert!(link.enter(ms, 1000).is_err());
    assert_eq!(link.backlog().packets, 2);
    assert_eq!(link.counters().queue_max, 2);
    assert_eq!(link.counters().packets, 4);
}

#[test]
fn drop_tail_in_octets_lets_in_what_fits() {
    let spec = ChannelSpec { queue: QueueSpec::Bytes(1500), ..ChannelSpec::new(8_000_000, Span::ZERO) };
    let mut link = Channel::new(&spec, 1, "test");
    let verdicts: Vec<bool> =
        [1000, 1000, 1000, 500, 1].iter().map(|&size| link.enter(0, size).is_ok()).collect();
    assert_eq!(verdicts, [true, true, false, true, false]);
}

#[test]
fn a_queue_has_emptied_when_a_packet_need_not_wait() {
    let ms = 1_000_000_000;
    for queue in [QueueSpec::Packets(2), QueueSpec::Bytes(2000)] {
        let spec = ChannelSpec { queue, ..ChannelSpec::new(8_000_000, Span::ZERO) };
        let mut link = Channel::new(&spec, 1, "test");
        for burst in 0..20 {
            // One is sent at once and two wait; no other fits until one of these leaves.
            let begun = burst * 3 * ms;
            let starts = [0; 4].map(|_| link.enter(begun, 1000).map(|passage| passage.start));
            let all = [Ok(begun), Ok(begun + ms), Ok(begun + 2 * ms), Err(Cause::Queue)];
            assert_eq!(starts, all, "burst {burst}");
            assert_eq!(link.backlog().packets, 2);
        }
        assert_eq!(link.counters().queue_max, 2);
    }
}

#[test]
fn framing_counts_on_the_link() {
    let spec = ChannelSpec { framing: 38, ..ChannelSpec::new(8_000_000_000, Span::ZERO) };
    let mut link = Channel::new(&spec, 1, "test");
    assert_eq!(link.enter(0, 962).unwrap().arrival, 1_000_000);
    assert_eq!(link.counters().bytes, 1000);
}

#[test]
fn utilisation_and_mean_queue_are_exact() {
    let ms = 1_000_000_000;
    let mut link = channel(8_000_000, Span::from_ms(5));
    for _ in 0..4 {
        link.enter(0, 1000).unwrap();
    }
    // Waits of 1, 2 and 3 ms; busy for 4 ms.
    let at = |n: u64| Time::from_ps(n * ms);
    assert!((link.queue_mean(at(6)) - 1.0).abs() < 1e-12);
    assert!((link.utilisation(at(8)) - 0.5).abs() < 1e-12);
    // Cut in the middle: waiting were 3, 2 (and then 1, 0) packets.
    assert!((link.queue_mean(at(2)) - 2.5).abs() < 1e-12);
    assert!((link.utilisation(at(2)) - 1.0).abs() < 1e-12);
}
