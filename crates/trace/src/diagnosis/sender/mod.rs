//! One sender as its packets show it: phases and measurements.
//!
//! Everything is put on the clock of the sender as far as the capture point permits it: an ACK counts from when it and the
//! segments that it causes would be seen here, one round trip between here and the sender later.

pub(super) mod departures;
pub(super) mod incidents;
pub(super) mod meter;
pub(super) mod phase;
mod settle;
pub(super) mod totals;

use crate::diagnosis::path::trains::Trains;
use crate::diagnosis::sender::departures::Departures;
use crate::diagnosis::sender::incidents::{Incidents, LONG_NS};
use crate::diagnosis::sender::meter::Meter;
use crate::diagnosis::sender::phase::{Phase, Phases};
use crate::diagnosis::sender::totals::{DelayedAcks, Totals};
use crate::diagnosis::vantage::IN_HOST_NS;
use crate::diagnosis::vantage::behind::{Ack, Behind};
use crate::diagnosis::vantage::bursts::{Bursts, Explained};
use crate::follow::Cause;
use std::collections::VecDeque;

/// Maximum number of ACKs on their way to the sender; above that, the oldest count at once.
const MOST_ACKS: usize = 1 << 12;
/// A segment that follows an ACK or another segment within this time was caused by it.
const PROMPT_NS: u64 = 1_500_000;
/// Slices and stretches of phases are no shorter.
const LEAST_SLICE_NS: u64 = 50_000;

/// A writer that waits for an ACK is woken, and its data sent, within this time.
const WAKES_NS: u64 = 100_000;

/// No retransmission timer is shorter than this, nearly (RFC 6298 has 1 s, Linux 200 ms).
const PAUSE_NS: u64 = 150_000_000;
/// A path whose delay varies holds packets for less than this: no timer of a usual sender expires sooner.
const HELD_NS: u64 = 200_000_000;
/// The largest usual initial window, in segments (RFC 6928).
const MOST_INITIAL: i64 = 10;
/// The first retransmission timers of usual senders expire before this: those of Linux, and those of RFC 6298.
const SHORT_TIMER_NS: u64 = 500_000_000;
const LONG_TIMER_NS: u64 = 1_700_000_000;
/// The flight in segments that is assumed for trains of arrivals, where the flight is not known.
const ARRIVALS: u64 = 6;

/// Loss recovery that is under way.
#[derive(Clone, Copy, Debug)]
struct Repair {
    phase: Phase,
    /// It ends when everything below this is acknowledged.
    until: i64,
}

/// What one sender did, from packets.
#[derive(Debug)]
pub(super) struct SenderView {
    una: i64,
    next: i64,
    /// Position of the first byte of data.
    first: i64,
    /// Position after the last byte of data, where a FIN would be.
    data_end: i64,
    window: u32,
    started: bool,
    open: bool,
    /// When it will be open, as far as is known.
    opens_at: Option<u64>,
    closing: bool,
    repair: Option<Repair>,
    /// When it last sent new data, and when an ACK last arrived.
    sent_at: u64,
    acked_at: u64,
    /// Whether the ACK that arrived last had no data.
    bare: bool,
    /// When the first ACK of new data since the last new segment arrived, and the bytes outstanding then; `None` without one.
    unanswered: Option<(u64, i64)>,
    /// Whether the last new segment was shorter than the largest, or is split into segments of which the last one is.
    short: bool,
    /// Whether duplicate ACKs have arrived since the last ACK of new data.
    duplicates: u32,
    /// Phases since the sender last sent new data: what they were is known when it sends again.
    tentative: Vec<(u64, Phase)>,
    clock: u64,
    acks: VecDeque<Ack>,
    /// The round trip between here and the sender.
    behind: Behind,
    /// Without timestamps.
    bursts: Bursts,
    stamped: bool,
    /// When data was captured last.
    captured_at: u64,
    /// When a segment of either side was.
    heard_at: u64,
    /// The least round trip from here to the receiver, and whether there is a sample; else it is 0.
    ahead: u64,
    ahead_known: bool,
    /// The latest one.
    ahead_now: u64,
    /// Whether data was outstanding when the last new data was sent.
    clocked: bool,
    delayed_acks: DelayedAcks,
    /// The largest payload that the peer permits.
    mss: u32,
    pub(super) phases: Phases,
    pub(super) meter: Meter,
    pub(super) trains: Trains,
    /// Of the segments themselves.
    pub(super) arrivals: Trains,
    pub(super) totals: Totals,
    pub(super) incidents: Incidents,
    pub(super) departures: Departures,
}

