//! Combines consecutive segments of new data into a super-segment, which the receiver segments again.

use netspurt_tcp::segment::{Flags, Segment};

/// Maximum length of an IPv4 packet with all headers; also used for IPv6.
const LARGEST: u32 = 65_535;
/// Maximum length of both headers with options.
const HEADERS: u32 = 40 + 60;

/// Segments that are sent together.
#[derive(Clone, Copy, Debug)]
pub(in crate::host) struct Burst {
    /// The first segment, with the payload of all.
    pub(in crate::host) whole: Segment,
    /// Payload of each segment but the last.
    pub(in crate::host) size: u32,
}

impl Burst {
    /// A burst of one segment.
    pub(in crate::host) const fn of(segment: Segment) -> Self {
        Self { whole: segment, size: segment.payload.len }
    }

    /// Adds a segment, if segmentation of the whole would restore it: it follows the last segment, which was full, and
    /// the headers differ only in the sequence number. FIN and PSH may be set on the last segment only: a receiver may
    /// acknowledge at a PSH.
    pub(in crate::host) fn take(&mut self, next: &Segment) -> bool {
        const PLAIN: Flags = Flags::ACK;
        let bare = |flags: Flags| Flags(flags.0 & !Flags::PSH.0);
        let whole = self.whole;
        let len = whole.payload.len + next.payload.len;
        let continues = next.seq == whole.seq.plus(whole.payload.len)
            && next.payload.offset == whole.payload.offset + u64::from(whole.payload.len);
        let full = self.size > 0 && whole.payload.len.is_multiple_of(self.size);
        let fits = next.payload.len > 0 && next.payload.len <= self.size && len + HEADERS <= LARGEST;
        let alike = whole.flags == PLAIN
            && matches!(bare(next.flags), flags if flags == PLAIN || flags == PLAIN | Flags::FIN)
            && (whole.ack, whole.window, whole.ecn) == (next.ack, next.window, next.ecn)
            && whole.options == next.options;
        let taken = continues && full && fits && alike;
        if taken {
            self.whole.payload.len = len;
            self.whole.flags = whole.flags | next.flags;
        }
        taken
    }

    /// Whether it has more than one segment.
    pub(in crate::host) const fn is_several(&self) -> bool {
        self.whole.payload.len > self.size
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netspurt_tcp::segment::Payload;
    use netspurt_tcp::seq::Seq;

    fn segment(offset: u64, len: u32) -> Segment {
        let seq = Seq(u32::MAX - 1000).plus(offset as u32);
        Segment {
            seq,
            ack: Seq(7),
            flags: Flags::ACK,
            payload: Payload { offset, len },
            ..Segment::default()
        }
    }

    #[test]
    fn a_short_segment_is_the_last() {
        let mut burst = Burst::of(segment(0, 1000));
        assert!(burst.take(&segment(1000, 1000)));
        assert!(burst.take(&Segment { flags: Flags::ACK | Flags::PSH | Flags::FIN, ..segment(2000, 10) }));
        assert!(!burst.take(&segment(2010, 1000)), "behind a short one");
        assert_eq!((burst.whole.payload.len, burst.size, burst.is_several()), (2010, 1000, true));
        assert_eq!(burst.whole.flags, Flags::ACK | Flags::PSH | Flags::FIN);
    }

    #[test]
    fn a_segment_with_psh_is_the_last() {
        let mut burst = Burst::of(segment(0, 1000));
        assert!(burst.take(&Segment { flags: Flags::ACK | Flags::PSH, ..segment(1000, 1000) }));
        assert!(!burst.take(&segment(2000, 1000)));
    }

    #[test]
    fn segments_with_different_headers_are_sent_alone() {
        let follows = segment(1000, 1000);
        let others = [
            segment(1001, 1000),
            segment(1000, 1001),
            segment(1000, 0),
            Segment { ack: Seq(8), ..follows },
            Segment { window: 1, ..follows },
            Segment { flags: Flags::ACK | Flags::CWR, ..follows },
            Segment { flags: Flags::ACK | Flags::URG, ..follows },
            Segment { seq: Seq(3), ..follows },
        ];
        for other in others {
            assert!(!Burst::of(segment(0, 1000)).take(&other), "{other:?}");
        }
        assert!(Burst::of(segment(0, 1000)).take(&follows));
        assert!(!Burst::of(segment(0, 0)).take(&segment(0, 1000)), "a bare ACK is not data");
    }

    #[test]
    fn a_burst_fits_into_a_packet() {
        let mut burst = Burst::of(segment(0, 1448));
        let mut count = 1;
        while burst.take(&segment(count * 1448, 1448)) {
            count += 1;
        }
        assert_eq!(count, 45);
    }
}
