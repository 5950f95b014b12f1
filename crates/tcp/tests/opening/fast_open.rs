//! Fast Open (RFC 7413) at explicit virtual times: what it saves, what refuses it, and what it must never break.

use crate::common::{End, Pair, ms};
use netspurt_tcp::Connection;
use netspurt_tcp::config::Config;
use netspurt_tcp::fast_open::{Client, Cookie, CookiePolicy, FastOpen, Form, Key, Server, SynData};
use netspurt_tcp::profile;
use netspurt_tcp::reason::Reason;
use netspurt_tcp::segment::{Flags, Payload, Segment};
use netspurt_tcp::seq::Seq;
use netspurt_tcp::state::{CloseReason, State};
use netspurt_tcp::time::Span;
use std::sync::Arc;

const DELAY: Span = Span::from_ms(50);
const KEY: Key = Key(*b"a key of sixteen");

fn cookie() -> Cookie {
    KEY.cookie([192, 0, 2, 1].into(), [192, 0, 2, 2].into())
}

fn config() -> Config {
    profile::by_name("linux").expect("a built-in profile").config.clone()
}

fn shows(cookie: Option<Cookie>) -> Client {
    Client { option: Some(FastOpen { form: Form::Numbered, cookie }), mss: 1460 }
}

/// A client that opens with what it knows and so many bytes, and a server that demands this.
fn open<'a>(client: Client, bytes: u64, policy: CookiePolicy) -> Pair<'a> {
    let mut pair = Pair::new(config(), config(), DELAY);
    let server = Server { policy, cookie: cookie(), previous: None };
    pair.server = Connection::listen(Arc::new(config()), Seq(77)).listening_fast(server);
    pair.client.open_fast(pair.now, client);
    if bytes > 0 {
        assert_eq!(pair.client.write(pair.now, bytes), Ok(bytes));
    }
    pair.settle();
    pair
}

#[test]
fn a_request_with_the_right_cookie_is_answered_within_one_round_trip() {
    let mut pair = open(shows(Some(cookie())), 500, CookiePolicy::Required);
    pair.run_until(ms(50));
    assert_eq!(pair.server.state(), State::SynReceived);
    assert!(pair.server.is_open_early());
    assert_eq!(pair.server_read, 500, "the application has it with the SYN");
    pair.write(End::Server, 3000);
    pair.run_until(ms(100));
    assert_eq!(pair.client_read, 3000, "and its answer comes a round trip after the client began");
    assert_eq!(pair.client.fast_open().unwrap().data, SynData::Accepted);
    assert_eq!(pair.server.fast_open().unwrap().data, SynData::Accepted);
    pair.run_until(ms(150));
    assert_eq!(pair.server.state(), State::Established);
    let syn = pair.sent[0].segment;
    assert_eq!((syn.payload.len, syn.options.fast_open().unwrap().cookie), (500, Some(cookie())));
    assert_eq!(pair.sent[1].segment.options.fast_open(), None, "who has the right cookie needs no other");
}

#[test]
fn a_client_that_requests_a_cookie_gets_it_and_sends_its_data_when_the_connection_is_open() {
    let mut pair = open(shows(None), 500, CookiePolicy::Required);
    assert_eq!(pair.sent[0].segment.payload.len, 0);
    pair.run_until(ms(150));
    assert_eq!(pair.server_read, 500);
    let outcome = pair.client.fast_open().unwrap();
    assert_eq!((outcome.data, outcome.peer_option.unwrap().cookie), (SynData::None, Some(cookie())));
    assert_eq!(outcome.mss, 1460);
}

#[test]
fn a_client_takes_the_data_of_a_syn_ack_that_acknowledges_all_of_its_own() {
    // tcp_rcv_fastopen_synack() calls tcp_fastopen_add_skb() only if nothing of the SYN's data must be sent again.
    for (acknowledged, readable) in [(501, 300), (1, 0)] {
        let mut pair = open(shows(Some(cookie())), 500, CookiePolicy::Required);
        let syn = pair.sent[0].segment;
        pair.client.handle_segment(
            ms(100),
            &Segment {
                seq: Seq(77),
                ack: syn.seq.plus(acknowledged),
                flags: Flags::SYN | Flags::ACK,
                window: 60_000,
                payload: Payload { offset: 0, len: 300 },
                ..Segment::default()
            },
        );
        assert_eq!(pair.client.readable(), readable, "{acknowledged}");
    }
}

