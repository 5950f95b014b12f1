//! Carrier sense, multiple access, collision detection: IEEE 802.3, clause 4, in half duplex.
//!
//! A station with a frame senses the carrier, and sends when the medium has been idle for the interframe gap of 96 bit
//! times; in the last third of the gap it ignores the carrier (4.2.3.2.2), so that a faster station cannot block others
//! for ever. Stations that begin before the other's signal arrives collide. Each one sends a jam of 32 bits after it detects the collision,
//! and for its preamble at least; then it waits a random number of slots of 512 bit times, out of 2^n after its n-th
//! collision, 2^10 at most (4.2.3.2.5). After the 16th collision the frame is dropped.
//!
//! A station that has just sent starts again with one slot, while the others choose among more slots. So with two busy
//! stations, one of them often sends many frames in sequence: the *capture effect*. It follows from the standard.
//!
//! All stations have the same distance from each other, as at a hub: the delay between any two is equal. A station can
//! begin until the carrier of the first one reaches it. At that time it is known which stations have sent. A frame is
//! longer than a slot, and a slot is longer than the round-trip time, so this is always before the end of the frame.

use super::{Contention, Step, Then};
use crate::random::Stream;

const GAP: u64 = 96;
const SLOT: u64 = 512;
const PREAMBLE: u64 = 64;
const JAM: u64 = 32;
/// The number of slots doubles at most this many times.
const BACKOFF_LIMIT: u32 = 10;
const ATTEMPT_LIMIT: u32 = 16;

/// A medium with contention. Times are picoseconds.
#[derive(Debug)]
pub(crate) struct CsmaCd {
    rate: u64,
    delay: u64,
    stations: Vec<Station>,
    /// Stations that are sending and their start times, in order, until the result is known.
    senders: Vec<(u32, u64)>,
    /// Stations that must drop their frames.
    losers: Vec<u32>,
}

#[derive(Debug)]
struct Station {
    /// It sends as soon as the medium is idle from this time on; never, if it has no frame or has begun to send.
    ready: u64,
    /// The medium is idle at this station from this time on, as far as is known.
    quiet: u64,
    /// The end of its last transmission.
    silent: u64,
    /// Whether it has taken a frame from its queue.
    holds: bool,
    /// The number of collisions of that frame.
    collided: u32,
    stream: Stream,
    contention: Contention,
}

const NEVER: u64 = u64::MAX;

impl CsmaCd {
    /// A medium of `rate` bits a second, with the delay `delay` between any two stations. `stream` returns the
    /// random numbers of a station.
    pub(crate) fn new(rate: u64, delay: u64, stations: u32, stream: impl Fn(u32) -> Stream) -> Self {
        let station = |number| Station {
            ready: NEVER,
            quiet: 0,
            silent: 0,
            holds: false,
            collided: 0,
            stream: stream(number),
            contention: Contention::default(),
        };
        Self {
            rate,
            delay,
            stations: (0..stations).map(station).collect(),
            senders: Vec::new(),
            losers: Vec::new(),
        }
    }

    /// The longest delay at which a collision is detected in time, in picoseconds: half a slot.
    pub(crate) const fn longest_delay(rate: u64) -> u64 {
        (SLOT as u128 * 1_000_000_000_000 / (2 * rate as u128)) as u64
    }

    /// The transmission time of `bits`, in whole picoseconds.
    fn bits(&self, bits: u64) -> u64 {
        (u128::from(bits) * 1_000_000_000_000).div_ceil(u128::from(self.rate)) as u64
    }

    fn station(&mut self, number: u32) -> &mut Station {
        &mut self.stations[number as usize]
    }

    /// A station does not begin until the interframe gap after the last activity that it sensed or sent has passed (clause
    /// 4.2.8: 96 bits). The medium was idle before the start of the simulation.
    fn clear_from(&self, station: &Station) -> u64 {
        if station.quiet == 0 { 0 } else { station.quiet.saturating_add(self.bits(GAP)) }
    }

    /// When a station sends that is ready since this time: `None` if it detects another station first.
    fn start(&self, station: &Station, ready: u64) -> Option<u64> {
        let clear = self.clear_from(station);
        let (start, listens_until) =
            if ready >= clear { (ready, ready) } else { (clear, clear - self.bits(GAP) / 3) };
        let sensed =
            self.senders.first().is_some_and(|(_, first)| first.saturating_add(self.delay) < listens_until);
        (!sensed).then_some(start)
    }

