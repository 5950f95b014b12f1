//! What a network card that segments sees of a burst: Linux hands it several segments at once, and sets PSH on the last.

use netspurt_tcp::reason::Reason;
use netspurt_tcp::segment::Flags;
use netspurt_tcp::{Connection, Transmission};
use std::collections::BTreeSet;

/// sk_gso_max_size.
const MOST_BYTES: u64 = 65_536;

/// How many segments leave together at most (Linux, `tcp_cwnd_test()`: half of cwnd; `tcp_tso_autosize()`: what the pacing
/// rate sends in a millisecond, more on a short path, but at least `least`).
pub(crate) fn most_together(connection: &Connection, least: u64) -> usize {
    let mss = u64::from(connection.segment_payload().max(1));
    let half = u64::from(connection.cwnd()) / mss / 2;
    let by_rate = bytes_together(connection) / mss;
    usize::try_from(half.min(by_rate.max(least)).max(1)).unwrap_or(usize::MAX)
}

fn bytes_together(connection: &Connection) -> u64 {
    let Some(srtt_us) = connection.srtt().map(|srtt| (srtt.as_ps() / 1_000_000).max(1)) else {
        return MOST_BYTES;
    };
    let (cwnd, ssthresh) = (u64::from(connection.cwnd()), u64::from(connection.ssthresh()));
    let percent = if cwnd < ssthresh / 2 { 200 } else { 120 };
    let rate = cwnd.saturating_mul(percent).saturating_mul(10_000) / srtt_us;
    let least_us = connection.info().min_rtt.map_or(srtt_us, |least| least.as_ps() / 1_000_000);
    let near = u32::try_from(least_us >> 9).ok().and_then(|shift| MOST_BYTES.checked_shr(shift)).unwrap_or(0);
    ((rate >> 10) + near).min(MOST_BYTES)
}

/// PSH stands on the last of those that leave together, if there is more than one (`__tcp_transmit_skb()`, since 5.4). What goes
/// again leaves together as far as it did so before: `cuts` remembers behind which sequence numbers a packet ended.
pub(crate) fn push_at_ends(burst: &mut [Transmission], most: usize, cuts: &mut BTreeSet<u32>) {
    let end = |out: &Transmission| out.segment.seq.plus(out.segment.payload.len);
    let is_new = |out: &Transmission| matches!(out.reason, Reason::NewData | Reason::LimitedTransmit);
    let has_data = |out: &Transmission| out.segment.payload.len > 0;
    let mut together = 1;
    for n in 0..burst.len() {
        let (one, next) = (&burst[n], burst.get(n + 1));
        let follows = next.is_some_and(|next| {
            has_data(one) && has_data(next) && is_new(one) == is_new(next) && end(one) == next.segment.seq
        });
        let fits = if is_new(one) { together < most } else { !cuts.contains(&end(one).0) };
        if follows && fits {
            together += 1;
            continue;
        }
        if is_new(one) {
            cuts.insert(end(one).0);
        }
        if together > 1 {
            burst[n].segment.flags = burst[n].segment.flags | Flags::PSH;
        }
        together = 1;
    }
}
