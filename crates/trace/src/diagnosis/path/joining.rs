//! Whether a path collects segments, or their ACKs, and forwards them together: grants of a cable modem, subframes of a mobile network,
//! aggregates of a wireless one.
//!
//! Behind a link without that, nothing comes faster than at its capacity. Where much does, it has waited for the rest, and a train of
//! few segments shows no rate: it may have come at once.

/// The histogram has four bins for each doubling of the rate, up to 2^44 bytes a second.
const ALL: usize = 44 * 4;
/// Bytes have waited with those before them if they come at the capacity times this.
const TOGETHER: f64 = 4.0;
/// Fewer deliveries show no habit of the path.
const LEAST: u32 = 32;

/// How soon bytes are delivered after those before them. Empty until there are any.
#[derive(Debug, Default)]
pub(super) struct Joining(Option<Box<Deliveries>>);

#[derive(Debug)]
struct Deliveries {
    /// When the latest bytes came, in nanoseconds.
    latest: u64,
    /// How many bytes came after others, and in how many deliveries.
    bytes: u64,
    count: u32,
    /// The deliveries by their rate.
    rates: [u32; ALL],
}

impl Joining {
    /// Bytes came at `at`, after a pause that says nothing about the path.
    pub(super) const fn begin(&mut self, at: u64) {
        if let Some(deliveries) = &mut self.0 {
            deliveries.latest = at;
        }
    }

    /// These bytes came at `at`, after others.
    pub(super) fn note(&mut self, at: u64, bytes: u64) {
        let Some(deliveries) = &mut self.0 else {
            self.0 = Some(Box::new(Deliveries { latest: at, bytes: 0, count: 0, rates: [0; ALL] }));
            return;
        };
        let apart = at.saturating_sub(deliveries.latest).max(1);
        deliveries.rates[bin(bytes as f64 * 1e9 / apart as f64)] += 1;
        (deliveries.latest, deliveries.bytes) = (at, deliveries.bytes + bytes);
        deliveries.count += 1;
    }

    /// How many more bytes come together than in one delivery, on average, on a path of this capacity in bytes per second.
    pub(super) fn bytes(&self, capacity: f64) -> u64 {
        let Some(deliveries) = self.0.as_ref().filter(|deliveries| deliveries.count >= LEAST) else {
            return 0;
        };
        let together: u32 = deliveries.rates[(bin(capacity * TOGETHER) + 1).min(ALL)..].iter().sum();
        if together == deliveries.count {
            return 0;
        }
        let apart = deliveries.count - together;
        deliveries.bytes / u64::from(apart) - deliveries.bytes / u64::from(deliveries.count)
    }
}

/// The exponent of a rate, and the first two bits behind the point: cheaper than its logarithm.
fn bin(rate: f64) -> usize {
    let [bits, of_one] = [rate.max(1.0), 1.0].map(|rate| rate.to_bits() >> (f64::MANTISSA_DIGITS - 3));
    ((bits - of_one) as usize).min(ALL - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Deliveries of 3000 bytes at 1 MB/s, `size` of them together.
    fn joined(size: u64) -> u64 {
        let mut joining = Joining::default();
        for n in 0..120 {
            joining.note(n / size * size * 3_000_000 + n % size * 20_000, 3000);
        }
        joining.bytes(1e6)
    }

    #[test]
    fn each_doubling_has_four_bins() {
        assert_eq!([0.0, 1.0, 1.25, 1.5, 1.75, 2.0, 4.0, 1e30].map(bin), [0, 0, 1, 2, 3, 4, 8, ALL - 1]);
    }

    #[test]
    fn what_comes_one_by_one_has_not_waited() {
        assert_eq!(joined(1), 0);
    }

    #[test]
    fn what_comes_much_faster_than_the_path_carries_has_come_together() {
        assert!((2900..3200).contains(&joined(2)), "{}", joined(2));
        assert!((8700..9500).contains(&joined(4)), "{}", joined(4));
    }

    #[test]
    fn a_few_deliveries_show_no_habit() {
        let mut joining = Joining::default();
        (0..20).for_each(|n| joining.note(n / 2 * 6_000_000, 3000));
        assert_eq!(joining.bytes(1e6), 0);
    }

    #[test]
    fn a_pause_does_not_count() {
        let mut joining = Joining::default();
        for n in 0..40 {
            joining.begin(n * 100_000_000);
            joining.note(n * 100_000_000 + 3_000_000, 3000);
        }
        assert_eq!(joining.bytes(1e6), 0);
    }
}
