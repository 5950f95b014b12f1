//! Interarrival jitter (RFC 3550, section 6.4.1).

use netspurt_tcp::time::Span;

/// The smoothed difference of the transit times of two datagrams that arrive one after the other.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Jitter {
    last: Option<Span>,
    /// In picoseconds.
    smoothed: f64,
}

impl Jitter {
    /// A datagram has arrived that took `transit`.
    pub(super) fn note(&mut self, transit: Span) {
        if let Some(last) = self.last.replace(transit) {
            let differs = transit.abs_diff(last).as_ps() as f64;
            self.smoothed += (differs - self.smoothed) / 16.0;
        }
    }

    /// In seconds; `None` before the second datagram.
    pub(super) fn seconds(&self, datagrams: u64) -> Option<f64> {
        (datagrams > 1).then_some(self.smoothed * 1e-12)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_follows_the_formula_of_the_rfc() {
        let mut jitter = Jitter::default();
        jitter.note(Span::from_ms(10));
        jitter.note(Span::from_ms(26));
        assert!((jitter.seconds(2).unwrap() - 1e-3).abs() < 1e-12);
        jitter.note(Span::from_ms(26));
        assert!((jitter.seconds(3).unwrap() - 1e-3 * 15.0 / 16.0).abs() < 1e-12);
        assert_eq!(Jitter::default().seconds(1), None);
    }
}
