//! A middlebox: it rewrites packet headers, and removes the state of connections that are idle for too long.
//!
//! Stripped options are replaced by no-operation options, as real middleboxes do, so packets keep their length. The
//! destination endpoint identifies the connection; each direction is separate.

use crate::network::packet::{Content, Packet};
use netspurt_tcp::options::{Options, SackBlocks};
use netspurt_tcp::segment::{Ecn, Flags, Segment};
use netspurt_tcp::time::Span;
use std::collections::BTreeMap;

/// The functions of a middlebox.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MiddleboxSpec {
    /// The maximum value of the MSS option of a SYN.
    pub mss: Option<u16>,
    /// Options that are stripped.
    pub strip: Strip,
    /// The maximum window in bytes.
    pub window: Option<u32>,
    /// The ECN field of the IP header is cleared.
    pub bleaches_ecn: bool,
    /// The idle timeout of a connection. After it, only a SYN passes.
    pub idle: Option<Span>,
}

/// Options that are stripped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Strip {
    /// SACK-permitted and SACK.
    pub sack: bool,
    /// Timestamps.
    pub timestamps: bool,
    /// Window scaling.
    pub window_scaling: bool,
    /// All except those of RFC 9293, RFC 7323 and RFC 2018.
    pub unknown: bool,
}

/// Changes to the header of one packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Rewrite {
    /// The maximum value of the MSS option.
    pub mss: Option<u16>,
    /// Options that are stripped.
    pub strip: Strip,
    /// The maximum value of the unscaled window field.
    pub window: Option<u16>,
    /// The ECN field of the IP header is cleared.
    pub bleaches_ecn: bool,
}

impl Rewrite {
    /// Applies the changes to a segment.
    fn apply(self, segment: &mut Segment) {
        let Options { mss, window_scale, sack_permitted, timestamps, .. } = segment.options;
        let options = &mut segment.options;
        if let (Some(most), Some(mss)) = (self.mss, mss) {
            options.mss = Some(mss.min(most));
        }
        if self.strip.unknown {
            let mut sack = SackBlocks::EMPTY;
            if options.fast_open.is_none() {
                for block in options.sack.as_slice() {
                    sack.push(*block);
                }
            }
            let mss = options.mss;
            *options = Options { mss, window_scale, sack_permitted, timestamps, sack, ..Options::NONE };
        }
        if self.strip.sack {
            options.sack_permitted = false;
            if options.fast_open.is_none() {
                options.sack = SackBlocks::EMPTY;
            }
        }
        if self.strip.timestamps {
            options.timestamps = None;
        }
        if self.strip.window_scaling {
            options.window_scale = None;
        }
        if let Some(most) = self.window {
            segment.window = segment.window.min(most);
        }
        if self.bleaches_ecn {
            segment.ecn = Ecn::NotEct;
        }
    }
}

/// The state of a connection in the middlebox.
#[derive(Clone, Copy, Debug)]
struct Known {
    last: u64,
    /// Its window scale, from its SYN.
    shift: u8,
    forgotten: bool,
}

/// A middlebox with its state.
#[derive(Clone, Debug)]
pub(crate) struct Middlebox {
    spec: MiddleboxSpec,
    known: BTreeMap<(u32, u16), Known>,
}

impl Middlebox {
    pub(crate) const fn new(spec: MiddleboxSpec) -> Self {
        Self { spec, known: BTreeMap::new() }
    }

    /// Whether it drops packets.
    pub(crate) const fn forgets(&self) -> bool {
        self.spec.idle.is_some()
    }

