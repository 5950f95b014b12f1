//! Tests of RACK against small scripts of transmissions and deliveries.

use super::*;
use crate::recovery::rack::reordering::Reordering;

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

/// RACK with its log.
struct Logged {
    rack: Rack,
    flight: Flight,
    least: LeastRtt,
}

impl Default for Logged {
    fn default() -> Self {
        Self { rack: Rack::new(None), flight: Flight::new(), least: LeastRtt::NONE }
    }
}

impl core::ops::Deref for Logged {
    type Target = Rack;

    fn deref(&self) -> &Rack {
        &self.rack
    }
}

impl core::ops::DerefMut for Logged {
    fn deref_mut(&mut self) -> &mut Rack {
        &mut self.rack
    }
}

impl Logged {
    fn deliver(&mut self, now: Time, range: Range) {
        self.rack.deliver(&self.flight, &mut self.least, now, (range, true), |_| true);
    }

    fn detect(&mut self, now: Time, window: Span, sacked: &RangeSet) -> bool {
        self.rack.detect(&mut self.flight, now, window, sacked).any
    }

    fn resend(&mut self, range: Range, now: Time) {
        self.flight.add_again(range, now);
        self.rack.resend(range, false);
    }

    fn window(&self, loss_is_likely: bool, srtt: Option<Span>) -> Span {
        self.rack.repairs.reordering.window(self.least, loss_is_likely, srtt)
    }

    fn acknowledge(&mut self, una: u64) {
        self.flight.forget_below(una);
        self.rack.acknowledge(una);
    }
}

/// Ten segments of 100 bytes, a millisecond apart, on a path of 40 ms; the given ones are reported when due.
fn after(arrived: &[u64]) -> (Logged, RangeSet) {
    let (mut rack, mut sacked) = (Logged::default(), RangeSet::default());
    for n in 0..10 {
        rack.flight.add(1 + 100 * n, 101 + 100 * n, at(n));
    }
    for &n in arrived {
        let range = Range::new(1 + 100 * n, 101 + 100 * n);
        rack.deliver(at(40 + n), range);
        sacked.insert(range);
    }
    (rack, sacked)
}

#[test]
fn what_left_before_something_that_arrived_is_lost_after_the_reordering_window() {
    let (mut rack, sacked) = after(&[1]);
    let window = rack.window(false, Some(Span::from_ms(40)));
    assert_eq!(window, Span::from_ms(10));
    assert!(!rack.detect(at(41), window, &sacked));
    // It left at 0, what arrived took 40 ms.
    assert_eq!(rack.deadline, at(50));
    assert!(rack.detect(at(50), window, &sacked));
    assert_eq!((rack.repairs.lost.first(), rack.repairs.lost.covered()), (Some(Range::new(1, 101)), 100));
    assert_eq!(rack.pipe(1, 1001, 100, 0), 800);
    assert_eq!(rack.pipe(1, 1001, 100, 50), 850);
}

#[test]
fn a_retransmission_that_an_undo_finds_in_the_network_is_there_beside_its_original() {
    let (mut rack, sacked) = after(&[1]);
    let window = rack.window(false, Some(Span::from_ms(40)));
    rack.detect(at(50), window, &sacked);
    rack.resend(Range::new(1, 101), at(51));
    assert_eq!(rack.pipe(1, 1001, 100, 0), 900);
    rack.repairs.change().hold_nothing_lost(true, &sacked);
    assert_eq!(rack.pipe(1, 1001, 100, 0), 1000);
    // It counts until it is acknowledged (`retrans_out`).
    rack.acknowledge(101);
    assert_eq!(rack.pipe(101, 1001, 100, 0), 800);
}

#[test]
fn the_timer_waits_for_the_last_of_the_segments_that_may_be_lost() {
    // Sent at 0 to 9 ms, on a path of 40 ms. The sixth arrives: five may be lost, the last of which was sent at 4 ms.
    let (mut rack, sacked) = after(&[5]);
    assert!(!rack.detect(at(45), Span::from_ms(10), &sacked));
    assert_eq!(rack.deadline, at(54));
    // An ACK that arrives meanwhile marks those that are due.
    assert!(rack.detect(at(51), Span::from_ms(10), &sacked));
    assert_eq!((rack.repairs.lost.covered(), rack.deadline), (200, at(54)));
    assert!(rack.detect(at(54), Span::from_ms(10), &sacked));
    assert_eq!((rack.repairs.lost.covered(), rack.deadline), (500, Time::NEVER));
}

#[test]
fn without_any_reordering_likely_losses_are_not_waited_for() {
    let (mut rack, sacked) = after(&[1, 2, 3]);
    assert_eq!(rack.window(true, None), Span::ZERO);
    assert!(rack.detect(at(43), Span::ZERO, &sacked));
    assert_eq!(rack.repairs.lost.covered(), 100);
}

