//! Answers and the calls that they replace, side by side, in random bulk transfers over bad paths: both must send the same
//! segments for the same reasons, and leave the same state behind.

#[path = "../../../tests/world/writer.rs"]
mod writer;

use crate::config::{Config, Cutting, EcnUse, Grows, Recovery, profile};
use crate::congestion::Kind;
use crate::connection::pairs::Dice;
use crate::connection::prediction::ack_run::AckFacts;
use crate::connection::prediction::answer::{Answer, Space, Wish};
use crate::connection::prediction::data_run::DataFacts;
use crate::connection::prediction::in_repair::Repair;
use crate::connection::{Connection, Departure, Transmission};
use crate::receive::acking::Acking;
use crate::send::decide::ordinary::Ordinary;
use crate::send::space::Decision;
use crate::time::{Span, Time};
use crate::wire::segment::{Ecn, Segment};
use crate::wire::seq::Seq;
use std::collections::VecDeque;
use std::sync::Arc;
use writer::{waits, wishes};

fn config(dice: &mut Dice) -> Config {
    let all = profile::profiles();
    loop {
        let mut config = all[dice.below(all.len() as u64) as usize].config.clone();
        config.mss = dice.pick(&[536, 1000, 1460]);
        config.receive_window = dice.pick(&[4000, 20_000, 60_000, 1 << 20]);
        config.send_window = dice.pick(&[None, None, None, Some(5000)]);
        config.whole_segments = dice.below(8) == 0;
        config.cutting = dice.pick(&[Cutting::AtSend, Cutting::AtSend, Cutting::AtWrite]);
        if dice.below(3) == 0 {
            let delay = Span::from_ms(100);
            config.acking = dice.pick(&[Acking::EverySegment, Acking::Delayed { every: 2, delay }]);
        }
        if config.validate().is_ok() {
            return config;
        }
    }
}

/// The way in which segments are processed.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// In runs, as far as these go.
    Answers {
        in_runs: bool,
    },
    Calls,
}

/// Both ends of a transfer.
struct Transfer {
    way: Way,
    /// Bytes to write in all.
    all: u64,
    ends: [Connection; 2],
    /// The runs of the sender and of the receiver, until they are called otherwise.
    acks: Option<AckFacts>,
    data: Option<DataFacts>,
    counts: Counts,
}

/// How often fast paths were taken.
#[derive(Clone, Copy, Default)]
struct Counts {
    /// Answers of the sender and of the receiver.
    answered: [u64; 2],
    /// Those within a run that had begun before.
    in_run: [u64; 2],
    /// Those while a loss was being repaired.
    in_repair: [u64; 2],
    /// Decisions of the sender's fast path while a loss was being repaired, outside of answers.
    decided: u64,
    /// Segments of senders with pacing or marks for which the fast path decides.
    measured: u64,
}

impl Counts {
    fn and(self, other: Self) -> Self {
        let both = |one: [u64; 2], other: [u64; 2]| [one[0] + other[0], one[1] + other[1]];
        Self {
            answered: both(self.answered, other.answered),
            in_run: both(self.in_run, other.in_run),
            in_repair: both(self.in_repair, other.in_repair),
            decided: self.decided + other.decided,
            measured: self.measured + other.measured,
        }
    }
}

