//! Arbitrary segments that can be written, for property tests.

use core::net::{Ipv4Addr, Ipv6Addr};
use netspurt_tcp::codec::{Addresses, Ecn, Ip, Ports};
use netspurt_tcp::ecn::{AccurateEcn, ByteCounters, Order};
use netspurt_tcp::fast_open::{Cookie, FastOpen, Form};
use netspurt_tcp::options::{BigWindow, Layout, Nak, Options, SackBlock, SackBlocks, Timestamps};
use netspurt_tcp::segment::{Flags, Payload, Segment};
use netspurt_tcp::seq::Seq;
use proptest::option;
use proptest::prelude::*;

pub(crate) const V4: Addresses =
    Addresses::V4 { source: Ipv4Addr::new(192, 0, 2, 1), destination: Ipv4Addr::new(198, 51, 100, 7) };
pub(crate) const V6: Addresses = Addresses::V6 {
    source: Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1),
    destination: Ipv6Addr::new(0x2001, 0xdb8, 1, 2, 3, 4, 5, 6),
};

pub(crate) fn layouts() -> impl Strategy<Value = Layout> {
    prop_oneof![Just(Layout::DOCUMENT), Just(Layout::SHARED)]
}

fn sack() -> impl Strategy<Value = SackBlocks> {
    prop::collection::vec(any::<(u32, u32)>(), 0..=4).prop_map(|pairs| {
        let mut blocks = SackBlocks::EMPTY;
        for (left, right) in pairs {
            blocks.push(SackBlock { left: Seq(left), right: Seq(right) });
        }
        blocks
    })
}

fn big_window() -> impl Strategy<Value = BigWindow> {
    prop_oneof![any::<u32>().prop_map(BigWindow::Offer), any::<u16>().prop_map(BigWindow::Upper)]
}

/// A Fast Open option with any cookie that there can be.
fn fast_open() -> impl Strategy<Value = FastOpen> {
    let cookie = prop::collection::vec(any::<u8>(), 4..=16).prop_map(|octets| {
        let even = octets.len() & !1;
        Cookie::new(&octets[..even]).expect("an even number of octets between four and sixteen")
    });
    (prop_oneof![Just(Form::Numbered), Just(Form::Experimental)], option::of(cookie))
        .prop_map(|(form, cookie)| FastOpen { form, cookie })
}

/// Counters of accurate ECN, of which as many stand in the option as there may.
fn accurate_ecn() -> impl Strategy<Value = AccurateEcn> {
    let order = prop_oneof![Just(Order::Ect0First), Just(Order::Ect1First)];
    (order, any::<(u32, u32, u32)>(), 0_u8..=3).prop_map(|(order, (ect0, ce, ect1), len)| {
        AccurateEcn::new(order, ByteCounters { ect0, ce, ect1 }, len)
    })
}

/// Options that fit; a NAK offer only where the layout has one.
fn options(layout: Layout) -> impl Strategy<Value = Options> {
    let numbered = (
        option::of(any::<u16>()),
        option::of(any::<u8>()),
        any::<bool>(),
        option::of(any::<(u32, u32)>()),
        prop_oneof![Just(SackBlocks::EMPTY), sack()],
        option::of(fast_open()),
        option::of(accurate_ecn()),
    );
    let own =
        (option::of(any::<u8>()), any::<bool>(), option::of(big_window()), option::of(any::<(u32, u8)>()));
    (numbered, own)
        .prop_map(move |((mss, window_scale, sack_permitted, timestamps, sack, fast_open, counters), own)| {
            let (segment_scale, nak_permitted, big_window, nak) = own;
            let options = Options {
                mss,
                window_scale,
                segment_scale,
                sack_permitted,
                nak_permitted: nak_permitted && matches!(layout, Layout::Shared { .. }),
                timestamps: timestamps.map(|(value, echo)| Timestamps { value, echo }),
                sack,
                fast_open: None,
                big_window,
                nak: nak.map(|(first, count)| Nak { first: Seq(first), count }),
            };
            match (fast_open, counters) {
                (Some(fast_open), _) => options.with_fast_open(fast_open),
                (None, Some(counters)) => options.with_accurate_ecn(counters),
                (None, None) => options,
            }
        })
        .prop_filter("more than 40 octets", move |options| options.wire_len(layout) <= 40)
}

fn ip() -> impl Strategy<Value = Ip> {
    let ecn = prop_oneof![Just(Ecn::NotEct), Just(Ecn::Ect1), Just(Ecn::Ect0), Just(Ecn::Ce)];
    let v4 = any::<([u8; 4], [u8; 4])>().prop_map(|(source, destination)| Addresses::V4 {
        source: source.into(),
        destination: destination.into(),
    });
    let v6 = any::<([u8; 16], [u8; 16])>().prop_map(|(source, destination)| Addresses::V6 {
        source: source.into(),
        destination: destination.into(),
    });
    (prop_oneof![v4, v6], 0_u8..64, ecn, any::<u8>(), any::<u16>(), any::<bool>(), 0_u32..1 << 20).prop_map(
        |(addresses, dscp, ecn, hop_limit, identification, dont_fragment, flow_label)| match addresses {
            Addresses::V4 { .. } => {
                Ip { addresses, dscp, ecn, hop_limit, identification, dont_fragment, flow_label: 0 }
            }
            Addresses::V6 { .. } => Ip { dscp, ecn, hop_limit, flow_label, ..Ip::new(addresses) },
        },
    )
}

/// A segment, its ports, its IP header and its payload.
pub(crate) fn packet(layout: Layout) -> impl Strategy<Value = (Segment, Ports, Ip, Vec<u8>)> {
    let numbers = any::<(u32, u32, u16, u16, u16)>();
    let ports = any::<(u16, u16)>().prop_map(|(source, destination)| Ports { source, destination });
    let body = prop_oneof![Just(Vec::new()), prop::collection::vec(any::<u8>(), 0..100)];
    (numbers, options(layout), ports, ip(), body).prop_map(move |(numbers, options, ports, ip, body)| {
        let (seq, ack, flags, window, urgent) = numbers;
        let segment = Segment {
            ecn: ip.ecn,
            seq: Seq(seq),
            ack: Seq(ack),
            flags: Flags(flags & Flags::ALL.0),
            header_len: 20 + options.wire_len(layout),
            window,
            urgent,
            payload: Payload { offset: 0, len: body.len() as u32 },
            options,
        };
        (segment, ports, ip, body)
    })
}
