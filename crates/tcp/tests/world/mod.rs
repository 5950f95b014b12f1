//! A world of two ends with random applications and a random path between them, watched from outside: what is asserted
//! here uses the public API and the segments alone.

pub(crate) mod configs;
mod dice;
pub(crate) mod hostile;
mod opening;
mod twice;

use configs::config;
use dice::Dice;
use netspurt_tcp::config::{Config, SynOptions, WindowOption};
use netspurt_tcp::options::{BigWindow, SackBlocks};
use netspurt_tcp::reason::Reason;
use netspurt_tcp::segment::{Ecn, Flags, Segment};
use netspurt_tcp::seq::Seq;
use netspurt_tcp::state::{CloseReason, State};
use netspurt_tcp::time::{Span, Time};
use netspurt_tcp::{Behind, Connection, Transmission};
use opening::Opening;
use std::sync::Arc;
use twice::Twice;

/// A SYN that says nothing promises that both ends are configured alike; with another peer the windows of either would
/// be misread.
fn alike_where_assumed([first, second]: [Config; 2]) -> [Config; 2] {
    match (first.syn_options, second.syn_options) {
        (SynOptions::Assumed, _) => [first.clone(), first],
        (_, SynOptions::Assumed) => [second.clone(), second],
        _ => [first, second],
    }
}

/// The shift that a configuration takes for its own window (RFC 7323, section 2.3).
fn shift_of(config: &Config) -> u8 {
    (0..14).find(|shift| config.receive_window >> shift <= 0xFFFF).unwrap_or(14)
}

/// What an application does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct App {
    /// Bytes to write in all, and at a time.
    pub(crate) total: u64,
    pub(crate) piece: u64,
    /// Between writes; zero: as soon as there is room.
    pub(crate) think: Span,
    /// Writes are handed over in two parts; and each is followed by an uncork.
    pub(crate) in_parts: bool,
    pub(crate) uncorks: bool,
    /// Bytes read at a time, and the pause between reads; zero: all at once.
    pub(crate) gulp: u64,
    pub(crate) pause: Span,
    /// When the connection is aborted, if it is.
    pub(crate) abort_at: Time,
    /// When it is closed although not all is written.
    pub(crate) close_at: Time,
}

impl App {
    pub(crate) fn random(dice: &mut Dice) -> Self {
        let seldom = |dice: &mut Dice, n| {
            if dice.permille(n) { Time::ZERO + Span::from_ms(dice.below(20_000)) } else { Time::NEVER }
        };
        Self {
            total: dice.pick(&[0, 1, 500, 5000, 40_000]),
            piece: dice.pick(&[1, 100, 1460, 4096, 100_000]).max(1),
            think: dice.pick(&[Span::ZERO, Span::ZERO, Span::from_ms(30), Span::from_ms(1100)]),
            in_parts: dice.permille(300),
            uncorks: dice.permille(300),
            gulp: dice.pick(&[u64::MAX, u64::MAX, 300, 2000]),
            pause: dice.pick(&[Span::ZERO, Span::ZERO, Span::from_ms(50), Span::from_ms(4000)]),
            abort_at: seldom(dice, 60),
            close_at: seldom(dice, 100),
        }
    }

    /// Pieces so small, or pauses so long, that the whole would take for ever are made larger.
    fn tempered(mut self, narrow: u32) -> Self {
        self.total = self.total.min(50 * u64::from(narrow));
        self.piece = self.piece.max(self.total / 400);
        self.gulp = self.gulp.max(500);
        if self.think > Span::from_ms(100) {
            self.piece = self.piece.max(self.total / 20);
        }
        self
    }
}

/// What the path does, in thousandths of the segments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    pub(crate) delay: Span,
    pub(crate) loss: u32,
    pub(crate) duplicate: u32,
    pub(crate) late: u32,
    /// How much later, at most.
    pub(crate) lateness: Span,
    /// Of those that can be marked.
    pub(crate) mark: u32,
    /// Whether it takes out options that it does not know.
    pub(crate) strips: bool,
    /// Packets above this do not get through, and whether their sender is told.
    pub(crate) mtu: u32,
    pub(crate) tells: bool,
}

