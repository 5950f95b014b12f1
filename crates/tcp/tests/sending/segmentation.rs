//! How large segments are, when they leave and when they are acknowledged.

use crate::common::lone::{
    ACK, FIN_ACK, FULL, Lone, Out, SYN, SYN_ACK, ack, data, plain, segment, theirs, times,
};
use crate::common::ms;
use netspurt_tcp::Behind;
use netspurt_tcp::acking::Acking;
use netspurt_tcp::config::{Config, InitialWindow, MssCounts};
use netspurt_tcp::event::Event;
use netspurt_tcp::options::{Options, SackBlock, Timestamps};
use netspurt_tcp::reason::Reason;
use netspurt_tcp::segment::{Flags, Segment};
use netspurt_tcp::time::Span;
use netspurt_tcp::transmit::Transmit;

fn texts(out: &[Out]) -> Vec<(i32, u32)> {
    out.iter().filter(|o| o.len > 0).map(|o| (o.seq, o.len)).collect()
}

#[test]
fn every_syn_names_our_mss() {
    // RFC 9293, section 3.7.1.
    let mut lone = Lone::closed(plain());
    lone.c.open(lone.now);
    assert_eq!(lone.poll()[0].segment.options.mss, Some(1000));
    let accept = Lone::listening(plain()).gets(segment(SYN, 0, 0))[0].segment;
    assert_eq!((accept.options.mss, accept.header_len), (Some(1000), 24));
}

#[test]
fn segments_are_no_longer_than_either_side_takes() {
    // MUST-15: 536 where the peer names nothing; MUST-16.
    for (named, payload) in
        [(None, 536), (Some(400), 400), (Some(1000), 1000), (Some(9000), 1000), (Some(0), 64)]
    {
        let options = Options { mss: named, ..Options::NONE };
        let mut active = Lone::established(plain(), options, 5000);
        let mut passive = Lone::listening(plain());
        passive.gets(Segment { options, ..segment(SYN, 0, 0) });
        passive.gets(ack(1, 1, 5000));
        for lone in [&mut active, &mut passive] {
            assert_eq!(lone.c.segment_payload(), payload, "{named:?}");
            assert_eq!(lone.writes(2500)[0].len, payload, "{named:?}");
        }
    }
}

#[test]
fn options_shorten_a_segment_where_the_mss_counts_them() {
    let options = Options { timestamps: Some(Timestamps { value: 1, echo: 0 }), ..FULL };
    for (mss_counts, payload) in [(MssCounts::DataAndOptions, 988), (MssCounts::Data, 1000)] {
        let mut lone = Lone::established(Config { timestamps: true, mss_counts, ..plain() }, options, 5000);
        let sent = lone.writes(2500);
        assert_eq!((sent[0].len, sent[0].segment.header_len), (payload, 32), "{mss_counts:?}");
    }
}

#[test]
fn segments_fit_the_path_as_soon_as_it_is_known() {
    let mut before = Lone::closed(plain());
    before.c.set_path_mtu(576);
    before.c.open(before.now);
    before.poll();
    before.gets(Segment { options: FULL, ..segment(SYN_ACK, 0, 1) });
    assert_eq!(texts(&before.writes(1000)), [(1, 536), (537, 464)]);

    let mut later = Lone::established(plain(), FULL, 5000);
    assert_eq!(texts(&later.writes(1000)), [(1, 1000)]);
    later.c.set_path_mtu(576);
    assert_eq!(texts(&later.writes(1000)), [(1001, 536), (1537, 464)]);
    let again = later.until(later.c.next_deadline());
    assert_eq!(texts(&again)[0], (1, 536), "what is resent fits as well");
    later.c.set_path_mtu(9000);
    assert_eq!(later.c.segment_payload(), 1000, "a larger path does not move what was agreed on");
}

