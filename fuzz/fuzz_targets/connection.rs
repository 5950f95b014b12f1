//! Bytes become a configuration and a row of segments, calls and steps of time, fed to one connection: it never panics,
//! never comes to a standstill with something unacknowledged, and always ends what it has to send. The connection is driven
//! twice, by the short ways and by the full procedures, which must agree in segments and state.
#![no_main]

#[path = "../../crates/tcp/tests/world/configs.rs"]
mod configs;
#[path = "../../crates/tcp/tests/world/dice.rs"]
mod dice;
#[path = "../../crates/tcp/tests/world/twice.rs"]
mod twice;

use arbitrary::{Arbitrary, Unstructured};
use libfuzzer_sys::fuzz_target;
use netspurt_tcp::Connection;
use netspurt_tcp::acking::Acking;
use netspurt_tcp::config::{Config, EcnUse, LossMeans, WindowOption};
use netspurt_tcp::congestion::Kind;
use netspurt_tcp::ecn::{AccurateEcn, ByteCounters, Order};
use netspurt_tcp::fast_open::{Client, Cookie, CookiePolicy, FastOpen, Form, Server};
use netspurt_tcp::options::{BigWindow, Layout, Nak, Options, SackBlock, SackBlocks, Timestamps};
use netspurt_tcp::profile;
use netspurt_tcp::segment::{Ecn, Flags, Payload, Segment};
use netspurt_tcp::seq::Seq;
use netspurt_tcp::state::State;
use netspurt_tcp::time::{Span, Time};
use std::sync::Arc;
use twice::Twice;

const OURS: Seq = Seq(0xFFFF_F000);
const THEIRS: Seq = Seq(0x7FFF_F000);

/// How the connection is set up.
#[derive(Arbitrary, Debug)]
struct Setup {
    profile: u8,
    /// A random configuration as in the property tests, instead of the profile.
    random: Option<u64>,
    recovery: Option<u8>,
    window_option: Option<u8>,
    receive_window: Option<u16>,
    send_window: Option<u16>,
    send_buffer: Option<u16>,
    mss: Option<u16>,
    sack: Option<bool>,
    timestamps: Option<bool>,
    limited_transmit: bool,
    noise: bool,
    /// Modulo the choices; odd ones are agreed to by the peer.
    ecn: Option<u8>,
    whole_segments: bool,
    shared: bool,
    passive: bool,
    /// Opens with data, or lets the peer do so: modulo the choices.
    fast: Option<u8>,
    events: bool,
    /// Both SYNs are exchanged before the bytes have their say.
    open: bool,
}

#[derive(Arbitrary, Debug)]
enum Input {
    Segment(Wire),
    Write(u16),
    WriteUrgent(u8),
    Read(u16),
    Close,
    Abort,
    PathMtu(u16),
    /// Milliseconds.
    Wait(u16),
    /// Until the next deadline.
    Deadline,
}

/// A segment near what the connection expects: every number is an offset.
#[derive(Arbitrary, Debug)]
struct Wire {
    /// From what the connection acknowledged last.
    seq: i32,
    /// From the highest number that it sent, or from the first.
    ack: i32,
    from_start: bool,
    flags: u8,
    ecn: u8,
    window: u16,
    urgent: u16,
    len: u16,
    offset: u64,
    mss: Option<u16>,
    window_scale: Option<u8>,
    segment_scale: Option<u8>,
    sack_permitted: bool,
    nak_permitted: bool,
    timestamps: Option<(u32, u32)>,
    sack: [Option<(i16, u16)>; 4],
    offer: Option<u32>,
    upper: Option<u16>,
    nak: Option<(i16, u8)>,
    /// A Fast Open option: whether it shows the right cookie, if any.
    fast: Option<Option<bool>>,
}