impl Path {
    pub(crate) fn random(dice: &mut Dice) -> Self {
        Self {
            delay: dice.pick(&[Span::from_us(10), Span::from_ms(1), Span::from_ms(40), Span::from_ms(290)]),
            loss: dice.pick(&[0, 0, 10, 50, 200]),
            duplicate: dice.pick(&[0, 0, 20, 100]),
            late: dice.pick(&[0, 0, 50, 300]),
            lateness: dice.pick(&[Span::from_us(30), Span::from_ms(5), Span::from_ms(500)]),
            mark: dice.pick(&[0, 0, 20, 300, 1000]),
            strips: dice.permille(200),
            mtu: dice.pick(&[u32::MAX, u32::MAX, u32::MAX, u32::MAX, 1400, 576, 300]),
            tells: dice.permille(600),
        }
    }
}

struct Side {
    tcp: Twice,
    app: App,
    written: u64,
    read: u64,
    next_write: Time,
    next_read: Time,
    /// Right edge that the peer announced for what this side sends, as a stream offset.
    edge: u64,
    /// As far as its SYNs brought data, before any window was known.
    early: u64,
    /// The shift that this side's SYN offered.
    shift: Option<u8>,
    iss: Seq,
}

/// Both ends and what is on its way.
pub(crate) struct World {
    sides: [Side; 2],
    path: Path,
    dice: Dice,
    pub(crate) now: Time,
    flying: Vec<(Time, u64, usize, Segment)>,
    /// What routers say: when, to whom, of what.
    reports: Vec<(Time, usize, Seq)>,
    order: u64,
    /// What was sent: a digest.
    digest: u64,
    sent: u64,
    aborted: bool,
}

const MOST_STEPS: u64 = 400_000;

impl World {
    /// Everything follows from `seed`.
    pub(crate) fn new(seed: u64, events: bool) -> Self {
        let mut dice = Dice(seed);
        let configs = alike_where_assumed([config(&mut dice), config(&mut dice)]).map(Arc::new);
        let path = Path::random(&mut dice);
        let simultaneous = dice.permille(100);
        let opening = Opening::random(&mut dice);
        let isss = [Seq(dice.next() as u32), Seq(dice.next() as u32)];
        // A window of a few bytes takes a round trip, or a probe, for each of them.
        let narrowest = |c: &Arc<Config>| {
            let windows = c.receive_window.min(c.send_window.unwrap_or(u32::MAX));
            windows.min(u32::try_from(c.send_buffer).unwrap_or(u32::MAX))
        };
        let narrow = configs.iter().map(narrowest).min();
        let [first, second] = configs;
        let server = if simultaneous { None } else { Some(opening.server(&mut dice)) };
        let other = Twice::new(seed, || match server {
            None => Connection::new(Arc::clone(&second), isss[1]),
            Some(None) => Connection::listen(Arc::clone(&second), isss[1]),
            Some(Some(server)) => Connection::listen(Arc::clone(&second), isss[1]).listening_fast(server),
        });
        let mut side = |tcp: Twice, iss| Side {
            tcp,
            app: App::random(&mut dice).tempered(narrow.unwrap_or(0)),
            written: 0,
            read: 0,
            next_write: Time::ZERO,
            next_read: Time::ZERO,
            edge: 0,
            early: 0,
            shift: None,
            iss,
        };
        let client = side(Twice::new(seed, || Connection::new(Arc::clone(&first), isss[0])), isss[0]);
        let server = side(other, isss[1]);
        let mut world = Self {
            sides: [client, server],
            path,
            dice,
            now: Time::ZERO,
            flying: Vec::new(),
            reports: Vec::new(),
            order: 0,
            digest: 0xCBF2_9CE4_8422_2325,
            sent: 0,
            aborted: false,
        };
        for side in &mut world.sides {
            side.tcp.each(|tcp| tcp.record_events(events));
            opening.open(&mut side.tcp, world.now, &mut world.dice);
        }
        world
    }

