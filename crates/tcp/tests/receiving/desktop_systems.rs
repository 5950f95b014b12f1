//! What profiles of desktop systems announce when they open a connection, and how they acknowledge.

use crate::common::lone::{Lone, SYN, SYN_ACK, data, segment};
use netspurt_tcp::codec::{Addresses, Body, Ip, Ports, encode_packet};
use netspurt_tcp::config::{Config, EcnUse};
use netspurt_tcp::options::{Options, Timestamps};
use netspurt_tcp::profile;
use netspurt_tcp::reason::Reason;
use netspurt_tcp::segment::{Flags, Segment};
use netspurt_tcp::time::Span;
use std::net::Ipv4Addr;

const RICH: Options = Options {
    mss: Some(1460),
    window_scale: Some(7),
    sack_permitted: true,
    timestamps: Some(Timestamps { value: 1, echo: 0 }),
    ..Options::NONE
};

fn config(name: &str) -> Config {
    profile::by_name(name).expect("a profile").config.clone()
}

/// The SYN and the SYN-ACK of a profile.
fn openings(name: &str) -> [Segment; 2] {
    let mut client = Lone::closed(config(name));
    client.c.open(client.now);
    let syn = client.poll()[0].segment;
    let mut server = Lone::listening(config(name));
    [syn, server.gets(Segment { options: RICH, ..segment(SYN, 0, 0) })[0].segment]
}

/// The bytes of the options.
fn options_on_the_wire(segment: &Segment, config: &Config) -> Vec<u8> {
    let ip = Ip::new(Addresses::V4 { source: Ipv4Addr::LOCALHOST, destination: Ipv4Addr::LOCALHOST });
    let mut packet = Vec::new();
    let ports = Ports { source: 1, destination: 2 };
    encode_packet(segment, ports, &ip, config.layout, Body::Bytes(&[]), &mut packet).expect("a SYN");
    packet.split_off(40)
}

#[test]
fn windows_opens_without_timestamps_with_scale_8_and_44_segments() {
    for opening in openings("windows") {
        assert_eq!(opening.window, 64_240);
        assert_eq!(opening.options.timestamps, None, "not even if the peer offers them");
        let wire = options_on_the_wire(&opening, &config("windows"));
        assert_eq!(wire, [2, 4, 5, 180, 1, 3, 3, 8, 1, 1, 4, 2]);
        assert!(!opening.flags.has(Flags::ECE));
    }
}

#[test]
fn freebsd_pads_the_options_of_a_syn_behind_all_of_them() {
    let mut server = Lone::listening(config("freebsd"));
    let offer = Options { mss: Some(1460), sack_permitted: true, ..Options::NONE };
    let accept = server.gets(Segment { options: offer, ..segment(SYN, 0, 0) })[0].segment;
    assert_eq!(options_on_the_wire(&accept, &config("freebsd")), [2, 4, 5, 180, 4, 2, 0, 0]);
}

#[test]
fn the_receive_buffer_of_freebsd_has_whole_segments_even_if_no_window_can_announce_them() {
    let mut server = Lone::listening(config("freebsd"));
    let offer = Options { mss: Some(1460), sack_permitted: true, ..Options::NONE };
    server.gets(Segment { options: offer, ..segment(SYN, 0, 0) });
    server.gets(segment(Flags::ACK, 1, 1));
    assert_eq!(server.c.receive_buffer(), 65_700, "45 segments: tcp_mss()");
    let answers = server.gets(data(1, 1, 100));
    assert!(answers.iter().all(|out| out.segment.window == 65_535), "100 unread bytes leave a full window");
}

#[test]
fn macos_opens_with_timestamps_scale_6_and_ecn() {
    let [syn, accept] = openings("macos");
    for opening in [syn, accept] {
        let options = opening.options;
        assert_eq!((opening.window, options.mss, options.window_scale), (65_535, Some(1460), Some(6)));
        assert!(options.sack_permitted && options.timestamps.is_some());
    }
    assert_eq!(config("macos").ecn, EcnUse::Rfc3168);
    assert!(syn.flags.has(Flags::ECE) && syn.flags.has(Flags::CWR), "it requests ECN");
    assert!(!accept.flags.has(Flags::ECE), "this peer has not");
    let mut client = Lone::closed(config("macos"));
    client.c.open(client.now);
    client.poll();
    let first = client.gets(Segment { options: RICH, ..segment(SYN_ACK, 0, 1) })[0].segment;
    assert_eq!(u32::from(first.window) << 6, 131_712, "91 segments of 1448 bytes, in units of 64");
}

#[test]
fn both_acknowledge_every_second_segment_or_after_their_own_delay() {
    for (name, ms) in [("windows", 40), ("macos", 100)] {
        let peer = Options { timestamps: None, ..RICH };
        let mut lone = Lone::established(config(name), peer, 5000);
        assert_eq!(lone.gets(data(1, 1, 1460)), [], "{name}");
        assert_eq!(lone.gets(data(1461, 1, 1460)).len(), 1, "{name}");
        let since = lone.now;
        assert_eq!(lone.gets(data(2921, 1, 1460)), [], "{name}");
        let late = lone.passes(Span::from_secs(1));
        assert_eq!((late[0].at, late[0].reason), (since + Span::from_ms(ms), Reason::DelayedAck), "{name}");
    }
}

#[test]
fn an_unanswered_syn_is_repeated_as_often_as_the_system_does() {
    // Four retries that back off; tcp_syn_backoff of BSD systems, until TCPTV_KEEP_INIT = 75 s are over.
    for (name, seconds) in [("windows", &[1, 3, 7, 15][..]), ("macos", &[1, 2, 3, 4, 5, 7, 11, 19, 35, 67])] {
        let mut client = Lone::closed(config(name));
        client.c.open(client.now);
        client.poll();
        let start = client.now;
        let again: Vec<_> = client.passes(Span::from_secs(10 * 60)).iter().map(|out| out.at).collect();
        let expected: Vec<_> = seconds.iter().map(|&s| start + Span::from_secs(s)).collect();
        assert_eq!(again, expected, "{name}");
    }
}
