//! Windows: closed ones and how they are probed, silly ones and how they are avoided, scaled ones.

use crate::common::lone::{ACK, FIN, FULL, Lone, Out, SYN, SYN_ACK, ack, data, plain, segment, times};
use crate::common::{End, Pair, ms};
use netspurt_tcp::config::{Config, WindowOption};
use netspurt_tcp::event::Event;
use netspurt_tcp::options::{Options, Timestamps};
use netspurt_tcp::profile;
use netspurt_tcp::reason::Reason;
use netspurt_tcp::segment::{Flags, Segment};
use netspurt_tcp::state::{CloseReason, State};
use netspurt_tcp::time::Span;

const DELAY: Span = Span::from_ms(50);

/// (seq, len) of everything with data.
fn texts(out: &[Out]) -> Vec<(i32, u32)> {
    out.iter().filter(|o| o.len > 0).map(|o| (o.seq, o.len)).collect()
}

fn scaled(shift: u8) -> Options {
    Options { window_scale: Some(shift), mss: Some(1000), ..Options::NONE }
}

#[test]
fn a_closed_window_is_probed_after_the_timeout_and_then_ever_less_often() {
    // RFC 9293, section 3.8.6.1, SHLD-29 and SHLD-30.
    let mut lone = Lone::established(plain(), FULL, 0);
    assert_eq!(lone.writes(100), []);
    let mut probes = Vec::new();
    while probes.len() < 10 {
        let probe = lone.until(lone.c.next_deadline());
        assert_eq!(texts(&probe), [(1, 1)], "one byte of new data");
        assert_eq!(probe[0].reason, Reason::WindowProbe);
        probes.extend(probe);
        assert_eq!(lone.gets(ack(1, 1, 0)), []);
    }
    assert_eq!(
        times(&probes),
        [1000, 3000, 7000, 15_000, 31_000, 63_000, 123_000, 183_000, 243_000, 303_000]
    );
}

#[test]
fn a_peer_that_answers_probes_may_keep_its_window_closed_for_ever() {
    // RFC 9293, section 3.8.6.1, MUST-37.
    let mut lone = Lone::established(Config { retries: 3, ..plain() }, FULL, 0);
    lone.writes(100);
    for n in 0..1000 {
        lone.until(lone.c.next_deadline());
        lone.gets(ack(1, 1, 0));
        assert_eq!(lone.c.state(), State::Established, "after probe {n}");
    }
    assert_eq!(texts(&lone.gets(ack(1, 1, 5000))), [(1, 100)]);
}

#[test]
fn a_peer_that_answers_our_fin_may_keep_its_window_closed_for_ever() {
    // The same; everything written fitted into the window, and only the FIN finds it closed.
    let mut lone = Lone::established(Config { retries: 3, ..plain() }, FULL, 1000);
    lone.writes(1000);
    lone.gets(ack(1, 1001, 0));
    lone.closes();
    for n in 0..50 {
        lone.until(lone.c.next_deadline());
        lone.gets(ack(1, 1001, 0));
        assert_eq!(lone.c.state(), State::FinWait1, "after repetition {n}");
    }
    lone.gets(ack(1, 1001, 5000));
    let again = lone.until(lone.now + Span::from_secs(60));
    assert!(again.iter().any(|o| o.flags.has(FIN) && o.seq == 1001), "{again:?}");
}

#[test]
fn unanswered_probes_end_the_connection() {
    let mut lone = Lone::established(Config { retries: 3, ..plain() }, FULL, 0);
    lone.writes(100);
    let out = lone.until(ms(1_000_000));
    assert_eq!(times(&out), [1000, 3000, 7000, 15_000]);
    assert_eq!((out[3].reason, lone.c.closed()), (Reason::Reset, Some(CloseReason::TimedOut)));
}

#[test]
fn an_opening_window_is_used_at_once_whether_the_probe_was_taken_or_not() {
    for taken in [0, 1] {
        let mut lone = Lone::established(plain(), FULL, 0);
        lone.writes(2500);
        lone.until(ms(1000));
        let out = lone.gets(ack(1, 1 + taken, 5000));
        let rest = 500 - u32::try_from(taken).expect("0 or 1");
        assert_eq!(texts(&out), [(1 + taken, 1000), (1001 + taken, 1000), (2001 + taken, rest)]);
        // And the timer of ordinary data is running again, without the backoff of the probes.
        assert_eq!(lone.c.next_deadline(), ms(2000), "probe taken: {taken}");
        lone.gets(ack(1, 2501, 5000));
        assert!(lone.c.next_deadline().is_never(), "probe taken: {taken}");
    }
}

