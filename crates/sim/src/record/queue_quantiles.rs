//! How long a queue was for most of the time.

use super::probe::QueueSample;
use netspurt_tcp::time::{Span, Time};
use std::collections::BTreeMap;

/// For each channel the number of packets that its queue exceeded at most for the rest of the time: with a `share` of 0.95, for 5 %.
///
/// A sample holds until the next one of its channel, and the last one until the last of all. The samples are in order of time. A
/// channel of which no time was recorded is left out.
pub fn queue_quantiles(samples: &[QueueSample], share: f64) -> BTreeMap<u32, u32> {
    let end = samples.last().map_or(Time::ZERO, |last| last.time);
    let mut present: BTreeMap<u32, &QueueSample> = BTreeMap::new();
    let mut lasted: BTreeMap<u32, BTreeMap<u32, Span>> = BTreeMap::new();
    let mut note = |sample: &QueueSample, until: Time| {
        *lasted.entry(sample.channel).or_default().entry(sample.packets).or_default() += until - sample.time;
    };
    for sample in samples {
        if let Some(before) = present.insert(sample.channel, sample) {
            note(before, sample.time);
        }
    }
    for last in present.values() {
        note(last, end);
    }
    lasted.into_iter().filter_map(|(channel, times)| Some((channel, quantile(&times, share)?))).collect()
}

/// The least length that was not exceeded for this share of all times; `None` if they add up to nothing.
fn quantile(times: &BTreeMap<u32, Span>, share: f64) -> Option<u32> {
    let whole = times.values().fold(Span::ZERO, |sum, &time| sum + time);
    let mut reached = Span::ZERO;
    let enough = |(_, time): &(&u32, &Span)| {
        reached += **time;
        reached.as_secs_f64() >= share * whole.as_secs_f64()
    };
    (whole > Span::ZERO).then(|| times.iter().find(enough).map(|(&packets, _)| packets)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(ms: u64, channel: u32, packets: u32) -> QueueSample {
        QueueSample { time: Time::ZERO + Span::from_ms(ms), channel, packets }
    }

    #[test]
    fn each_length_counts_as_long_as_it_lasted() {
        // Channel 0: 3 packets for 90 ms, 8 for 6 ms, 20 for 4 ms. Channel 1 is recorded from 50 ms on, and never changes.
        let samples =
            [sample(0, 0, 3), sample(50, 1, 7), sample(90, 0, 8), sample(96, 0, 20), sample(100, 0, 0)];
        let of = |share| queue_quantiles(&samples, share).into_iter().collect::<Vec<_>>();
        assert_eq!(of(0.5), [(0, 3), (1, 7)]);
        assert_eq!(of(0.95), [(0, 8), (1, 7)]);
        assert_eq!(of(1.0), [(0, 20), (1, 7)]);
    }

    #[test]
    fn a_channel_of_which_no_time_was_recorded_is_left_out() {
        assert!(queue_quantiles(&[sample(5, 0, 1)], 0.95).is_empty());
        assert!(queue_quantiles(&[], 0.95).is_empty());
    }
}
