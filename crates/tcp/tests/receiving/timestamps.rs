//! Timestamps and what they protect from (RFC 7323).

use crate::common::lone::{
    ACK, FIN_ACK, FULL, Lone, RST, SYN, SYN_ACK, ack, data, plain, segment, with_text,
};
use crate::common::ms;
use netspurt_tcp::acking::Acking;
use netspurt_tcp::config::{Config, OldSegments};
use netspurt_tcp::options::{Options, Timestamps};
use netspurt_tcp::segment::Segment;
use netspurt_tcp::state::{CloseReason, State};
use netspurt_tcp::time::{Span, Time};
use netspurt_tcp::{profile, timestamp};

const DAY: Span = Span::from_secs(24 * 3600);

fn config() -> Config {
    Config { timestamps: true, ..plain() }
}

/// The segment with a timestamp of the peer's.
fn stamped(value: u32, s: Segment) -> Segment {
    Segment { options: Options { timestamps: Some(Timestamps { value, echo: 0 }), ..s.options }, ..s }
}

/// Established with a peer whose clock stood at `value`.
fn established(config: Config, value: u32) -> Lone {
    let options = Options { timestamps: Some(Timestamps { value, echo: 0 }), ..FULL };
    Lone::established(config, options, 5000)
}

/// Our next answer's (TSval, TSecr).
fn stamp(segment: &Segment) -> Option<(u32, u32)> {
    segment.options.timestamps.map(|t| (t.value, t.echo))
}

#[test]
fn both_sides_must_offer_timestamps_for_them_to_be_used() {
    for (ours, theirs) in [(true, true), (true, false), (false, true), (false, false)] {
        let mut lone = Lone::listening(Config { timestamps: ours, ..plain() });
        let syn = if theirs { stamped(5, segment(SYN, 0, 0)) } else { segment(SYN, 0, 0) };
        let accept = lone.gets(syn)[0].segment;
        assert_eq!(accept.options.timestamps.is_some(), ours && theirs, "{ours} {theirs}");
        lone.gets(if theirs { stamped(6, ack(1, 1, 5000)) } else { ack(1, 1, 5000) });
        let sent = lone.writes(10)[0].segment;
        assert_eq!(sent.options.timestamps.is_some(), ours && theirs, "{ours} {theirs}");
    }
}

#[test]
fn a_first_syn_echoes_nothing_and_its_answer_echoes_it() {
    let mut lone = Lone::closed(config());
    lone.now = ms(777);
    lone.c.open(lone.now);
    assert_eq!(stamp(&lone.poll()[0].segment), Some((777, 0)));
    lone.now = ms(800);
    let out = lone.gets(stamped(9000, segment(SYN_ACK, 0, 1)));
    assert_eq!(stamp(&out[0].segment), Some((800, 9000)));
}

#[test]
fn an_old_timestamp_marks_an_old_duplicate_which_is_answered_and_dropped() {
    // Section 5.3, R1.
    let mut lone = established(config(), 1000);
    lone.gets(stamped(2000, data(1, 1, 100)));
    let out = lone.gets(stamped(1999, data(101, 1, 100)));
    assert_eq!(out.iter().map(|o| (o.flags, o.seq, o.ack)).collect::<Vec<_>>(), [(ACK, 1, 101)]);
    assert_eq!(stamp(&out[0].segment).map(|(_, echo)| echo), Some(2000));
    assert_eq!((lone.c.readable(), lone.c.stats().paws_drops), (100, 1));
    lone.gets(stamped(2000, data(101, 1, 100)));
    assert_eq!(lone.c.readable(), 200, "the same timestamp is not an old one");
}

#[test]
fn an_old_duplicate_changes_nothing() {
    let mut lone = established(config(), 1000);
    lone.writes(1000);
    lone.gets(stamped(999, ack(1, 1001, 7000)));
    lone.gets(stamped(999, segment(FIN_ACK, 1, 1001)));
    assert_eq!((lone.c.acknowledged(), lone.c.peer_window(), lone.c.state()), (0, 5000, State::Established));
}

