//! The input of the rules.
//!
//! The last nine fields are what some rules conclude about the whole connection; `rules/whole.rs` fills them.

use super::moment::Moment;
use super::path::Path;
use super::sender::phase::Phase;
use crate::diagnosis::path::trains::{CAPACITY, NO_FASTER, Trains, come_no_faster};
use crate::diagnosis::sender::incidents::Incidents;
use crate::diagnosis::sender::meter::Slice;
use crate::diagnosis::sender::totals::Totals;
use netspurt_budget::Limit;

/// So many trains may pass before the bucket of a shaper is empty.
const FIRST_TRAINS: usize = 256;
/// A SYN counts as one byte.
const OF_SYN: u32 = 1;

/// One direction of a connection after its end.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) slices: Vec<Slice>,
    pub(super) path: Path,
    pub(super) totals: Totals,
    /// The most bytes outstanding within a round trip before the end of each slice.
    pub(super) flight: Vec<u32>,
    /// The largest window up to each slice.
    pub(super) window: Vec<u32>,
    pub(super) incidents: Incidents,
    /// The slices of the first trains, and their rates in kilobytes per second.
    pub(super) first_trains: Vec<(usize, u32)>,
    /// In so many slices the initial flight is acknowledged, beside the sender.
    pub(super) at_once: usize,
    /// What fills the path where it is full, for each group of slices.
    pub(super) filled_by: Vec<Limit>,
    /// When segments of full size did not pass.
    pub(super) black_holes: Vec<(u64, u64)>,
    /// When a policer dropped what exceeded its rate, or cwnd was smaller because of that.
    pub(super) policed: Vec<(u64, u64)>,
    /// When the window grew again after a pause.
    pub(super) restarts: Vec<(u64, u64)>,
    /// When blocks of the same length came at the same intervals, which are not those of ACKs.
    pub(super) at_intervals: Vec<(u64, u64)>,
    /// When the application wrote at an even rate, as blocks show that ACKs did not release.
    pub(super) at_even_rate: Vec<(u64, u64)>,
    /// The largest receive window that the flight has filled, up to each slice.
    pub(super) filled: Vec<u32>,
    /// When ACKs made the sender send nothing, as its program had not yet filled its buffer again.
    pub(super) silences: Vec<(u64, u64)>,
    /// The largest flight after losses, in bytes, if the sender mostly has that.
    pub(super) cap: Option<u32>,
}

impl Facts {
    pub(super) fn new(
        mut slices: Vec<Slice>,
        parts: (u64, u64),
        mut totals: Totals,
        [acks, arrivals]: [&Trains; 2],
        incidents: Incidents,
    ) -> Self {
        let shared = totals.shared_link.is_some() && !totals.in_host;
        totals.behind_bottleneck = shared || is_behind_bottleneck((parts, totals.in_host), acks, arrivals);
        let trains = if totals.behind_bottleneck {
            for slice in &mut slices {
                slice.delivered = slice.sent.saturating_add(u32::from(slice.resent) * totals.segment);
                slice.train = slice.arrivals;
            }
            arrivals
        } else {
            acks
        };
        let path = Path::of(&slices, parts, &totals, trains);
        let flight = flights(&slices, path.base);
        let window = slices
            .iter()
            .scan(0, |most, slice| {
                *most = slice.window.max(*most);
                Some(*most)
            })
            .collect();
        let at_once = if totals.behind_bottleneck { 0 } else { first_flight(&slices) };
        let with_train = slices.iter().enumerate().filter(|(_, slice)| slice.train > 0);
        let first_trains = with_train.map(|(index, slice)| (index, slice.train)).take(FIRST_TRAINS).collect();
        Self {
            slices,
            path,
            totals,
            flight,
            window,
            incidents,
            first_trains,
            at_once,
            filled_by: Vec::new(),
            black_holes: Vec::new(),
            policed: Vec::new(),
            restarts: Vec::new(),
            at_intervals: Vec::new(),
            at_even_rate: Vec::new(),
            filled: Vec::new(),
            silences: Vec::new(),
            cap: None,
        }
    }

    /// The begin of a slice.
    pub(super) fn began(&self, index: usize) -> u64 {
        index.checked_sub(1).map_or(0, |before| self.slices[before].until)
    }

    /// The slice that contains `at`, or the nearest one.
    pub(super) fn index_at(&self, at: u64) -> usize {
        self.slices.partition_point(|slice| slice.until <= at).min(self.slices.len().saturating_sub(1))
    }

    /// The slice whose ACKs show what the path does at this moment.
    ///
    /// Beside the sender, an ACK shows a queue later than it stood: by the way from there to the receiver and back. That is a round trip
    /// of the empty path if the queue is just behind the sender, and half of one if it is just before the receiver. Where it is does not
    /// show, so three quarters are nearest on average.
    pub(super) fn shown_at(&self, moment: &Moment) -> usize {
        if !self.path.beside_sender || self.totals.behind_bottleneck {
            return moment.index;
        }
        self.index_at(moment.at + self.shows_later()).max(moment.index)
    }

    /// By how many nanoseconds later ACKs show a queue beside the sender.
    const fn shows_later(&self) -> u64 {
        self.path.base / 4 * 3
    }

    /// Whether the last ACK comes sooner than one would that shows this moment: all data has left the queue.
    pub(super) fn is_past_queue(&self, moment: &Moment) -> bool {
        let shows_later = self.path.beside_sender && !self.totals.behind_bottleneck;
        matches!(moment.phase, Phase::Delivering | Phase::Unanswered)
            && shows_later
            && (moment.at..moment.at + self.shows_later()).contains(&self.totals.last_ack)
    }