impl Transfer {
    /// A segment arrives at an end, or a timer may have run out. Returns what the end sends.
    fn advance(&mut self, now: Time, end: usize, arrives: Option<Segment>) -> Vec<Transmission> {
        let (mut sent, all, tcp) = (Vec::new(), self.all, &mut self.ends[end]);
        let acks = if end == 0 { self.acks.take() } else { None };
        let data = if end == 1 { self.data.take() } else { None };
        let Some(mut segment) = arrives else {
            tcp.handle_deadline(now);
            self.serve(now, end, &mut sent);
            return sent;
        };
        if self.way == Way::Calls {
            tcp.handle_any_segment(now, &segment);
            self.serve(now, end, &mut sent);
            return sent;
        }
        let in_runs = self.way == Way::Answers { in_runs: true };
        let goes_on = |answer| matches!(answer, Answer::Silent | Answer::Sent(Departure { last: true, .. }));
        let mut answer = if end == 0 {
            if let Some(mut run) = acks.or_else(|| tcp.begin_ack_run().filter(|_| in_runs)) {
                let answer = tcp.answer_ack_in_run(&mut run, now, &mut segment, |space| wishes(all, space));
                self.acks = goes_on(answer).then_some(run);
                self.counts.in_run[0] += u64::from(goes_on(answer) && acks.is_some());
                answer
            } else {
                tcp.answer_ack(now, &mut segment, |space| wishes(all, space))
            }
        } else if let Some(mut run) = data.or_else(|| tcp.begin_data_run().filter(|_| in_runs)) {
            let answer = tcp.answer_data_in_run(&mut run, now, &mut segment);
            self.data = goes_on(answer).then_some(run);
            self.counts.in_run[1] += u64::from(goes_on(answer) && data.is_some());
            answer
        } else {
            tcp.answer_data(now, &mut segment)
        };
        let who = if end == 0 { Repair::Sender } else { Repair::Receiver };
        let repairs = answer == Answer::Declined && tcp.may_answer_in_repair(who);
        if repairs {
            answer = match who {
                Repair::Sender => tcp.answer_ack_in_repair(now, &mut segment, |space| wishes(all, space)),
                Repair::Receiver => tcp.answer_data_behind_gap(now, &mut segment),
            };
        }
        match answer {
            Answer::Declined => {
                tcp.handle_segment(now, &segment);
                self.serve(now, end, &mut sent);
            }
            Answer::Taken => self.serve(now, end, &mut sent),
            Answer::Silent => {}
            Answer::Sent(departure) => {
                self.counts.answered[end] += 1;
                self.counts.in_repair[end] += u64::from(repairs);
                sent.push(Transmission { segment, reason: departure.reason });
                if !departure.last {
                    self.transmit(now, end, &mut sent);
                }
            }
        }
        sent
    }

    /// The application of an end reads or writes, and the segments of the end are sent.
    fn serve(&mut self, now: Time, end: usize, sent: &mut Vec<Transmission>) {
        if end == 1 {
            if self.ends[1].readable() > 0 {
                self.ends[1].read(now, u64::MAX);
            }
            return self.transmit(now, 1, sent);
        }
        loop {
            let tcp = &mut self.ends[0];
            let space = tcp.space();
            let is_open = tcp.state().is_synchronized();
            let writes = is_open && space.written < self.all && !waits(self.all, space);
            if writes {
                let len = space.room.min(self.all - space.written);
                assert_eq!(tcp.write(now, len), Ok(len));
            }
            self.transmit(now, 0, sent);
            if !writes {
                return;
            }
        }
    }

    fn transmit(&mut self, now: Time, end: usize, sent: &mut Vec<Transmission>) {
        let (tcp, mut segment) = (&mut self.ends[end], Segment::default());
        self.counts.decided += u64::from(decides_alike(tcp, now));
        while let Some(departure) = match self.way {
            Way::Answers { .. } => tcp.transmit_into(now, &mut segment),
            Way::Calls => tcp.transmit_any(now, &mut segment),
        } {
            sent.push(Transmission { segment, reason: departure.reason });
            self.counts.measured += u64::from(tcp.is_measured() && tcp.departs_measured());
        }
    }
}

/// Whether the fast path of a sender that repairs a loss decides. It decides as the full path does.
fn decides_alike(tcp: &Connection, now: Time) -> bool {
    let (short, full) = (tcp.decide_in_repair(), tcp.decide(now));
    match (short, full) {
        (Ordinary::Other, _) => return false,
        (Ordinary::Data { .. }, Decision::Send(plan)) => {
            assert_eq!(plan.len, u32::from(tcp.cx.agreed.payload))
        }
        (Ordinary::NoData(why), Decision::Hold(hold) | Decision::Last(_, hold)) => assert_eq!(why, hold),
        _ => panic!("{short:?} instead of {full:?}"),
    }
    true
}

