//! Tests of the delayed ACKs of Linux.

use super::*;

const BOUNDS: Bounds = Bounds {
    min: Span::from_ms(40),
    max: Span::from_ms(200),
    quick: 16,
    counts: QuickCounts::Acks,
    behind_gap: Span::ZERO,
};

const ARRIVAL: Arrival = Arrival {
    shape: Shape { len: 1000, header_len: 20, flags: Flags::ACK },
    is_in_order: true,
    is_old: false,
    received: 1000,
    unacknowledged: 1000,
    is_read_quickly: true,
    opens_window: false,
    window: 60_000,
    mss: 1000,
    own_header_len: 20,
    announced: 1000,
    rto: Span::from_ms(300),
    srtt: None,
    receiver_rtt: None,
    armed: Time::NEVER,
};

/// A retransmission of data that had arrived.
const OLD: Arrival = Arrival { is_in_order: false, is_old: true, ..ARRIVAL };

fn sized(len: u32) -> Shape {
    Shape { len, flags: Flags::PSH, ..ARRIVAL.shape }
}

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

/// A state without quick ACKs; the last data arrived at 1 s.
fn settled() -> Adaptive {
    let mut adaptive = Adaptive::new(Time::ZERO);
    adaptive.arrives(at(1000), &ARRIVAL, BOUNDS);
    adaptive.leaves(at(1300), 0, BOUNDS);
    Adaptive { quick: 0, ..adaptive }
}

#[test]
fn a_connection_starts_with_sixteen_quick_acks() {
    let mut adaptive = Adaptive::new(Time::ZERO);
    for n in 0..16 {
        assert_eq!(adaptive.arrives(at(10 * n), &ARRIVAL, BOUNDS), Due::Now, "the {n}-th");
        adaptive.leaves(at(10 * n), 0, BOUNDS);
    }
    assert!(matches!(adaptive.arrives(at(160), &ARRIVAL, BOUNDS), Due::At(_)));
}

#[test]
fn a_refused_segment_with_old_data_brings_quick_acks_back_and_its_answer_is_none_of_them() {
    let mut adaptive = settled();
    adaptive.on_refused(&Arrival { is_old: false, ..OLD }, BOUNDS);
    assert_eq!(adaptive.quick, 0);
    adaptive.on_refused(&OLD, BOUNDS);
    adaptive.leaves(at(1400), 0, BOUNDS);
    assert_eq!(adaptive.quick, 16, "tcp_send_dupack(), tcp_dec_quickack_mode()");
}

#[test]
fn a_small_window_has_fewer_quick_acks_but_two_if_it_has_no_room() {
    for (window, quick) in [(60_000, 16), (10_000, 5), (2000, 1), (1000, 2)] {
        let mut adaptive = Adaptive::new(Time::ZERO);
        adaptive.arrives(at(0), &Arrival { window, ..ARRIVAL }, BOUNDS);
        assert_eq!(adaptive.quick, quick, "window {window}");
    }
}

#[test]
fn the_delay_follows_the_interval_of_segments_down_to_the_minimum() {
    let mut adaptive = settled();
    adaptive.ato = Span::from_ms(120);
    let waits: Vec<u64> = [1100, 1200, 1210, 1220, 1230, 1240, 1250, 1260]
        .map(|ms| {
            adaptive.arrives(at(ms), &ARRIVAL, BOUNDS);
            adaptive.ato.as_ps() / 1_000_000_000
        })
        .to_vec();
    // 120/2 + 100; 160/2 + 100; then 20 for each immediate successor.
    assert_eq!(waits, [160, 180, 110, 75, 57, 48, 44, 42]);
}

#[test]
fn more_than_a_full_segment_is_acknowledged_at_once_two_short_ones_are_not() {
    let mut adaptive = settled();
    let both = Arrival { unacknowledged: 1001, shape: sized(1), ..ARRIVAL };
    assert_eq!(adaptive.arrives(at(1010), &both, BOUNDS), Due::Now);
    let short = Arrival { unacknowledged: 136, shape: sized(76), ..ARRIVAL };
    assert_eq!(adaptive.arrives(at(1020), &short, BOUNDS), Due::At(at(1060)));
}