impl SenderView {
    pub(super) fn new(handshake_seen: bool) -> Self {
        Self {
            una: 0,
            next: 0,
            first: 0,
            data_end: i64::MIN,
            window: 0,
            started: false,
            open: !handshake_seen,
            opens_at: None,
            closing: false,
            repair: None,
            sent_at: 0,
            acked_at: 0,
            bare: false,
            unanswered: None,
            short: false,
            duplicates: 0,
            tentative: Vec::new(),
            clock: 0,
            acks: VecDeque::new(),
            behind: Behind::default(),
            bursts: Bursts::default(),
            stamped: false,
            captured_at: 0,
            heard_at: 0,
            ahead: 0,
            ahead_known: false,
            ahead_now: 0,
            clocked: false,
            delayed_acks: DelayedAcks::default(),
            mss: 0,
            phases: Phases::default(),
            meter: Meter::default(),
            trains: Trains::default(),
            arrivals: Trains::default(),
            totals: Totals::default(),
            incidents: Incidents::default(),
            departures: Departures::default(),
        }
    }

    /// The peer's maximum segment size.
    pub(super) fn set_mss(&mut self, mss: u32) {
        self.mss = mss;
    }

    /// A round trip between here and the sender was measured.
    pub(super) fn note_behind(&mut self, at: u64, ns: u64, packet: u64) {
        let waited_for_data = !self.clocked;
        if !waited_for_data {
            self.meter.at(at, packet).note_behind(ns);
        }
        if self.behind.note(ns) {
            self.set_scale();
        }
        // Beside the sender a later sample is mostly the time that the sender had nothing to send.
        if !(waited_for_data && self.behind.has_recent()) {
            self.behind.note_recent(ns);
        }
    }

    /// A segment that comes after a pause, full or not. Returns whether an ACK explains when it comes, where no timestamps
    /// show that.
    fn note_burst(&mut self, at: u64, packet: u64, start: i64, short: bool) -> bool {
        if self.stamped || self.is_beside_sender() {
            return false;
        }
        let pause = at.saturating_sub(self.captured_at);
        self.captured_at = at;
        if short {
            self.bursts.interrupt();
        }
        if short || pause <= PROMPT_NS.max(self.round() / 4) {
            return false;
        }
        // A full window opens when the receiver reads, and not with the first ACK.
        let most = self.window.saturating_sub(2 * self.totals.segment);
        let window_full = self.tentative.iter().any(|(_, phase)| *phase == Phase::WindowFull);
        let found = self.bursts.begin(at, start, (self.behind.least(), self.ahead), most);
        if let Some(Explained::RoundTrip(ns)) = found.filter(|_| !window_full) {
            self.totals.by_bursts = true;
            self.meter.at(at, packet).note_behind(ns);
        }
        found.is_some() && !window_full
    }

    /// The round trip between here and the sender, with the queues on it; beside the sender the least one.
    fn behind_now(&self) -> u64 {
        if self.is_beside_sender() { self.behind.least() } else { self.behind.now }
    }

    /// The handshake has measured a round trip from here to the receiver. It gives the scale only: data takes longer to
    /// transmit than a SYN.
    pub(super) fn note_handshake(&mut self, ns: u64) {
        if !self.ahead_known {
            (self.ahead, self.ahead_known) = (ns, true);
            self.set_scale();
        }
    }

    /// The ACK that was captured last has measured a round trip from here to the receiver.
    pub(super) fn note_ahead(&mut self, at: u64, ns: u64) {
        match self.acks.back_mut() {
            // By Karn's rule if that gave a sample, since an echoed timestamp includes the delay of the ACK.
            Some(ack) => ack.ahead = ack.ahead.or(Some(ns)),
            None => self.meter.at(at, 0).note_ahead(ns),
        }
        self.ahead_now = ns;
        if !self.ahead_known || ns < self.ahead {
            (self.ahead, self.ahead_known) = (ns, true);
            self.set_scale();
        }
    }

