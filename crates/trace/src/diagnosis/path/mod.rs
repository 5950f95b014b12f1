//! What the slices of a sender show of its path: round trip without queue, queueing delay, capacity.

pub(super) mod bucket;
mod busy;
mod joining;
mod marked;
mod now;
pub(super) mod replay;
pub(super) mod spacing;
mod steady;
pub(super) mod trains;

use crate::diagnosis::path::busy::{BUSIER, busy, busy_behind};
use crate::diagnosis::path::marked::marked;
pub(super) use crate::diagnosis::path::now::PathNow;
use crate::diagnosis::path::spacing::{had_pauses, of_others};
use crate::diagnosis::path::steady::steady;
use crate::diagnosis::path::trains::Trains;
use crate::diagnosis::sender::meter::Slice;
use crate::diagnosis::sender::totals::Totals;

/// The quantile of the rates of trains that is taken for the capacity, and the one before others had a part of it.
const CAPACITY: f64 = 0.9;
const PEAK: f64 = 1.0;
/// Queueing delay below which a path counts as not full, in nanoseconds; on a path with a shorter round trip, that.
const LEAST_QUEUE_NS: u64 = 300_000;
/// The turns of the delay, or its falls from sample to sample, of which this quantile is the noise, and how many samples show it.
const FALLS: usize = 75;
const LEAST_SAMPLES: usize = 12;
/// For so many round trips a delay to the sender counts until the next sample.
const LASTS_ROUNDS: u64 = 4;
/// One of so many samples is above or below both of its neighbours where the delay varies by itself.
const TURNING: usize = 4;
/// Of a path that never passed more than its capacity divided by this, the rate of trains is that of a link behind it.
const USED: f64 = 4.0;
/// A queue shows where it exceeds the noise by this factor.
const ABOVE_NOISE: f64 = 2.0;
/// Fewer segments in a round trip do not fill a path, unless their sender has more.
const LEAST_SEGMENTS: u32 = 5;
/// Trains in so many round trips, or slices, that show whether segments come without pauses, and the least number of them.
const EVEN_ROUNDS: u64 = 2;
const MOST_SLICES: usize = 16;
const LEAST_TRAINS: u32 = 3;
/// An ACK of more segments than this stands for others that were left out (RFC 2525, section 2.13, has 2).
const STRETCH: u32 = 3;
/// So many segments at most are taken to have waited for a common ACK.
const MOST_JOINED: f64 = 16.0;
/// A burst has one delay, and the path may have delayed it by itself: where less passes than the path carries, a queue shows in the
/// delays of so many round trips.
const BURST_ROUNDS: u64 = 4;
/// A path that carries this share of its capacity is full.
const BUSY: f64 = 0.9;
/// A path that passes more than its capacity by this factor, over so many round trips, and for one of so many parts of the time, has a
/// higher one. ACKs that are joined come in bursts: in a shorter time, more than passes is acknowledged.
const PASSES: f64 = 1.3;
const PASSES_ROUNDS: u64 = 8;
const PART: usize = 8;

/// The path of one direction.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Path {
    /// The least round trip in nanoseconds.
    pub(super) base: u64,
    /// The capacity in bytes per second; 0 if it is not known.
    pub(super) capacity: f64,
    /// The highest rate of a train, in bytes per second: the capacity before others had a part of it.
    pub(super) peak: f64,
    /// Queueing delay below which the path counts as not full, in nanoseconds.
    pub(super) threshold: u64,
    /// How much the path delays single packets by itself, in nanoseconds.
    pub(super) jitter: u64,
    /// How many more bytes than one delivery come together, on average: those that have waited for each other.
    pub(super) joined: u64,
    /// Whether delays show a queue at the bottleneck.
    pub(super) shows_queue: bool,
    /// Whether the capture was taken beside the sender.
    pub(super) beside_sender: bool,
    /// The rate in bytes per nanosecond, with headers, of the link that explains the delays for more than half of the time; 0 without one.
    pub(super) replayed: f64,
    /// One for each slice.
    pub(super) now: Vec<PathNow>,
}

