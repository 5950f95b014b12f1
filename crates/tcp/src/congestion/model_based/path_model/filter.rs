//! A windowed maximum in constant memory (Kathleen Nichols' algorithm, as in Linux, `lib/minmax.c`).

/// The best three values of a window, each later than the one before it. When the best one expires, another one
/// replaces it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in crate::congestion) struct WindowedMax([Sample; 3]);

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Sample {
    at: u64,
    value: u64,
}

impl WindowedMax {
    /// The largest.
    pub(in crate::congestion) fn get(&self) -> u64 {
        self.0[0].value
    }

    /// Adds a value at a time that never decreases. Values older than `window` expire.
    pub(in crate::congestion) fn add(&mut self, window: u64, at: u64, value: u64) {
        let new = Sample { at, value };
        let [best, second, third] = &mut self.0;
        if value >= best.value || at - third.at > window {
            self.0 = [new; 3];
            return;
        }
        if value >= second.value {
            (*second, *third) = (new, new);
        } else if value >= third.value {
            *third = new;
        }
        self.age(window, new);
    }

    /// Replaces expired values, and values too close in time to the best one.
    fn age(&mut self, window: u64, new: Sample) {
        let [best, second, third] = self.0;
        let age = new.at - best.at;
        if age > window {
            self.0 = [second, third, new];
            if new.at - second.at > window {
                self.0 = [third, new, new];
            }
        } else if second.at == best.at && age > window / 4 {
            self.0 = [best, new, new];
        } else if third.at == second.at && age > window / 2 {
            self.0 = [best, second, new];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_larger_value_applies_immediately_and_a_smaller_one_after_the_window() {
        let mut filter = WindowedMax::default();
        filter.add(10, 0, 100);
        filter.add(10, 1, 300);
        assert_eq!(filter.get(), 300);
        for at in 2..=11 {
            filter.add(10, at, 200);
            assert_eq!(filter.get(), 300, "{at}");
        }
        filter.add(10, 12, 200);
        assert_eq!(filter.get(), 200);
    }

    #[test]
    fn it_is_never_below_the_newest_nor_above_the_true_maximum() {
        // Against the maximum of all values in the window, over a long pseudo-random row.
        let (mut filter, mut state, mut values) = (WindowedMax::default(), 7_u64, Vec::new());
        for at in 0..2000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let value = state >> 54;
            values.push(value);
            filter.add(10, at, value);
            let from = values.len().saturating_sub(11);
            let true_max = values[from..].iter().copied().max().expect("not empty");
            assert!((value..=true_max).contains(&filter.get()), "{at}: {} {value} {true_max}", filter.get());
        }
    }
}
