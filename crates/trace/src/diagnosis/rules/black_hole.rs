//! Segments of full size do not pass, and shorter ones do: `path-mtu`.

use crate::diagnosis::facts::Facts;
use crate::diagnosis::sender::incidents::{Pause, Silence};

/// So many retransmissions of full size before a shorter one passes show a path that drops long packets.
const LONG_ONES: u32 = 2;

/// Whether long packets did not pass in a silence: the answer came when a shorter segment was sent, or no segment of full size was
/// ever acknowledged.
pub(super) fn drops_long_packets(facts: &Facts, silence: &Silence) -> bool {
    let full = silence.longest >= facts.totals.segment;
    let ended = silence.until != u64::MAX;
    let shorter_passed = ended && silence.resent > LONG_ONES && silence.last < silence.longest;
    let none_passed = !ended && facts.totals.bytes < u64::from(facts.totals.segment);
    full && !silence.all_had_arrived && (shorter_passed || none_passed)
}

/// When segments of full size did not pass: from when the first of them was dropped until a shorter one was acknowledged.
///
/// What had passed before is acknowledged for a round trip more, and its queue for longer. All that leaves meanwhile is lost, so the
/// path is full of nothing that arrives. Away from the sender the shorter segment comes a round trip before what its ACK permits.
pub(super) fn black_holes(facts: &Facts) -> Vec<(u64, u64)> {
    let incidents = &facts.incidents;
    let silent = |silence: &&Silence| {
        silence.until.saturating_sub(silence.from) >= 2 * facts.path.base
            && drops_long_packets(facts, silence)
    };
    let of_silence = |silence: &Silence| (missing_since(facts, silence.front, silence.from), silence.until);
    let of_pause = |pause: &Pause| {
        let passed = facts.slices.get(facts.index_at(pause.from)).map_or(0, |slice| slice.end);
        (missing_since(facts, passed, pause.from), pause.until.saturating_add(facts.path.base))
    };
    let shortening = |pause: &&Pause| pause.makes_shorter();
    let mut holes: Vec<(u64, u64)> = incidents.silences.iter().filter(silent).map(of_silence).collect();
    holes.extend(incidents.pauses.iter().chain(&incidents.repair_pauses).filter(shortening).map(of_pause));
    holes.sort_unstable();
    holes
}

/// When the data at `front` left, which did not arrive: `latest` or before.
///
/// Elsewhere than beside the sender it is not captured. It left when the data before it did, which has waited in the queue since.
fn missing_since(facts: &Facts, front: i64, latest: u64) -> u64 {
    let beside = facts.path.beside_sender;
    let index = facts.slices.partition_point(|slice| slice.end < front + i64::from(beside));
    let Some(now) = facts.path.now.get(index) else { return latest };
    let queueing = if beside { 0 } else { now.queueing };
    facts.slices[index].until.saturating_sub(queueing).min(latest)
}

/// Whether long packets do not pass at this time.
pub(super) fn is_in_black_hole(facts: &Facts, at: u64) -> bool {
    facts.black_holes.iter().any(|hole| hole.0 <= at && at < hole.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnosis::path::trains::Trains;
    use crate::diagnosis::sender::incidents::{Incidents, NONE_PASSED};
    use crate::diagnosis::sender::meter::Slice;
    use crate::diagnosis::sender::totals::Totals;

    const MS: u64 = 1_000_000;

    /// Slices of 10 ms with a segment each until 400 ms, on a path of 40 ms, with a queue of 60 ms where a capture shows one.
    fn facts(parts: (u64, u64), incidents: Incidents) -> Facts {
        let slice = |n: u64| Slice {
            until: n * 10 * MS,
            end: n.min(40) as i64 * 1000,
            behind: if parts.0 > 0 && n < 40 { (parts.0 + 60 * MS) as u32 + 1 } else { 0 },
            ..Slice::default()
        };
        let totals = Totals { segment: 1000, bytes: 90_000, ..Totals::default() };
        let none = Trains::default();
        let mut facts = Facts::new((1..=400).map(slice).collect(), parts, totals, [&none, &none], incidents);
        facts.black_holes = black_holes(&facts);
        facts
    }

    /// The data at 30 kB is sent again at 700, 1100 and 1900 ms, the last time with this length, and acknowledged at 1940 ms.
    fn silence(last: u32) -> Incidents {
        let mut incidents = Incidents::default();
        incidents.note_ack(400 * MS, 1, 30_000, 40 * MS);
        for (at, len) in [(700, 1000), (1100, 1000), (1900, last)] {
            incidents.note_resent(at * MS, (30_000, len), 40_000, false, NONE_PASSED);
        }
        incidents.note_ack(1940 * MS, 2, 30_500, 40 * MS);
        incidents
    }

    #[test]
    fn long_packets_are_missing_from_when_the_first_of_them_left() {
        let facts = facts((0, 40 * MS), silence(500));
        assert_eq!(facts.black_holes, [(310 * MS, 1940 * MS)]);
        assert!(is_in_black_hole(&facts, 320 * MS) && !is_in_black_hole(&facts, 300 * MS));
    }

    #[test]
    fn where_a_full_segment_passes_at_last_others_were_lost_too() {
        assert_eq!(facts((0, 40 * MS), silence(1000)).black_holes, []);
    }

    #[test]
    fn away_from_the_sender_what_is_missing_left_before_the_queue_was_empty() {
        let mut incidents = Incidents::default();
        incidents.note_pause((440 * MS, 1900 * MS), 500, 1000, (false, false));
        incidents.note_data(1960 * MS, 500, MS);
        incidents.note_data(1970 * MS, 500, MS);
        let facts = facts((40 * MS, 0), incidents);
        assert_eq!(facts.black_holes, [(340 * MS, 1940 * MS)]);
    }
}
