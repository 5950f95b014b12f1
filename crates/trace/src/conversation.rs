//! Converts the header fields of both directions to stream positions and window sizes in bytes.

use netspurt_tcp::options::{BigWindow, Options};
use netspurt_tcp::segment::{Flags, Segment};
use netspurt_tcp::seq::Seq;

/// Maximum window scale shift (RFC 7323, section 2.3).
const MAX_SHIFT: u8 = 14;

/// An end of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Side {
    /// The first end: usually the one that has opened the connection.
    A,
    /// The other end.
    B,
}

/// The fields of a segment as stream positions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StreamFields {
    /// Position of its first byte in the stream of its sender. The stream starts at 0; a SYN is at −1.
    pub seq: i64,
    /// The cumulative acknowledgment as a position in the other stream.
    pub ack: Option<i64>,
    /// Receive window in bytes, relative to [`StreamFields::ack`].
    pub window: u32,
    /// Position in the other stream of the first byte that a NAK requests.
    pub nak: Option<i64>,
}

impl StreamFields {
    /// Positions of the first SACK block of `segment` in the other stream. It is the most recently changed block (RFC
    /// 2018, section 4), or reports duplicate data (RFC 2883).
    pub fn sack(&self, segment: &Segment) -> Option<(i64, i64)> {
        let place = |ack: i64, seq: Seq| ack + i64::from(seq.distance_from(segment.ack));
        let block = segment.options.sack.as_slice().first()?;
        self.ack.map(|ack| (place(ack, block.left), place(ack, block.right)))
    }
}

/// The sequence numbers and options of a connection.
///
/// Needs every segment of both directions in order of time. Without a SYN, as in a capture that starts within a
/// connection, streams start at the first segment, and windows are not scaled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Conversation {
    ends: [End; 2],
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct End {
    /// Sequence number of the first byte of the stream.
    first: Option<Seq>,
    /// The latest known position; the next one is the closest to it.
    near: i64,
    /// Options of the SYN.
    offered: Options,
}

impl End {
    /// The position of `seq`: the one that is closest to the latest known position.
    fn place(&mut self, seq: Seq) -> i64 {
        let first = *self.first.get_or_insert(seq);
        let near = first.plus(self.near as u32);
        let place = self.near + i64::from(seq.distance_from(near));
        self.near = self.near.max(place);
        place
    }
}

impl Conversation {
    /// Processes a segment from `side`.
    pub fn process(&mut self, side: Side, segment: &Segment) -> StreamFields {
        let [mine, theirs] = match side {
            Side::A => [0, 1],
            Side::B => [1, 0],
        };
        let syn = segment.flags.has(Flags::SYN);
        if syn {
            self.ends[mine].first = Some(segment.seq.plus(1));
            self.ends[mine].offered = segment.options;
        }
        StreamFields {
            seq: self.ends[mine].place(segment.seq),
            ack: segment.flags.has(Flags::ACK).then(|| self.ends[theirs].place(segment.ack)),
            window: if syn { u32::from(segment.window) } else { self.window(mine, segment) },
            nak: segment.options.nak.map(|nak| self.ends[theirs].place(nak.first)),
        }
    }

