//! The end of slow start before losses: an increase of the RTT shows that a queue has formed.
//!
//! Two rules: that of Linux (`tcp_cubic.c`; S. Ha and I. Rhee, "Taming the elephants", Computer Networks 55(9), 2011),
//! which ends slow start immediately. It also ends slow start when an ACK train lasts for half of the shortest RTT plus
//! half of the time that bursts may add. HyStart++ (RFC 9406) continues at a quarter of the growth for five rounds. It
//! returns to full slow start if the RTT decreases again.
//!
//! Both need an RTT sample with nearly every ACK.

use crate::config::choices::HyStart as HyStartChoice;
use crate::congestion::View;
use crate::time::{Span, Time};

/// N_RTT_SAMPLE (RFC 9406, section 4.3); HYSTART_MIN_SAMPLES.
const SAMPLES: u8 = 8;

/// MIN_RTT_THRESH and MAX_RTT_THRESH; HYSTART_DELAY_MIN and _MAX are the same.
const THRESHOLDS: (Span, Span) = (Span::from_ms(4), Span::from_ms(16));

/// CSS_ROUNDS.
const ROUNDS: u8 = 5;

/// hystart_low_window, in segments.
const LOW_WINDOW: u32 = 16;

/// hystart_ack_delta_us: the largest interval between ACKs of one train.
const TRAIN: Span = Span::from_ms(2);

/// The largest burst in bytes, and the largest time that bursts may add to an RTT (`hystart_ack_delay()`).
const BURSTS: u64 = 4 * 65_536;
const LONGEST_BURSTS: Span = Span::from_ms(1);

/// The effect of an ACK in slow start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::congestion) enum Pace {
    /// The full increase.
    Full,
    /// A quarter of the increase (CSS_GROWTH_DIVISOR).
    Quarter,
    /// Slow start ends.
    Over,
    /// Slow start ends with this cwnd, because it has exceeded the path.
    OverAt(u32),
}

impl Pace {
    /// The new cwnd, if full slow start increases it from `before` to `after`.
    pub(in crate::congestion) const fn opened(self, before: u32, after: u32) -> u32 {
        match self {
            Self::Quarter => before + (after - before) / 4,
            Self::Full | Self::Over | Self::OverAt(_) => after,
        }
    }
}

/// The state of the detection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::congestion) struct HyStart {
    rule: HyStartChoice,
    /// windowEnd: the round ends when this position is acknowledged.
    round_end: u64,
    round_began: Time,
    /// Shortest round trip of the round, of the one before, and of all.
    current: Option<Span>,
    last: Option<Span>,
    shortest: Option<Span>,
    samples: u8,
    /// The last ACK of the train.
    train: Time,
    /// cssBaselineMinRtt, and the rounds left, while in conservative slow start.
    conservative: Option<(Span, u8)>,
}

impl HyStart {
    /// The initial state; `None` without a rule.
    pub(in crate::congestion) fn new(rule: HyStartChoice) -> Option<Self> {
        (rule != HyStartChoice::Off).then_some(Self {
            rule,
            round_end: 0,
            round_began: Time::ZERO,
            current: None,
            last: None,
            shortest: None,
            samples: 0,
            train: Time::ZERO,
            conservative: None,
        })
    }

    /// An ACK of new data in slow start, with `cwnd` in bytes before it.
    pub(in crate::congestion) fn on_ack(&mut self, view: &View, cwnd: u32) -> Pace {
        let round_over = view.acknowledged > self.round_end;
        if round_over {
            self.begin_round(view);
        }
        // Linux looks at a round only from this window on (`hystart_update()`).
        let looks = self.rule != HyStartChoice::Linux || cwnd >= LOW_WINDOW.saturating_mul(view.mss);
        if let Some(rtt) = view.rtt {
            let least = |known: Option<Span>| Some(known.map_or(rtt, |known| known.min(rtt)));
            self.shortest = least(self.shortest);
            if looks {
                self.current = least(self.current);
                self.samples = self.samples.saturating_add(1);
            }
        }
        match self.rule {
            HyStartChoice::Off | HyStartChoice::Search => Pace::Full,
            HyStartChoice::Linux => self.linux(view, cwnd),
            HyStartChoice::Rfc9406 => self.rfc9406(round_over),
        }
    }

