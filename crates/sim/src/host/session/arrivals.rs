//! Transfers that arrive independently of the progress of earlier ones: an open loop. Each has its own connection.

use crate::random::Stream;
use crate::random::distribution::Distribution;
use crate::record::sketch::Sketch;
use netspurt_tcp::time::{Span, Time};

/// Classes by size: small, medium and large transfers.
const CLASSES: usize = 3;

/// When transfers arrive, and how they are measured.
#[derive(Clone, PartialEq, Debug)]
pub struct ArrivalsSpec {
    /// Time from one arrival to the next, in picoseconds.
    pub gap: Distribution,
    /// Upper limits of the small and of the medium transfers, in bytes.
    pub bounds: [u64; CLASSES - 1],
    /// The idle path, which defines a slowdown of 1.
    pub idle: IdlePath,
}

/// A path without any other traffic.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct IdlePath {
    /// Rate of its slowest link towards the client, in bit/s; `None` if no link has a rate.
    pub rate: Option<u64>,
    /// Propagation delay of a round trip.
    pub round_trip: Span,
    /// Data bytes of a full packet, and all its bytes.
    pub packet: [u32; 2],
}

impl IdlePath {
    /// The time of a transfer that needs no slow start: a round trip for the handshake, one for the request and the first
    /// byte, and the time to send its packets at the rate of the path.
    pub fn takes(&self, bytes: u64) -> Span {
        let [data, octets] = self.packet.map(u64::from);
        let headers = bytes.div_ceil(data.max(1)) * octets.saturating_sub(data);
        let bits = u128::from(bytes + headers) * 8;
        let sending = self.rate.map_or(0, |rate| bits * 1_000_000_000_000 / u128::from(rate.max(1)));
        self.round_trip + self.round_trip + Span::from_ps(u64::try_from(sending).unwrap_or(u64::MAX))
    }
}

/// The time of the next arrival.
#[derive(Clone, Debug)]
pub(crate) struct Arrivals {
    spec: ArrivalsSpec,
    /// [`Time::NEVER`] after the last one.
    next: Time,
    tally: ArrivalTally,
}

impl Arrivals {
    pub(super) fn new(spec: &ArrivalsSpec, start: Time, stream: &mut Stream) -> Self {
        let next = start + spec.gap.draw_span(stream);
        Self { spec: spec.clone(), next, tally: ArrivalTally::default() }
    }

    /// The time of the next arrival.
    pub(super) const fn next(&self) -> Time {
        self.next
    }

    /// A transfer has arrived: draws the time of the next, if there is one.
    pub(super) fn arrived(&mut self, is_last: bool, stream: &mut Stream) {
        self.tally.begun += 1;
        self.next = if is_last { Time::NEVER } else { self.next + self.spec.gap.draw_span(stream) };
    }

    /// A transfer is complete.
    pub(super) fn complete(&mut self, bytes: u64, took: Span) {
        let class = self.spec.bounds.iter().filter(|bound| bytes > **bound).count();
        let idle = self.spec.idle.takes(bytes).as_secs_f64();
        self.tally.classes[class].add(took, took.as_secs_f64() / idle);
    }

    pub(crate) const fn tally(&self) -> &ArrivalTally {
        &self.tally
    }
}

/// Results of the transfers of one class.
#[derive(Clone, PartialEq, Debug, Default)]
struct Class {
    times: Sketch,
    /// Slowdowns; a slowdown of 1 is stored as one second.
    slowdowns: Sketch,
}

impl Class {
    fn add(&mut self, took: Span, slowdown: f64) {
        self.times.add(took);
        self.slowdowns.add(Span::from_ps((slowdown * 1e12) as u64));
    }

    fn merge(&mut self, other: &Self) {
        self.times.merge(&other.times);
        self.slowdowns.merge(&other.slowdowns);
    }
}

/// Results of transfers that arrive.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ArrivalTally {
    begun: u64,
    classes: [Class; CLASSES],
}

impl ArrivalTally {
    /// Adds the results of others.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.begun += other.begun;
        for (class, of_other) in self.classes.iter_mut().zip(&other.classes) {
            class.merge(of_other);
        }
    }

    /// The counters, by their names in files and tables.
    pub fn counts(&self) -> [(&'static str, u64); 4] {
        let [small, medium, large] = self.classes.each_ref().map(|class| class.times.count());
        [
            ("arrivals", self.begun),
            ("small_transfers", small),
            ("medium_transfers", medium),
            ("large_transfers", large),
        ]
    }

    /// The measurements, by their names in files and tables; nothing if there was nothing to measure.
    pub fn measures(&self) -> [(&'static str, Option<f64>); 21] {
        let mut all = Sketch::default();
        self.classes.iter().for_each(|class| all.merge(&class.slowdowns));
        let [small, medium, large] = &self.classes;
        let times = |class: &Class| class.times.quantiles_s([0.5, 0.95, 0.99]);
        let slow = |sketch: &Sketch| (sketch.mean_s(), sketch.quantiles_s([0.5, 0.99]));
        let (all_mean, all_at) = slow(&all);
        let mut found = [("", None); 21];
        found[0] = ("slowdown_mean", all_mean);
        found[1] = ("slowdown_median", all_at.map(|at| at[0]));
        found[2] = ("slowdown_p99", all_at.map(|at| at[1]));
        for (position, (class, names)) in [small, medium, large].into_iter().zip(NAMES).enumerate() {
            let (times, (mean, at)) = (times(class), slow(&class.slowdowns));
            let values = [
                class.times.mean_s(),
                times.map(|times| times[0]),
                times.map(|times| times[1]),
                times.map(|times| times[2]),
                mean,
                at.map(|at| at[1]),
            ];
            for (offset, (name, value)) in names.into_iter().zip(values).enumerate() {
                found[3 + 6 * position + offset] = (name, value);
            }
        }
        found
    }
}

/// The names of the measurements of each class.
const NAMES: [[&str; 6]; CLASSES] = [
    [
        "small_time_mean_s",
        "small_time_median_s",
        "small_time_p95_s",
        "small_time_p99_s",
        "small_slowdown_mean",
        "small_slowdown_p99",
    ],
    [
        "medium_time_mean_s",
        "medium_time_median_s",
        "medium_time_p95_s",
        "medium_time_p99_s",
        "medium_slowdown_mean",
        "medium_slowdown_p99",
    ],
    [
        "large_time_mean_s",
        "large_time_median_s",
        "large_time_p95_s",
        "large_time_p99_s",
        "large_slowdown_mean",
        "large_slowdown_p99",
    ],
];
