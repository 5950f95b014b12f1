//! Policers and shapers against the arrival curve r·t + b.

use crate::line::{MS, US, send, traffic, with_queues};
use netspurt_sim::network::loss::Cause;
use netspurt_sim::network::schedule::Change;
use netspurt_sim::network::token_bucket::bucket::Bucket;
use netspurt_sim::network::token_bucket::policer::{Action, Excess, PolicerSpec};
use netspurt_sim::network::token_bucket::shaper::ShaperSpec;
use netspurt_sim::spec::{CakeSpec, Changes, ChannelSpec, CodelSpec, QueueSpec, Room};
use netspurt_tcp::time::{Span, Time};

/// An octet a microsecond.
const BUCKET: Bucket = Bucket { rate: 8_000_000, burst: 5000 };

/// No stretch, short or long, has more than r·t + b octets; how close any comes, in octets.
#[track_caller]
fn assert_curve(departures: &[(u64, u32)], bucket: Bucket) -> u64 {
    let per_octet = 8 * 1_000_000_000_000u128;
    let mut least = u128::MAX;
    for first in 0..departures.len() {
        let mut octets = 0;
        for &(time, size) in &departures[first..] {
            octets += u128::from(size);
            let gained = u128::from(bucket.rate) * u128::from(time - departures[first].0);
            let allowed = gained + u128::from(bucket.burst) * per_octet;
            assert!(octets * per_octet <= allowed, "{octets} octets from packet {first} to {time} ps");
            least = least.min(allowed - octets * per_octet);
        }
    }
    u64::try_from(least / per_octet).unwrap()
}

fn shaped(peak: Option<Bucket>) -> ChannelSpec {
    ChannelSpec { shaper: Some(ShaperSpec { bucket: BUCKET, peak }), ..ChannelSpec::default() }
}

#[test]
fn a_shaper_lets_a_burst_through_and_then_its_rate() {
    for link in with_queues(&shaped(None)) {
        let passed = send(&link, &[(0, 1000); 10]);
        let expected = [0, 0, 0, 0, 0, 1, 2, 3, 4, 5].map(|ms| ms * MS);
        assert_eq!(passed.times(), expected);
    }
}

#[test]
fn a_peak_rate_spreads_the_burst() {
    let peak = Bucket { rate: 80_000_000, burst: 1000 };
    for link in with_queues(&shaped(Some(peak))) {
        let passed = send(&link, &[(0, 1000); 8]);
        // 100 µs apart, until the first bucket is empty: 5000 octets and those of 500 µs.
        assert_eq!(passed.times(), [0, 100, 200, 300, 400, 1000, 2000, 3000].map(|us| us * US));
    }
}

#[test]
fn of_a_shaper_and_a_queue_with_a_bandwidth_of_its_own_the_slower_one_decides() {
    // The bucket fills at an octet a microsecond; the queue lets a packet leave every 0.5 ms or every 2 ms.
    for (bandwidth, expected) in [
        (16_000_000, [0, 500, 1000, 1500, 2000, 2500, 3000, 3500, 4000, 5000].map(|us| us * US)),
        (4_000_000, [0, 2, 4, 6, 8, 10, 12, 14, 16, 18].map(|ms| ms * MS)),
    ] {
        let cake = CakeSpec { bandwidth: Some(bandwidth), rtt: Span::from_secs(1000), ..CakeSpec::default() };
        let link = ChannelSpec { queue: QueueSpec::Cake(cake), ..shaped(None) };
        let passed = send(&link, &[(0, 1000); 10]);
        assert_eq!(passed.times(), expected);
        assert_eq!(passed.numbers(), (0..10).collect::<Vec<_>>());
    }
}

#[test]
fn no_stretch_of_shaped_traffic_exceeds_the_curve_and_nothing_is_lost() {
    for (seed, gap) in [(1, 500 * US), (2, 1300 * US), (3, 780 * US)] {
        let sent = traffic(seed, 1200, gap);
        let peak = Bucket { rate: 24_000_000, burst: 1500 };
        for (link, bounds) in [(shaped(None), vec![BUCKET]), (shaped(Some(peak)), vec![BUCKET, peak])] {
            for link in with_queues(&link) {
                let passed = send(&link, &sent);
                assert_eq!(passed.numbers(), (0..sent.len()).collect::<Vec<_>>());
                let left: Vec<_> = passed.arrived.iter().map(|&(number, at)| (at, sent[number].1)).collect();
                for bound in &bounds {
                    // Nothing is held without need: the curve is reached.
                    assert!(assert_curve(&left, *bound) < 1, "seed {seed}: the curve is not reached");
                }
            }
        }
    }
}

