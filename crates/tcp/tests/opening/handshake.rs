//! Opening, closing and giving up, at explicit virtual times.

use crate::common::lone::{
    ACK, FIN, FIN_ACK, FULL, Lone, RST, RST_ACK, SYN, SYN_ACK, ack, data, plain, segment, times, with_text,
};
use crate::common::{End, Pair, ms};
use netspurt_tcp::config::{Config, OldSegments};
use netspurt_tcp::options::{Options, Timestamps};
use netspurt_tcp::profile;
use netspurt_tcp::reason::Reason;
use netspurt_tcp::segment::{Flags, Segment};
use netspurt_tcp::seq::Seq;
use netspurt_tcp::state::{CloseReason, State};
use netspurt_tcp::time::Span;
use netspurt_tcp::transmit::Transmit;
use netspurt_tcp::{WriteError, reset_for};

const DELAY: Span = Span::from_ms(50);

fn pair<'a>() -> Pair<'a> {
    Pair::new(plain(), plain(), DELAY)
}

fn flags_of(pair: &Pair<'_>) -> Vec<(End, Flags)> {
    pair.sent.iter().map(|sent| (sent.from, sent.segment.flags)).collect()
}

#[test]
fn three_segments_open_a_connection() {
    let pair = pair().open();
    assert_eq!((pair.client.state(), pair.server.state()), (State::Established, State::Established));
    assert_eq!(flags_of(&pair), [(End::Client, SYN), (End::Server, SYN_ACK), (End::Client, ACK)]);
    let [syn, accept, last] = [0, 1, 2].map(|n: usize| pair.sent[n].segment);
    assert_eq!(accept.ack, syn.seq.plus(1));
    assert_eq!((last.seq, last.ack), (syn.seq.plus(1), accept.seq.plus(1)));
    assert_eq!(pair.sent[2].at, ms(100));
}

#[test]
fn a_simultaneous_open_makes_one_connection() {
    // RFC 9293, section 3.5, figure 8; MUST-10.
    let mut pair = pair();
    let now = pair.now;
    pair.client.open(now);
    pair.server.open(now);
    pair.settle();
    pair.run_until(ms(50));
    assert_eq!((pair.client.state(), pair.server.state()), (State::SynReceived, State::SynReceived));
    pair.run_until(ms(100));
    assert_eq!((pair.client.state(), pair.server.state()), (State::Established, State::Established));
    let syns: Vec<_> =
        pair.sent.iter().filter(|s| s.segment.flags.has(SYN)).map(|s| (s.at, s.reason)).collect();
    assert_eq!(
        syns,
        [(ms(0), Reason::Open), (ms(0), Reason::Open), (ms(50), Reason::Accept), (ms(50), Reason::Accept)]
    );
    pair.write(End::Client, 5000);
    pair.write(End::Server, 7000);
    pair.run_for(Span::from_secs(2));
    assert_eq!((pair.server_read, pair.client_read), (5000, 7000));
    let timeouts = pair.client.stats().timeouts + pair.server.stats().timeouts;
    assert_eq!(timeouts, 0, "nothing is sent twice: {:#?}", pair.sent);
}

#[test]
fn after_a_simultaneous_close_both_ends_are_in_time_wait() {
    // RFC 9293, section 3.6, figure 13.
    let mut pair = pair().open();
    pair.write(End::Client, 1500);
    pair.write(End::Server, 2500);
    let start = pair.now;
    pair.close(End::Client);
    pair.close(End::Server);
    pair.run_until(start + DELAY);
    assert_eq!((pair.client.state(), pair.server.state()), (State::Closing, State::Closing));
    pair.run_until(start + Span::from_ms(100));
    assert_eq!((pair.client.state(), pair.server.state()), (State::TimeWait, State::TimeWait));
    assert_eq!((pair.server_read, pair.client_read), (1500, 2500));
    assert!(pair.client.peer_finished() && pair.server.peer_finished());
    pair.run_for(Span::from_secs(240));
    assert_eq!(
        (pair.client.closed(), pair.server.closed()),
        (Some(CloseReason::Finished), Some(CloseReason::Finished))
    );
}

