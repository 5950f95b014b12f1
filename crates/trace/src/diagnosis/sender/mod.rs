//! One sender as its packets show it: phases and measurements.
//!
//! Everything is put on the clock of the sender as far as the capture point permits it: an ACK counts from when it and the
//! segments that it causes would be seen here, one round trip between here and the sender later.

mod acks;
mod data;
pub(super) mod departures;
mod frames;
pub(super) mod incidents;
pub(super) mod meter;
mod pace;
pub(super) mod phase;
pub(super) mod probes;
mod settle;
pub(super) mod totals;

use crate::diagnosis::path::spacing::Spacing;
use crate::diagnosis::path::trains::{Trains, come_no_faster};
use crate::diagnosis::sender::departures::Departures;
use crate::diagnosis::sender::incidents::{HeldOne, Incidents};
use crate::diagnosis::sender::meter::Meter;
use crate::diagnosis::sender::pace::Pace;
use crate::diagnosis::sender::phase::{Phase, Phases};
use crate::diagnosis::sender::totals::{DelayedAcks, Totals};
use crate::diagnosis::vantage::IN_HOST_NS;
use crate::diagnosis::vantage::behind::{Ack, Behind};
use crate::diagnosis::vantage::bursts::Bursts;
use crate::diagnosis::vantage::repairs::Asked;
use std::collections::VecDeque;

/// A segment that follows an ACK or another segment within this time was caused by it.
const PROMPT_NS: u64 = 1_500_000;
/// Slices and stretches of phases are no shorter.
const LEAST_SLICE_NS: u64 = 50_000;

/// A writer that waits for an ACK is woken, and its data sent, within this time.
const WAKES_NS: u64 = 100_000;
/// A busy host takes longer. In a capture in the host of the sender, an ACK does not cause data that is sent later than this after it.
const WAKES_LATE_NS: u64 = 300_000;

