//! A bulk transfer over a bad path, driven twice: by answers, in runs as far as these go, and by the full procedures, segment by
//! segment. Both must send the same segments for the same reasons, and leave the same state behind.
//!
//! A property test and the fuzzer share this file.

#[path = "writer.rs"]
mod writer;

use netspurt_tcp::acking::Acking;
use netspurt_tcp::config::{Config, Recovery};
use netspurt_tcp::options::{Layout, SackBlock, Timestamps};
use netspurt_tcp::segment::{Flags, Segment};
use netspurt_tcp::seq::Seq;
use netspurt_tcp::time::{Span, Time};
use netspurt_tcp::{Answer, Connection, Departure, Repair, Space, Transmission, Wish, profile};
use std::collections::VecDeque;
use std::sync::Arc;
use writer::{waits, wishes};

/// A step: what happens, to the segments towards which end, and a number that means what the kind of step makes of it.
pub(crate) type Step = (u8, u8, u32);

/// The segments in flight in each direction: others are lost.
const MOST: usize = 200;

/// One end, twice.
struct End {
    by_answers: Connection,
    by_calls: Connection,
}

/// The transfer: end 0 sends, end 1 receives.
pub(crate) struct Answers {
    ends: [End; 2],
    now: Time,
    /// The segments in flight towards each end.
    wire: [VecDeque<Segment>; 2],
    /// Bytes to write in all.
    all: u64,
    /// Answers of each end, and those that followed another in the same run.
    pub(crate) answered: [u64; 2],
    pub(crate) in_run: [u64; 2],
    /// Segments that arrived while an end was repairing a loss, and that answers were asked for.
    pub(crate) in_repair: [u64; 2],
}

/// A configuration from three numbers: the profile, and whether its windows and its ACKs are those of long runs.
fn config([name, windows, acking]: [u8; 3]) -> Config {
    let all = profile::profiles();
    // Only this profile has runs.
    let linux = all.iter().position(|one| one.name == "linux").unwrap_or(0);
    let number = if name < 128 { linux } else { usize::from(name) % all.len() };
    let usual = &all[number].config;
    let mut config = usual.clone();
    config.mss = [536, 1000, 1460][usize::from(windows % 3)];
    config.receive_window = [20_000, 60_000, 1 << 20][usize::from(windows / 3 % 3)];
    if windows >= 128 && config.initial_receive_window.is_some() {
        config.initial_receive_window = Some(config.receive_window);
        config.initial_ssthresh = 10_000;
    }
    if acking >= 128 {
        config.acking = Acking::EverySegment;
    }
    if acking % 4 == 1 {
        // Nothing but SACK shows losses: both ends answer in repairs, too.
        (config.sack, config.recovery, config.initial_receive_window) = (true, Recovery::Sack, None);
    }
    if config.validate().is_ok() { config } else { usual.clone() }
}

impl Answers {
    /// Two ends with configurations from these numbers; `all` bytes are sent.
    pub(crate) fn new(configs: [[u8; 3]; 2], all: u64) -> Self {
        let configs = configs.map(|numbers| Arc::new(config(numbers)));
        let client = || {
            let mut tcp = Connection::new(Arc::clone(&configs[0]), Seq(7));
            tcp.open(Time::ZERO);
            tcp
        };
        let server = || Connection::listen(Arc::clone(&configs[1]), Seq(u32::MAX - 20_000));
        let ends = [
            End { by_answers: client(), by_calls: client() },
            End { by_answers: server(), by_calls: server() },
        ];
        let mut this = Self {
            ends,
            now: Time::ZERO,
            wire: [VecDeque::new(), VecDeque::new()],
            all,
            answered: [0; 2],
            in_run: [0; 2],
            in_repair: [0; 2],
        };
        (0..2).for_each(|end| this.compare(end, [Vec::new(), Vec::new()]));
        // Most steps shall meet an open connection.
        (0..4).for_each(|n| this.step((0, (n + 1) % 2, 0)));
        this
    }

