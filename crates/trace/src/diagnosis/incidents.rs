//! What befell a sender: repairs and whether they were needed, times without an answer, late ACKs.

/// Maximum number of each; later ones are not recorded.
const MOST: usize = 1 << 12;
/// So many retransmissions without an answer show a path that carries nothing.
const UNANSWERED: u32 = 2;

/// Retransmissions of what was outstanding when the first of them left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Episode {
    /// When the first one was sent, in nanoseconds since the begin.
    pub(super) at: u64,
    /// Begun by duplicate ACKs or SACK, not by a timer.
    pub(super) fast: bool,
    /// How many retransmissions, and how many of them are known not to have been needed.
    pub(super) resent: u32,
    pub(super) needless: u32,
    /// The first was acknowledged sooner than it can have arrived.
    pub(super) early: bool,
    /// The proof came with the first ACK after it: earlier ACKs of this data were lost.
    pub(super) acks_lost: bool,
    first: i64,
    until: i64,
    /// The packet that acknowledged the first one.
    covered: Option<u64>,
}

/// A time in which nothing was received from the other end and retransmissions had no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Silence {
    /// In nanoseconds since the begin.
    pub(super) from: u64,
    /// `u64::MAX` if it has not ended.
    pub(super) until: u64,
    /// Retransmissions.
    pub(super) resent: u32,
    /// The length of the longest and of the last one.
    pub(super) longest: u32,
    pub(super) last: u32,
    /// The answer acknowledged all data, more than was sent again: it had arrived before, so ACKs were missing.
    pub(super) all_had_arrived: bool,
    /// Position after the last retransmission, and after everything sent.
    end: i64,
    next: i64,
}

/// The incidents of one direction, each in order of time.
#[derive(Debug, Default)]
pub(super) struct Incidents {
    pub(super) episodes: Vec<Episode>,
    pub(super) silences: Vec<Silence>,
    /// From when until when ACKs were missing.
    pub(super) late_acks: Vec<(u64, u64)>,
    now: Silence,
}

impl Incidents {
    /// `len` bytes from `start` on were sent again at `at`, when everything below `next` had been sent.
    pub(super) fn note_resent(&mut self, at: u64, (start, len): (i64, u32), next: i64, fast: bool) {
        self.now.resent += 1;
        self.now.longest = self.now.longest.max(len);
        self.now.last = len;
        self.now.end = self.now.end.max(start + i64::from(len));
        self.now.next = next;
        if let Some(last) = self.episodes.last_mut().filter(|last| start < last.until) {
            last.resent += 1;
        } else if self.episodes.len() < MOST {
            self.episodes.push(Episode {
                at,
                fast,
                resent: 1,
                needless: 0,
                early: false,
                acks_lost: false,
                first: start,
                until: next,
                covered: None,
            });
        }
    }

    /// A segment of the other end was captured: `ack` acknowledges data, and a round trip from here to there takes `ahead` at
    /// least.
    pub(super) fn note_ack(&mut self, at: u64, packet: u64, ack: i64, ahead: u64) {
        if let Some(last) = self.episodes.last_mut()
            && last.covered.is_none()
            && ack > last.first
        {
            last.covered = Some(packet);
            last.early = at.saturating_sub(last.at) < ahead / 4 * 3;
        }
        if self.now.resent >= UNANSWERED && self.silences.len() < MOST {
            let all_had_arrived = self.now.next > self.now.end && ack >= self.now.next;
            self.silences.push(Silence { until: at, all_had_arrived, ..self.now });
        }
        self.now = Silence { from: at, ..Silence::default() };
    }

    /// The retransmission at `start` was not needed, as `packet` proves.
    pub(super) fn note_needless(&mut self, packet: u64, start: i64, by_copy: bool) {
        let of = |episode: &&mut Episode| episode.first <= start && start < episode.until;
        if let Some(episode) = self.episodes.iter_mut().rev().take(8).find(of) {
            episode.needless += 1;
            episode.acks_lost |= by_copy && start == episode.first && episode.covered == Some(packet);
        }
    }

    /// ACKs were missing from `from` until `until`.
    pub(super) fn note_late(&mut self, from: u64, until: u64) {
        if self.late_acks.len() < MOST {
            self.late_acks.push((from, until));
        }
    }

    /// Ends the time without an answer that is under way.
    pub(super) fn finish(&mut self) {
        if self.now.resent >= UNANSWERED {
            self.silences.push(Silence { until: u64::MAX, ..self.now });
        }
    }

    /// The repair of which the first retransmission lies in this time.
    pub(super) fn episode_in(&self, from: u64, until: u64) -> Option<&Episode> {
        let index = self.episodes.partition_point(|episode| episode.at < from);
        self.episodes.get(index).filter(|episode| episode.at <= until)
    }

    /// The time without an answer that contains `at`.
    pub(super) fn silence_at(&self, at: u64) -> Option<&Silence> {
        let index = self.silences.partition_point(|silence| silence.until <= at);
        self.silences.get(index).filter(|silence| silence.from <= at)
    }

    /// Whether ACKs were missing at `at`.
    pub(super) fn is_late(&self, at: u64) -> bool {
        let index = self.late_acks.partition_point(|late| late.1 <= at);
        self.late_acks[index..].iter().take(4).any(|late| late.0 <= at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ack_sooner_than_a_round_trip_shows_that_the_original_had_arrived() {
        let mut incidents = Incidents::default();
        incidents.note_resent(1000, (500, 100), 900, true);
        incidents.note_ack(1300, 7, 900, 1000);
        assert!(incidents.episode_in(900, 1200).unwrap().early);
        assert!(incidents.episode_in(1001, 1200).is_none());
    }

    #[test]
    fn a_copy_reported_by_the_first_ack_shows_that_earlier_acks_were_lost() {
        let mut incidents = Incidents::default();
        incidents.note_resent(1000, (500, 100), 900, false);
        incidents.note_ack(2000, 7, 900, 1000);
        incidents.note_needless(7, 500, true);
        assert!(incidents.episodes[0].acks_lost);
        incidents.note_resent(3000, (900, 100), 1900, false);
        incidents.note_ack(4000, 9, 1000, 1000);
        incidents.note_ack(5000, 10, 1900, 1000);
        incidents.note_needless(10, 900, true);
        assert!(!incidents.episodes[1].acks_lost && incidents.episodes[1].needless == 1);
    }

    #[test]
    fn retransmissions_without_an_answer_are_a_silence() {
        let mut incidents = Incidents::default();
        incidents.note_ack(10, 1, 0, 5);
        incidents.note_resent(100, (0, 900), 900, false);
        incidents.note_resent(300, (0, 500), 900, false);
        incidents.note_ack(310, 4, 500, 5);
        incidents.note_resent(400, (500, 400), 900, false);
        incidents.note_ack(420, 6, 900, 5);
        let expected =
            Silence { from: 10, until: 310, resent: 2, longest: 900, last: 500, ..Silence::default() };
        let silence = Silence { end: 900, next: 900, ..expected };
        assert_eq!(incidents.silences, [silence]);
        assert_eq!(incidents.silence_at(200), Some(&silence));
        assert_eq!(incidents.silence_at(310), None);
    }
}
