//! The log of departures held against an older one, which kept first and later transmissions in maps of their own.

use crate::ranges::{Range, RangeSet};
use crate::recovery::flight::journal::Journal;
use crate::recovery::flight::{Flight, Sent};
use crate::time::{Span, Time};
use proptest::prelude::*;

const LEN: u64 = 100;

/// What happens to a sender; numbers are reduced to what is outstanding.
#[derive(Clone, Copy, Debug)]
enum Step {
    Send(u64),
    Ack(u64),
    Report(u64, u64),
    Resend(u64),
    /// Up to so many of the oldest are held lost, as by detection or a timeout.
    Lose(u64),
    Undo,
    Forget,
    Wait(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (1..6_u64).prop_map(Step::Send),
        2 => (0..8_u64).prop_map(Step::Ack),
        4 => (0..40_u64, 1..4_u64).prop_map(|(first, count)| Step::Report(first, count)),
        4 => (0..40_u64).prop_map(Step::Resend),
        3 => (1..5_u64).prop_map(Step::Lose),
        1 => Just(Step::Undo),
        1 => Just(Step::Forget),
        3 => (0..3_u64).prop_map(Step::Wait),
    ]
}

#[derive(Default)]
struct Both {
    flight: Flight,
    journal: Journal,
    sacked: RangeSet,
    resent: RangeSet,
    una: u64,
    nxt: u64,
    ms: u64,
    undone: bool,
}

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

fn segments(first: u64, count: u64) -> Range {
    Range::new(1 + first * LEN, 1 + (first + count) * LEN)
}

impl Both {
    fn take(&mut self, step: Step) {
        let out = self.nxt - self.una;
        match step {
            Step::Wait(ms) => self.ms += ms,
            Step::Send(n) => (0..n).for_each(|_| {
                let range = segments(self.nxt, 1);
                self.flight.add(range.start, range.end, at(self.ms));
                self.journal.add(range.start, range.end, at(self.ms));
                self.nxt += 1;
            }),
            Step::Ack(n) => {
                self.una += n.min(out);
                let una = segments(self.una, 0).start;
                self.flight.forget_below(una);
                self.journal.forget_below(una);
                self.sacked.remove_below(una);
                self.resent.remove_below(una);
            }
            Step::Report(first, count) if out > 0 => {
                let first = self.una + first % out;
                let _ = self.sacked.insert(segments(first, count.min(self.nxt - first)));
            }
            Step::Resend(n) if out > 0 => {
                let range = segments(self.una + n % out, 1);
                if self.sacked.covered_within(range) == 0 {
                    // Time passes between transmissions of the same segment.
                    self.ms += 1;
                    let _ = self.resent.insert(range);
                    self.flight.add_again(range, at(self.ms));
                    self.journal.add_again(range, at(self.ms));
                }
            }
            Step::Lose(n) => (0..n).for_each(|_| {
                let oldest = self.flight.oldest(&self.sacked);
                assert_eq!(oldest, self.oldest_by_journal());
                if let Some(oldest) = oldest {
                    self.flight.hold_lost(oldest);
                    self.journal.drop_oldest();
                }
            }),
            Step::Undo => {
                self.undone = true;
                self.flight.restore_lost();
                self.journal.restore_lost();
            }
            // The whole flight is retransmitted in order, as the sender does.
            Step::Forget if out > 0 => {
                self.flight.forget_all();
                self.journal.clear();
                self.sacked.clear();
                self.ms += 1;
                for n in self.una..self.nxt {
                    let _ = self.resent.insert(segments(n, 1));
                    self.flight.add_again(segments(n, 1), at(self.ms));
                    self.journal.add_again(segments(n, 1), at(self.ms));
                }
            }
            Step::Report(..) | Step::Resend(_) | Step::Forget => {}
        }
    }

    /// The older log may still name what was acknowledged.
    fn oldest_by_journal(&mut self) -> Option<Sent> {
        loop {
            let oldest = self.journal.oldest(&self.sacked)?;
            if oldest.range.end > segments(self.una, 0).start {
                return Some(oldest);
            }
            self.journal.drop_oldest();
            self.journal.forget_below(segments(self.una, 0).start);
        }
    }

