//! The packets of a sender, replayed through a link: when it transmitted all the time, and whether they alone explain the delays.
//!
//! Beside the sender it is known what left and when, so the queue of its own packets is known too, if the rate of the link is. The
//! measured delays show that rate, and whether anything else made packets wait: other traffic, a bucket of tokens, or the path itself.
//! Where nothing did, the replay shows the begin and the end of a full path better than delays, which also vary by themselves.

use crate::diagnosis::path::Path;
use crate::diagnosis::path::now::PathNow;
use crate::diagnosis::sender::meter::Slice;

/// When something left, in nanoseconds since the begin of the connection, and its bytes.
pub(in crate::diagnosis) type Departed = (u64, u32);

/// The headers of a segment, in bytes.
pub(in crate::diagnosis) const HEADERS: u32 = 52;
/// A link that transmits for this share of a round trip is full.
const BUSY: f64 = 0.95;
/// Rates on each side of the known capacity that are tried, and by how much each differs from the next; then finer ones between two.
const RATES: i32 = 3;
const APART: f64 = 0.03;
const FINER: [f64; 3] = [0.01, 0.0033, 0.0011];
/// Finer rates are not tried where the differences are larger by this factor than those of a link that explains the delays.
const HOPELESS: f64 = 3.0;
/// A rate that differs from the known capacity by more is not that of its link.
const MOST_APART: f64 = 0.08;
/// So many samples of the delay show whether a link explains them.
const LEAST_SAMPLES: usize = 8;
/// A link explains delays from which its own differ by less than this share, on the whole. They show it if they exceed this part of the
/// time to transmit a segment.
const MISFIT: f64 = 0.35;
const LEAST_DELAY: f64 = 0.5;
/// The same for a short transfer, and how many rates on each side of that of its fastest train are tried.
const LEAST_OF_FEW: usize = 4;
const MISFIT_OF_FEW: f64 = 0.15;
const RATES_OF_FEW: i32 = 8;
/// And around a slice: in so many round trips on each side they differ by this share, or by this multiple of the time to transmit a segment.
const NEAR_ROUNDS: u64 = 2;
const NEAR_SAMPLES: usize = 2;
const NEAR_MISFIT: f64 = 0.15;
const NEAR_SEGMENTS: f64 = 1.5;

/// The measured delays that a link may explain.
struct Measured<'a> {
    slices: &'a [Slice],
    now: &'a [PathNow],
    /// The ends of the slices.
    ends: Vec<f64>,
    /// The least round trip in nanoseconds.
    base: u64,
    segment: u32,
    /// The slices with a sample.
    samples: Vec<usize>,
}

/// A link, and how well it agrees with the measured delays. A receiver that acknowledges two segments together waits for the second one,
/// which `offset` accounts for: the delay shows later by the time to transmit a segment.
#[derive(Clone, Copy, Debug)]
struct Link {
    /// Bytes per nanosecond.
    rate: f64,
    offset: f64,
    /// The sums of the differences, and of the longer delay of each two; and of how many samples.
    differs: f64,
    longer: f64,
    count: usize,
}

impl Link {
    /// Whether the delays show a queue, and differ from those of this link by no more than a share of them.
    fn explains(&self, segment: f64, least: usize, misfit: f64) -> bool {
        self.count >= least
            && self.longer > LEAST_DELAY * segment / self.rate * self.count as f64
            && self.differs < misfit * self.longer
    }

    /// Whether the delays differ by less than the time to transmit a segment. A bucket of tokens lets a burst pass first, which then is
    /// missing in the queue.
    fn is_exact(&self, segment: f64) -> bool {
        self.differs * self.rate < segment * self.count as f64
    }

    /// What a packet that waits for so long shows.
    fn shown(&self, waits: f64) -> f64 {
        if waits > 0.0 { waits + self.offset } else { 0.0 }
    }
}

impl<'a> Measured<'a> {
    fn new(path: &'a Path, slices: &'a [Slice], segment: u32) -> Self {
        let samples = (0..slices.len()).filter(|&index| slices[index].ahead > 0).collect();
        let ends = slices.iter().map(|slice| slice.until as f64).collect();
        Self { slices, now: &path.now, ends, base: path.base, segment, samples }
    }

