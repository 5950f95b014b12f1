//! Incidents of a sender: repairs and whether they were needed, times without an answer, late ACKs.

use super::probes::Probes;

/// Maximum number of each; later ones are not recorded.
const MOST: usize = 1 << 12;
/// So many retransmissions without an answer show a path that carries nothing.
const UNANSWERED: u32 = 2;

/// Two expiries of the longest usual timer, 1 s and then 2 s (RFC 6298).
pub(in crate::diagnosis) const LONG_NS: u64 = 3_000_000_000;

/// Retransmissions of the data that was outstanding when the first of them was sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::diagnosis) struct Episode {
    /// When the first one was sent, in nanoseconds since the begin.
    pub(in crate::diagnosis) at: u64,
    /// When the last one was.
    last: u64,
    /// Begun by duplicate ACKs or SACK, not by a timer.
    pub(in crate::diagnosis) fast: bool,
    /// How many retransmissions, and how many of them are known not to have been needed.
    pub(in crate::diagnosis) resent: u32,
    pub(in crate::diagnosis) needless: u32,
    /// Data was acknowledged sooner than its retransmission can have arrived.
    pub(in crate::diagnosis) early: bool,
    /// When the first ACK acknowledged more than the retransmitted data, but not all, and up to which byte.
    partial: Option<(u64, i64)>,
    /// The proof came with the first ACK after it: earlier ACKs of this data were lost.
    pub(in crate::diagnosis) acks_lost: bool,
    first: i64,
    until: i64,
    /// The packet that acknowledged the first one.
    covered: Option<u64>,
    /// When a segment of the other end came last before it, and first after it.
    heard: (u64, Option<u64>),
}

impl Episode {
    /// Whether nothing came from the other end at `at`, and for longer than `least`.
    pub(in crate::diagnosis) fn is_silent(&self, at: u64, least: u64) -> bool {
        let (from, until) = (self.heard.0, self.heard.1.unwrap_or(u64::MAX));
        from <= at && at < until && until - from > least
    }

    /// Whether at least half of the retransmissions are proved spurious (RFC 2883, RFC 3522), or the first one was acknowledged
    /// sooner than a round trip after it left.
    pub(in crate::diagnosis) const fn is_needless(&self) -> bool {
        self.early || self.needless * 2 >= self.resent
    }
}

/// What other connections between the same hosts show of the path.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::diagnosis) struct Others {
    /// When new data of the same host was acknowledged last; 0 without any.
    pub(in crate::diagnosis) acknowledged: u64,
    /// The round trip.
    pub(in crate::diagnosis) round: u64,
}

#[cfg(test)]
pub(in crate::diagnosis) const NONE_PASSED: Others = Others { acknowledged: 0, round: 0 };

/// A time in which nothing was received from the other end and retransmissions had no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in crate::diagnosis) struct Silence {
    /// In nanoseconds since the begin.
    pub(in crate::diagnosis) from: u64,
    /// `u64::MAX` if it has not ended.
    pub(in crate::diagnosis) until: u64,
    /// Retransmissions.
    pub(in crate::diagnosis) resent: u32,
    /// When the last of them was sent.
    latest: u64,
    /// So many had no answer before the next one, and data that other connections sent after them had one; and so many where none had.
    overtaken: u32,
    alone: u32,
    /// The length of the longest and of the last one.
    pub(in crate::diagnosis) longest: u32,
    pub(in crate::diagnosis) last: u32,
    /// The answer acknowledged all data, more than was retransmitted: the rest had arrived before.
    pub(in crate::diagnosis) all_had_arrived: bool,
    /// Duplicate ACKs came before it: the first segment was missing, and others had arrived.
    pub(in crate::diagnosis) behind_hole: bool,
    /// Position of the first retransmission, after the last one, and after everything sent.
    pub(in crate::diagnosis) front: i64,
    end: i64,
    next: i64,
}

