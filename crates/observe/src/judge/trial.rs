//! A case simulated, captured and diagnosed.

use super::cases::Case;
use super::margin::Margin;
use super::reasons::{Comparison, Reasons, Truth};
use crate::tap::{Points, Tap};
use netspurt_budget::{Limit, Timeline, agreement};
use netspurt_sim::World;
use netspurt_sim::record::limits::Limited;
use netspurt_sim::record::probe::{CaptureSink, End, Recorder, Recording, Wants};
use netspurt_tcp::options::Options;
use netspurt_tcp::time::{Span, Time};
use netspurt_trace::Side;
use netspurt_trace::capture::CaptureReader;
use netspurt_trace::diagnosis::{Diagnoser, DirectionDiagnosis};
use netspurt_trace::follow::{Limits, follow};
use std::collections::BTreeMap;
use std::path::Path;

/// Where a capture is taken.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Place {
    /// At the sender, before its queue.
    Sender,
    /// At the receiver.
    Receiver,
    /// Behind the bottleneck.
    Between,
}

impl Place {
    /// Every place.
    pub const ALL: [Self; 3] = [Self::Sender, Self::Receiver, Self::Between];

    /// The name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
            Self::Between => "between",
        }
    }

    /// Its name in a sentence.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
            Self::Between => "far end of the bottleneck",
        }
    }

    /// The goals in percent: dominant limit right, and share of time that agrees.
    pub const fn goals(self) -> (u32, u32) {
        match self {
            Self::Sender => (97, 95),
            Self::Receiver => (94, 90),
            Self::Between => (90, 85),
        }
    }

    /// The goal for the causes of retransmissions, in percent.
    pub const fn goal_of_causes(self) -> Option<u32> {
        match self {
            Self::Sender => Some(99),
            Self::Receiver => Some(95),
            Self::Between => None,
        }
    }

    const fn point(self) -> &'static str {
        match self {
            Self::Sender => "a",
            Self::Receiver => "b",
            Self::Between => "path@right",
        }
    }
}

/// Limits whose true shares of the time differ by no more than this are nearly tied.
const NEAR: f64 = 0.1;

/// Two true limits whose shares of the time differ by less than this are tied.
const TIED: f64 = 0.05;

/// Why the packets of a capture cannot decide the dominant limit. Only the truth and the captured packets decide it, never the
/// diagnosis or what it finds of retransmissions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Undecidable {
    /// The two largest true limits are tied.
    Tied,
    /// The dominant limit is a wait for a repair, and no retransmission is recognizable at the capture point: the originals
    /// were lost before it.
    HiddenRepair,
    /// ACKs that were lost or late, or a needless retransmission, away from a sender without timestamps and SACK: nothing there
    /// shows when the sender received an ACK, or which copy of a segment an ACK was sent for.
    NoEcho,
}

/// The truth of a case, and its diagnosis from one place.
#[derive(Clone, Debug)]
pub struct Trial {
    /// What limited the direction with more data, from the simulator.
    pub truth: Timeline,
    /// The same from the capture.
    pub found: Timeline,
    /// The sentence of the diagnosis.
    pub sentence: String,
    /// How sure the diagnosis is of the limit with the most time, from 0 to 1.
    pub confidence: f64,
    /// Why its segments were retransmitted, as the sender knows it and as the capture shows it.
    pub reasons: Reasons,
    /// Where the capture was taken.
    place: Place,
    /// Whether the sender uses timestamps or SACK.
    echoes: bool,
    /// The least round trip.
    round: Span,
}

impl Trial {
    /// Why the dominant limit is undecidable; `None` if packets can decide it.
    pub fn undecidable(&self) -> Option<Undecidable> {
        let [truths, _] = self.sums();
        let visible = self.reasons.visible() > 0 || self.reasons.hidden() == 0;
        undecidable(&truths, self.place, visible, self.echoes)
    }

    /// The share of the time with each pair of a true and a found limit. They add up to 1, or there are none.
    pub fn cells(&self) -> BTreeMap<(Limit, Limit), f64> {
        let mut cells: BTreeMap<(Limit, Limit), f64> = BTreeMap::new();
        agreement(&self.truth, &self.found, |truth, found, time| {
            *cells.entry((truth, found)).or_default() += time.as_secs_f64();
        });
        let whole: f64 = cells.values().sum();
        if whole <= 0.0 {
            return BTreeMap::new();
        }
        cells.values_mut().for_each(|seconds| *seconds /= whole);
        cells
    }

    /// The shares of the true and of the found limits in the time that both cover. A capture at the receiver ends with the
    /// last packet that arrives there, however long the sender still waits.
    pub fn sums(&self) -> [BTreeMap<Limit, f64>; 2] {
        let mut sums = [BTreeMap::new(), BTreeMap::new()];
        for ((truth, found), share) in self.cells() {
            *sums[0].entry(truth).or_insert(0.0) += share;
            *sums[1].entry(found).or_insert(0.0) += share;
        }
        sums
    }

