//! PSH as Linux sets it with segmentation offload: only on the last segment of each packet that it hands to the interface.

use netspurt_tcp::Transmission;
use netspurt_tcp::reason::Reason;
use netspurt_tcp::segment::Flags;
use std::collections::BTreeSet;

/// Sets PSH on the last segment of each packet of several segments (`__tcp_transmit_skb()`, since 5.4). A packet of new
/// data holds at
/// most `most` segments. A retransmission uses the packet boundaries of the first transmission, which `packet_ends` holds
/// as sequence
/// numbers. Returns the number of segments of each packet.
pub(crate) fn push_at_ends(
    burst: &mut [Transmission],
    most: usize,
    packet_ends: &mut BTreeSet<u32>,
) -> Vec<usize> {
    let end = |out: &Transmission| out.segment.seq.plus(out.segment.payload.len);
    let is_new = |out: &Transmission| matches!(out.reason, Reason::NewData | Reason::LimitedTransmit);
    let has_data = |out: &Transmission| out.segment.payload.len > 0;
    let (mut together, mut packets) = (1, Vec::new());
    for n in 0..burst.len() {
        let (one, next) = (&burst[n], burst.get(n + 1));
        let follows = next.is_some_and(|next| {
            has_data(one) && has_data(next) && is_new(one) == is_new(next) && end(one) == next.segment.seq
        });
        let fits = if is_new(one) { together < most } else { !packet_ends.contains(&end(one).0) };
        if follows && fits {
            together += 1;
            continue;
        }
        if is_new(one) {
            packet_ends.insert(end(one).0);
        }
        if together > 1 {
            burst[n].segment.flags = burst[n].segment.flags | Flags::PSH;
        }
        packets.push(together);
        together = 1;
    }
    packets
}
