//! Bytes become calls, steps of time and the moves of an adversary between two connections, who holds back, changes and
//! invents segments. The oracle is the model of `between.rs`; the work of each step is counted and bounded.
#![no_main]

#[path = "../../crates/tcp/tests/world/between.rs"]
mod between;

use arbitrary::{Arbitrary, Unstructured};
use between::{Between, Step};
use libfuzzer_sys::fuzz_target;

/// Elements of range sets that a step may look at or move, for each segment that leaves: searches among some thousand
/// ranges. Steps of time may pass several deadlines.
const WORK: u64 = 1_000;
/// More for each segment that left earlier: one ACK may show that many are lost, and each is marked once each time it is sent.
const LATER: u64 = 100;

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = Unstructured::new(bytes);
    let Ok((profiles, both)) = <([u8; 2], bool)>::arbitrary(&mut bytes) else { return };
    let mut world = Between::new(profiles, both);
    let _ = netspurt_tcp::work::take();
    let mut saved = 0;
    while !bytes.is_empty() {
        let Ok(step) = Step::arbitrary(&mut bytes) else { return };
        world.most_sent = 0;
        world.step(step);
        let (work, sent) = (netspurt_tcp::work::take(), world.most_sent as u64);
        let more = work.saturating_sub(WORK * (1 + sent));
        saved += LATER * sent;
        assert!(more <= saved, "{work} elements for a step with {sent} segments: {saved} more are permitted");
        saved -= more;
    }
});
