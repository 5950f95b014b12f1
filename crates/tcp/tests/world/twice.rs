//! One end of a connection, driven twice: once by the short ways (header prediction) and once by the full procedures. Each
//! call must have the same result both ways, and send the same segments for the same reasons. The state must be the same
//! after each step: a call, and all that is sent after it.
//!
//! Property tests, unit tests and the fuzzer share this file.

use core::fmt::Debug;
use core::ops::Deref;
use netspurt_tcp::reason::Reason;
use netspurt_tcp::segment::Segment;
use netspurt_tcp::time::Time;
use netspurt_tcp::{Connection, Transmission};

/// Two connections with the same history. It can be read like one connection.
pub(crate) struct Twice {
    short: Connection,
    full: Connection,
    /// The case, for messages.
    seed: u64,
    /// Calls so far.
    step: u64,
    /// The segment that arrived last, for messages.
    arrived: Option<Segment>,
    /// The segments sent last: each is written over the one before, as drivers do.
    sent: [Segment; 2],
    /// The short way said that nothing follows the segment that it sent last.
    said_last: bool,
}

impl Deref for Twice {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.full
    }
}

impl Twice {
    /// `make` makes either connection. `seed` names the case in messages.
    pub(crate) fn new(seed: u64, make: impl Fn() -> Connection) -> Self {
        let (short, full) = (make(), make());
        Self { short, full, seed, step: 0, arrived: None, sent: [Segment::default(); 2], said_last: false }
    }

    /// Calls both.
    #[track_caller]
    pub(crate) fn each<T: PartialEq + Debug>(&mut self, call: impl Fn(&mut Connection) -> T) -> T {
        self.step += 1;
        let (short, full) = (call(&mut self.short), call(&mut self.full));
        assert_eq!(short, full, "{}: short way (left) and full procedure (right)", self.place());
        short
    }

    /// A segment arrives.
    pub(crate) fn handle_segment(&mut self, now: Time, segment: &Segment) {
        self.step += 1;
        self.short.handle_segment(now, segment);
        self.full.handle_any_segment(now, segment);
        self.arrived = Some(*segment);
    }

    /// The next segment to send. It is called until it returns `None`.
    #[track_caller]
    pub(crate) fn poll_transmit(&mut self, now: Time) -> Option<Transmission> {
        self.step += 1;
        let full = self.full.transmit_any(now, &mut self.sent[1]);
        // A driver may believe that nothing follows, or ask again. Both occur here.
        let is_asked = !self.said_last || self.step.is_multiple_of(2);
        let short = if is_asked { self.short.transmit_into(now, &mut self.sent[0]) } else { None };
        let reasons = [short, full].map(|sent| sent.map(|departure| departure.reason));
        let place = self.place();
        assert_eq!(reasons[0], reasons[1], "{place}: short way (left) and full procedure (right)");
        if reasons[0].is_some() {
            assert_eq!(self.sent[0], self.sent[1], "{place}: short way (left) and full procedure (right)");
        }
        self.said_last = short.is_some_and(|departure| departure.last);
        // In between, one way may have noted already why nothing follows, which the other way notes here.
        if reasons[0].is_none() {
            self.compare();
        }
        reasons[0].map(|reason: Reason| Transmission { segment: self.sent[0], reason })
    }

    /// Takes the recorded events.
    #[track_caller]
    pub(crate) fn drain_events(&mut self) {
        loop {
            let (short, full) = (self.short.poll_event(), self.full.poll_event());
            assert_eq!(short, full, "{}: short way (left) and full procedure (right)", self.place());
            if short.is_none() {
                return;
            }
        }
    }

    fn place(&self) -> String {
        format!("seed {}, step {}", self.seed, self.step)
    }

    /// Fails where the states differ, and says how.
    #[track_caller]
    fn compare(&self) {
        if self.short.state_digest() == self.full.state_digest() {
            return;
        }
        let states = [&self.short, &self.full].map(|tcp| format!("{tcp:?}"));
        let alike = states[0].bytes().zip(states[1].bytes()).take_while(|(a, b)| a == b).count();
        let [short, full] =
            states.map(|state| state.chars().skip(alike.saturating_sub(80)).take(200).collect::<String>());
        panic!(
            "{}:\n short way:      …{short}…\n full procedure: …{full}…\n arrived last:   {:?}",
            self.place(),
            self.arrived
        );
    }
}
