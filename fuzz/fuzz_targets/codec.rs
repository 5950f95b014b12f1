//! Bytes that arrive as a packet or as a bare segment: decoding returns, and what it read can be written and is read
//! again as the same.
#![no_main]

use core::net::{Ipv4Addr, Ipv6Addr};
use libfuzzer_sys::fuzz_target;
use netspurt_tcp::codec::{
    Addresses, Body, Decoded, Ip, Verify, decode, decode_packet, encode, encode_packet,
};
use netspurt_tcp::options::Layout;

const V4: Addresses =
    Addresses::V4 { source: Ipv4Addr::new(10, 0, 0, 1), destination: Ipv4Addr::new(10, 0, 0, 2) };
const V6: Addresses = Addresses::V6 { source: Ipv6Addr::LOCALHOST, destination: Ipv6Addr::UNSPECIFIED };

fuzz_target!(|input: &[u8]| {
    let Some((&choice, bytes)) = input.split_first() else { return };
    let layout = if choice & 1 == 0 { Layout::DOCUMENT } else { Layout::SHARED };
    let addresses = if choice & 2 == 0 { V4 } else { V6 };
    for verify in [Verify::All, Verify::Lengths, Verify::Headers] {
        if let Ok(read) = decode(bytes, addresses, layout, verify) {
            assert!(bytes.get(read.payload.clone()).is_some());
            if verify != Verify::Headers {
                again(&read, &bytes[read.payload.clone()], addresses, layout);
            }
        }
        if let Ok(packet) = decode_packet(bytes, layout, verify) {
            let body = bytes.get(packet.tcp.payload.clone()).expect("the payload lies in the packet");
            if verify != Verify::Headers {
                again_as_packet(&packet.ip, &packet.tcp, body, layout);
            }
        }
    }
});

/// What was read is written and read; only the length of the header may shrink, by padding and unknown options.
fn again(first: &Decoded, body: &[u8], addresses: Addresses, layout: Layout) {
    let mut out = Vec::new();
    if encode(&first.segment, first.ports, addresses, layout, Body::Bytes(body), &mut out).is_err() {
        assert!(out.is_empty(), "an error leaves nothing behind");
        return;
    }
    let second = decode(&out, addresses, layout, Verify::All).expect("our own bytes");
    same(first, &second, layout);
    assert_eq!(&out[second.payload.clone()], body);
}

fn again_as_packet(ip: &Ip, first: &Decoded, body: &[u8], layout: Layout) {
    let mut out = Vec::new();
    if encode_packet(&first.segment, first.ports, ip, layout, Body::Bytes(body), &mut out).is_ok() {
        let second = decode_packet(&out, layout, Verify::All).expect("our own bytes");
        assert_eq!(second.ip, *ip);
        same(first, &second.tcp, layout);
    }
}

fn same(first: &Decoded, second: &Decoded, layout: Layout) {
    let header_len = 20 + first.segment.options.wire_len(layout);
    let expected = netspurt_tcp::segment::Segment { header_len, ..first.segment };
    assert_eq!(second.segment, expected);
    assert_eq!(second.ports, first.ports);
}
