//! The path is full: `bottleneck`, `cross-traffic`, `shaper`.

use super::buffer::silence::is_silent;
use super::shaper::{after_burst, after_tokens, delays_small_flight_later};
use super::window::delays_acks;
use crate::diagnosis::facts::Facts;
use crate::diagnosis::moment::Moment;
use crate::diagnosis::path::PathNow;
use crate::diagnosis::path::trains;
use crate::diagnosis::sender::phase::Phase;
use netspurt_budget::Limit;

/// Round trips on each side over which the rates of trains and the delivery rate are compared.
const TRAIN_ROUNDS: u64 = 15;
const RATE_ROUNDS: u64 = 8;
/// Slices on each side that are looked at.
const MOST_SLICES: usize = 96;
/// A connection without competition reaches the rate of its trains. Below this share of that rate, other traffic has most
/// of the rest.
const SHARE: f64 = 0.8;
/// A path of which a connection has less than this is full of others, if the capacity is sure.
const HALF: f64 = 0.5;
/// ACKs of a shorter train may have come together: network cards join interrupts for so long, and links whole bursts.
const LEAST_TRAIN_S: f64 = 1e-4;
/// Behind a shaper all trains have its rate: their 90th percentile exceeds the median by less.
const STEADY: f64 = 1.05;
/// A link bounds the rates of trains: the highest of them exceed the 90th percentile by less.
const BUNCHED: f64 = 1.5;
/// Rates that differ by less than this factor are that of one bucket, if so many of ten have it. The share of a flow among long ones changes
/// more, but slowly.
const SAME: f64 = 1.1;
const SAME_OF_TEN: usize = 9;

/// Slices on each side that show whether a sender has more data.
const NEAR: usize = 4;
/// Where others have a full path for this part of the time in which this sender has it, they have it all the time, unless
/// the packets of this sender alone explain the delays. Fewer groups of slices show nothing of all the time.
const OTHERS_STAY: usize = 3;
const LEAST_GROUPS: usize = 32;

/// Neighbouring slices of which one is looked at for all.
const GROUP: usize = 4;

/// A full path, if a queue stood for the last round trip. A delay that never changes is not one of other traffic.
pub(super) fn full_path(facts: &Facts, moment: &Moment) -> Option<Limit> {
    let Moment { phase, index, .. } = *moment;
    if !facts.path.beside_sender && is_silent(facts, index) {
        return None;
    }
    if facts.is_past_queue(moment) || phase == Phase::WindowFull && delays_acks(facts, index) {
        return None;
    }
    let shown = facts.shown_at(moment);
    // A reader at an even rate makes segments come evenly too.
    let even = |now: &PathNow| now.even && phase != Phase::WindowFull;
    let now = facts.path.now.get(shown).filter(|now| now.full || even(now))?;
    let has_more = match phase {
        Phase::Sending | Phase::WindowFull | Phase::FastRecovery => true,
        // A sender that paces sends full segments between ACKs.
        Phase::RestHeld | Phase::RestKept => now.full && sends_full_segments(facts, index),
        _ => false,
    };
    let limit = (now.many || has_more).then(|| filled(facts, shown));
    limit.filter(|&limit| limit != Limit::CrossTraffic || !now.steady || now.of_others)
}

/// What fills the path, if it is full.
pub(super) fn filled(facts: &Facts, index: usize) -> Limit {
    if facts.path.now[index].of_others { Limit::CrossTraffic } else { facts.filled_by[index / GROUP] }
}

/// Whether all segments around this slice were full: their sender has more data than it sends.
fn sends_full_segments(facts: &Facts, index: usize) -> bool {
    let (first, last) = (index.saturating_sub(NEAR), (index + NEAR).min(facts.slices.len() - 1));
    facts.slices[first..=last].iter().all(|slice| slice.short == 0)
}

