//! Plays scripts of packets and socket calls on the virtual clock, without packetdrill: `netspurt-replay`. The differential
//! test
//! against a running kernel (`tools/differential.py`) writes the scripts and compares what leaves.
//!
//! A script is a sequence of lines; times are nanoseconds since its beginning and never go back.
//!
//! | line | meaning |
//! | --- | --- |
//! | `new PROFILE reno\|- JIFFY_NS exact\|steered\|steered-TICKS ISN\|- STAMP_NS [BUFFER]` | a new stack; JIFFY_NS is the tick of the kernel's timers, ISN our initial sequence number, from which BBR draws the phase of its cycle; STAMP_NS after the beginning, the timestamp clock advances; BUFFER is the largest receive buffer, if not the profile's (`tcp_rmem[2]`) |
//! | `packet T HEX` | a packet arrives; the payload may be left out, since it is zeros |
//! | `call T NAME ARGUMENTS` | a socket call: see [`Player::call`] |
//! | `emission T N new\|again\|ack` | the kernel has sent its N-th segment now, which a timer has caused; whether its data is new, or it has none |
//! | `queue refusing\|default` | the queue of the interface refuses all packets from now on, or takes them again |
//! | `to T` | the clock advances |
//! | `info` | TCP_INFO, and what the connection knows of its sender |
//! | `flush` | writes `.` and flushes the output |
//!
//! It answers with `sent T HEX` (the headers), `result T NAME VALUE` and `info HEX`.
//!
//! The kernel's timers expire on ticks, and late if they are long. In a *steered* script a timer of ours that is due
//! expires when the
//! kernel's emission says so, if that is not later than its granularity allows; what arrives earlier is handled before it. TICKS is by
//! how many ticks a timer may be late besides, 5 by default.

use crate::calls::data::ReadMode;
use crate::stack::{SentPacket, Stack};
use crate::sysctl::{Qdisc, Settings};
use netspurt_tcp::Behind;
use netspurt_tcp::seq::Seq;
use netspurt_tcp::time::{Span, Time};
use nix::errno::Errno;
use std::fmt::Write as _;
use std::io::{self, BufRead, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::RawFd;

/// Whether timers expire when they are due, or with the kernel's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Timing {
    Exact,
    /// A timer of ours waits so many ticks for the kernel's.
    Steered {
        ticks: u64,
    },
}

/// Two ticks for rounding up, two for TCP_TIMEOUT_MIN_US, and one for the machine.
const MOST_TICKS: u64 = 5;

/// Plays the scripts of `input`, and writes what they send and return.
///
/// # Errors
/// Reading or writing fails, or a line is invalid.
pub fn replay(input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    let mut player: Option<Player> = None;
    for (number, line) in input.lines().enumerate() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let invalid =
            || io::Error::new(io::ErrorKind::InvalidData, format!("line {}: invalid: {line}", number + 1));
        match (words.as_slice(), &mut player) {
            ([], _) => {}
            (["flush"], _) => {
                writeln!(output, ".")?;
                output.flush()?;
            }
            (["new", rest @ ..], _) => player = Some(Player::new(rest).ok_or_else(invalid)?),
            (words, Some(player)) => {
                player.line(words).ok_or_else(invalid)?;
                output.write_all(player.output.as_bytes())?;
                player.output.clear();
            }
            (_, None) => return Err(invalid()),
        }
    }
    output.flush()
}

/// A stack with at most one listener and one connection.
#[derive(Debug)]
struct Player {
    stack: Stack,
    start: Time,
    jiffy: Span,
    timing: Timing,
    /// The timers that were seen to run: when each is due, and since when that is so.
    set: Vec<(Time, Time)>,
    listener: Option<RawFd>,
    connection: Option<RawFd>,
    /// Number of segments sent.
    sent: u64,
    output: String,
}

impl Player {
    fn new(words: &[&str]) -> Option<Self> {
        let &[profile, congestion, jiffy, timing, isn, stamp, ref buffer @ ..] = words else { return None };
        let jiffy = Span::from_ps(jiffy.parse::<u64>().ok()? * 1000);
        let buffer = match buffer {
            [] => None,
            [bytes] => Some(bytes.parse().ok()?),
            _ => return None,
        };
        let settings = Settings::for_replay(profile, congestion == "reno", jiffy, buffer).ok()?;
        let mut stack = Stack::new(settings);
        // The clock of the stack begins at a whole millisecond.
        stack.now += Span::from_ps(1_000_000_000 - stamp.parse::<u64>().ok()? % 1_000_000 * 1000);
        stack.fixed_isn = if isn == "-" { None } else { Some(Seq(isn.parse().ok()?)) };
        let timing = match timing {
            "exact" => Timing::Exact,
            "steered" => Timing::Steered { ticks: MOST_TICKS },
            _ => Timing::Steered { ticks: timing.strip_prefix("steered-")?.parse().ok()? },
        };
        let start = stack.now;
        let (set, listener, connection, sent, output) = (Vec::new(), None, None, 0, String::new());
        Some(Self { stack, start, jiffy, timing, set, listener, connection, sent, output })
    }

