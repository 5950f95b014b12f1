//! Sums over many trials.

use super::margin::Margin;
use super::reasons::Reasons;
use super::trial::Trial;
use netspurt_budget::{Budget, Limit};
use std::collections::BTreeMap;
use std::fmt;

/// Time by true and found limit, weighted so that each case counts the same.
#[derive(Clone, Debug, Default)]
pub struct Matrix {
    cells: BTreeMap<(Limit, Limit), f64>,
    cases: u64,
    dominant: u64,
    /// Those with the right limit, or with one that is nearly tied with it.
    near: u64,
    /// Cases with the wrong limit in which the two largest true limits are nearly tied.
    wrong_ties: u64,
    agreed: f64,
    /// The shares of the time near the changes of the true limit, summed over the cases.
    margin: Margin,
    /// The same sums over the cases that packets can decide.
    decidable: Decidable,
    policers: Policers,
    reasons: Reasons,
    /// For each case with retransmissions, the share of them with the right cause.
    causes: Vec<f64>,
    /// By tenths of confidence: cases, the sum of their confidence, and how many were right.
    calibration: [(u64, f64, u64); 10],
}

/// Sums over the cases whose dominant limit packets can decide (`Trial::undecidable`).
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Decidable {
    /// Their number.
    pub cases: u64,
    dominant: u64,
    agreed: f64,
}

impl Decidable {
    /// The share of these cases with the right dominant limit, and the share of their time that agrees.
    pub fn shares(&self) -> (f64, f64) {
        let cases = self.cases.max(1) as f64;
        (self.dominant as f64 / cases, self.agreed / cases)
    }
}

/// How well policers were found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Policers {
    /// Cases that a policer limited for a tenth of the time, and those of them in which it was found.
    pub cases: u64,
    /// See `cases`.
    pub found: u64,
    /// Cases without a policer, and those of them in which one was accused of a fiftieth of the time.
    pub others: u64,
    /// See `others`.
    pub accused: u64,
}

impl Policers {
    fn add(&mut self, truth: f64, found: f64) {
        if truth == 0.0 {
            self.others += 1;
            self.accused += u64::from(found > 0.02);
        } else if truth > 0.1 {
            self.cases += 1;
            self.found += u64::from(found > truth / 4.0);
        }
    }
}

impl Matrix {
    /// Adds a trial. Returns the share of its time that agrees.
    pub fn add(&mut self, trial: &Trial) -> f64 {
        let cells = trial.cells();
        if cells.is_empty() {
            return 0.0;
        }
        let same = cells.iter().filter(|((truth, found), _)| truth == found).map(|(_, share)| share).sum();
        for (cell, share) in cells {
            *self.cells.entry(cell).or_default() += share;
        }
        self.cases += 1;
        let right = u64::from(trial.dominant().is_some_and(|(truth, found)| truth == found));
        self.dominant += right;
        self.near += u64::from(trial.is_near());
        self.wrong_ties += u64::from(right == 0 && trial.is_near_tie());
        let margin = trial.margin();
        self.margin.time += margin.time;
        self.margin.wrong += margin.wrong;
        let [truth, found] = [&trial.truth, &trial.found].map(Budget::of);
        self.policers.add(truth.share(Limit::Policer), found.share(Limit::Policer));
        let bin = &mut self.calibration[((trial.confidence * 10.0) as usize).min(9)];
        *bin = (bin.0 + 1, bin.1 + trial.confidence, bin.2 + right);
        self.reasons.add(&trial.reasons);
        if let (all @ 1.., right) = trial.reasons.right() {
            self.causes.push(right as f64 / all as f64);
        }
        self.agreed += same;
        if trial.undecidable().is_none() {
            self.decidable.cases += 1;
            self.decidable.dominant += right;
            self.decidable.agreed += same;
        }
        same
    }