impl Silence {
    /// A timer has retransmitted at `at`. What others sent at `others` has arrived, and its ACK too, after `round`.
    fn note_others(&mut self, at: u64, others: Others) {
        // Until then, nothing can show that another segment has passed.
        if self.resent > 0 && at > self.latest + 2 * others.round {
            let passed = others.acknowledged > self.latest + others.round;
            let count = if passed { &mut self.overtaken } else { &mut self.alone };
            *count += 1;
        }
        self.latest = at;
    }

    /// Whether other connections passed the path after each retransmission but the last one, so that it was not dead.
    pub(in crate::diagnosis) const fn others_passed(&self) -> bool {
        self.overtaken > 0 && self.alone == 0
    }

    /// Whether nothing shows what was lost: there was no answer, or everything outstanding was retransmitted, so that the answer does
    /// not show which copy it is for.
    pub(in crate::diagnosis) const fn is_ambiguous(&self) -> bool {
        self.next > 0 && (self.end >= self.next || self.until == u64::MAX)
    }

    /// Whether the answer shows that ACKs were lost. A receiver sends a duplicate ACK for each segment behind one that is missing, so
    /// without those nothing was missing.
    pub(in crate::diagnosis) const fn shows_lost_acks(&self) -> bool {
        self.all_had_arrived && !self.behind_hole
    }
}

/// A silence that ended with the late ACK of a single segment, which a receiver may have delayed.
#[derive(Clone, Copy, Debug)]
pub(in crate::diagnosis) struct HeldOne {
    pub(in crate::diagnosis) silence: Silence,
    /// No ACK takes so long from when its data left.
    pub(in crate::diagnosis) least: u64,
    /// Until when the ACK of another segment comes at once.
    pub(in crate::diagnosis) together: u64,
}

/// A time in which nothing was outstanding here and nothing arrived, and what came after it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in crate::diagnosis) struct Pause {
    /// In nanoseconds since the begin.
    pub(in crate::diagnosis) from: u64,
    pub(in crate::diagnosis) until: u64,
    /// By the clock of the sender, the first segment after it had left at its begin: the path held it.
    pub(in crate::diagnosis) held: bool,
    /// The last segment before it was short: its sender had no more.
    pub(in crate::diagnosis) rest: bool,
    /// No data had come before it.
    first: bool,
    /// The length of the first segment after it, and of the longest one before it. Without one, what both ends permit counts.
    pub(in crate::diagnosis) len: u32,
    pub(in crate::diagnosis) before: u32,
    /// The length of the segment after the first one; 0 without one.
    next: u32,
    /// Segments that came with the first one.
    with_it: u32,
    /// So many of the same length came later, and whether a longer one did.
    same: u32,
    longer: bool,
}

impl Pause {
    /// One segment of full size came, and more of full size when it was acknowledged: so a retransmission timer begins. An
    /// application that has waited sends all that its window permits.
    pub(in crate::diagnosis) const fn ends_with_timer(&self) -> bool {
        self.with_it == 0 && self.next >= self.len
    }

    /// Full segments end it, more than one at once, and a full segment was the last one before it: its sender had more data.
    pub(in crate::diagnosis) const fn divides_a_flow(&self) -> bool {
        !self.rest && !self.first && self.len == self.before && self.with_it > 0 && self.next >= self.len
    }

    /// No segment after it is as long as those before it. Where there were none, a timer has sent the first one.
    pub(in crate::diagnosis) const fn makes_shorter(&self) -> bool {
        let shorter = self.len < self.before && !self.longer && self.same >= 2;
        shorter && (!self.first || self.ends_with_timer())
    }
}

/// The incidents of one direction, each in order of time.
#[derive(Debug, Default)]
pub(in crate::diagnosis) struct Incidents {
    pub(in crate::diagnosis) episodes: Vec<Episode>,
    pub(in crate::diagnosis) silences: Vec<Silence>,
    /// From when until when ACKs were missing, and whether the path was full meanwhile.
    late_acks: Vec<(u64, u64, bool)>,
    pub(in crate::diagnosis) pauses: Vec<Pause>,
    /// Times in which nothing arrived, before the first missing data was sent again.
    pub(in crate::diagnosis) repair_pauses: Vec<Pause>,
    /// How long nothing was captured before the latest retransmission of acknowledged data.
    quiet: u64,
    /// The same before the latest segment that came while data was outstanding.
    unheard: u64,
    now: Silence,
    /// Of the path MTU.
    pub(in crate::diagnosis) probes: Probes,
    /// An answer to a timer's retransmissions has shown that ACKs were lost.
    acks_lost: bool,
}

