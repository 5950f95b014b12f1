//! Blind attacks, and how RFC 5961 blunts them.

use crate::common::lone::{ACK, FIN_ACK, FULL, Lone, Out, RST, SYN, ack, data, plain, segment};
use crate::common::{End, Pair, ms};
use netspurt_tcp::config::Config;
use netspurt_tcp::options::{Options, Timestamps};
use netspurt_tcp::profile;
use netspurt_tcp::reason::Reason;
use netspurt_tcp::reset_for;
use netspurt_tcp::segment::{Payload, Segment};
use netspurt_tcp::state::{CloseReason, State};
use netspurt_tcp::time::Span;

fn established() -> Lone {
    Lone::reached(Config { challenge_acks_per_second: 1000, ..plain() }, State::Established)
}

fn is_challenge(out: &[Out]) -> bool {
    matches!(out, [o] if (o.flags, o.seq, o.ack, o.reason) == (ACK, 3001, 501, Reason::ChallengeAck))
}

#[test]
fn a_reset_counts_only_at_the_very_number_expected() {
    // Section 3.2. The window reaches from 501 to 10,000.
    for (seq, challenged) in
        [(500, false), (502, true), (5000, true), (10_000, true), (10_001, false), (-40_000, false)]
    {
        let mut lone = established();
        let out = lone.gets(segment(RST, seq, 0));
        assert_eq!(is_challenge(&out), challenged, "RST at {seq}: {out:?}");
        assert!(challenged || out.is_empty(), "RST at {seq}: {out:?}");
        assert_eq!(lone.c.state(), State::Established, "RST at {seq}");
    }
    let mut lone = established();
    assert_eq!(lone.gets(segment(RST, 501, 0)), []);
    assert_eq!(lone.c.closed(), Some(CloseReason::Reset));
}

#[test]
fn with_insecure_rst_a_reset_counts_anywhere_in_the_window() {
    // RFC 793, section 3.4. The window reaches from 501 to 10,000.
    for (seq, counts) in [(500, false), (501, true), (502, true), (10_000, true), (10_001, false)] {
        let mut lone = Lone::reached(Config { insecure_rst: true, ..plain() }, State::Established);
        assert_eq!(lone.gets(segment(RST, seq, 0)), []);
        assert_eq!(lone.c.closed() == Some(CloseReason::Reset), counts, "RST at {seq}");
    }
}

#[test]
fn a_syn_with_any_sequence_number_gets_a_challenge_ack() {
    // Section 4.2.
    for seq in [501, 502, 0, 10_000, 10_001, 1_000_000, -1_000_000] {
        for syn in [segment(SYN, seq, 0), segment(SYN | ACK, seq, 3001), segment(SYN | ACK, seq, 9999)] {
            let mut lone = established();
            let out = lone.gets(syn);
            assert!(is_challenge(&out), "SYN at {seq}: {out:?}");
            assert_eq!(lone.c.state(), State::Established);
        }
    }
}

#[test]
fn data_needs_an_acknowledgment_from_the_last_window() {
    // Section 5.2: SND.UNA = 1001, SND.NXT = 3001, MAX.SND.WND = 5000.
    for (acked, good) in
        [(-4000, false), (-3999, true), (1000, true), (3001, true), (3002, false), (1_000_000, false)]
    {
        let mut lone = established();
        let out = lone.gets(data(501, acked, 10));
        assert_eq!(lone.c.readable() == 10, good, "data with ACK {acked}");
        assert_eq!(is_challenge(&out), !good, "data with ACK {acked}: {out:?}");
    }
}

#[test]
fn the_largest_window_ever_offered_bounds_old_acknowledgments() {
    let mut lone = established();
    lone.gets(ack(501, 1001, 60_000));
    lone.gets(ack(501, 1001, 100));
    lone.gets(data(501, 1001 - 60_000, 10));
    assert_eq!(lone.c.readable(), 10);
    lone.gets(data(511, 1001 - 60_001, 10));
    assert_eq!(lone.c.readable(), 10);
}

#[test]
fn challenges_are_limited_in_every_second() {
    // Section 7; all three kinds share the limit.
    let mut lone = Lone::reached(Config { challenge_acks_per_second: 3, ..plain() }, State::Established);
    let attacks = [segment(RST, 600, 0), segment(SYN, 600, 0), data(501, 9999, 10)];
    let mut answers = |at| {
        lone.until(ms(at));
        (0..9).map(|n| lone.gets(attacks[n % 3]).len()).sum::<usize>()
    };
    assert_eq!(answers(10), 3);
    assert_eq!(answers(500), 0);
    assert_eq!(answers(1009), 0);
    assert_eq!(answers(1010), 3);
    assert_eq!(answers(5000), 3);
    assert_eq!(lone.c.stats().challenge_acks, 9);
    assert_eq!(lone.gets(data(501, 1001, 10)).len(), 1, "and what is in order is acknowledged all the same");
}

