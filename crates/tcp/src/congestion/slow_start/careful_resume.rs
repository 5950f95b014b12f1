//! Careful Resume (RFC 9959): a connection starts with the capacity that an earlier one over the same path has found.
//!
//! It first confirms the path in slow start (*reconnaissance*). Then it sends at half of the saved cwnd (*unvalidated*) and
//! waits for the ACKs of this data (*validating*). If data is lost or marked meanwhile, it goes back to what was delivered
//! (*safe retreat*).

use crate::config::choices::SavedPath;
use crate::congestion::delivery_rate::{LostSegment, RateSample};
use crate::congestion::{CongestionControl, PathModel, Signal, View, pacing};
use crate::time::{Span, Time};

/// The phases of section 3.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Reconnaissance,
    /// Since this time; data from this position on is unvalidated.
    Unvalidated(Time, u64),
    /// Unvalidated data ends at this position.
    Validating(u64),
    /// The same.
    SafeRetreat(u64),
    Normal,
}

/// A congestion control with Careful Resume.
#[derive(Debug)]
pub(in crate::congestion) struct CarefulResume {
    inner: Box<dyn CongestionControl>,
    saved: SavedPath,
    phase: Phase,
    /// The initial cwnd.
    initial: u32,
    shortest: Option<Span>,
    srtt: Option<Span>,
    /// PipeSize: the validated capacity.
    pipe: u64,
    /// The position up to which data is part of it.
    counted: u64,
}

impl CarefulResume {
    /// `inner` starts with `cwnd` bytes.
    pub(in crate::congestion) fn new(inner: Box<dyn CongestionControl>, saved: SavedPath, cwnd: u32) -> Self {
        Self {
            inner,
            saved,
            phase: Phase::Reconnaissance,
            initial: cwnd,
            shortest: None,
            srtt: None,
            pipe: 0,
            counted: 0,
        }
    }

    /// Section 3.3: half of the saved cwnd.
    fn jump(&self) -> u32 {
        self.saved.cwnd / 2
    }

    /// PipeSize grows by acknowledged data.
    fn count(&mut self, view: &View) {
        self.pipe += view.acknowledged.saturating_sub(self.counted);
        self.counted = self.counted.max(view.acknowledged);
    }

    fn pipe(&self) -> u32 {
        u32::try_from(self.pipe).unwrap_or(u32::MAX)
    }

    /// Section 3.2: the initial window was acknowledged, and the path is the one that was saved. `None`: not yet.
    fn confirms(&self, view: &View) -> Option<bool> {
        let shortest = self.shortest?;
        if self.jump() <= self.inner.cwnd() || self.inner.cwnd() >= self.inner.ssthresh() {
            return Some(false);
        }
        if view.acknowledged <= u64::from(self.initial) {
            return None;
        }
        let saved = self.saved.rtt.as_ps();
        let near = shortest.as_ps() >= saved / 2 && shortest.as_ps() <= saved.saturating_mul(10);
        if near && !view.cwnd_limited { None } else { Some(near) }
    }

    fn acked(&mut self, signal: Signal, view: &View) {
        if let Some(rtt) = view.rtt.or(view.srtt) {
            self.shortest = Some(self.shortest.map_or(rtt, |known| known.min(rtt)));
        }
        match self.phase {
            Phase::Reconnaissance => {
                self.inner.on(signal, view);
                match self.confirms(view) {
                    Some(true) => self.jump_ahead(view),
                    Some(false) => self.phase = Phase::Normal,
                    None => {}
                }
            }
            Phase::Unvalidated(since, first) => {
                self.count(view);
                let is_over = self.srtt.is_some_and(|srtt| view.now.since(since) > srtt);
                if view.acknowledged > first || is_over {
                    self.validate(view);
                }
            }
            Phase::Validating(last) => {
                self.count(view);
                self.inner.on(signal, view);
                if view.acknowledged >= last {
                    self.phase = Phase::Normal;
                }
            }
            Phase::SafeRetreat(last) => self.retreat(last, view),
            Phase::Normal => self.inner.on(signal, view),
        }
    }

    /// Section 3.3: on entry PipeSize is what is in flight.
    fn jump_ahead(&mut self, view: &View) {
        self.pipe = view.sent.saturating_sub(view.acknowledged);
        self.counted = view.acknowledged;
        self.inner.set_windows(self.jump(), u32::MAX);
        self.phase = Phase::Unvalidated(view.now, view.sent);
    }