#[test]
fn an_end_that_has_closed_still_receives() {
    for (closer, state, other) in
        [(End::Client, State::FinWait2, State::CloseWait), (End::Server, State::FinWait2, State::CloseWait)]
    {
        let mut pair = pair().open();
        pair.close(closer);
        pair.run_for(Span::from_ms(200));
        assert_eq!((pair.end(closer).state(), pair.end(closer.other()).state()), (state, other));
        pair.write(closer.other(), 50_000);
        pair.run_for(Span::from_secs(5));
        let got = if closer == End::Client { pair.client_read } else { pair.server_read };
        assert_eq!(got, 50_000, "{closer:?} closed first");
        pair.close(closer.other());
        pair.run_for(Span::from_secs(1));
        assert_eq!(pair.end(closer).state(), State::TimeWait);
        assert_eq!(pair.end(closer.other()).closed(), Some(CloseReason::Finished));
    }
}

#[test]
fn a_syn_is_retransmitted_with_doubled_timeouts_and_then_given_up() {
    let mut lone = Lone::closed(plain());
    lone.c.open(lone.now);
    let first = lone.poll();
    let again = lone.until(ms(1_000_000));
    assert_eq!((first.len(), first[0].flags, first[0].seq), (1, SYN, 0));
    assert!(again.iter().all(|out| out.flags == SYN && out.seq == 0), "{again:#?}");
    // RFC 6298, sections 2.1, 2.5 and 5.5; RFC 9293, section 3.8.3: at least 3 minutes.
    assert_eq!(times(&again), [1000, 3000, 7000, 15_000, 31_000, 63_000, 123_000]);
    assert_eq!((lone.c.state(), lone.c.closed()), (State::Closed, Some(CloseReason::TimedOut)));
    assert!(lone.c.next_deadline().is_never());
}

#[test]
fn linux_resends_a_syn_each_second_before_it_backs_off() {
    // Documentation/networking/ip-sysctl.rst, tcp_syn_linear_timeouts and tcp_syn_retries: the last retransmission after
    // 67 s, the end after 131 s.
    let mut lone = Lone::closed(profile::by_name("linux").expect("a profile").config.clone());
    lone.c.open(lone.now);
    lone.poll();
    let again = lone.until(ms(130_999));
    let seconds = [1, 2, 3, 4, 5, 7, 11, 19, 35, 67];
    assert_eq!(times(&again), seconds.map(|second| second * 1000));
    assert_eq!(lone.c.closed(), None);
    lone.until(ms(131_000));
    assert_eq!(lone.c.closed(), Some(CloseReason::TimedOut));
    // A single retry ends after 3 s, as without the linear timeouts.
    let linux = profile::by_name("linux").expect("a profile").config.clone();
    let mut lone = Lone::closed(Config { syn_retries: 1, ..linux });
    lone.c.open(lone.now);
    lone.poll();
    assert_eq!(times(&lone.until(ms(10_000))), [1000, 2000]);
    assert_eq!(lone.c.closed(), Some(CloseReason::TimedOut));
    // The SYN-ACK of a server backs off from the start.
    let mut lone =
        Lone::reached(profile::by_name("linux").expect("a profile").config.clone(), State::SynReceived);
    assert_eq!(times(&lone.until(ms(20_000))), [1000, 3000, 7000, 15_000]);
}

#[test]
fn linux_gives_up_a_half_open_connection_after_63_seconds() {
    // Documentation/networking/ip-sysctl.rst, tcp_synack_retries.
    let mut lone =
        Lone::reached(profile::by_name("linux").expect("a profile").config.clone(), State::SynReceived);
    assert_eq!(times(&lone.until(ms(62_999))), [1, 3, 7, 15, 31].map(|second| second * 1000));
    assert_eq!(lone.c.closed(), None);
    assert!(lone.until(ms(63_000)).is_empty(), "no reset: inet_csk_reqsk_queue_drop()");
    assert_eq!(lone.c.closed(), Some(CloseReason::TimedOut));
}