    /// For each slice, the least time that a packet waited for a link with this rate of which the ACK comes in the slice; infinite
    /// without such a packet.
    fn waits(&self, departed: &[Departed], rate: f64, waits: &mut Vec<f64>) {
        waits.clear();
        waits.resize(self.slices.len(), f64::INFINITY);
        let (mut free, mut index) = (0.0_f64, 0);
        let (base, per_byte, last) = (self.base as f64, 1.0 / rate, self.ends.len() - 1);
        for &(at, bytes) in departed {
            let at = at as f64;
            let begins = free.max(at);
            free = begins + f64::from(bytes) * per_byte;
            while index < last && self.ends[index] <= begins + base {
                index += 1;
            }
            waits[index] = waits[index].min(begins - at);
        }
    }

    /// The difference of the delays in a slice, and the longer one; `None` without a packet of which the delay is known.
    fn differs(&self, index: usize, waits: &[f64], link: &Link) -> Option<(f64, f64)> {
        waits[index].is_finite().then(|| {
            let (seen, shown) = (self.now[index].queueing as f64, link.shown(waits[index]));
            ((seen - shown).abs(), seen.max(shown))
        })
    }

    fn agreement(&self, rate: f64, offset: f64, waits: &[f64]) -> Link {
        let mut link = Link { rate, offset, differs: 0.0, longer: 0.0, count: 0 };
        for &index in &self.samples {
            if let Some((differs, longer)) = self.differs(index, waits, &link) {
                link.differs += differs;
                link.longer += longer;
                link.count += 1;
            }
        }
        link
    }

    /// The link with one of these rates in bytes per nanosecond, or one between two of them, that agrees best, and how long packets
    /// wait for it.
    fn fit(&self, departed: &[Departed], rates: impl Iterator<Item = f64>) -> (Link, Vec<f64>) {
        let mut waits = Vec::new();
        let mut best =
            Link { rate: f64::INFINITY, offset: 0.0, differs: f64::INFINITY, longer: 0.0, count: 0 };
        let mut attempt = |rate: f64, best: &mut Link| {
            self.waits(departed, rate, &mut waits);
            for offset in [0.0, f64::from(self.segment) / rate] {
                let link = self.agreement(rate, offset, &waits);
                if link.differs < best.differs {
                    *best = link;
                }
            }
        };
        rates.for_each(|rate| attempt(rate, &mut best));
        let hopeless = best.differs > HOPELESS * MISFIT * best.longer;
        for apart in FINER.into_iter().filter(|_| !hopeless) {
            let center = best.rate;
            [-apart, apart].into_iter().for_each(|apart| attempt(center * (1.0 + apart), &mut best));
        }
        self.waits(departed, best.rate, &mut waits);
        (best, waits)
    }

    /// The link near this rate that explains the delays.
    fn link_near(&self, departed: &[Departed], rate: f64) -> Option<(Link, Vec<f64>)> {
        if self.samples.len() < LEAST_SAMPLES {
            return None;
        }
        let rates = (-RATES..=RATES).map(|n| rate * (1.0 + APART).powi(n));
        let (link, waits) = self.fit(departed, rates);
        let near = (link.rate / rate - 1.0).abs() < MOST_APART;
        (near && link.explains(f64::from(self.segment), LEAST_SAMPLES, MISFIT)).then_some((link, waits))
    }

    /// The same of a short transfer: a few trains, of which the fastest has this rate, do not show the capacity. The delays must agree
    /// the better.
    fn link_of_few(&self, departed: &[Departed], train: f64) -> Option<(Link, Vec<f64>)> {
        if train <= 0.0 || self.samples.len() < LEAST_OF_FEW {
            return None;
        }
        let rates = (-RATES_OF_FEW..=RATES_OF_FEW).map(|n| train * (1.0 + APART).powi(n));
        let (link, waits) = self.fit(departed, rates);
        link.explains(f64::from(self.segment), LEAST_OF_FEW, MISFIT_OF_FEW).then_some((link, waits))
    }