struct Bench {
    tcp: Twice,
    now: Time,
    /// Behind the highest number sent.
    next: Seq,
    /// Acknowledged last.
    acknowledged: Seq,
    read: u64,
}

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = Unstructured::new(bytes);
    let Ok(setup) = Setup::arbitrary(&mut bytes) else { return };
    let Some(mut bench) = Bench::new(&setup) else { return };
    bench.drain();
    while !bytes.is_empty() {
        let Ok(input) = Input::arbitrary(&mut bytes) else { return };
        bench.apply(&input);
        bench.drain();
        bench.check();
    }
});

fn cookie(right: bool) -> Cookie {
    Cookie::new(if right { b"12345678" } else { b"abcd" }).expect("lengths that cookies have")
}

impl Setup {
    fn config(&self) -> Config {
        let all = profile::profiles();
        let mut config = match self.random {
            Some(seed) => return configs::config(&mut dice::Dice(seed)),
            None => all[usize::from(self.profile) % all.len()].config.clone(),
        };
        if let Some(n) = self.recovery {
            let all = configs::RECOVERIES;
            configs::set_recovery(&mut config, all[usize::from(n) % all.len()]);
        }
        if let Some(n) = self.window_option {
            let all = [
                WindowOption::None,
                WindowOption::Rfc7323,
                WindowOption::ScaleEverySegment,
                WindowOption::BigWindow,
            ];
            config.window_option = all[usize::from(n) % all.len()];
        }
        config.receive_window = self.receive_window.map_or(config.receive_window, u32::from);
        if self.receive_window.is_some() || self.send_buffer.is_some() {
            (config.initial_receive_window, config.initial_send_buffer) = (None, None);
        }
        config.send_window = self.send_window.map(u32::from);
        config.send_buffer = self.send_buffer.map_or(config.send_buffer, u64::from);
        config.mss = self.mss.unwrap_or(config.mss);
        config.sack = self.sack.unwrap_or(config.sack);
        config.timestamps = self.timestamps.unwrap_or(config.timestamps);
        if let Some(n) = self.ecn {
            let choices = [EcnUse::Rfc3168, EcnUse::Accept, EcnUse::Rfc9768, EcnUse::AcceptRfc9768];
            config.ecn = choices[usize::from(n / 2) % 4];
            let kinds = [
                Kind::NewReno,
                Kind::RenoLinux,
                Kind::Cubic,
                Kind::Dctcp,
                Kind::Vegas,
                Kind::Bbr,
                Kind::Bbr3,
                Kind::CubicLinux,
            ];
            config.congestion = kinds[usize::from(n / 4) % kinds.len()];
            config.pacing = n >= 128 || config.congestion.needs_pacing().is_some();
        }
        config.limited_transmit = self.limited_transmit;
        config.whole_segments = self.whole_segments;
        config.loss_means = if self.noise { LossMeans::Noise } else { LossMeans::Congestion };
        config.layout = if self.shared { Layout::SHARED } else { Layout::DOCUMENT };
        if self.noise {
            config.acking = Acking::Delayed { every: 2, delay: Span::from_ms(200) };
        }
        config
    }
}

impl Bench {
    fn new(setup: &Setup) -> Option<Self> {
        let config = setup.config();
        config.validate().ok()?;
        let config = Arc::new(config);
        let server = setup.fast.map(|n| {
            let policy = [CookiePolicy::Required, CookiePolicy::NotRequired, CookiePolicy::Disabled]
                [usize::from(n) % 3];
            Server { policy, cookie: cookie(true), previous: None }
        });
        let make = || match (setup.passive, server) {
            (false, _) => Connection::new(Arc::clone(&config), OURS),
            (true, None) => Connection::listen(Arc::clone(&config), OURS),
            (true, Some(server)) => Connection::listen(Arc::clone(&config), OURS).listening_fast(server),
        };
        let mut tcp = Twice::new(setup.random.unwrap_or(0), make);
        tcp.each(|tcp| tcp.record_events(setup.events));
        tcp.each(|tcp| tcp.measure_limits(Time::ZERO, setup.events));
        let mut bench = Self { tcp, now: Time::ZERO, next: OURS, acknowledged: THEIRS, read: 0 };
        match (setup.passive, setup.fast) {
            (true, _) => {}
            (false, None) => bench.tcp.each(|tcp| tcp.open(Time::ZERO)),
            (false, Some(n)) => {
                let shown = [None, Some(cookie(true)), Some(cookie(false))][usize::from(n) % 3];
                let option = FastOpen { form: Form::Numbered, cookie: shown };
                let client = Client { option: Some(option), mss: 1460 };
                bench.tcp.each(|tcp| tcp.open_fast(Time::ZERO, client));
                let _ = bench.tcp.each(|tcp| tcp.write(Time::ZERO, 10 * u64::from(n)));
            }
        }
        bench.drain();
        if setup.open {
            bench.open(setup);
        }
        Some(bench)
    }