    fn line(&mut self, words: &[&str]) -> Option<()> {
        match words {
            ["info"] => self.info(),
            ["to", at] => self.advance(at)?,
            ["queue", "refusing"] => self.stack.settings.qdisc = Qdisc::Refusing,
            ["queue", "default"] => self.stack.settings.qdisc = Qdisc::Default,
            ["emission", at, number, what] => {
                self.advance(at)?;
                self.emit(number.parse().ok()?, what);
            }
            ["packet", at, hex] => {
                self.advance(at)?;
                self.stack.receive(&packet(hex)?);
            }
            ["call", at, name, arguments @ ..] => {
                self.advance(at)?;
                let result = self.call(name, arguments)?;
                let at = (self.stack.now - self.start).as_ps() / 1000;
                let result = result.unwrap_or_else(|error| -i64::from(error as i32));
                writeln!(self.output, "result {at} {name} {result}").ok()?;
            }
            _ => return None,
        }
        self.print_sent();
        self.note_timer();
        Some(())
    }

    /// Advances the clock, and runs the timers that expire before.
    fn advance(&mut self, at: &str) -> Option<()> {
        let to = self.start + Span::from_ps(at.parse::<u64>().ok()? * 1000);
        loop {
            let due = self.stack.next_deadline();
            let latest = match self.timing {
                Timing::Exact => due,
                Timing::Steered { ticks } => due + self.granularity(due, ticks),
            };
            if latest >= to {
                break;
            }
            self.stack.now = self.stack.now.max(due);
            self.expire();
        }
        self.stack.now = self.stack.now.max(to);
        Some(())
    }

    /// Sends the segments up to the `number`-th. What only pacing has delayed leaves without any other timer: one that is due too
    /// may belong to a later segment of the kernel. But if the kernel sends `again` while nothing of ours waits for that, its timer has
    /// expired. If it sends a bare `ack`, that is rather the one that is delayed than an answer of another timer.
    fn emit(&mut self, number: u64, what: &str) {
        if what == "ack" && self.sent < number {
            self.stack.send_delayed_acks(self.stack.now + self.jiffy);
            self.print_sent();
            self.note_timer();
        }
        if what == "again" && self.sent < number && !self.stack.has_repairs_to_send() {
            self.expire();
        }
        if self.sent < number {
            self.stack.send_what_may_leave();
            self.print_sent();
        }
        if self.sent < number {
            self.expire();
        }
        if self.sent < number {
            self.expire_early();
        }
    }

    /// The kernel counts ticks, and the present one may have begun nearly a tick ago: its timer may expire by that much sooner
    /// than ours.
    fn expire_early(&mut self) {
        let (now, due) = (self.stack.now, self.stack.next_deadline());
        if self.timing != Timing::Exact && due > now && due < now + self.jiffy {
            self.stack.now = due;
            self.expire_at(now);
            self.stack.now = now;
        }
    }

    fn expire_at(&mut self, at: Time) {
        self.stack.run_timers();
        for packet in &mut self.stack.sent {
            packet.at = at;
        }
        self.print_sent();
        self.note_timer();
    }

    fn expire(&mut self) {
        self.stack.run_timers();
        self.print_sent();
        self.note_timer();
    }

    /// Remembers when the next timer was set: others may run before it and end. It may be overdue, because it waits for the
    /// kernel's.
    fn note_timer(&mut self) {
        let due = self.stack.next_deadline();
        self.set.retain(|&(known, _)| known > self.stack.now || known == due);
        if !due.is_never() && self.set.iter().all(|&(known, _)| known != due) {
            self.set.push((due, self.stack.now));
        }
    }

    /// How late a timer of the kernel may expire: a tick up to 63 ticks, then an eighth of its time (kernel/time/timer.c). Another
    /// tick is for rounding up, two are for TCP_TIMEOUT_MIN_US, and one is for the machine.
    /// The ACK of data behind a gap has a timer that does not count ticks.
    fn granularity(&self, due: Time, ticks: u64) -> Span {
        if due.is_never() {
            return Span::ZERO;
        }
        let set = self.set.iter().find(|&&(known, _)| known == due).map_or(self.stack.now, |&(_, set)| set);
        let wait = due - set.min(due);
        if self.stack.reports_at(due) {
            return Span::from_ps(self.jiffy.as_ps() / 4);
        }
        let ticks = Span::from_ps(self.jiffy.as_ps() * ticks);
        if wait.as_ps() < 48 * self.jiffy.as_ps() { ticks } else { ticks + Span::from_ps(wait.as_ps() / 7) }
    }

