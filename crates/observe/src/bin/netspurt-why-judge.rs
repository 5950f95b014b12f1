//! Compares diagnoses from captures with what really limited simulated transfers, and prints confusion matrices.
//!
//! `netspurt-why-judge FIRST COUNT FILE [list | mixtures | models | queues | offload | page]`: the cases with the seeds from FIRST on; FILE is a capture
//! that is overwritten.
//! `list` prints each trial, the true and the found share of a policer, and what was taken for something else, of a single case both
//! timelines too; `mixtures`, `models` and `queues` do so for mixtures, for cases on path models, and behind other queues, and `offload` for the cases themselves
//! if they are captured above segmentation offload, at the sender. `page` prints a page of the documentation.

use netspurt_budget::{Budget, Limit};
use netspurt_observe::judge::{
    Case, Matrix, Place, Sums, Trial, Twins, draw, draw_behind_queue, draw_mixture, draw_on_model,
    draw_with_offload, page, run,
};
use netspurt_trace::follow::Cause;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

/// The two limits with the largest shares.
fn two(sums: &BTreeMap<Limit, f64>) -> String {
    let mut all: Vec<(f64, Limit)> = sums.iter().map(|(&limit, &share)| (share, limit)).collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    let texts: Vec<String> =
        all.iter().take(2).map(|(share, limit)| format!("{} {share:.2}", limit.name())).collect();
    texts.join(", ")
}

/// Prints the begin of what limited a transfer, and of what was found.
fn timelines(place: Place, trial: &Trial) {
    println!("{}", place.name());
    for (what, timeline) in [("truth", &trial.truth), ("found", &trial.found)] {
        for interval in timeline.intervals().iter().take(60) {
            let (from, until) = (interval.from.as_secs_f64(), interval.until.as_secs_f64());
            println!("{what} {from:9.4} {until:9.4} {}", interval.limit.name());
        }
    }
}

/// Prints a trial and what was taken for something else.
fn show(case: &Case, place: Place, share: f64, trial: &Trial) {
    println!("{} {} {} {} {:.3} {}", case.seed, case.kind, case.profile, place.name(), share, trial.sentence);
    if let Some((truth, found)) = trial.dominant().filter(|(truth, found)| truth != found) {
        let [of_truth, of_found] = trial.sums().map(|sums| two(&sums));
        println!("dominant {} {} {} of {of_truth} as {of_found}", place.name(), truth.name(), found.name());
    }
    let [truth, found] =
        [&trial.truth, &trial.found].map(|timeline| Budget::of(timeline).share(Limit::Policer));
    if truth + found > 0.0 {
        println!("policer {} {truth:.3} {found:.3}", place.name());
    }
    for (truth, found, count) in trial.reasons.pairs() {
        let [truth, found] = [truth, found].map(|cause| cause.map_or("none", Cause::name));
        println!("cause {} {truth} {found} {count}", place.name());
    }
    for ((truth, found), share) in trial.cells() {
        if truth != found && share > 0.01 {
            println!("wrong {} {share:.3} {} {}", place.name(), truth.name(), found.name());
        }
    }
}

/// How a case is drawn from its seed, and where it is captured.
type Drawn = (fn(u64) -> Case, &'static [Place]);

/// The cases themselves, above segmentation offload.
const WITH_OFFLOAD: Drawn = (draw_with_offload, &[Place::Sender]);

fn on_model(seed: u64) -> Case {
    draw_on_model(seed).1
}

/// The page: the sums over the cases, and further ones, a quarter as many of each sort.
fn whole_page((first, count): (u64, u64), cases: Cases, file: &Path) -> Result<String, String> {
    let Cases { all, kinds } = cases;
    let quarter = (first, count.div_ceil(4));
    let mut twins = Twins::default();
    for seed in quarter.0..quarter.0 + quarter.1 {
        twins.add(&draw(seed), file)?;
    }
    let mixtures = Cases::of(quarter, (draw_mixture, &Place::ALL), file, false)?.all;
    let models = Cases::of(quarter, (on_model, &Place::ALL), file, false)?.all;
    let queues = Cases::of(quarter, (draw_behind_queue, &Place::ALL), file, false)?.all;
    let offload = Cases::of((first, count), WITH_OFFLOAD, file, false)?.all;
    let seeds = (first, first + count - 1);
    Ok(page(&Sums { seeds, places: all, mixtures, models, queues, offload, twins, kinds }))
}

/// The sums over the cases at each place, and those over each kind of case at each place.
struct Cases {
    all: Vec<(Place, Matrix)>,
    kinds: BTreeMap<(&'static str, Place), Matrix>,
}

impl Cases {
    /// Draws a case from each seed, and diagnoses it at each of these places. `list` prints each of them.
    fn of(
        (first, count): (u64, u64),
        (draw, places): Drawn,
        file: &Path,
        list: bool,
    ) -> Result<Self, String> {
        let all = places.iter().map(|&place| (place, Matrix::default())).collect();
        let mut cases = Self { all, kinds: BTreeMap::new() };
        for seed in first..first + count {
            let case = draw(seed);
            if list && count == 1 {
                println!("{}", case.text);
            }
            let trials = run(&case, places, file)
                .map_err(|error| format!("case {seed} ({}, {}): {error}", case.kind, case.profile))?;
            for ((place, matrix), trial) in cases.all.iter_mut().zip(&trials) {
                let share = matrix.add(trial);
                cases.kinds.entry((case.kind, *place)).or_default().add(trial);
                if list && count == 1 {
                    timelines(*place, trial);
                }
                if list {
                    show(&case, *place, share, trial);
                }
            }
        }
        Ok(cases)
    }

    /// Prints the sums.
    fn print(self) {
        for (place, matrix) in &self.all {
            println!("{}: {matrix}", place.name());
        }
        for ((kind, place), matrix) in self.kinds {
            let (dominant, time) = matrix.shares();
            let (dominant, time) = (dominant * 100.0, time * 100.0);
            println!("{kind:16} {:9} dominant {dominant:5.1} %  time {time:5.1} %", place.name());
        }
    }
}

/// Prints the page, or the sums over the cases; `list`, `mixtures`, `models` and `queues` print each case before them.
fn judge(what: Option<&str>, seeds: (u64, u64), file: &Path) -> Result<(), String> {
    let further_cases: Option<Drawn> = match what {
        Some("mixtures") => Some((draw_mixture, &Place::ALL)),
        Some("models") => Some((on_model, &Place::ALL)),
        Some("queues") => Some((draw_behind_queue, &Place::ALL)),
        Some("offload") => Some(WITH_OFFLOAD),
        _ => None,
    };
    if let Some(drawn) = further_cases {
        let sums = Cases::of(seeds, drawn, file, true)?.all;
        sums.iter().for_each(|(place, matrix)| println!("{}: {matrix}", place.name()));
        return Ok(());
    }
    let cases = Cases::of(seeds, (draw, &Place::ALL), file, what == Some("list"))?;
    if what == Some("page") {
        print!("{}", whole_page(seeds, cases, file)?);
    } else {
        cases.print();
    }
    Ok(())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize| arguments.get(i).and_then(|word| word.parse::<u64>().ok());
    let (Some(first), Some(count), Some(file)) = (number(0), number(1), arguments.get(2)) else {
        eprintln!(
            "usage: netspurt-why-judge FIRST COUNT FILE [list | mixtures | models | queues | offload | page]"
        );
        return ExitCode::from(2);
    };
    match judge(arguments.get(3).map(String::as_str), (first, count), Path::new(file)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
