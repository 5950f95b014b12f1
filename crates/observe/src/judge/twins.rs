//! What packets cannot show: two paths with the same packets at the sender, and different truths.

use super::cases::Case;
use super::trial::{Place, truth_of};
use netspurt_budget::{Limit, Timeline, agreement};
use std::collections::BTreeMap;
use std::path::Path;

/// How much of the truth no diagnosis of the packets can have right, from pairs of cases that differ in one thing only: how the
/// delay of the path is divided before and behind the bottleneck.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Twins {
    /// Pairs that were compared.
    pub pairs: u32,
    /// Those with the same packets in a capture at the sender.
    pub same: u32,
    /// Those of these with different dominant limits.
    pub other_dominant: u32,
    /// Sum of the shares of the time that a diagnosis must have wrong.
    wrong: f64,
}

impl Twins {
    /// The share of the time that the best diagnosis has right on average: at most this.
    pub fn bound(&self) -> f64 {
        1.0 - self.wrong / f64::from(self.pairs.max(1))
    }

    /// Compares a case with its twin. `file` is overwritten.
    ///
    /// # Errors
    ///
    /// A sentence: the case is no valid scenario, or the file cannot be written or read.
    pub fn add(&mut self, case: &Case, file: &Path) -> Result<(), String> {
        let mut seen = Vec::new();
        for one in [case, &twin(case)] {
            let truth = truth_of(one, Place::Sender, file)?;
            seen.push((truth, std::fs::read(file).map_err(|error| error.to_string())?));
        }
        self.pairs += 1;
        if seen[0].1 == seen[1].1 {
            self.same += 1;
            let (agreed, same_dominant) = compare(&seen[0].0, &seen[1].0);
            self.other_dominant += u32::from(!same_dominant);
            self.wrong += (1.0 - agreed) * rarer(case.delays);
        }
        Ok(())
    }
}

/// How often the rarer one of two twins is drawn, among both. The part of the delay before the bottleneck is drawn evenly on a
/// logarithmic scale, so a part is drawn as often as the other part is long.
fn rarer([near, far]: [u64; 2]) -> f64 {
    near.min(far) as f64 / (near + far).max(1) as f64
}

/// The case with the delays before and behind the bottleneck exchanged.
fn twin(case: &Case) -> Case {
    let [near, far] = case.delays;
    let line = |delay: u64| format!("rate = \"1 Gbit/s\"\ndelay = \"{delay} us\"");
    let [before, behind] = [line(near), line(far)];
    let parts: Vec<String> = case.text.split(&before).map(|part| part.replace(&behind, &before)).collect();
    let text = parts.join(&behind);
    Case { delays: [far, near], text, ..case.clone() }
}

/// The share of the time in which two truths agree, and whether their dominant limits do.
fn compare(a: &Timeline, b: &Timeline) -> (f64, bool) {
    let (mut all, mut same) = (0.0, 0.0);
    let mut sums: [BTreeMap<Limit, f64>; 2] = Default::default();
    agreement(a, b, |first, second, time| {
        let seconds = time.as_secs_f64();
        all += seconds;
        same += if first == second { seconds } else { 0.0 };
        *sums[0].entry(first).or_default() += seconds;
        *sums[1].entry(second).or_default() += seconds;
    });
    let most =
        |sums: &BTreeMap<Limit, f64>| sums.iter().max_by(|a, b| a.1.total_cmp(b.1)).map(|most| *most.0);
    (if all > 0.0 { same / all } else { 1.0 }, most(&sums[0]) == most(&sums[1]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::draw;

    #[test]
    fn the_place_of_a_bottleneck_changes_the_truth_and_not_the_packets_at_the_sender() {
        let file = std::env::temp_dir().join(format!("netspurt-twins-{}.pcapng", std::process::id()));
        let case = (0..).map(draw).find(|case| case.kind == "shallow-queue").unwrap();
        let [near, far] = case.delays;
        let twin = twin(&case);
        assert!(twin.delays == [far, near] && twin.text != case.text && twin.text.len() == case.text.len());
        let mut twins = Twins::default();
        twins.add(&case, &file).unwrap();
        std::fs::remove_file(&file).unwrap();
        assert_eq!((twins.pairs, twins.same), (1, 1));
        assert!(twins.bound() < 1.0 && twins.bound() > 0.5, "{}", twins.bound());
    }
}