impl Path {
    /// Reads the path from the slices; `parts` are the least round trips to the sender and to the receiver.
    pub(super) fn of(slices: &[Slice], parts: (u64, u64), totals: &Totals, trains: &Trains) -> Self {
        let segment = totals.segment;
        let base = parts.0 + parts.1;
        // Beside the receiver and behind the bottleneck, data has waited before it comes here. What an ACK takes longer is the receiver's
        // delay.
        let has_waited = parts.1 * 10 <= base || totals.behind_bottleneck;
        let mut now = round_trips(slices, parts, (totals.in_host, has_waited));
        let [capacity, peak] = [CAPACITY, PEAK].map(|quantile| trains.rate(quantile).unwrap_or(0.0));
        let rates = rates(slices, base);
        // One segment takes this long at the capacity, or at the highest rate if the capacity is not known.
        let fastest = rates.iter().copied().fold(capacity, f64::max);
        let serial = if fastest > 0.0 { f64::from(segment) / fastest * 1e9 } else { 0.0 };
        let least = LEAST_QUEUE_NS.min(base).max(base / 50).max((1.4 * serial) as u64);
        // Bursts give no delay of single packets.
        let beside_sender = parts.0 * 10 <= base && !totals.behind_bottleneck;
        // Segments that come at even times were not delayed one by one: what varies is the queue of bursts.
        let most = rates.iter().copied().fold(0.0, f64::max);
        let even = totals.behind_bottleneck && totals.even && most * USED > capacity;
        let jitter =
            if !even && (beside_sender || !totals.by_bursts) { noise(&now, slices, has_waited) } else { 0 };
        let threshold = least.max((jitter as f64 * ABOVE_NOISE) as u64);
        let passes_more = more_passed(slices, base, capacity);
        let exceeds = |rate: f64, share: f64| capacity > 0.0 && !passes_more && rate > capacity * share;
        let at_capacity = |rate: f64| exceeds(rate, BUSY);
        let rounds = if beside_sender || !totals.by_bursts { 1 } else { BURST_ROUNDS };
        let standing = standing(&now, slices, &Standing { base, segment, threshold, serial, rounds }, |i| {
            at_capacity(rates[i])
        });
        let steady =
            if beside_sender || !totals.by_bursts { Vec::new() } else { steady(&now, slices, serial as u64) };
        let busy = busy(&now, slices, (parts.0 + totals.handshake, segment), |i| exceeds(rates[i], BUSIER));
        let behind = if totals.behind_bottleneck && parts.0 * 2 > base {
            busy_behind(&now, slices, (segment, jitter as f64 * ABOVE_NOISE))
        } else {
            Vec::new()
        };
        let link = totals.shared_link.filter(|_| totals.behind_bottleneck);
        let of_others = link.map_or_else(Vec::new, |serial| of_others(slices, base, serial));
        let pauses = if even { had_pauses(slices, base) } else { Vec::new() };
        // Behind the bottleneck, only timestamps show the queue; bursts do while it is short.
        let count = |has: &dyn Fn(&Slice) -> bool| slices.iter().filter(|slice| has(slice)).count();
        let shows_queue = beside_sender
            || !totals.by_bursts && count(&|slice| slice.behind > 0) * 8 > count(&|slice| slice.sent > 0);
        // Behind the bottleneck, trains show its very rate.
        let shows_less = !shows_queue && !totals.behind_bottleneck;
        let busy_share = if totals.behind_bottleneck { BUSIER } else { BUSY };
        // A rate is the capacity of the path only if a queue stood at it once; a sender may send evenly at any rate.
        let known = !shows_queue
            || standing.iter().zip(&rates).any(|(standing, rate)| standing.0 && *rate > capacity * 0.7);
        let marked = marked(slices, base);
        for (index, ((path, rate), standing)) in now.iter_mut().zip(rates).zip(standing).enumerate() {
            path.rate = rate;
            path.even = !shows_queue && is_even(slices, base, index, rate / busy_share);
            let segments = rate * path.rtt as f64 / 1e9 >= f64::from(LEAST_SEGMENTS * segment);
            path.many = standing.1 && (segments || !shows_queue);
            path.steady = steady.get(index).is_some_and(|&steady| steady);
            path.marked = marked[index];
            path.of_others = of_others.get(index).is_some_and(|&others| others);
            path.full = standing.0
                || known && at_capacity(rate) && (shows_less || rate > capacity * BUSIER)
                || beside_sender && totals.handshake > 0 && busy[index]
                || behind.get(index).is_some_and(|&busy| busy)
                || path.of_others
                || path.marked;
            if pauses.get(index).is_some_and(|&had_pauses| had_pauses) {
                (path.full, path.even) = (false, false);
            }
        }
        let joined = trains.joined(capacity);
        Self {
            base,
            capacity,
            peak,
            threshold,
            jitter,
            joined,
            shows_queue,
            beside_sender,
            replayed: 0.0,
            now,
        }
    }
}