    /// For each slice: whether the samples around it agree.
    fn agrees(&self, link: &Link, waits: &[f64]) -> Vec<bool> {
        let mut sums = vec![(0.0, 0.0, 0)];
        for (index, slice) in self.slices.iter().enumerate() {
            let (differs, longer, count) = sums[index];
            let sample = if slice.ahead > 0 { self.differs(index, waits, link) } else { None };
            let own = sample.unwrap_or_default();
            sums.push((differs + own.0, longer + own.1, count + usize::from(sample.is_some())));
        }
        let few_segments = NEAR_SEGMENTS * f64::from(self.segment) / link.rate;
        let near = |index: usize| {
            let (at, span) = (self.slices[index].until, NEAR_ROUNDS * (self.base + self.now[index].queueing));
            let first = self.slices.partition_point(|slice| slice.until + span < at);
            let last = self.slices.partition_point(|slice| slice.until < at + span).max(index + 1);
            let (before, all) = (sums[first], sums[last.min(self.slices.len())]);
            let (differs, longer, count) = (all.0 - before.0, all.1 - before.1, all.2 - before.2);
            count >= NEAR_SAMPLES && differs <= (few_segments * count as f64).max(NEAR_MISFIT * longer)
        };
        (0..self.slices.len()).map(near).collect()
    }
}

/// For each slice: whether a link with this rate transmitted for the round trip of the empty path, `base`, that its ACKs show.
fn busy(slices: &[Slice], base: u64, departed: &[Departed], rate: f64) -> Vec<bool> {
    let mut periods: Vec<(f64, f64)> = Vec::new();
    let mut free = 0.0_f64;
    for &(at, bytes) in departed {
        let from = free.max(at as f64);
        free = from + f64::from(bytes) / rate;
        match periods.last_mut() {
            Some(last) if from <= last.1 => last.1 = free,
            _ => periods.push((from, free)),
        }
    }
    let mut first = 0;
    let full = |slice: &Slice| {
        let until = slice.until.saturating_sub(base) as f64;
        let from = until - base as f64;
        while first < periods.len() && periods[first].1 <= from {
            first += 1;
        }
        let inside = periods[first..].iter().take_while(|period| period.0 < until);
        let sum: f64 = inside.map(|period| period.1.min(until) - period.0.max(from)).sum();
        sum >= BUSY * base as f64
    };
    slices.iter().map(full).collect()
}