#[test]
fn a_late_segment_that_was_not_retransmitted_shows_reordering() {
    let (rack, _) = after(&[1, 2, 0]);
    assert_eq!(rack.window(true, None), Span::from_ms(10));
}

#[test]
fn a_probe_counts_as_such_until_it_is_reported_lost_or_sent_again() {
    let last = Range::new(901, 1001);
    let probed = || {
        let (mut rack, sacked) = after(&[1, 2, 3]);
        assert_eq!(rack.probed(&sacked), 0);
        rack.rack.resend(last, true);
        rack.rack.resend(last, true);
        assert_eq!(rack.probed(&sacked), 100);
        (rack, sacked)
    };
    let (mut rack, mut sacked) = probed();
    sacked.insert(last);
    assert_eq!(rack.probed(&sacked), 0);
    let (mut lost, sacked) = probed();
    lost.lose(last, &sacked);
    assert_eq!(lost.probed(&sacked), 0);
    rack.rack.resend(last, false);
    rack.rack.resend(last, true);
    assert_eq!(rack.probed(&sacked), 0, "a probe does not take the mark of a retransmission away");
}

#[test]
fn a_retransmission_that_is_lost_is_noticed_like_any_other() {
    let (mut rack, mut sacked) = after(&[1, 2, 3]);
    rack.detect(at(43), Span::ZERO, &sacked);
    rack.resend(Range::new(1, 101), at(44));
    assert_eq!(rack.repairs.lost.covered(), 0);
    rack.flight.add(1001, 1101, at(45));
    // What left before the newest arrival is lost, the retransmission with it.
    rack.deliver(at(85), Range::new(1001, 1101));
    sacked.insert(Range::new(1001, 1101));
    assert!(rack.detect(at(85), Span::ZERO, &sacked));
    assert_eq!(rack.repairs.lost.first(), Some(Range::new(1, 101)));
}

#[test]
fn a_retransmission_that_follows_new_data_at_the_same_instant_left_after_it() {
    let (mut rack, mut sacked) = after(&[1, 2, 3]);
    rack.detect(at(43), Span::ZERO, &sacked);
    rack.flight.add(1001, 1101, at(44));
    rack.resend(Range::new(1, 101), at(44));
    // The new data arrives first. That does not show that the retransmission is lost, although its end is lower.
    let new = Range::new(1001, 1101);
    sacked.insert(Range::new(401, 1101));
    rack.deliver(at(84), new);
    assert!(!rack.detect(at(84), Span::ZERO, &sacked));
    assert_eq!(rack.repairs.lost.first(), None);
}

#[test]
fn the_round_trip_of_an_ack_is_that_of_what_it_acknowledges() {
    let (mut rack, mut sacked) = after(&[]);
    rack.deliver(at(44), Range::new(1, 101));
    rack.deliver(at(44), Range::new(201, 501));
    sacked.insert(Range::new(201, 501));
    assert_eq!(rack.latest_rtt(), Some(Span::from_ms(40)), "of the newest");
    let log = (&rack.flight, rack.least.get());
    rack.rack.prefer_acknowledged(log, at(44), Range::new(1, 101), &sacked, |_| true);
    rack.acknowledge(101);
    assert_eq!(rack.latest_rtt(), Some(Span::from_ms(44)));
    assert!(!rack.detect(at(44), Span::ZERO, &sacked), "the second left a millisecond after the first");
    assert_eq!(rack.deadline, at(45));
}

#[test]
fn an_ack_that_comes_too_soon_for_a_retransmission_is_one_of_the_original() {
    let (mut rack, sacked) = after(&[1, 2, 3]);
    rack.detect(at(43), Span::ZERO, &sacked);
    rack.resend(Range::new(1, 101), at(44));
    rack.deliver(at(46), Range::new(1, 101));
    assert_eq!(rack.newest.unwrap().at, at(3));
}

#[test]
fn a_retransmission_that_is_reported_too_soon_does_not_hide_the_segments_of_the_same_block() {
    let (mut rack, _) = after(&[0]);
    rack.resend(Range::new(101, 201), at(41));
    // The block reports 1, whose original arrived, and 2 and 3, which were sent once (`tcp_rack_advance()` for each segment).
    rack.deliver(at(46), Range::new(101, 401));
    assert_eq!(rack.newest.unwrap().at, at(3));
    assert_eq!(rack.latest_rtt(), Some(Span::from_ms(43)));
}

#[test]
fn an_ack_of_a_retransmission_and_of_what_followed_it_shows_the_order_of_the_latter() {
    let (mut rack, mut sacked) = after(&[3]);
    rack.resend(Range::new(1, 101), at(44));
    // 2 was sent once, before 3, and is reported after it (`tcp_clean_rtx_queue()`).
    rack.deliver(at(84), Range::new(1, 201));
    sacked.insert(Range::new(1, 201));
    rack.rack.note_order();
    assert_eq!(rack.rack.repairs.reordering.extent(), (1, 300));
}

