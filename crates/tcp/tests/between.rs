//! Two connections and an adversary, by random steps. The fuzz target of the same name lets a fuzzer choose the steps and
//! counts the work of each.

#[path = "world/between.rs"]
mod between;
#[path = "world/dice.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod dice;

use between::Between;
use dice::Dice;

#[test]
fn no_adversary_changes_the_stream_without_a_refusal() {
    let all = netspurt_tcp::profile::profiles().len() as u64;
    let mut seen = [0; 2];
    for seed in 0..3000 {
        let mut dice = Dice(seed);
        let profiles = [dice.below(all) as u8, dice.below(all) as u8];
        println!("seed {seed}, profiles {profiles:?}");
        let mut world = Between::new(profiles, dice.permille(100));
        for _ in 0..300 {
            world.step((dice.next() as u8, dice.next() as u8, dice.next() as u32));
        }
        seen = [seen[0] + world.seen[0], seen[1] + world.seen[1]];
    }
    // The adversary leaves enough alone for the oracle to have work.
    println!("{} bytes read, {} segments outside", seen[0], seen[1]);
    assert!(seen[0] > 1_000_000 && seen[1] > 1_000, "{seen:?}");
}
