//! What arithmetic or the literature says of a transfer, against whole worlds with the real TCP.
//!
//! The exact oracles hold where a path is limited by latency: a window of segments takes less time to send than a round
//! trip, so a transfer is a row of rounds, each beginning with the first ACK of the one before. Where an octet lasts a
//! whole number of picoseconds they hold to the picosecond. Elsewhere an ACK may come a fraction of a picosecond after
//! the transmitter was free, which costs at most a picosecond for each segment.

use netspurt_sim::World;
use netspurt_sim::host::app::AppSpec;
use netspurt_sim::record::probe::{Recorder, Wants};
use netspurt_sim::spec::{ChannelSpec, LossSpec, QueueSpec, ReorderSpec, Room, WorldSpec};
use netspurt_tcp::acking::Acking;
use netspurt_tcp::config::{Config, InitialWindow, TimerGrain};
use netspurt_tcp::profile;
use netspurt_tcp::time::{Span, Time};
use proptest::prelude::*;
use std::sync::Arc;

const SECOND: u128 = 1_000_000_000_000;
const MSS: u64 = 1500;
/// Bits of a full segment and of one without data; packets here have no options.
const SEGMENT: u128 = 8 * (MSS as u128 + 40);
const EMPTY: u128 = 8 * 40;

fn config(name: &str) -> Config {
    profile::by_name(name).unwrap().config.clone()
}

/// The paper's sender with a window that ends at `cap` segments.
fn paper(cap: u64) -> Config {
    Config {
        send_window: Some((cap * MSS) as u32),
        initial_ssthresh: u32::MAX,
        timer_grain: TimerGrain::Continuous,
        ..config("ssfnet")
    }
}

/// Picoseconds from the start of the only flow to its end.
fn duration_ps(rate: u64, delay: Span, app: AppSpec, config: Config) -> u128 {
    let mut spec = WorldSpec::new("pair", Span::from_secs(1000));
    let ends = [spec.node("a"), spec.node("b")];
    spec.link("l", ends, &ChannelSpec::new(rate, delay));
    spec.flow("f", ends, app, &Arc::new(config));
    let result = World::new(spec, 1, None).unwrap().run(&|| false);
    let flow = &result.flows[0];
    assert_eq!((flow.retransmitted, flow.wrong_bytes), (0, 0));
    // 53 bits hold the picoseconds of more than two hours.
    (flow.end_s.unwrap() * 1e12).round() as u128
}

/// Rates from 1 Gbit/s to 8 Tbit/s at which an octet lasts a whole number of picoseconds.
fn whole_rates() -> impl Strategy<Value = u64> {
    let all: Vec<u64> =
        (1..=8000).filter(|ps| (8 * SECOND).is_multiple_of(*ps)).map(|ps| (8 * SECOND / ps) as u64).collect();
    prop::sample::select(all)
}

/// Rates from 1 Gbit/s to 10 Tbit/s.
fn any_rate() -> impl Strategy<Value = u64> {
    (0u32..4, 1_000_000_000u64..10_000_000_000).prop_map(|(power, rate)| rate * 10u64.pow(power))
}

/// A delay at which `cap` segments and a little more take less than a round trip.
fn delay_beyond(cap: u64, rate: u64, more_ns: u64) -> Span {
    let half = (u128::from(cap) + 2) * SEGMENT * SECOND / u128::from(rate) / 2;
    Span::from_ps(half as u64) + Span::from_ns(more_ns)
}

/// How many segments go in each round.
#[derive(Clone, Copy)]
struct Rounds {
    /// So many in the first,
    first: u64,
    /// so many times as many in the next,
    growth: u64,
    /// and never more than this.
    cap: u64,
}

impl Rounds {
    /// The number of rounds for so many segments, and how many go in the last.
    fn of(self, segments: u64) -> (u64, u64) {
        let (mut left, mut window, mut number) = (segments, self.first, 1);
        while left > window {
            left -= window;
            window = (window * self.growth).min(self.cap);
            number += 1;
        }
        (number, left)
    }
}