#[test]
fn an_old_duplicate_changes_nothing_while_our_window_is_closed() {
    let mut lone = established(config(), 1000);
    lone.writes(1000);
    for n in 0..10 {
        lone.gets(stamped(1001, data(1 + 1000 * n, 1, 1000)));
    }
    lone.gets(stamped(999, with_text(ack(10_001, 1001, 7000), 1)));
    assert_eq!((lone.c.acknowledged(), lone.c.peer_window()), (0, 5000));
    lone.gets(stamped(1001, with_text(ack(10_001, 1001, 7000), 1)));
    assert_eq!(
        (lone.c.acknowledged(), lone.c.peer_window()),
        (1000, 7000),
        "section 3.10.7.4: a valid ACK counts"
    );
}

#[test]
fn timestamps_are_compared_round_their_circle() {
    let mut lone = established(config(), u32::MAX - 5);
    lone.gets(stamped(3, data(1, 1, 100)));
    assert_eq!(lone.c.readable(), 100, "3 comes after 2^32 - 6");
    lone.gets(stamped(u32::MAX, data(101, 1, 100)));
    assert_eq!(lone.c.readable(), 100, "2^32 - 1 comes before 3");
}

#[test]
fn a_reset_needs_no_good_timestamp() {
    // Section 5.2 and 5.3, R1: RST is exempt.
    for reset in [stamped(1, segment(RST, 1, 0)), segment(RST, 1, 0)] {
        let mut lone = established(config(), 1000);
        lone.gets(reset);
        assert_eq!(lone.c.closed(), Some(CloseReason::Reset), "{:?}", reset.options.timestamps);
    }
}

#[test]
fn a_segment_without_the_timestamp_agreed_on_is_dropped_in_silence() {
    // Section 3.2; the connection must not be aborted for it.
    let mut lone = established(config(), 1000);
    assert_eq!(lone.gets(data(1, 1, 100)), []);
    assert_eq!((lone.c.readable(), lone.c.state()), (0, State::Established));
}

#[test]
fn a_remembered_timestamp_expires_after_24_days() {
    // Section 5.5.
    for (days, accepted) in [(23, false), (25, true)] {
        let mut lone = established(config(), 1000);
        lone.passes(DAY.saturating_mul(days));
        lone.gets(stamped(999, data(1, 1, 100)));
        assert_eq!(lone.c.readable() > 0, accepted, "after {days} days");
        if accepted {
            lone.gets(stamped(998, data(101, 1, 100)));
            assert_eq!(lone.c.readable(), 100, "from here on, 999 is what is remembered");
        }
    }
}

#[test]
fn the_echo_is_that_of_the_segment_that_moved_the_left_edge() {
    // Section 4.3: a segment behind a gap does not renew TS.Recent; the one that fills it does.
    let mut lone = established(config(), 1000);
    let echo = |lone: &mut Lone, s: Segment| stamp(&lone.gets(s)[0].segment).map(|(_, echo)| echo);
    assert_eq!(echo(&mut lone, stamped(1100, data(1, 1, 100))), Some(1100));
    assert_eq!(echo(&mut lone, stamped(1300, data(201, 1, 100))), Some(1100), "behind a gap");
    assert_eq!(echo(&mut lone, stamped(1400, data(101, 1, 100))), Some(1400), "fills the gap");
}

#[test]
fn a_delayed_ack_echoes_the_earliest_segment_it_acknowledges() {
    // Section 4.3 and 4.2, case (A): the sender measures the delay of the ACK as well.
    let acking = Acking::Delayed { every: 2, delay: Span::from_ms(200) };
    let mut lone = established(Config { acking, ..config() }, 1000);
    assert_eq!(lone.gets(stamped(1100, data(1, 1, 100))), []);
    let out = lone.gets(stamped(1200, data(101, 1, 100)));
    assert_eq!(stamp(&out[0].segment).map(|(_, echo)| echo), Some(1100));
}