    /// `listen PORT`, `connect PORT TO_ADDRESS TO_PORT`, `option LEVEL NAME VALUE`, `accept`, `write LENGTH FLAGS`, `read
    /// LENGTH`,
    /// `shutdown HOW`, `close`. An option is set on the connection, or before there is one, on the listener or the new socket.
    fn call(&mut self, name: &str, arguments: &[&str]) -> Option<Result<i64, Errno>> {
        let numbers: Vec<i64> = arguments.iter().filter_map(|word| word.parse().ok()).collect();
        let here = |port: i64| SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), port as u16);
        let fd = self.connection.or(self.listener);
        // Scripts may use a connection that does not exist.
        let (listener, connection) = (self.listener.unwrap_or(-1), self.connection.unwrap_or(-1));
        let result = match (name, arguments, numbers.as_slice()) {
            ("socket", [], _) => self.stack.open(libc::AF_INET, NONBLOCKING, 0).map(|fd| {
                self.listener = Some(fd);
                0
            }),
            ("listen", [_], &[port]) => {
                let fd = listener;
                let bound = self.stack.bind(fd, here(port));
                bound.and_then(|()| self.stack.listen(fd, 8)).map(|()| 0)
            }
            ("connect", [_, to, _], &[port, .., to_port]) => {
                let fd = listener;
                (self.listener, self.connection) = (None, self.listener);
                let to = SocketAddr::new(to.parse().ok()?, to_port as u16);
                let bound = self.stack.bind(fd, here(port));
                bound.and_then(|()| self.stack.connect(fd, to)).map(|()| 0)
            }
            ("accept", [], _) => self.stack.accept(listener).map(|(fd, _)| {
                self.connection = Some(fd);
                0
            }),
            ("option", _, &[level, name, value]) => {
                let value = (value as i32).to_ne_bytes();
                self.stack.set_option(fd.unwrap_or(-1), level as i32, name as i32, &value).map(|()| 0)
            }
            ("write", _, &[len, flags]) => self.write(connection, len as u64, flags as i32),
            ("read", _, &[len]) => {
                let read = self.stack.read(connection, len as u64, ReadMode::Remove);
                read.map(|read| read as i64)
            }
            ("shutdown", _, &[how]) => self.stack.shutdown(connection, how as i32).map(|()| 0),
            ("close", [], _) => {
                self.connection = None;
                self.stack.close(connection).map(|()| 0)
            }
            _ => return None,
        };
        Some(result)
    }

    /// `send(2)` that does not wait.
    fn write(&mut self, fd: RawFd, len: u64, flags: i32) -> Result<i64, Errno> {
        let behind = if flags & libc::MSG_MORE != 0 { Behind::More } else { Behind::Nothing };
        self.stack.set_after_write(fd, behind)?;
        let mut written = 0;
        while written < len {
            match self.stack.write(fd, len - written, behind) {
                Ok(taken) => written += taken,
                Err(error) if written == 0 => return Err(error),
                Err(_) => {
                    self.stack.end_write(fd);
                    break;
                }
            }
        }
        Ok(written as i64)
    }

    fn info(&mut self) {
        let bytes = self.connection.and_then(|fd| self.stack.info(fd).ok()).unwrap_or_default();
        self.output.push_str("info ");
        self.push_hex(&bytes);
    }

    fn print_sent(&mut self) {
        while let Some(SentPacket { at, bytes }) = self.stack.sent.pop_front() {
            self.sent += 1;
            let headers = headers(&bytes);
            let at = (at - self.start).as_ps() / 1000;
            // Writing to a string cannot fail.
            let _ = write!(self.output, "sent {at} ");
            self.push_hex(&bytes[..headers]);
        }
    }

    fn push_hex(&mut self, bytes: &[u8]) {
        for byte in bytes {
            let _ = write!(self.output, "{byte:02x}");
        }
        self.output.push('\n');
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        for fd in [self.connection, self.listener].into_iter().flatten() {
            // The socket may be closed already.
            let _ = self.stack.close(fd);
        }
    }
}

const NONBLOCKING: i32 = libc::SOCK_STREAM | libc::SOCK_NONBLOCK;

/// Length of the headers of a packet that we have encoded.
fn headers(bytes: &[u8]) -> usize {
    let ip = usize::from(bytes.first().map_or(0, |byte| byte & 15)) * 4;
    let tcp = usize::from(bytes.get(ip + 12).map_or(0, |byte| byte >> 4)) * 4;
    (ip + tcp).min(bytes.len())
}

/// A packet from hexadecimal digits. What lacks of the length that its IP header states is zeros.
fn packet(hex: &str) -> Option<Vec<u8>> {
    let digits = hex.as_bytes().as_chunks::<2>().0;
    let byte = |pair: &[u8; 2]| u8::from_str_radix(core::str::from_utf8(pair).ok()?, 16).ok();
    let mut bytes = digits.iter().map(byte).collect::<Option<Vec<u8>>>()?;
    let stated = u16::from_be_bytes([*bytes.get(2)?, *bytes.get(3)?]);
    bytes.resize(bytes.len().max(usize::from(stated)), 0);
    Some(bytes)
}