/// The configuration of a plain TCP that answers an invalid segment every 500 ms, as Linux does.
fn limited() -> Config {
    Config { invalid_ratelimit: Span::from_ms(500), challenge_acks_per_second: u32::MAX, ..plain() }
}

#[test]
fn invalid_segments_are_answered_once_in_an_interval() {
    // Linux, tcp_oow_rate_limited(): all kinds share one time.
    let attacks = [
        segment(ACK, 20_000, 3001),
        segment(ACK, 400, 3001),
        segment(SYN, 600, 0),
        segment(RST, 600, 0),
        data(501, 9999, 10),
        segment(ACK, 501, -9000),
    ];
    for attack in attacks {
        let mut lone = Lone::reached(limited(), State::Established);
        let mut answered = Vec::new();
        for at in 1..=1200 {
            lone.until(ms(at));
            for segment in core::iter::once(attack).chain(attacks) {
                if !lone.gets(segment).is_empty() {
                    answered.push(at);
                }
            }
        }
        assert_eq!(answered, [1, 501, 1001], "{attack:?}");
        assert_eq!(lone.gets(data(501, 1001, 10)).len(), 1, "valid data is acknowledged all the same");
        assert_eq!(lone.gets(data(501, 1001, 10)).len(), 1, "and so is data that arrives again");
        assert_eq!(lone.gets(segment(FIN_ACK, 400, 1001)).len(), 1, "and an old FIN");
    }
}

#[test]
fn segments_with_old_timestamps_are_answered_once_in_an_interval() {
    let stamps = |value| Options { timestamps: Some(Timestamps { value, echo: 0 }), ..Options::NONE };
    let options = Options { mss: Some(1000), ..stamps(1_000_000) };
    let mut lone = Lone::established(Config { timestamps: true, ..limited() }, options, 5000);
    let old = Segment { options: stamps(5), ..segment(ACK, 1, 1) };
    let answers = (1..=1000).filter(|at| {
        lone.until(ms(*at));
        !lone.gets(old).is_empty()
    });
    assert_eq!(answers.collect::<Vec<_>>(), [1, 501]);
}

#[test]
fn a_repeated_syn_is_answered_once_in_an_interval() {
    let mut lone = Lone::reached(limited(), State::SynReceived);
    let answers = (1..=900).filter(|at| {
        lone.until(ms(*at));
        !lone.gets(segment(SYN, 0, 0)).is_empty()
    });
    assert_eq!(answers.collect::<Vec<_>>(), [1, 501]);
}

#[test]
fn two_ends_that_disagree_do_not_answer_each_other_without_end() {
    let linux = profile::by_name("linux").expect("a profile").config.clone();
    let mut pair = Pair::new(linux.clone(), linux, Span::from_ms(1)).open();
    // Somebody gives each end data that the other has never sent.
    let forged = [End::Client, End::Server].map(|from| {
        let last = pair.sent_by(from).last().expect("its part of the handshake").segment;
        let seq = last.seq.plus(u32::from(last.flags.has(SYN)));
        Segment { seq, flags: ACK, payload: Payload { offset: 0, len: 100 }, ..last }
    });
    pair.inject(End::Server, &forged[0]);
    pair.inject(End::Client, &forged[1]);
    let before = pair.sent.len();
    pair.run_for(Span::from_secs(10));
    // Two ends, two answers a second and the first ones.
    assert!(pair.sent.len() - before <= 2 * 21, "{} segments", pair.sent.len() - before);
}

#[test]
fn a_peer_that_restarted_makes_its_way_through_the_challenge() {
    // RFC 9293, section 3.5.1, figure 10: its SYN is challenged, its reset answers the challenge, its next SYN finds us
    // closed.
    let mut lone = established();
    let challenge = lone.gets(segment(SYN, 400_000, 0))[0].segment;
    // To the peer in SYN-SENT this ACK is of something it never sent (3.10.7.3, first), and it answers as CLOSED does.
    let reset = reset_for(&challenge).expect("a reset");
    assert_eq!((reset.flags, reset.seq), (RST, challenge.ack));
    lone.gets(reset);
    assert_eq!(lone.c.closed(), Some(CloseReason::Reset));
}

#[test]
fn a_peer_that_lost_its_memory_is_convinced_by_its_own_reset() {
    // Section 3.5.1, figure 11: our data meets nobody.
    let mut lone = Lone::established(plain(), FULL, 5000);
    let sent = lone.writes(100)[0].segment;
    lone.gets(reset_for(&sent).expect("a reset"));
    assert_eq!(lone.c.closed(), Some(CloseReason::Reset));
}

#[test]
fn a_challenge_is_itself_no_attack() {
    // Two ends that agree on everything do not answer each other's challenges for ever.
    let mut lone = established();
    let challenge = lone.gets(segment(RST, 600, 0))[0].segment;
    let mirrored = Segment { seq: challenge.ack, ack: challenge.seq, ..challenge };
    assert_eq!(lone.gets(mirrored), []);
}
