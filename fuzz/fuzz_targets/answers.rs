//! Bytes become the steps of a bulk transfer over a bad path, which is driven by answers and runs, and by the full procedures.
//! The oracle is their comparison in `answers.rs`.
#![no_main]

#[path = "../../crates/tcp/tests/world/answers.rs"]
mod answers;

use answers::{Answers, Step};
use arbitrary::{Arbitrary, Unstructured};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = Unstructured::new(bytes);
    let Ok((configs, is_short)) = <([[u8; 3]; 2], bool)>::arbitrary(&mut bytes) else { return };
    let mut world = Answers::new(configs, if is_short { 200_000 } else { u64::MAX });
    while !bytes.is_empty() {
        let Ok(step) = Step::arbitrary(&mut bytes) else { return };
        world.step(step);
    }
});