#[test]
fn options_and_the_path_are_counted_together() {
    let options = Options { timestamps: Some(Timestamps { value: 1, echo: 0 }), ..FULL };
    let mut lone = Lone::established(Config { timestamps: true, ..plain() }, options, 5000);
    lone.c.set_path_mtu(576);
    let sent = lone.writes(2000)[0].segment;
    assert_eq!(20 + sent.wire_len(), 576, "IP header and segment");
}

#[test]
fn every_second_segment_is_acknowledged_at_once_and_a_single_one_after_the_delay() {
    let acking = Acking::Delayed { every: 2, delay: Span::from_ms(200) };
    let mut lone = Lone::established(Config { acking, ..plain() }, FULL, 5000);
    lone.until(ms(100));
    assert_eq!(lone.gets(data(1, 1, 1000)), []);
    lone.until(ms(150));
    let second = lone.gets(data(1001, 1, 1000));
    assert_eq!(second.iter().map(|o| (o.ack, o.reason)).collect::<Vec<_>>(), [(2001, Reason::Ack)]);
    assert_eq!(lone.until(ms(1000)), [], "and the timer of the first is off");
    lone.gets(data(2001, 1, 1000));
    let late = lone.until(ms(2000));
    assert_eq!((times(&late), late[0].ack, late[0].reason), (vec![1200], 3001, Reason::DelayedAck));
}

#[test]
fn what_fills_a_gap_is_acknowledged_at_once_in_whole_and_in_part() {
    // RFC 5681, section 4.2.
    let acking = Acking::Delayed { every: 2, delay: Span::from_ms(200) };
    let mut lone = Lone::established(Config { acking, ..plain() }, FULL, 5000);
    lone.gets(data(1001, 1, 1000));
    lone.gets(data(3001, 1, 1000));
    let part = lone.gets(data(1, 1, 1000));
    assert_eq!(part.iter().map(|o| (o.ack, o.reason)).collect::<Vec<_>>(), [(2001, Reason::Ack)]);
    let whole = lone.gets(data(2001, 1, 1000));
    assert_eq!(whole.iter().map(|o| (o.ack, o.reason)).collect::<Vec<_>>(), [(4001, Reason::Ack)]);
    assert_eq!(lone.gets(data(4001, 1, 500)), [], "the next one waits again");
}

#[test]
fn a_partly_duplicate_segment_is_acknowledged_at_once() {
    // RFC 5681, section 4.2; RFC 2883, section 4: the D-SACK block names the bytes that were received before.
    let acking = Acking::Delayed { every: 2, delay: Span::from_ms(40) };
    let options = Options { sack_permitted: true, ..FULL };
    let mut lone = Lone::established(Config { acking, sack: true, ..plain() }, options, 5000);
    lone.gets(data(1, 1, 1000));
    lone.gets(data(1001, 1, 1000));
    assert_eq!(lone.gets(data(2001, 1, 100)), [], "new data waits");
    assert_eq!(lone.passes(Span::from_ms(40)).len(), 1);
    let out = lone.gets(data(1601, 1, 1000));
    assert_eq!(out.iter().map(|o| (o.ack, o.reason)).collect::<Vec<_>>(), [(2601, Reason::Ack)]);
    assert_eq!(
        out[0].segment.options.sack.as_slice(),
        [SackBlock { left: theirs(1601), right: theirs(2101) }]
    );
    assert_eq!(lone.gets(data(2601, 1, 100)), [], "the next one waits again");
}

#[test]
fn every_segment_is_acknowledged_where_nothing_is_delayed() {
    let mut lone = Lone::established(plain(), FULL, 5000);
    for n in 0..5 {
        assert_eq!(lone.gets(data(1 + 100 * n, 1, 100)).len(), 1);
    }
}