    /// A packet passes at `now`. Returns the changes to its header, or `None` if it is dropped.
    pub(crate) fn pass(&mut self, now: u64, packet: &mut Packet) -> Option<Rewrite> {
        if packet.content == Content::TooBig {
            return Some(Rewrite::default());
        }
        let syn = packet.segment.flags.has(Flags::SYN);
        let fresh = Known { last: now, shift: 0, forgotten: false };
        let known = self.known.entry((packet.endpoint, packet.generation)).or_insert(fresh);
        if syn {
            let shift = packet.segment.options.window_scale.filter(|_| !self.spec.strip.window_scaling);
            *known = Known { shift: shift.unwrap_or(0), ..fresh };
        }
        let idle = self.spec.idle.is_some_and(|idle| now.saturating_sub(known.last) > idle.as_ps());
        known.forgotten |= idle;
        known.last = now;
        if known.forgotten {
            return None;
        }
        // RFC 7323, section 2.2: the window of a SYN is not scaled.
        let shift = if syn { 0 } else { known.shift };
        let rewrite = Rewrite {
            mss: self.spec.mss.filter(|_| syn),
            strip: self.spec.strip,
            window: self.spec.window.map(|most| u16::try_from(most >> shift).unwrap_or(u16::MAX)),
            bleaches_ecn: self.spec.bleaches_ecn,
        };
        rewrite.apply(&mut packet.segment);
        Some(rewrite)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netspurt_tcp::options::{SackBlock, Timestamps};
    use netspurt_tcp::seq::Seq;

    fn passed(spec: MiddleboxSpec, packets: &[(u64, Segment)]) -> Vec<Option<Segment>> {
        let mut middlebox = Middlebox::new(spec);
        let pass = |&(now, segment): &(u64, Segment)| {
            let mut packet = Packet { segment, ..Packet::default() };
            middlebox.pass(now, &mut packet).map(|_| packet.segment)
        };
        packets.iter().map(pass).collect()
    }

    fn syn() -> Segment {
        let options = Options {
            mss: Some(1460),
            window_scale: Some(7),
            sack_permitted: true,
            nak_permitted: true,
            timestamps: Some(Timestamps { value: 1, echo: 0 }),
            ..Options::NONE
        };
        Segment {
            flags: Flags::SYN,
            window: 65_535,
            header_len: 40,
            options,
            ecn: Ecn::Ect0,
            ..Segment::default()
        }
    }

    fn ack() -> Segment {
        let mut sack = SackBlocks::EMPTY;
        sack.push(SackBlock { left: Seq(5), right: Seq(9) });
        let options = Options { timestamps: Some(Timestamps { value: 2, echo: 1 }), sack, ..Options::NONE };
        Segment { flags: Flags::ACK, window: 5000, header_len: 44, options, ..Segment::default() }
    }

    #[test]
    fn an_mss_is_clamped_and_never_raised() {
        for (most, right) in [(1400, 1400), (9000, 1460)] {
            let spec = MiddleboxSpec { mss: Some(most), ..MiddleboxSpec::default() };
            assert_eq!(passed(spec, &[(0, syn())])[0].unwrap().options.mss, Some(right));
        }
    }

    #[test]
    fn options_are_stripped_from_every_segment_and_lengths_stay() {
        let strip = Strip { sack: true, timestamps: true, window_scaling: true, unknown: true };
        let changed = passed(MiddleboxSpec { strip, ..MiddleboxSpec::default() }, &[(0, syn()), (1, ack())]);
        assert_eq!(
            changed[0],
            Some(Segment { options: Options { mss: Some(1460), ..Options::NONE }, ..syn() })
        );
        assert_eq!(changed[1], Some(Segment { options: Options::NONE, ..ack() }));
        let strip = Strip { unknown: true, ..Strip::default() };
        let changed = passed(MiddleboxSpec { strip, ..MiddleboxSpec::default() }, &[(0, syn()), (1, ack())]);
        assert_eq!(changed[0].unwrap().options, Options { nak_permitted: false, ..syn().options });
        assert_eq!(changed[1], Some(ack()), "what RFCs of old define is known");
    }

    #[test]
    fn windows_are_bounded_by_what_they_mean() {
        let spec = MiddleboxSpec { window: Some(100_000), ..MiddleboxSpec::default() };
        let window = |segments: &[(u64, Segment)]| passed(spec, segments).last().unwrap().unwrap().window;
        assert_eq!(window(&[(0, syn())]), 65_535);
        assert_eq!(window(&[(0, syn()), (1, ack())]), 781, "5000 means 640000, and 781 means 99968");
        assert_eq!(window(&[(1, ack())]), 5000, "who announced no scaling means 5000");
        let strip = Strip { window_scaling: true, ..Strip::default() };
        let changed = passed(MiddleboxSpec { strip, ..spec }, &[(0, syn()), (1, ack())]);
        assert_eq!(changed[1].unwrap().window, 5000, "without the option windows are not scaled");
    }

    #[test]
    fn a_field_is_bleached_and_an_idle_connection_forgotten_until_its_next_syn() {
        let spec = MiddleboxSpec { bleaches_ecn: true, ..MiddleboxSpec::default() };
        assert_eq!(passed(spec, &[(0, syn())])[0].unwrap().ecn, Ecn::NotEct);
        let spec = MiddleboxSpec { idle: Some(Span::from_ps(100)), ..MiddleboxSpec::default() };
        let times =
            [(0, syn()), (100, ack()), (200, ack()), (301, ack()), (302, ack()), (303, syn()), (304, ack())];
        let changed: Vec<bool> = passed(spec, &times).iter().map(Option::is_some).collect();
        assert_eq!(changed, [true, true, true, false, false, true, true]);
    }
}