/// The round trip and the queueing delay of each slice.
///
/// The delay to a sender without timestamps is measured rarely. An old sample is not used: the delay may have changed since.
///
/// In the host of the sender, the delay to it is its own: a sender that paces sends later than an ACK arrives. Farther away, a
/// queue may stand between.
fn round_trips(
    slices: &[Slice],
    (behind, ahead): (u64, u64),
    (in_host, has_waited): (bool, bool),
) -> Vec<PathNow> {
    let mut latest = (0, 0);
    let (base, mut sampled) = (behind + ahead, 0);
    let read = |sample: u32, least: u64, before: u64| match sample {
        0 => before,
        sample => u64::from(sample - 1).saturating_sub(least),
    };
    slices
        .iter()
        .map(|slice| {
            let sample = if has_waited { 0 } else { slice.ahead };
            let here = if in_host { 0 } else { slice.behind };
            if here > 0 {
                sampled = slice.until;
            }
            let is_old = slice.until - sampled > LASTS_ROUNDS * (base + latest.0);
            let before = if is_old { 0 } else { latest.0 };
            latest = (read(here, behind, before), read(sample, ahead, latest.1));
            let queueing = latest.0 + latest.1;
            PathNow { rtt: behind + ahead + queueing, queueing, ..PathNow::default() }
        })
        .collect()
}

/// How much delays vary by themselves, in nanoseconds: a high quantile of how far a sample is above or below both of its
/// neighbours; where few are, of how far the delay falls from one sample to the next.
///
/// A queue that stands turns and falls rarely, and it falls slowly: only while less arrives than leaves. Where the path itself
/// varies, as on a shared medium, every second sample is below the one before it, also while a queue grows.
fn noise(now: &[PathNow], slices: &[Slice], has_waited: bool) -> u64 {
    let sampled = |slice: &Slice| if has_waited { slice.behind > 0 } else { slice.ahead > 0 };
    let delays: Vec<u64> =
        now.iter().zip(slices).filter(|(_, slice)| sampled(slice)).map(|(now, _)| now.queueing).collect();
    if delays.len() < LEAST_SAMPLES {
        return 0;
    }
    let turn = |three: &[u64]| {
        let (up, down) =
            (three[1] > three[0] && three[1] > three[2], three[1] < three[0] && three[1] < three[2]);
        (up || down).then(|| three[1].abs_diff(three[0]).min(three[1].abs_diff(three[2])))
    };
    let mut turns: Vec<u64> = delays.windows(3).filter_map(turn).collect();
    if turns.len() * TURNING < delays.len() {
        let mut falls: Vec<u64> = delays.windows(2).map(|pair| pair[0].saturating_sub(pair[1])).collect();
        falls.sort_unstable();
        return falls[(falls.len() - 1) * FALLS / 100];
    }
    turns.sort_unstable();
    turns[(turns.len() - 1) * FALLS / 100]
}

