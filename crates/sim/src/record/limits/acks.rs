//! Finds when ACKs were lost or late.

use super::queues::Interval;
use super::sender::SenderLog;

/// Two segments are acknowledged at once; a single one may wait for the delayed-ACK timer.
const SEGMENTS: u64 = 2 * 1460;

/// The periods in which the ACK for arrived data was missing for more than half a round trip, `round`, beyond the least
/// time that an ACK took.
pub(super) fn late(log: &SenderLog, round: u64) -> Vec<Interval> {
    let back = least_way_back(log);
    let mut late: Vec<Interval> = Vec::new();
    let mut before = 0;
    for &(at, acknowledged) in &log.acks {
        if acknowledged <= before {
            continue;
        }
        // When enough data had arrived to be acknowledged.
        let owed = before + SEGMENTS;
        before = acknowledged;
        if acknowledged < owed {
            continue;
        }
        let index = log.arrived.partition_point(|arrival| arrival.1 < owed);
        let Some(&(arrival, _)) = log.arrived.get(index) else { continue };
        let expected = arrival + back;
        if at > expected + round / 2 {
            late.push((expected, at));
        }
    }
    late
}

/// The least time from the arrival of data at the other end to its ACK here.
fn least_way_back(log: &SenderLog) -> u64 {
    let mut index = 0;
    let mut least = u64::MAX;
    for &(at, acknowledged) in &log.acks {
        while log.arrived.get(index).is_some_and(|arrival| arrival.1 < acknowledged) {
            index += 1;
        }
        if let Some(arrival) =
            log.arrived.get(index).filter(|arrival| arrival.1 == acknowledged && acknowledged > 0)
        {
            least = least.min(at.saturating_sub(arrival.0));
        }
    }
    if least == u64::MAX { 0 } else { least }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netspurt_tcp::time::Time;

    #[test]
    fn an_ack_that_is_missing_for_half_a_round_trip_is_late() {
        let mut log = SenderLog::new(Time::ZERO);
        for n in 1..=20 {
            log.arrived.push((n * 10, n * 1460));
        }
        log.acks = vec![(35, 2 * 1460), (55, 4 * 1460), (150, 13 * 1460), (165, 14 * 1460)];
        assert_eq!(late(&log, 60), [(75, 150)]);
    }
}