#[test]
fn a_window_that_closes_before_what_was_sent_is_lived_with() {
    // RFC 9293, section 3.8.6: shrinking is discouraged, but the sender must be robust against it.
    let mut lone = Lone::established(plain(), FULL, 5000);
    assert_eq!(lone.writes(5000).len(), 5);
    lone.gets(ack(1, 1001, 0));
    for _ in 0..20 {
        lone.until(lone.c.next_deadline());
        lone.gets(ack(1, 1001, 0));
    }
    assert_eq!(lone.c.state(), State::Established);
    let mut edge = 1001;
    for _ in 0..20 {
        for (seq, len) in texts(&lone.gets(ack(1, edge, 5000))) {
            if seq == edge {
                edge += i32::try_from(len).expect("a segment is short");
            }
        }
        if lone.c.acknowledged() < 5000 && !lone.c.next_deadline().is_never() && edge == 1001 {
            lone.until(lone.c.next_deadline());
        }
    }
    assert_eq!(lone.c.acknowledged(), 5000);
}

#[test]
fn a_transfer_behind_a_lost_window_update_completes() {
    let mut pair = Pair::new(plain(), plain(), DELAY)
        .path(|sent| if sent.reason == Reason::WindowUpdate { vec![] } else { vec![Span::ZERO] })
        .open();
    pair.server_reads = false;
    pair.write(End::Client, 25_000);
    pair.run_for(Span::from_secs(3));
    assert_eq!((pair.client.peer_window(), pair.server.readable()), (0, 10_000));
    pair.server_reads = true;
    pair.settle();
    pair.run_for(Span::from_secs(60));
    assert_eq!(pair.server_read, 25_000);
}

#[test]
fn the_receiver_opens_a_closed_window_by_a_segment_at_least() {
    // RFC 9293, section 3.8.6.2.2: min(RCV.BUFF/2, Eff.snd.MSS).
    let mut lone = Lone::established(plain(), FULL, 5000);
    for n in 0..10 {
        lone.gets(data(1 + 1000 * n, 1, 1000));
    }
    assert_eq!(lone.gets(data(10_001, 1, 1))[0].segment.window, 0);
    assert_eq!(lone.reads(999), (999, vec![]));
    let probed = lone.gets(data(10_001, 1, 1));
    assert_eq!((probed[0].ack, probed[0].segment.window), (10_001, 0), "nor does a probe pull out a sliver");
    let (_, update) = lone.reads(1);
    assert_eq!(
        update.iter().map(|o| (o.reason, o.segment.window)).collect::<Vec<_>>(),
        [(Reason::WindowUpdate, 1000)]
    );
}

#[test]
fn an_urgent_pointer_is_processed_while_the_window_is_closed() {
    // RFC 9293, section 3.8.6.1, MUST-66: of a probe that cannot be taken the pointer counts.
    let mut lone = Lone::established(plain(), FULL, 5000);
    for n in 0..10 {
        lone.gets(data(1 + 1000 * n, 1, 1000));
    }
    lone.c.record_events(true);
    let probe = Segment { flags: ACK | Flags::URG, urgent: 500, ..data(10_001, 1, 1) };
    assert_eq!(lone.gets(probe)[0].segment.window, 0);
    let heard: Vec<_> = std::iter::from_fn(|| lone.c.poll_event())
        .filter_map(|(_, event)| if let Event::Urgent { offset } = event { Some(offset) } else { None })
        .collect();
    assert_eq!(heard, [10_500]);
}