#[test]
fn quick_acks_return_after_a_pause_longer_than_the_rto() {
    let mut adaptive = settled();
    assert_eq!(adaptive.arrives(at(1301), &ARRIVAL, BOUNDS), Due::Now);
    assert_eq!(settled().arrives(at(1300), &ARRIVAL, BOUNDS), Due::At(at(1340)), "this one is not longer");
}

#[test]
fn data_within_the_ato_makes_it_interactive_and_stops_quick_acks() {
    let mut adaptive = Adaptive::new(Time::ZERO);
    assert_eq!(adaptive.arrives(at(1000), &ARRIVAL, BOUNDS), Due::Now);
    adaptive.leaves(at(1039), 100, BOUNDS);
    assert_eq!(adaptive.arrives(at(1050), &ARRIVAL, BOUNDS), Due::At(at(1090)));
    let mut late = Adaptive::new(Time::ZERO);
    late.arrives(at(1000), &ARRIVAL, BOUNDS);
    late.leaves(at(1040), 100, BOUNDS);
    assert_eq!(late.arrives(at(1050), &ARRIVAL, BOUNDS), Due::Now, "data after the ATO does not count");
}

#[test]
fn an_expired_delay_doubles_the_ato_or_ends_interactive_mode() {
    let mut adaptive = settled();
    adaptive.on_timer_ack(Span::from_ms(300), BOUNDS);
    assert_eq!(adaptive.ato, Span::from_ms(80));
    adaptive.on_timer_ack(Span::from_ms(100), BOUNDS);
    assert_eq!(adaptive.ato, Span::from_ms(100), "no longer than the timeout");
    adaptive.interactive = true;
    adaptive.on_timer_ack(Span::from_ms(300), BOUNDS);
    assert_eq!((adaptive.ato, adaptive.interactive), (Span::from_ms(40), false));
}

#[test]
fn the_delay_is_limited_by_the_rtt_and_by_the_maximum() {
    let mut adaptive = settled();
    adaptive.ato = Span::from_ms(280);
    let near = Arrival { srtt: Some(Span::from_ms(90)), ..ARRIVAL };
    assert_eq!(adaptive.wait(at(0), &near, BOUNDS), Due::At(at(90)));
    assert_eq!(adaptive.wait(at(0), &ARRIVAL, BOUNDS), Due::At(at(200)));
    let armed = Arrival { armed: at(60), ..ARRIVAL };
    assert_eq!(adaptive.wait(at(0), &armed, BOUNDS), Due::At(at(60)), "an earlier timer stays");
    let about_to = Arrival { armed: at(50), ..ARRIVAL };
    assert_eq!(
        adaptive.wait(at(0), &about_to, BOUNDS),
        Due::Now,
        "a timer that is about to expire means now"
    );
}

#[test]
fn quick_acks_return_after_a_possible_loss() {
    let mut adaptive = settled();
    adaptive.interactive = true;
    adaptive.on_possible_loss(at(1005), &OLD, BOUNDS);
    assert_eq!(adaptive.arrives(at(1010), &ARRIVAL, BOUNDS), Due::Now);
}

#[test]
fn a_short_last_segment_is_acknowledged_when_read_unless_interactive() {
    let mut adaptive = settled();
    assert!(!adaptive.is_due_once_read(1000, 0));
    adaptive.arrives(at(1010), &Arrival { shape: sized(100), unacknowledged: 100, ..ARRIVAL }, BOUNDS);
    assert!(adaptive.is_due_once_read(100, 0));
    assert!(!adaptive.is_due_once_read(100, 1), "only when all is read");
    adaptive.interactive = true;
    assert!(!adaptive.is_due_once_read(100, 0));
}

#[test]
fn behind_a_slow_reader_two_segments_are_acknowledged_when_data_is_read() {
    let mut adaptive = settled();
    let behind = Arrival { unacknowledged: 2000, is_read_quickly: false, ..ARRIVAL };
    assert_eq!(adaptive.arrives(at(1010), &behind, BOUNDS), Due::At(at(1050)));
    assert!(adaptive.is_due_once_read(2000, 8000));
    let read = Arrival { is_read_quickly: true, ..behind };
    assert_eq!(adaptive.arrives(at(1010), &read, BOUNDS), Due::Now);
}

