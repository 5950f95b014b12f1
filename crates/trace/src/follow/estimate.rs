//! How long the way to one end and back takes, by the samples so far.

use netspurt_tcp::time::Span;

/// Least and smoothed round-trip time, and how far samples stray, with the gains of RFC 6298, section 2.
///
/// It serves to judge what a sender may have known when, not to time anything out: so there is no clock grain and no
/// least value. The estimators that connections use are in `netspurt_tcp::rto`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Estimate {
    least: Option<Span>,
    smoothed_ps: u64,
    variation_ps: u64,
}

impl Estimate {
    #[inline]
    pub(super) fn hear(&mut self, rtt: Span) {
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

    /// The same, but no less than `least` now.
    pub(super) const fn at_least(self, least: Span) -> Self {
        let smoothed_ps = if self.smoothed_ps < least.as_ps() { least.as_ps() } else { self.smoothed_ps };
        Self { smoothed_ps, ..self }
    }

    /// The least so far; zero if there was no sample, which nothing is less than.
    pub(super) fn least(&self) -> Span {
        self.least.unwrap_or(Span::ZERO)
    }

    pub(super) const fn smoothed(&self) -> Span {
        Span::from_ps(self.smoothed_ps)
    }

    pub(super) const fn variation(&self) -> Span {
        Span::from_ps(self.variation_ps)
    }
}
