//! The quality of a call: when the receiver plays speech, and the E-model (ITU-T G.107) of what the listener hears.
//!
//! These parts of the E-model are used: the default transmission rating 93.2, the delay impairment Idd of section 7.4, the
//! effective equipment impairment of section 7.5, and the opinion score of Annex B. Echo is assumed to be cancelled, so the
//! impairments of echo (Idte, Idle) are zero.

use netspurt_tcp::time::{Span, Time};

/// The transmission rating with the default values of G.107, without delay and without loss.
const RATING: f64 = 93.2;

/// Time between two adjustments of an adaptive playout: talk spurts of this length are assumed.
const TALK_SPURT: Span = Span::from_secs(1);

/// How speech is encoded. Impairments: ITU-T G.113, Appendix I.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Codec {
    /// G.711 with packet loss concealment: 64 kbit/s.
    #[default]
    G711,
    /// G.729 Annex A: 8 kbit/s.
    G729a,
}

impl Codec {
    /// Bits of speech per second.
    const fn rate(self) -> u64 {
        match self {
            Self::G711 => 64_000,
            Self::G729a => 8_000,
        }
    }

    /// Speech after the end of a frame that the encoder needs.
    const fn look_ahead(self) -> Span {
        match self {
            Self::G711 => Span::ZERO,
            Self::G729a => Span::from_ms(5),
        }
    }

    /// The equipment impairment without loss, Ie, and the robustness against loss, Bpl.
    const fn impairment(self) -> (f64, f64) {
        match self {
            Self::G711 => (0.0, 25.1),
            Self::G729a => (11.0, 19.0),
        }
    }

    /// Payload of a datagram that carries this much speech: the header of RTP (RFC 3550, section 5.1) and the frames.
    pub fn payload(self, frame: Span) -> u32 {
        let bits = u128::from(self.rate()) * u128::from(frame.as_ps()) / 1_000_000_000_000;
        12 + u32::try_from(bits.div_ceil(8)).unwrap_or(u32::MAX - 12)
    }
}

/// When the receiver plays a datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Playout {
    /// At each talk spurt the playout delay is set to the mean delay plus four times its deviation (Ramjee et al. 1994,
    /// algorithm 1), or plus one frame if that is more, as receivers do.
    #[default]
    Adaptive,
    /// The first datagram waits for this time; the others are played at the pace at which they were sent.
    Fixed(Span),
}

/// The receiver of a call.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Listener {
    /// Estimates of the delay and its deviation, in picoseconds.
    estimate: Option<(f64, f64)>,
    /// The present time from sending to playing, and when it was last set.
    playing: Option<(Span, Time)>,
    /// Datagrams played in time, and the sum of their times from sending to playing in picoseconds.
    played: u64,
    behind: u128,
    late: u64,
    /// The highest number that was played, and the number of gaps below it.
    next: u64,
    gaps: u64,
}

impl Listener {
    /// The datagram `number`, sent at `sent`, has arrived. A datagram with a lower number than an earlier one must not be
    /// passed in.
    pub(super) fn note(&mut self, (playout, frame): (Playout, Span), number: u64, sent: Time, now: Time) {
        let delay = now.since(sent);
        let target = match playout {
            Playout::Fixed(buffer) => self.playing.get_or_insert((delay + buffer, sent)).0,
            Playout::Adaptive => self.adapted(frame, sent, delay),
        };
        if delay > target {
            self.late += 1;
            return;
        }
        self.played += 1;
        self.behind += u128::from(target.as_ps());
        if number > self.next {
            self.gaps += 1;
        }
        self.next = self.next.max(number + 1);
    }

    /// The time from sending to playing for a datagram that took `delay`.
    fn adapted(&mut self, frame: Span, sent: Time, delay: Span) -> Span {
        const KEEPS: f64 = 0.998_002;
        let ps = delay.as_ps() as f64;
        let (mean, deviation) = self.estimate.map_or((ps, 0.0), |(mean, deviation)| {
            let mean = KEEPS * mean + (1.0 - KEEPS) * ps;
            (mean, KEEPS * deviation + (1.0 - KEEPS) * (mean - ps).abs())
        });
        self.estimate = Some((mean, deviation));
        let target = Span::from_ps((mean + (4.0 * deviation).max(frame.as_ps() as f64)).ceil() as u64);
        match self.playing {
            Some((playing, since)) if sent.since(since) < TALK_SPURT => playing,
            _ => self.playing.insert((target, sent)).0,
        }
    }