#[test]
fn the_estimate_of_full_segments_is_limited_by_what_we_announced() {
    // The peer's MSS, less our timestamps, is 524; it sends 536 bytes without options.
    let arrival = Arrival { shape: sized(536), unacknowledged: 536, mss: 524, announced: 1448, ..ARRIVAL };
    let mut adaptive = Adaptive::new(Time::ZERO);
    adaptive.arrives(at(1000), &arrival, BOUNDS);
    assert_eq!(adaptive.full, 536);
}

#[test]
fn only_segments_that_carry_an_ack_use_up_quick_acks() {
    let older = Bounds { counts: QuickCounts::Segments, ..BOUNDS };
    for (bounds, expected) in [(BOUNDS, Due::Now), (older, Due::At(at(140)))] {
        let mut adaptive = Adaptive::new(Time::ZERO);
        assert_eq!(adaptive.arrives(at(100), &ARRIVAL, bounds), Due::Now);
        // These segments leave long after the ATO, and carry no ACK that is due.
        (0..20).for_each(|_| adaptive.leaves(at(900), 1000, bounds));
        adaptive.last = at(90);
        assert_eq!(adaptive.arrives(at(100), &ARRIVAL, bounds), expected, "{bounds:?}");
    }
}

#[test]
fn data_that_is_sent_soon_after_the_opening_makes_a_connection_interactive() {
    // Old data has set the ATO, but is none that has arrived in order (`lrcvtime`).
    for (opened, interactive) in [(100, true), (50, false)] {
        let mut adaptive = Adaptive::new(at(opened));
        adaptive.on_refused(&OLD, BOUNDS);
        adaptive.leaves(at(130), 100, BOUNDS);
        assert_eq!(adaptive.interactive, interactive);
    }
}

#[test]
fn the_last_quick_ack_sets_the_ato_to_its_minimum() {
    let mut adaptive = Adaptive { quick: 1, ato: Span::from_ms(70), ..settled() };
    adaptive.arrives(at(1060), &ARRIVAL, BOUNDS);
    adaptive.leaves(at(1060), 0, BOUNDS);
    assert_eq!((adaptive.quick, adaptive.ato), (0, BOUNDS.min));
}

#[test]
fn out_of_order_data_does_not_bring_quick_acks_back() {
    let ahead = Arrival { is_in_order: false, ..ARRIVAL };
    let older = Bounds { counts: QuickCounts::Segments, ..BOUNDS };
    for (bounds, expected) in [(BOUNDS, Due::At(at(1050))), (older, Due::Now)] {
        let mut adaptive = settled();
        adaptive.on_possible_loss(at(1005), &ahead, bounds);
        adaptive.leaves(at(1005), 0, bounds);
        assert_eq!(adaptive.arrives(at(1010), &ARRIVAL, bounds), expected, "{bounds:?}");
    }
}

#[test]
fn data_behind_a_gap_is_measured_and_gets_a_quick_ack_if_it_opens_the_window() {
    let mut adaptive = settled();
    let ahead = Arrival { is_in_order: false, shape: sized(1200), announced: 1448, ..ARRIVAL };
    adaptive.on_possible_loss(at(1005), &ahead, BOUNDS);
    assert_eq!((adaptive.full, adaptive.quick), (1200, 0));
    adaptive.on_possible_loss(at(1006), &Arrival { opens_window: true, ..ahead }, BOUNDS);
    assert_eq!(adaptive.quick, 1);
}

#[test]
fn in_interactive_mode_two_short_segments_make_the_ack_due_when_read() {
    let mut adaptive = Adaptive { interactive: true, ..settled() };
    let short = Arrival { shape: sized(10), unacknowledged: 10, ..ARRIVAL };
    adaptive.arrives(at(1010), &short, BOUNDS);
    assert!(!adaptive.is_due_once_read(10, 0));
    adaptive.arrives(at(1011), &Arrival { unacknowledged: 20, ..short }, BOUNDS);
    assert!(adaptive.is_due_once_read(20, 0));
    adaptive.leaves(at(1012), 0, BOUNDS);
    assert!(!adaptive.is_due_once_read(0, 0));
}

