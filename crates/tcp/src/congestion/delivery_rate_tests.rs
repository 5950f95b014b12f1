//! Rate samples of a sender with a log of its own, worked out by hand.

use super::*;

const MSS: u64 = 1000;

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

fn segment(n: u64) -> Range {
    Range::new(1 + n * MSS, 1 + (n + 1) * MSS)
}

/// A sender whose segments are numbered from 0, with a log of transmissions.
#[derive(Default)]
struct Sender {
    rate: DeliveryRate,
    una: u64,
    nxt: u64,
    serial: u32,
    log: Vec<Transmission>,
    least: Option<Span>,
    anew: bool,
}

impl Sender {
    fn send(&mut self, ms: u64, segments: u64) {
        for _ in 0..segments {
            let outstanding = (self.nxt - self.una) * MSS;
            self.leave(ms, self.nxt, outstanding, outstanding);
            self.nxt += 1;
        }
    }

    /// Segment `n` is sent, for the first time or again.
    fn leave(&mut self, ms: u64, n: u64, outstanding: u64, in_flight: u64) {
        self.serial = self.serial.wrapping_add(1);
        let (range, serial) = (segment(n), self.serial);
        self.rate.leaves(Leaving { now: at(ms), serial, len: range.len(), outstanding, in_flight });
        let again = self.log.iter().any(|sent| sent.range == range);
        self.log.retain(|sent| sent.range != range);
        self.log.push(Transmission { range, serial, again });
        self.log.sort_by_key(|sent| sent.range.start);
    }

    /// The segments within `range`.
    fn within(&self, range: Range) -> Vec<Transmission> {
        let inside = |sent: &&Transmission| sent.range.start < range.end && range.start < sent.range.end;
        self.log.iter().filter(inside).copied().collect()
    }

    /// `range` is reported as delivered.
    fn deliver(&mut self, ms: u64, range: Range) {
        let segments = self.within(range);
        let rtt = self.rate.deliver(at(ms), range.len(), MSS, segments.into_iter());
        self.least = self.least.into_iter().chain(rtt).min();
    }

    fn ack(&mut self, ms: u64, segments: u64) -> RateSample {
        self.rate.open((self.nxt - self.una) * MSS, self.anew);
        let end = self.una + segments;
        self.deliver(ms, Range::new(1 + self.una * MSS, 1 + end * MSS));
        self.una = end;
        self.log.retain(|sent| sent.range.end > 1 + end * MSS);
        self.rate.forget(self.log.len(), self.log.iter().map(|sent| sent.serial));
        self.conclude(ms)
    }

    fn conclude(&mut self, ms: u64) -> RateSample {
        self.rate.conclude(Taken {
            now: at(ms),
            in_flight: (self.nxt - self.una) * MSS,
            next_departure: Time::ZERO,
            repairing: Repairing::Nothing,
            selective: true,
            mss: MSS,
            min_rtt: self.least,
        })
    }
}

/// A path of 40 ms that lets a segment pass every 2 ms, kept full.
fn steady(rounds: u64) -> (Sender, RateSample) {
    let mut sender = Sender::default();
    sender.send(0, 40);
    let last = (0..rounds).map(|n| {
        let sample = sender.ack(40 + 2 * n, 1);
        sender.send(40 + 2 * n, 1);
        sample
    });
    let last = last.last().expect("at least one");
    (sender, last)
}

#[test]
fn a_full_path_is_measured_at_its_rate() {
    let (_, sample) = steady(100);
    let interval = sample.interval.expect("a sample");
    assert_eq!(interval.rate(), 500_000);
    assert_eq!(interval.delivered, 40 * MSS);
    assert!(!interval.app_limited);
    assert_eq!((sample.rtt, sample.min_rtt), (Some(Span::from_ms(80)), Some(Span::from_ms(40))));
}

