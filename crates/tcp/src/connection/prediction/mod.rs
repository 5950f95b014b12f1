//! Header prediction (V. Jacobson, "4BSD TCP header prediction", ACM CCR 20(2), 1990): On an open connection without
//! losses, nearly every arriving segment is either the next data in order or an ACK of outstanding data. Nearly every
//! departing segment is a full segment of new data or an ACK. These segments take a fast path.
//!
//! The fast path has the same effect as the full path, without the tests whose results are known. It decides first and
//! writes afterwards, so a segment that it declines changes no state. A test sends the same segments through both
//! paths.

pub(crate) mod ack_run;
pub(crate) mod answer;
#[cfg(test)]
mod answer_pairs;
mod closing;
pub(crate) mod data_run;
pub(crate) mod in_repair;
mod measured;

use crate::config::OldSegments;
use crate::connection::{Connection, Departure};
use crate::receive::ack_schedule::Reads;
use crate::receive::receiver::{AckDue, Text};
use crate::record::reason::{Hold, Reason};
use crate::send::decide::ordinary::Ordinary;
use crate::time::Time;
use crate::wire::segment::{Ecn, Flags, Payload, Segment};

/// Whether a sender repairs a loss while a fast path decides what it sends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Situation {
    Undisturbed,
    Repair,
}

impl Connection {
    /// Processes the segment if it is one of these. Returns `false`, without any change, if it needs the full path.
    #[inline]
    pub(super) fn process_predicted(&mut self, now: Time, segment: &Segment) -> bool {
        let start = self.rcv.nxt();
        let taken = if !self.is_expected(segment) {
            self.process_otherwise(now, segment)
        } else if segment.payload.len == 0 {
            // The fast path records no events, so it is not used while events are recorded.
            !self.cx.is_recording() && self.snd.take_predicted_ack(&mut self.cx, now, segment)
        } else {
            self.process_predicted_data(now, segment)
        };
        if taken && self.cx.agreed.timestamps {
            self.rcv.renew_ts_recent(&self.cx, now, start as i64, segment);
        }
        taken
    }

    /// The same for a connection that differs from most in one respect.
    #[cold]
    #[inline(never)]
    fn process_otherwise(&mut self, now: Time, segment: &Segment) -> bool {
        if self.snd.is_closing() {
            self.process_ack_in_closing(now, segment)
        } else {
            self.process_measured(now, segment)
        }
    }

    /// Whether the segment is one of these, as far as can be told without its payload and its acknowledgment number.
    #[inline(always)]
    fn is_expected(&self, segment: &Segment) -> bool {
        self.expects_header(segment) && self.snd.predicts_arrival()
    }

    /// The same without the state of the sender.
    #[inline(always)]
    fn expects_header(&self, segment: &Segment) -> bool {
        self.cx.predicts_arrival()
            && self.is_next(segment, Flags::NONE)
            && self.cx.agreed.read_window(segment.window, &segment.options) == self.snd.space().wnd()
    }

    /// Whether the segment itself is one of these, whatever the state of the connection, but for its window. It may have the flags
    /// of `also`.
    #[inline(always)]
    fn is_next(&self, segment: &Segment, also: Flags) -> bool {
        let options = &segment.options;
        segment.flags.0 & !(Flags::PSH | also).0 == Flags::ACK.0
            && segment.seq == self.rcv.seq(self.rcv.nxt())
            && (segment.header_len == 20 || (options.sack.is_empty() && options.nak.is_none()))
            && self.is_stamp_in_order(segment)
    }

    /// Whether the segment has no flags but ACK and PSH, the present window, no news for the sender in its options, and is not
    /// older than the last one.
    #[inline(always)]
    fn is_plain(&self, segment: &Segment) -> bool {
        segment.options.sack.is_empty() && self.is_plain_but_for_blocks(segment)
    }

    /// The same for a segment that may have SACK blocks.
    #[inline(always)]
    fn is_plain_but_for_blocks(&self, segment: &Segment) -> bool {
        segment.flags.0 & !Flags::PSH.0 == Flags::ACK.0
            && self.cx.agreed.read_window(segment.window, &segment.options) == self.snd.space().wnd()
            && segment.options.nak.is_none()
            && self.is_stamp_in_order(segment)
    }

