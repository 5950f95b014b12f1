//! The pacing rate.

use super::UNIT;
use crate::congestion::pacing;
use crate::time::Span;

/// Bytes per second; 0 before the first value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in crate::congestion) struct Pace {
    rate: u64,
    /// Whether the rate is based on a measured RTT.
    knows_rtt: bool,
}

impl Pace {
    /// The rate.
    pub(in crate::congestion) fn get(&self) -> u64 {
        self.rate
    }

    /// Sets the initial rate: `cwnd` per RTT, or per millisecond, times a gain.
    pub(in crate::congestion) fn begin(&mut self, cwnd: u32, srtt: Option<Span>, gain: u64) {
        if !self.knows_rtt {
            self.knows_rtt = srtt.is_some();
            self.rate = scaled(pacing::rate(u64::from(cwnd), srtt.unwrap_or(Span::from_ms(1))), gain);
        }
    }

    /// Sets the rate. During startup it does not decrease.
    pub(in crate::congestion) fn want(&mut self, rate: u64, may_fall: bool) {
        if may_fall || rate > self.rate {
            self.rate = rate.max(1);
        }
    }
}

/// A rate times a gain, minus a margin of one percent so that queues shrink.
pub(in crate::congestion) fn scaled(rate: u64, gain: u64) -> u64 {
    let wide = u128::from(rate) * u128::from(gain) * 99 / (u128::from(UNIT) * 100);
    u64::try_from(wide).unwrap_or(u64::MAX)
}