    /// Whether the two largest true limits have nearly the same share of the time: `NEAR` apart at most.
    pub fn is_near_tie(&self) -> bool {
        let [truths, _] = self.sums();
        let mut shares: Vec<f64> = truths.into_values().collect();
        shares.sort_by(|a, b| b.total_cmp(a));
        matches!(shares[..], [most, second, ..] if most - second <= NEAR)
    }

    /// The time near the changes of the true limit, as shares of the whole time that both cover.
    pub fn margin(&self) -> Margin {
        let whole = self.truth.end().min(self.found.end()).as_secs_f64();
        let margin = Margin::of(&self.truth, &self.found, self.round);
        if whole > 0.0 { Margin { time: margin.time / whole, wrong: margin.wrong / whole } } else { margin }
    }

    /// Whether the found limit has nearly as much of the true time as the one with the most: `NEAR` less at most.
    pub fn is_near(&self) -> bool {
        let [truths, _] = self.sums();
        self.dominant()
            .is_some_and(|(truth, found)| truths[&truth] - truths.get(&found).copied().unwrap_or(0.0) <= NEAR)
    }

    /// The true and the found limit with the largest share of the time that both cover; `None` if there is none.
    pub fn dominant(&self) -> Option<(Limit, Limit)> {
        let most = |shares: BTreeMap<Limit, f64>| {
            shares.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(limit, _)| limit)
        };
        let [truths, founds] = self.sums();
        most(truths).zip(most(founds))
    }
}

/// Whether a segment has timestamps, or its sender offers SACK.
const fn has_echo(options: &Options) -> bool {
    options.timestamps.is_some() || options.sack_permitted
}

/// `visible`: whether some retransmission is recognizable at the capture point, or none was made. `echoes`: whether the sender
/// uses timestamps or SACK.
fn undecidable(
    truths: &BTreeMap<Limit, f64>,
    place: Place,
    visible: bool,
    echoes: bool,
) -> Option<Undecidable> {
    let mut shares: Vec<(f64, Limit)> = truths.iter().map(|(&limit, &share)| (share, limit)).collect();
    shares.sort_by(|a, b| b.0.total_cmp(&a.0));
    let &(most, dominant) = shares.first()?;
    let away = place != Place::Sender;
    let repair = matches!(dominant, Limit::FastRecovery | Limit::Timeout | Limit::TailLoss | Limit::PathMtu);
    if shares.get(1).is_some_and(|(second, _)| most - second < TIED) {
        Some(Undecidable::Tied)
    } else if away && repair && !visible {
        Some(Undecidable::HiddenRepair)
    } else if away && !echoes && matches!(dominant, Limit::AckPath | Limit::Spurious) {
        Some(Undecidable::NoEcho)
    } else {
        None
    }
}

/// Simulates a case and diagnoses it from a capture at each place. `file` is overwritten.
///
/// # Errors
///
/// A sentence: the case is no valid scenario, the file cannot be written, or the capture has no connection.
pub fn run(case: &Case, places: &[Place], file: &Path) -> Result<Vec<Trial>, String> {
    places.iter().map(|place| one(case, *place, file)).collect()
}

/// What limited the main direction of a case that is captured at `place`. `file` is overwritten.
pub(super) fn truth_of(case: &Case, place: Place, file: &Path) -> Result<Timeline, String> {
    let recording = simulate(case, place, file)?;
    let truth = main_direction(&recording.limits).ok_or("no direction was recorded")?;
    Ok(seen_from(place, case, truth))
}

/// Simulates a case, and captures it at `place`.
fn simulate(case: &Case, place: Place, file: &Path) -> Result<Recording, String> {
    let spec = case.world()?;
    let points = Points::choose(&spec, &[place.point().to_owned()])?;
    let tap = Tap::open(file, points, &spec, case.seed, None).map_err(|error| error.to_string())?;
    let tap = if case.offload { tap.with_offload() } else { tap };
    let sink: Box<dyn CaptureSink> = Box::new(tap.clone());
    let recorder =
        Recorder::new(Wants::LIMITS.and(Wants::SEGMENTS).and(Wants::DROPS)).with_capture(&tap.links(), sink);
    let mut world =
        World::new(spec, case.seed, Some(recorder)).map_err(|_| "the case has no path".to_owned())?;
    while world.proceed() {
        tap.settle(world.now()).map_err(|error| error.to_string())?;
        let over = world.connections(0).is_none() && world.now().as_secs_f64() > 0.0;
        if over {
            break;
        }
    }
    let result = world.finish(false);
    tap.finish().map_err(|error| error.to_string())?;
    Ok(result.recording)
}