    /// The window of a segment after the SYN. It is scaled only if both SYNs offered it.
    fn window(&self, mine: usize, segment: &Segment) -> u32 {
        let both = |offers: fn(&Options) -> bool| self.ends.iter().all(|end| offers(&end.offered));
        let field = u32::from(segment.window);
        if both(|offered| offered.window_scale.is_some()) {
            let shift = self.ends[mine].offered.window_scale.unwrap_or(0);
            field << shift.min(MAX_SHIFT)
        } else if both(|offered| offered.segment_scale.is_some()) {
            field << segment.options.segment_scale.unwrap_or(0).min(MAX_SHIFT)
        } else if both(|offered| matches!(offered.big_window, Some(BigWindow::Offer(_)))) {
            match segment.options.big_window {
                Some(BigWindow::Upper(upper)) => u32::from(upper & 0x7FFF) << 16 | field,
                Some(BigWindow::Offer(_)) | None => field,
            }
        } else {
            field
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netspurt_tcp::options::{Nak, SackBlock};
    use netspurt_tcp::segment::Payload;

    fn segment(flags: Flags, seq: u32, ack: u32, window: u16, options: Options) -> Segment {
        Segment { flags, seq: Seq(seq), ack: Seq(ack), window, options, ..Segment::default() }
    }

    fn opened(client: Options, server: Options) -> Conversation {
        let mut talk = Conversation::default();
        talk.process(Side::A, &segment(Flags::SYN, u32::MAX - 9, 0, 1000, client));
        let fields =
            talk.process(Side::B, &segment(Flags::SYN | Flags::ACK, 500, u32::MAX - 8, 1000, server));
        assert_eq!(fields, StreamFields { seq: -1, ack: Some(0), window: 1000, nak: None });
        talk
    }

    #[test]
    fn a_sack_block_is_converted_to_stream_positions() {
        let mut talk = opened(Options::NONE, Options::NONE);
        let mut options = Options::NONE;
        // The sequence number of the client's first byte is 2^32 - 8, so the block starts after the wrap.
        options.sack.push(SackBlock { left: Seq(92), right: Seq(192) });
        let ack = segment(Flags::ACK, 501, u32::MAX - 8, 7, options);
        let fields = talk.process(Side::B, &ack);
        assert_eq!((fields.ack, fields.sack(&ack)), (Some(0), Some((101, 201))));
        let bare = segment(Flags::ACK, 501, u32::MAX - 8, 7, Options::NONE);
        assert_eq!(talk.process(Side::B, &bare).sack(&bare), None);
    }

    #[test]
    fn positions_continue_after_sequence_numbers_wrap() {
        let mut talk = opened(Options::NONE, Options::NONE);
        let fields = talk.process(Side::A, &segment(Flags::ACK, 20, 501, 7, Options::NONE));
        assert_eq!((fields.seq, fields.ack, fields.window), (29, Some(0), 7));
        let fields = talk.process(Side::A, &segment(Flags::ACK, u32::MAX - 8, 501, 7, Options::NONE));
        assert_eq!(fields.seq, 0, "an old segment has a lower position");
    }

    #[test]
    fn positions_are_right_after_five_wraps() {
        let mut talk = opened(Options::NONE, Options::NONE);
        let (mut seq, step) = (Seq(u32::MAX - 8), 1 << 30);
        for round in 0..20_i64 {
            let mut data = segment(Flags::ACK, seq.0, 501, 7, Options::NONE);
            data.payload = Payload { offset: 0, len: step };
            assert_eq!(talk.process(Side::A, &data).seq, round << 30);
            seq = seq.plus(step);
        }
    }

    #[test]
    fn a_window_is_scaled_if_both_sides_offered_it() {
        let scale = |n| Options { window_scale: Some(n), ..Options::NONE };
        let later = segment(Flags::ACK, 501, u32::MAX - 8, 1000, Options::NONE);
        assert_eq!(opened(scale(3), scale(7)).process(Side::B, &later).window, 1000 << 7);
        assert_eq!(opened(Options::NONE, scale(7)).process(Side::B, &later).window, 1000);
        let offer = Options { big_window: Some(BigWindow::Offer(1 << 20)), ..Options::NONE };
        let upper = Options { big_window: Some(BigWindow::Upper(2)), ..Options::NONE };
        let later = Segment { options: upper, ..later };
        assert_eq!(opened(offer, offer).process(Side::B, &later).window, (2 << 16) + 1000);
        let each = |n| Options { segment_scale: Some(n), ..Options::NONE };
        let later = Segment { options: each(4), ..later };
        assert_eq!(opened(each(1), each(1)).process(Side::B, &later).window, 1000 << 4);
    }

    #[test]
    fn a_nak_refers_to_the_other_stream() {
        let mut talk = opened(Options::NONE, Options::NONE);
        let nak = Options { nak: Some(Nak { first: Seq(11), count: 2 }), ..Options::NONE };
        assert_eq!(talk.process(Side::B, &segment(Flags::ACK, 501, 1, 7, nak)).nak, Some(20));
    }
}