/// The closed form of table I: handshake, request, rounds, and the last of them up to its last bit.
fn table_one(rate: u64, delay: Span, bytes: u64, rounds: Rounds) -> u128 {
    let ps = |bits: u128| bits * SECOND / u128::from(rate);
    let delay = u128::from(delay.as_ps());
    let (number, last) = rounds.of(bytes.div_ceil(MSS));
    let short = bytes - (bytes.div_ceil(MSS) - 1) * MSS;
    let round_trip = 2 * delay + ps(SEGMENT) + ps(EMPTY);
    // SYN, SYN-ACK, then the ACK and the request of 4 bytes back to back.
    let opening = 2 * ps(EMPTY) + ps(2 * EMPTY + 32) + 3 * delay;
    let tail = u128::from(last - 1) * SEGMENT + 8 * (u128::from(short) + 40);
    opening + u128::from(number - 1) * round_trip + ps(tail) + delay
}

fn request(bytes: u64) -> AppSpec {
    AppSpec::RequestResponse { request: 4, response: bytes, exchanges: 1, gap: Span::ZERO }
}

#[test]
fn the_rounds_of_table_one_are_the_papers() {
    assert_eq!(Rounds { first: 1, growth: 2, cap: 100 }.of(667), (13, 40));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Slow start in rounds of 1, 2, 4, … or 1, 3, 9, … segments up to the cap.
    #[test]
    fn slow_start_follows_the_closed_form_to_the_picosecond(
        rate in whole_rates(),
        more_ns in 1u64..5_000_000,
        bytes in 1u64..2_000_000,
        cap in 2u64..200,
        per_ack in 1u8..=2,
    ) {
        let delay = delay_beyond(cap, rate, more_ns);
        let mut config = paper(cap);
        config.growth.slow_start_per_ack = per_ack;
        let rounds = Rounds { first: 1, growth: 1 + u64::from(per_ack), cap };
        let expected = table_one(rate, delay, bytes, rounds);
        prop_assert_eq!(duration_ps(rate, delay, request(bytes), config), expected);
    }

    #[test]
    fn at_any_rate_it_is_off_by_less_than_a_picosecond_a_segment(
        rate in any_rate(),
        more_ns in 1u64..5_000_000,
        bytes in 1u64..1_000_000,
        cap in 2u64..150,
    ) {
        let delay = delay_beyond(cap, rate, more_ns);
        let expected = table_one(rate, delay, bytes, Rounds { first: 1, growth: 2, cap });
        let got = duration_ps(rate, delay, request(bytes), paper(cap));
        prop_assert!(got.abs_diff(expected) <= u128::from(bytes.div_ceil(MSS)), "{got} instead of {expected}");
    }

    /// The ceiling of a window in each round trip, where the first window is already the whole.
    #[test]
    fn a_window_is_sent_in_each_round_trip_and_no_more(
        rate in whole_rates(),
        more_ns in 1u64..5_000_000,
        window in 1u64..300,
        bytes in 1u64..4_000_000,
    ) {
        let delay = delay_beyond(window, rate, more_ns);
        let config = Config { initial_window: InitialWindow::Segments(window as u32), ..paper(window) };
        let expected = table_one(rate, delay, bytes, Rounds { first: window, growth: 1, cap: window });
        prop_assert_eq!(duration_ps(rate, delay, request(bytes), config), expected);
    }
}