    fn compare(&mut self) {
        assert_eq!(self.flight.oldest(&self.sacked), self.oldest_by_journal());
        // The older log takes what an undo gives back for sent again.
        if !self.undone {
            assert_eq!(self.flight.resends(&self.resent, &self.sacked), self.journal.resends(&self.sacked));
        }
        // Of several that are held lost it looks at the last alone.
        for n in self.una..self.nxt {
            for range in self.sacked.missing_in(segments(n, 1)) {
                let range = Range::new(range.start, range.end.min(segments(self.nxt, 0).start));
                if !range.is_empty() {
                    assert_eq!(
                        self.flight.delivered(range, |_| true).newest.map(|sent| sent.at),
                        self.journal.newest_of(range).map(|sent| sent.at)
                    );
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn both_logs_agree_about_whole_segments(steps in proptest::collection::vec(step(), 1..80)) {
        let mut both = Both::default();
        for step in steps {
            both.take(step);
            both.compare();
        }
    }

    /// Retransmissions that begin and end anywhere, held against a time for each position.
    #[test]
    fn parts_of_segments_that_leave_again_are_known_by_position(
        resends in proptest::collection::vec((0..40_u64, 1..30_u64, 0..4_u64), 1..40),
    ) {
        const END: u64 = 50;
        let (mut flight, mut una) = (Flight::default(), 0);
        let mut left = vec![(Time::ZERO, false); END as usize];
        for n in 0..END / 10 {
            flight.add(10 * n, 10 * n + 10, at(n));
            left[(10 * n) as usize..(10 * n + 10) as usize].fill((at(n), false));
        }
        for (turn, (start, len, acked)) in (100..).zip(resends) {
            let range = Range::new(start.max(una), (start + len).min(END));
            if range.is_empty() {
                continue;
            }
            flight.add_again(range, at(turn));
            left[range.start as usize..range.end as usize].fill((at(turn), true));
            una = (una + acked).min(END - 1);
            flight.forget_below(una);
            for position in una..END {
                let sent = flight.delivered(Range::new(position, position + 1), |_| true).newest.expect("it is out");
                prop_assert_eq!((sent.at, sent.again), left[position as usize]);
            }
            let oldest = flight.oldest(&RangeSet::default()).expect("something is out");
            let least = left[una as usize..].iter().map(|left| left.0).min();
            prop_assert_eq!(Some(oldest.at), least);
        }
    }
}

#[test]
fn acknowledged_parts_of_a_retransmission_are_not_sent_again() {
    let mut flight = Flight::default();
    flight.add(1, 525, at(0));
    flight.add(525, 1049, at(0));
    flight.add_again(Range::new(1, 525), at(10));
    // The peer acknowledges a part of the first segment.
    flight.forget_below(513);
    let nothing = RangeSet::new();
    let first = flight.oldest(&nothing).unwrap();
    flight.hold_lost(first);
    let again = flight.oldest(&nothing).unwrap();
    assert_eq!((first.range, again.range), (Range::new(525, 1049), Range::new(513, 525)));
    // Data below the acknowledged position does not enter the log, whose ends would not ascend then.
    flight.add_again(Range::new(1, 513), at(20));
    assert_eq!(flight.last_start(), 525);
}

#[test]
fn a_retransmission_holds_whole_segments_if_one_fits() {
    let mut flight = Flight::default();
    for end in [901, 1801, 2001, 2101] {
        let start = if flight.len() == 0 { 1 } else { flight.end() };
        flight.add(start, end, at(0));
    }
    let fitting = |start, end| flight.fitting(Range::new(start, end));
    assert_eq!(fitting(1, 1001), Range::new(1, 901), "the second one does not fit behind the first");
    assert_eq!(fitting(901, 1901), Range::new(901, 1801));
    assert_eq!(fitting(1801, 2801), Range::new(1801, 2101), "two short ones");
    assert_eq!(fitting(1, 501), Range::new(1, 501), "a part of a segment that is too long");
    assert_eq!(fitting(401, 1401), Range::new(401, 901), "a part of it was acknowledged");
}

#[test]
fn a_report_of_many_retransmissions_looks_at_the_first_ones() {
    let mut flight = Flight::new();
    for number in 0..100 {
        let range = Range::new(1 + number * LEN, 1 + (number + 1) * LEN);
        flight.add(range.start, range.end, Time::ZERO);
        flight.add_again(range, Time::ZERO);
    }
    let whole = Range::new(1, 1 + 100 * LEN);
    assert_eq!((flight.resent_within(whole, 16), flight.resent_within(whole, 1000)), (16, 100));
    assert_eq!(flight.resent_within(Range::new(2, 1 + 3 * LEN), 16), 2, "of the first one only a part");
}