/// One transfer, both ways.
fn live(seed: u64, config: impl Fn(&mut Dice) -> Config, in_runs: bool) -> Counts {
    let mut dice = Dice(seed);
    let configs = [Arc::new(config(&mut dice)), Arc::new(config(&mut dice))];
    let (loss, late) = (dice.pick(&[30, 200, 1 << 40]), dice.pick(&[20, 300, 1 << 40]));
    let (all, talks) = (dice.pick(&[100_000, u64::MAX]), dice.pick(&[50, 1 << 40]));
    // In two long round trips the retransmission timer would run out, so they show what bounds the tail loss probe.
    let delay = dice.pick(&[30, 30, 250]);
    let mut both = [Way::Answers { in_runs }, Way::Calls].map(|way| Transfer {
        way,
        all,
        ends: [
            Connection::new(Arc::clone(&configs[0]), Seq(7)),
            Connection::listen(Arc::clone(&configs[1]), Seq(u32::MAX - 20_000)),
        ],
        acks: None,
        data: None,
        counts: Counts::default(),
    });
    let mut now = Time::ZERO;
    let mut wire: VecDeque<(Time, usize, Segment)> = VecDeque::new();
    both.iter_mut().for_each(|transfer| transfer.ends[0].open(now));
    for step in 0..600 {
        let due =
            both[0].ends.each_ref().map(Connection::next_deadline).into_iter().min().unwrap_or(Time::NEVER);
        let arrives = wire.front().copied().filter(|&(at, ..)| at <= due);
        if arrives.is_some() {
            wire.pop_front();
        } else if due.is_never() && step > 0 {
            break;
        }
        now = now.max(arrives.map_or(if step > 0 { due } else { now }, |(at, ..)| at));
        let talks = dice.below(talks) == 0;
        for end in arrives.map_or(0..2, |(_, end, _)| end..end + 1) {
            let segment = arrives.map(|(.., segment)| segment);
            let [ours, theirs] = both.each_mut().map(|transfer| {
                if talks && transfer.ends[1].state().is_synchronized() {
                    let _ = transfer.ends[1].write(now, 30);
                    transfer.data = None;
                }
                transfer.advance(now, end, segment)
            });
            let place = format!("seed {seed}, step {step}, end {end}");
            assert_eq!(ours, theirs, "{place}: answers (left) and calls (right)");
            let [tcp, other] = both.each_ref().map(|transfer| &transfer.ends[end]);
            assert_eq!(tcp.next_deadline(), other.next_deadline(), "{place}");
            let is_same = tcp.state_digest() == other.state_digest();
            assert!(is_same, "{place}:\n answers {tcp:?}\n calls {other:?}\n arrived {segment:?}");
            for Transmission { mut segment, .. } in ours {
                if segment.ecn != Ecn::NotEct && dice.below(6) == 0 {
                    segment.ecn = Ecn::Ce;
                }
                if dice.below(loss) > 0 {
                    let at = now + Span::from_ms(delay + if dice.below(late) == 0 { 3 } else { 0 });
                    let place = wire.partition_point(|&(other, ..)| other <= at);
                    wire.insert(place, (at, 1 - end, segment));
                }
            }
        }
    }
    both[0].counts
}

/// The profile `linux` with a short slow start, and with windows that need not grow: runs are long.
fn linux(dice: &mut Dice) -> Config {
    let mut config = profile::by_name("linux").expect("a built-in profile").config.clone();
    config.mss = dice.pick(&[536, 1000, 1460]);
    config.initial_ssthresh = dice.pick(&[2000, 10_000, 40_000]);
    config.receive_window = dice.pick(&[20_000, 60_000, 60_000, 1 << 20]);
    config.send_buffer = dice.pick(&[100_000, 1 << 24, 1 << 24]);
    config.initial_receive_window = Some(config.receive_window);
    config.initial_send_buffer = config.initial_send_buffer.map(|first| first.min(config.send_buffer));
    config.acking = dice.pick(&[config.acking, Acking::EverySegment, Acking::EverySegment]);
    config.validate().expect("valid");
    config
}

