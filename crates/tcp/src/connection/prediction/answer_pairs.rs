//! Answers and the calls that they replace, side by side, in random bulk transfers over bad paths: both must send the same
//! segments for the same reasons, and leave the same state behind.

use crate::config::{Config, Cutting, profile};
use crate::connection::pairs::Dice;
use crate::connection::prediction::answer::{Answer, Space, Wish};
use crate::connection::{Connection, Transmission};
use crate::receive::acking::Acking;
use crate::time::{Span, Time};
use crate::wire::segment::Segment;
use crate::wire::seq::Seq;
use std::collections::VecDeque;
use std::sync::Arc;

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
    Answers,
    Calls,
}

/// Both ends of a transfer.
struct Transfer {
    way: Way,
    /// Bytes to write in all.
    all: u64,
    ends: [Connection; 2],
    /// Answers that were sent, by end.
    answered: [u64; 2],
}

/// A writer waits until a part of the buffer is free.
fn waits(all: u64, space: Space) -> bool {
    let left = all - space.written;
    left > 0 && (space.room == 0 || space.room < left.min(space.buffer / 8))
}

fn wishes(all: u64, space: Space) -> Wish {
    match all - space.written {
        _ if waits(all, space) => Wish::Wait,
        left if left > space.room => Wish::Fill,
        _ => Wish::Other,
    }
}

impl Transfer {
    /// A segment arrives at an end, or a timer may have run out. Returns what the end sends.
    fn advance(&mut self, now: Time, end: usize, arrives: Option<Segment>) -> Vec<Transmission> {
        let (mut sent, all, tcp) = (Vec::new(), self.all, &mut self.ends[end]);
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
        let answer = match end {
            0 => tcp.answer_ack(now, &mut segment, |space| wishes(all, space)),
            _ => tcp.answer_data(now, &mut segment),
        };
        match answer {
            Answer::Declined => {
                tcp.handle_segment(now, &segment);
                self.serve(now, end, &mut sent);
            }
            Answer::Taken => self.serve(now, end, &mut sent),
            Answer::Silent => {}
            Answer::Sent(departure) => {
                self.answered[end] += 1;
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
            self.ends[1].read(now, u64::MAX);
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
        while let Some(departure) = match self.way {
            Way::Answers => tcp.transmit_into(now, &mut segment),
            Way::Calls => tcp.transmit_any(now, &mut segment),
        } {
            sent.push(Transmission { segment, reason: departure.reason });
        }
    }
}

/// One transfer, both ways. Returns the numbers of answers.
fn live(seed: u64) -> [u64; 2] {
    let mut dice = Dice(seed);
    let configs = [Arc::new(config(&mut dice)), Arc::new(config(&mut dice))];
    let (loss, late) = (dice.pick(&[30, 200, 1 << 40]), dice.pick(&[20, 300, 1 << 40]));
    let (all, talks) = (dice.pick(&[100_000, u64::MAX]), dice.pick(&[50, 1 << 40]));
    let mut both = [Way::Answers, Way::Calls].map(|way| Transfer {
        way,
        all,
        ends: [
            Connection::new(Arc::clone(&configs[0]), Seq(7)),
            Connection::listen(Arc::clone(&configs[1]), Seq(u32::MAX - 20_000)),
        ],
        answered: [0; 2],
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
                }
                transfer.advance(now, end, segment)
            });
            let place = format!("seed {seed}, step {step}, end {end}");
            assert_eq!(ours, theirs, "{place}: answers (left) and calls (right)");
            let [tcp, other] = both.each_ref().map(|transfer| &transfer.ends[end]);
            assert_eq!(tcp.next_deadline(), other.next_deadline(), "{place}");
            let is_same = tcp.state_digest() == other.state_digest();
            assert!(is_same, "{place}:\n answers {tcp:?}\n calls {other:?}\n arrived {segment:?}");
            for Transmission { segment, .. } in ours {
                if dice.below(loss) > 0 {
                    let at = now + Span::from_ms(if dice.below(late) == 0 { 33 } else { 30 });
                    let place = wire.partition_point(|&(other, ..)| other <= at);
                    wire.insert(place, (at, 1 - end, segment));
                }
            }
        }
    }
    both[0].answered
}

#[test]
fn an_answer_does_the_same_as_the_calls_that_it_replaces() {
    let mut answered = [0; 2];
    for seed in 0..400 {
        let [acks, data] = live(seed);
        answered = [answered[0] + acks, answered[1] + data];
    }
    assert!(answered.iter().all(|&count| count > 10_000), "{answered:?}");
}
