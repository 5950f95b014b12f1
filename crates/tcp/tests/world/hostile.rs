//! One connection and a stranger who sends whatever comes to mind: near the windows, far from them, with any flags and
//! options.

use super::configs::config;
use super::dice::Dice;
use super::twice::Twice;
use netspurt_tcp::Connection;
use netspurt_tcp::acking::Acking;
use netspurt_tcp::config::{OldSegments, StateMachine, Unstamped};
use netspurt_tcp::ecn::{AccurateEcn, ByteCounters, Order};
use netspurt_tcp::options::{BigWindow, Layout, Nak, Options, SackBlock, Timestamps};
use netspurt_tcp::segment::{Ecn, Flags, Payload, Segment};
use netspurt_tcp::seq::Seq;
use netspurt_tcp::state::State;
use netspurt_tcp::time::{Span, Time};
use std::sync::Arc;

/// What is seen of a connection from outside, for aiming.
struct Seen {
    /// Behind the highest sequence number that it sent, and the lowest one unacknowledged.
    next: Seq,
    una: Seq,
    /// What it acknowledged last.
    ack: Seq,
    /// The timestamp that it echoed last: TS.Recent is not older.
    echo: Option<u32>,
}

/// Feeds `steps` random inputs, all from `seed`.
pub(crate) fn run(seed: u64, steps: u32) {
    let mut dice = Dice(seed);
    let config = Arc::new(config(&mut dice));
    let iss = Seq(dice.next() as u32);
    let mut seen = Seen { next: iss, una: iss, ack: Seq(dice.next() as u32), echo: None };
    let passive = dice.permille(500);
    let make = if passive { Connection::listen } else { Connection::new };
    let mut tcp = Twice::new(seed, || make(Arc::clone(&config), iss));
    let recording = dice.permille(100);
    tcp.each(|tcp| tcp.record_events(recording));
    let mut now = Time::ZERO;
    tcp.each(|tcp| tcp.open(now));
    for step in 0..steps {
        drain(&mut tcp, now, &mut seen);
        check(&tcp, seed, step);
        match dice.below(20) {
            0 => {
                let len = dice.pick(&[1, 100, 5000, 100_000]);
                let _ = tcp.each(|tcp| tcp.write(now, len));
            }
            1 => {
                let most = dice.pick(&[1, 100, u64::MAX]);
                tcp.each(|tcp| tcp.read(now, most));
            }
            2 if dice.permille(100) => tcp.each(|tcp| tcp.close(now)),
            3 if dice.permille(30) => tcp.each(|tcp| tcp.abort(now)),
            4 if dice.permille(100) => {
                let mtu = dice.pick(&[0, 1, 68, 576, 1500, u32::MAX]);
                tcp.each(|tcp| tcp.set_path_mtu(mtu));
            }
            4 => {
                let seq = if dice.permille(500) { seen.una } else { Seq(dice.next() as u32) };
                let mtu = dice.pick(&[0, 68, 300, 1000, 65_535]);
                tcp.each(|tcp| tcp.handle_packet_too_big(now, seq, mtu));
            }
            5 => {
                let _ = tcp.each(|tcp| tcp.write_urgent(now, 10));
            }
            6 | 7 => {
                if !tcp.next_deadline().is_never() {
                    now = now.max(tcp.next_deadline());
                    tcp.each(|tcp| tcp.handle_deadline(now));
                }
            }
            8 => now += Span::from_us(dice.below(2_000_000)),
            _ => {
                let segment = segment(&mut dice, &seen);
                let dropped = why_dropped(&tcp, now, &seen, &segment);
                let before = dropped.map(|_| tcp.state_digest_apart_from_ack());
                tcp.handle_segment(now, &segment);
                let after = dropped.map(|_| tcp.state_digest_apart_from_ack());
                assert_eq!(before, after, "seed {seed}, step {step}: {dropped:?} changes state: {segment:?}");
            }
        }
    }
}

