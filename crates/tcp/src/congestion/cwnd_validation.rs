//! cwnd validation: how much of cwnd a sender uses. An unused cwnd gives no information about the path and does not
//! grow (RFC 7661; Linux, `tcp_cwnd_validate()` and `tcp_is_cwnd_limited()`).

/// The use of cwnd in the present window of data.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Usage {
    /// The end of the present window of data: the lower half of a position.
    until: u32,
    /// The largest number of bytes in flight; [`LIMITED`] if cwnd was used up.
    most: u32,
}

/// A value above every number of bytes in flight. One number represents both to save memory.
const LIMITED: u32 = u32::MAX;

impl Usage {
    /// Records a transmission: `outstanding` bytes, from `una` to `nxt`, are not acknowledged. They include the padding of
    /// short segments if cwnd counts packets. `limited` means that they used up cwnd. A full use counts until the next window
    /// of data is acknowledged.
    #[inline]
    pub(crate) fn note(&mut self, una: u64, nxt: u64, outstanding: u64, limited: bool) {
        let out = if limited {
            LIMITED
        } else {
            u32::try_from(outstanding).map_or(LIMITED - 1, |out| out.min(LIMITED - 1))
        };
        let is_over = (una as u32).wrapping_sub(self.until) as i32 >= 0;
        if is_over || out > self.most || limited {
            *self = Self { until: nxt as u32, most: out };
        }
    }

    /// The same if cwnd was used up by data up to `nxt`.
    #[inline]
    pub(crate) fn note_limited(&mut self, nxt: u64) {
        *self = Self { until: nxt as u32, most: LIMITED };
    }

    /// Whether cwnd was the limit.
    #[inline]
    pub(crate) fn is_limited(&self) -> bool {
        self.most == LIMITED
    }

    /// Whether an ACK may increase `cwnd`: if cwnd was the limit, or in slow start if at least half of it was in
    /// flight.
    #[inline]
    pub(crate) fn opens(&self, cwnd: u32, slow_start: impl FnOnce() -> bool) -> bool {
        self.is_limited() || cwnd < self.most.saturating_mul(2) && slow_start()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(usage: &mut Usage, una: u64, nxt: u64, limited: bool) {
        usage.note(una, nxt, nxt - una, limited);
    }

    #[test]
    fn a_used_up_window_grows_until_it_is_acknowledged_and_another_was_sent() {
        let mut usage = Usage::default();
        note(&mut usage, 1, 10_001, true);
        assert!(usage.opens(10_000, || false));
        note(&mut usage, 5001, 11_001, false);
        assert!(usage.opens(10_000, || false), "the window of data is not over");
        note(&mut usage, 11_001, 12_001, false);
        assert!(!usage.opens(10_000, || false));
    }

    #[test]
    fn a_used_up_window_needs_no_amount() {
        for (una, before) in [(1, 0), (1, 9000), (12_001, 9000)] {
            let mut usage = Usage::default();
            note(&mut usage, 1, 1 + before, false);
            let mut same = usage;
            note(&mut usage, una, 15_001, true);
            same.note_limited(15_001);
            assert_eq!(usage, same);
        }
    }

    #[test]
    fn slow_start_increases_cwnd_to_twice_the_data_in_flight() {
        let mut usage = Usage::default();
        note(&mut usage, 1, 6001, false);
        assert!(usage.opens(10_000, || true) && usage.opens(11_999, || true));
        assert!(!usage.opens(12_000, || true) && !usage.opens(10_000, || false));
        note(&mut usage, 1, 4001, false);
        assert!(usage.opens(11_999, || true), "the maximum counts");
    }
}