    /// Whether the timestamp passes PAWS, if timestamps were negotiated.
    #[inline]
    fn is_stamp_in_order(&self, segment: &Segment) -> bool {
        !self.cx.agreed.timestamps
            || segment.options.timestamps.is_some_and(|stamps| !self.rcv.is_older(stamps.value))
    }

    /// Processes the next data in order, with no other information.
    #[inline(always)]
    fn process_predicted_data(&mut self, now: Time, segment: &Segment) -> bool {
        let takes = self.takes_data(segment);
        if takes {
            self.follow_data(now, segment);
        }
        takes
    }

    /// What follows data that [`Self::takes_data`] has taken: its ACK, and a larger window if it adapts.
    #[inline(always)]
    fn follow_data(&mut self, now: Time, segment: &Segment) {
        if self.cx.config.initial_receive_window.is_some() {
            self.take_data_and_tune_apart(now, segment);
        } else {
            self.schedule_ack(now, Text::InOrder { fills_gap: false }, segment);
        }
    }

    /// Takes the next data in order, if the segment says nothing else.
    #[inline(always)]
    fn takes_data(&mut self, segment: &Segment) -> bool {
        if !self.snd.space().acknowledges_nothing_new(segment.ack) || !self.rcv.takes_whole(segment.payload) {
            return false;
        }
        // WL1 may be larger after a segment without data. Header prediction of Linux takes no flags of ECN.
        let is_plain = segment.flags.0 & !Flags::PSH.0 == Flags::ACK.0;
        if is_plain && self.cx.config.old_segments == OldSegments::Linux {
            self.snd.note_window_source(segment.seq, segment.ack);
        } else {
            self.snd.confirm_window(segment.seq, segment.ack);
        }
        true
    }

    /// Schedules the ACK of data that [`Self::takes_data`] has taken, and adapts the receive window to it.
    #[inline(always)]
    fn take_data_and_tune(&mut self, now: Time, segment: &Segment, reads: Reads) {
        let text = Text::InOrder { fills_gap: false };
        self.rcv.tune_to_data(&self.cx, now, self.snd.first_sent(), segment);
        if self.cx.config.acking.counts_segments() {
            self.rcv.schedule_ack(now, text, &self.cx.config.acking);
        } else if !self.rcv.schedule_ordinary_ack(&self.cx, now, text, segment, reads) {
            self.schedule_ack_by_state(now, text, segment, reads);
        }
    }

    /// [`Self::take_data_and_tune`] off the path of other connections.
    #[cold]
    #[inline(never)]
    fn take_data_and_tune_apart(&mut self, now: Time, segment: &Segment) {
        self.take_data_and_tune(now, segment, Reads::Later);
    }

    /// Sends a segment by the fast path, or else by the full path.
    #[inline]
    pub(super) fn transmit_ordinary(&mut self, now: Time, segment: &mut Segment) -> Option<Departure> {
        let is_ordinary = self.departs_ordinarily();
        let decision = if is_ordinary { self.snd.decide_ordinary(&self.cx) } else { Ordinary::Other };
        if decision == Ordinary::Other && is_ordinary && self.snd.is_repairing(&self.cx) {
            return self.transmit_in_repair(now, segment);
        }
        if decision == Ordinary::Other && is_ordinary && self.snd.is_closing() {
            return self.transmit_in_closing(now, segment);
        }
        if decision == Ordinary::Other && self.is_measured() {
            return self.transmit_measured(now, segment);
        }
        self.carry_out(now, (decision, Situation::Undisturbed), segment)
    }

    /// Whether nothing but the sender decides what leaves, beside an ACK that may be due.
    #[inline(always)]
    fn departs_ordinarily(&self) -> bool {
        self.cx.predicts_departure() && self.rcv.is_in_order()
    }