/// What fills the path where it is full: one for each group of slices.
///
/// A group without evidence has the limit of the one before it.
pub(super) fn filled_by(facts: &Facts) -> Vec<Limit> {
    let groups = (0..facts.slices.len()).step_by(GROUP);
    let full =
        |first: usize| (first..facts.slices.len().min(first + GROUP)).find(|&i| facts.path.now[i].is_full());
    let found: Vec<Option<(Limit, f64)>> =
        groups.map(|first| full(first).and_then(|index| fills(facts, index))).collect();
    if found.iter().all(Option::is_none) && delays_small_flight_later(facts) {
        return vec![Limit::Shaper; found.len()];
    }
    let rates = |limit| found.iter().flatten().filter(move |found| found.0 == limit).map(|found| found.1);
    // A bucket has one rate.
    let mut shaped: Vec<f64> = rates(Limit::Shaper).collect();
    shaped.sort_unstable_by(f64::total_cmp);
    let middle = shaped.get(shaped.len() / 2).copied().unwrap_or(0.0);
    let same = shaped.iter().filter(|&&rate| rate < middle * SAME && middle < rate * SAME).count();
    let shaper = if same * 10 > shaped.len() * SAME_OF_TEN { same } else { 0 };
    let others = rates(Limit::CrossTraffic).count();
    let own = rates(Limit::Bottleneck).count();
    // A shaper stays where it is: where others have the path mostly, an even rate is theirs too by chance.
    let mut latest = None;
    let settled = found.iter().map(|found| {
        let limit = match found.map(|found| found.0).or(latest) {
            Some(Limit::Shaper) if shaper * 2 < others || shaper == 0 => Limit::CrossTraffic,
            Some(Limit::CrossTraffic) if others * 2 < shaper => Limit::Shaper,
            limit => limit.unwrap_or(Limit::Bottleneck),
        };
        latest = Some(limit);
        limit
    });
    // Others stay too: where few segments are neighbours in the queue, no train may show the capacity for a while.
    let is_alone = |group: usize| full(group * GROUP).is_some_and(|index| facts.path.now[index].alone);
    let others_stay = others >= LEAST_GROUPS && others * OTHERS_STAY > own && others > shaper;
    let stays = |(group, limit): (usize, Limit)| match limit {
        Limit::Bottleneck if others_stay && !is_alone(group) => Limit::CrossTraffic,
        limit => limit,
    };
    settled.enumerate().map(stays).collect()
}

/// What fills the path in a slice, and the usual rate of trains; `None` if too few of them show that.
///
/// The capacity shows in trains of segments that happened to be neighbours in the queue. Others have most of the path if much
/// less than that reaches this connection, and less than half of the highest rate. Where segments or ACKs wait for each other and come together, trains show no capacity,
/// and so nothing of others. A path that delays each packet by itself brings some trains together by about the difference of two
/// delays: so much longer they may have been. Where the packets of this sender alone explain the delays, nobody else has a part of it.
fn fills(facts: &Facts, index: usize) -> Option<(Limit, f64)> {
    let (first, last) = facts.around(index, TRAIN_ROUNDS);
    let sides = [pace(facts, (first, index), index), pace(facts, (index, last), index)];
    let usual = sides.iter().flatten().next()?.usual;
    // What changes now is the same on one side of now.
    if sides.iter().flatten().any(Pace::is_bunched) {
        return Some((Limit::Bottleneck, usual));
    }
    let now = &facts.path.now[index];
    let alone = || sides.iter().flatten().filter(|pace| pace.rate > pace.least_capacity * SHARE);
    // Behind a link that was faster before, others or a bucket of tokens have the rest; only tokens come at an even rate.
    let slower = || alone().filter(|pace| after_burst(facts, index, pace.usual));
    // A sender whose packets are marked all the time paces them; a bucket of tokens marks nothing.
    let is_even =
        |pace: &&Pace| pace.capacity < pace.usual * STEADY && after_tokens(facts, index, pace.usual);
    let tokens = alone().find(is_even).filter(|_| !now.marked);
    if let Some(even) = tokens {
        return Some((if now.exact { Limit::Bottleneck } else { Limit::Shaper }, even.usual));
    }
    let shared = !now.alone && alone().count() == slower().count();
    let has_most = |pace: &Pace| pace.rate > facts.path.peak.max(pace.most) * HALF;
    let others = shared && !sides.iter().flatten().any(has_most);
    Some((if others { Limit::CrossTraffic } else { Limit::Bottleneck }, usual))
}

