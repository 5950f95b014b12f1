//! Retransmissions have no answer: `outage`, `path-mtu`, `ack-path`.

use super::Moment;
use crate::diagnosis::facts::Facts;
use netspurt_budget::Limit;

/// So many retransmissions of full size before a shorter one passes show a path that drops long packets.
const LONG_ONES: u32 = 2;

/// A silence of two round trips or more in which several retransmissions had no answer.
///
/// If the answer acknowledges all data, and more than was retransmitted, it had arrived and its ACKs were lost. If the answer
/// comes when a shorter segment is sent, or if no segment of full size was ever acknowledged, long packets do not
/// pass.
pub(super) fn no_answer(facts: &Facts, moment: &Moment) -> Option<Limit> {
    let at = facts.began(moment.index).max(moment.from);
    let silence = facts.incidents.silence_at(at)?;
    if silence.until.saturating_sub(silence.from) < 2 * facts.path.base {
        return None;
    }
    if silence.all_had_arrived {
        return Some(Limit::AckPath);
    }
    let full = silence.longest >= facts.totals.segment;
    let ended = silence.until != u64::MAX;
    let shorter_passed = ended && silence.resent > LONG_ONES && silence.last < silence.longest;
    let none_passed = !ended && facts.totals.bytes < u64::from(facts.totals.segment);
    Some(if full && (shorter_passed || none_passed) { Limit::PathMtu } else { Limit::Outage })
}