#[test]
fn a_syn_is_given_up_when_its_last_repetition_has_had_its_time() {
    let mut lone = Lone::closed(plain());
    lone.c.open(lone.now);
    lone.poll();
    lone.until(ms(182_999));
    assert_eq!(lone.c.state(), State::SynSent);
    lone.until(ms(183_000));
    assert_eq!(lone.c.closed(), Some(CloseReason::TimedOut));
}

#[test]
fn a_syn_ack_is_repeated_and_then_given_up() {
    let mut lone = Lone::reached(Config { syn_ack_retries: 3, ..plain() }, State::SynReceived);
    let again = lone.until(ms(1_000_000));
    let (last, repeats) = again.split_last().expect("something is sent");
    assert!(repeats.iter().all(|out| (out.flags, out.seq, out.ack) == (SYN_ACK, 0, 1)), "{again:#?}");
    assert_eq!(times(repeats), [1000, 3000, 7000]);
    assert_eq!((times(&[*last])[0], last.flags.has(RST), last.seq), (15_000, true, 1));
    assert_eq!(lone.c.closed(), Some(CloseReason::TimedOut));
}

#[test]
fn a_duplicate_syn_gets_a_syn_ack_at_once() {
    let mut lone = Lone::reached(plain(), State::SynReceived);
    let out = lone.gets(segment(SYN, 0, 0));
    assert_eq!(out.iter().map(|o| (o.flags, o.seq, o.ack)).collect::<Vec<_>>(), [(SYN_ACK, 0, 1)]);
    assert_eq!(times(&lone.until(ms(1500))), [1000], "the timer of the first one runs on");
}

#[test]
fn a_fin_is_repeated_and_then_given_up() {
    let mut lone = Lone::established(Config { retries: 3, ..plain() }, FULL, 5000);
    let first = lone.closes();
    assert_eq!((first.len(), first[0].flags, first[0].seq, first[0].reason), (1, FIN_ACK, 1, Reason::Fin));
    let again = lone.until(ms(1_000_000));
    let (last, repeats) = again.split_last().expect("something is sent");
    assert!(
        repeats.iter().all(|out| (out.flags, out.seq, out.reason) == (FIN_ACK, 1, Reason::Timeout)),
        "{again:#?}"
    );
    assert_eq!(times(repeats), [1000, 3000, 7000]);
    assert_eq!((times(&[*last])[0], last.flags.has(RST)), (15_000, true));
    assert_eq!(lone.c.closed(), Some(CloseReason::TimedOut));
}

#[test]
fn a_lost_fin_is_repaired_on_both_sides() {
    let mut lost = [false; 2];
    let mut pair = Pair::new(plain(), plain(), DELAY)
        .path(|sent| {
            let side = usize::from(sent.from == End::Server);
            let first = sent.segment.flags.has(FIN) && !std::mem::replace(&mut lost[side], true);
            if first { vec![] } else { vec![Span::ZERO] }
        })
        .open();
    pair.write(End::Client, 3000);
    pair.close(End::Client);
    pair.close(End::Server);
    pair.run_for(Span::from_secs(10));
    assert_eq!(pair.server_read, 3000);
    let states = (pair.client.state(), pair.server.state());
    assert!(matches!(states, (State::TimeWait, State::Closed | State::TimeWait)), "{states:?}");
}

#[test]
fn a_reset_returns_a_half_open_listener_to_its_initial_state() {
    // RFC 9293, section 3.10.7.4, second step. Here after two timeouts of the SYN-ACK, and a peer with small segments.
    let mut lone = Lone::listening(plain());
    let options = Options { mss: Some(500), ..Options::NONE };
    lone.gets(Segment { options, ..segment(SYN, 0, 0) });
    lone.until(ms(3500));
    assert_eq!(lone.c.write(lone.now, 700), Ok(700), "data waits for the connection to open");
    assert!(lone.gets(segment(RST, 1, 0)).is_empty());
    assert_eq!((lone.c.state(), lone.c.closed(), lone.c.written()), (State::Listen, None, 0));
    assert!(lone.c.next_deadline().is_never());

    let accept = lone.gets(segment(SYN, 70_000, 0));
    assert_eq!(accept.iter().map(|o| (o.flags, o.seq, o.ack)).collect::<Vec<_>>(), [(SYN_ACK, 0, 70_001)]);
    assert_eq!(times(&lone.until(ms(5000))), [4500], "the first timeout is the initial one again");
    lone.gets(segment(ACK, 70_001, 1));
    assert_eq!(lone.c.state(), State::Established);
    assert_eq!(lone.c.cwnd(), 1000, "one segment, since a SYN-ACK was resent, of the size agreed on now");
    let sent = lone.writes(3000);
    assert_eq!(sent.iter().map(|o| (o.seq, o.len)).collect::<Vec<_>>(), [(1, 1000)]);
}