    /// Sends what a fast path has decided, or else what the full path decides.
    #[inline(always)]
    fn carry_out(
        &mut self,
        now: Time,
        (decision, situation): (Ordinary, Situation),
        segment: &mut Segment,
    ) -> Option<Departure> {
        match decision {
            Ordinary::Data { then } => {
                let reason = match situation {
                    Situation::Undisturbed => Reason::NewData,
                    Situation::Repair => self.snd.reason_for_next(&self.cx, self.snd.space().nxt()),
                };
                let end = self.send_data(now, segment, then.is_some());
                self.snd.occupy_anew(&mut self.cx, now, end);
                Some(self.conclude_data(now, (reason, then, situation), segment))
            }
            Ordinary::NoData(why) => {
                let reason = self.send_ack(now, segment);
                self.rest(now, (why, situation));
                reason.map(|reason| Departure { reason, last: true })
            }
            Ordinary::Other => self.transmit_any(now, segment),
        }
    }

    /// A full segment of new data is sent. If it fills the window, `then` is the reason why no other follows.
    #[inline(always)]
    fn conclude_data(
        &mut self,
        now: Time,
        (reason, then, situation): (Reason, Option<Hold>, Situation),
        segment: &Segment,
    ) -> Departure {
        self.snd.count_run(segment.payload.len);
        if let Some(why) = then {
            self.rest(now, (why, situation));
        }
        Departure { reason, last: then.is_some() }
    }

    /// Nothing more is sent now, for this reason.
    #[inline(always)]
    fn rest(&mut self, now: Time, (why, situation): (Hold, Situation)) {
        match situation {
            Situation::Undisturbed => self.snd.hold_ordinary(&mut self.cx, now, why),
            Situation::Repair => self.snd.rest(&mut self.cx, now, why),
        }
    }

    /// Writes a full segment of new data; the caller updates the send sequence space. `fills`: it fills the window, and more
    /// data waits. Returns the position of its end.
    #[inline(always)]
    fn send_data(&mut self, now: Time, segment: &mut Segment, fills: bool) -> u64 {
        let (start, len) = (self.snd.space().nxt(), u32::from(self.cx.agreed.payload));
        let end = start + u64::from(len);
        let window = self.rcv.announce(&self.cx.agreed, self.cx.config.window_growth);
        self.write_header(now, (start, window), segment);
        self.rcv.segment_leaves(&self.cx, now, len);
        segment.flags =
            if self.snd.space().is_marked(start, end) { Flags::ACK | Flags::PSH } else { Flags::ACK };
        segment.payload = Payload { offset: start - 1, len };
        if self.cx.config.push_bursts || self.snd.is_logging() {
            self.mark_and_log(now, segment, fills);
        }
        end
    }

    /// The rest of [`Self::send_data`] with bursts or a log of transmissions. Not inlined: the registers that it takes would
    /// cost the other profiles.
    #[inline(never)]
    fn mark_and_log(&mut self, now: Time, segment: &mut Segment, fills: bool) {
        let start = segment.payload.offset + 1;
        let end = start + u64::from(segment.payload.len);
        if self.cx.config.push_bursts {
            self.mark_burst(segment, (start, end), fills);
        }
        self.snd.log_anew(now, end);
    }

    /// Sets PSH if new data from `start` to `end` ends a burst. `fills`: it fills the window.
    #[inline(always)]
    fn mark_burst(&mut self, segment: &mut Segment, (start, end): (u64, u64), fills: bool) {
        match self.snd.burst_end() {
            planned if planned > start && planned != end => {}
            planned if planned <= start && fills => self.snd.send_alone(&self.cx, start),
            _ => self.push_at_burst_end(segment),
        }
    }

    /// Sets PSH if new data ends a burst. Not inlined: the registers that it takes would cost the other profiles.
    #[cold]
    #[inline(never)]
    pub(super) fn push_at_burst_end(&mut self, segment: &mut Segment) {
        let start = segment.payload.offset + 1;
        if self.snd.ends_burst(&self.cx, start, start + u64::from(segment.payload.len)) {
            segment.flags = segment.flags | Flags::PSH;
        }
    }

    /// Sends the acknowledgment that is due, if one is.
    #[inline(always)]
    fn send_ack(&mut self, now: Time, segment: &mut Segment) -> Option<Reason> {
        let AckDue::Now(reason) = self.rcv.due() else { return None };
        let window = self.rcv.announce(&self.cx.agreed, self.cx.config.window_growth);
        self.write_ack(now, (reason, window), segment);
        Some(reason)
    }

