//! Header prediction (V. Jacobson, "4BSD TCP header prediction", ACM CCR 20(2), 1990): on an open connection without
//! losses nearly every segment is one of two, and nearly all of its header is known before it comes.
//!
//! What is done here is what [`crate::receive::input`] and [`crate::ack::process`] would do, less the questions whose answers are known;
//! a test feeds the same segments through both. Where ECN is used, each segment may tell of marks, and takes the full
//! procedure; so it does where deliveries are measured. [`crate::prediction::departing`] is the same for departing segments.

use crate::connection::Connection;
use crate::opening::state::State;
use crate::receive::space::Text;
use crate::time::Time;
use crate::wire::segment::{Flags, Segment};

impl Connection {
    /// Takes the segment if it is one of the two; `false` if it needs the full procedure.
    #[inline]
    pub(crate) fn takes_predicted(&mut self, now: Time, segment: &Segment) -> bool {
        let options = &segment.options;
        let expected = self.state == State::Established
            && segment.flags.0 & !Flags::PSH.0 == Flags::ACK.0
            && segment.seq == self.rcv.seq(self.rcv.nxt)
            && self.agreed.read_window(segment.window, options) == self.snd.wnd
            && (segment.header_len == 20 || (options.sack.is_empty() && options.nak.is_none()))
            && self.loss.is_quiet()
            && self.rare.as_ref().is_none_or(|rare| rare.predicts())
            && self.rack.as_ref().is_none_or(|rack| rack.is_calm())
            && !self.timers.is_persisting();
        // Nothing is written before it is certain that the segment is one of the two: who acknowledges what was never
        // sent may not put PAWS out of action either.
        if !expected || !self.stamp_is_in_turn(segment) {
            return false;
        }
        let acked = segment.ack.distance_from(self.snd.seq(self.snd.una));
        if segment.payload.len == 0 {
            // Ordinary only while something remains outstanding: the end of a flight stops a timer. And only while
            // nobody listens, so that nothing needs to be noted.
            let outstanding = self.snd.max - self.snd.una;
            let ordinary = acked > 0
                && (acked as u64) < outstanding
                && !self.is_heard()
                && self.rack.as_ref().is_none_or(|rack| rack.is_in_order(self.snd.una + acked as u64));
            if ordinary {
                self.take_predicted_ack(now, segment, acked as u32, outstanding);
            }
            return ordinary;
        }
        acked == 0 && self.take_predicted_text(now, segment)
    }

    /// Whether the timestamp, if they were agreed on, passes PAWS.
    #[inline]
    fn stamp_is_in_turn(&self, segment: &Segment) -> bool {
        if !self.agreed.timestamps {
            return true;
        }
        let Some(timestamps) = segment.options.timestamps else { return false };
        (timestamps.value.wrapping_sub(self.ts_recent) as i32) >= 0
    }

    /// Remembers the timestamp of a segment that begins at `start` and is accepted, where it has to be.
    #[inline]
    fn renew_timestamp(&mut self, now: Time, segment: &Segment, start: u64) {
        if self.agreed.timestamps
            && let Some(timestamps) = segment.options.timestamps
            && self.rcv.renews_timestamp(start as i64)
        {
            self.ts_recent = timestamps.value;
            self.ts_recent_at = now;
        }
    }

    /// The next data in order, with nothing else to tell.
    #[inline(always)]
    fn take_predicted_text(&mut self, now: Time, segment: &Segment) -> bool {
        let (payload, start) = (segment.payload, self.rcv.nxt);
        if !self.rcv.takes_whole(payload) {
            return false;
        }
        self.renew_timestamp(now, segment, start);
        // An empty segment may have stood further right.
        self.snd.update_window(segment.seq, segment.ack, self.snd.wnd);
        if self.config.initial_receive_window.is_some() {
            self.tune_to_arrival(now, segment);
        }
        self.schedule_ack(now, Text::InOrder { fills_gap: false }, payload.len);
        true
    }

    /// An acknowledgment of some, not all, of what is outstanding.
    #[inline]
    fn take_predicted_ack(&mut self, now: Time, segment: &Segment, bytes: u32, flight: u64) {
        self.renew_timestamp(now, segment, self.rcv.nxt);
        let ack = self.snd.una + u64::from(bytes);
        if self.snd.timed_end <= ack || self.rack.is_some() {
            self.take_sample(now, ack, segment.options.timestamps.map(|t| t.echo));
        }
        if let Some(rack) = &mut self.rack {
            rack.take_calmly(now, ack);
        }
        self.snd.una = ack;
        self.snd.nxt = self.snd.nxt.max(ack);
        self.snd.wl1 = segment.seq;
        self.snd.wl2 = segment.ack;
        self.unanswered = 0;
        self.snd.marks.forget(ack);
        self.open_window(now, bytes, flight);
        self.snd.cwnd_limited = false;
        self.restart_retransmit(now);
        self.start_patience(now);
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

    /// Which way segments take into a connection and out of it.
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

    /// Every segment of a transfer over a path that loses one in `loss`, both ways, and why it was sent.
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
        assert!(ends[0].acknowledged() > 100_000, "{}: the transfer got somewhere", profile.name);
        sent
    }

    #[test]
    fn an_ordinary_segment_is_taken_and_sent_as_the_full_procedure_would() {
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
