//! How far a sender uses its congestion window: one that is not used says nothing of the path, and does not open
//! (RFC 7661's concern; Linux, `tcp_cwnd_validate()` and `tcp_is_cwnd_limited()`).

/// What the present window of data has shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Usage {
    /// Where the present window of data ends: the lower half of a position.
    until: u32,
    /// The most that was out at a time, in bytes; [`LIMITED`] if cwnd was used up.
    most: u32,
}

/// More than is ever out: one number says both, as every connection has one.
const LIMITED: u32 = u32::MAX;

impl Usage {
    /// Something was sent: everything up to `nxt`, of which `una` on is out; `limited` if that used cwnd up. What shows
    /// a window in full use counts until another one has been acknowledged.
    #[inline]
    pub(crate) fn note(&mut self, una: u64, nxt: u64, limited: bool) {
        let out = if limited {
            LIMITED
        } else {
            u32::try_from(nxt - una).map_or(LIMITED - 1, |out| out.min(LIMITED - 1))
        };
        let is_over = (una as u32).wrapping_sub(self.until) as i32 >= 0;
        if is_over || out > self.most || limited {
            *self = Self { until: nxt as u32, most: out };
        }
    }

    /// Whether an ACK may open `cwnd`: if it was the limit; in slow start also if twice as much has been out as it
    /// holds.
    #[inline]
    pub(crate) const fn opens(&self, cwnd: u32, slow_start: bool) -> bool {
        self.most == LIMITED || slow_start && cwnd < self.most.saturating_mul(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_that_was_used_up_opens_until_all_of_it_is_acknowledged_and_another_was_sent() {
        let mut usage = Usage::default();
        usage.note(1, 10_001, true);
        assert!(usage.opens(10_000, false));
        usage.note(5001, 11_001, false);
        assert!(usage.opens(10_000, false), "the window of data is not over");
        usage.note(11_001, 12_001, false);
        assert!(!usage.opens(10_000, false));
    }

    #[test]
    fn slow_start_opens_to_twice_what_was_out() {
        let mut usage = Usage::default();
        usage.note(1, 6001, false);
        assert!(usage.opens(10_000, true) && usage.opens(11_999, true));
        assert!(!usage.opens(12_000, true) && !usage.opens(10_000, false));
        usage.note(1, 4001, false);
        assert!(usage.opens(11_999, true), "the most counts");
    }
}