impl Incidents {
    /// `len` bytes from `start` on were retransmitted at `at`, when everything below `next` had been sent.
    pub(in crate::diagnosis) fn note_resent(
        &mut self,
        at: u64,
        (start, len): (i64, u32),
        next: i64,
        fast: bool,
        others: Others,
    ) {
        if !fast {
            self.now.note_others(at, others);
        }
        // What duplicate ACKs asked for is lost as easily as any other segment. A timer shows that nothing came.
        self.now.resent += u32::from(!fast);
        self.now.front = if self.now.next == 0 { start } else { self.now.front.min(start) };
        self.now.longest = self.now.longest.max(len);
        self.now.last = len;
        self.now.end = self.now.end.max(start + i64::from(len));
        self.now.next = next;
        if let Some(last) = self.episodes.last_mut().filter(|last| start < last.until) {
            last.resent += 1;
            last.last = at;
        } else if self.episodes.len() < MOST {
            self.episodes.push(Episode {
                at,
                last: at,
                fast,
                resent: 1,
                needless: 0,
                early: false,
                partial: None,
                acks_lost: false,
                first: start,
                until: next,
                covered: None,
                heard: (self.now.from, None),
            });
        }
    }

    /// A segment of the other end was captured: `ack` acknowledges data, and a round trip from here to there takes `ahead` at
    /// least.
    pub(in crate::diagnosis) fn note_ack(&mut self, at: u64, packet: u64, ack: i64, ahead: u64) {
        if let Some(last) = self.episodes.last_mut() {
            last.heard.1.get_or_insert(at);
        }
        if let Some(last) = self.episodes.last_mut()
            && last.covered.is_none()
            && ack > last.first
        {
            last.covered = Some(packet);
            last.early = at.saturating_sub(last.at) < ahead / 4 * 3;
            last.partial = (!last.fast && ack > self.now.end && ack < last.until).then_some((at, ack));
        } else if let Some(last) = self.episodes.last_mut()
            && let Some((then, before)) = last.partial.take_if(|(_, before)| ack > *before)
        {
            // As F-RTO (RFC 5682, section 2.1): the second ACK acknowledges what was not sent again before the first one.
            last.early |= at.saturating_sub(then) < ahead / 4 * 3 && before < last.until;
        }
        let all_had_arrived = self.now.next > self.now.end && ack >= self.now.next;
        let silence = Silence { until: at, all_had_arrived, ..self.now };
        self.acks_lost |= silence.resent > 0 && silence.shows_lost_acks();
        if silence.resent >= UNANSWERED {
            self.note_silence(silence);
        }
        self.now = Silence { from: at, ..Silence::default() };
    }

    /// What was retransmitted last lies before data that duplicate ACKs show to have arrived.
    pub(in crate::diagnosis) fn note_hole(&mut self) {
        self.now.behind_hole = true;
    }

    /// The retransmission at `start` was not needed, as `packet` proves.
    pub(in crate::diagnosis) fn note_needless(&mut self, packet: u64, start: i64, by_copy: bool) {
        let of = |episode: &&mut Episode| episode.first <= start && start < episode.until;
        if let Some(episode) = self.episodes.iter_mut().rev().take(8).find(of) {
            episode.needless += 1;
            episode.acks_lost |= by_copy && start == episode.first && episode.covered == Some(packet);
        }
    }

    /// Nothing was outstanding and nothing arrived from `from` until a segment of `len` bytes came; `before` is the longest one
    /// before.
    pub(in crate::diagnosis) fn note_pause(
        &mut self,
        (from, until): (u64, u64),
        len: u32,
        before: u32,
        (held, rest): (bool, bool),
    ) {
        if self.pauses.len() < MOST {
            self.pauses.push(Pause { from, until, len, before, held, rest, ..Pause::default() });
        }
    }