fn drain(tcp: &mut Twice, now: Time, seen: &mut Seen) {
    let mut burst = 0;
    while let Some(sent) = tcp.poll_transmit(now) {
        burst += 1;
        assert!(burst < 100_000, "an endless burst: {sent:?}");
        let s = sent.segment;
        assert!(s.header_len <= 60, "{s:?}");
        let end = s.seq.plus(s.seq_len());
        if !s.flags.has(Flags::RST) && end.distance_from(seen.next) > 0 {
            seen.next = end;
        }
        if s.flags.has(Flags::ACK) {
            seen.ack = s.ack;
        }
        let echo = s.options.timestamps.filter(|_| s.flags.has(Flags::ACK)).map(|stamps| stamps.echo);
        // With a SYN the connection begins, perhaps once more.
        if s.flags.has(Flags::SYN) || (echo.is_some() && !s.flags.has(Flags::RST)) {
            seen.echo = echo;
        }
    }
    tcp.drain_events();
}

fn check(tcp: &Connection, seed: u64, step: u32) {
    let state = tcp.state();
    assert!(
        tcp.acknowledged() <= tcp.written(),
        "seed {seed}, step {step}: acknowledged what was not written"
    );
    // What was resent may be in the network twice.
    let most = 2 * (tcp.written() - tcp.acknowledged() + 2);
    assert!(u64::from(tcp.flight()) <= most, "seed {seed}, step {step}: flight {}", tcp.flight());
    let room = u64::from(tcp.config().receive_window) + (1 << 14);
    assert!(tcp.readable() <= room, "seed {seed}, step {step}: {} held", tcp.readable());
    assert_eq!(tcp.closed().is_some(), state == State::Closed && tcp.closed().is_some());
    let alive = !matches!(state, State::Closed | State::Listen);
    if alive && tcp.written() > tcp.acknowledged() {
        assert!(
            !tcp.next_deadline().is_never(),
            "seed {seed}, step {step}: no deadline in {state:?}, hold {:?}, {:?}",
            tcp.holding(),
            tcp.config()
        );
    }
}

/// Why a segment must be dropped, where that is certain from outside. It may be answered and counted; it must change nothing
/// else.
fn why_dropped(tcp: &Connection, now: Time, seen: &Seen, segment: &Segment) -> Option<&'static str> {
    let Segment { flags, options, .. } = segment;
    let (received, place) = (tcp.received() as i64, tcp.place(segment.seq));
    let waits_out = tcp.state() == State::TimeWait && flags.has(Flags::FIN);
    // A SYN-ACK that comes again tells how the first one was marked (RFC 9768, section 3.1.5).
    let is_first_syn = flags.has(Flags::SYN) && place == -1;
    let is_open = tcp.state().is_synchronized() && tcp.state() != State::SynReceived;
    if !is_open || tcp.closed().is_some() || waits_out || is_first_syn {
        return None;
    }
    // The peer's FIN may stand behind what was received.
    let is_next = place == received || place == received + 1;
    if flags.has(Flags::RST) {
        return (!is_next).then_some("RFC 5961, section 3: a reset beside RCV.NXT");
    }
    if flags.has(Flags::SYN) {
        return Some("RFC 5961, section 4: a SYN");
    }
    if !flags.has(Flags::ACK) {
        return Some("RFC 9293, section 3.10.7.4: no ACK");
    }
    if tcp.info().timestamps && options.timestamps.is_none() && tcp.config().unstamped == Unstamped::Dropped {
        return Some("RFC 7323, section 3.2: no timestamp");
    }
    let linux = tcp.config().old_segments == OldSegments::Linux;
    // On Linux, old data that is refused brings quick ACKs back.
    let has_quick_acks = matches!(tcp.config().acking, Acking::Adaptive(_));
    if linux && has_quick_acks && segment.seq_len() > 0 && place <= received {
        return None;
    }
    // Linux takes a timestamp that is one unit older.
    let oldest = |echo: u32| echo.wrapping_sub(u32::from(linux));
    let is_older =
        |echo: u32| options.timestamps.is_some_and(|t| t.value.wrapping_sub(oldest(echo)) > 1 << 31);
    let is_recent = now < Time::ZERO + Span::from_secs(24 * 24 * 3600);
    // It also takes an ACK that another one has overtaken.
    let is_overtaken = linux && segment.seq_len() == 0 && is_next;
    if tcp.info().timestamps && is_recent && seen.echo.is_some_and(is_older) && !is_overtaken {
        return Some("RFC 7323, section 5.3: an old timestamp");
    }
    if segment.ack.distance_from(seen.next) > 0 {
        return Some("RFC 9293, section 3.10.7.4: an ACK of what was never sent");
    }
    // The window is at most the buffer, rounded up to the scale of the window or to a segment.
    let window = i64::from(tcp.config().receive_window) + (1 << 14) + (1 << 16);
    let end = place + i64::from(segment.seq_len());
    // Next to either edge an ACK counts, though the segment is not acceptable.
    // To Linux, the window begins where the last ACK was sent.
    let left = if linux { received.min(tcp.place(seen.ack)) } else { received };
    // To FreeBSD, the ACK of each old segment counts.
    let freebsd = tcp.config().state_machine == StateMachine::Freebsd;
    if (end + 2 <= left && !freebsd) || place > received + window + 2 {
        return Some("RFC 9293, section 3.10.7.4: outside the window");
    }
    None
}