fn one(case: &Case, place: Place, file: &Path) -> Result<Trial, String> {
    let recording = simulate(case, place, file)?;
    let truth = main_direction(&recording.limits).ok_or("no direction was recorded")?;
    let found = diagnose(file, truth.direction.end)?;
    let reasons = compare(file, &recording, truth.direction.end, place)?;
    let of_flow = recording.segments.iter().filter(|sent| sent.flow == 0);
    let echoes = of_flow.map(|sent| &sent.segment.options).any(has_echo);
    let round = Span::from_ps((truth.rtt_least_s * 1e12) as u64);
    let truth = seen_from(place, case, truth);
    let confidence = found.evidence.first().map_or(0.0, |evidence| evidence.confidence);
    Ok(Trial {
        truth,
        found: found.timeline,
        sentence: found.sentence,
        confidence,
        reasons,
        place,
        echoes,
        round,
    })
}

/// The truth on the clock of a capture. That of a server begins with the arrival of the SYN; a capture nearer to the client
/// sees the SYN earlier and the server's data later.
fn seen_from(place: Place, case: &Case, truth: &Limited) -> Timeline {
    let [near, far] = case.delays.map(Span::from_us);
    let apart = match (truth.direction.end, place) {
        (End::Client, _) | (End::Server, Place::Sender) => Span::ZERO,
        (End::Server, Place::Between) => near + near,
        (End::Server, Place::Receiver) => near + near + far + far,
    };
    let mut timeline = Timeline::default();
    timeline.extend(Time::ZERO + apart, Limit::Handshake);
    let intervals = truth.timeline.intervals();
    for (index, interval) in intervals.iter().enumerate() {
        let forever = truth.outstanding && index + 1 == intervals.len();
        // Packets cannot distinguish a black hole that never ends from an outage: nothing passes in either direction.
        let limit = if forever && interval.limit == Limit::PathMtu { Limit::Outage } else { interval.limit };
        timeline.extend(interval.until + apart, limit);
    }
    timeline
}

/// The direction of the first flow with more data.
fn main_direction(limits: &[Limited]) -> Option<&Limited> {
    limits.iter().filter(|limited| limited.direction.flow == 0).max_by_key(|limited| limited.bytes)
}

/// The diagnosis of the first connection's data from `end`.
fn diagnose(file: &Path, end: End) -> Result<DirectionDiagnosis, String> {
    let mut reader = CaptureReader::open(file).map_err(|error| error.to_string())?;
    let mut diagnoser = Diagnoser::new(0);
    follow(&mut reader, Limits::default(), &mut diagnoser).1.map_err(|error| error.to_string())?;
    let side = side_of(end);
    let first = |found: &netspurt_trace::diagnosis::ConnectionDiagnosis| found.who.client.port() == 1024;
    let mut found = diagnoser.take();
    let place = found.iter().position(first).ok_or("the capture has no connection")?;
    let [a, b] = found.swap_remove(place).directions;
    Ok(if side == Side::A { a } else { b })
}

const fn side_of(end: End) -> Side {
    match end {
        End::Client => Side::A,
        End::Server => Side::B,
    }
}

/// Why segments of `end` were retransmitted, as it knows it and as the capture shows it.
fn compare(file: &Path, recording: &Recording, end: End, place: Place) -> Result<Reasons, String> {
    let truth = Truth::of(recording, end, place == Place::Sender);
    let mut reader = CaptureReader::open(file).map_err(|error| error.to_string())?;
    let mut comparison = Comparison::new(truth, side_of(end));
    follow(&mut reader, Limits::default(), &mut comparison).1.map_err(|error| error.to_string())?;
    comparison.count();
    Ok(comparison.reasons)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_truth_and_the_place_decide_whether_a_case_is_decidable() {
        let of = |limits: &[(Limit, f64)], place, visible, echoes| {
            undecidable(&limits.iter().copied().collect(), place, visible, echoes)
        };
        let tied = [(Limit::Bottleneck, 0.51), (Limit::SlowStart, 0.49)];
        let clear = [(Limit::Bottleneck, 0.53), (Limit::SlowStart, 0.47)];
        let repair = [(Limit::TailLoss, 0.8), (Limit::SlowStart, 0.2)];
        let needless = [(Limit::Spurious, 0.8), (Limit::SlowStart, 0.2)];
        for place in Place::ALL {
            let away = place != Place::Sender;
            assert_eq!(of(&tied, place, true, true), Some(Undecidable::Tied));
            assert_eq!(of(&clear, place, false, false), None);
            assert_eq!(of(&repair, place, true, false), None);
            assert_eq!(of(&repair, place, false, true), away.then_some(Undecidable::HiddenRepair));
            assert_eq!(of(&needless, place, true, true), None);
            assert_eq!(of(&needless, place, true, false), away.then_some(Undecidable::NoEcho));
        }
    }
}