/// What a queue is measured by that stands.
struct Standing {
    /// The least round trip, in nanoseconds.
    base: u64,
    /// The bytes of a segment.
    segment: u32,
    /// A packet that is delayed for longer has waited, in nanoseconds.
    threshold: u64,
    /// The time to transmit one segment, in nanoseconds.
    serial: f64,
    /// For so many round trips all packets must have waited, where less passes than the path carries.
    rounds: u64,
}

/// For each slice: whether every packet of the last round trip before its end waited, and whether packets came all the time.
///
/// A link that was idle meanwhile has delayed the packet after that not at all. ACKs of many segments
/// with pauses between them have waited for each other, whether the segments did or not.
fn standing(
    now: &[PathNow],
    slices: &[Slice],
    &Standing { base, segment, threshold, serial, rounds }: &Standing,
    at_capacity: impl Fn(usize) -> bool,
) -> Vec<(bool, bool)> {
    let (mut first, mut far) = (0, 0);
    (0..slices.len())
        .map(|index| {
            let until = slices[index].until;
            let rtt = base + now[index].queueing;
            while first < index && slices[first].until + rtt <= until {
                first += 1;
            }
            while far < index && slices[far].until + rounds * rtt <= until {
                far += 1;
            }
            let since = if at_capacity(index) { first } else { far };
            let samples = (since..=index).filter(|&i| slices[i].ahead > 0 || slices[i].behind > 0);
            let least = samples.map(|i| now[i].queueing).min().unwrap_or(0);
            let gap = longest_gap(slices, first, index);
            let always = gap * 2 <= rtt;
            let passed = slices[first..=index].iter();
            let sum = passed.fold((0, 0), |sum, slice| {
                (sum.0 + u64::from(slice.delivered), sum.1 + u64::from(slice.acks))
            });
            let bunched = gap * 3 > rtt && sum.0 > sum.1 * u64::from(STRETCH * segment);
            // Two segments with one ACK have waited for each other, even if the link was idle before them.
            let covered = sum.0 as f64 / (sum.1.max(1) as f64 * f64::from(segment.max(1)));
            let own = if at_capacity(index) { 0.0 } else { (covered - 1.0).clamp(0.0, MOST_JOINED) * serial };
            (least > threshold + own as u64 && !bunched, always)
        })
        .collect()
}

/// The longest time from the slice `first` to the slice `last` without a delivery.
fn longest_gap(slices: &[Slice], first: usize, last: usize) -> u64 {
    let mut since = first.checked_sub(1).map_or(0, |before| slices[before].until);
    let mut longest = 0;
    for slice in &slices[first..=last] {
        if slice.delivered > 0 {
            since = slice.until;
        }
        longest = longest.max(slice.until - since);
    }
    longest
}

/// Whether the trains of the last round trips before the end of a slice had a rate of `least` at most: that at which everything was
/// delivered, or a little more.
fn is_even(slices: &[Slice], base: u64, index: usize, least: f64) -> bool {
    let since = slices[index].until.saturating_sub(EVEN_ROUNDS * base);
    let latest = slices[..=index].iter().rev().take_while(|slice| slice.until > since);
    let (mut count, mut most) = (0, 0);
    // A writer of blocks, each of which ends with a short segment, sends evenly too.
    if latest.clone().any(|slice| slice.short > 0) {
        return false;
    }
    for slice in latest.take(MOST_SLICES).filter(|slice| slice.train > 0) {
        count += 1;
        most = slice.train.max(most);
    }
    count >= LEAST_TRAINS && f64::from(most) * 1e3 < least
}

/// Whether more than `capacity` passed for a part of the time, and few trains have a rate: then they do not show the capacity. Where ACKs
/// of many segments are sent together, only those of an early time have one.
fn more_passed(slices: &[Slice], base: u64, capacity: f64) -> bool {
    let rates = rates(slices, base * PASSES_ROUNDS);
    let count = |holds: &dyn Fn(&Slice) -> bool| slices.iter().filter(|slice| holds(slice)).count();
    let (trains, delivering) = (count(&|slice| slice.train > 0), count(&|slice| slice.delivered > 0));
    let more = rates.iter().filter(|&&rate| rate > capacity * PASSES).count();
    let all = rates.iter().filter(|&&rate| rate > 0.0).count();
    more * PART > all && trains * PART < delivering
}

