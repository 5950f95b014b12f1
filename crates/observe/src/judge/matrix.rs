//! Sums over many trials.

use super::trial::Trial;
use netspurt_budget::{Budget, Limit, agreement};
use std::collections::BTreeMap;
use std::fmt;

/// Seconds by true and found limit, weighted so that each case counts the same.
#[derive(Clone, Debug, Default)]
pub struct Matrix {
    cells: BTreeMap<(Limit, Limit), f64>,
    cases: u64,
    dominant: u64,
    agreed: f64,
}

impl Matrix {
    /// Adds a trial. Returns the share of its time that agrees.
    pub fn add(&mut self, trial: &Trial) -> f64 {
        let mut shared = 0.0;
        let mut same = 0.0;
        let mut cells: Vec<(Limit, Limit, f64)> = Vec::new();
        agreement(&trial.truth, &trial.found, |truth, found, time| {
            let seconds = time.as_secs_f64();
            shared += seconds;
            same += if truth == found { seconds } else { 0.0 };
            cells.push((truth, found, seconds));
        });
        if shared <= 0.0 {
            return 0.0;
        }
        for (truth, found, seconds) in cells {
            *self.cells.entry((truth, found)).or_default() += seconds / shared;
        }
        self.cases += 1;
        self.dominant +=
            u64::from(Budget::of(&trial.truth).dominant() == Budget::of(&trial.found).dominant());
        self.agreed += same / shared;
        same / shared
    }

    /// The share of cases with the right dominant limit, and the share of time that agrees.
    pub fn shares(&self) -> (f64, f64) {
        let cases = self.cases.max(1) as f64;
        (self.dominant as f64 / cases, self.agreed / cases)
    }
}

impl fmt::Display for Matrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (dominant, time) = self.shares();
        writeln!(
            f,
            "{} cases; dominant limit right in {:.1} %; share of time that agrees {:.1} %",
            self.cases,
            dominant * 100.0,
            time * 100.0
        )?;
        let mut truths: BTreeMap<Limit, f64> = BTreeMap::new();
        for (&(truth, _), seconds) in &self.cells {
            *truths.entry(truth).or_default() += seconds;
        }
        for (truth, whole) in truths {
            write!(f, "{:20} {:6.2} %:", truth.name(), whole / self.cases.max(1) as f64 * 100.0)?;
            let mut row: Vec<(f64, Limit)> = self
                .cells
                .iter()
                .filter(|((of, _), _)| *of == truth)
                .map(|((_, found), seconds)| (*seconds / whole, *found))
                .collect();
            row.sort_by(|a, b| b.0.total_cmp(&a.0));
            for (share, found) in row.iter().take(5) {
                write!(f, "  {} {:.1}", found.name(), share * 100.0)?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
