//! Estimates the RTT between the capture point and one end.

use netspurt_tcp::time::Span;

/// Minimum RTT, smoothed RTT and RTT variation, with the gains of RFC 6298, section 2.
///
/// It has no clock granularity and no minimum, because it judges what a sender could know and is not used for a timer.
/// The estimators of connections are in `netspurt_tcp::rto`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in crate::follow) struct Estimate {
    least: Option<Span>,
    smoothed_ps: u64,
    variation_ps: u64,
}

impl Estimate {
    #[inline]
    pub(in crate::follow) fn process(&mut self, rtt: Span) {
        let ps = rtt.as_ps();
        match &mut self.least {
            None => {
                self.least = Some(rtt);
                (self.smoothed_ps, self.variation_ps) = (ps, ps / 2);
            }
            Some(least) => {
                *least = rtt.min(*least);
                let off = self.smoothed_ps.abs_diff(ps);
                self.variation_ps = self.variation_ps - self.variation_ps / 4 + off / 4;
                self.smoothed_ps = self.smoothed_ps - self.smoothed_ps / 8 + ps / 8;
            }
        }
    }

    /// The same, with a smoothed value of `least` at least.
    pub(in crate::follow) const fn at_least(self, least: Span) -> Self {
        let smoothed_ps = if self.smoothed_ps < least.as_ps() { least.as_ps() } else { self.smoothed_ps };
        Self { smoothed_ps, ..self }
    }

    /// The minimum so far; zero without samples.
    pub(in crate::follow) fn least(&self) -> Span {
        self.least.unwrap_or(Span::ZERO)
    }

    pub(in crate::follow) const fn smoothed(&self) -> Span {
        Span::from_ps(self.smoothed_ps)
    }

    pub(in crate::follow) const fn variation(&self) -> Span {
        Span::from_ps(self.variation_ps)
    }
}
