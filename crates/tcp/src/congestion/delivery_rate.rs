//! How fast the network delivers: one sample for each acknowledgment (draft-cheng-iccrg-delivery-rate-estimation, now a
//! section of draft-ietf-ccwg-bbr; Linux, `tcp_rate.c`).
//!
//! Each departure notes what had been delivered by then, and when. Once it is acknowledged, all that was delivered since,
//! divided by the time that took, is a sample: never more than the path carries, as the longer of the times between
//! departures and between acknowledgments counts. What was sent while the application had nothing more to send is marked:
//! it tells of the application, not of the path.

use crate::congestion::pacing;
use crate::ranges::Range;
use crate::time::{Span, Time};
use std::collections::VecDeque;

/// How long the shortest round trip is remembered (Linux: `tcp_min_rtt_wlen`).
const MEMORY: Span = Span::from_secs(300);

/// What a sender repairs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Repairing {
    /// Nothing is known to be lost.
    #[default]
    Nothing,
    /// A loss that was noticed without a timeout.
    Loss,
    /// A timeout.
    Timeout,
}

/// What was delivered while one segment was on its way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interval {
    /// Bytes delivered in all when it left.
    pub prior_delivered: u64,
    /// Bytes delivered since.
    pub delivered: u64,
    /// In which time: the longer of what the departures and what the acknowledgments took.
    pub span: Span,
    /// The application had nothing to send in between.
    pub app_limited: bool,
    /// Bytes in flight when it had left, itself among them.
    pub tx_in_flight: u64,
    /// Bytes lost since.
    pub lost: u64,
}

impl Interval {
    /// Bytes per second.
    pub fn rate(&self) -> u64 {
        pacing::rate(self.delivered, self.span)
    }
}

/// A segment that was found lost, as it last left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LostSegment {
    /// Its positions in the stream.
    pub start: u64,
    /// Behind it.
    pub end: u64,
    /// Bytes in flight when it had left, itself among them.
    pub tx_in_flight: u64,
    /// Bytes found lost since, itself among them.
    pub lost: u64,
    /// The application had nothing to send around then.
    pub app_limited: bool,
}

/// What one acknowledgment tells of deliveries. All amounts in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RateSample {
    /// Delivered in all.
    pub delivered: u64,
    /// When the last of it was.
    pub delivered_at: Time,
    /// Lost in all.
    pub lost: u64,
    /// Delivered as this acknowledgment is the first to say.
    pub newly_delivered: u64,
    /// Found lost since the sample before.
    pub newly_lost: u64,
    /// The rate, where there is one: nothing new tells nothing, and an answer that came faster than any round trip is one to
    /// an earlier transmission.
    pub interval: Option<Interval>,
    /// The round trip of the newest segment that it acknowledges, if that was sent once.
    pub rtt: Option<Span>,
    /// The least round trip of late.
    pub min_rtt: Option<Span>,
    /// The receiver may have waited with it for a second segment.
    pub maybe_delayed: bool,
    /// In flight before it came.
    pub prior_in_flight: u64,
    /// In flight now.
    pub in_flight: u64,
    /// When the next segment may leave.
    pub next_departure: Time,
    /// What is being repaired now.
    pub repairing: Repairing,
    /// The peer says what has arrived, so that more than one loss in a round trip can be told.
    pub selective: bool,
}

/// One departure: the state of the packet in the draft's terms.
#[derive(Clone, Copy, Debug)]
struct Departure {
    /// Position behind it; it begins where the one before ends.
    end: u64,
    /// P.send_time.
    sent: Time,
    /// It had been sent before.
    again: bool,
    /// P.first_send_time.
    first_sent: Time,
    /// P.delivered and P.delivered_time.
    delivered: u64,
    delivered_at: Time,
    app_limited: bool,
    /// P.tx_in_flight and P.lost.
    in_flight: u64,
    lost: u64,
}

