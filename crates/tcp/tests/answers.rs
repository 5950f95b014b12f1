//! Answers and runs against the full procedures, by random steps. The fuzz target of the same name lets a fuzzer choose the
//! steps.

#[path = "world/answers.rs"]
mod answers;
#[path = "world/dice.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod dice;

use answers::Answers;
use dice::Dice;

#[test]
fn answers_and_runs_do_the_same_as_the_full_procedures() {
    let (mut answered, mut in_run, mut in_repair) = ([0; 2], [0; 2], [0; 2]);
    for seed in 0..400 {
        let mut dice = Dice(seed);
        println!("seed {seed}");
        let configs = [0; 2].map(|_| [0; 3].map(|_| dice.next() as u8));
        let all = if dice.permille(300) { 200_000 } else { u64::MAX };
        let mut world = Answers::new(configs, all);
        // How many of the steps disturb.
        let most = [10, 14, 16][dice.below(3) as usize];
        for _ in 0..300 {
            let kind = if dice.permille(900) { 0 } else { dice.below(most) as u8 };
            world.step((kind, dice.next() as u8, dice.next() as u32));
        }
        for end in 0..2 {
            answered[end] += world.answered[end];
            in_run[end] += world.in_run[end];
            in_repair[end] += world.in_repair[end];
        }
    }
    println!("{answered:?} answers, {in_run:?} in a run that had begun before, {in_repair:?} in repairs");
    assert!(answered.iter().all(|&count| count > 10_000), "{answered:?}");
    assert!(in_run.iter().all(|&count| count > 1_000), "{in_run:?}");
    assert!(in_repair.iter().all(|&count| count > 500), "{in_repair:?}");
}

/// Repeats what the fuzzer once found: the bytes of a file in `fuzz/seeds/answers`, read as the fuzz target reads them.
fn repeat(found: &[u8]) {
    let (configs, steps) = found.split_at(7);
    let all = if configs[6] & 1 == 1 { 200_000 } else { u64::MAX };
    let three = |of: &[u8]| [of[0], of[1], of[2]];
    let mut world = Answers::new([three(&configs[..3]), three(&configs[3..6])], all);
    for step in steps.chunks(6) {
        let byte = |at: usize| step.get(at).copied().unwrap_or(0);
        world.step((byte(0), byte(1), u32::from_le_bytes([2, 3, 4, 5].map(byte))));
    }
}

#[test]
fn an_ack_that_leaves_cwnd_full_counts_as_its_full_use() {
    // The receive window is the limit first. A loss reduces cwnd below the flight, and an ACK of less than the excess arrives
    // after the recovery: nothing is sent, because cwnd is full.
    repeat(include_bytes!("../../../fuzz/seeds/answers/ack-leaves-cwnd-full"));
}

#[test]
fn an_ack_behind_a_d_sack_takes_the_full_way_and_may_widen_the_reordering_window() {
    repeat(include_bytes!("../../../fuzz/seeds/answers/dsack-before-an-ordinary-ack"));
}

#[test]
fn an_ack_that_ends_inside_a_segment_opens_cwnd_by_whole_segments_without_sack_too() {
    repeat(include_bytes!("../../../fuzz/seeds/answers/ack-inside-a-segment"));
}

#[test]
fn an_answer_to_data_behind_a_gap_forgets_a_d_sack_that_waits() {
    // As the full path does where old segments are treated as in Linux.
    repeat(include_bytes!("../../../fuzz/seeds/answers/d-sack-behind-a-gap"));
}

#[test]
fn data_with_flags_of_ecn_does_not_lower_wl1() {
    // A bare ACK that came early has raised it. Header prediction of Linux, which lowers it, takes plain flags only.
    repeat(include_bytes!("../../../fuzz/seeds/answers/data-with-ecn-flags-below-wl1"));
}

#[test]
fn a_delay_of_an_ack_that_a_read_has_ended_leaves_no_trace() {
    // The answer knows that the data is read at once, so it does not wait and then announce the larger window.
    repeat(include_bytes!("../../../fuzz/seeds/answers/read-that-ends-a-delay"));
}