    /// The least round trip of the whole path so far, in nanoseconds.
    pub(super) fn round(&self) -> u64 {
        self.ahead + self.behind.least()
    }

    /// Whether the capture was taken beside the sender.
    pub(super) fn is_beside_sender(&self) -> bool {
        self.behind.least() * 10 < self.round()
    }

    fn set_scale(&mut self) {
        // The first sample of a path may be much shorter than the later ones; the scale only grows.
        self.meter.set_length((self.round() / 4).max(LEAST_SLICE_NS));
        self.phases.set_least((self.round() / 16).max(LEAST_SLICE_NS));
    }

    /// An ACK that opens this sender passes here.
    pub(super) fn opens_after_ack(&mut self, at: u64) {
        if !self.open && self.opens_at.is_none() {
            self.opens_at = Some(at + self.behind.least());
        }
    }

    /// The handshake is over for this sender at `at`.
    pub(super) fn opens(&mut self, at: u64) {
        if !self.open {
            self.opens_at = None;
            self.arrive(at);
            self.advance(at);
            self.open = true;
            self.settle(Phase::Sending);
            (self.sent_at, self.acked_at) = (at, at);
        }
    }

    /// New data `start..end` with `len` bytes of payload.
    pub(super) fn note_data(&mut self, at: u64, packet: u64, start: i64, end: i64, len: u32) {
        self.arrive(at);
        self.advance(at);
        if !self.started {
            (self.una, self.next, self.started) = (start, start, true);
        }
        if self.data_end == i64::MIN {
            self.first = start;
        }
        self.data_end = self.data_end.max(end);
        if end <= self.next {
            return;
        }
        self.note_heard(at);
        self.clocked = self.una < self.next;
        let since = |then: u64| at.saturating_sub(then);
        let prompt = self.prompt();
        let largest = self.totals.segment.max(1);
        let short = len < largest && len > 0;
        let explained = self.note_burst(at, packet, start, short);
        let prompted = explained || since(self.acked_at) <= prompt || since(self.sent_at) <= prompt;
        let quiet_since = self.sent_at.max(self.acked_at);
        if !explained
            && self.behind.least() > IN_HOST_NS
            && !self.clocked
            && since(quiet_since) > PAUSE_NS.max(self.round())
        {
            let held = self.departures.apart().is_some_and(|ns| ns < since(quiet_since) / 2);
            self.incidents.note_pause((quiet_since, at), len, largest, (held, self.short));
        } else {
            self.incidents.note_data(at, len, self.round() / 4 * 3);
        }
        self.settle_before_data(at, (prompted, explained), short);
        self.totals.offload |= self.mss > 0 && len > self.mss;
        self.totals.segments += 1;
        self.totals.segment = self.totals.segment.max(if self.mss > 0 { len.min(self.mss) } else { len });
        let woken = self.is_beside_sender() && since(self.acked_at) <= WAKES_NS;
        self.departures.note_sent(at, end, len, woken);
        self.next = end;
        let flight = u32::try_from(self.next - self.una).unwrap_or(u32::MAX);
        let segment = u64::from(self.totals.segment);
        let rate = self.arrivals.note(at, u64::from(len), ARRIVALS * segment, segment);
        let slice = self.meter.at(at, packet);
        slice.arrivals = slice.arrivals.max(rate.map_or(0, |rate| (rate / 1e3) as u32 + 1));
        slice.sent = slice.sent.saturating_add(len);
        slice.segments = slice.segments.saturating_add(1);
        slice.unprompted = slice.unprompted.saturating_add(u16::from(!prompted));
        slice.short = slice.short.saturating_add(u16::from(short));
        slice.flight = slice.flight.max(flight);
        slice.end = end;
        self.meter.set_outstanding(flight);
        self.sent_at = at;
        self.unanswered = None;
        self.short = !len.is_multiple_of(self.totals.segment.max(1));
    }

    /// A segment of either side is captured. If nothing was for long while data was outstanding, the timer of the sender has
    /// expired meanwhile, and what it sent then did not come here.
    fn note_heard(&mut self, at: u64) {
        let since = core::mem::replace(&mut self.heard_at, at);
        let acknowledged = self.acks.back().map_or(self.una, |last| last.ack.max(self.una));
        let outstanding = self.started && acknowledged < self.next;
        if outstanding && self.round() > 0 && !self.is_beside_sender() {
            // Senders with timestamps have timers of 200 ms, others of 1 s. Both double.
            let expected = if self.stamped { LONG_NS } else { LONG_NS / 3 * 7 };
            self.incidents.note_unheard(since, at, expected);
        }
    }