#[test]
fn a_segment_outside_the_window_does_not_renew_the_timestamp() {
    let mut lone = established(config(), 1000);
    lone.gets(stamped(9000, data(50_000, 1, 100)));
    lone.gets(stamped(1001, data(1, 1, 100)));
    assert_eq!(lone.c.readable(), 100);
}

#[test]
fn every_segment_but_a_reset_carries_the_timestamp() {
    let mut lone = established(config(), 1000);
    let mut all = lone.writes(3000);
    all.extend(lone.gets(stamped(1001, data(1, 1, 100))));
    all.extend(lone.passes(Span::from_secs(4)));
    all.extend(lone.gets(stamped(1002, segment(RST, 300, 0))));
    all.extend(lone.closes());
    assert!(all.len() > 5 && all.iter().all(|o| o.segment.options.timestamps.is_some()), "{all:#?}");
}

#[test]
fn an_ack_of_unsent_data_does_not_renew_the_timestamp() {
    // RFC 5961, section 5.2: such a segment is dropped, and so its timestamp is not remembered.
    for len in [0, 100] {
        let mut lone = established(config(), 1000);
        lone.gets(stamped(1000 + i32::MAX.cast_unsigned(), data(1, 5001, len)));
        lone.gets(stamped(1001, data(1, 1, 100)));
        let drops = lone.c.stats().paws_drops;
        assert_eq!((lone.c.readable(), drops), (100, 0), "the segment was {len} bytes long");
    }
}

#[test]
fn linux_does_not_answer_an_ack_that_data_of_the_peer_has_overtaken() {
    // tcp_disordered_ack_check(): an ACK with an old timestamp and an old sequence number. Others get an ACK.
    let linux = Config { invalid_ratelimit: Span::from_ms(500), ..config() };
    for (config, seq, answers) in [(linux.clone(), 1, 0), (linux, 500, 1), (config(), 1, 1)] {
        let mut lone = established(config, 1000);
        lone.gets(stamped(1100, data(1, 1, 100)));
        lone.passes(Span::from_secs(1));
        let out = lone.gets(stamped(1099, segment(ACK, seq, 1)));
        assert_eq!(out.len(), answers, "sequence number {seq}");
    }
}

/// As Linux treats old segments.
fn as_linux() -> Config {
    Config { old_segments: OldSegments::Linux, sack: true, ..config() }
}

#[test]
fn to_linux_a_timestamp_one_unit_older_is_not_an_old_one() {
    // TCP_PAWS_WINDOW; tcp_replace_ts_recent() does not go back. Two units older is an old duplicate.
    for (value, readable, drops) in [(1999, 200, 0), (1998, 100, 1)] {
        let mut lone = established(as_linux(), 1000);
        lone.gets(stamped(2000, data(1, 1, 100)));
        let out = lone.gets(stamped(value, data(101, 1, 100)));
        assert_eq!((lone.c.readable(), lone.c.stats().paws_drops), (readable, drops), "{value}");
        assert_eq!(out.iter().map(|o| stamp(&o.segment).map(|(_, echo)| echo)).next_back(), Some(Some(2000)));
    }
}

#[test]
fn linux_remembers_the_timestamp_of_a_duplicate_that_ends_where_the_last_ack_was_sent() {
    // tcp_sequence() compares the end with RCV.WUP. What ends below is old: only its report is the same.
    for (config, end, echo) in [(as_linux(), 301, 3000), (as_linux(), 300, 2000), (config(), 301, 2000)] {
        let mut lone = established(config, 1000);
        lone.gets(stamped(2000, data(1, 1, 100)));
        lone.gets(stamped(2000, data(101, 1, 200)));
        let out = lone.gets(stamped(3000, data(end - 100, 1, 100)));
        let last = out.last().expect("a duplicate is answered");
        assert_eq!(
            (last.ack, stamp(&last.segment).map(|(_, echo)| echo)),
            (301, Some(echo)),
            "ends at {end}"
        );
    }
}