    fn begin_round(&mut self, view: &View) {
        self.round_end = view.sent;
        (self.round_began, self.train) = (view.now, view.now);
        self.last = self.current.take();
        self.samples = 0;
    }

    /// The smallest sample that counts as an increase above `base`.
    fn limit(base: Span) -> Span {
        let eighth = Span::from_ps(base.as_ps() / 8);
        base + eighth.clamp(THRESHOLDS.0, THRESHOLDS.1)
    }

    /// `hystart_update()`.
    fn linux(&mut self, view: &View, cwnd: u32) -> Pace {
        let (Some(shortest), Some(current)) = (self.shortest, self.current) else { return Pace::Full };
        if cwnd < LOW_WINDOW.saturating_mul(view.mss) {
            return Pace::Full;
        }
        if view.now - self.train <= TRAIN {
            self.train = view.now;
            let whole = shortest + bursts(cwnd, view.srtt.unwrap_or(shortest));
            // With pacing, a train lasts for the whole RTT. It shows a full path only if it is longer.
            let limit = if view.paced { whole } else { Span::from_ps(whole.as_ps() / 2) };
            if view.now - self.round_began > limit {
                return Pace::Over;
            }
        }
        let grown = self.samples > SAMPLES && current > Self::limit(shortest);
        if grown { Pace::Over } else { Pace::Full }
    }

    /// RFC 9406, section 4.2.
    fn rfc9406(&mut self, round_over: bool) -> Pace {
        let enough = self.samples >= SAMPLES;
        match (&mut self.conservative, self.current) {
            (Some((baseline, _)), Some(current)) if enough && current < *baseline => {
                self.conservative = None;
                Pace::Full
            }
            (Some((_, rounds)), _) => {
                // Slow start may go on after its end, if cwnd did not leave it.
                *rounds = rounds.saturating_sub(u8::from(round_over));
                if *rounds == 0 { Pace::Over } else { Pace::Quarter }
            }
            (None, Some(current)) if enough && self.last.is_some_and(|last| current >= Self::limit(last)) => {
                self.conservative = Some((current, ROUNDS));
                Pace::Quarter
            }
            (None, _) => Pace::Full,
        }
    }
}