#[test]
fn an_urgent_pointer_at_a_closed_window_does_not_count_if_the_segment_must_be_dropped() {
    // RFC 7323, section 5.3 (an old timestamp); RFC 9293, section 3.10.7.4 (an ACK of what was never sent, and no ACK).
    let stamped = |value: u32, segment: Segment| {
        let timestamps = Some(Timestamps { value, echo: 0 });
        Segment { options: Options { timestamps, ..segment.options }, ..segment }
    };
    let options = Options { timestamps: Some(Timestamps { value: 700, echo: 0 }), ..FULL };
    let mut lone = Lone::established(Config { timestamps: true, ..plain() }, options, 5000);
    for n in 0..10 {
        lone.gets(stamped(700, data(1 + 1000 * n, 1, 1000)));
    }
    lone.c.record_events(true);
    let urgent = |flags, ack| Segment { flags, urgent: 500, ..data(10_001, ack, 1) };
    let acks = ACK | Flags::URG;
    for dropped in
        [stamped(699, urgent(acks, 1)), stamped(700, urgent(acks, 2)), stamped(700, urgent(Flags::URG, 1))]
    {
        let before = lone.c.state_digest_apart_from_ack();
        lone.c.handle_segment(lone.now, &dropped);
        assert_eq!(lone.c.state_digest_apart_from_ack(), before, "{dropped:?}");
    }
    lone.c.handle_segment(lone.now, &stamped(700, urgent(acks, 1)));
    let is_urgent = |event: &_| matches!(event, (_, Event::Urgent { offset: 10_500 }));
    assert_eq!(std::iter::from_fn(|| lone.c.poll_event()).filter(is_urgent).count(), 1);
}

#[test]
fn the_receiver_with_a_small_buffer_opens_its_window_by_half_of_it() {
    let mut lone = Lone::established(Config { receive_window: 1000, ..plain() }, FULL, 5000);
    lone.gets(data(1, 1, 1000));
    assert_eq!(lone.reads(499).1, []);
    assert_eq!(lone.reads(1).1.iter().map(|o| o.segment.window).collect::<Vec<_>>(), [500]);
}

#[test]
fn an_open_window_grows_with_the_acknowledgments_that_go_out_anyway() {
    let mut lone = Lone::established(plain(), FULL, 5000);
    lone.gets(data(1, 1, 1000));
    assert_eq!(lone.reads(1000).1, [], "9000 bytes are open: no update is needed");
    assert_eq!(lone.gets(data(1001, 1, 1000))[0].segment.window, 9000, "10,000 less what is not read");
}

/// The right edges that one end announced, in the order in which they left, relative to the first.
fn edges(pair: &Pair<'_>, end: End) -> Vec<i64> {
    let syn = pair.sent_by(end).find(|s| s.segment.flags.has(SYN)).expect("a SYN").segment;
    let shift = syn.options.window_scale.unwrap_or(0);
    pair.sent_by(end)
        .filter(|s| s.segment.flags.has(ACK))
        .map(|s| {
            let shift = if s.segment.flags.has(SYN) { 0 } else { shift };
            i64::from(s.segment.ack.distance_from(pair.sent[0].segment.seq))
                + (i64::from(s.segment.window) << shift)
        })
        .collect()
}

#[test]
fn the_right_edge_of_the_window_never_moves_left_and_is_never_overrun() {
    let profile = |name| profile::by_name(name).expect("a built-in profile").config.clone();
    let mut draw = 12_345_u64;
    for (name, window) in
        [("reno", 9000), ("reno", 65_535), ("rfc", 100_001), ("rfc", 1_000_003), ("linux", 3_000_017)]
    {
        let config = Config { receive_window: window, ..profile(name) };
        let mut pair = Pair::new(config.clone(), config, Span::from_ms(5)).open();
        pair.server_reads = false;
        let mut read = 0;
        for _ in 0..400 {
            pair.write(End::Client, 60_000);
            pair.run_for(Span::from_ms(30));
            draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let now = pair.now;
            let most = (draw >> 33) % u64::from(window) / 3;
            read += u64::from(pair.server.read(now, most).len);
            pair.settle();
        }
        let edges = edges(&pair, End::Server);
        let back = edges.windows(2).position(|two| two[1] < two[0]);
        assert_eq!(back, None, "{name}, {window}: {:?}", back.map(|at| &edges[at..at + 2]));
        assert!(read > 2 * u64::from(window), "{name}, {window}: only {read} bytes were read");
        // What the client sent lies below the highest edge announced, but for a probe of one byte.
        let first = pair.sent[0].segment.seq;
        let sent = pair.sent_by(End::Client).map(|s| s.segment);
        let most = sent.map(|s| i64::from(s.seq.distance_from(first)) + i64::from(s.payload.len)).max();
        assert!(
            most <= edges.last().map(|edge| edge + 1),
            "{name}, {window}: {most:?} of {:?}",
            edges.last()
        );
    }
}