    /// The first and the last slice within this many round trips before and after this one.
    pub(super) fn around(&self, index: usize, rounds: u64) -> (usize, usize) {
        let (until, span) = (self.slices[index].until, self.path.base * rounds);
        (self.index_at(until.saturating_sub(span)), self.index_at(until + span))
    }

    /// The slices with losses.
    pub(super) fn losses(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.path.now.len()).filter(|&index| self.slices[index].lost > 0)
    }

    /// Whether a loss was repaired before the end of this slice.
    pub(super) fn lost_before(&self, index: usize) -> bool {
        self.totals.first_loss.is_some_and(|lost| lost < self.slices[index].until)
    }
}

/// The slices in which what was sent before the first ACK is acknowledged.
///
/// It leaves at once, so packets of others do not come between its segments.
fn first_flight(slices: &[Slice]) -> usize {
    let Some(answered) = slices.iter().position(|slice| slice.delivered > OF_SYN) else { return 0 };
    let mut left: u64 = slices[..answered].iter().map(|slice| u64::from(slice.sent)).sum();
    let is_of_it = |slice: &&Slice| {
        let is_left = left > 0;
        left = left.saturating_sub(u64::from(slice.delivered));
        is_left
    };
    slices.iter().take_while(is_of_it).count()
}

/// Whether segments that pass here have passed the bottleneck: they come no faster than their ACKs. Then they show its rate
/// better than ACKs do, which receivers delay.
///
/// A capture may be near the sender and yet behind the bottleneck, unless it was taken in the host of the sender. Beside a sender
/// some segments leave faster than the bottleneck is: those of slow start, or those that one ACK releases. Behind the bottleneck
/// none come faster.
fn is_behind_bottleneck((parts, in_host): ((u64, u64), bool), acks: &Trains, arrivals: &Trains) -> bool {
    if parts.0 * 10 <= parts.0 + parts.1 {
        return !in_host && come_no_faster(acks, arrivals);
    }
    let no_faster = |here: f64| acks.rate(CAPACITY).is_none_or(|acks| here < acks * NO_FASTER);
    arrivals.rate(CAPACITY).is_some_and(no_faster)
}

/// The most bytes outstanding within the last round trip before the end of each slice.
fn flights(slices: &[Slice], round: u64) -> Vec<u32> {
    let mut first = 0;
    (0..slices.len())
        .map(|index| {
            while slices[first].until + round < slices[index].until {
                first += 1;
            }
            slices[first..=index].iter().map(|slice| slice.flight.max(slice.outstanding)).max().unwrap_or(0)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Trains with this rate in bytes per millisecond.
    fn trains(bytes: u64) -> Trains {
        let mut trains = Trains::default();
        for n in 0..100 {
            trains.note(n * 1_000_000, bytes, 20_000, 1000);
        }
        trains
    }

    #[test]
    fn beside_the_sender_an_ack_shows_the_queue_that_stood_three_quarters_of_a_round_trip_before() {
        let shown = |parts| {
            let slices = (1..=20).map(|n| Slice { until: n * 10_000_000, ..Slice::default() }).collect();
            let none = Trains::default();
            let facts = Facts::new(slices, parts, Totals::default(), [&none, &none], Incidents::default());
            let (at, index) = (45_000_000, 4);
            facts.shown_at(&Moment { phase: Phase::Sending, from: 0, until: 200_000_000, at, index })
        };
        assert_eq!(shown((0, 40_000_000)), 7);
        assert_eq!(shown((40_000_000, 0)), 4, "at the receiver it is shown by the segments that have waited");
    }

    #[test]
    fn the_initial_flight_is_what_was_sent_before_the_first_ack() {
        let at_once = |flight: u32| {
            let slice = |n: u64| Slice {
                until: n * 10_000_000,
                sent: if n == 2 { flight } else { 1000 },
                delivered: if n == 2 { OF_SYN } else { u32::from(n > 2) * 1000 },
                ..Slice::default()
            };
            let (totals, none) = (Totals::default(), Trains::default());
            let slices = (1..=20).map(slice).collect();
            let parts = (0, 40_000_000);
            Facts::new(slices, parts, totals, [&none, &none], Incidents::default()).at_once
        };
        assert_eq!(at_once(5000), 8, "slice 8 acknowledges the sixth segment");
        assert_eq!(at_once(4000), 7);
    }

    #[test]
    fn segments_that_come_no_faster_than_their_acks_have_passed_the_bottleneck() {
        let (slow, fast) = (trains(1000), trains(4000));
        let middle = ((20_000_000, 20_000_000), false);
        assert!(is_behind_bottleneck(middle, &slow, &slow));
        assert!(is_behind_bottleneck(middle, &Trains::default(), &slow));
        assert!(!is_behind_bottleneck(middle, &slow, &fast), "the bottleneck is ahead");
        assert!(!is_behind_bottleneck(((0, 40_000_000), true), &slow, &slow), "in the host of the sender");
        let near = ((2_000_000, 40_000_000), false);
        assert!(is_behind_bottleneck(near, &slow, &slow), "near the sender, but behind a slow link");
        assert!(!is_behind_bottleneck(near, &Trains::default(), &slow), "the rate of the path is not known");
        assert!(!is_behind_bottleneck(near, &slow, &fast), "beside the sender");
    }
}