    /// Section 3.4: cwnd is what is in flight, unless less was sent than is validated.
    fn validate(&mut self, view: &View) {
        let flight = view.sent.saturating_sub(view.acknowledged).min(u64::from(self.jump()));
        self.phase = if flight > self.pipe { Phase::Validating(view.sent) } else { Phase::Normal };
        let cwnd = u32::try_from(flight).unwrap_or(u32::MAX).max(self.pipe());
        self.inner.set_windows(cwnd, u32::MAX);
    }

    /// Section 3.5: a loss or a mark of data that may be too much.
    fn begin_retreat(&mut self, signal: Signal, view: &View) {
        self.count(view);
        self.inner.on(signal, view);
        let least = view.mss.saturating_mul(2);
        let half = (self.pipe() / 2).max(least);
        let cwnd = if let Signal::Timeout { .. } = signal { self.inner.cwnd() } else { half };
        self.inner.set_windows(cwnd, half);
        self.phase = Phase::SafeRetreat(view.sent);
    }

    /// Section 3.5: cwnd stays until all unvalidated data is acknowledged; then ssthresh is PipeSize.
    fn retreat(&mut self, last: u64, view: &View) {
        self.count(view);
        if view.acknowledged >= last {
            let cwnd = self.inner.cwnd();
            self.inner.set_windows(cwnd, self.pipe().max(cwnd));
            self.phase = Phase::Normal;
        }
    }
}

impl CongestionControl for CarefulResume {
    fn on(&mut self, signal: Signal, view: &View) {
        self.srtt = view.srtt;
        match (signal, self.phase) {
            (Signal::Acked { .. }, _) => self.acked(signal, view),
            (
                Signal::EnterRecovery | Signal::EcnCe | Signal::Timeout { .. },
                Phase::Unvalidated(..) | Phase::Validating(_),
            ) => self.begin_retreat(signal, view),
            // Section 3.2: congestion in reconnaissance, or a pause.
            (
                Signal::EnterRecovery | Signal::EcnCe | Signal::Timeout { .. } | Signal::IdleRestart { .. },
                Phase::Reconnaissance,
            )
            | (Signal::IdleRestart { .. } | Signal::Undo, _) => {
                self.phase = Phase::Normal;
                self.inner.on(signal, view);
            }
            (Signal::PartialAck { .. }, Phase::SafeRetreat(_)) => {
                self.count(view);
                self.inner.on(signal, view);
            }
            (Signal::ExitRecovery, Phase::SafeRetreat(last)) => {
                self.inner.on(signal, view);
                self.retreat(last, view);
            }
            _ => self.inner.on(signal, view),
        }
    }

    fn cwnd(&self) -> u32 {
        self.inner.cwnd()
    }

    fn ssthresh(&self) -> u32 {
        self.inner.ssthresh()
    }

    fn set_prior_ssthresh(&mut self, ssthresh: u32) -> u32 {
        self.inner.set_prior_ssthresh(ssthresh)
    }

    fn measure(&mut self, now: Time, rtt: Option<Span>) {
        self.inner.measure(now, rtt);
    }

    fn begins_to_send(&mut self, now: Time, pause: Span) {
        self.inner.begins_to_send(now, pause);
    }

    fn begin_pace(&mut self, srtt: Option<Span>) {
        self.inner.begin_pace(srtt);
    }

    fn delivered(&mut self, sample: &RateSample, view: &View) {
        self.inner.delivered(sample, view);
    }

    fn lost(&mut self, segment: &LostSegment, view: &View) {
        self.inner.lost(segment, view);
    }

    /// Section 3.3: unvalidated data is spread over an RTT.
    fn pacing_rate(&self) -> Option<u64> {
        match (self.phase, self.srtt) {
            (Phase::Unvalidated(..), Some(srtt)) => Some(pacing::rate(u64::from(self.jump()), srtt).max(1)),
            _ => self.inner.pacing_rate(),
        }
    }

    fn heeds_marks(&self, now: Time) -> bool {
        self.inner.heeds_marks(now)
    }

    fn is_sparing(&self) -> bool {
        self.inner.is_sparing()
    }

    fn least_burst(&self) -> u64 {
        self.inner.least_burst()
    }

