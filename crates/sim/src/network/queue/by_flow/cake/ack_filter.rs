//! The ACK filter: an ACK without data is dropped when a later one of its flow arrives that carries the same information
//! (Linux, `cake_ack_filter()`).
//!
//! The conservative filter keeps two such ACKs and drops the older one when a third arrives, so that two copies of the same
//! information are never dropped together. The aggressive filter drops an ACK as soon as the next one arrives.

use crate::network::packet::Packet;
use crate::spec::AckFilter;
use netspurt_tcp::options::{Options, SackBlock, SackBlocks};
use netspurt_tcp::segment::Flags;
use netspurt_tcp::seq::Seq;

/// The information that an ACK carries.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Ack {
    flow: (u32, u16),
    ack: Seq,
    /// ECE, CWR and AE.
    echoes: Flags,
    /// Whether it only acknowledges: then it may be dropped.
    pure: bool,
    stamps: Option<(u32, u32)>,
    sack: SackBlocks,
}

const ECHOES: [Flags; 3] = [Flags::ECE, Flags::CWR, Flags::AE];

impl Ack {
    /// What this packet acknowledges; `None` if it is no ACK.
    pub(super) fn of(packet: &Packet) -> Option<Self> {
        let segment = &packet.segment;
        if !segment.flags.has(Flags::ACK) || segment.flags.has(Flags::SYN) {
            return None;
        }
        let mut echoes = Flags::NONE;
        for echo in ECHOES.into_iter().filter(|echo| segment.flags.has(*echo)) {
            echoes = echoes | echo;
        }
        let Options { timestamps, sack, .. } = segment.options;
        // Any other content of the option is unknown here.
        let mut plain = SackBlocks::EMPTY;
        for block in sack.as_slice() {
            plain.push(*block);
        }
        let known = Options { timestamps, sack: plain, ..Options::NONE };
        Some(Self {
            flow: (packet.endpoint, packet.generation),
            ack: segment.ack,
            echoes,
            // Accurate ECN counts in the flags and in an option, and each ACK adds to the counters.
            pure: segment.payload.len == 0
                && segment.flags == Flags::ACK | echoes
                && !echoes.has(Flags::AE)
                && segment.options == known,
            stamps: timestamps.map(|stamps| (stamps.value, stamps.echo)),
            sack,
        })
    }

    /// Whether this may be dropped because `later` carries all of its information, and more.
    fn is_covered_by(&self, later: &Self) -> bool {
        let not_after = |a: u32, b: u32| Seq(a).distance_from(Seq(b)) <= 0;
        let stamps = match (self.stamps, later.stamps) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(old), Some(new)) => not_after(old.0, new.0) && not_after(old.1, new.1),
        };
        if !self.pure || self.flow != later.flow || !stamps || self.ack.distance_from(later.ack) > 0 {
            return false;
        }
        let within = |block: &SackBlock| {
            // A block below the ACK reports a duplicate (RFC 2883), and only one ACK reports it.
            block.left.distance_from(self.ack) >= 0
                && later.sack.as_slice().iter().any(|other| {
                    other.left.distance_from(block.left) <= 0 && other.right.distance_from(block.right) >= 0
                })
        };
        let octets = |sack: &SackBlocks| -> i64 {
            sack.as_slice().iter().map(|block| i64::from(block.right.distance_from(block.left))).sum()
        };
        let more = octets(&later.sack) > octets(&self.sack);
        self.sack.as_slice().iter().all(within) && (more || self.ack != later.ack)
    }
}

/// The position of the ACK that the last of `packets` packets of a queue makes superfluous; `at` returns what a packet
/// acknowledges.
pub(super) fn superfluous<'a>(
    packets: usize,
    at: impl Fn(usize) -> Option<&'a Ack>,
    filter: AckFilter,
) -> Option<usize> {
    let last = packets.checked_sub(1)?;
    let later = at(last)?;
    let mut found: Option<(usize, Flags)> = None;
    for position in 0..last {
        let Some(ack) = at(position).filter(|ack| ack.flow == later.flow) else { continue };
        // Where the echoed ECN flags change, only the ACK before the change has the old ones.
        found = found.filter(|(_, echoes)| *echoes == ack.echoes);
        if !ack.is_covered_by(later) {
            continue;
        }
        match found {
            None => found = Some((position, ack.echoes)),
            Some((first, _)) => return Some(first),
        }
    }
    let (position, echoes) = found?;
    let next_to_it = position + 1 == last && echoes == later.echoes;
    (filter == AckFilter::Aggressive && next_to_it).then_some(position)
}

#[cfg(test)]
mod tests {
    use super::*;
    use netspurt_tcp::segment::{Payload, Segment};

    fn ack(number: u32) -> Packet {
        Packet {
            segment: Segment { ack: Seq(number), flags: Flags::ACK, ..Segment::default() },
            ..Packet::default()
        }
    }

    fn both(packets: &[Packet]) -> [Option<usize>; 2] {
        let acks: Vec<Option<Ack>> = packets.iter().map(Ack::of).collect();
        [AckFilter::Conservative, AckFilter::Aggressive]
            .map(|filter| superfluous(acks.len(), |n| acks[n].as_ref(), filter))
    }

    #[test]
    fn the_oldest_of_three_acks_is_dropped_and_of_two_in_aggressive_mode() {
        assert_eq!(both(&[ack(1)]), [None, None]);
        assert_eq!(both(&[ack(1), ack(2)]), [None, Some(0)]);
        assert_eq!(both(&[ack(1), ack(2), ack(3)]), [Some(0), Some(0)]);
    }

    #[test]
    fn acks_with_other_contents_are_kept() {
        let mut data = ack(1);
        data.segment.payload = Payload { offset: 0, len: 1 };
        let mut fin = ack(1);
        fin.segment.flags = Flags::ACK | Flags::FIN;
        let mut other = ack(1);
        other.endpoint = 7;
        let mut reports = ack(1);
        reports.segment.options.sack.push(SackBlock { left: Seq(100), right: Seq(200) });
        let mut stamped = ack(1);
        stamped.segment.options.timestamps = Some(netspurt_tcp::options::Timestamps { value: 5, echo: 9 });
        for packet in [data, fin, other, reports, stamped, ack(9)] {
            assert_eq!(both(&[packet, packet, ack(2)]), [None, None], "{packet:?}");
        }
        // The sender counts duplicate ACKs.
        assert_eq!(both(&[ack(2), ack(2), ack(2)]), [None, None]);
    }

    #[test]
    fn an_ack_that_reports_more_makes_one_superfluous_that_reports_less() {
        let with = |right| {
            let mut packet = ack(1);
            packet.segment.options.sack.push(SackBlock { left: Seq(100), right: Seq(right) });
            packet
        };
        assert_eq!(both(&[with(200), with(300), with(400)]), [Some(0), Some(0)]);
        assert_eq!(both(&[with(400), with(300), with(200)]), [None, None]);
    }

    #[test]
    fn the_last_ack_before_a_change_of_the_echo_stays() {
        let echo = |number| {
            let mut packet = ack(number);
            packet.segment.flags = Flags::ACK | Flags::ECE;
            packet
        };
        assert_eq!(both(&[ack(1), echo(2)]), [None, None]);
        assert_eq!(both(&[ack(1), echo(2), echo(3)]), [None, Some(1)]);
        assert_eq!(both(&[echo(1), echo(2), echo(3)]), [Some(0), Some(0)]);
    }
}
