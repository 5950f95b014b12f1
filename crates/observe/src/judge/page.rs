//! The matrices as a page of the documentation.
//!
//! `write!` to a `String` never fails, so this file ignores its result.

use super::matrix::Matrix;
use super::trial::Place;
use super::twins::Twins;
use netspurt_trace::follow::Cause;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The sums that the page shows.
#[derive(Debug)]
pub struct Sums {
    /// The first and the last seed.
    pub seeds: (u64, u64),
    /// All cases at each place.
    pub places: Vec<(Place, Matrix)>,
    /// The mixtures at each place.
    pub mixtures: Vec<(Place, Matrix)>,
    /// The cases on path models at each place.
    pub models: Vec<(Place, Matrix)>,
    /// The cases behind other queues and beside other traffic, at each place.
    pub queues: Vec<(Place, Matrix)>,
    /// All cases at the sender, captured above segmentation offload.
    pub offload: Vec<(Place, Matrix)>,
    /// Pairs of cases with the same packets at the sender.
    pub twins: Twins,
    /// Each kind of case at each place.
    pub kinds: BTreeMap<(&'static str, Place), Matrix>,
}

/// The page, in Markdown.
pub fn page(sums: &Sums) -> String {
    let Sums { seeds, places, mixtures, models, queues, offload, twins, kinds } = sums;
    let mut text = String::from(
        "# Accuracy of the diagnosis\n\nMade by `make diagnosis-accuracy`. Each case is a simulated transfer; its truth is the simulator's own \
         record of what held the sender. A diagnosis from a capture is compared with it instant by instant. The seeds of \
         these cases did not choose any parameter of the rules. Only the time that both cover counts: a capture at the receiver \
         ends with the last packet that arrives there. A black hole that lasts until the end counts as `outage`, since no packet \
         tells them apart.\n\n",
    );
    let _ = writeln!(text, "Seeds {} to {}.\n", seeds.0, seeds.1);
    totals(&mut text, places);
    text.push_str(
        "\n*Right or nearly tied*: the limit that was found has at most 10 points less of the true time than the one with the most. \
         `unknown` is the share of the time that was left undecided (goal: 5 % or less).\n\n\
         *Decidable*: the cases whose dominant limit packets can decide, and the same two figures for them alone. The truth decides which \
         they are, never the diagnosis. A case is left out if its two largest true limits have shares within 5 points of each other. Away \
         from the sender, it is also left out if its dominant limit is a wait for a repair and every retransmission is hidden there \
         (see below), or if its dominant limit is `ack-path` or `spurious` and the sender uses neither timestamps nor SACK. What is \
         hidden follows from the positions of the captured segments and the truth alone. A tie shows in packets, but a few points \
         swap the two. At the sender, a single segment that is sent again and again without SACK and timestamps does not show \
         whether data or ACKs were lost; such cases are counted. The other columns count all cases.\n\n\
         ## Mixtures\n\nFurther cases, a quarter as many, each with one limit of the ends (`receive-window`, `send-buffer`, \
         `slow-receiver`, `application`) and one of the path (`random-loss`, `shallow-queue`, `cross-traffic`, `policer`, `shaper`, `outage`, \
         `reordering`, `spurious`, `ack-path`): 36 mixtures.\n\n",
    );
    totals(&mut text, mixtures);
    text.push_str(
        "\n## Path models\n\nFurther cases, a quarter as many, whose path is one of the models that `netspurt paths` lists, in either \
         direction. The model changes its rate, aggregates packets and varies its delay meanwhile; the other paths on this page have a constant rate. \
         `cloud-vm` and `data-centre` are left out: the links of the hosts are slower.\n\n",
    );
    totals(&mut text, models);
    text.push_str(
        "\n## Queue management, marks and other traffic\n\nFurther cases, a quarter as many, behind CoDel, FQ-CoDel, PIE, FQ-PIE, RED, CAKE, \
         DualPI2 or a drop-tail queue, half of them with marks (senders with Reno, CUBIC, BBR, DCTCP or Prague), beside one to nine transfers, transfers that \
         arrive at a load of 0.3 to 0.95, ten to sixty users, or datagrams of 100 to 1400 bytes. A queue that serves flows in turn gives each the same \
         share: to one of them it looks like a slower link, so `cross-traffic` is called `bottleneck` there.\n\n",
    );
    totals(&mut text, queues);
    text.push_str("\n| capture at | wrongly accused of a policer |\n| --- | --- |\n");
    for (place, matrix) in queues {
        let counts = matrix.policers();
        let _ = writeln!(text, "| {} | {} of {} |", place.name(), counts.accused, counts.others);
    }
    text.push_str(
        "\n## Segmentation offload\n\nThe cases themselves, captured as in the host of a sender whose network card divides what TCP sends: \
         all segments that leave at one instant, without a gap, are one frame of up to 64 KiB.\n\n",
    );
    totals(&mut text, offload);
    ties_and_margins(
        &mut text,
        [("cases", places), ("mixtures", mixtures), ("path models", models), ("other queues", queues)],
    );
    what_packets_hide(&mut text, twins);
    by_kind(&mut text, places, kinds);
    policers_and_confidence(&mut text, places);
    causes(&mut text, places);
    confusion(&mut text, places);
    text
}

/// A row for each place.
fn totals(text: &mut String, places: &[(Place, Matrix)]) {
    text.push_str(
        "| capture at | cases | dominant limit right | goal | right or nearly tied | share of time that agrees | goal | `unknown` | \
         decidable | dominant limit right | share of time that agrees |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for (place, matrix) in places {
        let ((dominant, time), (of_decidable, time_of_decidable)) =
            (matrix.shares(), matrix.decidable().shares());
        let goals = place.goals();
        let _ = writeln!(
            text,
            "| {} | {} | {:.1} % | {} % | {:.1} % | {:.1} % | {} % | {:.1} % | {} | {:.1} % | {:.1} % |",
            place.name(),
            matrix.cases(),
            dominant * 100.0,
            goals.0,
            matrix.near() * 100.0,
            time * 100.0,
            goals.1,
            matrix.unknown() * 100.0,
            matrix.decidable().cases,
            of_decidable * 100.0,
            time_of_decidable * 100.0,
        );
    }
}

/// How much of what is wrong is a tie, or lies near a change of the limit.
fn ties_and_margins(text: &mut String, all: [(&str, &[(Place, Matrix)]); 4]) {
    text.push_str(
        "\n## Where the errors are\n\nA dominant limit can be wrong by little: where two true limits have nearly the same share of the time, \
         within 10 points, a few points decide which one is the largest. And a limit can be right but begin early or late: packets show \
         a change only when they pass. The time *near a change* lies within one and a half round trips before or after a change of the \
         true limit. Errors elsewhere are of the rules, or of what packets hide for longer.\n\n\
         | cases | capture at | dominant limit wrong | nearly tied in the truth | wrong time near a change | all time near a change |\n\
         | --- | --- | --- | --- | --- | --- |\n",
    );
    for (sort, places) in all {
        for (place, matrix) in places {
            let ((wrong, tied), (of_all, of_wrong)) = (matrix.wrong(), matrix.margins());
            let _ = writeln!(
                text,
                "| {sort} | {} | {wrong} | {tied} | {:.0} % | {:.0} % |",
                place.name(),
                of_wrong * 100.0,
                of_all * 100.0
            );
        }
    }
}

/// What no diagnosis can know.
fn what_packets_hide(text: &mut String, twins: &Twins) {
    let _ = writeln!(
        text,
        "\n## What packets do not show\n\nA capture at the sender shows the delay of the whole path, and not how much of it lies behind the \
         bottleneck. So it does not show when within a round trip a queue stood, but the truth depends on it. Of the first {} cases, each \
         was simulated again with the delays before and behind the bottleneck exchanged. In {} the packets were the same, bit by \
         bit; the dominant limit differs in {} of these. Where the truths differ, a diagnosis cannot be right for both. By this alone, the best one would have {:.1} % of the time right. What remains below that in the figure above has other reasons, \
         which are not bounded so: other ambiguities, or rules that are not good enough.",
        twins.pairs,
        twins.same,
        twins.other_dominant,
        twins.bound() * 100.0
    );
}

/// How many policers were found, and what a confidence is worth.
fn policers_and_confidence(text: &mut String, places: &[(Place, Matrix)]) {
    text.push_str(
        "\n\n## Policers\n\nFound: cases that a policer limited for a tenth of the time and in which the diagnosis gives it a quarter of \
         that or more (goal 93 %). Wrongly accused: cases without a policer in which it gets 2 % of the time (goal 0.5 %).\n\n\
         | capture at | found | wrongly accused |\n| --- | --- | --- |\n",
    );
    for (place, matrix) in places {
        let counts = matrix.policers();
        let _ = writeln!(
            text,
            "| {} | {} of {} | {} of {} |",
            place.name(),
            counts.found,
            counts.cases,
            counts.accused,
            counts.others
        );
    }
    text.push_str(
        "\n## Confidence\n\nBy tenths of the confidence in the limit with the most time: mean confidence, and how often that limit is \
         right.\n\n| capture at | cases | confidence | right |\n| --- | --- | --- | --- |\n",
    );
    for (place, matrix) in places {
        for (cases, confidence, right) in matrix.calibration() {
            let _ = writeln!(text, "| {} | {cases} | {confidence:.2} | {right:.2} |", place.name());
        }
    }
}

/// Why segments were retransmitted.
fn causes(text: &mut String, places: &[(Place, Matrix)]) {
    text.push_str(
        "\n## Retransmissions\n\nThe reasons of retransmissions: those of the simulated sender, and those that `netspurt capture` \
         infers. Hidden retransmissions are not counted: their originals, and all segments sent in between, were lost before the \
         capture point, so they look like new data. [Performance](../performance.md) has the same figure of easier cases: paths that lose, \
         reorder or queue packets, captured at the sender and before the bottleneck.\n\n| capture at | retransmissions | hidden | right | goal | mean over the cases |\n\
         | --- | --- | --- | --- | --- | --- |\n",
    );
    for (place, matrix) in places {
        let (all, right) = matrix.reasons().right();
        let _ = writeln!(
            text,
            "| {} | {all} | {} | {:.1} % | {} | {:.1} % |",
            place.name(),
            matrix.reasons().hidden(),
            right as f64 / all.max(1) as f64 * 100.0,
            place.goal_of_causes().map_or("none".to_owned(), |goal| format!("{goal} %")),
            matrix.mean_of_causes() * 100.0,
        );
    }
    text.push_str("\n| capture at | true cause | found |\n| --- | --- | --- |\n");
    let name = |cause: Option<Cause>| cause.map_or("none", Cause::name);
    for (place, matrix) in places {
        let mut rows: BTreeMap<Option<Cause>, Vec<(u64, Option<Cause>)>> = BTreeMap::new();
        for (truth, found, count) in matrix.reasons().pairs() {
            rows.entry(truth).or_default().push((count, found));
        }
        for (truth, mut found) in rows {
            found.sort_unstable_by(|a, b| b.cmp(a));
            let found: Vec<String> =
                found.iter().map(|(count, found)| format!("{} {count}", name(*found))).collect();
            let _ = writeln!(text, "| {} | {} | {} |", place.name(), name(truth), found.join(", "));
        }
    }
}

/// A row for each kind of case.
fn by_kind(text: &mut String, places: &[(Place, Matrix)], kinds: &BTreeMap<(&'static str, Place), Matrix>) {
    text.push_str("\n## By what a case was made for\n\nDominant limit right, and share of time that agrees.\n\n| case |");
    places.iter().for_each(|(place, _)| {
        let _ = write!(text, " {} |", place.name());
    });
    text.push_str("\n| --- |");
    text.push_str(&" --- |".repeat(places.len()));
    let mut names: Vec<&str> = kinds.keys().map(|(kind, _)| *kind).collect();
    names.dedup();
    for kind in names {
        let _ = write!(text, "\n| {kind} |");
        for (place, _) in places {
            let (dominant, time) = kinds.get(&(kind, *place)).map_or((0.0, 0.0), Matrix::shares);
            let _ = write!(text, " {:.0} %, {:.0} % |", dominant * 100.0, time * 100.0);
        }
    }
}

/// For each place, a row for each true limit.
fn confusion(text: &mut String, places: &[(Place, Matrix)]) {
    text.push_str("\n\n## Confusion\n\nFor each true limit: its share of all time, and what the diagnosis called it (shares above 1 %).\n");
    for (place, matrix) in places {
        let _ = writeln!(
            text,
            "\n### Capture at the {}\n\n| truth | time | found |\n| --- | --- | --- |",
            place.words()
        );
        for row in matrix.rows() {
            let found: Vec<String> = row
                .found
                .iter()
                .filter(|(share, _)| *share > 0.01)
                .map(|(share, limit)| format!("{} {:.0} %", limit.name(), share * 100.0))
                .collect();
            let _ = writeln!(
                text,
                "| {} | {:.1} % | {} |",
                row.truth.name(),
                row.share * 100.0,
                found.join(", ")
            );
        }
    }
}
