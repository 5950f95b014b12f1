//! What the slices of a sender show of its path: round trip without queue, queueing delay, capacity.

use super::meter::Slice;

/// Queueing delay below which a path counts as not full, in nanoseconds.
const LEAST_QUEUE_NS: u64 = 300_000;

/// What is known of the path in one slice.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct PathNow {
    /// Round trip of the whole path in nanoseconds; the latest one, if the slice has no sample.
    pub(super) rtt: u64,
    /// How much of it exceeds the least one.
    pub(super) queueing: u64,
    /// Whether a queue stood on the path for the last round trip.
    pub(super) full: bool,
    /// Bytes per second that arrived during the last round trip.
    pub(super) rate: f64,
}

/// The path of one direction.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Path {
    /// The least round trip in nanoseconds.
    pub(super) base: u64,
    /// The highest rate of a round trip, in bytes per second.
    pub(super) capacity: f64,
    /// One for each slice.
    pub(super) now: Vec<PathNow>,
}

impl Path {
    /// Reads the path from the slices; `parts` are the least round trips to the sender and to the receiver.
    pub(super) fn of(slices: &[Slice], parts: (u64, u64), segment: u32) -> Self {
        let base = parts.0 + parts.1;
        let mut now = round_trips(slices, parts);
        let rates = rates(slices, base);
        let capacity = rates.iter().copied().fold(0.0, f64::max);
        // One segment takes this long at the capacity.
        let serial = if capacity > 0.0 { f64::from(segment) / capacity * 1e9 } else { 0.0 };
        let threshold = LEAST_QUEUE_NS.max(base / 50).max((1.5 * serial) as u64);
        let mut since = None;
        let mut from = 0;
        for ((path, slice), rate) in now.iter_mut().zip(slices).zip(rates) {
            path.rate = rate;
            let stands = path.queueing > threshold && (slice.delivered > 0 || slice.until - from < base / 2);
            since = if stands { since.or(Some(from)) } else { None };
            path.full = since.is_some_and(|since| slice.until - since >= base);
            from = slice.until;
        }
        spread_back(&mut now, slices, base);
        Self { base, capacity, now }
    }
}

/// The round trip and the queueing delay of each slice.
fn round_trips(slices: &[Slice], (behind, ahead): (u64, u64)) -> Vec<PathNow> {
    let mut latest = (0, 0);
    let read = |sample: u32, least: u64, before: u64| match sample {
        0 => before,
        sample => u64::from(sample - 1).saturating_sub(least),
    };
    slices
        .iter()
        .map(|slice| {
            latest = (read(slice.behind, behind, latest.0), read(slice.ahead, ahead, latest.1));
            let queueing = latest.0 + latest.1;
            PathNow { rtt: behind + ahead + queueing, queueing, ..PathNow::default() }
        })
        .collect()
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

/// A path that is full at the end of a round trip with a standing queue was full from its begin.
fn spread_back(now: &mut [PathNow], slices: &[Slice], base: u64) {
    let mut until = None;
    for index in (0..now.len()).rev() {
        let began = if index == 0 { 0 } else { slices[index - 1].until };
        if now[index].full {
            until = Some(began.saturating_sub(base));
        } else if until.is_some_and(|until| began >= until) && now[index].queueing > 0 {
            now[index].full = true;
        } else {
            until = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slice(until_ms: u64, delivered: u32, ahead_ms: u64) -> Slice {
        let ahead = (ahead_ms * 1_000_000 + 1) as u32;
        Slice { until: until_ms * 1_000_000, delivered, ahead, ..Slice::default() }
    }

    #[test]
    fn a_queue_that_stands_for_a_round_trip_makes_the_path_full() {
        let slices: Vec<Slice> =
            (1..=40).map(|n| slice(10 * n, 10_000, if n > 20 { 60 } else { 40 })).collect();
        let path = Path::of(&slices, (0, 40_000_000), 1000);
        assert!(path.now[..20].iter().all(|now| !now.full), "{:?}", path.now);
        assert!(path.now[20..].iter().all(|now| now.full), "{:?}", path.now);
        assert!((path.capacity - 1e6).abs() < 1.0, "{}", path.capacity);
    }

    #[test]
    fn a_burst_once_a_round_trip_does_not_fill_the_path() {
        let slices: Vec<Slice> = (1..=40)
            .map(|n| if n % 4 == 0 { slice(10 * n, 40_000, 50) } else { slice(10 * n, 1000, 40) })
            .collect();
        let path = Path::of(&slices, (0, 40_000_000), 1000);
        assert!(path.now.iter().all(|now| !now.full));
    }
}
