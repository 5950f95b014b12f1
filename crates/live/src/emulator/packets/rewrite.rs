//! What a middlebox of the network does to the bytes of a packet: the same as to its segment in a simulation.

use crate::emulator::packets::fields;
use netspurt_sim::network::middlebox::{Rewrite, Strip};
use netspurt_tcp::codec::internet_checksum;
use netspurt_tcp::options::{Options, SackBlock};
use netspurt_tcp::seq::Seq;

/// Position of the window and of the checksum in a TCP header.
const WINDOW: usize = 14;
const CHECKSUM: usize = 16;
/// The kinds of options (RFC 9293, section 3.2; RFC 7323; RFC 2018).
const END: u8 = 0;
const NOP: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;

/// Applies it to a packet with a complete checksum. Of a packet that is not a TCP segment only the ECN field is changed.
pub(in crate::emulator) fn apply(bytes: &mut [u8], rewrite: &Rewrite) {
    if rewrite.bleaches_ecn {
        fields::bleach(bytes);
    }
    let Some(at) = fields::tcp_at(bytes) else { return };
    let tcp = &mut bytes[at..];
    if let Some(most) = rewrite.window {
        let window = u16::from_be_bytes([tcp[WINDOW], tcp[WINDOW + 1]]).min(most);
        put(tcp, WINDOW, window.to_be_bytes()[0]);
        put(tcp, WINDOW + 1, window.to_be_bytes()[1]);
    }
    let end = (usize::from(tcp[12] >> 4) * 4).min(tcp.len());
    let mut here = 20;
    while here < end && tcp[here] != END {
        if tcp[here] == NOP {
            here += 1;
            continue;
        }
        let Some(len) = tcp.get(here + 1).map(|len| usize::from(*len)) else { return };
        if len < 2 || here + len > end {
            return;
        }
        if is_stripped(tcp[here], &rewrite.strip) {
            (here..here + len).for_each(|at| put(tcp, at, NOP));
        } else if let (MSS, 4, Some(most)) = (tcp[here], len, rewrite.mss) {
            let mss = u16::from_be_bytes([tcp[here + 2], tcp[here + 3]]).min(most);
            put(tcp, here + 2, mss.to_be_bytes()[0]);
            put(tcp, here + 3, mss.to_be_bytes()[1]);
        }
        here += len;
    }
}

const fn is_stripped(kind: u8, strip: &Strip) -> bool {
    match kind {
        SACK_PERMITTED | SACK => strip.sack,
        TIMESTAMPS => strip.timestamps,
        WINDOW_SCALE => strip.window_scaling,
        MSS => false,
        _ => strip.unknown,
    }
}

/// Sets a byte of a TCP header, and the checksum with it (RFC 1624, section 3, equation 3).
fn put(tcp: &mut [u8], at: usize, value: u8) {
    let word = at & !1;
    let old = [tcp[word], tcp[word + 1]];
    tcp[at] = value;
    let new = [tcp[word], tcp[word + 1]];
    let sum = [tcp[CHECKSUM], tcp[CHECKSUM + 1]];
    let not = |pair: [u8; 2]| [!pair[0], !pair[1]];
    let ([a, b], [c, d], [e, f]) = (not(sum), not(old), new);
    tcp[CHECKSUM..CHECKSUM + 2].copy_from_slice(&internet_checksum(&[a, b, c, d, e, f]).to_be_bytes());
}

/// What the network reads of a TCP header beside its flags: the acknowledgment number, the shift of the windows that a SYN
/// announces, and whether there is a SACK option. A middlebox changes the bytes, not these.
pub(in crate::emulator) fn read(bytes: &[u8]) -> (Seq, Options) {
    let mut options = Options::NONE;
    let Some(tcp) = fields::tcp_at(bytes).map(|at| &bytes[at..]) else { return (Seq(0), options) };
    let ack = Seq(u32::from_be_bytes([tcp[8], tcp[9], tcp[10], tcp[11]]));
    let end = usize::from(tcp[12] >> 4) * 4;
    let mut here = 20;
    while here < end && tcp[here] != END {
        let len = if tcp[here] == NOP { 1 } else { tcp.get(here + 1).map_or(0, |len| usize::from(*len)) };
        if len == 0 || here + len > end {
            break;
        }
        match (tcp[here], len) {
            (WINDOW_SCALE, 3) => options.window_scale = Some(tcp[here + 2]),
            (SACK, _) => {
                options.sack.push(SackBlock::default());
            }
            _ => {}
        }
        here += len;
    }
    (ack, options)
}