#[test]
fn a_full_segment_with_psh_is_acknowledged_when_read() {
    for is_pushed in [false, true] {
        let mut adaptive = settled();
        let flags = if is_pushed { Flags::PSH } else { Flags::ACK };
        let full = Arrival { shape: Shape { flags, ..ARRIVAL.shape }, ..ARRIVAL };
        adaptive.arrives(at(1010), &full, BOUNDS);
        assert_eq!(adaptive.is_due_once_read(1000, 0), is_pushed);
    }
}

#[test]
fn two_equal_segments_without_psh_set_the_estimate_of_full_ones() {
    let mut adaptive = settled();
    let shape = Shape { len: 500, header_len: 32, ..ARRIVAL.shape };
    let smaller = Arrival { shape, own_header_len: 32, ..ARRIVAL };
    adaptive.arrives(at(1010), &smaller, BOUNDS);
    assert_eq!(adaptive.full, 1000);
    adaptive.arrives(at(1020), &smaller, BOUNDS);
    assert_eq!(adaptive.full, 500);
    let pushed = Arrival { shape: Shape { len: 300, ..sized(300) }, ..smaller };
    adaptive.arrives(at(1030), &pushed, BOUNDS);
    adaptive.arrives(at(1040), &pushed, BOUNDS);
    assert_eq!(adaptive.full, 500, "PSH shows that the sender had no more");
}

#[test]
fn the_ack_of_a_fin_waits_for_an_answer() {
    let mut adaptive = Adaptive { quick: 8, ..settled() };
    let fin = Arrival { shape: Shape { flags: Flags::FIN, ..sized(0) }, unacknowledged: 1, ..ARRIVAL };
    assert_eq!(adaptive.on_fin(at(1010), &fin, BOUNDS), Due::At(at(1050)));
    let older = Bounds { counts: QuickCounts::Segments, ..BOUNDS };
    assert_eq!(adaptive.on_fin(at(1010), &fin, older), Due::Now);
    let mut fresh = Adaptive::new(Time::ZERO);
    assert_eq!(fresh.on_fin(at(1010), &fin, BOUNDS), Due::At(at(1010)), "no delay before the first data");
}

/// All states and segments of a small world: where the short way decides, the full way decides the same.
#[test]
fn an_ordinary_segment_is_treated_as_any_other() {
    let mut taken = 0;
    for case in 0..200_000_u64 {
        let mut bits =
            case.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mut draw = |count: u64| {
            bits = bits.rotate_left(17).wrapping_mul(0x94D0_49BB_1331_11EB) ^ (bits >> 7);
            (bits >> 20) % count
        };
        let counts = if draw(8) == 0 { QuickCounts::Segments } else { QuickCounts::Acks };
        let max = Span::from_ms([20, 200][draw(2) as usize]);
        let bounds = Bounds { max, counts, ..BOUNDS };
        let before = Adaptive {
            ato: Span::from_ms(10 * draw(7)),
            last: at(1000 - 10 * draw(4)),
            quick: draw(2) as u8,
            interactive: draw(2) == 0,
            full: 500 * draw(3) as u32,
            last_size: draw(3) as u32,
            scheduled: draw(2) == 0,
            ends_short: draw(2) == 0,
            ends_short_twice: draw(2) == 0,
            hurried: false,
            gap: BehindGap::new(),
        };
        let flags = [Flags::ACK, Flags::PSH, Flags::FIN][draw(3) as usize];
        let arrival = Arrival {
            shape: Shape { len: 500 * (1 + draw(2) as u32), flags, ..ARRIVAL.shape },
            unacknowledged: 500 * (1 + draw(4)),
            is_read_quickly: draw(2) == 0,
            opens_window: draw(2) == 0,
            announced: 600 * (1 + draw(2) as u32),
            srtt: (draw(2) == 0).then(|| Span::from_ms(10 * draw(5))),
            armed: [Time::NEVER, at(1005), at(1030)][draw(3) as usize],
            ..ARRIVAL
        };
        let ordinary = Ordinary {
            len: arrival.shape.len,
            flags,
            unacknowledged: arrival.unacknowledged,
            is_read_quickly: arrival.is_read_quickly,
            announced: arrival.announced,
            opens_window: arrival.opens_window,
            armed: arrival.armed,
        };
        let (mut short, mut full) = (before, before);
        match short.arrives_ordinary(at(1000), ordinary, bounds) {
            None => assert_eq!(short, before, "case {case}: the state has changed"),
            Some(due) => {
                taken += 1;
                assert_eq!(
                    due,
                    full.arrives(at(1000), &arrival, bounds),
                    "case {case}: {before:?} {arrival:?}"
                );
                assert_eq!(short, full, "case {case}: {before:?} {arrival:?}");
            }
        }
    }
    assert!(taken > 2000, "only {taken} cases took the short way");
}