    fn path(&self) -> Option<PathModel> {
        self.inner.path()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::{GROWTH, view};
    use crate::congestion::{Bbr, Reno};

    const MSS: u32 = 1000;

    /// An ACK up to `acknowledged` segments, with `sent` segments sent, at this time, with an RTT of 100 ms.
    fn at(ms: u64, acknowledged: u64, sent: u64) -> View {
        let rtt = Some(Span::from_ms(100));
        View {
            now: Time::ZERO + Span::from_ms(ms),
            rtt,
            srtt: rtt,
            acknowledged: 1 + acknowledged * u64::from(MSS),
            sent: 1 + sent * u64::from(MSS),
            ..view(MSS, (sent - acknowledged) as u32 * MSS)
        }
    }

    /// With 400 segments saved, after the ACK of the initial window of ten: twenty in flight.
    fn resumed(saved_ms: u64) -> CarefulResume {
        let saved = SavedPath { rtt: Span::from_ms(saved_ms), cwnd: 400 * MSS };
        let inner = Box::new(Reno::new(10 * MSS, u32::MAX, GROWTH));
        let mut cc = CarefulResume::new(inner, saved, 10 * MSS);
        for n in 1..=10 {
            cc.on(Signal::Acked { bytes: MSS }, &at(100 + n, n, 10 + 2 * n));
        }
        cc
    }

    #[test]
    fn a_confirmed_path_starts_with_half_of_the_saved_window() {
        let cc = resumed(100);
        assert_eq!(cc.phase, Phase::Unvalidated(Time::ZERO + Span::from_ms(110), 30_001));
        assert_eq!((cc.cwnd(), cc.pipe), (200 * MSS, 20_000));
        assert_eq!(cc.pacing_rate(), Some(2_000_000), "200 kB in 100 ms");
    }

    #[test]
    fn a_model_of_the_path_begins_at_the_rate_of_the_handshake() {
        let saved = SavedPath { rtt: Span::from_ms(100), cwnd: 400 * MSS };
        let bbr = || Bbr::new(10 * MSS, 1);
        let (mut alone, mut cc) = (bbr(), CarefulResume::new(Box::new(bbr()), saved, 10 * MSS));
        assert_eq!(cc.pacing_rate(), None);
        alone.begin_pace(Some(Span::from_ms(100)));
        cc.begin_pace(Some(Span::from_ms(100)));
        assert!(cc.pacing_rate().is_some());
        assert_eq!(cc.pacing_rate(), alone.pacing_rate());
    }

    #[test]
    fn another_round_trip_time_is_another_path() {
        // Section 3.2: between half and ten times the saved RTT.
        for (saved, resumes) in [(9, false), (10, true), (200, true), (202, false)] {
            let cc = resumed(saved);
            assert_eq!(cc.cwnd() == 200 * MSS, resumes, "{saved}");
            assert_eq!(cc.phase == Phase::Normal, !resumes, "{saved}");
        }
    }

    #[test]
    fn the_first_ack_of_unvalidated_data_begins_validation_and_the_last_one_ends_it() {
        let mut cc = resumed(100);
        // The twenty of reconnaissance: cwnd stays.
        for n in 11..=30 {
            cc.on(Signal::Acked { bytes: MSS }, &at(150 + n, n, 30 + 5 * (n - 10)));
        }
        assert_eq!((cc.cwnd(), cc.pipe), (200 * MSS, 40_000));
        cc.on(Signal::Acked { bytes: MSS }, &at(209, 31, 200));
        assert_eq!(cc.phase, Phase::Validating(200_001));
        assert_eq!(cc.cwnd(), 169 * MSS, "what is in flight");
        cc.on(Signal::Acked { bytes: MSS }, &at(210, 32, 201));
        assert_eq!(cc.cwnd(), 170 * MSS, "slow start");
        cc.on(Signal::Acked { bytes: 168 * MSS }, &at(300, 200, 400));
        assert_eq!(cc.phase, Phase::Normal);
    }

    #[test]
    fn a_loss_retreats_to_half_of_what_was_delivered() {
        let mut cc = resumed(100);
        for n in 11..=30 {
            cc.on(Signal::Acked { bytes: MSS }, &at(150 + n, n, 210));
        }
        cc.on(Signal::EnterRecovery, &at(181, 30, 210));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (20 * MSS, 20 * MSS), "PipeSize is 40");
        cc.on(Signal::PartialAck { bytes: 60 * MSS }, &at(250, 90, 210));
        cc.on(Signal::ExitRecovery, &at(300, 210, 230));
        assert_eq!(cc.phase, Phase::Normal);
        assert_eq!(
            (cc.cwnd(), cc.ssthresh()),
            (20 * MSS, 220 * MSS),
            "all 210 less the first ten, and the first 20 twice"
        );
    }

    #[test]
    fn a_loss_before_the_path_is_confirmed_is_an_ordinary_one() {
        let saved = SavedPath { rtt: Span::from_ms(100), cwnd: 400 * MSS };
        let mut cc = CarefulResume::new(Box::new(Reno::new(10 * MSS, u32::MAX, GROWTH)), saved, 10 * MSS);
        cc.on(Signal::Acked { bytes: MSS }, &at(100, 1, 12));
        cc.on(Signal::EnterRecovery, &at(101, 1, 12));
        assert_eq!((cc.phase, cc.cwnd()), (Phase::Normal, 5500));
    }
}