#[cfg(test)]
mod tests {
    use super::*;
    use netspurt_tcp::codec::{Addresses, Body, Ip, Ports, Verify, decode_packet, encode_packet};
    use netspurt_tcp::options::{Layout, SackBlocks, Timestamps};
    use netspurt_tcp::segment::{Ecn, Flags, Segment};
    use std::net::Ipv4Addr;

    fn syn() -> Segment {
        let options = Options {
            mss: Some(1460),
            window_scale: Some(7),
            sack_permitted: true,
            timestamps: Some(Timestamps { value: 77, echo: 0 }),
            ..Options::NONE
        };
        let header_len = 20 + options.wire_len(Layout::SHARED);
        let flags = Flags::SYN;
        Segment { flags, window: 65_535, header_len, ecn: Ecn::Ect0, options, ..Segment::default() }
    }

    fn bytes(segment: &Segment) -> Vec<u8> {
        let source = Ipv4Addr::new(10, 0, 0, 1);
        let addresses = Addresses::V4 { source, destination: Ipv4Addr::new(10, 0, 0, 2) };
        let (ports, mut bytes) = (Ports { source: 1, destination: 2 }, Vec::new());
        encode_packet(segment, ports, &Ip::new(addresses), Layout::SHARED, Body::Bytes(&[]), &mut bytes)
            .unwrap();
        bytes
    }

    #[test]
    fn a_rewritten_packet_matches_its_segment_and_has_a_right_checksum() {
        let all = Strip { sack: true, timestamps: true, window_scaling: true, unknown: true };
        let just = |strip| Rewrite { strip, ..Rewrite::default() };
        let sack = Strip { sack: true, ..Strip::default() };
        let left = |change: fn(&mut Options)| {
            let mut options = syn().options;
            change(&mut options);
            options
        };
        for (rewrite, options) in [
            (Rewrite::default(), syn().options),
            (Rewrite { mss: Some(1400), ..Rewrite::default() }, left(|options| options.mss = Some(1400))),
            (Rewrite { mss: Some(9000), ..Rewrite::default() }, syn().options),
            (just(sack), left(|options| options.sack_permitted = false)),
            (just(all), Options { mss: Some(1460), ..Options::NONE }),
        ] {
            let mut packet = bytes(&syn());
            let len = packet.len();
            apply(&mut packet, &Rewrite { window: Some(1000), ..rewrite });
            let decoded = decode_packet(&packet, Layout::SHARED, Verify::All).unwrap();
            assert_eq!((packet.len(), decoded.tcp.segment.window), (len, 1000));
            assert_eq!(decoded.tcp.segment.options, options);
        }
    }

    #[test]
    fn a_field_is_bleached_and_the_shift_is_found() {
        let mut packet = bytes(&syn());
        assert_eq!(read(&packet), (Seq(0), Options { window_scale: Some(7), ..Options::NONE }));
        apply(&mut packet, &Rewrite { bleaches_ecn: true, ..Rewrite::default() });
        let decoded = decode_packet(&packet, Layout::SHARED, Verify::All).unwrap();
        assert_eq!(decoded.tcp.segment.ecn, Ecn::NotEct);
        assert_eq!(internet_checksum(&packet[..20]), 0, "of the IP header");
        let mut sack = SackBlocks::EMPTY;
        sack.push(SackBlock { left: Seq(8), right: Seq(9) });
        let options = Options { sack, ..Options::NONE };
        let header_len = 20 + options.wire_len(Layout::SHARED);
        let ack = Segment { ack: Seq(77), flags: Flags::ACK, header_len, options, ..Segment::default() };
        let (number, options) = read(&bytes(&ack));
        assert_eq!((number, options.sack.is_empty()), (Seq(77), false));
    }
}