    /// Runs to the end, then says whether the streams arrived as they must.
    pub(crate) fn run(&mut self) {
        self.settle();
        let mut steps = 0;
        while self.step() {
            steps += 1;
            assert!(steps < MOST_STEPS, "never comes to rest: {}", self.describe());
        }
        for (from, to) in [(0, 1), (1, 0)] {
            let (x, y) = (&self.sides[from], &self.sides[to]);
            let whole = y.read == x.written;
            let failed = self.aborted
                || [x, y].iter().any(|s| !matches!(s.tcp.closed(), None | Some(CloseReason::Finished)));
            assert!(whole || failed, "side {from}: bytes are missing and nobody knows: {}", self.describe());
            assert!(y.read <= x.written);
            // Options may be lost, but they do not lie.
            let told = x.tcp.info().accurate_ecn.map(|info| info.delivered);
            if let (Some(told), Some(counted)) = (told, y.tcp.info().accurate_ecn.map(|info| info.received)) {
                let pairs = [(told.ect0, counted.ect0), (told.ce, counted.ce), (told.ect1, counted.ect1)];
                let less = pairs.into_iter().all(|(told, counted)| told <= counted);
                assert!(less, "{told:?} {counted:?} {}", self.describe());
            }
        }
    }

    pub(crate) fn describe(&self) -> String {
        let side = |s: &Side| {
            format!(
                "\n{:?} written {}/{} acknowledged {} read {} edge {} wnd {} flight {} cwnd {} hold {:?} deadline {:?} \
                 closed {:?}\n  {:?}\n  {:?}\n  {:?}",
                s.tcp.state(),
                s.written,
                s.app.total,
                s.tcp.acknowledged(),
                s.read,
                s.edge,
                s.tcp.peer_window(),
                s.tcp.flight(),
                s.tcp.cwnd(),
                s.tcp.holding(),
                s.tcp.next_deadline(),
                s.tcp.closed(),
                s.app,
                s.tcp.stats(),
                s.tcp.config()
            )
        };
        format!(
            "at {:?}, {:?}, {} flying: {}{}",
            self.now,
            self.path,
            self.flying.len(),
            side(&self.sides[0]),
            side(&self.sides[1])
        )
    }

    fn step(&mut self) -> bool {
        let mut next = self.flying.iter().map(|f| f.0).min().unwrap_or(Time::NEVER);
        next = next.min(self.reports.iter().map(|report| report.0).min().unwrap_or(Time::NEVER));
        for side in &self.sides {
            next = next.min(side.tcp.next_deadline());
            if side.next_read > self.now && side.tcp.readable() > 0 {
                next = next.min(side.next_read);
            }
            if self.over(side) {
                continue;
            }
            for at in [side.next_write, side.app.abort_at, side.app.close_at] {
                if at > self.now {
                    next = next.min(at);
                }
            }
        }
        // With every fifth segment lost and a timeout of two minutes, a few kilobytes take hours.
        if next.is_never() || next > Time::ZERO + Span::from_secs(500_000) {
            return false;
        }
        self.now = self.now.max(next);
        let now = self.now;
        if let Some(at) = self.reports.iter().position(|report| report.0 <= now) {
            let (_, to, seq) = self.reports.remove(at);
            let mtu = self.path.mtu;
            self.sides[to].tcp.each(|tcp| tcp.handle_packet_too_big(now, seq, mtu));
            self.settle();
            return true;
        }
        let due = (0..self.flying.len())
            .filter(|&i| self.flying[i].0 <= now)
            .min_by_key(|&i| (self.flying[i].0, self.flying[i].1));
        if let Some(index) = due {
            let (_, _, to, segment) = self.flying.swap_remove(index);
            self.sides[to].tcp.handle_segment(now, &segment);
        } else {
            for side in &mut self.sides {
                side.tcp.each(|tcp| tcp.handle_deadline(now));
            }
        }
        self.settle();
        true
    }