/// The measure of one connection.
#[derive(Debug, Default)]
pub(crate) struct DeliveryRate {
    /// What is out, in the order of positions; what was sent again stands where it first did.
    log: VecDeque<Departure>,
    /// Where the first of them begins.
    edge: u64,
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    lost: u64,
    /// Until so much is delivered, samples tell of the application; 0 if they do not.
    app_limited_until: u64,
    /// Of what is counted as delivered, what no report has named: a duplicate ACK without SACK tells that something arrived,
    /// not what.
    unnamed: u64,
    min_rtt: Option<(Span, Time)>,
    rtt: Option<Span>,
    /// The last sample that the application did not limit, or the largest since that it did.
    told: Option<Interval>,
    ack: Ack,
}

/// What the acknowledgment that is being taken in has told so far.
#[derive(Clone, Copy, Debug, Default)]
struct Ack {
    delivered: u64,
    prior_in_flight: u64,
    newest: Option<Departure>,
    lost_before: u64,
}

/// What a segment leaves behind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaving {
    pub(crate) now: Time,
    pub(crate) range: Range,
    /// Bytes unacknowledged, and in flight, before.
    pub(crate) outstanding: u64,
    pub(crate) in_flight: u64,
}

/// The state of the connection once an acknowledgment has been taken in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    pub(crate) now: Time,
    pub(crate) in_flight: u64,
    pub(crate) next_departure: Time,
    pub(crate) repairing: Repairing,
    pub(crate) selective: bool,
    pub(crate) mss: u64,
}

impl DeliveryRate {
    /// The round trip of the opening segments.
    pub(crate) fn begin(&mut self, now: Time, rtt: Option<Span>) {
        self.min_rtt = rtt.map(|rtt| (rtt, now));
    }

    /// A segment leaves, for the first time or again.
    pub(crate) fn leaves(&mut self, segment: Leaving) {
        let Leaving { now, range, outstanding, in_flight } = segment;
        if outstanding == 0 {
            (self.first_sent, self.delivered_at) = (now, now);
        }
        let departure = Departure {
            end: range.end,
            sent: now,
            again: false,
            first_sent: self.first_sent,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            app_limited: self.app_limited_until > 0,
            in_flight: in_flight + range.len(),
            lost: self.lost,
        };
        let end = self.log.back().map_or(self.edge, |last| last.end);
        if self.log.is_empty() {
            self.edge = range.start;
        } else if range.start < end {
            for (_, earlier) in self.within(range) {
                *earlier = Departure { end: earlier.end, again: true, ..departure };
            }
        }
        if self.log.is_empty() || range.end > end {
            self.log.push_back(departure);
        }
    }

    /// What of the log touches `range`.
    fn within(&mut self, range: Range) -> impl Iterator<Item = (u64, &mut Departure)> {
        let first = self.log.partition_point(|departure| departure.end <= range.start);
        let start = if first == 0 { self.edge } else { self.log[first - 1].end };
        let mut next = start;
        self.log
            .range_mut(first..)
            .map(move |departure| (core::mem::replace(&mut next, departure.end), departure))
            .take_while(move |(start, _)| *start < range.end)
    }

    /// `range` was found lost: tells of each segment in it.
    pub(crate) fn lose(&mut self, range: Range, mut tell: impl FnMut(&LostSegment)) {
        let mut lost = self.lost;
        for (start, departure) in self.within(range) {
            let (start, end) = (start.max(range.start), departure.end.min(range.end));
            lost += end - start;
            tell(&LostSegment {
                start,
                end,
                tx_in_flight: departure.in_flight,
                lost: lost - departure.lost,
                app_limited: departure.app_limited,
            });
        }
        self.lost += range.len();
    }

    /// An acknowledgment comes, `in_flight` bytes being on their way.
    pub(crate) fn open(&mut self, in_flight: u64) {
        self.ack.prior_in_flight = in_flight;
    }