#[test]
fn a_free_tick_sends_what_waits_whenever_it_came() {
    let acking = Acking::FreeTick { every: 2, period: Span::from_ms(200), phase: Span::from_ms(30) };
    for (came, left) in [(100, 230), (229, 230), (230, 430)] {
        let mut lone = Lone::established(Config { acking, ..plain() }, FULL, 5000);
        lone.until(ms(came));
        lone.gets(data(1, 1, 1000));
        assert_eq!(times(&lone.until(ms(1000))), [left]);
    }
}

#[test]
fn data_in_the_other_direction_carries_the_delayed_ack() {
    let acking = Acking::Delayed { every: 2, delay: Span::from_ms(200) };
    let mut lone = Lone::established(Config { acking, ..plain() }, FULL, 5000);
    lone.gets(data(1, 1, 1000));
    assert_eq!(lone.writes(100)[0].ack, 1001);
    lone.gets(ack(1001, 101, 5000));
    assert_eq!(lone.until(ms(5000)), []);
}

#[test]
fn what_looks_like_a_loss_is_acknowledged_at_once() {
    // RFC 5681, section 4.2: out of order, filling a gap, and old; RFC 9293 for the FIN.
    let acking = Acking::Delayed { every: 2, delay: Span::from_ms(200) };
    let mut lone = Lone::established(Config { acking, ..plain() }, FULL, 5000);
    let mut answer = |s: Segment| lone.gets(s).iter().map(|o| (o.ack, o.reason)).collect::<Vec<_>>();
    assert_eq!(answer(data(2001, 1, 1000)), [(1, Reason::DuplicateAck)], "behind a gap");
    assert_eq!(answer(data(4001, 1, 1000)), [(1, Reason::DuplicateAck)], "behind two");
    assert_eq!(answer(data(1, 1, 1000)), [(1001, Reason::Ack)], "in order, before a gap");
    assert_eq!(answer(data(1001, 1, 1000)), [(3001, Reason::Ack)], "fills the first");
    assert_eq!(answer(data(1, 1, 1000)), [(3001, Reason::DuplicateAck)], "an old one");
    assert_eq!(answer(segment(FIN_ACK, 5001, 1)), [(3001, Reason::DuplicateAck)], "a FIN behind a gap");
    assert_eq!(answer(data(3001, 1, 1000)), [(5002, Reason::Ack)], "fills the last, up to the FIN");
}

#[test]
fn nagle_holds_a_short_segment_while_anything_is_unacknowledged() {
    // RFC 9293, section 3.7.4.
    let mut lone = Lone::established(Config { transmit: Transmit::NagleStrict, ..plain() }, FULL, 5000);
    assert_eq!(texts(&lone.writes(300)), [(1, 300)], "nothing is out");
    assert_eq!(texts(&lone.writes(300)), []);
    assert_eq!(texts(&lone.writes(800)), [(301, 1000)], "a full one leaves");
    assert_eq!(texts(&lone.gets(ack(1, 301, 5000))), []);
    assert_eq!(texts(&lone.gets(ack(1, 1301, 5000))), [(1301, 100)]);
    assert_eq!(texts(&lone.writes(50)), []);
    let last = lone.closes();
    assert_eq!(
        (texts(&last), last[0].flags.has(Flags::FIN)),
        (vec![(1401, 50)], true),
        "the end does not wait"
    );
}

#[test]
fn without_nagle_every_write_leaves_at_once() {
    let mut lone = Lone::established(plain(), FULL, 5000);
    for n in 0..5 {
        assert_eq!(texts(&lone.writes(10)), [(1 + 10 * n, 10)]);
    }
}

#[test]
fn an_end_of_data_is_marked() {
    // RFC 9293, MUST-61: PSH on the last segment of a write.
    let mut lone = Lone::established(plain(), FULL, 5000);
    let pushed: Vec<bool> = lone.writes(2500).iter().map(|o| o.flags.has(Flags::PSH)).collect();
    assert_eq!(pushed, [false, false, true]);
}