/// Whether packets wait at this moment.
pub(super) fn is_queued(facts: &Facts, index: usize) -> bool {
    facts.path.now.get(index).is_some_and(|now| now.queueing > facts.path.threshold)
}

/// What passes a full path, in bytes per second.
#[derive(Clone, Copy, Debug)]
struct Pace {
    /// The delivery rate.
    rate: f64,
    /// The median of the rates of trains, and a high quantile of them.
    usual: f64,
    capacity: f64,
    /// The capacity if the path has brought these trains together.
    least_capacity: f64,
    /// The highest of them but for a few.
    most: f64,
}

impl Pace {
    /// Whether trains exceed any capacity: segments or ACKs wait for each other on the path, and then come together.
    fn is_bunched(&self) -> bool {
        self.most > self.capacity * BUNCHED
    }
}

/// The pace between two slices, one of which is `index`; the rate is that of the round trips next to it.
fn pace(facts: &Facts, (first, last): (usize, usize), index: usize) -> Option<Pace> {
    // Where slices are much shorter than round trips, some of them are enough.
    let step = (last - first) / MOST_SLICES + 1;
    let is_full = |&i: &usize| facts.path.now[i].is_full() && facts.slices[i].resent == 0;
    let (mut bytes, mut time, mut rates) = (0_u64, 0, Vec::new());
    let (near_first, near_last) = facts.around(index, RATE_ROUNDS);
    for i in (first..=last).step_by(step).filter(is_full) {
        if (near_first..=near_last).contains(&i) {
            bytes += u64::from(facts.slices[i].delivered);
            time += facts.slices[i].until - facts.began(i);
        }
        if facts.slices[i].train > 0 {
            rates.push(facts.slices[i].train);
        }
    }
    if rates.len() < 3 || time == 0 || bytes == 0 {
        return None;
    }
    rates.sort_unstable();
    let quantile = |percent: usize| f64::from(rates[(rates.len() - 1) * percent / 100]) * 1e3;
    let (usual, capacity, most) = (quantile(50), quantile(90), quantile(98));
    let bytes_of_train = train_length(facts, index) as f64;
    let longer = bytes_of_train / capacity + facts.path.jitter as f64 / 1e9;
    // Where the delay of single packets varies, so do the rates of trains. Where they do not, it was the queue that varied.
    let steady = most < usual * STEADY && bytes_of_train / capacity > LEAST_TRAIN_S;
    let least = if steady { capacity * HALF / SHARE } else { 0.0 };
    let least_capacity = least.max(bytes_of_train / longer);
    let rate = bytes as f64 * 1e9 / time as f64;
    Some(Pace { rate, usual, capacity, least_capacity, most })
}

