//! One run on several threads is the same run.

use netspurt_sim::World;
use netspurt_sim::host::app::AppSpec;
use netspurt_sim::parallel::{self, Partition};
use netspurt_sim::record::result::RunResult;
use netspurt_sim::spec::{
    CakeSpec, ChannelSpec, DualPi2Spec, Duplex, FqCodelSpec, FqPieSpec, LossSpec, MtuSpec, NodeId, PieSpec,
    QueueSpec, ReorderSpec, Room, TooBig, WorldSpec,
};
use netspurt_tcp::config::Config;
use netspurt_tcp::profile;
use netspurt_tcp::time::{Span, Time};
use std::sync::Arc;

fn config(name: &str) -> Arc<Config> {
    Arc::new(profile::by_name(name).unwrap().config.clone())
}

/// Hosts on both sides of two routers, with transfers in both directions.
fn crowd(bottleneck: &ChannelSpec, config: &Arc<Config>, pairs: u64, app: &AppSpec) -> WorldSpec {
    let mut spec = WorldSpec::new("crowd", Span::from_secs(20));
    let (left, right) = (spec.node("left"), spec.node("right"));
    spec.link("bottleneck", [left, right], bottleneck);
    for i in 0..pairs {
        let (a, b) = (spec.node(&format!("a{i}")), spec.node(&format!("b{i}")));
        let access = ChannelSpec::new(100_000_000, Span::from_us(300 + 100 * (i % 7)));
        spec.link(&format!("access a{i}"), [a, left], &access);
        spec.link(&format!("access b{i}"), [right, b], &access);
        let ends = if i % 3 == 2 { [b, a] } else { [a, b] };
        let flow = spec.flow("f", ends, app.clone(), config);
        flow.start = Time::ZERO + Span::from_ms(5 * i);
        flow.count = 3;
        flow.stagger = Span::from_ms(2100);
    }
    spec
}

fn on_one_thread(spec: &WorldSpec, seed: u64) -> RunResult {
    World::new(spec.clone(), seed, None).unwrap().run(&|| false)
}

fn parts(spec: &WorldSpec, threads: usize) -> usize {
    Partition::finest(spec, threads).map_or(1, |partition| partition.parts())
}

/// All that a result says, but for what computing it took.
fn told(mut result: RunResult) -> String {
    result.performance.events = 0;
    format!("{result:?}")
}

/// Two results are the same, or the test fails and shows where they first differ.
#[track_caller]
fn assert_same(result: &str, reference: &str, what: &str) {
    if result != reference {
        let differs = result.bytes().zip(reference.bytes()).take_while(|(ours, one)| ours == one).count();
        let near =
            |text: &str| -> String { text.chars().skip(differs.saturating_sub(100)).take(200).collect() };
        panic!("{what}:\n {}\n instead of\n {}", near(result), near(reference));
    }
}

fn assert_same_on_any_number_of_threads(spec: &WorldSpec, seed: u64, what: &str) {
    let reference = told(on_one_thread(spec, seed));
    for threads in [1, 2, 3, 8] {
        let partition = Partition::finest(spec, threads);
        let result = told(parallel::run(spec.clone(), seed, partition.as_ref(), &mut |_| false).unwrap());
        assert_same(&result, &reference, &format!("{what}, seed {seed}, {threads} threads"));
    }
}

#[test]
fn long_transfers_are_the_same_on_any_number_of_threads() {
    let bottleneck = ChannelSpec::new(20_000_000, Span::from_ms(10)).with_queue(60);
    for name in ["newreno", "linux", "freebsd", "bsd43-tahoe"] {
        let spec = crowd(&bottleneck, &config(name), 8, &AppSpec::Bulk { bytes: None });
        assert_eq!([2, 8].map(|threads| parts(&spec, threads)), [2, 8], "{name}");
        assert_same_on_any_number_of_threads(&spec, 7, name);
    }
}

#[test]
fn transfers_that_end_are_the_same_on_any_number_of_threads() {
    let mut rough =
        ChannelSpec::new(8_000_000, Span::from_ms(5)).with_queue(15).with_loss(LossSpec::GilbertElliott {
            good_to_bad: 0.01,
            bad_to_good: 0.5,
            loss_good: 0.001,
            loss_bad: 0.3,
        });
    rough.reorder = Some(ReorderSpec { probability: 0.02, extra_delay: Span::from_ms(2) });
    rough.duplicate = 0.02;
    rough.corrupt = 0.01;
    for profile in profile::profiles() {
        let config = Arc::new(profile.config.clone());
        let spec = crowd(&rough, &config, 4, &AppSpec::Bulk { bytes: Some(60_000) });
        assert_eq!(parts(&spec, 2), 2, "{}", profile.name);
        assert_same_on_any_number_of_threads(&spec, 3, profile.name);
    }
}