impl Path {
    /// Replays what a sender sent and what arrived of it, in segments of `segment` bytes. Where the delays are those of one link, it
    /// is full while that transmits all the time.
    pub(in crate::diagnosis) fn replay(&mut self, slices: &[Slice], segment: u32, departed: &[Departed]) {
        if self.base == 0 || segment == 0 {
            return;
        }
        let full_segment = segment + HEADERS;
        let with_headers = |rate: f64| rate / 1e9 * f64::from(full_segment) / f64::from(segment);
        let measured = Measured::new(self, slices, full_segment);
        let found = if self.capacity > 0.0 {
            // Where a bucket drops, few trains have the rate of the link.
            let peak = Some(self.peak).filter(|&peak| peak > self.capacity * (1.0 + MOST_APART));
            let rates = [Some(self.capacity), peak].into_iter().flatten();
            rates.map(with_headers).find_map(|rate| measured.link_near(departed, rate))
        } else {
            let train = slices.iter().map(|slice| slice.train).max().unwrap_or(0);
            measured.link_of_few(departed, with_headers(f64::from(train) * 1e3))
        };
        let Some((link, waits)) = found else { return };
        let agrees = measured.agrees(&link, &waits);
        let full = busy(slices, self.base, departed, link.rate);
        let exact = link.is_exact(f64::from(full_segment));
        let explained = agrees.iter().filter(|agrees| **agrees).count();
        self.replayed = if explained * 2 > agrees.len() { link.rate } else { 0.0 };
        for ((now, full), _) in self.now.iter_mut().zip(full).zip(agrees).filter(|(_, agrees)| *agrees) {
            (now.full, now.alone, now.exact) = (full, true, exact);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// A sender that sends a segment of 1000 bytes each so many milliseconds, over an empty path of 40 ms and a link on which it takes 2 ms.
    /// `seen` is the delay in milliseconds that is measured of a segment that left then and waits so long. Returns in which slices of
    /// 10 ms the path is full, and in which the sender alone explains the delays.
    fn replayed(apart: impl Fn(u64) -> u64, seen: impl Fn(u64, u64) -> u64) -> [Vec<u64>; 2] {
        replayed_with((510.0, 510.0, 510), apart, seen)
    }

    /// The same with this capacity, this highest rate of a train, and this rate of one train, in kilobytes per second.
    fn replayed_with(
        (capacity, peak, train): (f64, f64, u32),
        apart: impl Fn(u64) -> u64,
        seen: impl Fn(u64, u64) -> u64,
    ) -> [Vec<u64>; 2] {
        let mut slices: Vec<Slice> =
            (1..=160).map(|n| Slice { until: n * 10 * MS, ..Slice::default() }).collect();
        let mut now = vec![PathNow::default(); slices.len()];
        let (mut departed, mut free, mut at) = (Vec::new(), 0_u64, 0);
        while at < 1200 {
            let waits = free.saturating_sub(at);
            free = free.max(at) + 2;
            departed.push((at * MS, 1000 + HEADERS));
            let delay = seen(at, waits) * MS;
            let index = ((at * MS + 40 * MS + delay) / (10 * MS)) as usize;
            if slices[index].ahead == 0 || delay < now[index].queueing {
                (slices[index].ahead, now[index].queueing) = (1, delay);
            }
            at += apart(at);
        }
        slices[40].train = train;
        let mut path =
            Path { base: 40 * MS, capacity: capacity * 1e3, peak: peak * 1e3, now, ..Path::default() };
        path.replay(&slices, 1000, &departed);
        let those = |has: fn(&PathNow) -> bool| {
            let chosen = slices.iter().zip(&path.now).filter(|(_, now)| has(now));
            chosen.map(|(slice, _)| slice.until / MS).collect::<Vec<u64>>()
        };
        [those(|now| now.full), those(|now| now.alone)]
    }

    /// Too few to fill the link, except from 200 ms to 300 ms: what that leaves in the queue is gone at 400 ms.
    const fn more_for_a_while(at: u64) -> u64 {
        if 200 <= at && at < 300 { 1 } else { 4 }
    }

    #[test]
    fn a_link_is_full_once_the_packets_of_its_sender_have_kept_it_busy_for_a_round_trip_until_the_queue_is_gone()
     {
        let [full, alone] = replayed(more_for_a_while, |_, waits| waits);
        assert_eq!(
            (full.first(), full.last()),
            (Some(&280), Some(&540)),
            "an ACK shows it a round trip later"
        );
        assert!(alone.len() > 100, "{alone:?}");
    }

    #[test]
    fn where_few_trains_have_the_rate_of_the_link_the_fastest_one_shows_it() {
        let usual = replayed(more_for_a_while, |_, waits| waits);
        assert_eq!(replayed_with((350.0, 510.0, 0), more_for_a_while, |_, waits| waits), usual);
        assert_eq!(
            replayed_with((350.0, 350.0, 0), more_for_a_while, |_, waits| waits),
            [vec![], vec![]],
            "no train has it"
        );
    }

    #[test]
    fn delays_show_the_rate_of_the_link_to_a_short_transfer_if_they_agree_well() {
        let short = |seen: fn(u64, u64) -> u64| replayed_with((0.0, 0.0, 450), more_for_a_while, seen);
        assert_eq!(short(|_, waits| waits), replayed(more_for_a_while, |_, waits| waits));
        let varying = |at: u64, waits: u64| waits * if at.is_multiple_of(3) { 2 } else { 4 } / 3;
        assert_eq!(short(varying), [vec![], vec![]]);
        assert!(!replayed(more_for_a_while, varying)[1].is_empty(), "with a known capacity that is enough");
    }

    #[test]
    fn delays_that_the_packets_of_the_sender_do_not_explain_show_nothing_of_them() {
        let none = [vec![], vec![]];
        assert_eq!(
            replayed(more_for_a_while, |at, waits| waits + 20 + at % 70),
            none,
            "others wait there too"
        );
        assert_eq!(replayed(more_for_a_while, |_, _| 0), none, "a link that is much faster");
        assert_eq!(replayed(|_| 4, |_, waits| waits), none, "no queue shows the rate");
    }

    #[test]
    fn while_others_make_packets_wait_too_the_replay_is_not_used() {
        let others = 800..900;
        let [_, alone] =
            replayed(more_for_a_while, |at, waits| waits + if others.contains(&at) { 30 } else { 0 });
        assert!(alone.contains(&500) && !alone.contains(&900), "{alone:?}");
    }
}