#[test]
fn linux_reports_each_old_segment_with_its_fin() {
    // tcp_send_dupack(): any segment with text or a FIN that begins below RCV.NXT, also one from before the SYN.
    let reported = |config: Config, old: Segment| {
        let timestamps = Some(Timestamps { value: 1000, echo: 0 });
        let options = Options { timestamps, sack_permitted: true, ..FULL };
        let mut lone = Lone::established(Config { sack: true, ..config }, options, 5000);
        lone.gets(stamped(2000, data(1, 1, 100)));
        let (irs, out) = (segment(ACK, 0, 1).seq, lone.gets(stamped(2001, old)));
        let blocks = out.last().expect("it is answered").segment.options.sack;
        blocks.as_slice().first().map(|b| (b.left.distance_from(irs), b.right.distance_from(irs)))
    };
    assert_eq!(reported(as_linux(), data(-200_000, 1, 100)), Some((-200_000, -199_900)));
    assert_eq!(reported(config(), data(-200_000, 1, 100)), None);
    assert_eq!(reported(as_linux(), segment(FIN_ACK, 50, 1)), Some((50, 51)));
    assert_eq!(reported(config(), segment(FIN_ACK, 50, 1)), None);
    assert_eq!(reported(as_linux(), data(0, 1, 1)), Some((0, 1)));
    assert_eq!(reported(as_linux(), data(0, 1, 150)), Some((0, 101)));
    assert_eq!(reported(config(), data(0, 1, 150)), Some((1, 101)));
}

#[test]
fn a_segment_that_header_prediction_declines_does_not_change_ts_recent() {
    // Each is dropped, or acknowledged without being taken in: data beyond the window, and data of a foreign place.
    let mut lone = established(config(), 1000);
    lone.writes(3000);
    lone.gets(stamped(1001, segment(ACK, 1, 1001)));
    let far = 1001 + i32::MAX.cast_unsigned();
    lone.gets(stamped(far, data(1, 3002, 100)));
    lone.gets(stamped(far, data(1, -10_000, 100)));
    lone.gets(stamped(far, data(1, -10_000, 0)));
    lone.gets(stamped(1002, data(1, 2001, 100)));
    assert_eq!((lone.c.readable(), lone.c.acknowledged(), lone.c.stats().paws_drops), (100, 2000, 0));
}

/// Established since `start`; 500 bytes have left twice, so that only an echo can tell a round trip, the second time `waits`
/// milliseconds ago.
fn sent_twice(start: Time, waits: u64) -> Lone {
    let mut lone = Lone::closed(config());
    lone.now = start;
    lone.c.open(start);
    lone.poll();
    let options = Options { timestamps: Some(Timestamps { value: 1000, echo: 0 }), ..FULL };
    lone.gets(Segment { options, ..segment(SYN_ACK, 0, 1) });
    lone.writes(500);
    let again = lone.until(lone.c.next_deadline());
    assert_eq!(again.iter().map(|out| (out.seq, out.len)).collect::<Vec<_>>(), [(1, 500)]);
    lone.passes(Span::from_ms(waits));
    lone
}

fn echoing(echo: u32, s: Segment) -> Segment {
    Segment { options: Options { timestamps: Some(Timestamps { value: 1001, echo }), ..s.options }, ..s }
}