#[test]
fn a_part_of_a_write_carries_no_mark_and_its_last_one_does() {
    let mut lone = Lone::established(plain(), FULL, 5000);
    let mut pushed = |len, behind| {
        assert_eq!(lone.c.write_part(lone.now, len, behind), Ok(len));
        lone.poll().iter().map(|o| (o.len, o.flags.has(Flags::PSH))).collect::<Vec<_>>()
    };
    assert_eq!(pushed(1048, Behind::More), [(1000, false), (48, false)]);
    assert_eq!(pushed(500, Behind::More), [(500, false)]);
    assert_eq!(pushed(200, Behind::Nothing), [(200, true)]);
}

/// Ten segments sent and acknowledged, one ACK each, so that cwnd has grown; then silence.
fn grown(idle_restart: bool) -> Lone {
    let config = Config { idle_restart, initial_window: InitialWindow::Segments(2), ..plain() };
    let mut lone = Lone::established(config, FULL, 50_000);
    lone.writes(10_000);
    for n in 1..=10 {
        lone.gets(ack(1, 1 + 1000 * n, 50_000));
    }
    assert_eq!(lone.c.acknowledged(), 10_000);
    lone
}

#[test]
fn a_window_unused_for_longer_than_the_timeout_starts_again() {
    // RFC 5681, section 4.1: RW = min(IW, cwnd) after more than one RTO without sending.
    for (idle_restart, idle, cwnd) in [(true, 1001, 2000), (true, 999, 12_000), (false, 100_000, 12_000)] {
        let mut lone = grown(idle_restart);
        assert_eq!(lone.c.cwnd(), 12_000);
        lone.passes(Span::from_ms(idle));
        lone.writes(1);
        assert_eq!(lone.c.cwnd(), cwnd, "after {idle} ms of silence, restart: {idle_restart}");
    }
}

#[test]
fn the_urgent_pointer_is_sent_until_the_urgent_data_is_sent() {
    // RFC 9293, section 3.8.5: it points just behind the urgent data.
    let mut lone = Lone::established(plain(), FULL, 5000);
    assert_eq!(lone.c.write(lone.now, 500), Ok(500));
    assert_eq!(lone.c.write_urgent(lone.now, 1000), Ok(1000));
    assert_eq!(lone.c.write(lone.now, 1000), Ok(1000));
    let pointers: Vec<_> =
        lone.poll().iter().map(|o| (o.seq, o.flags.has(Flags::URG), o.segment.urgent)).collect();
    assert_eq!(pointers, [(1, true, 1500), (1001, true, 500), (2001, false, 0)]);
}

#[test]
fn an_urgent_pointer_beyond_16_bits_has_its_largest_value() {
    let mut lone = Lone::established(plain(), FULL, 5000);
    assert_eq!(lone.c.write_urgent(lone.now, 70_000), Ok(70_000));
    assert_eq!(lone.poll()[0].segment.urgent, u16::MAX);
}

#[test]
fn urgent_data_is_announced_to_the_application_once() {
    // Section 3.10.7.4, sixth step: where the pointer moves ahead of what was read.
    let mut lone = Lone::established(plain(), FULL, 5000);
    lone.c.record_events(true);
    let urgent =
        |seq: i32, urgent: u16, len: u32| Segment { flags: ACK | Flags::URG, urgent, ..data(seq, 1, len) };
    let mut heard = |s: Segment| {
        lone.gets(s);
        std::iter::from_fn(|| lone.c.poll_event())
            .filter_map(|(_, event)| if let Event::Urgent { offset } = event { Some(offset) } else { None })
            .collect::<Vec<_>>()
    };
    assert_eq!(heard(urgent(1, 150, 100)), [150], "even before all of it has come");
    assert_eq!(heard(urgent(101, 50, 100)), [], "the same pointer");
    assert_eq!(heard(urgent(201, 10, 100)), [210], "a new one");
    assert_eq!(heard(urgent(1, 50, 100)), [], "an old one");
}