    /// The share of cases with the right dominant limit, and the share of time that agrees.
    pub fn shares(&self) -> (f64, f64) {
        let cases = self.cases.max(1) as f64;
        (self.dominant as f64 / cases, self.agreed / cases)
    }
}

impl Matrix {
    /// The sums over the cases that packets can decide.
    pub const fn decidable(&self) -> &Decidable {
        &self.decidable
    }

    /// How many cases have the wrong limit, and in how many of them the two largest true limits are nearly tied.
    pub const fn wrong(&self) -> (u64, u64) {
        (self.cases - self.dominant, self.wrong_ties)
    }

    /// The share of all time that lies near a change of the true limit, and the share of the wrong time that does.
    pub fn margins(&self) -> (f64, f64) {
        let cases = self.cases as f64;
        let share = |part: f64, of: f64| if of > 0.0 { part / of } else { 0.0 };
        (share(self.margin.time, cases), share(self.margin.wrong, cases - self.agreed))
    }

    /// How well policers were found.
    pub const fn policers(&self) -> Policers {
        self.policers
    }

    /// The share of cases whose found limit is the right one, or has at most 10 points less of the true time.
    pub fn near(&self) -> f64 {
        self.near as f64 / self.cases.max(1) as f64
    }

    /// The share of the time that is `unknown`.
    pub fn unknown(&self) -> f64 {
        let unknown = self.cells.iter().filter(|((_, found), _)| *found == Limit::Unknown);
        unknown.fold(0.0, |sum, (_, share)| sum + share) / self.cases.max(1) as f64
    }

    /// Why segments were retransmitted.
    pub const fn reasons(&self) -> &Reasons {
        &self.reasons
    }

    /// The mean over the cases with retransmissions of the share of them with the right cause.
    pub fn mean_of_causes(&self) -> f64 {
        self.causes.iter().sum::<f64>() / self.causes.len().max(1) as f64
    }

    /// By tenths of confidence: cases, their mean confidence, and the share of them whose dominant limit is right.
    pub fn calibration(&self) -> impl Iterator<Item = (u64, f64, f64)> + '_ {
        let with_cases = self.calibration.iter().filter(|bin| bin.0 > 0);
        with_cases.map(|&(cases, sum, right)| (cases, sum / cases as f64, right as f64 / cases as f64))
    }

    /// How many trials were added.
    pub const fn cases(&self) -> u64 {
        self.cases
    }

    /// One row for each true limit, in declaration order.
    pub fn rows(&self) -> Vec<Row> {
        let mut wholes: BTreeMap<Limit, f64> = BTreeMap::new();
        for (&(truth, _), seconds) in &self.cells {
            *wholes.entry(truth).or_default() += seconds;
        }
        let row = |(truth, whole): (Limit, f64)| {
            let mut found: Vec<(f64, Limit)> = self
                .cells
                .iter()
                .filter(|((of, _), _)| *of == truth)
                .map(|((_, found), seconds)| (*seconds / whole, *found))
                .collect();
            found.sort_by(|a, b| b.0.total_cmp(&a.0));
            Row { truth, share: whole / self.cases.max(1) as f64, found }
        };
        wholes.into_iter().map(row).collect()
    }
}

/// What the diagnosis called one true limit.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// The true limit.
    pub truth: Limit,
    /// Its share of all time.
    pub share: f64,
    /// The limits that were found, each with its share of the time; largest first.
    pub found: Vec<(f64, Limit)>,
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
        let (dominant, time) = self.decidable.shares();
        writeln!(
            f,
            "{} of them decidable; dominant limit right in {:.1} %; share of time that agrees {:.1} %",
            self.decidable.cases,
            dominant * 100.0,
            time * 100.0
        )?;
        for row in self.rows() {
            write!(f, "{:20} {:6.2} %:", row.truth.name(), row.share * 100.0)?;
            for (share, found) in row.found.iter().take(5) {
                write!(f, "  {} {:.1}", found.name(), share * 100.0)?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