/// Mathis, Semke, Mahdavi and Ott (1997): C · MSS / (RTT · √p) with C = √(3/2) where every segment is acknowledged, and
/// √(3/4) where every second one is.
///
/// The derivation has one loss every 1/p segments exactly. Losses at random come closer together and further apart, which
/// gains a little where they are few; several in a window, and the time that recovery takes, cost where they are many. The
/// band is 0.85 to 1.1 of the formula for loss rates
/// from 0.05 % to 0.5 %, where timeouts are rare; 0.90 to 1.06 is what comes out.
#[test]
fn reno_under_random_loss_keeps_to_the_ceiling_of_mathis() {
    const ROUND_TRIP_S: f64 = 0.1;
    for (acking, c) in [
        (Acking::EverySegment, libm::sqrt(1.5)),
        (Acking::Delayed { every: 2, delay: Span::from_ms(200) }, libm::sqrt(0.75)),
    ] {
        for p in [5e-4, 1e-3, 5e-3] {
            let config = Config { acking, sack: true, limited_transmit: true, ..config("rfc") };
            let config = Config {
                congestion: netspurt_tcp::congestion::Kind::Reno,
                growth: profile::by_name("reno").unwrap().config.growth,
                ..config
            };
            let payload = f64::from(config.mss - 12);
            let mut spec = WorldSpec::new("lossy", Span::from_secs(1500));
            let ends = [spec.node("a"), spec.node("b")];
            let link = spec.link("l", ends, &ChannelSpec::new(10_000_000_000, Span::from_ms(50)));
            link.directions[0].loss = LossSpec::PacketError { rate: p };
            spec.flow("f", ends, AppSpec::Bulk { bytes: None }, &Arc::new(config));
            let goodput = World::new(spec, 1, None).unwrap().run(&|| false).flows[0].goodput_bps;
            let ceiling = c * payload * 8.0 / (ROUND_TRIP_S * libm::sqrt(p));
            let share = goodput / ceiling;
            assert!((0.85..1.1).contains(&share), "{acking:?}, p = {p}: {share} of the formula");
        }
    }
}

/// Three transfers over one link where everything happens that can.
fn rough() -> WorldSpec {
    let mut spec = WorldSpec::new("rough", Span::from_secs(60));
    let (left, right) = (spec.node("left"), spec.node("right"));
    let queue = QueueSpec::ResendFirst(Room::Packets(20));
    let loss = LossSpec::PacketError { rate: 0.01 };
    let mut channel = ChannelSpec { queue, ..ChannelSpec::new(7_000_003, Span::from_ms(5)) }.with_loss(loss);
    channel.duplicate = 0.01;
    channel.corrupt = 0.01;
    spec.link("bottleneck", [left, right], &channel);
    for (i, name) in ["newreno", "rfc", "bsd43-bigwindow-nak"].into_iter().enumerate() {
        let (a, b) = (spec.node(&format!("a{i}")), spec.node(&format!("b{i}")));
        let mut access = ChannelSpec::new(100_000_000, Span::from_us(300));
        spec.link(&format!("a{i}"), [a, left], &access);
        access.reorder = (i == 0).then_some(ReorderSpec { probability: 0.02, extra_delay: Span::from_ms(2) });
        spec.link(&format!("b{i}"), [right, b], &access.with_queue(30));
        spec.flow("f", [a, b], AppSpec::Bulk { bytes: Some(150_000) }, &Arc::new(config(name))).start =
            Time::ZERO + Span::from_ms(5 * i as u64);
    }
    spec
}

fn digest(seed: u64, watched: bool, fuse: bool) -> String {
    let spec = WorldSpec { fuse, ..rough() };
    let recorder = watched.then(|| Recorder::new(Wants::ALL));
    let result = World::new(spec, seed, recorder).unwrap().run(&|| false);
    assert!(result.flows.iter().all(|flow| flow.completed && flow.wrong_bytes == 0));
    result.digest
}

#[test]
fn a_seed_has_one_digest_on_one_thread_or_two_watched_or_not_fused_or_not() {
    let seeds = || 1..5u64;
    let alone: Vec<String> = seeds().map(|seed| digest(seed, false, true)).collect();
    let different: std::collections::BTreeSet<&String> = alone.iter().collect();
    assert_eq!(different.len(), alone.len());
    for (watched, fuse) in [(false, true), (true, true), (false, false), (true, false)] {
        let all = move || seeds().map(|seed| digest(seed, watched, fuse)).collect::<Vec<_>>();
        let threads = [std::thread::spawn(all), std::thread::spawn(all)];
        for thread in threads {
            assert_eq!(thread.join().unwrap(), alone, "watched: {watched}, fused: {fuse}");
        }
    }
}