    /// The same before the first data, which had `len` bytes; both ends permit segments of `most` bytes.
    pub(in crate::diagnosis) fn note_first_pause(&mut self, (from, until): (u64, u64), len: u32, most: u32) {
        self.pauses.push(Pause { from, until, len, before: most, first: true, ..Pause::default() });
    }

    /// Nothing arrived from `from` until missing data was sent again in a segment of `len` bytes; those before had `usual` bytes.
    pub(in crate::diagnosis) fn note_repair_pause(
        &mut self,
        (from, until): (u64, u64),
        len: u32,
        usual: u32,
    ) {
        let last = self.repair_pauses.last();
        let before = last.filter(|last| !last.longer).map_or(usual, |last| last.len.min(usual));
        // More of what is missing comes before new data does.
        let again = last.is_some_and(|last| from < last.until);
        if !again && self.repair_pauses.len() < MOST {
            self.repair_pauses.push(Pause { from, until, len, before, ..Pause::default() });
        }
    }

    /// A segment of `len` bytes came.
    pub(in crate::diagnosis) fn note_length(&mut self, len: u32) {
        if let Some(last) = self.repair_pauses.last_mut() {
            last.same = last.same.saturating_add(u32::from(len == last.len));
            last.longer |= len >= last.before;
        }
    }

    /// New data of `len` bytes came; what was sent within `together` of another segment did not wait for its ACK.
    pub(in crate::diagnosis) fn note_data(&mut self, at: u64, len: u32, together: u64) {
        let Some(last) = self.pauses.last_mut() else { return };
        last.with_it += u32::from(at < last.until + together);
        last.next = if last.next == 0 { len } else { last.next };
        last.same = last.same.saturating_add(u32::from(len == last.len));
        last.longer |= len >= last.before;
    }

    /// The pause that contains `at`.
    pub(in crate::diagnosis) fn pause_at(&self, at: u64) -> Option<&Pause> {
        let index = self.pauses.partition_point(|pause| pause.until <= at);
        self.pauses.get(index).filter(|pause| pause.from <= at)
    }

    /// The data that was retransmitted last, at `until`, had been acknowledged here, long enough ago for its sender to know.
    /// Nothing was captured since `from`. ACKs are missing if retransmissions come whenever the timer expires: first within `timer`,
    /// then each time after twice as long. If the first ones of them are missing too, nothing passed.
    pub(in crate::diagnosis) fn note_acknowledged(&mut self, (from, until): (u64, u64), timer: u64) {
        let quiet = until - from;
        let expected = timer.max(self.quiet * 5 / 2);
        self.quiet = quiet;
        let Some(last) = self.episodes.last_mut() else { return };
        if quiet <= expected {
            last.acks_lost = true;
            last.needless = last.needless.max(last.resent);
        } else {
            self.note_silence(Silence { from, until, resent: UNANSWERED, ..Silence::default() });
        }
    }

    /// Data was outstanding, and nothing was captured from `from` until `until`. A timer doubles: where nothing comes for much
    /// longer than it can wait, and for more than `least`, what it has sent did not come here.
    pub(in crate::diagnosis) fn note_unheard(&mut self, from: u64, until: u64, least: u64) {
        let quiet = until - from;
        let expected = least.max(self.unheard * 5 / 2);
        self.unheard = quiet;
        if quiet > expected {
            self.note_silence(Silence { from, until, resent: UNANSWERED, ..Silence::default() });
        }
    }

    /// Data that was sent until `sent` is acknowledged at `at`: the silence before, if nothing was retransmitted, and if nothing
    /// arrived from the peer for more than `least`. The path delayed its ACKs or the data.
    pub(in crate::diagnosis) fn held(&self, sent: u64, at: u64, least: u64) -> Option<Silence> {
        let from = self.now.from.max(sent);
        let silent = self.now.next == 0 && at.saturating_sub(from) > least;
        silent.then(|| Silence { from, until: at, resent: UNANSWERED, ..Silence::default() })
    }