/// The time that bursts add to the RTT, if twice `cwnd` is sent per RTT as in slow start.
fn bursts(cwnd: u32, srtt: Span) -> Span {
    let wide = u128::from(srtt.as_ps()) * u128::from(BURSTS) / (2 * u128::from(cwnd.max(1)));
    u64::try_from(wide).map_or(LONGEST_BURSTS, |ps| Span::from_ps(ps).min(LONGEST_BURSTS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::view;

    const MSS: u32 = 1000;

    /// Rounds of 20 ACKs, 3 ms apart, with the given round-trip times in ms; the pace at each round's end.
    fn rounds(rule: HyStartChoice, rtts: &[u64], gap_us: u64) -> Vec<Pace> {
        let mut hystart = HyStart::new(rule).unwrap();
        let mut acknowledged = 0;
        rtts.iter()
            .enumerate()
            .map(|(round, &rtt)| {
                let mut pace = Pace::Full;
                for n in 0..20 {
                    acknowledged += u64::from(MSS);
                    let now = Time::ZERO + Span::from_ms(1000 * round as u64) + Span::from_us(gap_us * n);
                    let view = View {
                        now,
                        rtt: Some(Span::from_ms(rtt)),
                        acknowledged,
                        sent: acknowledged + 20 * u64::from(MSS) - 1,
                        ..view(MSS, 20 * MSS)
                    };
                    pace = hystart.on_ack(&view, 20 * MSS);
                    if pace == Pace::Over {
                        break;
                    }
                }
                pace
            })
            .collect()
    }

    #[test]
    fn a_lasting_delay_ends_slow_start_after_five_conservative_rounds() {
        use Pace::{Full, Over, Quarter};
        // 100 ms and an eighth of it.
        assert_eq!(rounds(HyStartChoice::Rfc9406, &[100, 100, 111], 3000), [Full, Full, Full]);
        let paces = rounds(HyStartChoice::Rfc9406, &[100, 100, 113, 120, 120, 120, 120, 120], 3000);
        assert_eq!(paces, [Full, Full, Quarter, Quarter, Quarter, Quarter, Quarter, Over]);
    }

    #[test]
    fn slow_start_resumes_if_the_rtt_decreases_again() {
        use Pace::{Full, Quarter};
        let paces = rounds(HyStartChoice::Rfc9406, &[100, 100, 120, 100, 101], 3000);
        assert_eq!(paces, [Full, Full, Quarter, Full, Full]);
    }

    #[test]
    fn the_threshold_lies_between_four_and_sixteen_milliseconds() {
        assert_eq!(*rounds(HyStartChoice::Rfc9406, &[8, 8, 11], 100).last().unwrap(), Pace::Full);
        assert_eq!(*rounds(HyStartChoice::Rfc9406, &[8, 8, 12], 100).last().unwrap(), Pace::Quarter);
        assert_eq!(*rounds(HyStartChoice::Rfc9406, &[400, 400, 416], 3000).last().unwrap(), Pace::Quarter);
    }

    #[test]
    fn linux_ends_slow_start_immediately_by_delay_or_by_an_ack_train() {
        assert_eq!(rounds(HyStartChoice::Linux, &[100, 112], 3000), [Pace::Full, Pace::Full]);
        assert_eq!(rounds(HyStartChoice::Linux, &[100, 113], 3000), [Pace::Full, Pace::Over]);
        // A train of 20 ACKs, a millisecond apart, is longer than half of 30 ms.
        assert_eq!(rounds(HyStartChoice::Linux, &[30], 1000), [Pace::Over]);
        assert_eq!(rounds(HyStartChoice::Linux, &[100], 1000), [Pace::Full]);
    }

    #[test]
    fn slow_start_that_goes_on_after_its_end_stays_over() {
        let mut hystart = HyStart::new(HyStartChoice::Rfc9406).unwrap();
        hystart.conservative = Some((Span::from_ms(100), 1));
        let over: Vec<Pace> = (1..4)
            .map(|n| {
                let acknowledged = 10 * u64::from(MSS) * n;
                let view = View { acknowledged, sent: acknowledged, ..view(MSS, 20 * MSS) };
                hystart.on_ack(&view, 20 * MSS)
            })
            .collect();
        assert_eq!(over, [Pace::Over; 3]);
    }

    #[test]
    fn linux_looks_at_a_round_from_sixteen_segments_on() {
        let mut hystart = HyStart::new(HyStartChoice::Linux).unwrap();
        let mut ack = |ms, rtt, acknowledged, cwnd| {
            let view = View {
                now: Time::ZERO + Span::from_ms(ms),
                rtt: Some(Span::from_ms(rtt)),
                acknowledged,
                sent: 1_000_000,
                ..view(MSS, cwnd)
            };
            hystart.on_ack(&view, cwnd)
        };
        // The shortest round trip counts from the first ACK on.
        assert_eq!(ack(0, 20, 1, 10 * MSS), Pace::Full);
        for n in 0..20 {
            assert_eq!(ack(100 + 5 * n, 60, 2, 15 * MSS), Pace::Full);
        }
        let paces: Vec<Pace> = (0..9).map(|n| ack(300 + 5 * n, 60, 3, 16 * MSS)).collect();
        assert_eq!(paces.iter().position(|pace| *pace == Pace::Over), Some(8), "the ninth sample");
    }

    #[test]
    fn bursts_extend_the_train_by_up_to_half_a_millisecond() {
        // 20 ACKs last 15.2 ms; half of 30 and of the millisecond that bursts may take is 15.5, half of 29 and one are 15.
        assert_eq!(rounds(HyStartChoice::Linux, &[30], 800), [Pace::Full]);
        assert_eq!(rounds(HyStartChoice::Linux, &[29], 800), [Pace::Over]);
        // Where four of the longest bursts take less than that, they count for what they take: 262144 B of 2 · 100 MB in 30 ms.
        assert_eq!(bursts(100_000_000, Span::from_ms(30)), Span::from_ps(39_321_600));
        assert_eq!(bursts(1000, Span::from_ms(30)), Span::from_ms(1));
    }
}