/// Senders that nothing but SACK reports tell of losses, and receivers that count segments.
fn sack(dice: &mut Dice) -> Config {
    loop {
        let mut config = config(dice);
        config.sack = true;
        config.recovery = Recovery::Sack;
        config.limited_transmit = dice.below(2) == 0;
        config.timestamps = dice.below(2) == 0;
        config.initial_receive_window = None;
        config.acking = dice.pick(&[Acking::EverySegment, config.acking]);
        if config.validate().is_ok() {
            return config;
        }
    }
}

/// Senders that pace, sample their delivery rate, or whose packets may be marked.
fn measured(dice: &mut Dice) -> Config {
    const PROFILES: [&str; 5] = ["linux", "bbr", "dctcp", "prague", "freebsd"];
    const ALGORITHMS: [Kind; 8] = [
        Kind::NewReno,
        Kind::RenoLinux,
        Kind::CubicLinux,
        Kind::Dctcp,
        Kind::Bbr,
        Kind::Bbr3,
        Kind::Prague,
        Kind::Vegas,
    ];
    loop {
        let mut config = profile::by_name(dice.pick(&PROFILES)).expect("a built-in profile").config.clone();
        config.mss = dice.pick(&[536, 1000, 1460]);
        config.receive_window = dice.pick(&[20_000, 60_000, 1 << 20]);
        config.initial_ssthresh = dice.pick(&[10_000, 40_000, u32::MAX]);
        if dice.below(2) == 0 {
            config.congestion = dice.pick(&ALGORITHMS);
            config.ecn = dice.pick(&[EcnUse::Off, EcnUse::Rfc3168, EcnUse::Rfc3168, EcnUse::Rfc9768]);
            config.pacing |= dice.below(2) == 0;
        }
        if config.validate().is_ok() {
            return config;
        }
    }
}

fn live_all(seeds: u64, config: fn(&mut Dice) -> Config) -> Counts {
    let each = (0..seeds).map(|seed| live(seed, config, !seed.is_multiple_of(4)));
    each.fold(Counts::default(), Counts::and)
}

#[test]
fn an_answer_does_the_same_as_the_calls_that_it_replaces() {
    let Counts { answered, .. } = live_all(400, config);
    assert!(answered.iter().all(|&count| count > 10_000), "{answered:?}");
}

#[test]
fn an_answer_in_a_run_does_the_same_too() {
    let Counts { in_run, in_repair, .. } = live_all(400, linux);
    assert!(in_run.iter().all(|&count| count > 5000), "{in_run:?}");
    // Data behind a gap, where the receive window adapts and more than the number of segments decides when an ACK leaves.
    assert!(in_repair[1] > 2000, "{in_repair:?}");
}

#[test]
fn an_answer_outside_of_runs_lets_the_probe_come_no_later_than_the_timeout_of_the_first_segment() {
    // One segment for each ACK: no other call arms the probe again.
    let rack = |dice: &mut Dice| loop {
        let mut config = sack(dice);
        (config.recovery, config.tail_loss_probe) = (Recovery::Rack, true);
        (config.acking, config.growth.grows) = (Acking::EverySegment, Grows::WhenUsed);
        if config.validate().is_ok() {
            return config;
        }
    };
    let all = (0..100).map(|seed| live(seed, rack, false)).fold(Counts::default(), Counts::and);
    assert!(all.answered[0] > 2000 && all.in_run == [0; 2], "{:?}", all.answered);
}

#[test]
fn an_answer_while_a_loss_is_being_repaired_does_the_same_too() {
    let Counts { in_repair, decided, .. } = live_all(400, sack);
    assert!(in_repair.iter().all(|&count| count > 2000), "{in_repair:?}");
    assert!(decided > 2000, "{decided}");
}

#[test]
fn header_prediction_with_pacing_and_marks_does_the_same_as_the_full_path() {
    let Counts { measured, .. } = live_all(600, measured);
    assert!(measured > 20_000, "{measured}");
}