#[test]
fn what_a_reset_peer_had_offered_does_not_hold_for_the_next_one() {
    // The first SYN permits SACK, and so losses would be noticed by time; the second one does not.
    let config = profile::by_name("linux").expect("a built-in profile").config.clone();
    let mut lone = Lone::listening(Config { transmit: Transmit::NoDelay, ..config });
    let options = Options { sack_permitted: true, ..FULL };
    lone.gets(Segment { options, ..segment(SYN, 0, 0) });
    lone.gets(segment(RST, 1, 0));
    assert_eq!(lone.c.state(), State::Listen);
    lone.gets(Segment { options: FULL, ..segment(SYN, 0, 0) });
    lone.passes(Span::from_ms(50));
    lone.gets(ack(1, 1, 20_000));
    assert_eq!(lone.writes(8000).len(), 8);
    lone.passes(Span::from_ms(50));
    let answers: Vec<_> = (0..3).flat_map(|_| lone.gets(ack(1, 1, 20_000))).collect();
    let first = answers.iter().find(|out| out.seq == 1).map(|out| out.reason);
    assert_eq!(
        first,
        Some(Reason::FastRetransmit),
        "without SACK, duplicate ACKs tell of a loss: {answers:?}"
    );
}

#[test]
fn a_reset_ends_a_half_open_listener_whose_application_has_closed() {
    let mut lone = Lone::reached(plain(), State::SynReceived);
    assert!(lone.closes().is_empty());
    lone.gets(segment(RST, 1, 0));
    assert_eq!(lone.c.state(), State::Closed, "nobody is left to listen for");
}

#[test]
fn a_close_before_the_connection_is_open_takes_effect_once_it_is() {
    let mut lone = Lone::reached(plain(), State::SynReceived);
    assert_eq!(lone.c.write(lone.now, 300), Ok(300));
    lone.closes();
    let out = lone.gets(segment(ACK, 1, 1));
    assert_eq!(lone.c.state(), State::FinWait1);
    assert_eq!(out.iter().map(|o| (o.seq, o.len, o.flags.has(FIN))).collect::<Vec<_>>(), [(1, 300, true)]);
}

#[test]
fn time_wait_lasts_two_segment_lifetimes() {
    let mut lone = Lone::reached(plain(), State::TimeWait);
    lone.until(ms(239_999));
    assert_eq!(lone.c.state(), State::TimeWait);
    assert_eq!(lone.until(ms(240_000)), []);
    assert_eq!((lone.c.state(), lone.c.closed()), (State::Closed, Some(CloseReason::Finished)));
}

#[test]
fn with_rfc1337_a_reset_does_not_end_time_wait() {
    // Section 2, H1: the peer answers the ACK of an old duplicate with a reset at the number that the ACK names.
    for (rfc1337, remains) in [(true, true), (false, false)] {
        let mut lone = Lone::reached(Config { rfc1337, ..plain() }, State::TimeWait);
        lone.until(ms(1000));
        assert_eq!(lone.gets(data(1, 1001, 500)).len(), 1, "an old duplicate is answered");
        assert_eq!(lone.gets(segment(RST, 502, 0)), []);
        assert_eq!(lone.c.state() == State::TimeWait, remains);
    }
}

