//! Arriving segments where FreeBSD differs from the standard.

use crate::common::lone::{ACK, FIN_ACK, FULL, Lone, Out, RST, SYN, SYN_ACK, ack, data, plain, segment};
use netspurt_tcp::acking::Acking;
use netspurt_tcp::config::{Config, StateMachine};
use netspurt_tcp::profile;
use netspurt_tcp::reason::Reason;
use netspurt_tcp::reset_in_listen_for;
use netspurt_tcp::segment::{Flags, Payload, Segment};
use netspurt_tcp::state::{CloseReason, State};
use netspurt_tcp::time::Span;

fn freebsd() -> Config {
    Config { state_machine: StateMachine::Freebsd, ..plain() }
}

fn brief(out: &[Out]) -> Vec<(Flags, i32, i32)> {
    out.iter().map(|o| (o.flags, o.seq, o.ack)).collect()
}

#[test]
fn each_ack_repeats_a_fin_that_is_not_acknowledged() {
    for (config, expected) in [(freebsd(), (FIN_ACK, 3001, 502)), (plain(), (ACK, 3002, 502))] {
        let mut lone = Lone::reached(config, State::FinWait1);
        let out = lone.gets(segment(FIN_ACK, 501, 1001));
        assert_eq!((lone.c.state(), brief(&out)), (State::Closing, vec![expected]));
        assert_eq!(lone.c.stats().retransmitted, 0, "the FIN is no retransmission");
        lone.gets(ack(502, 3002, 5000));
        let again = lone.gets(segment(FIN_ACK, 501, 3002));
        assert_eq!((lone.c.state(), brief(&again)), (State::TimeWait, vec![(ACK, 3002, 502)]));
    }
}

#[test]
fn a_challenge_ack_and_the_report_of_a_gap_do_not_repeat_the_fin() {
    let mut lone = Lone::reached(freebsd(), State::FinWait1);
    let gap = Segment { payload: Payload { offset: 600, len: 10 }, ..segment(ACK, 601, 1001) };
    assert_eq!(brief(&lone.gets(gap)), [(ACK, 3002, 501)]);
    let mut lone = Lone::reached(freebsd(), State::Closing);
    let out = lone.gets(segment(RST, 600, 0));
    assert_eq!(brief(&out), [(ACK, 3002, 502)]);
    assert_eq!(out[0].reason, Reason::ChallengeAck);
}

#[test]
fn a_reset_after_both_have_closed_is_an_error() {
    for state in [State::Closing, State::LastAck] {
        for (config, why) in [(freebsd(), CloseReason::Reset), (plain(), CloseReason::Finished)] {
            let mut lone = Lone::reached(config, state);
            // All data is acknowledged, but not the FIN.
            lone.gets(ack(502, 3001, 5000));
            lone.gets(segment(RST, 502, 0));
            assert_eq!(lone.c.closed(), Some(why), "{state:?}");
        }
    }
}

#[test]
fn the_ack_of_an_old_segment_counts() {
    for (config, state) in [(freebsd(), State::TimeWait), (plain(), State::Closing)] {
        let mut lone = Lone::reached(config, State::Closing);
        lone.gets(segment(FIN_ACK, 501, 3002));
        assert_eq!(lone.c.state(), state);
    }
}

#[test]
fn the_window_is_the_free_buffer_even_if_the_field_cannot_hold_it() {
    // The field holds 65,535 bytes of the 65,700: the first part of 45 segments of 1460 bytes.
    let freebsd = profile::by_name("freebsd").expect("a profile").config.clone();
    for (rules, seq, challenged) in [
        (StateMachine::Freebsd, 65_700, true),
        (StateMachine::Freebsd, 65_701, false),
        (StateMachine::Rfc9293, 65_536, false),
    ] {
        let config = Config { state_machine: rules, ..freebsd.clone() };
        let mut lone =
            Lone::established(config, netspurt_tcp::options::Options { mss: Some(1460), ..FULL }, 5000);
        let out = lone.gets(segment(RST, seq, 0));
        assert_eq!(brief(&out), if challenged { vec![(ACK, 1, 1)] } else { vec![] }, "RST at {seq}");
        assert_eq!(lone.c.state(), State::Established);
        lone.gets(data(seq, 1, 10));
        assert_eq!(lone.c.info().out_of_order, u64::from(challenged), "one byte fits");
    }
}

#[test]
fn a_listener_drops_a_syn_ack() {
    let syn_ack = segment(SYN_ACK, 0, 34);
    assert_eq!(reset_in_listen_for(&syn_ack, StateMachine::Freebsd), None);
    assert!(reset_in_listen_for(&syn_ack, StateMachine::Rfc9293).is_some());
    assert!(reset_in_listen_for(&segment(ACK, 0, 34), StateMachine::Freebsd).is_some());
    assert_eq!(Lone::listening(freebsd()).gets(syn_ack), []);
    assert_eq!(Lone::listening(plain()).gets(syn_ack).len(), 1);
}

#[test]
fn the_ack_of_a_syns_data_waits_like_any_other() {
    // Simultaneous open: the data is delivered when the peer acknowledges our SYN.
    for (acking, at_once) in
        [(Acking::Delayed { every: 2, delay: Span::from_ms(40) }, 0), (Acking::EverySegment, 1)]
    {
        let mut lone = Lone::closed(Config { acking, ..plain() });
        lone.c.open(lone.now);
        lone.poll();
        let syn = Segment { payload: Payload { offset: 0, len: 3 }, options: FULL, ..segment(SYN, 0, 0) };
        assert_eq!(brief(&lone.gets(syn)), [(SYN_ACK, 0, 1)]);
        let out = lone.gets(ack(4, 1, 5000));
        assert_eq!((out.len(), lone.c.readable()), (at_once, 3), "{acking:?}");
        lone.passes(Span::from_ms(40));
        assert_eq!(lone.c.info().unacknowledged, 0);
    }
}

#[test]
fn time_wait_of_freebsd_ignores_resets() {
    // tcp_twcheck().
    assert!(profile::by_name("freebsd").expect("a profile").config.rfc1337);
}