    /// About so many bytes have arrived, of which it will be known later which ones (Linux, `tcp_add_reno_sack()`).
    pub(crate) fn deliver_unnamed(&mut self, bytes: u64) {
        self.unnamed += bytes;
        self.count(bytes);
    }

    fn count(&mut self, bytes: u64) {
        self.delivered += bytes;
        self.ack.delivered += bytes;
    }

    /// All of `range` has arrived, as the acknowledgment is the first to say.
    pub(crate) fn deliver(&mut self, now: Time, range: Range) {
        let counted = self.unnamed.min(range.len());
        self.unnamed -= counted;
        self.count(range.len() - counted);
        let mut newest = self.ack.newest;
        let mut learnt = None;
        for (_, &mut departure) in self.within(range) {
            let order = |d: &Departure| (d.delivered, d.sent, d.end);
            if newest.is_none_or(|newest| order(&departure) > order(&newest)) {
                newest = Some(departure);
            }
            if !departure.again {
                learnt = Some(now - departure.sent);
            }
        }
        self.ack.newest = newest;
        if let Some(rtt) = learnt {
            self.rtt = Some(rtt);
            if self.min_rtt.is_none_or(|(least, at)| rtt <= least || now - at > MEMORY) {
                self.min_rtt = Some((rtt, now));
            }
        }
    }

    /// Everything below `una` is acknowledged.
    pub(crate) fn forget_below(&mut self, una: u64) {
        while self.log.front().is_some_and(|first| first.end <= una) {
            self.log.pop_front();
        }
        self.edge = self.edge.max(una);
    }

    /// The round trip that the acknowledgment being taken in shows.
    pub(crate) fn rtt(&self) -> Option<Span> {
        self.rtt
    }

    /// The application has less than a segment to send, though the window has room: until all that is in flight is
    /// delivered, samples tell of the application.
    pub(crate) fn limit(&mut self, in_flight: u64) {
        self.app_limited_until = (self.delivered + in_flight).max(1);
    }

    /// The sample to tell a user.
    pub(crate) fn told(&self) -> Option<Interval> {
        self.told
    }

    /// Whether samples tell of the application now.
    pub(crate) fn is_app_limited(&self) -> bool {
        self.app_limited_until > 0
    }