    /// The segments that follow have this timestamp; 0 if they have none.
    pub(super) fn set_stamp(&mut self, stamp: u32) {
        self.departures.set_stamp(stamp);
        self.stamped |= stamp != 0;
    }

    /// A FIN was sent.
    pub(super) fn note_fin(&mut self, at: u64) {
        self.arrive(at);
        self.advance(at);
        self.closing = true;
    }

    /// The data `start..` was retransmitted.
    pub(super) fn note_resent(
        &mut self,
        at: u64,
        packet: u64,
        (start, len): (i64, u32),
        (cause, seen): (Cause, bool),
    ) {
        self.arrive(at);
        self.advance(at);
        self.note_heard(at);
        self.totals.resent += 1;
        // No data waits for a FIN.
        if self.closing && self.una >= self.next {
            return;
        }
        self.bursts.interrupt();
        self.meter.note_lost(start);
        self.departures.note_resent(at, (start, len), seen);
        let fast = matches!(cause, Cause::Fast | Cause::Nak);
        self.incidents.note_resent(at, (start, len), self.next, fast);
        self.totals.first_loss.get_or_insert(at);
        let acknowledged = self.acks.back().map_or(self.una, |last| last.ack.max(self.una));
        let quiet = at.saturating_sub(self.sent_at.max(self.acked_at));
        if start + i64::from(len) <= acknowledged && quiet > PAUSE_NS.max(self.behind.least()) {
            // The first timer is one of 200 ms with timestamps, and mostly of 1 s without; without a sample of the RTT it may be
            // one of 3 s (RFC 6298, section 5.7).
            let begins = self.next - self.first <= MOST_INITIAL * i64::from(self.totals.segment.max(1));
            let timer = match (begins, self.stamped) {
                (true, _) => LONG_NS,
                (false, true) => SHORT_TIMER_NS,
                (false, false) => LONG_TIMER_NS,
            };
            self.incidents.note_acknowledged((at - quiet, at), timer + 2 * self.round());
        }
        let slice = self.meter.at(at, packet);
        slice.resent = slice.resent.saturating_add(1);
        let nothing_later_arrived = self.duplicates == 0;
        let phase = match cause {
            Cause::Timeout if nothing_later_arrived => Phase::TailLoss,
            Cause::Timeout => Phase::Timeout,
            Cause::TailProbe => Phase::TailLoss,
            Cause::Fast | Cause::Nak => Phase::FastRecovery,
            Cause::Unexplained => return,
        };
        let waited = matches!(phase, Phase::Timeout | Phase::TailLoss);
        match &mut self.repair {
            // A timer that expires during fast recovery ends it.
            Some(repair) if waited && repair.phase == Phase::FastRecovery => {
                self.settle_wait(at, phase);
                self.repair = Some(Repair { phase, until: self.next });
            }
            // The timer has expired again.
            Some(repair) if waited => {
                let phase = repair.phase;
                self.settle_wait(at, phase);
            }
            Some(_) => {}
            None => {
                if waited {
                    self.settle_wait(at, phase);
                }
                self.repair = Some(Repair { phase, until: self.next });
            }
        }
    }

    /// The ACK that was captured last has reported `bytes` as delivered.
    pub(super) fn note_delivered(&mut self, at: u64, bytes: u32) {
        let flight = (self.next - self.una).max(0) as u64;
        let rate = self.trains.note(at, u64::from(bytes), flight, u64::from(self.totals.segment));
        let (delivered, train) = match self.acks.back_mut() {
            Some(ack) => (&mut ack.delivered, &mut ack.train),
            None => {
                let slice = self.meter.at(at, 0);
                (&mut slice.delivered, &mut slice.train)
            }
        };
        *delivered = delivered.saturating_add(bytes);
        *train = (*train).max(rate.map_or(0, |rate| (rate / 1e3) as u32 + 1));
    }