    /// Carries out one step.
    pub(crate) fn step(&mut self, (kind, end, n): Step) {
        let end = usize::from(end & 1);
        match kind % 16 {
            // Delivery in order is the most frequent step: runs live on it.
            0..=9 => self.deliver(end, 1 + n as usize % 16),
            10 => drop(self.wire[end].pop_front()),
            11 => {
                if let Some(first) = self.wire[end].pop_front() {
                    let place = n as usize % (self.wire[end].len() + 1);
                    self.wire[end].insert(place, first);
                }
            }
            12 => {
                if let Some(first) = self.wire[end].front_mut() {
                    *first = changed(*first, n);
                }
            }
            13 => self.pass(Span::from_ms(u64::from(n % 300))),
            14 => self.pass(Span::from_us(u64::from(n % 3000))),
            _ => self.disturb(end, n),
        }
    }

    /// Up to `most` segments arrive at an end, one after the other.
    fn deliver(&mut self, end: usize, most: usize) {
        let mut arriving: VecDeque<Segment> = VecDeque::new();
        while arriving.len() < most
            && let Some(segment) = self.wire[end].pop_front()
        {
            arriving.push_back(segment);
        }
        while !arriving.is_empty() {
            let (sent, count) = self.take_by_answers(end, &mut arriving.clone());
            let mut called = Vec::new();
            for segment in arriving.drain(..count) {
                self.ends[end].by_calls.handle_any_segment(self.now, &segment);
                self.serve(end, false, &mut called);
            }
            self.compare(end, [sent, called]);
        }
    }

    /// An end takes segments by answers, up to the first that ends a run. Returns what it sends, and how many it took.
    fn take_by_answers(
        &mut self,
        end: usize,
        arriving: &mut VecDeque<Segment>,
    ) -> (Vec<Transmission>, usize) {
        let (now, all, before) = (self.now, self.all, arriving.len());
        let (mut sent, mut in_run) = (Vec::new(), 0);
        let tcp = &mut self.ends[end].by_answers;
        let mut last = None;
        let mut take = |answer: &mut dyn FnMut(&mut Segment) -> Answer| {
            while let Some(mut segment) = arriving.pop_front() {
                let answer = answer(&mut segment);
                in_run += 1;
                if let Answer::Sent(Departure { reason, .. }) = answer {
                    sent.push(Transmission { segment, reason });
                }
                if !matches!(answer, Answer::Silent | Answer::Sent(Departure { last: true, .. })) {
                    last = Some((answer, segment));
                    return;
                }
            }
        };
        let runs = match end {
            0 => tcp.ack_run().map(|mut run| {
                take(&mut |segment| run.answer(now, segment, |space| wishes(all, space)));
            }),
            _ => tcp.data_run().map(|mut run| take(&mut |segment| run.answer(now, segment))),
        };
        let mut in_repair = 0;
        if runs.is_none() {
            take(&mut |segment| {
                let (who, answer) = match end {
                    0 => (Repair::Sender, tcp.answer_ack(now, segment, |space| wishes(all, space))),
                    _ => (Repair::Receiver, tcp.answer_data(now, segment)),
                };
                if answer != Answer::Declined || !tcp.may_answer_in_repair(who) {
                    return answer;
                }
                in_repair += 1;
                match who {
                    Repair::Sender => tcp.answer_ack_in_repair(now, segment, |space| wishes(all, space)),
                    Repair::Receiver => tcp.answer_data_behind_gap(now, segment),
                }
            });
        }
        self.in_repair[end] += in_repair;
        self.answered[end] += sent.len() as u64;
        self.in_run[end] += if runs.is_some() { in_run - 1 } else { 0 };
        match last {
            Some((Answer::Declined, segment)) => {
                self.ends[end].by_answers.handle_segment(now, &segment);
                self.serve(end, true, &mut sent);
            }
            Some((Answer::Taken, _)) => self.serve(end, true, &mut sent),
            Some((Answer::Sent(_), _)) => self.transmit(end, true, &mut sent),
            _ => {}
        }
        (sent, before - arriving.len())
    }

    /// The application of an end reads or writes, and the segments of the end are sent.
    fn serve(&mut self, end: usize, answers: bool, sent: &mut Vec<Transmission>) {
        let (now, all) = (self.now, self.all);
        if end == 1 {
            let reader = self.way(1, answers);
            if reader.readable() > 0 {
                reader.read(now, u64::MAX);
            }
            return self.transmit(1, answers, sent);
        }
        loop {
            let tcp = self.way(0, answers);
            let space = tcp.space();
            let writes = tcp.state().is_synchronized() && space.written < all && !waits(all, space);
            // A connection that is over takes no more.
            let wrote = writes && tcp.write(now, space.room.min(all - space.written)).is_ok();
            self.transmit(0, answers, sent);
            if !wrote {
                return;
            }
        }
    }