#[test]
fn a_segment_that_asks_for_it_by_its_codepoint_gets_two_quick_acks() {
    let mut adaptive = Adaptive { interactive: true, ..settled() };
    assert!(matches!(adaptive.arrives(at(1250), &ARRIVAL, BOUNDS), Due::At(_)));
    adaptive.on_mark(BOUNDS);
    assert_eq!(adaptive.arrives(at(1400), &ARRIVAL, BOUNDS), Due::Now, "__tcp_ecn_check_ce()");
    assert_eq!((adaptive.quick, adaptive.interactive, adaptive.ato), (2, false, BOUNDS.min));
    // Old data is acknowledged quickly for another reason, and its codepoint says nothing.
    adaptive.on_mark(BOUNDS);
    adaptive.on_possible_loss(at(1410), &OLD, BOUNDS);
    assert!(!adaptive.hurried);
}

#[test]
fn an_ack_that_waits_leaves_with_a_segment_without_data_if_its_timer_is_about_to_expire() {
    let mut adaptive = settled();
    let arrival = Arrival { is_in_order: false, ..ARRIVAL };
    let Due::At(armed) = adaptive.arrives(at(1250), &ARRIVAL, BOUNDS) else { panic!("it waits") };
    let waiting = Arrival { armed, ..arrival };
    assert_eq!(adaptive.reconsider(at(1251), &waiting, BOUNDS), Due::At(armed), "tcp_ack_snd_check()");
    let nearly = Time::ZERO + Span::from_ps(armed.as_ps() - Span::from_ms(9).as_ps());
    assert_eq!(adaptive.reconsider(nearly, &waiting, BOUNDS), Due::Now);
}

#[test]
fn a_fourth_ack_for_a_gap_waits_and_its_timer_does_not_lengthen_the_delay() {
    let bounds = Bounds { behind_gap: Span::from_ms(1), ..BOUNDS };
    let mut adaptive = Adaptive::new(Time::ZERO);
    let behind =
        Arrival { is_in_order: false, unacknowledged: 0, receiver_rtt: Some(Span::from_ms(40)), ..ARRIVAL };
    let arrives = |adaptive: &mut Adaptive| {
        adaptive.on_possible_loss(at(5), &behind, bounds);
        let due = adaptive.behind_gap(at(5), &behind, bounds);
        if due == Due::Now {
            adaptive.leaves(at(5), 0, bounds);
        }
        due
    };
    let later = Due::At(at(6) + Span::from_us(100));
    assert_eq!([(); 4].map(|()| arrives(&mut adaptive)), [Due::Now, Due::Now, Due::Now, later]);
    let ato = adaptive.ato;
    adaptive.on_timer_ack(Span::from_ms(300), bounds);
    assert_eq!(adaptive.ato, ato);
    let waits = Arrival { armed: at(6), ..behind };
    assert_eq!(
        adaptive.reconsider(at(5), &waits, bounds),
        Due::At(at(6)),
        "segments without data change nothing"
    );
    adaptive.leaves(at(6), 0, bounds);
    assert!(!adaptive.waits_behind_gap());
    let quick = Arrival { received: 2000, ..behind };
    adaptive.quick = 9;
    assert_eq!(
        [(); 5].map(|()| adaptive.behind_gap(at(7), &quick, bounds)),
        [Due::Now; 5],
        "quick ACKs do not wait"
    );
}