    /// The retransmission of the data at `start` was not needed. The ACK that proves it is `packet`; `by_copy` if it says that
    /// the data arrived twice.
    pub(super) fn note_needless(&mut self, packet: u64, (start, len): (i64, u32), by_copy: bool) {
        self.departures.note_needless(start, len);
        self.incidents.note_needless(packet, start, by_copy);
    }

    /// An ACK passes here; it counts when it has reached the sender and the answer could be here.
    pub(super) fn note_ack(&mut self, at: u64, packet: u64, ack: i64, window: u32, bare: bool) {
        self.note_held(at, ack);
        self.incidents.note_ack(at, packet, ack, self.ahead);
        self.note_heard(at);
        self.note_late(at, ack);
        let arrives = at + self.behind_now();
        if bare {
            self.bursts.note_ack(at, ack);
        } else {
            self.bursts.interrupt();
        }
        let at = self.acks.back().map_or(arrives, |last| last.at.max(arrives));
        let ack = Ack { at, packet, ack, delivered: 0, ahead: None, window, bare, train: 0 };
        if self.acks.len() == MOST_ACKS
            && let Some(oldest) = self.acks.pop_front()
        {
            self.take_ack(&oldest);
        }
        self.acks.push_back(ack);
    }

    /// An ACK passes here. If it acknowledges two segments that were sent long before, the path held them or the ACK: two segments
    /// are acknowledged at once.
    fn note_held(&mut self, at: u64, ack: i64) {
        let two = self.acks.back().map_or(self.una, |last| last.ack.max(self.una))
            + 2 * i64::from(self.totals.segment.max(1));
        if self.repair.is_none() && self.duplicates == 0 && ack >= two {
            let sent = self.meter.sent_about(two - 1).unwrap_or(self.sent_at);
            self.incidents.note_held(sent, at, HELD_NS.max(2 * (self.ahead_now + self.behind_now())));
        }
    }

    /// An ACK is late if it covers segments that were sent at times that differ by more than half a round trip.
    fn note_late(&mut self, at: u64, ack: i64) {
        let segment = i64::from(self.totals.segment.max(1));
        let before = self.acks.back().map_or(self.una, |last| last.ack.max(self.una));
        if self.repair.is_some() || self.duplicates > 0 || ack <= before {
            return;
        }
        self.totals.regular.note(ack - before, segment);
        if ack - before < 3 * segment || !self.is_beside_sender() {
            return;
        }
        let since = self.acks.back().map_or(self.acked_at, |last| last.at);
        let full = fills_the_path((self.next - ack, ack - before), at.saturating_sub(since), self.round());
        // Those of the first two segments were owed a round trip after the second one.
        let owed = self.meter.sent_about(before + 2 * segment - 1).unwrap_or(self.sent_at) + self.round();
        if ack - before > 3 * segment && at > owed + self.round() / 2 {
            self.incidents.note_late(if full { since } else { owed }, at, full);
            return;
        }
        let (Some(first), last) = (self.meter.sent_at(before + segment), self.meter.sent_at(ack - 1)) else {
            return;
        };
        let apart = last.unwrap_or(at).min(at).saturating_sub(first);
        if apart > self.round() / 2 {
            self.incidents.note_late(if full { since } else { at - apart }, at, full);
        }
    }

    /// Processes the ACKs that have arrived until `now`.
    fn arrive(&mut self, now: u64) {
        while let Some(&ack) = self.acks.front()
            && ack.at <= now
        {
            self.acks.pop_front();
            self.advance(ack.at);
            self.take_ack(&ack);
        }
    }

