//! The player of a video that is fetched segment by segment: which quality it requests, how full its buffer is, and when it
//! stalls.
//!
//! Lives here: decisions and the buffer. Must not live here: connections (`client`), the format of results (`record`).

use netspurt_tcp::time::{Span, Time};

/// What a player fetches, and how it chooses.
#[derive(Clone, PartialEq, Debug)]
pub struct VideoSpec {
    /// The qualities in bits per second, rising; at least one.
    pub ladder: Vec<u64>,
    /// The playing time of a segment.
    pub segment: Span,
    /// The largest buffer.
    pub buffer: Span,
    /// It begins to play when the buffer holds this much.
    pub start: Span,
    /// After a stall it plays again when the buffer holds this much.
    pub resume: Span,
    /// How it chooses a quality.
    pub control: Control,
}

impl VideoSpec {
    /// The length of a segment of this quality in bytes.
    fn bytes(&self, quality: usize) -> u64 {
        let bits = u128::from(self.ladder[quality]) * u128::from(self.segment.as_ps()) / 1_000_000_000_000;
        u64::try_from(bits.div_ceil(8)).unwrap_or(u64::MAX).max(1)
    }
}

/// How a player chooses a quality.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Control {
    /// The highest quality below this share of the harmonic mean of the last five segments' throughput (Jiang et al. 2012).
    Rate {
        /// The share.
        safety: f64,
    },
    /// The quality that weighs utility against the buffer (Spiteri et al. 2016, BOLA-BASIC).
    Bola {
        /// The weight of smooth playing, gamma times p in that paper.
        smooth: f64,
    },
}

/// Segments whose throughput counts for [`Control::Rate`].
const REMEMBERED: usize = 5;

/// The state of a player.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Player {
    spec: VideoSpec,
    began: Time,
    /// Contents of the buffer at `at`.
    buffered: Span,
    at: Time,
    is_playing: bool,
    /// When it last stopped because the buffer was empty; [`Time::NEVER`] if it plays or has not begun.
    stalled_at: Time,
    /// Throughput of the last segments in bits per second.
    throughput: Vec<f64>,
    quality: Option<usize>,
    pub(crate) tally: VideoTally,
}

/// Results of a video.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct VideoTally {
    /// Number of videos that are summed up here.
    pub videos: u32,
    /// Segments fetched.
    pub segments: u64,
    /// Sum of their qualities in bits per second.
    pub quality_sum: f64,
    /// Changes of quality between two segments.
    pub switches: u64,
    /// Time from requesting the first segment to playing, over the videos that play.
    pub start: Span,
    /// Videos that have begun to play.
    pub started: u32,
    /// Number of times that playing stopped because the buffer was empty.
    pub stalls: u64,
    /// Total time of stalls.
    pub stalled: Span,
    /// Total time of playing.
    pub played: Span,
}