#[test]
fn what_senders_hold_for_delayed_acks_is_found_across_the_border() {
    let app =
        AppSpec::RequestResponse { request: 2000, response: 5000, exchanges: 10, gap: Span::from_ms(100) };
    let bottleneck = ChannelSpec::new(100_000_000, Span::from_ms(4));
    let spec = crowd(&bottleneck, &config("newreno"), 3, &app);
    let held: u64 = on_one_thread(&spec, 1).flows.iter().map(|flow| flow.held_tails).sum();
    assert!(held > 0 && parts(&spec, 2) == 2);
    assert_same_on_any_number_of_threads(&spec, 1, "held tails");
}

/// A small random number.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn one_of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize].clone()
    }
}

/// One direction of a link, with anything that a link can have.
fn channel(dice: &mut Dice) -> ChannelSpec {
    let rates = [500_000, 2_000_000, 9_999_999, 10_000_000, 100_000_000];
    let delay = Span::from_us(dice.one_of(&[0, 50, 1000, 3333, 5000, 20_000]));
    let mut channel = ChannelSpec::new(dice.one_of(&rates), delay);
    let packets = dice.one_of(&[3, 15, 60]);
    let room = Room::Packets(packets);
    channel.queue = match dice.below(10) {
        0 => QueueSpec::Unlimited,
        1 => QueueSpec::Pie(room, PieSpec::default()),
        2 => QueueSpec::FqPie(FqPieSpec::default()),
        3 => QueueSpec::DualPi2(DualPi2Spec::default()),
        4 => QueueSpec::Cake(CakeSpec { bandwidth: Some(1_500_000), ..CakeSpec::default() }),
        5 => QueueSpec::ResendFirst(room),
        6 => QueueSpec::FqCodel(FqCodelSpec::default()),
        _ => QueueSpec::Packets(packets),
    };
    if dice.one_in(4) {
        channel.loss = LossSpec::PacketError { rate: 0.02 };
    }
    if dice.one_in(6) {
        channel.reorder = Some(ReorderSpec { probability: 0.02, extra_delay: Span::from_ms(2) });
    }
    channel.duplicate = if dice.one_in(6) { 0.02 } else { 0.0 };
    channel.corrupt = if dice.one_in(6) { 0.01 } else { 0.0 };
    if dice.one_in(8) {
        let too_big = dice.one_of(&[TooBig::Icmp, TooBig::Silent]);
        channel.mtu.push(MtuSpec { from: Time::ZERO + Span::from_ms(500), mtu: 1200, too_big });
    }
    channel
}

/// A tree of routers with hosts at them, and flows between any two hosts.
fn random_world(seed: u64) -> WorldSpec {
    let dice = &mut Dice(seed);
    let mut spec = WorldSpec::new("random", Span::from_ms(500 + dice.below(2500)));
    let routers: Vec<NodeId> = (0..1 + dice.below(4)).map(|i| spec.node(&format!("r{i}"))).collect();
    let join = |spec: &mut WorldSpec, dice: &mut Dice, ends: [NodeId; 2]| {
        let link = spec.link(&format!("l{}", ends[1].0), ends, &ChannelSpec::default());
        link.directions = [channel(dice), channel(dice)];
        if dice.one_in(3) {
            link.directions[1] = link.directions[0].clone();
        }
        link.duplex = if dice.one_in(8) { Duplex::Half } else { Duplex::Full };
    };
    for (i, &router) in routers.iter().enumerate().skip(1) {
        let before = routers[dice.below(i as u64) as usize];
        join(&mut spec, dice, [before, router]);
    }
    let hosts: Vec<NodeId> = (0..2 + dice.below(6)).map(|i| spec.node(&format!("h{i}"))).collect();
    for &host in &hosts {
        let router = dice.one_of(&routers);
        join(&mut spec, dice, [router, host]);
        spec.nodes[host.0 as usize].latency = Span::from_us(dice.one_of(&[0, 0, 30]));
    }
    for i in 0..1 + dice.below(5) {
        let from = dice.one_of(&hosts);
        let to = dice.one_of(&hosts);
        if from == to {
            continue;
        }
        let app = match dice.below(4) {
            0 => AppSpec::Bulk { bytes: None },
            1 | 2 => AppSpec::Bulk { bytes: Some(1 + dice.below(100_000)) },
            _ => AppSpec::RequestResponse {
                request: 1 + dice.below(3000),
                response: 1 + dice.below(9000),
                exchanges: 1 + dice.below(9),
                gap: Span::from_ms(dice.below(50)),
            },
        };
        let profiles = profile::profiles();
        let profile = &profiles[dice.below(profiles.len() as u64) as usize];
        let flow = spec.flow(&format!("f{i}"), [from, to], app, &Arc::new(profile.config.clone()));
        flow.count = 1 + dice.below(3) as u32;
        flow.start = Time::ZERO + Span::from_ms(dice.below(100));
        flow.stagger = Span::from_ms(dice.one_of(&[0, 10, 700]));
    }
    spec
}