/// The largest usual initial window, in segments (RFC 6928).
const MOST_INITIAL: i64 = 10;

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
    /// What was acknowledged before any data was captured: in all, and by the last ACK.
    unseen: (u64, i64),
    window: u32,
    /// The scale of the receiver's windows: known from the handshake (0, since windows come scaled), or the least one that permits what
    /// was in flight.
    scale: u8,
    scale_known: bool,
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
    /// Whether more than one segment has been outstanding.
    several: bool,
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
    asked: Asked,
    stamped: bool,
    /// Whether the receiver has reported data by SACK.
    sacks: bool,
    /// The timestamp of the other end that the segment which is being processed echoes; 0 without one.
    echo: u32,
    held_one: Option<HeldOne>,
    /// When data was captured last.
    captured_at: u64,
    /// When new data of the same host was acknowledged, on any of its connections to the receiver.
    others: u64,
    /// When a segment of either side was.
    heard_at: u64,
    /// The latest time in which none was, for longer than a path that carries packets explains.
    quiet: (u64, u64),
    /// The least round trip from here to the receiver, and whether there is a sample; else it is 0.
    ahead: u64,
    ahead_known: bool,
    /// The latest one.
    ahead_now: u64,
    /// Whether segments that come here have passed the bottleneck, although the capture was taken near the sender.
    behind_bottleneck: bool,
    /// Whether data was outstanding when the last new data was sent.
    clocked: bool,
    pace: Pace,
    /// The times between segments.
    pub(super) spacing: Spacing,
    delayed_acks: DelayedAcks,
    /// The largest payload that the peer permits, without options, and with those of the latest data; `u32::MAX` if it is not known.
    mss: u32,
    most: u32,
    /// The same that this end permits, without options; 0 if it is not known.
    own_mss: u32,
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
            unseen: (0, 0),
            window: 0,
            scale: 0,
            scale_known: handshake_seen,
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
            several: false,
            duplicates: 0,
            tentative: Vec::new(),
            clock: 0,
            acks: VecDeque::new(),
            behind: Behind::default(),
            bursts: Bursts::default(),
            asked: Asked::default(),
            stamped: false,
            sacks: false,
            echo: 0,
            held_one: None,
            captured_at: 0,
            others: 0,
            heard_at: 0,
            quiet: (0, 0),
            ahead: 0,
            ahead_known: false,
            ahead_now: 0,
            behind_bottleneck: false,
            clocked: false,
            pace: Pace::default(),
            spacing: Spacing::default(),
            delayed_acks: DelayedAcks::default(),
            mss: 0,
            most: u32::MAX,
            own_mss: 0,
            phases: Phases::default(),
            meter: Meter::default(),
            trains: Trains::default(),
            arrivals: Trains::default(),
            totals: Totals::default(),
            incidents: Incidents::default(),
            departures: Departures::default(),
        }
    }

    /// New data of this host was acknowledged last at `at`, on any of its connections to the receiver; 0 without any.
    pub(super) fn set_others(&mut self, at: u64) {
        self.others = at;
    }

    /// The peer's maximum segment size.
    pub(super) fn set_mss(&mut self, mss: u32) {
        self.mss = mss;
    }

    /// The maximum segment size that this end permits its peer.
    pub(super) fn set_own_mss(&mut self, mss: u32) {
        self.own_mss = mss;
    }

    /// Whether the handshake has shown how the receiver scales its windows.
    pub(super) fn set_scale_known(&mut self, known: bool) {
        self.scale_known = known;
    }

    /// Payload bytes up to the last one that was sent.
    pub(super) fn bytes_sent(&self) -> u64 {
        if self.data_end == i64::MIN { 0 } else { (self.data_end - self.first).max(0) as u64 }
    }

    /// Payload bytes that were acknowledged, of a sender of which nothing was captured. A single one at the end is its FIN.
    pub(super) fn bytes_acknowledged(&self) -> u64 {
        self.unseen.0 - u64::from(self.unseen.1 == 1)
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
            // A path that carried nothing meanwhile holds no later ACK for as long.
            let held = if self.quiet.0 >= at.saturating_sub(ns) { self.quiet.1 - self.quiet.0 } else { 0 };
            self.behind.note_recent(ns.saturating_sub(held));
        }
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

    /// Whether the capture was taken beside the sender, and not behind a bottleneck: a queue there delays the segments before they are captured.
    pub(super) fn is_beside_sender(&self) -> bool {
        !self.behind_bottleneck && self.behind.least() * 10 < self.round()
    }

    /// Looks again at whether the segments so far have passed the bottleneck, at each doubling of their number.
    fn look_for_bottleneck(&mut self) {
        if self.totals.segments.is_power_of_two() && self.behind.least() > IN_HOST_NS {
            self.behind_bottleneck =
                self.spacing.shared_link().is_some() || come_no_faster(&self.trains, &self.arrivals);
        }
    }

    /// Whether the capture was taken in the host of the sender.
    fn is_in_host(&self) -> bool {
        self.is_beside_sender() && self.behind.least() <= IN_HOST_NS
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_the_sender_segments_that_come_no_faster_than_their_acks_have_passed_the_bottleneck() {
        const US: u64 = 1000;
        // Each two segments of 1000 bytes come within so many microseconds, and ACKs of them each 2 ms, so far from the sender.
        let is_beside = |within: u64, behind: u64| {
            let mut view = SenderView::new(false);
            view.note_behind(0, behind * US, 0);
            view.note_handshake(50_000 * US);
            for n in 0..130 {
                let (at, from) = (n * 2000 * US, n as i64 * 2000);
                view.note_data(at, n, from, from + 1000, 1000);
                view.note_data(at + within * US, n, from + 1000, from + 2000, 1000);
                if let Some(ack) = (n >= 25).then_some(from - 48_000) {
                    view.note_ack(at + within * US, n, (ack, 0), 500_000, true);
                    view.note_delivered(at + within * US, 2000);
                }
            }
            view.is_beside_sender()
        };
        assert!(!is_beside(1000, 4000));
        assert!(is_beside(12, 4000), "what an ACK releases comes at once");
        assert!(is_beside(1000, 50), "in its host");
    }
}
