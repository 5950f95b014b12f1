//! The codec against itself, against hostile bytes, and against a second implementation.

mod segments;

use etherparse::{NetSlice, SlicedPacket, TcpOptionElement, TransportSlice};
use netspurt_tcp::codec::{
    Addresses, BadOption, Body, DecodeError, DecodedPacket, EncodeError, Ip, Ports, Verify, decode,
    decode_packet, encode, encode_packet,
};
use netspurt_tcp::options::{BigWindow, Layout, Nak, Options, SackBlock, SackBlocks, Timestamps};
use netspurt_tcp::segment::{Flags, Payload, Segment};
use netspurt_tcp::seq::Seq;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use segments::{V4, V6, layouts, packet};

const PORTS: Ports = Ports { source: 0x1234, destination: 80 };

/// The same cases on every run.
fn config(cases: u32) -> Config {
    Config { cases, rng_seed: RngSeed::Fixed(9293), failure_persistence: None, ..Config::default() }
}

fn bare(options: Options) -> Segment {
    let layout = Layout::DOCUMENT;
    Segment { header_len: 20 + options.wire_len(layout), flags: Flags::ACK, options, ..Segment::default() }
}

/// The options area as it is written in the document's layout.
fn written(options: Options) -> Vec<u8> {
    let mut out = Vec::new();
    encode(&bare(options), PORTS, V4, Layout::DOCUMENT, Body::Virtual, &mut out).expect("valid");
    out.split_off(20)
}

/// A segment with just this options area, checksums not minded.
fn read(options: &[u8], layout: Layout) -> Result<Options, DecodeError> {
    let mut bytes = vec![0; 20];
    bytes.extend(options);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes[12] = (bytes.len() as u8 / 4) << 4;
    decode(&bytes, V4, layout, Verify::Lengths).map(|decoded| decoded.segment.options)
}

fn two_blocks() -> SackBlocks {
    let mut sack = SackBlocks::EMPTY;
    sack.push(SackBlock { left: Seq(0x0102_0304), right: Seq(0x0506_0708) });
    sack.push(SackBlock { left: Seq(9), right: Seq(10) });
    sack
}

#[test]
fn a_syn_looks_like_linuxs() {
    let options = Options {
        mss: Some(1460),
        window_scale: Some(7),
        sack_permitted: true,
        timestamps: Some(Timestamps { value: 1, echo: 0 }),
        ..Options::NONE
    };
    let expected = [2, 4, 5, 0xB4, 4, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 0, 1, 3, 3, 7];
    assert_eq!(written(options), expected);
}

#[test]
fn timestamps_and_sack_are_aligned_by_two_nops_each() {
    let timestamps = Some(Timestamps { value: 1, echo: 2 });
    let options = Options { timestamps, sack: two_blocks(), ..Options::NONE };
    let mut expected = vec![1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2];
    expected.extend([1, 1, 5, 18, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 9, 0, 0, 0, 10]);
    assert_eq!(written(options), expected);
}

#[test]
fn what_does_not_fit_with_nops_is_packed_without() {
    let mut sack = two_blocks();
    sack.push(SackBlock::default());
    let options = Options {
        timestamps: Some(Timestamps::default()),
        big_window: Some(BigWindow::Upper(0x1234)),
        sack,
        ..Options::NONE
    };
    let bytes = written(options);
    assert_eq!(bytes.len(), 40);
    assert_eq!((bytes[0], bytes[10], bytes[36..].to_vec()), (8, 5, vec![202, 4, 0x12, 0x34]));
    assert_eq!(read(&bytes, Layout::DOCUMENT), Ok(options));
}

#[test]
fn the_options_of_rfc_1106_stand_as_in_its_figures() {
    let nak = Some(Nak { first: Seq(0x0A0B_0C0D), count: 3 });
    assert_eq!(written(Options { nak, ..Options::NONE }), [200, 7, 0x0A, 0x0B, 0x0C, 0x0D, 3, 0]);
    let big_window = Some(BigWindow::Offer(0x3FFF_FFFF));
    let offer = written(Options { big_window, ..Options::NONE });
    assert_eq!(offer, [201, 6, 0x3F, 0xFF, 0xFF, 0xFF, 0, 0]);
    let big_window = Some(BigWindow::Upper(0x7FFF));
    assert_eq!(written(Options { big_window, ..Options::NONE }), [202, 4, 0x7F, 0xFF]);
}