/// The number of threads for a random world. Eight of them wait for a processor most of the time, so few worlds have as many.
fn threads_for(seed: u64) -> usize {
    if seed.is_multiple_of(10) { 8 } else { 2 + seed as usize % 2 }
}

#[test]
fn random_worlds_are_the_same_on_any_number_of_threads() {
    // Threads wait for each other, so several worlds at once take less time than one after the other.
    const AT_ONCE: u64 = 4;
    let compare = |first: u64| {
        let (mut divided, mut moved) = (0, 0);
        for seed in (first..).step_by(AT_ONCE as usize) {
            let spec = random_world(seed);
            let Some(partition) = Partition::finest(&spec, threads_for(seed)) else { continue };
            divided += 1;
            if divided > 5000 / AT_ONCE {
                break;
            }
            moved += u64::from(partition.moved(&spec) > 0);
            let reference = told(on_one_thread(&spec, seed));
            let result = told(parallel::run(spec, seed, Some(&partition), &mut |_| false).unwrap());
            assert_same(&result, &reference, &format!("seed {seed}, {} threads", threads_for(seed)));
        }
        moved
    };
    let moved: u64 = std::thread::scope(|scope| {
        let all: Vec<_> = (0..AT_ONCE).map(|first| scope.spawn(move || compare(first))).collect();
        all.into_iter().map(|one| one.join().expect("no difference")).sum()
    });
    assert!(moved > 500, "in {moved} worlds a part simulates a channel that begins in another one");
}

/// Hosts with one link each behind two or three routers. Most links of hosts are plain, and most hosts have one flow.
fn world_of_pairs(seed: u64) -> WorldSpec {
    let dice = &mut Dice(seed ^ 0x5eed);
    let mut spec = WorldSpec::new("pairs", Span::from_ms(200 + dice.below(800)));
    let routers: Vec<NodeId> = (0..2 + dice.below(2)).map(|i| spec.node(&format!("r{i}"))).collect();
    for pair in routers.windows(2) {
        let mut both = channel(dice);
        if dice.one_in(2) {
            both = ChannelSpec::new(dice.one_of(&[1_000_000, 7_000_000, 100_000_000]), both.delay);
            both.queue = QueueSpec::Packets(dice.one_of(&[5, 20, 100]));
        }
        spec.link("between", [pair[0], pair[1]], &both);
    }
    let hosts: Vec<NodeId> = (0..2 * (1 + dice.below(5))).map(|i| spec.node(&format!("h{i}"))).collect();
    for &host in &hosts {
        let delay = Span::from_us(dice.one_of(&[0, 20, 1000, 1000, 7000]));
        let rate = dice.one_of(&[1_000_000, 10_000_000, 10_000_000, 99_999_999]);
        let plain = ChannelSpec::new(rate, delay).with_queue(dice.one_of(&[4, 50, 1000]));
        let access = if dice.one_in(6) { channel(dice) } else { plain };
        let router = dice.one_of(&routers);
        spec.link("access", [host, router], &access);
        spec.nodes[host.0 as usize].latency = Span::from_us(dice.one_of(&[0, 0, 30]));
    }
    for pair in hosts.chunks(2) {
        let others = [dice.one_of(&hosts), pair[1]];
        let from = if others[0] != others[1] && dice.one_in(8) { others[0] } else { pair[0] };
        let gap = Span::from_ms(dice.below(100));
        let app = match dice.below(4) {
            0 | 1 => AppSpec::Bulk { bytes: None },
            2 => AppSpec::Bulk { bytes: Some(1 + dice.below(300_000)) },
            _ => AppSpec::RequestResponse {
                request: 1 + dice.below(9000),
                response: 1 + dice.below(30_000),
                exchanges: 1 + dice.below(20),
                gap,
            },
        };
        let profile = dice.one_of(profile::profiles());
        let flow = spec.flow("f", [from, pair[1]], app, &Arc::new(profile.config.clone()));
        flow.start = Time::ZERO + Span::from_ms(dice.below(200));
        flow.count = if dice.one_in(8) { 2 } else { 1 };
    }
    spec
}