#[test]
fn data_with_a_wrong_cookie_is_retransmitted_by_the_client_at_once() {
    let wrong = Cookie::new(b"wrong!").unwrap();
    let mut pair = open(shows(Some(wrong)), 500, CookiePolicy::Required);
    pair.run_until(ms(50));
    assert!(!pair.server.is_open_early());
    assert_eq!(pair.server.readable(), 0);
    pair.run_until(ms(150));
    assert_eq!(pair.server_read, 500);
    let outcome = pair.client.fast_open().unwrap();
    assert_eq!((outcome.data, outcome.peer_option.unwrap().cookie), (SynData::Rejected, Some(cookie())));
    let again: Vec<_> = pair.sent.iter().filter(|sent| sent.reason == Reason::SynDataAgain).collect();
    assert_eq!(again.len(), 1);
    assert_eq!((again[0].at, again[0].segment.payload.len), (ms(100), 500));
    assert!(pair.server.stats().duplicates_received == 0, "nothing came twice");
}

#[test]
fn a_cookie_of_the_previous_key_is_accepted_and_replaced() {
    let old = Key([7; 16]).cookie([192, 0, 2, 1].into(), [192, 0, 2, 2].into());
    let mut pair = Pair::new(config(), config(), DELAY);
    let server = Server { policy: CookiePolicy::Required, cookie: cookie(), previous: Some(old) };
    pair.server = Connection::listen(Arc::new(config()), Seq(77)).listening_fast(server);
    pair.client.open_fast(pair.now, shows(Some(old)));
    pair.client.write(pair.now, 100).unwrap();
    pair.settle();
    pair.run_until(ms(100));
    assert_eq!(pair.server_read, 100);
    assert_eq!(pair.client.fast_open().unwrap().peer_option.unwrap().cookie, Some(cookie()));
}

#[test]
fn a_server_without_fast_open_neither_takes_the_data_nor_answers_the_option() {
    let mut pair = open(shows(Some(cookie())), 500, CookiePolicy::Disabled);
    pair.run_until(ms(50));
    assert_eq!(pair.sent[1].segment.options.fast_open(), None);
    assert_eq!(pair.sent[1].segment.ack, pair.sent[0].segment.seq.plus(1));
    pair.run_until(ms(150));
    assert_eq!(pair.server_read, 500);
    assert_eq!(pair.client.fast_open().unwrap().data, SynData::Rejected);
}

#[test]
fn a_server_that_demands_nothing_takes_data_without_an_option() {
    let mut pair = open(Client { option: None, mss: 1460 }, 500, CookiePolicy::NotRequired);
    pair.run_until(ms(50));
    assert_eq!(pair.server_read, 500);
}

#[test]
fn a_syn_carries_what_one_segment_takes_and_the_rest_follows() {
    let mut pair = open(shows(Some(cookie())), 5000, CookiePolicy::Required);
    assert_eq!(pair.sent[0].segment.payload.len, 1420, "the MSS less all that options may take");
    pair.run_until(ms(150));
    assert_eq!(pair.server_read, 5000);
    let small = open(Client { mss: 536, ..shows(Some(cookie())) }, 5000, CookiePolicy::Required);
    assert_eq!(small.sent[0].segment.payload.len, 496, "of a server that announced less");
}

#[test]
fn data_of_a_syn_that_was_not_accepted_keeps_its_packet() {
    // tcp_rcv_fastopen_synack() sends that packet again, and the rest behind it.
    let wrong = Cookie::new(b"wrong!").unwrap();
    let mut pair = open(shows(Some(wrong)), 6000, CookiePolicy::Required);
    pair.run_until(ms(150));
    let sent = pair.sent.iter().filter(|sent| sent.segment.payload.len > 0 && sent.at == ms(100));
    let lengths: Vec<_> = sent.map(|sent| sent.segment.payload.len).collect();
    assert_eq!(lengths, [1420, 1448, 1448, 1448, 236]);
    assert_eq!(pair.server_read, 6000);
}

#[test]
fn a_syn_takes_nothing_of_the_windows_of_a_server_that_answers_before_it_is_acknowledged() {
    // tcp_create_openreq_child(), tcp_fastopen_create_child().
    let small = Config { receive_window: 14_480, initial_receive_window: None, ..config() };
    for client in [config(), small] {
        let mut pair = Pair::new(client, config(), DELAY);
        let server = Server { policy: CookiePolicy::Required, cookie: cookie(), previous: None };
        pair.server = Connection::listen(Arc::new(config()), Seq(77)).listening_fast(server);
        pair.client.open_fast(pair.now, shows(Some(cookie())));
        pair.client.write(pair.now, 500).unwrap();
        pair.settle();
        pair.run_until(ms(50));
        pair.write(End::Server, 20_000);
        let sent = pair.sent.iter().filter(|sent| sent.from == End::Server && sent.segment.payload.len > 0);
        assert_eq!(sent.count(), 10);
    }
}