    /// The peer's half of the handshake, with every option on offer.
    fn open(&mut self, setup: &Setup) {
        let options = Options {
            mss: Some(1460),
            window_scale: Some(3),
            segment_scale: Some(3),
            sack_permitted: true,
            nak_permitted: true,
            timestamps: Some(Timestamps::default()),
            big_window: Some(BigWindow::Offer(100_000)),
            ..Options::NONE
        };
        let accurate = matches!(self.tcp.config().ecn, EcnUse::Rfc9768 | EcnUse::AcceptRfc9768);
        let marks = match (setup.ecn.is_some_and(|n| n % 2 == 1), setup.passive) {
            (false, _) => Flags::NONE,
            (true, true) if accurate => Flags::AE | Flags::ECE | Flags::CWR,
            (true, false) if accurate => Flags::CWR,
            (true, true) => Flags::ECE | Flags::CWR,
            (true, false) => Flags::ECE,
        };
        let flags = if setup.passive { Flags::SYN } else { Flags::SYN | Flags::ACK } | marks;
        let syn = Segment { seq: THEIRS, ack: self.next, flags, window: 9000, options, ..Segment::default() };
        self.tcp.handle_segment(self.now, &syn);
        self.drain();
        if setup.passive {
            let timestamps = Some(Timestamps::default());
            let options = Options { timestamps, ..Options::NONE };
            let (seq, ack) = (THEIRS.plus(1), self.next);
            let ack = Segment { seq, ack, flags: Flags::ACK, window: 9000, options, ..Segment::default() };
            self.tcp.handle_segment(self.now, &ack);
        }
    }

    fn apply(&mut self, input: &Input) {
        let now = self.now;
        match *input {
            Input::Segment(ref wire) => {
                let segment = self.segment(wire);
                self.tcp.handle_segment(now, &segment);
            }
            Input::Write(len) => drop(self.tcp.each(|tcp| tcp.write(now, u64::from(len)))),
            Input::WriteUrgent(len) => drop(self.tcp.each(|tcp| tcp.write_urgent(now, u64::from(len)))),
            Input::Read(max) => {
                let got = self.tcp.each(|tcp| tcp.read(now, u64::from(max)));
                if got.len > 0 {
                    assert_eq!(got.offset, self.read, "the stream is read in order");
                    self.read += u64::from(got.len);
                }
            }
            Input::Close => self.tcp.each(|tcp| tcp.close(now)),
            Input::Abort => self.tcp.each(|tcp| tcp.abort(now)),
            Input::PathMtu(mtu) => self.tcp.each(|tcp| tcp.set_path_mtu(u32::from(mtu))),
            Input::Wait(ms) => self.wait_until(now + Span::from_ms(u64::from(ms))),
            Input::Deadline => {
                let next = self.tcp.next_deadline();
                if !next.is_never() {
                    self.wait_until(now.max(next));
                }
            }
        }
    }

    fn wait_until(&mut self, now: Time) {
        self.now = now;
        self.tcp.each(|tcp| tcp.handle_deadline(now));
    }