#[test]
fn hosts_that_get_ahead_of_others_do_the_same_as_event_by_event() {
    let (mut ahead, mut events) = (0, 0);
    for seed in 0..5000 {
        let spec = world_of_pairs(seed);
        let fast = on_one_thread(&spec, seed);
        let slow = on_one_thread(&WorldSpec { fuse: false, ..spec.clone() }, seed);
        ahead += fast.performance.events;
        events += slow.performance.events;
        let (fast, slow) = (told(fast), told(slow));
        assert_same(&fast, &slow, &format!("seed {seed}"));
        if seed % 10 == 0
            && let Some(partition) = Partition::finest(&spec, 3)
        {
            let result = told(parallel::run(spec, seed, Some(&partition), &mut |_| false).unwrap());
            assert!(result == slow, "seed {seed} on {} threads", partition.parts());
        }
    }
    assert!(ahead < events / 2, "{ahead} of {events} events: no host gets ahead");
}

#[test]
fn routers_that_get_ahead_of_others_do_the_same_as_event_by_event() {
    for seed in 0..1500 {
        let spec = random_world(seed);
        let fast = told(on_one_thread(&spec, seed));
        let slow = told(on_one_thread(&WorldSpec { fuse: false, ..spec }, seed));
        assert_same(&fast, &slow, &format!("seed {seed}"));
    }
}

/// So many hosts on both sides of two routers that they have no inboxes. Their links are alike.
fn many_hosts(seed: u64) -> WorldSpec {
    let dice = &mut Dice(seed ^ 0xfa4);
    let mut spec = WorldSpec::new("many", Span::from_ms(300));
    let (left, right) = (spec.node("left"), spec.node("right"));
    let mut bottleneck = ChannelSpec::new(dice.one_of(&[20_000_000, 999_999_999]), Span::from_ms(5));
    bottleneck.queue = QueueSpec::Packets(dice.one_of(&[50, 1000]));
    bottleneck.corrupt = dice.one_of(&[0.0, 0.01]);
    spec.link("bottleneck", [left, right], &bottleneck);
    let access = ChannelSpec::new(dice.one_of(&[1_000_000, 1_000_000_000]), Span::from_ms(1));
    for i in 0..310 {
        let ends = [spec.node(&format!("a{i}")), spec.node(&format!("b{i}"))];
        spec.link("access a", [ends[0], left], &access);
        spec.link("access b", [right, ends[1]], &access);
        let app = match dice.below(3) {
            0 => AppSpec::Bulk { bytes: None },
            1 => AppSpec::Bulk { bytes: Some(1 + dice.below(20_000)) },
            _ => {
                let gap = Span::from_ms(dice.below(20));
                AppSpec::RequestResponse { request: 1 + dice.below(3000), response: 5000, exchanges: 5, gap }
            }
        };
        let profile = dice.one_of(profile::profiles());
        let flow = spec.flow("f", ends, app, &Arc::new(profile.config.clone()));
        flow.start = Time::ZERO + Span::from_us(dice.below(100_000));
    }
    spec
}

#[test]
fn many_hosts_that_get_ahead_of_others_do_the_same_as_event_by_event() {
    let (mut ahead, mut events) = (0, 0);
    for seed in 0..40 {
        let spec = many_hosts(seed);
        let fast = on_one_thread(&spec, seed);
        let slow = on_one_thread(&WorldSpec { fuse: false, ..spec.clone() }, seed);
        ahead += fast.performance.events;
        events += slow.performance.events;
        let slow = told(slow);
        assert!(told(fast) == slow, "seed {seed}");
        if seed % 5 == 0 {
            let partition = Partition::finest(&spec, 2);
            let result = parallel::run(spec, seed, partition.as_ref(), &mut |_| false).unwrap();
            assert!(told(result) == slow, "seed {seed} in parts");
        }
    }
    assert!(ahead < events / 4, "{ahead} of {events} events: no host gets ahead");
}

#[test]
fn a_run_on_several_threads_can_be_stopped() {
    let spec = crowd(
        &ChannelSpec::new(50_000_000, Span::from_ms(10)),
        &config("newreno"),
        4,
        &AppSpec::Bulk { bytes: None },
    );
    let partition = Partition::finest(&spec, 2);
    let until = Time::ZERO + Span::from_ms(500);
    let result = parallel::run(spec, 1, partition.as_ref(), &mut |now| now >= until).unwrap();
    assert!(partition.is_some() && result.interrupted);
    assert!(result.active_s > 0.4 && result.active_s < 0.6, "{}", result.active_s);
    assert!(result.flows[0].bytes_delivered > 0);
}
