//! Decides the phase of past time that was open: what the next segment, ACK or timeout shows about it.

use crate::diagnosis::sender::phase::Phase;
use crate::diagnosis::sender::{MOST_INITIAL, PROMPT_NS, SenderView, WAKES_NS};

impl SenderView {
    /// Settles what was tentative: stretches of [`Phase::Sending`] become `instead`. Data that was all sent is on its way for
    /// a round trip; an ACK that comes later than that was delayed, which did not hold the sender, or the data waited on the path.
    pub(super) fn settle(&mut self, instead: Phase) {
        let waits = matches!(instead, Phase::Delivering | Phase::Drained);
        let late = waits && self.clock > self.sent_at + self.round() * 5 / 4;
        let arrives = self.sent_at + self.round();
        for (until, phase) in self.tentative.drain(..) {
            if phase != Phase::Sending {
                self.phases.push(until, phase);
                continue;
            }
            if late {
                self.phases.push(until.min(arrives), Phase::Delivering);
                self.phases.push(until, Phase::Unanswered);
            } else {
                self.phases.push(until, instead);
            }
        }
    }

    /// A segment that follows an ACK or another segment within this time was caused by it. Away from the sender, the round
    /// trip to it varies with the queues.
    pub(super) fn prompt(&self) -> u64 {
        PROMPT_NS + self.behind.least() / 8 + self.behind_now().saturating_sub(self.behind.least()) / 4
    }

    /// Settles the time since the last new data, now that more new data is sent.
    pub(super) fn settle_before_data(&mut self, at: u64, (prompted, explained): (bool, bool), short: bool) {
        let outstanding = self.una < self.next;
        let prompt = if short { self.prompt().max(self.ack_delay() / 4) } else { self.prompt() };
        let emptied = !outstanding && at.saturating_sub(self.acked_at) > prompt;
        let released = !outstanding && !emptied;
        if explained {
            // It was on its way.
            for (_, phase) in self.tentative.iter_mut().filter(|(_, phase)| *phase == Phase::Empty) {
                *phase = Phase::Sending;
            }
        }
        let by_bare_ack = self.bare && at.saturating_sub(self.acked_at) <= prompt;
        // The application does not see a bare ACK: what follows it at once was held by TCP.
        let instead = if explained {
            Phase::Sending
        } else if outstanding && !self.short && self.ignores_acks(at) && !self.refills(at) {
            Phase::RestKept
        } else if by_bare_ack && (self.short || short) && released && self.has_sent_initial_window() {
            Phase::Sending
        } else if by_bare_ack && (self.short || short) && released {
            Phase::ShortHeld
        } else if emptied || released && !by_bare_ack && (self.short || !self.bare) {
            Phase::Delivering
        } else if prompted {
            Phase::Sending
        } else if self.short {
            Phase::Drained
        } else {
            Phase::RestHeld
        };
        self.settle(instead);
    }

    /// How long the receiver delayed its last ACK, away from the sender. A short segment that comes soon after a long delay was held
    /// until then: a slow link takes a while to transmit it.
    fn ack_delay(&self) -> u64 {
        if self.is_beside_sender() || !self.bare {
            return 0;
        }
        self.acked_at.saturating_sub(self.sent_at + self.behind_now() + self.ahead)
    }

    /// Whether everything sent so far is an initial window: no policy for short segments needs to have held the rest.
    fn has_sent_initial_window(&self) -> bool {
        let segment = i64::from(self.totals.segment.max(1));
        is_initial_window(self.next - self.first, segment)
    }

    /// Whether ACKs of most of what was outstanding have not made the sender send: it had nothing to fill a segment with.
    fn ignores_acks(&self, at: u64) -> bool {
        let segment = i64::from(self.totals.segment.max(1));
        self.repair.is_none()
            && self.duplicates == 0
            && self.unanswered.is_some_and(|(since, flight)| {
                let acknowledged = flight - (self.next - self.una);
                at.saturating_sub(since) > self.prompt()
                    && acknowledged >= 4 * segment
                    && acknowledged * 4 >= flight * 3
            })
    }

    /// Whether the new data follows a bare ACK so closely that the ACK has released it: the kernel wakes a writer when enough of
    /// its send buffer is free, which may take the ACKs of most of what is outstanding.
    fn refills(&self, at: u64) -> bool {
        self.is_beside_sender() && self.bare && at.saturating_sub(self.acked_at) <= WAKES_NS
    }

    /// Settles the wait for a timer that has expired at `at`: it began with the last segment or ACK.
    pub(super) fn settle_wait(&mut self, at: u64, phase: Phase) {
        let began = self.sent_at.max(self.acked_at);
        let all = core::mem::take(&mut self.tentative);
        let mut from = self.phases.end();
        for (until, before) in all {
            if from < began.min(until) {
                self.phases.push(began.min(until), before);
            }
            if until > began {
                self.phases.push(until, phase);
            }
            from = until;
        }
        self.phases.push(at, phase);
    }
}

/// Whether so many bytes are the initial window of a sender with segments of this size: two of them (RFC 5681, section 3.1),
/// those of RFC 3390, or ten (RFC 6928).
fn is_initial_window(bytes: i64, segment: i64) -> bool {
    let larger = (4 * segment).min(4380.max(2 * segment)) / segment;
    [2, larger, MOST_INITIAL].into_iter().any(|segments| bytes == segments * segment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_initial_window_has_two_three_or_ten_segments() {
        let windows: Vec<i64> = (1..=12).filter(|n| is_initial_window(n * 1460, 1460)).collect();
        assert_eq!(windows, [2, 3, 10]);
        assert!(is_initial_window(4 * 536, 536) && !is_initial_window(3 * 1460 - 1, 1460));
    }
}