/// The sample, in milliseconds, that the ACK of what was sent twice brings with this echo.
fn sample_of(mut lone: Lone, echo: u32) -> Option<u64> {
    let (before, rto) = (lone.c.stats(), lone.c.rto());
    lone.gets(echoing(echo, ack(1, 501, 5000)));
    assert_eq!(lone.c.acknowledged(), 500);
    let after = lone.c.stats();
    let taken = after.rtt_samples > before.rtt_samples;
    assert!(taken || lone.c.rto() == rto, "without a sample the timeout stays");
    taken.then(|| (after.rtt_sum_ns - before.rtt_sum_ns) / 1_000_000)
}

#[test]
fn an_echo_of_what_was_never_sent_is_no_round_trip() {
    // RFC 7323, section 4.1: an echo tells a round trip because it is that of a segment of ours.
    let start = ms(10_000_000);
    let clock = |lone: &Lone| timestamp(lone.now);
    let echoes = |ago: u32| {
        let lone = sent_twice(start, 40);
        let echo = clock(&lone).wrapping_sub(ago);
        sample_of(lone, echo)
    };
    let alive = clock(&sent_twice(start, 40)) - 10_000_000;
    assert_eq!(echoes(40), Some(40), "the second transmission");
    assert_eq!(echoes(0), Some(0));
    assert_eq!(echoes(alive), Some(u64::from(alive)), "the first");
    assert_eq!(echoes(u32::MAX), None, "a millisecond ahead of our clock");
    assert_eq!(echoes(1 << 31), None, "half a circle ahead");
    assert_eq!(echoes(alive + 10), None, "before the connection began");
    assert_eq!(echoes(i32::MAX.cast_unsigned()), None);
}

#[test]
fn an_echo_gives_the_round_trip_across_the_wrap_of_the_clock() {
    // 2^32 milliseconds are 49.7 days.
    let wrap = 1_u64 << 32;
    for start in [wrap - 5000, wrap - 1, wrap, 2 * wrap - 3] {
        let mut lone = sent_twice(ms(start), 0);
        let echo = timestamp(lone.now);
        lone.passes(Span::from_ms(90));
        assert_eq!(sample_of(lone, echo), Some(90), "{start}");
    }
    // A connection that is older than the clock goes round.
    let mut lone = established(config(), 1000);
    lone.passes(Span::from_ms(wrap + 7));
    lone.gets(stamped(1001, ack(1, 1, 5000)));
    lone.writes(500);
    lone.until(lone.c.next_deadline());
    let echo = timestamp(lone.now);
    lone.passes(Span::from_ms(50));
    assert_eq!(sample_of(lone, echo), Some(50));
}

/// The window that a receiver offers in the end whose peer sends ever more in each round trip of 50 ms, and of whose first
/// segments the third echoes `ahead` of our clock.
fn window_after(ahead: Option<u32>) -> u32 {
    let config = profile::by_name("linux").expect("a built-in profile").config.clone();
    let mut lone = Lone::listening(Config { acking: Acking::EverySegment, ..config });
    let options =
        Options { timestamps: Some(Timestamps { value: 1000, echo: 0 }), window_scale: Some(0), ..FULL };
    lone.gets(Segment { options, ..segment(SYN, 0, 0) });
    lone.gets(echoing(0, ack(1, 1, 5000)));
    let (mut next, mut window) = (1, 0);
    for round in 0..8 {
        lone.passes(Span::from_ms(50));
        for n in 0..10 << round {
            let clock = timestamp(lone.now);
            let echo = if (round, n) == (0, 3) {
                ahead.map_or(clock - 50, |ahead| clock + ahead)
            } else {
                clock - 50
            };
            window =
                lone.gets(echoing(echo, data(next, 1, 1448))).last().map_or(window, |out| out.segment.window);
            next += 1448;
            lone.reads(u64::MAX);
        }
    }
    u32::from(window)
}

#[test]
fn an_echo_of_what_was_never_sent_does_not_keep_the_receive_window_small() {
    let usual = window_after(None);
    for ahead in [1, 1000, 1 << 31] {
        assert_eq!(window_after(Some(ahead)), usual, "{ahead} ms ahead of our clock");
    }
}