    fn segment(&self, wire: &Wire) -> Segment {
        let from = |base: Seq, offset: i32| Seq(base.0.wrapping_add_signed(offset));
        let mut options = Options {
            mss: wire.mss,
            window_scale: wire.window_scale,
            segment_scale: wire.segment_scale,
            sack_permitted: wire.sack_permitted,
            nak_permitted: wire.nak_permitted,
            timestamps: wire.timestamps.map(|(value, echo)| Timestamps { value, echo }),
            big_window: wire.offer.map(BigWindow::Offer).or(wire.upper.map(BigWindow::Upper)),
            nak: wire.nak.map(|(first, count)| Nak { first: from(self.next, i32::from(first)), count }),
            sack: SackBlocks::EMPTY,
            fast_open: None,
        };
        if let Some(shown) = wire.fast {
            let option = FastOpen { form: Form::Experimental, cookie: shown.map(cookie) };
            options = options.with_fast_open(option);
        }
        for (left, len) in wire.sack.into_iter().flatten() {
            let left = from(self.next, i32::from(left));
            options.sack.push(SackBlock { left, right: left.plus(u32::from(len)) });
        }
        if wire.ecn & 0x80 != 0 {
            let order = if wire.ecn & 0x40 == 0 { Order::Ect0First } else { Order::Ect1First };
            let [ect0, ce] = [wire.offset as u32, (wire.offset >> 32) as u32];
            let counters = ByteCounters { ect0, ce, ect1: 1 };
            options = options.with_accurate_ecn(AccurateEcn::new(order, counters, wire.ecn >> 4 & 3));
        }
        Segment {
            seq: from(self.acknowledged, wire.seq),
            ack: from(if wire.from_start { OURS } else { self.next }, wire.ack),
            flags: Flags(u16::from(wire.flags) | u16::from(wire.ecn >> 2 & 1) << 8),
            ecn: Ecn::from_bits(wire.ecn),
            header_len: 20,
            window: wire.window,
            urgent: wire.urgent,
            payload: Payload { offset: wire.offset, len: u32::from(wire.len) },
            options,
        }
    }

    fn drain(&mut self) {
        let mut burst = 0;
        while let Some(sent) = self.tcp.poll_transmit(self.now) {
            burst += 1;
            assert!(burst < 300_000, "an endless burst: {sent:?}");
            let s = sent.segment;
            let layout = self.tcp.config().layout;
            assert_eq!(s.header_len, 20 + s.options.wire_len(layout), "{s:?}");
            assert!(s.header_len <= 60, "{s:?}");
            if s.flags.has(Flags::RST) {
                continue;
            }
            let end = s.seq.plus(s.seq_len());
            if end.distance_from(self.next) > 0 {
                self.next = end;
            }
            if s.flags.has(Flags::ACK) {
                self.acknowledged = s.ack;
            }
        }
        self.tcp.drain_events();
    }

    fn check(&self) {
        let tcp: &Connection = &self.tcp;
        assert!(tcp.acknowledged() <= tcp.written());
        let config = tcp.config();
        // A scaled window is rounded to at most 2^14 bytes, a buffer of whole segments to one of them.
        let rounded = (1 << 14) + if config.round_buffers { u64::from(config.mss) } else { 0 };
        // In Linux the data of a SYN takes nothing of the window behind it.
        let in_syn = if tcp.fast_open().is_some() { u64::from(u16::MAX) } else { 0 };
        let most = u64::from(config.receive_window) + rounded + in_syn;
        assert!(tcp.readable() <= most, "{} bytes can be read, more than {most}", tcp.readable());
        let waiting = tcp.written() > tcp.acknowledged();
        let alive = !matches!(tcp.state(), State::Closed | State::Listen);
        assert!(!(alive && waiting && tcp.next_deadline().is_never()), "no deadline is armed: {tcp:?}");
    }
}