    /// Writes an acknowledgment that announces `window`.
    #[inline(always)]
    fn write_ack(&mut self, now: Time, (reason, window): (Reason, (u16, u32)), segment: &mut Segment) {
        let position = self.snd.ack_position(&self.cx, reason);
        self.write_header(now, (position, window), segment);
        self.rcv.segment_leaves(&self.cx, now, 0);
        segment.flags = Flags::ACK;
        segment.payload = Payload { offset: position.saturating_sub(1), len: 0 };
    }

    /// Writes the header fields that both kinds have in common, with the field of the window and what it announces.
    #[inline(always)]
    fn write_header(
        &mut self,
        now: Time,
        (position, (window, announced)): (u64, (u16, u32)),
        segment: &mut Segment,
    ) {
        self.write_options(now, announced, segment);
        segment.window = window;
        segment.seq = self.snd.space().seq(position);
        segment.ack = self.rcv.acknowledged();
        segment.ecn = Ecn::NotEct;
        segment.urgent = 0;
        self.cx.stats.segments_sent += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::profile;
    use crate::connection::Transmission;
    use crate::time::Span;
    use crate::wire::seq::Seq;
    use std::collections::VecDeque;
    use std::sync::Arc;

    /// The path that segments take into a connection and out of it.
    #[derive(Clone, Copy, PartialEq)]
    enum Way {
        Short,
        Full,
    }

    impl Way {
        fn transmit(self, tcp: &mut Connection, now: Time) -> Option<Transmission> {
            let mut segment = Segment::default();
            let departure = match self {
                Self::Short => tcp.transmit_into(now, &mut segment)?,
                Self::Full => tcp.transmit_any(now, &mut segment)?,
            };
            Some(Transmission { segment, reason: departure.reason })
        }
    }

    /// All segments of a transfer over a path with a loss rate of 1/`loss` in both directions, with their reasons.
    fn transfer(profile: &profile::Profile, loss: u64, seed: u64, way: Way) -> Vec<Transmission> {
        let config = Arc::new(profile.config.clone());
        let mut ends = [Connection::new(Arc::clone(&config), Seq(7)), Connection::listen(config, Seq(9))];
        let (mut now, mut state, mut sent) = (Time::ZERO, seed, Vec::new());
        let mut wire: VecDeque<(Time, usize, Segment)> = VecDeque::new();
        ends[0].open(now);
        for turn in 0..20_000 {
            for (end, tcp) in ends.iter_mut().enumerate() {
                let _ = tcp.read(now, u64::MAX);
                if tcp.state().is_synchronized() && turn < 1000 {
                    let _ = tcp.write(now, if end == 0 { 4000 } else { 30 });
                }
                while let Some(out) = way.transmit(tcp, now) {
                    sent.push(out);
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    if (state >> 33) % loss != 0 {
                        wire.push_back((now + Span::from_ms(30), 1 - end, out.segment));
                    }
                }
            }
            let due = ends[0].next_deadline().min(ends[1].next_deadline());
            match wire.front().copied() {
                Some((at, to, segment)) if at <= due => {
                    now = now.max(at);
                    wire.pop_front();
                    if way == Way::Short {
                        ends[to].handle_segment(now, &segment);
                    } else {
                        ends[to].handle_any_segment(now, &segment);
                    }
                }
                _ if due.is_never() => break,
                _ => {
                    now = now.max(due);
                    ends.iter_mut().for_each(|end| end.handle_deadline(now));
                }
            }
        }
        assert!(ends[0].acknowledged() > 100_000, "{}: the transfer makes progress", profile.name);
        sent
    }

    #[test]
    fn the_fast_path_sends_the_same_segments_as_the_full_path() {
        for profile in profile::profiles() {
            for (loss, seed) in [(u64::MAX, 1), (300, 2), (30, 3)] {
                let (with, without) =
                    (transfer(profile, loss, seed, Way::Short), transfer(profile, loss, seed, Way::Full));
                assert_eq!(with.len(), without.len(), "{} loss 1/{loss} seed {seed}", profile.name);
                let differs = with.iter().zip(&without).position(|(a, b)| a != b);
                assert_eq!(differs, None, "{} loss 1/{loss} seed {seed}", profile.name);
            }
        }
    }
}