    /// The next station that begins to send, and when.
    fn next_start(&self) -> Option<(u64, u32)> {
        let waiting = self.stations.iter().zip(0..).filter(|(station, _)| station.ready != NEVER);
        let starts =
            waiting.filter_map(|(station, number)| Some((self.start(station, station.ready)?, number)));
        starts.min()
    }

    /// When the senders are known: every other station has sensed the first one, or will not send before that.
    fn settled_at(&self) -> Option<u64> {
        let sensed = self.delay.saturating_add(self.bits(GAP) / 3);
        self.senders.first().map(|(_, first)| first.saturating_add(sensed))
    }

    pub(super) fn is_clear(&self, number: u32, now: u64) -> bool {
        let station = &self.stations[number as usize];
        station.ready == NEVER && !station.holds && self.start(station, now) == Some(now)
    }

    pub(super) fn holds(&self, station: u32) -> bool {
        self.stations[station as usize].holds
    }

    pub(super) fn request(&mut self, station: u32, now: u64) {
        let station = self.station(station);
        if station.ready == NEVER && !station.holds {
            station.ready = now;
        }
    }

    pub(super) fn begin(&mut self, station: u32, now: u64) {
        let station = self.station(station);
        (station.ready, station.holds) = (now, true);
    }

    pub(super) fn step(&mut self, now: u64) -> Option<Step> {
        while let Some((start, number)) = self.next_start().filter(|(start, _)| *start <= now) {
            debug_assert_eq!(start, now, "nobody begins in the past");
            if !self.stations[number as usize].holds {
                return Some(Step::Take(number));
            }
            self.note_deferral(number, now);
            self.station(number).ready = NEVER;
            self.senders.push((number, now));
        }
        if let Some(&loser) = self.losers.first() {
            return Some(Step::GivenUp(loser));
        }
        self.settled_at().filter(|settled| *settled <= now)?;
        if let [(station, start)] = self.senders[..] {
            return Some(Step::Sent { station, start });
        }
        self.collide();
        self.losers.first().map(|&loser| Step::GivenUp(loser))
    }

    /// Counts a first attempt that others have delayed.
    fn note_deferral(&mut self, number: u32, now: u64) {
        let gap = self.bits(GAP);
        let station = self.station(number);
        let alone = if station.silent == 0 { 0 } else { station.silent.saturating_add(gap) };
        if station.collided == 0 && now > station.ready.max(alone) {
            station.contention.deferrals += 1;
        }
    }

    /// All stations that are sending have collided.
    fn collide(&mut self) {
        let senders = core::mem::take(&mut self.senders);
        let ends: Vec<u64> = senders
            .iter()
            .map(|&(number, start)| {
                let others = senders.iter().filter(|(other, _)| *other != number);
                let sensed = others.map(|(_, start)| start.saturating_add(self.delay)).min().unwrap_or(start);
                start.saturating_add(self.bits(PREAMBLE)).max(sensed).saturating_add(self.bits(JAM))
            })
            .collect();
        let slot = self.bits(SLOT);
        for (&(number, _), &end) in senders.iter().zip(&ends) {
            self.falls_silent(number, end);
            let station = self.station(number);
            station.contention.collisions += 1;
            station.collided += 1;
            if station.collided == ATTEMPT_LIMIT {
                station.ready = NEVER;
                self.losers.push(number);
            } else {
                let slots = station.stream.below(1 << station.collided.min(BACKOFF_LIMIT));
                station.ready = end.saturating_add(slots.saturating_mul(slot));
            }
        }
    }

    /// A transmission ends: at its station at once, at the others after the delay.
    fn falls_silent(&mut self, sender: u32, end: u64) {
        for (station, number) in self.stations.iter_mut().zip(0..) {
            let heard_until = if number == sender { end } else { end.saturating_add(self.delay) };
            station.quiet = station.quiet.max(heard_until);
        }
        self.station(sender).silent = end;
    }

    pub(super) fn took(&mut self, station: u32, found: bool) {
        let station = self.station(station);
        station.holds = found;
        if !found {
            station.ready = NEVER;
        }
    }

    pub(super) fn sent(&mut self, station: u32, end: u64, then: Then) {
        self.senders.clear();
        self.falls_silent(station, end);
        self.station(station).goes_on(end, then);
    }