    fn transmit(&mut self, end: usize, answers: bool, sent: &mut Vec<Transmission>) {
        let (now, mut segment) = (self.now, Segment::default());
        let tcp = self.way(end, answers);
        while let Some(departure) =
            if answers { tcp.transmit_into(now, &mut segment) } else { tcp.transmit_any(now, &mut segment) }
        {
            sent.push(Transmission { segment, reason: departure.reason });
        }
    }

    fn way(&mut self, end: usize, answers: bool) -> &mut Connection {
        let End { by_answers, by_calls } = &mut self.ends[end];
        if answers { by_answers } else { by_calls }
    }

    /// Time passes, and timers run out.
    fn pass(&mut self, span: Span) {
        let until = self.now + span;
        while let Some(due) = (0..2).map(|end| self.ends[end].by_calls.next_deadline()).min()
            && due <= until
        {
            self.now = self.now.max(due);
            (0..2).for_each(|end| self.call(end, |tcp, now| tcp.handle_deadline(now)));
        }
        self.now = until;
    }

    /// An end does what ends its runs, and answers must go on behind it.
    fn disturb(&mut self, end: usize, n: u32) {
        match n % 4 {
            0 if end == 1 => self.call(1, |tcp, now| _ = tcp.write(now, 30)),
            1 if n.is_multiple_of(16) => self.call(end, |tcp, now| tcp.close(now)),
            2 => self.call(end, |tcp, _| tcp.record_events(n.is_multiple_of(3))),
            _ => self.call(end, |tcp, now| tcp.handle_deadline(now)),
        }
    }

    /// Calls both ways of an end, and serves it.
    fn call(&mut self, end: usize, call: impl Fn(&mut Connection, Time)) {
        let now = self.now;
        let sent = [true, false].map(|answers| {
            call(self.way(end, answers), now);
            let mut sent = Vec::new();
            self.serve(end, answers, &mut sent);
            sent
        });
        self.compare(end, sent);
    }

    /// What both ways have sent is the same, and so is their state. It is on its way then.
    fn compare(&mut self, end: usize, mut sent: [Vec<Transmission>; 2]) {
        for (answers, sent) in [true, false].into_iter().zip(&mut sent) {
            self.transmit(end, answers, sent);
        }
        let [ours, theirs] = sent;
        assert_eq!(ours, theirs, "answers (left) and calls (right) of end {end}");
        let End { by_answers, by_calls } = &mut self.ends[end];
        loop {
            let events = [by_answers.poll_event(), by_calls.poll_event()];
            assert_eq!(events[0], events[1], "answers (left) and calls (right) of end {end}");
            if events[0].is_none() {
                break;
            }
        }
        assert_eq!(by_answers.next_deadline(), by_calls.next_deadline(), "end {end}");
        let is_same = by_answers.state_digest() == by_calls.state_digest();
        assert!(is_same, "end {end}:\n answers {by_answers:?}\n calls {by_calls:?}");
        for Transmission { segment, .. } in ours {
            if self.wire[1 - end].len() < MOST {
                self.wire[1 - end].push_back(segment);
            }
        }
    }
}

/// The segment with one field changed. An answer is written over it, so its header length stays that of its options.
fn changed(mut segment: Segment, n: u32) -> Segment {
    let amount = (n >> 4) % 5000;
    match n % 9 {
        0 => segment.seq = segment.seq.plus(amount),
        1 => segment.ack = segment.ack.minus(amount),
        2 => segment.ack = segment.ack.plus(amount),
        3 => segment.window = amount as u16,
        4 => segment.flags = Flags(segment.flags.0 ^ 1 << (amount % 6)),
        5 => segment.payload.len = amount % 1461,
        6 => segment.options.timestamps = Some(Timestamps { value: amount, echo: n }),
        7 if segment.options.sack.as_slice().len() < 3 => {
            let left = segment.ack.plus(amount);
            segment.options.sack.push(SackBlock { left, right: left.plus(1 + n % 3000) });
        }
        _ => segment.options.timestamps = None,
    }
    segment.header_len = 20 + segment.options.wire_len(Layout::SHARED);
    segment
}