    fn take_ack(&mut self, ack: &Ack) {
        let at = self.clock.max(ack.at);
        if !self.started {
            (self.una, self.next, self.started) = (ack.ack, ack.ack, true);
        }
        let flight = u32::try_from(self.next - self.una).unwrap_or(0);
        let before = core::mem::replace(&mut self.window, ack.window);
        let fresh = (ack.ack - self.una).max(0);
        let shrinks = ack.window < before && fresh > 0;
        let prompt = self.delayed_acks.is_at_once(fresh, i64::from(self.totals.segment.max(1)));
        let slice = self.meter.at(at, ack.packet);
        slice.delivered = slice.delivered.saturating_add(ack.delivered);
        // The ACK that ends a gap has waited for what was missing.
        if let Some(ns) = ack.ahead.filter(|_| prompt && self.duplicates == 0) {
            slice.note_ahead(ns);
        }
        slice.train = slice.train.max(ack.train);
        slice.window = ack.window;
        slice.shrinks = slice.shrinks.saturating_add(u16::from(shrinks));
        slice.acks = slice.acks.saturating_add(1);
        slice.answers = slice.answers.saturating_add(u16::from(!ack.bare));
        slice.flight = slice.flight.max(flight);
        self.acked_at = at;
        self.bare = ack.bare;
        if fresh > 0 {
            self.unanswered.get_or_insert((at, self.next - self.una));
            self.totals.bytes += (ack.ack.min(self.data_end) - self.una).max(0) as u64;
            self.totals.last_ack = at;
            self.una = ack.ack;
            self.departures.forget(ack.ack);
            self.next = self.next.max(ack.ack);
            self.duplicates = 0;
            if self.repair.is_some_and(|repair| repair.until <= self.una) {
                self.repair = None;
            }
        } else if ack.bare && self.next > self.una {
            self.duplicates += 1;
        }
        self.meter.set_outstanding(u32::try_from(self.next - self.una).unwrap_or(0));
    }

    /// The possible error of the flight: zero in a capture at the sender and for small windows, otherwise two segments.
    fn slack(&self) -> i64 {
        let segment = i64::from(self.totals.segment);
        if self.is_beside_sender() || i64::from(self.window) < 8 * segment { 0 } else { 2 * segment }
    }

    /// The phase as far as it is visible now.
    fn visible(&self) -> Phase {
        let segment = i64::from(self.totals.segment.max(1));
        if !self.open {
            Phase::Opening
        } else if self.una >= self.next && self.window < self.totals.segment && !self.closing {
            Phase::WindowFull
        } else if self.una >= self.next {
            if self.closing { Phase::Closing } else { Phase::Empty }
        } else if let Some(repair) = self.repair {
            repair.phase
        } else if self.next - self.una + segment + self.slack() > i64::from(self.window) {
            Phase::WindowFull
        } else {
            Phase::Sending
        }
    }

    /// Lets the time go on to `now`.
    fn advance(&mut self, now: u64) {
        if let Some(opens) = self.opens_at.filter(|&opens| opens <= now) {
            self.opens(opens);
        }
        if now <= self.clock {
            return;
        }
        self.clock = now;
        let phase = self.visible();
        match self.tentative.last_mut() {
            Some((until, last)) if *last == phase => *until = now,
            _ => self.tentative.push((now, phase)),
        }
        if self.tentative.len() > 64 {
            self.settle(Phase::Sending);
        }
    }

    /// Ends the direction; the last packet of the connection was seen at `last`. Returns the end of its time: the last ACK
    /// of its data, or `last` if some is not acknowledged.
    pub(super) fn finish(&mut self, last: u64) -> u64 {
        self.arrive(u64::MAX);
        self.advance(last);
        self.incidents.finish();
        self.settle(if self.una < self.next { Phase::Sending } else { Phase::Delivering });
        let complete = self.totals.segments > 0 && self.una >= self.next && self.totals.last_ack > 0;
        if complete { self.totals.last_ack } else { last.max(self.clock) }
    }
}

/// Whether a path is full on which ACKs come together: `fresh` bytes were acknowledged in `cycle` nanoseconds, and `left` bytes stay
/// outstanding.
///
/// What is sent now arrives after the round trip of the empty path, `round`. Until then, the path is busy if so much is left as it
/// carries in that time. If the sender waits for the ACK, the path has carried what was left before.
const fn fills_the_path((left, fresh): (i64, i64), cycle: u64, round: u64) -> bool {
    // What was not captured may be acknowledged.
    cycle > 0
        && left > 0
        && fresh > 0
        && left as u128 * cycle as u128 * 10 >= fresh as u128 * round as u128 * 9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_full_if_enough_is_left_for_the_round_trip() {
        // 24 kB each 12 ms, and a round trip of 14 ms.
        assert!(fills_the_path((28_000, 24_000), 12_000_000, 14_000_000));
        assert!(!fills_the_path((12_000, 24_000), 12_000_000, 14_000_000));
        assert!(!fills_the_path((0, 24_000), 12_000_000, 14_000_000));
        assert!(!fills_the_path((-1000, 24_000), 12_000_000, 14_000_000), "some was not captured");
    }
}