    fn over(&self, side: &Side) -> bool {
        side.tcp.closed().is_some() || side.tcp.state() == State::TimeWait
    }

    fn settle(&mut self) {
        for i in 0..2 {
            self.act(i);
            self.drain(i);
            self.check(i);
        }
    }

    /// The application's turn.
    fn act(&mut self, i: usize) {
        let now = self.now;
        let side = &mut self.sides[i];
        if side.app.abort_at <= now && side.tcp.closed().is_none() {
            side.app.abort_at = Time::NEVER;
            self.aborted = true;
            side.tcp.each(|tcp| tcp.abort(now));
        }
        while side.next_read <= now && side.tcp.readable() > 0 {
            let most = side.app.gulp;
            let got = side.tcp.each(|tcp| tcp.read(now, most));
            assert!(got.len > 0);
            assert_eq!(got.offset, side.read, "the stream is read in order");
            side.read += u64::from(got.len);
            side.next_read = now + side.app.pause;
        }
        if side.tcp.closed().is_some() {
            return;
        }
        // An accepted connection is handed to its application once it is open.
        let open = !matches!(side.tcp.state(), State::Closed | State::Listen | State::SynReceived);
        while open && side.next_write <= now && side.written < side.app.total {
            let len = side.app.piece.min(side.app.total - side.written);
            // Every other piece is a part of a write that the next one ends; the application always writes it, or closes.
            let part = side.app.in_parts && (side.written / side.app.piece).is_multiple_of(2);
            let behind = if part { Behind::More } else { Behind::Nothing };
            let Ok(taken) = side.tcp.each(|tcp| tcp.write_part(now, len, behind)) else {
                side.app.total = side.written;
                break;
            };
            side.written += taken;
            if side.app.uncorks && !part {
                side.tcp.each(Connection::uncork);
            }
            if taken == 0 {
                break;
            }
            side.next_write = now + side.app.think;
        }
        let done = side.written == side.app.total || side.app.close_at <= now;
        let early = matches!(side.tcp.state(), State::Listen | State::SynSent | State::SynReceived);
        if done && !early {
            side.app.total = side.written;
            side.tcp.each(|tcp| tcp.close(now));
        }
    }

    /// A digest of all that was sent.
    pub(crate) fn digest(mut self) -> (u64, u64) {
        self.run();
        (self.sent, self.digest)
    }

    fn drain(&mut self, i: usize) {
        let now = self.now;
        let mut burst = 0;
        while let Some(sent) = self.sides[i].tcp.poll_transmit(now) {
            burst += 1;
            assert!(burst < 50_000, "an endless burst: {:?} {}", sent, self.describe());
            self.observe(i, &sent);
            let path = self.path;
            if 20 + u32::from(sent.segment.header_len) + sent.segment.payload.len > path.mtu {
                if path.tells {
                    self.reports.push((now + path.delay, i, sent.segment.seq));
                }
                continue;
            }
            if self.dice.permille(path.loss) {
                continue;
            }
            let mut segment = sent.segment;
            if segment.ecn.is_capable() && self.dice.permille(path.mark) {
                segment.ecn = Ecn::Ce;
            }
            if path.strips && segment.options.accurate_ecn().is_some() {
                let mut blocks = SackBlocks::EMPTY;
                segment.options.sack.as_slice().iter().for_each(|block| assert!(blocks.push(*block)));
                segment.options.sack = blocks;
            }
            let copies = 1 + u32::from(self.dice.permille(path.duplicate));
            for _ in 0..copies {
                let late = self.dice.permille(path.late);
                let extra = if late { self.dice.below(path.lateness.as_ps()) } else { 0 };
                self.order += 1;
                let at = now + path.delay + Span::from_ps(extra);
                self.flying.push((at, self.order, 1 - i, segment));
            }
        }
    }