#[test]
fn only_the_peers_fin_starts_time_wait_anew() {
    let mut lone = Lone::reached(plain(), State::TimeWait);
    lone.until(ms(100_000));
    let again = lone.gets(segment(FIN_ACK, 501, 3002));
    assert_eq!(again.iter().map(|o| (o.flags, o.seq, o.ack)).collect::<Vec<_>>(), [(ACK, 3002, 502)]);
    assert_eq!(lone.c.next_deadline(), ms(340_000));
    for other in [segment(ACK, 502, 3002), data(1, 1001, 500), data(502, 3002, 10), segment(SYN, 502, 0)] {
        lone.until(lone.now + Span::from_secs(1));
        lone.gets(other);
        assert_eq!(lone.c.next_deadline(), ms(340_000), "{other:?}");
    }
}

#[test]
fn a_fin_from_elsewhere_does_not_start_time_wait_anew() {
    let mut lone = Lone::reached(plain(), State::TimeWait);
    lone.until(ms(100_000));
    for stray in [segment(FIN_ACK, 100, 1001), segment(FIN_ACK, 40_000, 3002)] {
        assert_eq!(lone.gets(stray).len(), 1, "it is answered like any unacceptable segment");
        assert_eq!(lone.c.next_deadline(), ms(240_000), "{stray:?}");
    }
}

#[test]
fn a_new_syn_may_take_over_from_time_wait_if_its_number_is_new() {
    let lone = Lone::reached(plain(), State::TimeWait);
    // RFC 9293, MAY-2: larger than the largest number used before. That was the FIN's, 501.
    for (seq, may) in [(501, false), (502, true), (600, true), (1_000_000, true), (0, false), (-5, false)] {
        assert_eq!(lone.c.may_be_replaced(&segment(SYN, seq, 0)), may, "SYN at {seq}");
    }
    assert!(!lone.c.may_be_replaced(&segment(SYN_ACK, 600, 1)));
    assert!(!lone.c.may_be_replaced(&segment(SYN | RST, 600, 1)));
    assert!(!lone.c.may_be_replaced(&segment(ACK, 600, 1)));
    let open = Lone::reached(plain(), State::Established);
    assert!(!open.c.may_be_replaced(&segment(SYN, 600, 0)), "only TIME-WAIT gives way");
}

#[test]
fn a_new_syn_may_take_over_from_time_wait_if_its_timestamp_is_new() {
    // RFC 6191, section 2, with timestamps on the old connection.
    let mut lone = Lone::closed(Config { timestamps: true, ..plain() });
    let stamped = |value: u32, s: Segment| Segment {
        options: Options { timestamps: Some(Timestamps { value, echo: 0 }), ..s.options },
        ..s
    };
    lone.c.open(lone.now);
    lone.poll();
    lone.gets(stamped(7000, segment(SYN_ACK, 0, 1)));
    lone.closes();
    lone.gets(stamped(7010, segment(FIN_ACK, 1, 2)));
    assert_eq!(lone.c.state(), State::TimeWait);
    let rules = [
        (Some(7011), 1, true, "a newer timestamp, whatever the number"),
        (Some(7010), 2, true, "the same timestamp and a newer number"),
        (Some(7010), 1, false, "the same timestamp and an old number"),
        (Some(7009), 1_000_000, false, "an older timestamp, whatever the number"),
        (None, 2, true, "no timestamp and a newer number"),
        (None, 1, false, "no timestamp and an old number"),
    ];
    for (value, seq, may, why) in rules {
        let syn = segment(SYN, seq, 0);
        let syn = value.map_or(syn, |value| stamped(value, syn));
        assert_eq!(lone.c.may_be_replaced(&syn), may, "{why}");
    }
}

