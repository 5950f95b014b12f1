//! Segments as a capture above segmentation offload shows them: frames of several segments, which the network card divides.

use netspurt_tcp::codec::{Addresses, Ports};
use netspurt_tcp::segment::Flags;
use netspurt_tcp::seq::Seq;
use netspurt_tcp::time::Time;
use netspurt_trace::capture::Record;
use std::collections::HashMap;

/// The most bytes of payload in a frame: Linux leaves room for headers in 64 KiB (`GSO_LEGACY_MAX_SIZE`, `MAX_TCP_HEADER`).
const MOST_BYTES: u32 = 65_535 - 320;

/// Joins the segments that a host hands to its card at the same instant, as Linux does: data without a gap, in segments of one
/// size, of which the last may be shorter. New data and retransmissions are not joined.
#[derive(Debug, Default)]
pub(crate) struct Joiner {
    /// The frame that may grow.
    frame: Option<Frame>,
    /// Behind the last byte that each connection has sent.
    sent: HashMap<(Addresses, Ports), Seq>,
}

#[derive(Debug)]
struct Frame {
    record: Record,
    /// Payload of each of its segments but the last.
    each: u32,
    resent: bool,
    /// Whether the last segment was shorter.
    is_complete: bool,
}

impl Frame {
    /// Whether this segment continues it.
    fn continues(&self, next: &Record, resent: bool) -> bool {
        let (last, segment) = (&self.record.segment, &next.segment);
        // The last segment of a frame may have a PSH or a FIN, which the frame then has.
        let last_only = |flags: Flags| flags.without(Flags::PSH).without(Flags::FIN);
        !self.is_complete
            && self.resent == resent
            && (next.time, next.interface) == (self.record.time, self.record.interface)
            && (next.addresses, next.ports) == (self.record.addresses, self.record.ports)
            && (next.direction, next.checksum) == (self.record.direction, self.record.checksum)
            && !last.flags.any(Flags::PSH | Flags::FIN | Flags::URG)
            && last.flags == last_only(segment.flags)
            && segment.seq == last.seq.plus(last.payload.len)
            && (1..=self.each).contains(&segment.payload.len)
            && last.payload.len + segment.payload.len <= MOST_BYTES
            && (segment.ack, segment.window, segment.ecn, segment.options)
                == (last.ack, last.window, last.ecn, last.options)
    }

    fn append(&mut self, next: &Record) {
        self.is_complete = next.segment.payload.len < self.each;
        let segment = &mut self.record.segment;
        segment.payload.len += next.segment.payload.len;
        segment.flags = next.segment.flags;
    }
}

impl Joiner {
    /// The host hands over `next`. Returns the frame before it, if `next` does not continue that.
    pub(crate) fn push(&mut self, next: Record) -> Option<Record> {
        let end = next.segment.seq.plus(next.segment.seq_len());
        let sent = self.sent.entry((next.addresses, next.ports)).or_insert(next.segment.seq);
        let resent = next.segment.seq.distance_from(*sent) < 0;
        if end.distance_from(*sent) > 0 {
            *sent = end;
        }
        if let Some(frame) = self.frame.as_mut().filter(|frame| frame.continues(&next, resent)) {
            frame.append(&next);
            return None;
        }
        let each = next.segment.payload.len;
        self.frame.replace(Frame { record: next, each, resent, is_complete: false }).map(|frame| frame.record)
    }

    /// The last frame, if it is older than `now`.
    pub(crate) fn settle(&mut self, now: Time) -> Option<Record> {
        self.frame.take_if(|frame| frame.record.time < now).map(|frame| frame.record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netspurt_tcp::options::Layout;
    use netspurt_tcp::segment::{Payload, Segment};
    use netspurt_tcp::time::Span;
    use netspurt_trace::capture::{Checksum, Direction};
    use std::net::Ipv4Addr;

    /// Segments (time in microseconds, position, length, flags) as frames: position and length.
    fn frames(segments: &[(u64, u32, u32, Flags)]) -> Vec<(u32, u32)> {
        let record = |&(at, seq, len, flags): &(u64, u32, u32, Flags)| Record {
            time: Time::ZERO + Span::from_us(at),
            interface: 0,
            direction: Direction::Outbound,
            addresses: Addresses::V4 { source: Ipv4Addr::LOCALHOST, destination: Ipv4Addr::LOCALHOST },
            ports: Ports { source: 1, destination: 2 },
            layout: Layout::SHARED,
            checksum: Checksum::Right,
            datagram: false,
            segment: Segment {
                seq: Seq(seq),
                flags,
                header_len: 20,
                payload: Payload { offset: 0, len },
                ..Segment::default()
            },
        };
        let mut joiner = Joiner::default();
        let mut frames: Vec<Record> =
            segments.iter().filter_map(|segment| joiner.push(record(segment))).collect();
        frames.extend(joiner.settle(Time::NEVER));
        frames.iter().map(|frame| (frame.segment.seq.0, frame.segment.payload.len)).collect()
    }

    #[test]
    fn segments_of_one_instant_without_a_gap_are_one_frame_and_the_last_may_be_shorter() {
        let of = |time: [u64; 3], seq: [u32; 3], len: [u32; 3]| {
            let segments: Vec<_> = (0..3).map(|n| (time[n], seq[n], len[n], Flags::ACK)).collect();
            frames(&segments)
        };
        assert_eq!(of([5; 3], [0, 1000, 2000], [1000; 3]), [(0, 3000)]);
        assert_eq!(of([5, 5, 6], [0, 1000, 2000], [1000; 3]), [(0, 2000), (2000, 1000)], "another instant");
        assert_eq!(of([5; 3], [0, 2000, 3000], [1000; 3]), [(0, 1000), (2000, 2000)], "a gap");
        assert_eq!(of([5; 3], [0, 1000, 1400], [1000, 400, 1000]), [(0, 1400), (1400, 1000)], "a short one");
        assert_eq!(of([5, 5, 5], [0, 400, 1400], [400, 1000, 1000]), [(0, 400), (400, 2000)], "a longer one");
    }

    #[test]
    fn a_frame_ends_with_a_push_or_with_64_kib_and_has_no_retransmission_beside_new_data() {
        let push = Flags::ACK | Flags::PSH;
        let pushed = [(5, 0, 1000, Flags::ACK), (5, 1000, 1000, push), (5, 2000, 1000, Flags::ACK)];
        assert_eq!(frames(&pushed), [(0, 2000), (2000, 1000)]);
        let long: Vec<_> = (0..70).map(|n| (5, n * 1000, 1000, Flags::ACK)).collect();
        assert_eq!(frames(&long), [(0, 65_000), (65_000, 5000)]);
        let resent = [(5, 0, 1000, Flags::ACK), (9, 0, 1000, Flags::ACK), (9, 1000, 1000, Flags::ACK)];
        assert_eq!(frames(&resent), [(0, 1000), (0, 1000), (1000, 1000)]);
    }
}
