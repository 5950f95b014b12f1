//! Timeouts whose first retransmission looks like new data, because everything that the sender sent before it was lost before
//! the capture point.

use crate::follow::retransmission::LEAST_TIMER;
use crate::stamp::Stamp;
use netspurt_tcp::time::Span;

/// The single segment that ended a silence.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::follow) struct Lone {
    at: Option<Stamp>,
}

impl Lone {
    /// A segment with new data comes at `at`, after the `newest` one before it; it `skips` data if it opens a gap. Returns when
    /// the timer's retransmission came, if this segment shows that it was one.
    ///
    /// A single segment ends a silence that is longer than a timer. The next one comes when it is acknowledged, and is far ahead:
    /// what is between was sent before the silence, and was lost. With F-RTO (RFC 5682, section 2.1) the sender sends new data
    /// first; then it retransmits all that is missing.
    pub(in crate::follow) fn note(
        &mut self,
        newest: Stamp,
        at: Stamp,
        skips: bool,
        round: Span,
    ) -> Option<Stamp> {
        let lone = self.at.take();
        if skips {
            return lone.filter(|&lone| at.since(lone) >= round.scale(3, 4));
        }
        let silence = at.since(newest);
        if silence >= LEAST_TIMER && silence > round {
            self.at = Some(at);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What new data shows at these times in ms, the last of which skips data. A round trip takes 100 ms.
    fn shown(times: [u64; 3]) -> Option<Stamp> {
        let [newest, lone, next] = times.map(|ms| Stamp(ms * 1_000_000));
        let mut state = Lone::default();
        assert_eq!(state.note(newest, lone, false, Span::from_ms(100)), None);
        state.note(lone, next, true, Span::from_ms(100))
    }

    #[test]
    fn a_gap_after_a_single_segment_that_ends_a_silence_shows_a_timeout() {
        assert_eq!(shown([0, 300, 400]), Some(Stamp(300_000_000)));
        assert_eq!(shown([0, 120, 220]), None, "no timer is so short");
        assert_eq!(shown([0, 300, 310]), None, "it was sent with the one before");
    }
}