#[test]
fn an_abort_resets_a_peer_that_has_the_connection() {
    // RFC 9293, section 3.10.5; the number is SND.NXT.
    let reset = |seq| Some((seq, true));
    let expected = [
        (State::Closed, None),
        (State::Listen, None),
        (State::SynSent, None),
        (State::SynReceived, reset(1)),
        (State::Established, reset(3001)),
        (State::FinWait1, reset(3002)),
        (State::FinWait2, reset(3002)),
        (State::CloseWait, reset(3001)),
        (State::Closing, None),
        (State::LastAck, None),
        (State::TimeWait, None),
    ];
    for (state, want) in expected {
        let mut lone = Lone::reached(plain(), state);
        lone.c.abort(lone.now);
        let out = lone.poll();
        assert!(out.len() <= 1, "{state:?}: {out:?}");
        assert_eq!(out.first().map(|o| (o.seq, o.flags.has(RST))), want, "{state:?}");
        assert_eq!(
            (lone.c.state(), lone.c.closed()),
            (State::Closed, Some(CloseReason::Aborted)),
            "{state:?}"
        );
        assert!(lone.c.next_deadline().is_never(), "{state:?}");
        assert_eq!(lone.passes(Span::from_secs(1000)), [], "{state:?}");
    }
}

#[test]
fn an_abort_while_probing_a_closed_window_is_one_that_the_peer_can_accept() {
    // With a closed window, only the number that the peer expects next passes (RFC 9293, section 3.10.7.4, table 6).
    let mut lone = Lone::established(plain(), FULL, 0);
    lone.writes(100);
    assert_eq!(lone.until(ms(1000)).len(), 1, "a probe");
    lone.c.abort(lone.now);
    assert_eq!(lone.poll().iter().map(|o| (o.flags, o.seq)).collect::<Vec<_>>(), [(RST_ACK, 1)]);
}

#[test]
fn text_on_a_syn_is_delivered_when_the_connection_opens() {
    // RFC 9293, section 3.10.7.2: queued. From LISTEN, and in a simultaneous open, where the SYN-ACK acknowledges only
    // the SYN (section 3.10.7.3, fourth step).
    for (start, acknowledged) in [(State::Listen, 301), (State::SynSent, 1)] {
        let mut lone = Lone::reached(plain(), start);
        let out = lone.gets(with_text(segment(SYN, 0, 0), 300));
        assert_eq!(out.iter().map(|o| (o.flags, o.ack)).collect::<Vec<_>>(), [(SYN_ACK, acknowledged)]);
        assert_eq!((lone.c.state(), lone.c.readable()), (State::SynReceived, 0), "{start:?}");
        lone.gets(segment(ACK, 301, 1));
        assert_eq!((lone.c.state(), lone.c.readable()), (State::Established, 300), "{start:?}");
        assert_eq!(lone.gets(data(301, 1, 50))[0].ack, 351, "{start:?}");
        assert_eq!(lone.reads(u64::MAX).0, 350, "{start:?}");
    }
}

#[test]
fn text_on_the_syn_of_a_simultaneous_open_is_delivered_once() {
    // Whatever segment opens the connection, the queued text is delivered and acknowledged at once.
    for (opening, acknowledged) in [
        (segment(SYN_ACK, 0, 1), 301),
        (with_text(segment(SYN_ACK, 0, 1), 300), 301),
        (segment(ACK, 1, 1), 301),
        (data(1, 1, 300), 301),
        (data(1, 1, 310), 311),
        (data(301, 1, 50), 351),
    ] {
        let mut lone = Lone::reached(plain(), State::SynSent);
        lone.gets(with_text(segment(SYN, 0, 0), 300));
        let out = lone.gets(opening);
        assert_eq!(out.iter().map(|o| o.ack).collect::<Vec<_>>(), [acknowledged], "{opening:?}");
        assert_eq!(lone.c.state(), State::Established, "{opening:?}");
        assert_eq!(lone.reads(u64::MAX).0, acknowledged.cast_unsigned() - 1, "{opening:?}");
    }
}

#[test]
fn a_fin_on_a_syn_is_made_good_when_the_peer_repeats_it() {
    let mut lone = Lone::reached(plain(), State::Listen);
    lone.gets(with_text(segment(SYN | FIN, 0, 0), 300));
    let out = lone.gets(segment(FIN_ACK, 301, 1));
    assert_eq!((lone.c.state(), out[0].ack), (State::CloseWait, 302));
}