#[test]
fn acks_that_arrive_all_at_once_do_not_raise_the_rate() {
    let (mut sender, _) = steady(100);
    let held = 40 + 2 * 119;
    // Twenty ACKs that were held up somewhere come together.
    let fastest = (0..20).filter_map(|_| sender.ack(held, 1).interval).map(|i| i.rate()).max();
    assert!(fastest.expect("samples") <= 500_000, "{fastest:?}");
}

#[test]
fn the_longer_of_both_phases_counts() {
    let mut sender = Sender::default();
    // Sent over 18 ms, acknowledged within one.
    for n in 0..10 {
        sender.send(2 * n, 1);
    }
    let sample = sender.ack(58, 10);
    let interval = sample.interval.expect("a sample");
    assert_eq!((interval.delivered, interval.span), (10 * MSS, Span::from_ms(58)));
}

#[test]
fn duplicate_acks_count_as_delivered_once() {
    let mut sender = Sender::default();
    sender.send(0, 10);
    for n in 0..9 {
        sender.rate.open(10 * MSS, false);
        sender.rate.deliver_unnamed(MSS, 9 * MSS);
        let sample = sender.conclude(40 + n);
        assert_eq!((sample.delivered, sample.newly_delivered), ((n + 1) * MSS, MSS));
        assert_eq!(sample.interval, None);
    }
    sender.leave(49, 0, 10 * MSS, MSS);
    let sample = sender.ack(89, 10);
    assert_eq!((sample.delivered, sample.newly_delivered), (10 * MSS, MSS));
}

#[test]
fn without_sack_every_ack_of_new_data_delivers_a_segment_at_least() {
    let mut sender = Sender { least: Some(Span::from_ms(40)), ..Sender::default() };
    sender.send(0, 10);
    // Duplicates of data that was sent again needlessly report more than is outstanding.
    for n in 0..30 {
        sender.rate.open(10 * MSS, false);
        sender.rate.deliver_unnamed(MSS, 9 * MSS);
        let delivered = sender.conclude(40 + n).delivered;
        assert_eq!(delivered, (n + 1).min(9) * MSS);
    }
    let sample = sender.ack(80, 1);
    assert_eq!((sample.delivered, sample.newly_delivered), (10 * MSS, MSS));
    assert!(sample.interval.expect("a sample").rate() > 0);
    // Four arrive of which three had been counted, unless these are forgotten.
    assert_eq!(sender.ack(90, 4).newly_delivered, MSS);
    sender.rate.set_unnamed(0);
    assert_eq!(sender.ack(90, 4).newly_delivered, 4 * MSS);
}

#[test]
fn what_was_sent_again_counts_from_its_last_departure_and_shows_no_round_trip() {
    let mut sender = Sender::default();
    sender.send(0, 4);
    sender.ack(40, 1);
    let mut passed = Vec::new();
    let lost = sender.within(segment(1));
    sender.rate.lose((segment(1), 0), lost.into_iter(), |lost| passed.push(*lost));
    // It left as the second, and nothing was lost before.
    let expected = LostSegment {
        start: segment(1).start,
        end: segment(1).end,
        tx_in_flight: 2 * MSS,
        lost: MSS,
        app_limited: false,
    };
    assert_eq!(passed, [expected]);
    sender.leave(60, 1, 3 * MSS, 2 * MSS);
    sender.rate.open(3 * MSS, false);
    sender.deliver(100, segment(1));
    let sample = sender.conclude(100);
    assert_eq!((sample.rtt, sample.newly_delivered, sample.newly_lost), (None, MSS, MSS));
    assert_eq!(sample.interval.expect("a sample").prior_delivered, MSS);
    assert_eq!(sender.conclude(101).newly_lost, 0);
}

#[test]
fn a_lost_short_segment_counts_as_a_full_one_where_cwnd_counts_packets() {
    let mut sender = Sender::default();
    sender.send(0, 4);
    sender.ack(40, 1);
    let short = Range::new(segment(1).start, segment(1).start + 8);
    let lost = sender.within(segment(1));
    sender.rate.open(3 * MSS, false);
    sender.rate.lose((short, MSS - 8), lost.into_iter(), |_| {});
    assert_eq!(sender.conclude(100).newly_lost, MSS, "tcp_mark_skb_lost(): tp->lost counts packets");
}