#[test]
fn a_retransmitted_syn_carries_neither_data_nor_option() {
    // RFC 7413, section 4.1.3.1: whoever dropped it may do so because of them.
    let mut first = true;
    let mut pair = Pair::new(config(), config(), DELAY)
        .path(move |_| if core::mem::replace(&mut first, false) { vec![] } else { vec![Span::ZERO] });
    let server = Server { policy: CookiePolicy::Required, cookie: cookie(), previous: None };
    pair.server = Connection::listen(Arc::new(config()), Seq(77)).listening_fast(server);
    pair.client.open_fast(pair.now, shows(Some(cookie())));
    pair.client.write(pair.now, 500).unwrap();
    pair.settle();
    pair.run_until(ms(1000));
    let again = pair.sent[1];
    assert_eq!((again.at, again.segment.flags, again.segment.payload.len), (ms(1000), Flags::SYN, 0));
    assert_eq!(again.segment.options.fast_open(), None);
    pair.run_until(ms(1150));
    assert_eq!(pair.server_read, 500);
    assert_eq!(pair.client.fast_open().unwrap().data, SynData::Rejected);
}

#[test]
fn a_syn_too_large_for_the_path_is_retransmitted_at_once_without_data() {
    let mut pair = open(shows(Some(cookie())), 1000, CookiePolicy::Required);
    pair.client.set_path_mtu(800);
    pair.settle();
    let again = pair.sent[1].segment;
    assert_eq!((again.flags, again.payload.len, again.options.mss), (Flags::SYN, 0, Some(760)));
}

#[test]
fn a_reset_before_the_handshake_is_over_ends_what_the_application_has_already() {
    let mut pair = open(shows(Some(cookie())), 500, CookiePolicy::Required);
    pair.run_until(ms(50));
    pair.client.abort(pair.now);
    let mut reset = pair.sent[0].segment;
    (reset.seq, reset.flags) = (reset.seq.plus(501), Flags::RST);
    reset.payload.len = 0;
    pair.server.handle_segment(pair.now, &reset);
    assert_eq!(pair.server.closed(), Some(CloseReason::Reset));
}

#[test]
fn cookies_are_four_to_sixteen_octets_an_even_number_and_differ_by_address_and_key() {
    for len in 0..20_usize {
        let fits = (4..=16).contains(&len) && len % 2 == 0;
        assert_eq!(Cookie::new(&vec![1; len]).is_some(), fits, "{len} octets");
    }
    let others = [
        KEY.cookie([192, 0, 2, 3].into(), [192, 0, 2, 2].into()),
        KEY.cookie([192, 0, 2, 1].into(), [192, 0, 2, 9].into()),
        Key([1; 16]).cookie([192, 0, 2, 1].into(), [192, 0, 2, 2].into()),
    ];
    assert!(others.iter().all(|other| *other != cookie()));
    assert_eq!(cookie().as_slice().len(), 8);
}

#[test]
fn both_streams_arrive_complete_over_any_path() {
    for seed in 0..300_u64 {
        let mut dice = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let path = move |_: &crate::common::Sent| {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            match dice >> 60 {
                0..=2 => vec![],
                3 => vec![Span::ZERO, Span::from_ms(dice >> 50 & 127)],
                4 => vec![Span::from_ms(dice >> 50 & 255)],
                _ => vec![Span::ZERO],
            }
        };
        let shown = [Some(cookie()), None, Cookie::new(b"abcd")][seed as usize % 3];
        let policy = [CookiePolicy::Required, CookiePolicy::NotRequired, CookiePolicy::Disabled]
            [seed as usize / 3 % 3];
        let mut pair = Pair::new(config(), config(), DELAY).path(path);
        let server = Server { policy, cookie: cookie(), previous: None };
        pair.server = Connection::listen(Arc::new(config()), Seq(77)).listening_fast(server);
        pair.client.open_fast(pair.now, shows(shown));
        pair.client.write(pair.now, 20_000).unwrap();
        pair.settle();
        let mut answered = false;
        for _ in 0..2000 {
            pair.run_for(Span::from_ms(100));
            let heard = pair.server.is_open_early() || pair.server.state().is_synchronized();
            if !answered && heard && pair.server_read > 0 {
                pair.write(End::Server, 10_000);
                answered = true;
            }
            if (pair.server_read, pair.client_read) == (20_000, 10_000) {
                break;
            }
        }
        assert_eq!((pair.server_read, pair.client_read), (20_000, 10_000), "seed {seed}");
    }
}