/// What an opening segment with text leaves: the acknowledgment, the state, and what can be read when the connection is open.
fn opened_by(start: State, opening: Segment) -> (i32, State, u64) {
    let mut lone = Lone::reached(Config { old_segments: OldSegments::Linux, ..plain() }, start);
    let out = lone.gets(opening);
    if start == State::Listen {
        lone.gets(segment(ACK, 1, 1));
    }
    (out.first().map_or(0, |out| out.ack), lone.c.state(), lone.c.readable())
}

#[test]
fn linux_ignores_the_text_of_a_syn_without_fast_open_and_all_that_a_syn_ack_carries() {
    // Linux 6.18 sends these acknowledgments (tools/against_kernel/agreed.jsonl.gz).
    let syn = with_text(segment(SYN, 0, 0), 300);
    assert_eq!(opened_by(State::Listen, syn), (1, State::Established, 0));
    for flags in [SYN_ACK, SYN_ACK | FIN] {
        let opening = with_text(segment(flags, 0, 1), 300);
        assert_eq!(opened_by(State::SynSent, opening), (1, State::Established, 0), "{flags:?}");
    }
}

#[test]
fn a_linux_listener_drops_a_syn_with_a_fin() {
    let mut lone = Lone::reached(Config { old_segments: OldSegments::Linux, ..plain() }, State::Listen);
    assert_eq!(lone.gets(with_text(segment(SYN | FIN, 0, 0), 300)), []);
    assert_eq!(lone.c.state(), State::Listen);
}

#[test]
fn writes_are_accepted_in_the_states_of_section_3_10_2() {
    use State::{
        CloseWait, Closed, Closing, Established, FinWait1, FinWait2, LastAck, Listen, SynReceived, SynSent,
        TimeWait,
    };
    for state in State::ALL {
        let mut lone = Lone::reached(plain(), state);
        let want = match state {
            Closed | Listen => Err(WriteError::NotConnected),
            SynSent | SynReceived | Established | CloseWait => Ok(10),
            FinWait1 | FinWait2 | Closing | LastAck | TimeWait => Err(WriteError::Closing),
        };
        assert_eq!(lone.c.write(lone.now, 10), want, "{state:?}");
    }
}

#[test]
fn data_written_before_the_connection_is_open_follows_the_handshake() {
    let mut lone = Lone::reached(plain(), State::SynSent);
    assert_eq!(lone.writes(1500), []);
    let out = lone.gets(segment(SYN_ACK, 0, 1));
    let sent: Vec<_> = out.iter().filter(|o| o.len > 0).map(|o| (o.seq, o.ack, o.len)).collect();
    assert_eq!(sent, [(1, 1, 1000), (1001, 1, 500)]);
}

#[test]
fn closing_before_an_answer_ends_the_connection_without_a_segment() {
    for state in [State::Closed, State::Listen, State::SynSent] {
        let mut lone = Lone::reached(plain(), state);
        assert_eq!(lone.closes(), []);
        assert_eq!(lone.c.closed(), Some(CloseReason::Aborted), "{state:?}");
    }
}

#[test]
fn a_listener_may_turn_to_an_active_open() {
    let mut lone = Lone::listening(plain());
    lone.c.open(lone.now);
    assert_eq!(lone.poll().iter().map(|o| o.flags).collect::<Vec<_>>(), [SYN]);
    lone.gets(segment(RST_ACK, 0, 1));
    assert_eq!(lone.c.closed(), Some(CloseReason::Refused));
}

#[test]
fn segments_to_no_connection_are_refused_so_that_the_sender_believes_it() {
    // RFC 9293, section 3.10.7.1.
    let with_ack = reset_for(&data(700, 42, 10)).expect("a reset");
    assert_eq!((with_ack.flags, with_ack.seq), (RST, data(700, 42, 10).ack));
    let syn = with_text(segment(SYN, 700, 0), 10);
    let without = reset_for(&syn).expect("a reset");
    assert_eq!((without.flags, without.seq, without.ack), (RST_ACK, Seq(0), syn.seq.plus(11)));
    assert_eq!(reset_for(&segment(RST, 1, 0)), None);
    assert_eq!(reset_for(&segment(RST_ACK, 1, 1)), None);
}