impl VideoTally {
    /// Adds another video.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.videos += other.videos;
        self.segments += other.segments;
        self.quality_sum += other.quality_sum;
        self.switches += other.switches;
        self.start += other.start;
        self.started += other.started;
        self.stalls += other.stalls;
        self.stalled += other.stalled;
        self.played += other.played;
    }

    /// The counters, by their names in files and tables.
    pub fn counts(&self) -> [(&'static str, u64); 3] {
        [("video_segments", self.segments), ("quality_switches", self.switches), ("stalls", self.stalls)]
    }

    /// The measurements, by their names in files and tables; nothing if there was nothing to measure.
    pub fn measures(&self) -> [(&'static str, Option<f64>); 4] {
        let seen = (self.played + self.stalled).as_secs_f64();
        let mean = |sum: f64, count: f64| (count > 0.0).then(|| sum / count);
        [
            ("video_rate_bps", mean(self.quality_sum, self.segments as f64)),
            ("video_start_s", mean(self.start.as_secs_f64(), f64::from(self.started))),
            ("stalled_s", Some(self.stalled.as_secs_f64())),
            ("stalled_share", mean(self.stalled.as_secs_f64(), seen)),
        ]
    }
}

impl Player {
    /// A player that requests its first segment at `now`.
    pub(crate) fn new(spec: &VideoSpec, now: Time) -> Self {
        Self {
            spec: spec.clone(),
            began: now,
            buffered: Span::ZERO,
            at: now,
            is_playing: false,
            stalled_at: Time::NEVER,
            throughput: Vec::new(),
            quality: None,
            tally: VideoTally { videos: 1, ..VideoTally::default() },
        }
    }

    /// The length of the next segment, which is requested at `now`.
    pub(crate) fn ask(&mut self, now: Time) -> u64 {
        self.advance(now);
        let quality = match self.spec.control {
            Control::Rate { safety } => self.by_rate(safety),
            Control::Bola { smooth } => self.by_buffer(smooth),
        };
        self.tally.switches += u64::from(self.quality.is_some_and(|before| before != quality));
        self.quality = Some(quality);
        self.spec.bytes(quality)
    }

    /// A segment of this many bytes has arrived after `took`; `last` if it is the last. Returns how long to wait before
    /// requesting the next one.
    pub(crate) fn fetched(&mut self, now: Time, took: Span, bytes: u64, last: bool) -> Span {
        self.advance(now);
        let seconds = took.as_secs_f64().max(1e-9);
        if self.throughput.len() == REMEMBERED {
            self.throughput.remove(0);
        }
        self.throughput.push(bytes as f64 * 8.0 / seconds);
        self.tally.segments += 1;
        self.tally.quality_sum += self.spec.ladder[self.quality.unwrap_or(0)] as f64;
        self.buffered += self.spec.segment;
        let has_started = self.tally.started > 0;
        let enough = if has_started { self.spec.resume } else { self.spec.start };
        if !self.is_playing && (self.buffered >= enough || last) {
            self.is_playing = true;
            if has_started {
                self.tally.stalled += now.since(self.stalled_at);
                self.stalled_at = Time::NEVER;
            } else {
                (self.tally.started, self.tally.start) = (1, now.since(self.began));
            }
        }
        if last {
            // The buffer is played out without further data.
            self.tally.played += self.buffered;
            (self.buffered, self.is_playing) = (Span::ZERO, false);
        }
        let over = (self.buffered + self.spec.segment).saturating_sub(self.spec.buffer);
        if self.is_playing { over } else { Span::ZERO }
    }

    /// Results until `end`.
    pub(crate) fn result(&self, end: Time) -> VideoTally {
        let mut whole = self.clone();
        whole.advance(end);
        if !whole.stalled_at.is_never() {
            whole.tally.stalled += end.since(whole.stalled_at);
        }
        whole.tally
    }

    /// Plays until `now`.
    fn advance(&mut self, now: Time) {
        let elapsed = now.since(self.at);
        if self.is_playing && elapsed >= self.buffered {
            self.tally.played += self.buffered;
            self.tally.stalls += 1;
            self.stalled_at = self.at + self.buffered;
            (self.buffered, self.is_playing) = (Span::ZERO, false);
        } else if self.is_playing {
            self.tally.played += elapsed;
            self.buffered = self.buffered.saturating_sub(elapsed);
        }
        self.at = now;
    }

    fn by_rate(&self, safety: f64) -> usize {
        if self.throughput.is_empty() {
            return 0;
        }
        let slowness: f64 = self.throughput.iter().map(|rate| 1.0 / rate).sum();
        let rate = safety * self.throughput.len() as f64 / slowness;
        let fitting = self.spec.ladder.iter().filter(|&&quality| quality as f64 <= rate).count();
        fitting.saturating_sub(1)
    }

    /// Maximises (V (utility + gamma p) - Q) / S over the qualities. Q and its largest value are in segments.
    fn by_buffer(&self, smooth: f64) -> usize {
        let ladder = &self.spec.ladder;
        let segment = self.spec.segment.as_secs_f64();
        let (most, now) = (self.spec.buffer.as_secs_f64() / segment, self.buffered.as_secs_f64() / segment);
        let utility = |quality: usize| libm::log(ladder[quality] as f64 / ladder[0] as f64);
        let v = (most - 1.0).max(1.0) / (utility(ladder.len() - 1) + smooth);
        let score = |quality: usize| (v * (utility(quality) + smooth) - now) / ladder[quality] as f64;
        (0..ladder.len()).max_by(|&a, &b| score(a).total_cmp(&score(b))).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(control: Control) -> VideoSpec {
        VideoSpec {
            ladder: vec![1_000_000, 2_000_000, 4_000_000],
            segment: Span::from_secs(4),
            buffer: Span::from_secs(20),
            start: Span::from_secs(4),
            resume: Span::from_secs(8),
            control,
        }
    }

    /// Fetches at these rates, in turn, without a network.
    fn play(control: Control, rates: &[f64]) -> (VideoTally, Vec<usize>) {
        let mut player = Player::new(&spec(control), Time::ZERO);
        let (mut now, mut qualities) = (Time::ZERO, Vec::new());
        for (number, rate) in rates.iter().enumerate() {
            let bytes = player.ask(now);
            qualities.push(player.quality.unwrap());
            let took = Span::from_ps((bytes as f64 * 8.0 / rate * 1e12) as u64);
            now += took;
            now += player.fetched(now, took, bytes, number + 1 == rates.len());
        }
        (player.result(now), qualities)
    }

    const RATE: Control = Control::Rate { safety: 0.9 };
    const BOLA: Control = Control::Bola { smooth: 5.0 };

    #[test]
    fn a_constant_rate_above_a_quality_never_stalls() {
        for control in [RATE, BOLA] {
            let (tally, qualities) = play(control, &[3e6; 40]);
            assert_eq!((tally.segments, tally.stalls, tally.stalled), (40, 0, Span::ZERO), "{control:?}");
            // The first segment is fetched at the lowest quality: 4 Mbit at 3 Mbit/s.
            assert!((tally.start.as_secs_f64() - 4.0 / 3.0).abs() < 1e-6, "{control:?}");
            assert!((tally.played.as_secs_f64() - 160.0).abs() < 1e-6, "{control:?}: all is played");
            assert_eq!(qualities[0], 0);
        }
        let (_, by_rate) = play(RATE, &[3e6; 40]);
        assert!(by_rate[1..].iter().all(|&quality| quality == 1), "2 of 3 Mbit/s fit: {by_rate:?}");
    }

    #[test]
    fn a_rate_below_the_lowest_quality_stalls_for_the_missing_time() {
        let rates = [0.5e6; 20];
        let (tally, qualities) = play(RATE, &rates);
        assert!(qualities.iter().all(|&quality| quality == 0));
        // Each of 20 segments takes 8 s to fetch and 4 s to play. From the first to the last segment 152 s pass, in which
        // it plays everything except the contents of the buffer at the end.
        let fetching = 19.0 * 8.0;
        let left = tally.played.as_secs_f64() - (fetching - tally.stalled.as_secs_f64());
        assert!((0.0..=8.0).contains(&left), "{tally:?}");
        assert!((tally.played.as_secs_f64() - 80.0).abs() < 1e-6, "{tally:?}");
        assert!(tally.stalls >= 9, "{tally:?}");
    }

    #[test]
    fn a_full_buffer_waits() {
        let mut player = Player::new(&spec(RATE), Time::ZERO);
        let mut now = Time::ZERO;
        for _ in 0..5 {
            let bytes = player.ask(now);
            let wait = player.fetched(now, Span::from_ms(1), bytes, false);
            now += wait;
            assert!(player.buffered <= Span::from_secs(20));
        }
        // 20 s of video arrive at time 0; there is room for 4 s more when 4 s have been played.
        assert_eq!(now, Time::ZERO + Span::from_secs(4));
    }

    #[test]
    fn bola_chooses_higher_qualities_with_a_fuller_buffer() {
        let mut player = Player::new(&spec(BOLA), Time::ZERO);
        let chosen: Vec<usize> = (0..=20)
            .map(|seconds| {
                player.buffered = Span::from_secs(seconds);
                player.by_buffer(5.0)
            })
            .collect();
        assert!(chosen.is_sorted(), "{chosen:?}");
        assert_eq!((chosen[0], chosen[20]), (0, 2), "{chosen:?}");
    }

    #[test]
    fn what_is_under_way_at_the_end_counts() {
        let mut player = Player::new(&spec(RATE), Time::ZERO);
        let bytes = player.ask(Time::ZERO);
        player.fetched(Time::ZERO, Span::from_ms(1), bytes, false);
        let tally = player.result(Time::ZERO + Span::from_secs(10));
        assert_eq!((tally.stalls, tally.stalled, tally.played), (1, Span::from_secs(6), Span::from_secs(4)));
        let unstarted = Player::new(&spec(RATE), Time::ZERO).result(Time::ZERO + Span::from_secs(10));
        assert_eq!((unstarted.stalls, unstarted.started), (0, 0));
    }
}