#[test]
fn a_shaper_before_a_slow_link_a_link_that_goes_down_and_codel_keeps_to_the_curve() {
    let at = |ms| Time::ZERO + Span::from_ms(ms);
    let outage = |ms, value| Change { at: at(ms), every: Some(Span::from_ms(40)), until: None, value };
    let changes = Changes { up: vec![outage(20, false), outage(25, true)], ..Changes::default() };
    let queue = QueueSpec::Codel(Room::Packets(500), CodelSpec::default());
    let link = ChannelSpec { rate: Some(64_000_000), changes, queue, ..shaped(None) };
    let sent = traffic(5, 1500, 600 * US);
    let passed = send(&link, &sent);
    // When the first bit left: a packet of n octets takes n/8 µs.
    let left: Vec<_> = passed
        .arrived
        .iter()
        .map(|&(number, at)| (at - u64::from(sent[number].1) * US / 8, sent[number].1))
        .collect();
    assert_curve(&left, BUCKET);
    assert!(passed.counters.drops[Cause::Codel as usize] > 0, "the queue is CoDel's");
    for (start, _) in left {
        assert!(!(20 * MS..25 * MS).contains(&(start % (40 * MS))) || start < 20 * MS, "down at {start}");
    }
}

#[test]
fn a_packet_larger_than_a_bucket_is_dropped_under_its_own_name() {
    let passed = send(&shaped(None), &[(0, 5001), (0, 5000)]);
    assert_eq!((passed.numbers(), passed.counters.drops[Cause::Shaper as usize]), (vec![1], 1));
}

fn policed(excess: Excess, [yellow, red]: [Action; 2]) -> ChannelSpec {
    let policer = PolicerSpec { committed: BUCKET, excess, yellow, red };
    ChannelSpec { policer: Some(policer), ..ChannelSpec::default() }
}

#[test]
fn no_stretch_of_policed_traffic_exceeds_the_curve_and_none_waits() {
    for (seed, gap) in [(1, 300 * US), (2, 700 * US), (3, 900 * US)] {
        let sent = traffic(seed, 1500, gap);
        for link in with_queues(&policed(Excess::None, [Action::Pass, Action::Drop])) {
            let passed = send(&link, &sent);
            let left: Vec<_> = passed.arrived.iter().map(|&(number, at)| (at, sent[number].1)).collect();
            assert!(left.iter().zip(&passed.arrived).all(|((at, _), (number, _))| *at == sent[*number].0));
            assert_curve(&left, BUCKET);
            let dropped = passed.counters.drops[Cause::Policer as usize];
            assert_eq!(left.len() as u64 + dropped, sent.len() as u64);
            assert!(dropped > 20, "seed {seed}: {dropped}");
        }
    }
}

#[test]
fn traffic_within_the_curve_is_not_policed() {
    let sent = traffic(4, 1500, 900 * US);
    let shaped: Vec<_> = send(&shaped(None), &sent).arrived.iter().map(|&(n, at)| (at, sent[n].1)).collect();
    let passed = send(&policed(Excess::None, [Action::Pass, Action::Drop]), &shaped);
    assert_eq!(passed.arrived.len(), shaped.len());
}

#[test]
fn with_three_colours_what_is_not_red_keeps_to_both_curves() {
    let sent = traffic(6, 1500, 400 * US);
    let peak = Bucket { rate: 16_000_000, burst: 3000 };
    for (excess, dropped, bound) in [
        (Excess::Burst(4000), [Action::Pass, Action::Drop], Bucket { burst: 9000, ..BUCKET }),
        (Excess::Burst(4000), [Action::Drop, Action::Drop], BUCKET),
        (Excess::Peak(peak), [Action::Pass, Action::Drop], peak),
        (Excess::Peak(peak), [Action::Drop, Action::Drop], BUCKET),
    ] {
        let passed = send(&policed(excess, dropped), &sent);
        let left: Vec<_> = passed.arrived.iter().map(|&(number, at)| (at, sent[number].1)).collect();
        assert_curve(&left, bound);
        assert!(left.len() > 100 && left.len() < sent.len());
    }
}