#[test]
fn an_old_duplicate_syn_is_found_out() {
    // RFC 9293, section 3.5, figure 9: the old SYN opens half a connection, its sender resets it, the new SYN opens a
    // whole one.
    let mut listener = Lone::listening(plain());
    let accept = listener.gets(segment(SYN, -9000, 0))[0].segment;
    let mut sender = Lone::reached(plain(), State::SynSent);
    let bogus = Segment { ack: accept.ack.minus(77), ..accept };
    let reset = sender.gets(bogus)[0].segment;
    assert_eq!((reset.flags, reset.seq, sender.c.state()), (RST, bogus.ack, State::SynSent));
    listener.gets(segment(RST, -8999, 0));
    assert_eq!(listener.c.state(), State::Listen);
    assert_eq!(listener.gets(segment(SYN, 0, 0))[0].flags, SYN_ACK);
    listener.gets(ack(1, 1, 5000));
    assert_eq!(listener.c.state(), State::Established);
}

#[test]
fn reading_the_rest_of_a_closed_connection_sends_nothing() {
    let mut lone = Lone::established(plain(), FULL, 5000);
    for n in 0..10 {
        lone.gets(data(1 + n * 1000, 1, 1000));
    }
    lone.gets(segment(RST, 10_001, 0));
    assert_eq!(lone.c.closed(), Some(CloseReason::Reset));
    assert_eq!(lone.reads(u64::MAX).1, []);
}

#[test]
fn every_profile_opens_and_closes_with_every_other_from_either_side() {
    for client in profile::profiles() {
        for server in profile::profiles() {
            let mut pair = Pair::new(client.config.clone(), server.config.clone(), DELAY);
            let now = pair.now;
            pair.client.open(now);
            pair.server.open(now);
            pair.settle();
            pair.run_for(Span::from_secs(1));
            let what = format!("{} and {}, opening at once", client.name, server.name);
            assert_eq!(pair.client.state(), State::Established, "{what}");
            pair.write(End::Server, 10_000);
            pair.close(End::Server);
            pair.run_for(Span::from_secs(10));
            assert_eq!((pair.client_read, pair.client.state()), (10_000, State::CloseWait), "{what}");
            pair.close(End::Client);
            pair.run_for(Span::from_secs(1));
            assert_eq!(pair.client.closed(), Some(CloseReason::Finished), "{what}");
        }
    }
}

#[test]
fn after_a_lost_syn_one_segment_leaves_and_its_timeout_is_three_seconds() {
    let rfc = netspurt_tcp::profile::by_name("rfc").expect("a built-in profile").config.clone();
    let mut syns = 0;
    let mut pair = Pair::new(rfc.clone(), rfc, Span::from_ms(50)).path(|sent| {
        let syn = sent.from == End::Client && sent.segment.flags.has(Flags::SYN);
        syns += u32::from(syn);
        let lost = (syn && syns == 1) || (sent.from == End::Client && sent.segment.payload.len > 0);
        if lost { vec![] } else { vec![Span::ZERO] }
    });
    pair.client.open(pair.now);
    pair.settle();
    pair.run_for(Span::from_secs(2));
    let begun = pair.now;
    pair.write(End::Client, 100_000);
    pair.run_for(Span::from_secs(4));
    let data: Vec<_> = pair.sent_by(End::Client).filter(|s| s.segment.payload.len > 0).collect();
    assert_eq!(data[0].at, begun);
    assert_eq!(data[1].at, begun + Span::from_secs(3), "RFC 5681, 3.1: one segment; RFC 6298, 5.7: 3 s");
}

#[test]
fn in_syn_received_an_ack_lies_behind_the_syn_also_if_the_window_is_closed() {
    for window in [0, 5000] {
        let mut lone = Lone::listening(plain());
        assert_eq!(lone.gets(Segment { window, ..segment(SYN, 0, 0) })[0].flags, SYN_ACK);
        let answer = lone.gets(segment(ACK, 20_000, 1));
        assert_eq!(answer.len(), 1);
        assert_eq!((answer[0].flags, answer[0].seq, answer[0].ack), (ACK, 1, 1), "window {window}");
    }
}
