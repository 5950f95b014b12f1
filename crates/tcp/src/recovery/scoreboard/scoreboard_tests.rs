//! The scoreboard held against the simplest one there is, and the work that it does counted.

use crate::ranges::{Range, work};
use crate::record::reason::Reason;
use crate::recovery::scoreboard::Scoreboard;

const MSS: u32 = 100;

struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// RFC 6675, section 4, word by word, on a list of positions.
struct Simple {
    sacked: Vec<bool>,
    una: u64,
    max: u64,
    high_rxt: u64,
    lost_below: u64,
}

impl Simple {
    fn is_sacked(&self, position: u64) -> bool {
        self.sacked[position as usize]
    }

    fn highest(&self) -> Option<u64> {
        (self.una..self.max).rev().find(|&position| self.is_sacked(position)).map(|last| last + 1)
    }

    /// Where the range begins at which `threshold` ranges, or more than (threshold - 1) segments, are reported from above.
    fn update_loss(&mut self, threshold: u64) {
        let (mut ranges, mut bytes, mut position) = (0, 0, self.max);
        while position > self.una {
            position -= 1;
            if self.is_sacked(position) {
                bytes += 1;
                let begins = position == self.una || !self.is_sacked(position - 1);
                ranges += u64::from(begins);
                if begins && (ranges >= threshold || bytes > (threshold - 1) * u64::from(MSS)) {
                    self.lost_below = self.lost_below.max(position);
                    return;
                }
            }
        }
    }

    fn pipe(&self) -> u64 {
        let in_network = |&position: &u64| -> u64 {
            let lost = position < self.lost_below;
            u64::from(!lost) + u64::from(position < self.high_rxt)
        };
        (self.una..self.max).filter(|&position| !self.is_sacked(position)).map(|p| in_network(&p)).sum()
    }

    fn next_hole(&self, only_lost: bool) -> Option<Range> {
        let highest = self.highest()?;
        let from = self.una.max(self.high_rxt);
        let start = (from..highest).find(|&position| !self.is_sacked(position))?;
        if only_lost && start >= self.lost_below {
            return None;
        }
        let end = (start..highest).find(|&position| self.is_sacked(position)).unwrap_or(highest);
        Some(Range::new(start, end.min(start + u64::from(MSS))))
    }
}

#[test]
fn the_scoreboard_agrees_with_the_simplest_one_over_random_reports() {
    let mut most = 0;
    for (seed, longest) in [(1, 1), (2, 1), (3, 40), (4, 400)] {
        let mut dice = Dice(seed);
        let mut board = Scoreboard::default();
        let mut simple =
            Simple { sacked: vec![false; 20_000], una: 1, max: 8000, high_rxt: 0, lost_below: 0 };
        for step in 0..12_000_u64 {
            let (una, max) = (simple.una, simple.max);
            let start = una + 1 + dice.below(max - una - 1);
            let range = Range::new(start, (start + 1 + dice.below(longest)).min(max));
            let is_new = (range.start..range.end).any(|position| !simple.is_sacked(position));
            assert_eq!(board.report(range), is_new);
            (range.start..range.end).for_each(|position| simple.sacked[position as usize] = true);
            most = most.max(board.sacked.len());
            if dice.below(50) != 0 && step % 4000 != 3999 {
                continue;
            }
            board.update_loss(3, MSS, u64::MAX);
            simple.update_loss(3);
            match dice.below(12) {
                0 => {
                    board.begin(una);
                    simple.high_rxt = una;
                }
                1 => {
                    board.start_over();
                    (simple.high_rxt, simple.lost_below) = (0, 0);
                }
                2 => {
                    // An ACK never ends within what was reported.
                    let una =
                        (una + dice.below(60)..).find(|&position| !simple.is_sacked(position)).unwrap_or(una);
                    let una = una.min(max - 100);
                    board.advance(una);
                    (0..una).for_each(|position| simple.sacked[position as usize] = false);
                    simple.una = una;
                    simple.max = (max + dice.below(120)).min(19_999);
                }
                _ => {
                    if let Some(hole) = simple.next_hole(false) {
                        board.resent(hole, Reason::SackHole);
                        simple.high_rxt = simple.high_rxt.max(hole.end);
                    }
                }
            }
            let (una, max) = (simple.una, simple.max);
            assert_eq!(board.pipe(una, max), simple.pipe(), "seed {seed} step {step}");
            for only_lost in [false, true] {
                assert_eq!(
                    board.next_hole(una, MSS, only_lost),
                    simple.next_hole(only_lost),
                    "seed {seed} {step}"
                );
            }
        }
    }
    assert!(most > 1500, "the ranges become many: {most}");
}

/// Work for one more report, and for what is asked after each, where `n` slivers have been reported in an order without any.
fn work_among(n: u64) -> u64 {
    let mut board = Scoreboard::default();
    let report = |board: &mut Scoreboard, k: u64| {
        let start = 3 + 2 * (k.wrapping_mul(0x9E37_79B1) % (1 << 20));
        board.report(Range::new(start, start + 1));
        board.update_loss(3, MSS, u64::MAX);
    };
    (0..n).for_each(|k| report(&mut board, k));
    board.begin(1);
    board.resent(Range::new(1, 1 << 20), Reason::SackHole);
    let _ = work::take();
    for k in n..n + 100 {
        report(&mut board, k);
        assert!(board.pipe(1, 1 << 22) > 0);
        assert!(board.next_hole(1, MSS, true).is_some());
    }
    work::take() / 100
}

#[test]
fn an_ack_costs_hardly_more_among_half_a_million_slivers_than_among_two_thousand() {
    let [few, many] = [1 << 11, 1 << 19].map(work_among);
    println!("elements looked at or moved for each ACK: {few} among 2^11, {many} among 2^19");
    assert!(many < 2 * few && many < 300, "{few} {many}");
}