    /// The quality of the call when `due` datagrams have arrived or are lost.
    pub(super) fn quality(&self, codec: Codec, frame: Span, due: u64) -> CallQuality {
        let missing = due.saturating_sub(self.played);
        let loss = if due > 0 { missing as f64 / due as f64 } else { 0.0 };
        // The mean length of the gaps, divided by the mean length under random loss (G.107, section 7.5).
        let burst = if self.gaps > 0 { missing as f64 / self.gaps as f64 } else { 1.0 };
        let burst_ratio = (burst * (1.0 - loss)).max(1.0);
        let mouth_to_ear = (self.played > 0).then(|| {
            let behind = self.behind as f64 / self.played as f64 * 1e-12;
            behind + (frame + codec.look_ahead()).as_secs_f64()
        });
        let rating = mouth_to_ear.map_or(0.0, |delay| e_model(codec, delay, loss, burst_ratio));
        CallQuality { late: self.late, loss, mouth_to_ear_s: mouth_to_ear, rating, opinion: opinion(rating) }
    }
}

/// The quality of a call.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CallQuality {
    /// Datagrams that arrived too late to be played.
    pub late: u64,
    /// Share of the speech that was not played.
    pub loss: f64,
    /// Mean time from the mouth to the ear; `None` if nothing was played.
    pub mouth_to_ear_s: Option<f64>,
    /// The transmission rating R.
    pub rating: f64,
    /// The mean opinion score, from 1 to 4.5.
    pub opinion: f64,
}

/// The transmission rating R of a call: delay from mouth to ear in seconds, share of lost speech, and burst ratio.
pub fn e_model(codec: Codec, mouth_to_ear_s: f64, loss: f64, burst_ratio: f64) -> f64 {
    let (impairment, robustness) = codec.impairment();
    let percent = 100.0 * loss;
    let equipment = impairment + (95.0 - impairment) * percent / (percent / burst_ratio + robustness);
    RATING - delay_impairment(1000.0 * mouth_to_ear_s) - equipment
}

/// Idd of G.107, section 7.4: the impairment by a long delay without echo. The delay is in milliseconds.
fn delay_impairment(delay_ms: f64) -> f64 {
    if delay_ms <= 100.0 {
        return 0.0;
    }
    let x = libm::log2(delay_ms / 100.0);
    let sixth_root = |y: f64| libm::pow(1.0 + libm::pow(y, 6.0), 1.0 / 6.0);
    25.0 * (sixth_root(x) - 3.0 * sixth_root(x / 3.0) + 2.0)
}

