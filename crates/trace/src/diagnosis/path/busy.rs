//! Links that always transmit, although no queue stands that is longer than a segment.

use crate::diagnosis::path::now::PathNow;
use crate::diagnosis::sender::meter::Slice;

/// So many round trips show how far apart ACKs are.
const BUSY_ROUNDS: u64 = 4;
/// A queue behind more segments than these is longer than the time to transmit one.
const FEW_SEGMENTS: u32 = 16;
/// Where delays show a queue and there is none, it takes more: a sender that paces stays a little below the capacity.
pub(super) const BUSIER: f64 = 0.95;
/// The headers of a segment, in bytes, which a SYN has too.
const HEADERS: u32 = 52;

/// For each slice: whether segments waited for each other all the time before its end.
///
/// What ACKs cover together takes a time to transmit that the SYN did not take. On a link that always transmits, that is the
/// time from ACK to ACK. A window of a few segments shows a full path only so: no queue stands that is longer than a segment.
pub(super) fn busy(
    now: &[PathNow],
    slices: &[Slice],
    (handshake, segment): (u64, u32),
    at_capacity: impl Fn(usize) -> bool,
) -> Vec<bool> {
    let mut first = 0;
    (0..slices.len())
        .map(|index| {
            let span = BUSY_ROUNDS * now[index].rtt;
            while first < index && slices[first].until + span <= slices[index].until {
                first += 1;
            }
            let sampled = (first..=index).filter(|&i| slices[i].ahead > 0);
            let least = sampled.map(|i| now[i].rtt).min().unwrap_or(0);
            // The time from the first ACK to the last one.
            let mut answered = (first..=index).filter(|&i| slices[i].acks > 0);
            let Some(begin) = answered.next() else { return false };
            let (end, acks) = answered.fold((begin, 0), |sum, i| (i, sum.1 + u64::from(slices[i].acks)));
            let apart = (slices[end].until - slices[begin].until) as f64 / acks.max(1) as f64;
            let most = slices[first..=index].iter().map(|slice| slice.flight).max().unwrap_or(0);
            let window_full = slices[index].window < most + 2 * segment;
            // A buffer of few segments is always full, too, as long as the application has more.
            let has_more =
                most <= FEW_SEGMENTS * segment && slices[first..=index].iter().all(|slice| slice.short == 0);
            let shown = most <= FEW_SEGMENTS * segment || at_capacity(index);
            (window_full || has_more)
                && shown
                && acks > BUSY_ROUNDS
                && least.saturating_sub(handshake) as f64 >= apart * BUSIER
        })
        .collect()
}

/// For each slice behind the bottleneck: whether its link transmitted all the time before the end of the slice.
///
/// The segment that an ACK releases takes a time to transmit that the SYN did not take. On a link that always transmits, that is the
/// time from segment to segment, or more. A window that fills only a part of the path leaves more time between segments, and so does a
/// sender that paces. Paths vary by `noise`, in nanoseconds. A slow reader makes the window smaller, and segments come as it reads.
pub(super) fn busy_behind(now: &[PathNow], slices: &[Slice], (segment, noise): (u32, f64)) -> Vec<bool> {
    let mut first = 0;
    let least_share = BUSIER * f64::from(segment) / f64::from(segment + HEADERS);
    let busy = |first: usize, index: usize| {
        let near = &slices[first..=index];
        let waited = (first..=index).filter(|&i| slices[i].behind > 0).map(|i| now[i].queueing).min();
        let mut arrivals = near.iter().filter(|slice| slice.segments > 0);
        let Some(begin) = arrivals.next() else { return false };
        let (end, segments) =
            arrivals.fold((begin.until, 0), |sum, slice| (slice.until, sum.1 + u64::from(slice.segments)));
        let apart = (end - begin.until) as f64 / segments.max(1) as f64;
        let has_more = |slice: &Slice| slice.short == 0 && slice.resent == 0 && slice.shrinks == 0;
        near.iter().all(|slice| has_more(slice) && slice.flight <= FEW_SEGMENTS * segment)
            && segments > BUSY_ROUNDS
            && noise < apart
            && waited.unwrap_or(0) as f64 >= apart * least_share
    };
    (0..slices.len())
        .map(|index| {
            let span = BUSY_ROUNDS * now[index].rtt;
            while first < index && slices[first].until + span <= slices[index].until {
                first += 1;
            }
            busy(first, index)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a link transmits all the time behind which a segment of 1000 bytes comes each 4 ms, on an empty path of 20 ms, where the
    /// segments that ACKs release take so much longer than the SYN, in microseconds.
    fn is_busy(longer: u64, noise: f64, change: fn(&mut Slice)) -> bool {
        let slice = |n: u64| {
            let mut slice =
                Slice { until: n * 4_000_000, segments: 1, flight: 6000, behind: 1, ..Slice::default() };
            change(&mut slice);
            slice
        };
        let slices: Vec<Slice> = (1..=60).map(slice).collect();
        let queueing = longer * 1000;
        let now = vec![PathNow { rtt: 20_000_000 + queueing, queueing, ..PathNow::default() }; 60];
        busy_behind(&now, &slices, (1000, noise))[59]
    }

    #[test]
    fn a_link_transmits_always_if_a_segment_takes_as_long_as_segments_are_apart() {
        assert!(is_busy(3900, 0.0, |_| {}));
        assert!(!is_busy(2500, 0.0, |_| {}), "a window that fills a part of the path");
        assert!(!is_busy(3900, 6e6, |_| {}), "the path varies by as much");
        assert!(!is_busy(3900, 0.0, |slice| slice.shrinks = 1), "a slow reader");
        assert!(!is_busy(3900, 0.0, |slice| slice.short = 1), "an application that ends its blocks");
        assert!(!is_busy(3900, 0.0, |slice| slice.flight = 60_000), "a longer queue would show");
        assert!(!is_busy(3900, 0.0, |slice| slice.behind = 0), "no delay is known");
    }
}