#[test]
fn an_answer_that_is_too_fast_for_any_round_trip_is_no_sample() {
    let mut sender = Sender::default();
    sender.send(0, 2);
    sender.ack(40, 1);
    sender.leave(79, 1, MSS, MSS);
    sender.rate.open(MSS, false);
    sender.deliver(80, segment(1));
    // The departures took longer: from the first one acknowledged before to this.
    assert_eq!(sender.conclude(80).interval.expect("a sample").span, Span::from_ms(79));
    sender.una = 2;
    sender.send(90, 1);
    sender.leave(95, 2, MSS, MSS);
    assert_eq!(sender.ack(100, 1).interval, None);
}

#[test]
fn samples_of_an_idle_application_are_marked_until_the_bubble_has_passed() {
    let (mut sender, _) = steady(10);
    sender.rate.limit(40 * MSS);
    sender.send(60, 1);
    let marked = (0..41).filter_map(|n| sender.ack(62 + 2 * n, 1).interval).filter(|i| i.app_limited);
    assert_eq!(marked.count(), 1, "what was sent before is not");
    sender.send(200, 1);
    assert!(!sender.ack(280, 1).interval.expect("a sample").app_limited);
}

#[test]
fn retransmissions_do_not_make_the_list_of_snapshots_long() {
    let mut sender = Sender::default();
    sender.send(0, 20);
    for n in 0..10_000 {
        // The first segment stays in flight; the others are retransmitted again and again.
        sender.leave(1 + n, 1 + n % 19, 20 * MSS, 20 * MSS);
        sender.rate.forget(sender.log.len(), sender.log.iter().map(|sent| sent.serial));
    }
    assert!(sender.rate.snapshots.0.len() <= 2 * 20 + 17, "{}", sender.rate.snapshots.0.len());
    for sent in sender.log.clone() {
        let found = sender.rate.snapshots.get(sent.serial).map(|snapshot| snapshot.serial);
        assert_eq!(found, Some(sent.serial), "the latest transmission of {:?} is known", sent.range);
    }
    let sample = sender.ack(20_000, 20);
    assert_eq!((sample.delivered, sender.rate.snapshots.0.len()), (20 * MSS, 0));
}

#[test]
fn snapshots_are_found_when_numbers_wrap() {
    let mut sender = Sender { serial: u32::MAX - 4, ..Sender::default() };
    sender.send(0, 4);
    // The number 0 is used too.
    sender.send(1, 6);
    for n in 1..9 {
        sender.leave(2 + n, n, 10 * MSS, 10 * MSS);
    }
    assert_eq!(sender.ack(40, 10).interval.expect("a sample").delivered, 10 * MSS);
    assert!(sender.log.is_empty());
}

#[test]
fn what_a_timer_has_marked_lost_and_what_an_ack_without_sample_has_delivered_do_not_count_for_the_next_sample()
 {
    let mut sender = Sender { anew: true, ..Sender::default() };
    sender.send(0, 4);
    sender.ack(40, 1);
    let lost = sender.within(segment(1));
    sender.rate.lose((segment(1), 0), lost.into_iter(), |_| {});
    sender.rate.deliver_again(MSS);
    let sample = sender.ack(60, 1);
    assert_eq!((sample.newly_lost, sample.lost), (0, MSS), "tcp_ack(): lost");
    assert_eq!((sample.newly_delivered, sample.delivered), (MSS, 3 * MSS), "tcp_ack(): delivered");
    let lost = sender.within(segment(2));
    sender.rate.open(2 * MSS, true);
    sender.rate.lose((segment(2), 0), lost.into_iter(), |_| {});
    assert_eq!(sender.conclude(70).newly_lost, MSS, "marked while the ACK is processed");
}