    pub(super) fn gave_up(&mut self, station: u32, then: Then) {
        let end = self.stations[station as usize].silent;
        self.losers.retain(|loser| *loser != station);
        self.station(station).goes_on(end, then);
    }

    pub(super) fn next(&self) -> Option<u64> {
        let start = self.next_start().map(|(start, _)| start);
        start.into_iter().chain(self.settled_at()).min()
    }

    pub(super) fn contention(&self, station: u32) -> Contention {
        self.stations[station as usize].contention
    }
}

impl Station {
    /// A station has finished a frame.
    const fn goes_on(&mut self, end: u64, then: Then) {
        (self.holds, self.collided) = (false, 0);
        self.ready = match then {
            Then::More => end,
            Then::Nothing => NEVER,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bit at 10 Mbit/s.
    const BIT: u64 = 100_000;
    const RATE: u64 = 10_000_000;

    /// What happened.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    enum Did {
        /// A station's frame left in these bit times.
        Sent(u32, u64, u64),
        GivenUp(u32),
    }

    /// A medium whose stations all have frames of 1000 bits; how many each still has.
    struct Lab {
        medium: CsmaCd,
        frames: Vec<u32>,
        did: Vec<Did>,
    }

    impl Lab {
        fn new(delay_bits: u64, frames: &[u32], seed: u64) -> Self {
            let stream = |station| Stream::new(seed, &format!("station {station}"));
            let medium = CsmaCd::new(RATE, delay_bits * BIT, frames.len() as u32, stream);
            Self { medium, frames: frames.to_vec(), did: Vec::new() }
        }

        fn then(&self, station: u32) -> Then {
            if self.frames[station as usize] > 0 { Then::More } else { Then::Nothing }
        }

        fn act(&mut self, now: u64) {
            while let Some(step) = self.medium.step(now) {
                match step {
                    Step::Take(station) => {
                        self.frames[station as usize] -= 1;
                        self.medium.took(station, true);
                    }
                    Step::Sent { station, start } => {
                        let end = start + 1000 * BIT;
                        self.did.push(Did::Sent(station, start / BIT, end / BIT));
                        self.medium.sent(station, end, self.then(station));
                    }
                    Step::GivenUp(station) => {
                        self.did.push(Did::GivenUp(station));
                        self.medium.gave_up(station, self.then(station));
                    }
                }
            }
        }

        /// Station `n` has its first frame at `ready[n]` bit times; runs until all are done, or until `most` have been
        /// sent.
        fn run(mut self, ready: &[u64], most: usize) -> Self {
            let mut requests: Vec<(u64, u32)> =
                ready.iter().zip(0..).map(|(&at, station)| (at * BIT, station)).collect();
            requests.sort_unstable();
            let mut requests = requests.into_iter().peekable();
            while self.did.len() < most {
                let asked = requests.peek().map(|(at, _)| *at);
                let Some(now) = asked.into_iter().chain(self.medium.next()).min() else { break };
                while let Some((_, station)) = requests.next_if(|(at, _)| *at == now) {
                    self.medium.request(station, now);
                }
                self.act(now);
            }
            self
        }

        fn collisions(&self, station: u32) -> u64 {
            self.medium.contention(station).collisions
        }
    }

    #[test]
    fn one_station_sends_a_frame_after_each_gap() {
        let lab = Lab::new(100, &[3], 1).run(&[7], 99);
        assert_eq!(lab.did, [Did::Sent(0, 7, 1007), Did::Sent(0, 1103, 2103), Did::Sent(0, 2199, 3199)]);
        assert_eq!(lab.medium.contention(0), Contention::default());
    }

    #[test]
    fn a_station_that_senses_a_carrier_waits_for_its_end_and_the_gap() {
        // The carrier reaches station 1 at bit 100, and is gone there at bit 1100.
        let lab = Lab::new(100, &[1, 1], 1).run(&[0, 101], 99);
        assert_eq!(lab.did, [Did::Sent(0, 0, 1000), Did::Sent(1, 1196, 2196)]);
        assert_eq!(lab.medium.contention(0), Contention { deferrals: 0, collisions: 0 });
        assert_eq!(lab.medium.contention(1), Contention { deferrals: 1, collisions: 0 });
    }

    #[test]
    fn a_station_that_starts_before_it_senses_another_collides() {
        for second in [0, 50, 100] {
            let lab = Lab::new(100, &[1, 1], 1).run(&[0, second], 99);
            assert!(lab.collisions(0) >= 1 && lab.collisions(0) == lab.collisions(1), "{second}");
            assert_eq!(lab.did.len(), 2);
        }
    }

    #[test]
    fn jam_and_backoff_follow_the_standard() {
        // Station 0 senses station 1 at bit 150, and jams until 182. Station 1 senses station 0 at bit 100, but sends its
        // preamble to the end at 114, and jams until 146.
        let (mut seen, begun) = (std::collections::BTreeSet::new(), [0, 50]);
        for seed in 0..60 {
            let lab = Lab::new(100, &[1, 1], seed).run(&begun, 1);
            let Did::Sent(first, start, _) = lab.did[0] else { panic!("{:?}", lab.did) };
            if lab.collisions(0) == 1 {
                seen.insert((first, start));
            }
        }
        // At once, after an idle medium for the gap, where the other's jam is over at 246 and 282; or a slot after
        // its own jam, if both have chosen 1. Then they collide again, the starts being 36 bits apart.
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), [(0, 246 + 96), (1, 282 + 96)]);
    }

    #[test]
    fn the_chance_of_another_collision_halves_with_each() {
        // After n collisions of two stations each chooses among 2^n slots; the same one with a chance of 2^-n.
        let runs = 40_000;
        let mut at_least = [0u32; 5];
        for seed in 0..runs {
            let lab = Lab::new(10, &[1, 1], seed).run(&[0, 0], 1);
            for n in 1..=lab.collisions(0).min(4) {
                at_least[n as usize] += 1;
            }
        }
        assert_eq!(at_least[1], runs as u32);
        for n in 1..4 {
            let (chance, of) = (0.5f64.powi(n as i32), f64::from(at_least[n]));
            let sigma = (chance * (1.0 - chance) / of).sqrt();
            let got = f64::from(at_least[n + 1]) / of;
            assert!((got - chance).abs() < 4.0 * sigma, "after {n}: {got} instead of {chance}");
        }
    }

    #[test]
    fn two_busy_stations_capture_the_medium_in_turn() {
        // The station that has sent chooses among 2 slots after the next collision, the other one among 4 or more. This repeats.
        let lab = Lab::new(10, &[100_000, 100_000], 3).run(&[0, 0], 4000);
        let senders: Vec<u32> = lab
            .did
            .iter()
            .map(|did| match did {
                Did::Sent(station, ..) | Did::GivenUp(station) => *station,
            })
            .collect();
        let runs = 1 + senders.windows(2).filter(|pair| pair[0] != pair[1]).count();
        let mean_run = senders.len() as f64 / runs as f64;
        // Fair coins would give 2.
        assert!(mean_run > 4.0, "{mean_run}");
        let share = senders.iter().filter(|&&station| station == 0).count() as f64 / senders.len() as f64;
        assert!((0.2..0.8).contains(&share), "{share}");
    }

    #[test]
    fn after_sixteen_collisions_a_frame_is_given_up_and_the_next_one_tried() {
        // Two that always choose alike collide again and again.
        let same = |_| Stream::new(1, "same");
        let medium = CsmaCd::new(RATE, 10 * BIT, 2, same);
        let lab = Lab { medium, frames: vec![2, 1], did: Vec::new() }.run(&[0, 0], 99);
        let given_up = [Did::GivenUp(0), Did::GivenUp(1)];
        assert_eq!(lab.did[..2], given_up);
        assert!(matches!(lab.did[2..], [Did::Sent(0, ..)]), "{:?}", lab.did);
        assert_eq!((lab.collisions(0), lab.collisions(1)), (16, 16));
    }

    #[test]
    fn frames_never_overlap_nor_come_without_a_gap() {
        for seed in 0..20 {
            let ready: Vec<u64> = (0..8).map(|n| n * n * 37 * seed % 3000).collect();
            let lab = Lab::new(seed * 10, &[50; 8], seed).run(&ready, usize::MAX);
            let mut frames: Vec<(u64, u64)> = Vec::new();
            for did in &lab.did {
                if let Did::Sent(_, start, end) = did {
                    frames.push((*start, *end));
                }
            }
            let gaps = frames.windows(2).map(|pair| pair[1].0.checked_sub(pair[0].1));
            assert!(gaps.into_iter().all(|gap| gap.is_some_and(|gap| gap >= 96)), "seed {seed}");
        }
    }
}