/// The delivery rate over the last round trip before the end of each slice.
fn rates(slices: &[Slice], base: u64) -> Vec<f64> {
    let (mut first, mut sum, mut begin) = (0, 0_u64, 0);
    let mut rates = Vec::with_capacity(slices.len());
    for slice in slices {
        sum += u64::from(slice.delivered);
        while slice.until > slices[first].until && slice.until - slices[first].until >= base {
            sum -= u64::from(slices[first].delivered);
            begin = slices[first].until;
            first += 1;
        }
        let lasted = slice.until - begin;
        rates.push(if lasted > 0 && lasted >= base { sum as f64 * 1e9 / lasted as f64 } else { 0.0 });
    }
    rates
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals() -> Totals {
        Totals { segment: 1000, ..Totals::default() }
    }

    fn slice(until_ms: u64, delivered: u32, ahead_ms: u64) -> Slice {
        let ahead = (ahead_ms * 1_000_000 + 1) as u32;
        Slice { until: until_ms * 1_000_000, delivered, ahead, ..Slice::default() }
    }

    /// Trains with this rate in bytes per millisecond.
    fn trains(bytes: u64) -> Trains {
        let mut trains = Trains::default();
        for n in 0..100 {
            trains.note(n * 1_000_000, bytes, 20_000, 1000);
        }
        trains
    }

    #[test]
    fn a_queue_that_stands_for_a_round_trip_makes_the_path_full() {
        let slices: Vec<Slice> =
            (1..=40).map(|n| slice(10 * n, 10_000, if n > 20 { 60 } else { 40 })).collect();
        let path = Path::of(&slices, (0, 40_000_000), &totals(), &trains(2000));
        assert!(path.now[..20].iter().all(|now| !now.full), "{:?}", path.now);
        assert!(path.now[26..].iter().all(|now| now.full), "{:?}", path.now);
    }

    #[test]
    fn in_a_data_centre_a_queue_that_doubles_the_round_trip_makes_the_path_full() {
        // Round trips of 20 µs, and a queue of so many microseconds from the fifth slice on.
        let is_full = |queue: u64| {
            let slice = |n: u64| {
                let ahead = (20 + if n < 5 { 0 } else { queue }) * 1000 + 1;
                Slice { until: n * 5000, delivered: 2000, acks: 2, ahead: ahead as u32, ..Slice::default() }
            };
            let slices: Vec<Slice> = (1..=100).map(slice).collect();
            let path = Path::of(&slices, (0, 20_000), &totals(), &trains(400_000));
            path.now[60..].iter().all(|now| now.full)
        };
        assert!(is_full(30));
        assert!(!is_full(15));
    }

    #[test]
    fn behind_the_bottleneck_only_the_delay_to_the_sender_shows_a_queue() {
        let full = |behind_ms: u64, ahead_ms: u64| {
            let behind = (behind_ms * 1_000_000 + 1) as u32;
            let slices: Vec<Slice> = (1..=40)
                .map(|n| Slice { behind, ..slice(10 * n, 10_000, if n > 20 { ahead_ms } else { 30 }) })
                .collect();
            let totals = Totals { behind_bottleneck: true, ..totals() };
            Path::of(&slices, (10_000_000, 30_000_000), &totals, &trains(2000)).now[30].full
        };
        assert!(!full(10, 50), "the receiver delays ACKs");
        assert!(full(30, 30));
    }

    #[test]
    fn a_delay_that_varies_by_itself_shows_no_queue() {
        // 40 to 46 ms in an order without pattern, and never twice the least one.
        let varying = |n: u64| slice(10 * n, 10_000, 41 + n * n * 7 % 6 - u64::from(n == 5));
        let slices: Vec<Slice> = (1..=80).map(varying).collect();
        let path = Path::of(&slices, (0, 40_000_000), &totals(), &trains(2000));
        assert!(path.now.iter().all(|now| !now.full), "{}", path.threshold);
        let queued =
            |n: u64| Slice { ahead: varying(n).ahead + if n > 40 { 30_000_000 } else { 0 }, ..varying(n) };
        let slices: Vec<Slice> = (1..=80).map(queued).collect();
        let path = Path::of(&slices, (0, 40_000_000), &totals(), &trains(2000));
        assert!(path.now[50..].iter().all(|now| now.full), "a queue far above that shows");
    }

    #[test]
    fn a_delay_that_rises_slowly_and_falls_at_once_shows_no_queue() {
        // Grants come each 50 ms: what waited longest for one has the longest delay. It falls in one of five slices only.
        let slices: Vec<Slice> = (1..=80).map(|n| slice(10 * n, 10_000, 41 + n % 5 * 2)).collect();
        let path = Path::of(&slices, (0, 40_000_000), &totals(), &trains(2000));
        assert!(path.now.iter().all(|now| !now.full), "{}", path.threshold);
    }

    #[test]
    fn a_delay_to_the_sender_does_not_count_when_it_is_old() {
        let behind =
            |n: u64| Slice { behind: if n == 5 { 60_000_001 } else { 0 }, ..slice(10 * n, 10_000, 0) };
        let slices: Vec<Slice> = (1..=100).map(behind).collect();
        let now = round_trips(&slices, (40_000_000, 1_000_000), (false, true));
        assert_eq!([20, 60].map(|index: usize| now[index].queueing), [20_000_000, 0]);
    }

    #[test]
    fn a_sender_that_answers_late_makes_no_queue_beside_it() {
        let late = |n: u64| Slice { behind: 7_000_001, ..slice(10 * n, 10_000, 40) };
        let slices: Vec<Slice> = (1..=20).map(late).collect();
        let queueing = |in_host| round_trips(&slices, (20_000, 40_000_000), (in_host, false))[10].queueing;
        assert_eq!(queueing(true), 0);
        assert_eq!(queueing(false), 6_980_000, "a queue may stand between");
    }

    #[test]
    fn a_burst_once_a_round_trip_does_not_fill_the_path() {
        let slices: Vec<Slice> = (1..=40)
            .map(|n| if n % 4 == 0 { slice(10 * n, 5_000, 50) } else { slice(10 * n, 1000, 40) })
            .collect();
        let path = Path::of(&slices, (0, 40_000_000), &totals(), &trains(1000));
        assert!(path.now.iter().all(|now| !now.full));
    }

    #[test]
    fn acks_that_were_held_and_joined_show_no_queue() {
        let held = |acks| {
            move |n: u64| match n % 4 {
                0 => Slice { acks, ..slice(10 * n, 40_000, 50) },
                _ => Slice { until: 10 * n * 1_000_000, ..Slice::default() },
            }
        };
        let full = |acks| {
            let slices: Vec<Slice> = (1..=40).map(held(acks)).collect();
            let path = Path::of(&slices, (0, 40_000_000), &totals(), &Trains::default());
            path.now[12..].iter().any(|now| now.full)
        };
        assert!(!full(1), "one ACK of 40 segments");
        assert!(full(20), "20 ACKs of two segments");
    }

    #[test]
    fn few_early_trains_below_what_passes_later_show_no_full_path() {
        // An ACK of 20 segments each 10 ms: 2 MB/s, and trains had 1 MB/s as far as there were any.
        let is_full = |trained: u64| {
            let one = |n: u64| Slice {
                acks: 1,
                train: if n <= trained { 1000 } else { 0 },
                ..slice(10 * n, 20_000, if n < 5 { 40 } else { 45 })
            };
            let slices: Vec<Slice> = (1..=200).map(one).collect();
            let path = Path::of(&slices, (0, 40_000_000), &totals(), &trains(1000));
            path.now[60..].iter().any(|now| now.full)
        };
        assert!(!is_full(6));
        assert!(is_full(200), "trains of all the time show the capacity");
    }

    #[test]
    fn a_full_window_of_few_segments_fills_a_link_that_always_transmits() {
        // An ACK each 10 ms, in a window of four segments.
        let slices: Vec<Slice> = (1..=40)
            .map(|n| Slice { acks: 1, flight: 4000, window: 4500, ..slice(10 * n, 2000, 20) })
            .collect();
        let is_full = |handshake_ms: u64| {
            let totals = Totals { handshake: handshake_ms * 1_000_000, ..totals() };
            let path = Path::of(&slices, (0, 20_000_000), &totals, &Trains::default());
            path.now[12..].iter().all(|now| now.full)
        };
        assert!(is_full(10), "data takes 10 ms longer than a SYN, and an ACK comes each 10 ms");
        assert!(!is_full(18), "the link transmits for 2 of 10 ms");
        assert!(!is_full(0), "no handshake was captured");
    }

    #[test]
    fn a_buffer_of_few_segments_fills_a_link_that_always_transmits() {
        // The same in a window that is much larger.
        let is_full = |flight, short| {
            let slice = |n: u64| Slice { acks: 1, flight, window: 60_000, short, ..slice(10 * n, 2000, 20) };
            let slices: Vec<Slice> = (1..=40).map(slice).collect();
            let totals = Totals { handshake: 10_000_000, ..totals() };
            let path = Path::of(&slices, (0, 20_000_000), &totals, &Trains::default());
            path.now[12..].iter().all(|now| now.full)
        };
        assert!(is_full(4000, 0));
        assert!(!is_full(4000, 1), "the application has no more");
        assert!(!is_full(30_000, 0), "behind so many segments a queue would show");
    }

    #[test]
    fn bursts_show_a_queue_below_the_capacity_only_if_all_of_several_round_trips_are_longer() {
        // A sample in each round trip of 40 ms, at the receiver; the path delays one of `every` by nothing.
        let is_full = |every: u64, train| {
            let slice = |n: u64| {
                let delay = if n.is_multiple_of(4 * every) { 40 } else { 60 };
                let behind = if n.is_multiple_of(4) { delay * 1_000_000 + 1 } else { 0 };
                Slice { until: n * 10_000_000, delivered: 10_000, behind, ..Slice::default() }
            };
            let slices: Vec<Slice> = (1..=120).map(slice).collect();
            let totals = Totals { by_bursts: true, ..totals() };
            let path = Path::of(&slices, (40_000_000, 0), &totals, &trains(train));
            path.now[60..].iter().any(|now| now.full)
        };
        assert!(!is_full(3, 4000));
        assert!(is_full(12, 4000), "a queue stands for most of the time");
        assert!(is_full(3, 1000), "all that the path carries arrives");
    }

    #[test]
    fn a_full_window_of_many_segments_fills_a_link_only_at_its_rate() {
        // Data takes 10 ms longer than a SYN, and an ACK comes each 10 ms, on a path that delays data more than a SYN.
        let slices: Vec<Slice> = (1..=40)
            .map(|n| Slice { acks: 1, flight: 40_000, window: 40_500, ..slice(10 * n, 10_000, 20) })
            .collect();
        let totals = Totals { handshake: 10_000_000, ..totals() };
        let is_full = |train: u64| {
            let path = Path::of(&slices, (0, 20_000_000), &totals, &trains(train));
            path.now[12..].iter().all(|now| now.full)
        };
        assert!(is_full(1000));
        assert!(!is_full(4000), "segments pass at four times the rate");
    }

    #[test]
    fn a_rate_at_capacity_fills_the_path_only_where_a_queue_would_not_show() {
        let slices: Vec<Slice> = (1..=40).map(|n| slice(10 * n, 10_000, 40)).collect();
        let behind_the_bottleneck = Path::of(&slices, (39_000_000, 1_000_000), &totals(), &trains(1000));
        assert!(behind_the_bottleneck.now[8..].iter().all(|now| now.full));
        let at_the_sender = Path::of(&slices, (0, 40_000_000), &totals(), &trains(1000));
        assert!(at_the_sender.now.iter().all(|now| !now.full), "a sender may send evenly at any rate");
    }
}
