//! The short way and the full procedure side by side: every step of a random life is taken both ways, and each must send the
//! same segments for the same reasons and leave the same state behind.

#[path = "../../tests/world/twice.rs"]
mod twice;

use crate::config::{Config, Cutting, profile};
use crate::connection::{Connection, Transmission};
use crate::record::reason::Hold;
use crate::send::transmit::{Policy, Situation, Transmit};
use crate::time::{Span, Time};
use crate::wire::options::{Options, SackBlock, Timestamps};
use crate::wire::segment::{Flags, Payload, Segment};
use crate::wire::seq::Seq;
use std::collections::VecDeque;
use std::sync::Arc;
use twice::Twice;

/// Random numbers of the tests that hold a short way against the full one.
pub(in crate::connection) struct Dice(pub(in crate::connection) u64);

impl Dice {
    pub(in crate::connection) fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    pub(in crate::connection) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

/// A policy of the user's own, which no ACK sets anything free for.
#[derive(Debug)]
struct Impatient;

impl Policy for Impatient {
    fn hold(&self, _: &Situation) -> Option<Hold> {
        None
    }

    fn is_released_by_acks(&self) -> bool {
        false
    }
}

const POLICIES: [Transmit; 8] = [
    Transmit::NoDelay,
    Transmit::NagleStrict,
    Transmit::NagleLiberal,
    Transmit::Minshall,
    Transmit::Linux22,
    Transmit::Doupnik,
    Transmit::DoupnikLiberal,
    Transmit::Cork,
];

fn config(dice: &mut Dice) -> Config {
    let all = profile::profiles();
    loop {
        let mut config = all[dice.below(all.len() as u64) as usize].config.clone();
        config.transmit = dice.pick(&POLICIES);
        config.mss = dice.pick(&[100, 536, 1000, 1460]);
        config.receive_window = dice.pick(&[500, 1500, 1900, 2500, 4000, 20_000, 1 << 20]);
        config.send_window = dice.pick(&[None, None, Some(700), Some(1800), Some(5000)]);
        config.whole_segments = dice.one_in(6);
        config.cutting = dice.pick(&[Cutting::AtSend, Cutting::AtSend, Cutting::AtWrite]);
        config.limited_transmit = dice.one_in(2);
        if config.validate().is_ok() {
            return config;
        }
    }
}

/// What the peer, or an attacker who knows the numbers, might send.
fn invented(tcp: &Connection, now: Time, dice: &mut Dice) -> Segment {
    let (snd, rcv) = (tcp.snd.space(), &tcp.rcv);
    let ahead = dice.pick(&[0, 0, 0, 0, 0, 1, 100, u64::from(rcv.window())]);
    let acked =
        dice.pick(&[0, 0, 1, 100, 536, 1000, 1460, snd.max() - snd.una(), snd.max() - snd.una() + 1, 90_000]);
    let len = dice.pick(&[0, 0, 1, 100, 536, 1000, 5000]);
    let flags = dice.pick(&[Flags::NONE, Flags::NONE, Flags::NONE, Flags::PSH, Flags::URG]);
    let position = rcv.nxt() + ahead;
    let clock = crate::timestamp(now);
    let value =
        tcp.rcv.ts_recent().wrapping_add(dice.pick(&[0, 0, 1, 50, u32::MAX, i32::MAX.cast_unsigned()]));
    let echo = clock.wrapping_sub(dice.pick(&[0, 5, 30, 60, 1000, 1 << 30, u32::MAX, 3 << 30]));
    let mut options = Options::NONE;
    if tcp.cx.agreed.timestamps && !dice.one_in(10) {
        options.timestamps = Some(Timestamps { value, echo });
    }
    if tcp.cx.agreed.sack && dice.one_in(4) && snd.max() > snd.una() + 2 {
        let left = snd.una() + dice.below(snd.max() - snd.una());
        let right = left + 1 + dice.below(snd.max() - left);
        options.sack.push(SackBlock { left: snd.seq(left), right: snd.seq(right) });
    }
    let shift = tcp.cx.agreed.shifts().0;
    let same = (snd.wnd() >> shift) as u16;
    Segment {
        seq: rcv.seq(position),
        ack: if dice.one_in(20) {
            snd.seq(snd.una()).minus(acked as u32)
        } else {
            snd.seq(snd.una() + acked)
        },
        flags: Flags::ACK | flags,
        header_len: 20 + options.wire_len(tcp.cx.config.layout),
        window: if dice.one_in(4) { dice.pick(&[0, 1, 40, 900, 30_000]) } else { same },
        urgent: 1,
        payload: Payload { offset: position.saturating_sub(1) + u64::from(dice.one_in(20)), len },
        options,
        ..Segment::default()
    }
}

/// One life: a transfer over a bad path with an adversary beside it.
fn live(seed: u64) -> (u64, u64) {
    let mut dice = Dice(seed);
    let configs = [Arc::new(config(&mut dice)), Arc::new(config(&mut dice))];
    let (loss, forgery) = (dice.pick(&[20, 100, 1 << 40]), dice.pick(&[5, 30, 1 << 40]));
    let make = |n: usize| match n {
        0 => Connection::new(Arc::clone(&configs[0]), Seq(7)),
        _ => Connection::listen(Arc::clone(&configs[1]), Seq(u32::MAX - 20_000)),
    };
    let mut ends = [0, 1].map(|n| Twice::new(seed, || make(n)));
    if dice.one_in(6) {
        ends.iter_mut().for_each(|end| end.each(|tcp| tcp.set_transmit(Box::new(Impatient))));
    }
    let (mut now, mut sent) = (Time::ZERO, 0);
    let mut wire: VecDeque<(Time, usize, Segment)> = VecDeque::new();
    ends.iter_mut().for_each(|end| end.each(|tcp| tcp.record_events(seed % 8 == 3)));
    ends[0].each(|tcp| tcp.open(Time::ZERO));
    // Most lives are of open connections. In the others one end closes, or both, with data that waits.
    let closes = [0, 1].map(|_| if dice.one_in(4) { dice.below(300) } else { u64::MAX });
    for turn in 0..400 {
        for (n, end) in ends.iter_mut().enumerate() {
            if turn == closes[n] {
                end.each(|tcp| tcp.write(now, 40_000).ok());
                end.each(|tcp| tcp.close(now));
            }
            if dice.one_in(3) {
                let most = dice.pick(&[u64::MAX, u64::MAX, 300, 0]);
                end.each(|tcp| tcp.read(now, most));
            }
            if dice.one_in(3) {
                let len = dice.pick(&[1, 30, 300, 900, 1100, 4000, 20_000]);
                end.each(|tcp| tcp.write(now, len).ok());
            }
            while let Some(Transmission { segment, .. }) = end.poll_transmit(now) {
                sent += 1;
                if !dice.one_in(loss) {
                    wire.push_back((now + Span::from_ms(30), 1 - n, segment));
                }
            }
            end.drain_events();
        }
        if dice.one_in(forgery) {
            let end = &mut ends[dice.below(2) as usize];
            if end.state().is_synchronized() {
                let segment = invented(end, now, &mut dice);
                end.handle_segment(now, &segment);
            }
        }
        let due = ends.iter().map(|end| end.next_deadline()).min().unwrap_or(Time::NEVER);
        match wire.front().copied() {
            Some((at, to, segment)) if at <= due => {
                now = now.max(at);
                wire.pop_front();
                ends[to].handle_segment(now, &segment);
            }
            _ if due.is_never() => now += Span::from_ms(10),
            _ => {
                now = now.max(due);
                ends.iter_mut().for_each(|end| end.each(|tcp| tcp.handle_deadline(now)));
            }
        }
    }
    (sent, ends[0].acknowledged() + ends[1].acknowledged())
}

#[test]
fn header_prediction_and_the_full_procedure_agree_in_every_step_of_random_connections() {
    let (mut sent, mut acknowledged) = (0, 0);
    // In the last one the peer acknowledges a part of a segment.
    for seed in (0..400).chain([6575]) {
        let done = live(seed);
        (sent, acknowledged) = (sent + done.0, acknowledged + done.1);
    }
    assert!(sent > 20_000 && acknowledged > 1_000_000, "{sent} segments, {acknowledged} bytes");
}