#[test]
fn an_ack_of_a_part_of_a_segment_shows_no_order() {
    let (mut rack, mut sacked) = after(&[2, 3]);
    rack.deliver(at(44), Range::new(1, 51));
    rack.rack.note_order();
    assert_eq!(rack.rack.repairs.reordering.extent(), (0, 0), "tcp_clean_rtx_queue()");
    rack.deliver(at(45), Range::new(51, 101));
    sacked.insert(Range::new(1, 101));
    rack.rack.note_order();
    assert_eq!(rack.rack.repairs.reordering.extent().0, 1);
}

#[test]
fn an_ack_of_a_retransmission_and_of_a_part_of_what_followed_it_shows_no_order() {
    let (mut rack, _) = after(&[3]);
    rack.resend(Range::new(1, 101), at(44));
    rack.deliver(at(84), Range::new(1, 151));
    rack.rack.note_order();
    assert_eq!(rack.rack.repairs.reordering.extent(), (0, 0), "tcp_clean_rtx_queue() looks at whole packets");
}

#[test]
fn a_late_duplicate_is_as_late_as_the_reports_reach() {
    let (mut rack, sacked) = after(&[1, 3]);
    rack.resend(Range::new(101, 201), at(44));
    // The same segment acknowledges up to 801.
    rack.deliver(at(50), Range::new(1, 801));
    let Logged { rack, flight, .. } = &mut rack;
    rack.repairs.change().reordering = Reordering::NONE;
    rack.note_late_duplicate(flight, (Range::new(101, 201), false), &sacked, 401);
    assert_eq!(rack.repairs.reordering.extent(), (1, 300), "tcp_sacktag_one()");
}

#[test]
fn samples_of_an_ack_do_not_lower_the_minimum_by_which_the_same_ack_is_judged() {
    let (mut rack, mut sacked) = after(&[]);
    rack.least.learn(at(0), Span::from_ms(40));
    rack.resend(Range::new(1, 101), at(20));
    // The last segment is reported after 21 ms, and the retransmission of the first one acknowledged after ten.
    let before = rack.least.get();
    rack.deliver(at(30), Range::new(901, 1001));
    sacked.insert(Range::new(901, 1001));
    rack.rack.prefer_acknowledged((&rack.flight, before), at(30), Range::new(1, 101), &sacked, |_| true);
    assert_eq!(rack.latest_rtt(), Some(Span::from_ms(21)), "tcp_rack_advance()");
    rack.flight.add_again(Range::new(1, 101), at(5));
    rack.rack.prefer_acknowledged((&rack.flight, before), at(30), Range::new(1, 101), &sacked, |_| true);
    assert_eq!(rack.latest_rtt(), Some(Span::from_ms(21)), "25 ms are less than 40");
}

/// Work for each of `n` segments in flight at once, of which about one in fifty is lost: reported one by one, sent again,
/// and of what was retransmitted one in fifty lost once more.
fn work_for_each_of(n: u64) -> f64 {
    let (mut rack, mut sacked) = (Logged::default(), RangeSet::default());
    let segment = |k: u64| Range::new(1 + 100 * k, 101 + 100 * k);
    let mut dice = 1_u64;
    let mut unlucky = move || {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (dice >> 33).is_multiple_of(50)
    };
    let mut path: std::collections::VecDeque<(Time, Range)> = std::collections::VecDeque::new();
    for k in 0..n {
        rack.flight.add(segment(k).start, segment(k).end, Time::ZERO + Span::from_us(k));
        if !unlucky() {
            path.push_back((Time::ZERO + Span::from_us(k), segment(k)));
        }
    }
    let (mut una, end) = (1, segment(n - 1).end);
    let _ = crate::ranges::work::take();
    // The last segments may be lost: then a timeout would find them, which is another matter.
    while let Some((sent, range)) = path.pop_front() {
        let now = sent + Span::from_secs(2);
        rack.deliver(now, range);
        sacked.insert(range);
        if sacked.first().is_some_and(|first| first.start <= una) {
            una = sacked.first().map_or(una, |first| first.end);
            rack.acknowledge(una);
            sacked.remove_below(una);
        }
        rack.detect(now, Span::ZERO, &sacked);
        while let Some(lost) = rack.first_lost(100) {
            rack.resend(lost, now);
            if !unlucky() {
                path.push_back((now, lost));
            }
        }
    }
    assert!(end - una < 100 * n / 100, "all but the end is repaired: {una} of {end}");
    crate::ranges::work::take() as f64 / n as f64
}

#[test]
fn a_million_segments_in_flight_cost_each_hardly_more_than_a_few_thousand_do() {
    // With 64 times as many holes, a search among them has six steps more, of eight before; a walk would have 64 times
    // as many.
    let [few, million] = [1 << 14, 1 << 20].map(work_for_each_of);
    println!("elements looked at or moved for each segment: {few:.1} of 2^14, {million:.1} of 2^20");
    assert!(million < 2.0 * few && million < 150.0, "{few} {million}");
}