    /// All that the acknowledgment says has been taken in.
    pub(crate) fn conclude(&mut self, taken: Taken) -> RateSample {
        let ack = core::mem::take(&mut self.ack);
        self.ack.lost_before = self.lost;
        if self.app_limited_until > 0 && self.delivered > self.app_limited_until {
            self.app_limited_until = 0;
        }
        if ack.delivered > 0 {
            self.delivered_at = taken.now;
        }
        let interval = ack.newest.map(|newest| {
            self.first_sent = newest.sent;
            let (sending, arriving) = (newest.sent - newest.first_sent, taken.now - newest.delivered_at);
            Interval {
                prior_delivered: newest.delivered,
                delivered: self.delivered - newest.delivered,
                span: sending.max(arriving),
                app_limited: newest.app_limited,
                tx_in_flight: newest.in_flight,
                lost: self.lost - newest.lost,
            }
        });
        let least = self.min_rtt.map_or(Span::ZERO, |(least, _)| least);
        let interval = interval.filter(|interval| interval.span > Span::ZERO && interval.span >= least);
        if let Some(new) = interval
            && (!new.app_limited || self.told.is_none_or(|told| new.rate() >= told.rate()))
        {
            self.told = Some(new);
        }
        RateSample {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            lost: self.lost,
            newly_delivered: ack.delivered,
            newly_lost: self.lost - ack.lost_before,
            interval,
            rtt: self.rtt.take(),
            min_rtt: self.min_rtt.map(|(least, _)| least),
            // A receiver waits with the ACK of a lone segment that is not full.
            maybe_delayed: ack.delivered > 0
                && ack.delivered < taken.mss
                && ack.newest.is_some_and(|newest| newest.delivered + ack.delivered == self.delivered),
            prior_in_flight: ack.prior_in_flight,
            in_flight: taken.in_flight,
            next_departure: taken.next_departure,
            repairing: taken.repairing,
            selective: taken.selective,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn segment(n: u64) -> Range {
        Range::new(1 + n * MSS, 1 + (n + 1) * MSS)
    }

    /// A sender whose segments number from 0.
    #[derive(Default)]
    struct Sender {
        rate: DeliveryRate,
        una: u64,
        nxt: u64,
    }

    impl Sender {
        fn send(&mut self, ms: u64, segments: u64) {
            for _ in 0..segments {
                let outstanding = (self.nxt - self.una) * MSS;
                let range = segment(self.nxt);
                self.rate.leaves(Leaving { now: at(ms), range, outstanding, in_flight: outstanding });
                self.nxt += 1;
            }
        }

        fn ack(&mut self, ms: u64, segments: u64) -> RateSample {
            self.rate.open((self.nxt - self.una) * MSS);
            let end = self.una + segments;
            self.rate.deliver(at(ms), Range::new(1 + self.una * MSS, 1 + end * MSS));
            self.una = end;
            self.rate.forget_below(1 + end * MSS);
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
    fn acknowledgments_that_come_all_at_once_do_not_deceive() {
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
    fn duplicate_acks_count_at_once_and_not_again_when_it_is_known_what_they_told_of() {
        let mut sender = Sender::default();
        sender.send(0, 10);
        for n in 0..9 {
            sender.rate.open(10 * MSS);
            sender.rate.deliver_unnamed(MSS);
            let sample = sender.conclude(40 + n);
            assert_eq!((sample.delivered, sample.newly_delivered), ((n + 1) * MSS, MSS));
            assert_eq!(sample.interval, None);
        }
        sender.rate.leaves(Leaving { now: at(49), range: segment(0), outstanding: 10 * MSS, in_flight: MSS });
        let sample = sender.ack(89, 10);
        assert_eq!((sample.delivered, sample.newly_delivered), (10 * MSS, MSS));
    }

    #[test]
    fn what_was_sent_again_counts_from_its_last_departure_and_shows_no_round_trip() {
        let mut sender = Sender::default();
        sender.send(0, 4);
        sender.ack(40, 1);
        let mut told = Vec::new();
        sender.rate.lose(segment(1), |lost| told.push(*lost));
        // It left as the second, and nothing was lost before.
        let expected = LostSegment {
            start: segment(1).start,
            end: segment(1).end,
            tx_in_flight: 2 * MSS,
            lost: MSS,
            app_limited: false,
        };
        assert_eq!(told, [expected]);
        sender.rate.leaves(Leaving {
            now: at(60),
            range: segment(1),
            outstanding: 3 * MSS,
            in_flight: 2 * MSS,
        });
        sender.rate.open(3 * MSS);
        sender.rate.deliver(at(100), segment(1));
        let sample = sender.conclude(100);
        assert_eq!((sample.rtt, sample.newly_delivered, sample.newly_lost), (None, MSS, MSS));
        assert_eq!(sample.interval.expect("a sample").prior_delivered, MSS);
        assert_eq!(sender.conclude(101).newly_lost, 0);
    }

    #[test]
    fn an_answer_that_is_too_fast_for_any_round_trip_is_no_sample() {
        let mut sender = Sender::default();
        sender.send(0, 2);
        sender.ack(40, 1);
        let again = Leaving { now: at(79), range: segment(1), outstanding: MSS, in_flight: MSS };
        sender.rate.leaves(again);
        sender.rate.open(MSS);
        sender.rate.deliver(at(80), segment(1));
        // The departures took longer: from the first one acknowledged before to this.
        assert_eq!(sender.conclude(80).interval.expect("a sample").span, Span::from_ms(79));
        sender.una = 2;
        sender.send(90, 1);
        sender.rate.leaves(Leaving { now: at(95), range: segment(2), outstanding: MSS, in_flight: MSS });
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
}