    /// What a bystander sees in a segment that leaves.
    fn observe(&mut self, i: usize, sent: &Transmission) {
        self.sent += 1;
        for byte in format!("{:?}{:?}", self.now, sent).bytes() {
            self.digest = (self.digest ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3);
        }
        let s = &sent.segment;
        assert!((20..=60).contains(&s.header_len) && s.header_len.is_multiple_of(4));
        let layout = self.sides[i].tcp.config().layout;
        assert_eq!(s.header_len, 20 + s.options.wire_len(layout), "{s:?}");
        if s.flags.has(Flags::RST) {
            return;
        }
        let both = |o: WindowOption| self.sides.iter().all(|s| s.tcp.config().window_option == o);
        let (both_big, both_shift) = (both(WindowOption::BigWindow), both(WindowOption::Rfc7323));
        let mut window = u64::from(s.window);
        if s.flags.has(Flags::SYN) {
            let config = self.sides[i].tcp.config();
            let assumed = (config.syn_options == SynOptions::Assumed).then(|| shift_of(config));
            self.sides[i].shift = s.options.window_scale.or(assumed);
            if let (true, Some(BigWindow::Offer(offer))) = (both_big, s.options.big_window) {
                window = u64::from(offer);
            }
        } else if both_shift {
            window <<= self.sides[i].shift.unwrap_or(0);
        } else if let Some(shift) = s.options.segment_scale {
            window <<= shift;
        } else if let Some(BigWindow::Upper(upper)) = s.options.big_window {
            window |= u64::from(upper) << 16;
        }
        if s.flags.has(Flags::ACK) {
            let peer = &mut self.sides[1 - i];
            let acknowledged = u64::from(s.ack.0.wrapping_sub(peer.iss.0)).max(1) - 1;
            peer.edge = peer.edge.max(acknowledged + window);
        } else if s.flags.has(Flags::SYN) {
            let peer = &mut self.sides[1 - i];
            peer.edge = peer.edge.max(window);
        }
        let side = &mut self.sides[i];
        let end = s.payload.offset + u64::from(s.payload.len);
        if s.payload.len > 0 {
            let syn = s.flags.has(Flags::SYN);
            assert_eq!(s.seq, side.iss.plus(u32::from(!syn) + s.payload.offset as u32));
            assert!(end <= side.written, "sends what was never written");
            // What a SYN brings comes before any window is known, and may be sent again however small that turns out to be
            // (RFC 9293,
            // MAY-7).
            side.early = if syn { side.early.max(end) } else { side.early };
            let probe = sent.reason == Reason::WindowProbe && s.payload.len == 1;
            let within = end <= (side.edge + u64::from(probe)).max(side.early);
            let side = &self.sides[i];
            assert!(within, "beyond the window: {sent:?} {}", self.describe());
            let longest = match sent.reason {
                Reason::MtuProbe => u32::from(side.tcp.config().mss),
                _ => side.tcp.segment_payload(),
            };
            assert!(syn || s.payload.len <= longest, "{s:?}");
        }
    }

    /// What must hold whenever a side has had its turn.
    fn check(&mut self, i: usize) {
        let (x, y) = (&self.sides[i], &self.sides[1 - i]);
        let tcp = &x.tcp;
        assert_eq!(tcp.written(), x.written);
        assert!(tcp.acknowledged() <= tcp.written());
        assert!(
            tcp.acknowledged() <= y.tcp.received(),
            "acknowledged what never arrived: {}",
            self.describe()
        );
        assert!(tcp.received() <= y.tcp.written());
        // What was resent may be in the network twice.
        assert!(
            u64::from(tcp.flight()) <= 2 * (tcp.written() - tcp.acknowledged() + 2),
            "{}",
            self.describe()
        );
        assert_eq!(tcp.stats().foreign_bytes, 0);
        let room = u64::from(tcp.config().receive_window) + (1 << 14);
        assert!(tcp.readable() <= room, "more than the buffer: {}", self.describe());
        let waiting = tcp.written() > tcp.acknowledged();
        let alive = tcp.closed().is_none() && !matches!(tcp.state(), State::Listen | State::Closed);
        if waiting && alive {
            assert!(!tcp.next_deadline().is_never(), "no deadline is armed: {}", self.describe());
        }
        self.sides[i].tcp.drain_events();
    }
}