fn segment(dice: &mut Dice, seen: &Seen) -> Segment {
    let near = |dice: &mut Dice, to: Seq| match dice.below(8) {
        0..=3 => to,
        4 => to.plus(dice.below(3) as u32).minus(1),
        5 => to.plus(dice.below(70_000) as u32),
        6 => to.minus(dice.below(70_000) as u32),
        _ => Seq(dice.next() as u32),
    };
    let mut flags =
        dice.pick(&[Flags::ACK, Flags::ACK, Flags::ACK, Flags::ACK, Flags::SYN, Flags::SYN | Flags::ACK]);
    if dice.permille(100) {
        flags = flags | Flags(1 << dice.below(9));
    }
    if dice.permille(5) {
        flags = Flags(dice.next() as u16 & Flags::ALL.0);
    }
    let len = dice.pick(&[0, 0, 1, 100, 1460, 60_000]);
    let base = if dice.permille(500) { seen.una } else { seen.next };
    let segment = Segment {
        seq: near(dice, seen.ack),
        ack: near(dice, base),
        flags,
        header_len: 20,
        window: dice.pick(&[0, 0, 1, 500, 20_000, 65_535]),
        urgent: dice.next() as u16,
        ecn: Ecn::from_bits(dice.next() as u8),
        payload: Payload { offset: dice.next() >> 1, len },
        options: options(dice, seen),
    };
    // A header without options has 20 bytes, and no other: the codec makes no segment in which the two contradict each other.
    let options = segment.options.wire_len(Layout::SHARED).min(40);
    Segment { header_len: 20 + options, ..segment }
}

fn options(dice: &mut Dice, seen: &Seen) -> Options {
    let mut options = Options::NONE;
    if dice.permille(300) {
        options.mss = Some(dice.pick(&[0, 1, 64, 536, 1460, 65_535]));
        options.window_scale = dice.pick(&[None, Some(0), Some(7), Some(14), Some(255)]);
        options.sack_permitted = dice.permille(700);
        options.nak_permitted = dice.permille(500);
    }
    if dice.permille(300) {
        options.segment_scale = dice.pick(&[None, Some(0), Some(3), Some(14), Some(255)]);
        options.big_window = dice.pick(&[
            None,
            Some(BigWindow::Offer(70_000)),
            Some(BigWindow::Offer(u32::MAX)),
            Some(BigWindow::Upper(0)),
            Some(BigWindow::Upper(1)),
            Some(BigWindow::Upper(u16::MAX)),
        ]);
    }
    if dice.permille(500) {
        options.timestamps =
            Some(Timestamps { value: dice.below(3000) as u32, echo: dice.below(3000) as u32 });
    }
    if dice.permille(100) {
        let first = seen.next.minus(dice.below(20_000) as u32);
        options.nak = Some(Nak { first, count: dice.pick(&[0, 1, 3, 255]) });
    }
    if dice.permille(400) {
        for _ in 0..dice.below(5) {
            let left = seen.next.minus(dice.below(20_000) as u32);
            let right = if dice.permille(300) { seen.next } else { left.plus(dice.below(4000) as u32) };
            options.sack.push(SackBlock { left, right });
        }
    }
    if dice.permille(200) {
        let order = dice.pick(&[Order::Ect0First, Order::Ect1First]);
        let mut counter = || dice.pick(&[0, 1, 2, 1461, 20_000, u32::MAX]);
        let counters = ByteCounters { ect0: counter(), ce: counter(), ect1: counter() };
        options = options.with_accurate_ecn(AccurateEcn::new(order, counters, dice.below(4) as u8));
    }
    options
}
