//! BBR beside flows that go by losses: what it leaves them of a shared bottleneck.

use netspurt_sim::World;
use netspurt_sim::host::app::AppSpec;
use netspurt_sim::spec::{ChannelSpec, WorldSpec};
use netspurt_tcp::config::Config;
use netspurt_tcp::congestion::Kind;
use netspurt_tcp::profile;
use netspurt_tcp::time::Span;
use std::sync::Arc;

/// 50 Mbit/s and 40 ms: 167 full packets.
const RATE: u64 = 50_000_000;
const BDP_PACKETS: usize = 167;

fn with(congestion: Kind) -> Arc<Config> {
    let linux = profile::by_name("linux").unwrap().config.clone();
    Arc::new(Config { congestion, pacing: congestion.needs_pacing().is_some(), ..linux })
}

/// What two kinds get of the bottleneck behind a queue of `packets`, in parts of it, and the part of all packets lost: two
/// flows of each, for a minute, with two seeds.
fn shares(kinds: [Kind; 2], packets: usize) -> ([f64; 2], f64) {
    let (mut shares, mut lost, mut sent) = ([0.0; 2], 0.0, 0.0);
    for seed in 1..=2 {
        let mut spec = WorldSpec::new("shared", Span::from_secs(60));
        let (left, right) = (spec.node("left"), spec.node("right"));
        let bottleneck = ChannelSpec::new(RATE, Span::from_ms(15)).with_queue(packets as u32);
        spec.link("bottleneck", [left, right], &bottleneck);
        for (i, kind) in [kinds[0], kinds[1], kinds[0], kinds[1]].into_iter().enumerate() {
            let ends = [spec.node(&format!("a{i}")), spec.node(&format!("b{i}"))];
            let access = ChannelSpec::new(1_000_000_000, Span::from_us(2500));
            spec.link(&format!("a{i}"), [ends[0], left], &access);
            spec.link(&format!("b{i}"), [right, ends[1]], &access);
            spec.flow(&format!("f{i}"), ends, AppSpec::Bulk { bytes: None }, &with(kind));
        }
        let result = World::new(spec, seed, None).unwrap().run(&|| false);
        for (i, flow) in result.flows.iter().enumerate() {
            shares[i % 2] += flow.goodput_bps / RATE as f64 / 2.0;
            lost += flow.retransmitted as f64;
            sent += flow.segments_sent as f64;
        }
    }
    (shares, lost / sent)
}

#[test]
fn version_3_leaves_loss_based_flows_a_larger_share_than_version_1_and_loses_less() {
    for others in [Kind::Cubic, Kind::NewReno] {
        for part in [4, 1] {
            let queue = BDP_PACKETS / part;
            let (first, first_lost) = shares([Kind::Bbr, others], queue);
            let (third, third_lost) = shares([Kind::Bbr3, others], queue);
            let seen = format!(
                "| {others:?} | 1/{part} | {:.2} | {:.2} | {:.1} % | {:.2} | {:.2} | {:.1} % |",
                first[0],
                first[1],
                100.0 * first_lost,
                third[0],
                third[1],
                100.0 * third_lost
            );
            println!("{seen}");
            assert!(third[1] > 2.5 * first[1] && third[1] > 0.1, "{seen}");
            assert!(third_lost < 0.01 && third_lost < 0.25 * first_lost, "{seen}");
            assert!(third[0] + third[1] > 0.9, "{seen}");
        }
    }
}
