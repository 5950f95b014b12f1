//! What a network card that segments sees of a burst: Linux hands it several segments at once, and sets PSH on the last.

use netspurt_tcp::Transmission;
use netspurt_tcp::reason::Reason;
use netspurt_tcp::segment::Flags;
use std::collections::BTreeSet;

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