#[test]
fn the_sender_does_not_use_a_sliver_of_window_while_something_is_out() {
    // RFC 9293, section 3.8.6.2.1, with Eff.snd.MSS = 1000 and Max(SND.WND) = 1500.
    let mut lone = Lone::established(plain(), FULL, 1500);
    assert_eq!(texts(&lone.writes(5000)), [(1, 1000)], "500 more would be silly");
    assert_eq!(texts(&lone.gets(ack(1, 1001, 1400))), [(1001, 1000)]);
}

#[test]
fn the_sender_uses_half_of_the_largest_window_ever_offered() {
    let mut lone = Lone::established(plain(), FULL, 600);
    assert_eq!(texts(&lone.writes(5000)), [(1, 600)], "all that the peer ever offered");
    assert_eq!(texts(&lone.gets(ack(1, 601, 300))), [(601, 300)], "half of it");
    assert_eq!(texts(&lone.gets(ack(1, 901, 299))), [], "less");
}

#[test]
fn a_sliver_of_window_is_used_in_the_end() {
    // RFC 9293, section 3.8.6.2.1, rule (4): an override timeout of 0.1 to 1 s, after which what the window permits goes.
    let mut lone = Lone::established(plain(), FULL, 600);
    lone.writes(5000);
    lone.gets(ack(1, 601, 299));
    let out = lone.until(ms(1000));
    assert_eq!((texts(&out), times(&out)), (vec![(601, 299)], vec![1000]));
    assert_eq!(texts(&lone.gets(ack(1, 900, 600))), [(900, 600)]);
}

#[test]
fn a_cap_on_the_senders_window_below_a_segment_slows_it_but_does_not_stop_it() {
    let config = Config { send_window: Some(400), ..plain() };
    let mut pair = Pair::new(config, plain(), DELAY).open();
    pair.write(End::Client, 4000);
    pair.run_for(Span::from_secs(60));
    assert_eq!(pair.server_read, 4000, "{:?}", pair.client.holding());
}

#[test]
fn scaled_windows_are_read_and_written_when_both_sides_offer_the_option() {
    // RFC 7323, section 2. A window of 2^20 needs a shift of 5.
    let config = Config { receive_window: 1 << 20, window_option: WindowOption::Rfc7323, ..plain() };
    let mut lone = Lone::closed(config);
    lone.c.open(lone.now);
    let syn = lone.poll()[0].segment;
    assert_eq!(
        (syn.options.window_scale, syn.window),
        (Some(5), 0xFFFF),
        "the SYN's own window is not scaled"
    );
    let out = lone.gets(Segment { options: scaled(7), window: 100, ..segment(SYN_ACK, 0, 1) });
    assert_eq!(lone.c.peer_window(), 100, "the window of a SYN is never scaled");
    assert_eq!(out[0].segment.window, 1 << 15);
    lone.gets(ack(1, 1, 100));
    assert_eq!(lone.c.peer_window(), 12_800);
}

#[test]
fn a_listener_answers_the_scale_only_where_it_was_offered() {
    let config = Config { receive_window: 1 << 20, window_option: WindowOption::Rfc7323, ..plain() };
    for (offer, answer) in [(Some(3), Some(5)), (None, None)] {
        let mut lone = Lone::listening(config.clone());
        let options = Options { window_scale: offer, mss: Some(1000), ..Options::NONE };
        let accept = lone.gets(Segment { options, ..segment(SYN, 0, 0) })[0].segment;
        assert_eq!((accept.options.window_scale, accept.window), (answer, 0xFFFF));
        lone.gets(ack(1, 1, 1000));
        assert_eq!(lone.c.peer_window(), if offer.is_some() { 8000 } else { 1000 });
        let field = lone.gets(data(1, 1, 1000))[0].segment.window;
        let open = if offer.is_some() { u32::from(field) << 5 } else { u32::from(field) };
        let most = if offer.is_some() { 1 << 20 } else { 65_535 };
        assert!(open <= most && open >= most - 1000 - 32, "{open} of {most}");
    }
}