    /// Nothing passed in a time that is over.
    pub(in crate::diagnosis) fn note_silence(&mut self, silence: Silence) {
        if self.silences.len() < MOST {
            self.silences.push(silence);
        }
    }

    /// Whether an answer or a repair shows that ACKs were lost.
    pub(in crate::diagnosis) fn lost_acks(&self) -> bool {
        self.acks_lost || self.episodes.iter().any(|episode| episode.acks_lost)
    }

    /// Whether duplicate ACKs or SACK show that data was lost.
    pub(in crate::diagnosis) fn lost_data(&self) -> bool {
        let lost = |episode: &Episode| episode.fast && !episode.is_needless();
        self.episodes.iter().any(lost)
    }

    /// ACKs were missing from `from` until `until`; `full` if the path was full all the same.
    pub(in crate::diagnosis) fn note_late(&mut self, from: u64, until: u64, full: bool) {
        if self.late_acks.len() < MOST {
            self.late_acks.push((from, until, full));
        }
    }

    /// Ends the time without an answer that is under way.
    pub(in crate::diagnosis) fn finish(&mut self) {
        if self.now.resent >= UNANSWERED {
            self.silences.push(Silence { until: u64::MAX, ..self.now });
        }
    }

    /// The repair that has retransmissions in this time.
    pub(in crate::diagnosis) fn episode_in(&self, from: u64, until: u64) -> Option<&Episode> {
        let index = self.episodes.partition_point(|episode| episode.last < from);
        self.episodes.get(index).filter(|episode| episode.at <= until)
    }

    /// The time without an answer that contains `at`.
    pub(in crate::diagnosis) fn silence_at(&self, at: u64) -> Option<&Silence> {
        let index = self.silences.partition_point(|silence| silence.until <= at);
        self.silences.get(index).filter(|silence| silence.from <= at)
    }

    /// When ACKs begin or cease to be missing next after `at`; `u64::MAX` if they do not.
    pub(in crate::diagnosis) fn late_edge(&self, at: u64) -> u64 {
        let index = self.late_acks.partition_point(|late| late.1 <= at);
        self.late_acks.get(index).map_or(u64::MAX, |late| if late.0 > at { late.0 } else { late.1 })
    }