/// The bytes of the trains at this slice. Those of segments that have passed the bottleneck are as short as trains may be.
fn train_length(facts: &Facts, index: usize) -> u64 {
    let flight = if facts.totals.behind_bottleneck { 0 } else { facts.flight[index] };
    trains::length(u64::from(flight), u64::from(facts.totals.segment))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnosis::path::trains::Trains;
    use crate::diagnosis::sender::meter::Slice;
    use crate::diagnosis::sender::totals::Totals;

    /// A queue of 20 ms stands on a path of 40 ms, and this connection gets 300 kB/s of it; trains have these rates in kB/s.
    fn limits(trains: &[u32]) -> Vec<Limit> {
        limits_of(trains, |n| if n < 4 { 40 } else { 60 })
    }

    /// The same with these round trips in milliseconds.
    fn limits_of(trains: &[u32], rtt: impl Fn(u64) -> u32) -> Vec<Limit> {
        limits_if(trains, rtt, [false; 2])
    }

    /// The same if the packets of the sender alone explain the delays, and if they do so exactly.
    fn limits_if(trains: &[u32], rtt: impl Fn(u64) -> u32, [alone, exact]: [bool; 2]) -> Vec<Limit> {
        let slice = |(n, &train): (u64, &u32)| Slice {
            until: n * 10_000_000,
            delivered: 3000,
            acks: 2,
            ahead: rtt(n) * 1_000_000 + 1,
            train,
            ..Slice::default()
        };
        let slices = (1..).zip(trains).map(slice).collect();
        let none = Trains::default();
        let totals = Totals { segment: 1000, ..Totals::default() };
        let mut facts = Facts::new(slices, (0, 40_000_000), totals, [&none, &none], Default::default());
        facts.path.now.iter_mut().for_each(|now| (now.alone, now.exact) = (alone, exact));
        filled_by(&facts)[10..].to_vec()
    }

    #[test]
    fn what_the_last_ack_acknowledges_has_left_the_queue_before_it_comes() {
        // A queue of 20 ms until the last ACK at 1 s. It shows that queue by 30 ms later than it stood, on average.
        let full_at = |ms: u64, last_ack: u64| {
            let slice = |n: u64| Slice {
                until: n * 10_000_000,
                delivered: 3000,
                acks: 2,
                ahead: if n < 4 { 40_000_001 } else { 60_000_001 },
                ..Slice::default()
            };
            let totals = Totals { segment: 1000, last_ack: last_ack * 1_000_000, ..Totals::default() };
            let none = Trains::default();
            let slices = (1..=100).map(slice).collect();
            let mut facts = Facts::new(slices, (0, 40_000_000), totals, [&none, &none], Default::default());
            facts.filled_by = filled_by(&facts);
            let (at, until) = (ms * 1_000_000, 1_000_000_000);
            let index = facts.index_at(at);
            full_path(&facts, &Moment { phase: Phase::Delivering, from: 900_000_000, until, at, index })
        };
        assert_eq!(full_at(965, 1000), Some(Limit::Bottleneck));
        assert_eq!(full_at(975, 1000), None);
        assert_eq!(full_at(975, 9000), Some(Limit::Bottleneck), "later ACKs show that it stood");
    }

    #[test]
    fn a_delay_that_never_changes_is_not_one_of_other_traffic() {
        let of = |filled, steady| {
            let slices = (1..=40).map(|n| Slice { until: n * 10_000_000, ..Slice::default() }).collect();
            let (totals, none) = (Totals::default(), Trains::default());
            let mut facts = Facts::new(slices, (40_000_000, 0), totals, [&none, &none], Default::default());
            facts.path.now.iter_mut().for_each(|now| (now.full, now.steady) = (true, steady));
            facts.filled_by = vec![filled; 10];
            let moment =
                Moment { phase: Phase::Sending, from: 0, until: 400_000_000, at: 205_000_000, index: 20 };
            full_path(&facts, &moment)
        };
        assert_eq!(of(Limit::CrossTraffic, false), Some(Limit::CrossTraffic));
        assert_eq!(of(Limit::CrossTraffic, true), None);
        assert_eq!(of(Limit::Shaper, true), Some(Limit::Shaper), "a window that does not change");
    }

    #[test]
    fn others_have_the_path_where_trains_have_one_highest_rate() {
        let trains: Vec<u32> = (0..200).map(|n| if n % 3 == 0 { 1000 } else { 400 }).collect();
        assert!(limits(&trains).iter().all(|limit| *limit == Limit::CrossTraffic));
    }

    #[test]
    fn trains_that_a_varying_delay_may_have_brought_together_show_no_other_traffic() {
        // Three segments in 5 ms, on a path whose delay varies by 10 ms, or by nothing.
        let trains: Vec<u32> = (0..200).map(|n| if n % 3 == 0 { 640 } else { 500 }).collect();
        let varying = limits_of(&trains, |n| if n < 4 { 40 } else { 80 + n as u32 % 2 * 10 });
        assert!(varying.iter().all(|limit| *limit == Limit::Bottleneck));
        assert!(limits(&trains).iter().all(|limit| *limit == Limit::CrossTraffic));
    }

    #[test]
    fn a_connection_that_gets_more_than_half_of_the_highest_rate_has_most_of_the_path() {
        let of = |highest: u32| {
            let trains: Vec<u32> = (0..200).map(|n| if n % 3 == 0 { highest } else { 400 }).collect();
            let limits = limits(&trains);
            assert!(limits.iter().all(|limit| *limit == limits[0]));
            limits[0]
        };
        assert_eq!(of(560), Limit::Bottleneck);
        assert_eq!(of(640), Limit::CrossTraffic);
    }

    #[test]
    fn where_all_trains_have_one_rate_and_less_than_half_of_it_passes_others_have_the_rest() {
        let varying = |train| limits_of(&[train; 200], |n| if n < 4 { 40 } else { 80 + n as u32 % 2 * 10 });
        assert!(varying(1000).iter().all(|limit| *limit == Limit::CrossTraffic));
        assert!(varying(500).iter().all(|limit| *limit == Limit::Bottleneck), "more than half of it passes");
        assert!(varying(100_000).iter().all(|limit| *limit == Limit::Bottleneck), "they came together");
    }

    #[test]
    fn others_who_have_the_path_for_a_good_part_of_the_time_have_it_all_the_time() {
        // At first no train shows the capacity.
        let of = |shared: u64, alone| {
            let trains: Vec<u32> =
                (0..800).map(|n| if n >= 800 - shared && n % 3 == 0 { 1000 } else { 320 }).collect();
            limits_if(&trains, |n| if n < 4 { 40 } else { 60 }, [alone, false])[0]
        };
        assert_eq!(of(400, false), Limit::CrossTraffic);
        assert_eq!(of(150, false), Limit::Bottleneck, "they came late");
        assert_eq!(of(400, true), Limit::Bottleneck, "the packets of the sender explain the delays");
    }

    #[test]
    fn a_path_that_is_full_at_several_rates_has_no_bucket() {
        // A burst at the rate of the link, then an even rate, and from one slice on another one.
        let of = |changes: u64| {
            let rate = |n| if n < 4 { 900 } else { 310 + if n < changes { 0 } else { 60 } };
            let trains: Vec<u32> = (0..600).map(rate).collect();
            limits_if(&trains, |n| if n < 4 { 40 } else { 60 }, [false; 2])[0]
        };
        assert_eq!(of(600), Limit::Shaper);
        assert_eq!(of(350), Limit::CrossTraffic);
    }

    #[test]
    fn trains_of_what_waited_together_show_no_other_traffic() {
        let trains: Vec<u32> =
            (0..200).map(|n| if n % 12 == 0 { 3000 } else { 400 + n * 37 % 300 }).collect();
        assert!(limits(&trains).iter().all(|limit| *limit == Limit::Bottleneck));
    }

    #[test]
    fn where_the_packets_of_the_sender_alone_explain_the_queue_nobody_else_has_the_path() {
        let of = |trains: &[u32], explained| {
            let limits = limits_if(trains, |n| if n < 4 { 40 } else { 60 }, explained);
            assert!(limits.iter().all(|limit| *limit == limits[0]));
            limits[0]
        };
        let shared: Vec<u32> = (0..200).map(|n| if n % 3 == 0 { 1000 } else { 400 }).collect();
        assert_eq!(
            [of(&shared, [false; 2]), of(&shared, [true, false])],
            [Limit::CrossTraffic, Limit::Bottleneck]
        );
        let burst: Vec<u32> = (0..200).map(|n| if n < 4 { 900 } else { 310 }).collect();
        assert_eq!([of(&burst, [true, false]), of(&burst, [true; 2])], [Limit::Shaper, Limit::Bottleneck]);
    }
}