#[test]
fn windows_are_plain_when_only_one_side_offers_to_scale_them() {
    let with = Config { receive_window: 1 << 20, window_option: WindowOption::Rfc7323, ..plain() };
    let mut offering = Lone::established(with, Options { mss: Some(1000), ..Options::NONE }, 5000);
    offering.gets(ack(1, 1, 6000));
    assert_eq!(offering.c.peer_window(), 6000);
    assert_eq!(offering.gets(data(1, 1, 1000))[0].segment.window, 64_535);
    let mut silent = Lone::established(plain(), scaled(4), 5000);
    silent.gets(ack(1, 1, 6000));
    assert_eq!(silent.c.peer_window(), 6000);
    assert_eq!(silent.gets(data(1, 1, 1000))[0].segment.window, 9000);
}

#[test]
fn a_shift_above_fourteen_is_read_as_fourteen() {
    // RFC 7323, section 2.3.
    let config = Config { window_option: WindowOption::Rfc7323, ..plain() };
    let mut lone = Lone::established(config, scaled(15), 5000);
    lone.gets(ack(1, 1, 3));
    assert_eq!(lone.c.peer_window(), 3 << 14);
}

#[test]
fn an_older_segment_does_not_set_the_window_back() {
    // RFC 9293, section 3.10.7.4, fifth step: SND.WL1 and SND.WL2.
    let mut lone = Lone::established(plain(), FULL, 5000);
    lone.writes(3000);
    let windows = |lone: &mut Lone, segments: &[Segment]| {
        segments
            .iter()
            .map(|s| {
                lone.gets(*s);
                lone.c.peer_window()
            })
            .collect::<Vec<_>>()
    };
    let text = |seq, acked, window| Segment { window, ..data(seq, acked, 100) };
    assert_eq!(
        windows(
            &mut lone,
            &[text(101, 1001, 4000), text(1, 1001, 3000), ack(201, 1, 2000), ack(201, 1001, 2500)]
        ),
        [4000, 4000, 4000, 2500]
    );
    // Behind a gap: a newer number, but an older acknowledgment.
    assert_eq!(windows(&mut lone, &[ack(201, 2001, 2000), text(301, 1001, 4500)]), [2000, 2000]);
}

#[test]
fn a_full_send_buffer_takes_no_more_until_something_is_acknowledged() {
    let mut lone = Lone::established(Config { send_buffer: 2500, ..plain() }, FULL, 5000);
    assert_eq!(lone.c.write(lone.now, 5000), Ok(2500));
    assert_eq!(lone.c.write(lone.now, 1), Ok(0));
    assert_eq!(texts(&lone.poll()).len(), 3);
    lone.gets(ack(1, 1001, 5000));
    assert_eq!(lone.c.write(lone.now, 5000), Ok(1000));
    assert_eq!(texts(&lone.poll()), [(2501, 1000)]);
}

#[test]
fn a_policy_that_waits_for_no_ack_uses_half_of_the_largest_window_beside_a_short_segment() {
    // RFC 9293, section 3.8.6.2.1, condition 3: less than a segment, but at least half of the largest window.
    for (short, more) in [(600, &[(601, 900)][..]), (750, &[(751, 750)]), (751, &[])] {
        let mut lone = Lone::established(plain(), FULL, 1500);
        assert_eq!(texts(&lone.writes(short)), [(1, short as u32)]);
        assert_eq!(texts(&lone.writes(5000)), more, "{short} bytes are out");
    }
}

#[test]
fn data_in_order_does_not_let_an_older_segment_set_the_window() {
    // RFC 9293, section 3.10.7.4: SND.WL1 is the sequence number of the segment that set the window last.
    let mut lone = Lone::established(plain(), FULL, 5000);
    lone.gets(ack(501, 1, 5000));
    lone.gets(data(1, 1, 100));
    lone.gets(ack(101, 1, 9000));
    assert_eq!(lone.c.peer_window(), 5000, "what begins at 101 is older than what begins at 501");
    lone.gets(ack(501, 1, 8000));
    assert_eq!(lone.c.peer_window(), 8000);
}