    /// Whether ACKs were missing at `at`, and whether the path was full meanwhile.
    pub(in crate::diagnosis) fn late_at(&self, at: u64) -> Option<bool> {
        let index = self.late_acks.partition_point(|late| late.1 <= at);
        self.late_acks[index..].iter().take(4).find(|late| late.0 <= at).map(|late| late.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ack_sooner_than_a_round_trip_shows_that_the_original_had_arrived() {
        let mut incidents = Incidents::default();
        incidents.note_resent(1000, (500, 100), 900, true, NONE_PASSED);
        incidents.note_ack(1300, 7, 900, 1000);
        assert!(incidents.episode_in(900, 1200).unwrap().early);
        assert!(incidents.episode_in(1001, 1200).is_none());
    }

    #[test]
    fn a_copy_reported_by_the_first_ack_shows_that_earlier_acks_were_lost() {
        let mut incidents = Incidents::default();
        incidents.note_resent(1000, (500, 100), 900, false, NONE_PASSED);
        incidents.note_ack(2000, 7, 900, 1000);
        incidents.note_needless(7, 500, true);
        assert!(incidents.episodes[0].acks_lost);
        incidents.note_resent(3000, (900, 100), 1900, false, NONE_PASSED);
        incidents.note_ack(4000, 9, 1000, 1000);
        incidents.note_ack(5000, 10, 1900, 1000);
        incidents.note_needless(10, 900, true);
        assert!(!incidents.episodes[1].acks_lost && incidents.episodes[1].needless == 1);
    }

    #[test]
    fn a_timer_ends_a_pause_with_a_single_full_segment() {
        let pause = |after: &[(u64, u32)]| {
            let mut incidents = Incidents::default();
            incidents.note_pause((100, 500), 1000, 1000, (false, false));
            for &(at, len) in after {
                incidents.note_data(at, len, 20);
            }
            *incidents.pause_at(300).unwrap()
        };
        assert!(pause(&[(550, 1000), (550, 1000)]).ends_with_timer());
        assert!(!pause(&[(510, 1000), (550, 1000)]).ends_with_timer(), "a window of an application");
        assert!(!pause(&[(550, 400)]).ends_with_timer(), "the rest of a block");
        assert!(!pause(&[]).ends_with_timer());
    }

    #[test]
    fn a_repair_after_a_pause_with_shorter_segments_only_shows_a_black_hole() {
        // Segments of 1000 bytes came before. Those of each repair come after one pause.
        let holes = |repairs: &[(u64, &[u32])]| {
            let mut incidents = Incidents::default();
            for &(from, lens) in repairs {
                for (n, &len) in (0..).zip(lens) {
                    incidents.note_length(len);
                    incidents.note_repair_pause((from, from + 400 + n), len, 1000);
                }
            }
            incidents.repair_pauses.iter().map(Pause::makes_shorter).collect::<Vec<bool>>()
        };
        assert_eq!(holes(&[(100, &[500; 4])]), [true]);
        assert_eq!(holes(&[(100, &[1000; 4])]), [false], "long ones pass");
        assert_eq!(holes(&[(100, &[500, 500, 500, 1000])]), [false], "one of full size follows");
        assert_eq!(holes(&[(100, &[500; 4]), (1000, &[500; 4])]), [true, false], "they were short before");
    }

    #[test]
    fn a_black_hole_makes_all_later_segments_shorter() {
        let mut incidents = Incidents::default();
        incidents.note_pause((100, 500), 800, 1000, (false, false));
        assert_eq!(incidents.pause_at(500), None);
        incidents.note_data(520, 800, 20);
        incidents.note_data(540, 800, 20);
        assert!(incidents.pauses[0].makes_shorter());
        incidents.note_data(560, 1000, 20);
        assert!(!incidents.pauses[0].makes_shorter());
    }

    #[test]
    fn retransmissions_at_each_expiry_show_missing_acks_and_a_late_one_shows_an_outage() {
        let (second, timer) = (1_000_000_000, 1_700_000_000);
        let mut incidents = Incidents::default();
        incidents.note_resent(2 * second, (0, 100), 100, false, NONE_PASSED);
        incidents.note_acknowledged((second, 2 * second), timer);
        incidents.note_resent(4 * second, (0, 100), 100, false, NONE_PASSED);
        incidents.note_acknowledged((2 * second, 4 * second), timer);
        incidents.note_resent(8 * second, (0, 100), 100, false, NONE_PASSED);
        incidents.note_acknowledged((4 * second, 8 * second), timer);
        assert!(incidents.episodes[0].acks_lost && incidents.silences.is_empty());
        incidents.note_resent(30 * second, (100, 100), 200, false, NONE_PASSED);
        incidents.note_acknowledged((9 * second, 30 * second), timer);
        assert!(!incidents.episodes[1].acks_lost);
        assert!(incidents.silence_at(20 * second).is_some());
    }

    #[test]
    fn a_first_retransmission_that_is_late_shows_an_outage() {
        let silent = |timer| {
            let mut incidents = Incidents::default();
            incidents.note_resent(3_000, (0, 100), 100, false, NONE_PASSED);
            incidents.note_acknowledged((1_000, 3_000), timer);
            (incidents.silence_at(2_000).is_some(), incidents.episodes[0].acks_lost)
        };
        assert_eq!([silent(1_700), silent(2_500)], [(true, false), (false, true)]);
    }

    #[test]
    fn an_ack_of_what_was_sent_long_before_shows_a_path_that_held_it() {
        let after = |resent: bool, sent| {
            let mut incidents = Incidents::default();
            incidents.note_ack(100, 1, 1000, 20);
            if resent {
                incidents.note_resent(300, (1000, 500), 9000, true, NONE_PASSED);
            }
            incidents.held(sent, 500, 200).is_some_and(|silence| silence.until == 500)
        };
        assert!(after(false, 110));
        assert!(!after(true, 110), "a repair has caused the ACK");
        assert!(!after(false, 350), "it was sent later");
    }

    #[test]
    fn a_timer_that_doubles_is_no_silence() {
        let second = 1_000_000_000;
        let mut incidents = Incidents::default();
        for (from, until) in [(0, 1), (1, 3), (3, 7), (7, 15)] {
            incidents.note_unheard(from * second, until * second, LONG_NS);
        }
        assert!(incidents.silences.is_empty());
        incidents.note_unheard(15 * second, 16 * second, LONG_NS);
        incidents.note_unheard(16 * second, 20 * second, LONG_NS);
        assert!(incidents.silence_at(18 * second).is_some());
    }

    #[test]
    fn the_time_without_an_ack_has_edges() {
        let mut incidents = Incidents::default();
        incidents.note_late(100, 200, false);
        incidents.note_late(300, 400, true);
        let edges = [0, 100, 200, 350, 400].map(|at| incidents.late_edge(at));
        assert_eq!(edges, [100, 200, 300, 400, u64::MAX]);
        let late = [50, 150, 250, 350].map(|at| incidents.late_at(at));
        assert_eq!(late, [None, Some(false), None, Some(true)]);
    }

    #[test]
    fn retransmissions_without_an_answer_are_a_silence() {
        let mut incidents = Incidents::default();
        incidents.note_ack(10, 1, 0, 5);
        incidents.note_resent(100, (0, 900), 900, false, NONE_PASSED);
        incidents.note_resent(300, (0, 500), 900, false, NONE_PASSED);
        incidents.note_ack(310, 4, 500, 5);
        incidents.note_resent(400, (500, 400), 900, false, NONE_PASSED);
        incidents.note_ack(420, 6, 900, 5);
        let expected =
            Silence { from: 10, until: 310, resent: 2, longest: 900, last: 500, ..Silence::default() };
        let silence = Silence { latest: 300, alone: 1, end: 900, next: 900, ..expected };
        assert_eq!(incidents.silences, [silence]);
        assert_eq!(incidents.silence_at(200), Some(&silence));
        assert_eq!(incidents.silence_at(310), None);
    }

    #[test]
    fn an_answer_for_all_shows_lost_acks_unless_duplicate_acks_came_before() {
        let lost_acks = |behind_hole| {
            let mut incidents = Incidents::default();
            incidents.note_ack(10, 1, 0, 5);
            incidents.note_resent(100, (0, 900), 1800, false, NONE_PASSED);
            if behind_hole {
                incidents.note_hole();
            }
            incidents.note_ack(110, 2, 1800, 5);
            incidents.lost_acks()
        };
        assert_eq!([lost_acks(false), lost_acks(true)], [true, false]);
    }

    #[test]
    fn a_second_ack_of_data_that_was_not_retransmitted_shows_a_needless_timeout() {
        // Sent until 5000; a timer sends 0 to 1000 again at 1000; a round trip takes 400.
        let after = |second_at, second| {
            let mut incidents = Incidents::default();
            incidents.note_resent(1000, (0, 1000), 5000, false, NONE_PASSED);
            incidents.note_ack(1400, 1, 2000, 400);
            incidents.note_ack(second_at, 2, second, 400);
            incidents.episodes[0].early
        };
        assert!(after(1500, 3000));
        assert!(!after(1800, 3000), "what the first ACK let go has arrived");
        assert!(!after(1500, 2000), "a duplicate ACK");
        let mut jump = Incidents::default();
        jump.note_resent(1000, (0, 1000), 5000, false, NONE_PASSED);
        jump.note_ack(1400, 1, 5000, 400);
        jump.note_ack(1500, 2, 6000, 400);
        assert!(!jump.episodes[0].early, "only the first segment was lost");
    }
}