#[test]
fn header_lengths_are_the_usual_ones() {
    let timestamps = Some(Timestamps::default());
    let upper = Some(BigWindow::Upper(1));
    assert_eq!(bare(Options::NONE).header_len, 20);
    assert_eq!(bare(Options { timestamps, ..Options::NONE }).header_len, 32);
    assert_eq!(bare(Options { big_window: upper, ..Options::NONE }).header_len, 24);
    assert_eq!(bare(Options { segment_scale: Some(3), ..Options::NONE }).header_len, 24);
    assert_eq!(bare(Options { big_window: upper, timestamps, ..Options::NONE }).header_len, 36);
}

#[test]
fn impossible_option_lengths_are_named() {
    let bad: [&[u8]; 13] = [
        &[2, 0, 0, 0],                         // length zero
        &[2, 1, 0, 0],                         // shorter than its own head
        &[99, 1, 0, 0],                        // of an unknown kind as well
        &[99, 9, 0, 0],                        // over the end
        &[1, 1, 1, 99],                        // no length octet at all
        &[2, 3, 0, 0],                         // MSS
        &[3, 4, 0, 0],                         // window scale
        &[4, 3, 0, 0],                         // SACK-permitted
        &[5, 2, 0, 0],                         // SACK without a block
        &[5, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], // SACK with a broken block
        &[8, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        &[200, 6, 0, 0, 0, 0, 0, 0],
        &[202, 3, 0, 0],
    ];
    for options in bad {
        let Err(DecodeError::Option(BadOption { kind, length, seq_len, .. })) =
            read(options, Layout::DOCUMENT)
        else {
            panic!("{options:?} was taken for good");
        };
        let expected = if options[0] == 1 { (99, 0) } else { (options[0], options[1]) };
        assert_eq!((kind, length, seq_len), (expected.0, expected.1, 0));
    }
}

#[test]
fn unknown_options_are_skipped_by_their_length() {
    let known = Options { mss: Some(1460), ..Options::NONE };
    assert_eq!(read(&[99, 6, 2, 4, 0, 1, 2, 4, 5, 0xB4], Layout::DOCUMENT), Ok(known));
    // Nothing is read behind the end of the list.
    assert_eq!(read(&[2, 4, 5, 0xB4, 0, 2, 1, 1], Layout::DOCUMENT), Ok(known));
}

#[test]
fn experimental_options_of_others_are_ignored() {
    let others: [&[u8]; 4] =
        [&[253, 4, 0xF9, 0x89], &[253, 2, 1, 1], &[253, 3, 0x42, 1], &[254, 6, 0x42, 0x43, 0, 1]];
    for options in others {
        assert_eq!(read(options, Layout::SHARED), Ok(Options::NONE), "{options:?}");
    }
    let upper = Options { big_window: Some(BigWindow::Upper(1)), ..Options::NONE };
    assert_eq!(read(&[253, 6, 0x42, 0x43, 0, 1], Layout::SHARED), Ok(upper));
    assert!(matches!(read(&[253, 5, 0x42, 0x43, 1], Layout::SHARED), Err(DecodeError::Option(_))));
}

#[test]
fn a_window_scale_above_fourteen_is_left_to_the_connection() {
    assert_eq!(read(&[3, 3, 200, 0], Layout::DOCUMENT).map(|options| options.window_scale), Ok(Some(200)));
}

#[test]
fn segments_that_cannot_be_written_are_refused_and_leave_nothing_behind() {
    let mut sack = two_blocks();
    sack.push(SackBlock::default());
    sack.push(SackBlock::default());
    let options = Options { sack, timestamps: Some(Timestamps::default()), ..Options::NONE };
    let payload = |len| Segment { payload: Payload { offset: 0, len }, ..bare(Options::NONE) };
    let cases = [
        (bare(options), Body::Virtual, EncodeError::Options { len: 44 }),
        (payload(3), Body::Bytes(b"four"), EncodeError::Body { body: 4, payload: 3 }),
        (payload(65_516), Body::Virtual, EncodeError::Length { len: 65_536 }),
        (payload(u32::MAX), Body::Virtual, EncodeError::Length { len: 4_294_967_315 }),
    ];
    for (segment, body, error) in cases {
        let mut out = vec![7];
        let ip = Ip::new(V4);
        assert_eq!(encode_packet(&segment, PORTS, &ip, Layout::DOCUMENT, body, &mut out), Err(error));
        assert_eq!(out, [7]);
    }
    let mut out = Vec::new();
    let whole = payload(65_515);
    assert!(encode_packet(&whole, PORTS, &Ip::new(V6), Layout::DOCUMENT, Body::Virtual, &mut out).is_ok());
    let too_long = Err(EncodeError::Length { len: 65_555 });
    assert_eq!(
        encode_packet(&whole, PORTS, &Ip::new(V4), Layout::DOCUMENT, Body::Virtual, &mut out),
        too_long
    );
}

#[test]
fn a_data_offset_below_five_or_behind_the_end_is_an_error() {
    let mut bytes = vec![0; 24];
    for words in [0, 4, 7, 15] {
        bytes[12] = words << 4;
        let got = decode(&bytes, V4, Layout::DOCUMENT, Verify::Lengths);
        assert_eq!(got, Err(DecodeError::DataOffset(words)));
    }
}

#[test]
fn fragments_are_distinguished_from_other_protocols() {
    let mut packet = Vec::new();
    encode_packet(&bare(Options::NONE), PORTS, &Ip::new(V4), Layout::DOCUMENT, Body::Virtual, &mut packet)
        .expect("valid");
    let with = |at: usize, value: u8| {
        let mut packet = packet.clone();
        packet[at] = value;
        decode_packet(&packet, Layout::DOCUMENT, Verify::Lengths)
    };
    assert_eq!(with(6, 0x20), Err(DecodeError::Fragment));
    assert_eq!(with(7, 1), Err(DecodeError::Fragment));
    assert_eq!(with(9, 17), Err(DecodeError::Protocol(17)));
    assert_eq!(with(0, 0x55), Err(DecodeError::Version(5)));
    assert_eq!(with(0, 0x44), Err(DecodeError::IpLength));
}

#[test]
fn ipv6_extension_headers_are_skipped() {
    let segment = bare(Options::NONE);
    let mut plain = Vec::new();
    encode_packet(&segment, PORTS, &Ip::new(V6), Layout::DOCUMENT, Body::Virtual, &mut plain).expect("valid");
    // Hop-by-hop of 8 octets, destination options of 16, a fragment header of a whole packet.
    let mut chain = vec![60, 0, 1, 4, 0, 0, 0, 0];
    chain.extend([44, 1, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    chain.extend([6, 0, 0, 0, 1, 2, 3, 4]);
    let mut packet = plain.clone();
    packet.splice(40..40, chain.iter().copied());
    packet[5] += chain.len() as u8;
    packet[6] = 0;
    let decoded = decode_packet(&packet, Layout::DOCUMENT, Verify::All).expect("valid");
    assert_eq!(decoded.tcp.segment, segment);
    packet[40 + 24 + 3] = 1;
    assert_eq!(decode_packet(&packet, Layout::DOCUMENT, Verify::All), Err(DecodeError::Fragment));
}

#[test]
fn a_capture_that_cut_the_payload_still_has_its_length() {
    let segment = Segment { payload: Payload { offset: 0, len: 1000 }, ..bare(Options::NONE) };
    for addresses in [V4, V6] {
        let mut packet = Vec::new();
        let body = vec![0xAA; 1000];
        let ip = Ip::new(addresses);
        encode_packet(&segment, PORTS, &ip, Layout::DOCUMENT, Body::Bytes(&body), &mut packet)
            .expect("valid");
        packet.truncate(96);
        let cut = decode_packet(&packet, Layout::DOCUMENT, Verify::Headers).expect("headers are whole");
        assert_eq!((cut.tcp.segment, cut.tcp.payload.end), (segment, 96));
        let whole = decode_packet(&packet, Layout::DOCUMENT, Verify::All);
        assert!(matches!(whole, Err(DecodeError::Short { got: 96, .. })), "{whole:?}");
    }
}

#[test]
fn a_capture_that_cut_the_options_still_has_the_header_and_the_whole_options() {
    let timestamps = Some(Timestamps { value: 7, echo: 9 });
    let options = Options { mss: Some(1460), timestamps, ..Options::NONE };
    let segment = Segment { payload: Payload { offset: 0, len: 100 }, ..bare(options) };
    let mut packet = Vec::new();
    let ip = Ip::new(V4);
    encode_packet(&segment, PORTS, &ip, Layout::DOCUMENT, Body::Virtual, &mut packet).expect("valid");
    let headers = 20 + usize::from(segment.header_len);
    for length in 40..headers {
        let cut = decode_packet(&packet[..length], Layout::DOCUMENT, Verify::Headers).expect("enough").tcp;
        assert_eq!((cut.segment.seq, cut.segment.payload.len), (segment.seq, 100), "{length} bytes");
        assert_eq!(cut.payload, length..length);
        assert!(cut.segment.options.mss.is_none_or(|mss| mss == 1460));
        assert_eq!(
            cut.segment.options.mss.is_some() || cut.segment.options.timestamps.is_some(),
            length >= 44
        );
        let whole = decode_packet(&packet[..length], Layout::DOCUMENT, Verify::All);
        assert!(matches!(whole, Err(DecodeError::Short { .. })), "{whole:?}");
    }
    assert!(decode_packet(&packet[..39], Layout::DOCUMENT, Verify::Headers).is_err());
}

proptest! {
    #![proptest_config(config(512))]

    #[test]
    fn what_is_written_is_read(
        ((segment, ports, ip, body), layout) in
            layouts().prop_flat_map(|layout| (packet(layout), Just(layout)))
    ) {
        let mut out = vec![0xEE; 3];
        encode_packet(&segment, ports, &ip, layout, Body::Bytes(&body), &mut out).unwrap();
        let bytes = out.split_off(3);
        prop_assert_eq!(out, vec![0xEE; 3]);
        let DecodedPacket { ip: got_ip, tcp, .. } = decode_packet(&bytes, layout, Verify::All).unwrap();
        prop_assert_eq!(got_ip, ip);
        prop_assert_eq!(tcp.ports, ports);
        prop_assert_eq!(tcp.segment, segment);
        prop_assert_eq!(&bytes[tcp.payload], &body[..]);
        // Octets behind the packet's end change nothing.
        let mut padded = bytes.clone();
        padded.extend([0x55; 6]);
        prop_assert_eq!(decode_packet(&padded, layout, Verify::All).unwrap().tcp.segment, segment);
    }

    #[test]
    fn bodies_may_come_in_two_parts_or_not_at_all(
        (segment, ports, ip, body) in packet(Layout::SHARED),
        cut in any::<prop::sample::Index>()
    ) {
        let encoded = |body| {
            let mut out = Vec::new();
            encode_packet(&segment, ports, &ip, Layout::SHARED, body, &mut out).map(|()| out)
        };
        let (first, second) = body.split_at(cut.index(body.len() + 1));
        prop_assert_eq!(encoded(Body::Split(first, second)), encoded(Body::Bytes(&body)));
        let zeros = vec![0; body.len()];
        let mut headers = encoded(Body::Virtual).unwrap();
        headers.extend(&zeros);
        prop_assert_eq!(Ok(headers), encoded(Body::Bytes(&zeros)));
    }

    #[test]
    fn arbitrary_bytes_never_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        v6 in any::<bool>(),
        layout in layouts()
    ) {
        for verify in [Verify::All, Verify::Lengths, Verify::Headers] {
            let _ = decode_packet(&bytes, layout, verify);
            let _ = decode(&bytes, if v6 { V6 } else { V4 }, layout, verify);
        }
    }

    #[test]
    fn plausible_headers_with_arbitrary_contents_never_panic(
        mut bytes in prop::collection::vec(any::<u8>(), 60..160),
        words in 5_u8..=15,
        v6 in any::<bool>()
    ) {
        let start = if v6 { 40 } else { 20 };
        bytes[0] = if v6 { 0x60 } else { 0x45 };
        bytes[if v6 { 6 } else { 9 }] = 6;
        bytes[6 + usize::from(v6)] &= 0x40;
        bytes[start + 12] = words << 4;
        for layout in [Layout::DOCUMENT, Layout::SHARED] {
            if let Ok(decoded) = decode_packet(&bytes, layout, Verify::Headers) {
                prop_assert!(bytes.get(decoded.tcp.payload).is_some());
            }
        }
    }
}

/// What may change in a header without anybody's noticing: RFC 8200 has no header checksum.
fn covered_by_no_checksum(ip: Ip) -> Ip {
    match ip.addresses {
        Addresses::V4 { .. } => ip,
        Addresses::V6 { .. } => Ip::new(ip.addresses),
    }
}

proptest! {
    #![proptest_config(config(128))]

    #[test]
    fn any_flipped_bit_is_noticed_where_a_checksum_covers_it(
        (segment, ports, ip, body) in packet(Layout::DOCUMENT)
    ) {
        let mut bytes = Vec::new();
        encode_packet(&segment, ports, &ip, Layout::DOCUMENT, Body::Bytes(&body), &mut bytes).unwrap();
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            if let Ok(got) = decode_packet(&bytes, Layout::DOCUMENT, Verify::All) {
                prop_assert!(matches!(ip.addresses, Addresses::V6 { .. }), "bit {} of an IPv4 packet", bit);
                prop_assert_ne!(got.ip, ip);
                prop_assert_eq!(covered_by_no_checksum(got.ip), covered_by_no_checksum(ip));
                prop_assert_eq!(got.tcp.segment, Segment { ecn: got.ip.ecn, ..segment });
                prop_assert_eq!(got.tcp.ports, ports);
            }
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }

    #[test]
    fn another_implementation_reads_the_same((segment, ports, ip, body) in packet(Layout::DOCUMENT)) {
        let mut bytes = Vec::new();
        encode_packet(&segment, ports, &ip, Layout::DOCUMENT, Body::Bytes(&body), &mut bytes).unwrap();
        let sliced = SlicedPacket::from_ip(&bytes).unwrap();
        let Some(TransportSlice::Tcp(tcp)) = &sliced.transport else { panic!("no TCP: {sliced:?}") };
        let (total, class) = match sliced.net.as_ref().unwrap() {
            NetSlice::Ipv4(v4) => {
                let header = v4.header();
                let (source, destination) = (header.source_addr(), header.destination_addr());
                let addresses = Addresses::V4 { source, destination };
                prop_assert_eq!(addresses, ip.addresses);
                prop_assert_eq!(header.header_checksum(), header.to_header().calc_header_checksum());
                prop_assert_eq!(header.ttl(), ip.hop_limit);
                prop_assert_eq!(header.identification(), ip.identification);
                prop_assert_eq!(header.dont_fragment(), ip.dont_fragment);
                let checksum = tcp.calc_checksum_ipv4(header.source(), header.destination()).unwrap();
                prop_assert_eq!(tcp.checksum(), checksum);
                (usize::from(header.total_len()), (header.dcp().value(), header.ecn().value()))
            }
            NetSlice::Ipv6(v6) => {
                let header = v6.header();
                let (source, destination) = (header.source_addr(), header.destination_addr());
                let addresses = Addresses::V6 { source, destination };
                prop_assert_eq!(addresses, ip.addresses);
                prop_assert_eq!(header.hop_limit(), ip.hop_limit);
                prop_assert_eq!(header.flow_label().value(), ip.flow_label);
                let checksum = tcp.calc_checksum_ipv6(header.source(), header.destination()).unwrap();
                prop_assert_eq!(tcp.checksum(), checksum);
                let class = header.traffic_class();
                (usize::from(header.payload_length()) + 40, (class >> 2, class & 3))
            }
            other => panic!("{other:?}"),
        };
        prop_assert_eq!((total, class), (bytes.len(), (ip.dscp, ip.ecn as u8)));
        prop_assert_eq!((tcp.source_port(), tcp.destination_port()), (ports.source, ports.destination));
        prop_assert_eq!((tcp.sequence_number(), tcp.acknowledgment_number()), (segment.seq.0, segment.ack.0));
        prop_assert_eq!((tcp.window_size(), tcp.urgent_pointer()), (segment.window, segment.urgent));
        prop_assert_eq!(u16::from(tcp.slice()[12] & 1) << 8 | u16::from(tcp.slice()[13]), segment.flags.0);
        prop_assert_eq!((tcp.header_len(), tcp.payload()), (usize::from(segment.header_len), &body[..]));
        prop_assert_eq!(their_options(tcp.options_iterator()), numbered(&segment.options));
    }
}

/// The options that have numbers, in the order of their kinds.
fn numbered(options: &Options) -> Vec<TcpOptionElement> {
    use TcpOptionElement::*;
    let blocks: Vec<_> = options.sack.as_slice().iter().map(|block| (block.left.0, block.right.0)).collect();
    let mut all = Vec::new();
    all.extend(options.mss.map(MaximumSegmentSize));
    all.extend(options.window_scale.map(WindowScale));
    all.extend(options.sack_permitted.then_some(SelectiveAcknowledgementPermitted));
    if let Some(first) = blocks.first() {
        let rest = [blocks.get(1), blocks.get(2), blocks.get(3)].map(Option::<&(u32, u32)>::copied);
        all.push(SelectiveAcknowledgement(*first, rest));
    }
    all.extend(options.timestamps.map(|Timestamps { value, echo }| Timestamp(value, echo)));
    all
}

/// The same from the other implementation, which stops at options that have no number: ours stand at the end.
fn their_options(options: etherparse::TcpOptionsIterator<'_>) -> Vec<TcpOptionElement> {
    use TcpOptionElement::*;
    let kind = |option: &TcpOptionElement| match option {
        Noop => 1,
        MaximumSegmentSize(_) => 2,
        WindowScale(_) => 3,
        SelectiveAcknowledgementPermitted => 4,
        SelectiveAcknowledgement(..) => 5,
        Timestamp(..) => 8,
    };
    let mut all: Vec<_> = options.map_while(Result::ok).filter(|option| *option != Noop).collect();
    all.sort_by_key(kind);
    all
}