/// The mean opinion score of a rating (G.107, Annex B).
fn opinion(rating: f64) -> f64 {
    if rating <= 0.0 {
        return 1.0;
    }
    if rating >= 100.0 {
        return 4.5;
    }
    // The polynomial falls below 1 for ratings under 6.5.
    (1.0 + 0.035 * rating + rating * (rating - 60.0) * (100.0 - rating) * 7e-6).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opinions_are_those_of_g_107_table_b_1() {
        for (rating, score) in [(90.0, 4.34), (80.0, 4.03), (70.0, 3.60), (60.0, 3.10), (50.0, 2.58)] {
            // The table prints 4.03 where the formula gives 4.024.
            assert!((opinion(rating) - score).abs() < 0.0065, "{rating}: {}", opinion(rating));
        }
        assert!((opinion(RATING) - 4.41).abs() < 0.005);
        assert_eq!((opinion(-5.0), opinion(120.0), opinion(3.0)), (1.0, 4.5, 1.0));
    }

    #[test]
    fn delay_impairs_beyond_a_tenth_of_a_second() {
        assert!(delay_impairment(100.0).abs() < 1e-12);
        // At 200 ms, X = 1: 25 (2^(1/6) - 3 (1 + 3^-6)^(1/6) + 2).
        let expected = 25.0 * (2f64.powf(1.0 / 6.0) - 3.0 * (1.0 + 3f64.powi(-6)).powf(1.0 / 6.0) + 2.0);
        assert!((delay_impairment(200.0) - expected).abs() < 1e-9);
        assert!((2.5..3.5).contains(&delay_impairment(200.0)));
        assert!((13.0..17.0).contains(&delay_impairment(300.0)), "{}", delay_impairment(300.0));
    }

    #[test]
    fn losses_impair_the_score_by_the_formula() {
        let of = |codec, loss, ratio| RATING - e_model(codec, 0.05, loss, ratio);
        assert!((of(Codec::G711, 0.0, 1.0)).abs() < 1e-9);
        assert!((of(Codec::G711, 0.02, 1.0) - 95.0 * 2.0 / 27.1).abs() < 1e-9);
        assert!((of(Codec::G729a, 0.0, 1.0) - 11.0).abs() < 1e-9);
        assert!((of(Codec::G729a, 0.02, 2.0) - (11.0 + 84.0 * 2.0 / 20.0)).abs() < 1e-9);
    }

    #[test]
    fn frames_have_the_size_of_their_codec() {
        assert_eq!(Codec::G711.payload(Span::from_ms(20)), 12 + 160);
        assert_eq!(Codec::G729a.payload(Span::from_ms(20)), 12 + 20);
        assert_eq!(Codec::G711.payload(Span::from_ms(10)), 12 + 80);
    }

    fn listen(playout: Playout, delays_ms: &[Option<u64>]) -> (Listener, u64) {
        let mut listener = Listener::default();
        for (number, delay) in (0..).zip(delays_ms) {
            let sent = Time::ZERO + Span::from_ms(20 * number);
            if let Some(delay) = delay {
                listener.note((playout, Span::from_ms(20)), number, sent, sent + Span::from_ms(*delay));
            }
        }
        (listener, delays_ms.len() as u64)
    }

    #[test]
    fn a_fixed_playout_drops_what_comes_later() {
        let delays = [Some(30), Some(49), Some(51), None, Some(50), Some(10)];
        let (listener, sent) = listen(Playout::Fixed(Span::from_ms(20)), &delays);
        let quality = listener.quality(Codec::G711, Span::from_ms(20), sent);
        assert_eq!((quality.late, listener.played, listener.gaps), (1, 4, 1));
        assert!((quality.loss - 2.0 / 6.0).abs() < 1e-12);
        assert!((quality.mouth_to_ear_s.unwrap() - 0.070).abs() < 1e-12);
        // One gap of two datagrams: twice as long as one loss, times 1 - loss.
        let ratio = 2.0 * (1.0 - 2.0 / 6.0);
        assert!((quality.rating - e_model(Codec::G711, 0.070, 2.0 / 6.0, ratio)).abs() < 1e-9);
    }

    #[test]
    fn an_adaptive_playout_follows_the_delay() {
        let mut delays = vec![Some(20); 500];
        delays.extend(vec![Some(120); 5000]);
        let (listener, sent) = listen(Playout::Adaptive, &delays);
        let quality = listener.quality(Codec::G711, Span::from_ms(20), sent);
        assert!(quality.late > 20 && quality.loss < 0.15, "{quality:?}");
        let (steady, sent) = listen(Playout::Adaptive, &[Some(20); 500]);
        let quality = steady.quality(Codec::G711, Span::from_ms(20), sent);
        assert_eq!((quality.late, quality.loss), (0, 0.0));
        assert!((quality.mouth_to_ear_s.unwrap() - 0.060).abs() < 1e-9);
    }

    #[test]
    fn a_silent_call_has_the_worst_opinion() {
        let quality = Listener::default().quality(Codec::G711, Span::from_ms(20), 50);
        assert_eq!((quality.opinion, quality.mouth_to_ear_s, quality.loss), (1.0, None, 1.0));
    }
}
