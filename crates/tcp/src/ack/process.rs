//! Fifth step of RFC 9293, section 3.10.7.4: what an acknowledgment tells the sender, and what follows from it.

use crate::config::{Grows, LossMeans, Recovery, UnsentAcked};
use crate::congestion::Signal;
use crate::connection::Connection;
use crate::opening::handshake::Reply;
use crate::opening::state::State;
use crate::ranges::Range;
use crate::record::event::Event;
use crate::record::reason::Reason;
use crate::recovery::scoreboard::Scoreboard;
use crate::recovery::{DupAck, OnDupAck, OnNewAck, Phase, Resend, nak};
use crate::time::{Coarse, Span, Time};
use crate::wire::options::{Layout, SackBlock};
use crate::wire::segment::{Flags, Segment};

/// Disjoint reports that are kept beside those of full segments and ends of application data.
const SPARE_REPORTS: usize = 64;

/// What SACK blocks told.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Reports {
    /// Something that was not known.
    told: bool,
    /// That something arrived a second time.
    twice: bool,
}

impl Connection {
    /// Returns whether the rest of the segment shall be processed.
    #[inline]
    pub(crate) fn take_ack(&mut self, now: Time, segment: &Segment) -> bool {
        let ack = self.snd.position(segment.ack);
        // RFC 5961, section 5: SND.UNA − MAX.SND.WND ≤ SEG.ACK ≤ SND.NXT.
        let oldest = self.snd.una as i64 - i64::from(self.snd.max_wnd);
        if self.state == State::SynReceived {
            if ack <= 0 || ack > self.snd.max as i64 {
                self.reply(Reply::refuse(segment));
                return false;
            }
            self.hear_first_ack(now, segment);
            self.syn_acknowledged(now, ack as u64);
            self.snd.wl1 = segment.seq.minus(1);
            self.become_established(now);
        } else if ack > self.snd.max as i64 || ack < oldest {
            if ack < oldest || self.config.unsent_acked == UnsentAcked::Answered {
                self.challenge(now);
            }
            return false;
        }
        let window_before = self.snd.wnd;
        let window = if segment.flags.has(Flags::SYN) {
            self.agreed.read_syn_window(segment.window, &segment.options)
        } else {
            self.agreed.read_window(segment.window, &segment.options)
        };
        let una_before = self.snd.una;
        let flight_before = self.snd.max - una_before;
        let echoed = self.note_echo(segment);
        self.measure_ack(now, ack);
        if self.rack.is_some() && ack > una_before as i64 {
            self.note_delivery(now, Range::new(una_before, ack as u64), segment);
        }
        let Reports { told, twice } = self.take_reports(now, segment);
        if ack > una_before as i64 {
            self.take_new_ack(now, ack as u64, segment);
        }
        // SND.UNA =< SEG.ACK only: an older segment's window begins further left.
        let current = ack >= una_before as i64 && self.snd.update_window(segment.seq, segment.ack, window);
        if current && window != window_before {
            self.window_changed(now, window);
        }
        if ack == una_before as i64 {
            self.unanswered_probe();
            // RFC 5681, section 2: outstanding data, no text, no SYN or FIN, nothing new, the same window; with SACK,
            // RFC 6675, section 2: whatever reports something new.
            let bare = segment.seq_len() == 0 && window == window_before;
            let duplicate =
                if self.recovers_by_sack() { told || (bare && self.loss.sacked() == 0) } else { bare };
            if duplicate && self.snd.is_outstanding() && !self.timers.is_persisting() {
                self.take_dup_ack(now);
            } else if !self.snd.is_outstanding()
                && let Some(loss) = self.loss.known()
            {
                loss.dup_acks = 0;
            }
        }
        self.judge_echo(now, una_before, flight_before, echoed);
        if self.rack.is_some() {
            self.judge_by_time(now, una_before, segment, twice);
        }
        self.judge_mtu_probe();
        self.conclude_sample(now);
        if let Some(nak) = segment.options.nak {
            self.take_nak(now, nak);
        }
        if self.snd.fin_acknowledged() {
            self.fin_acknowledged(now);
        }
        true
    }

    /// The peer's SACK blocks. Returns whether they told anything new. What is acknowledged already, or was never sent,
    /// is passed over: that is a D-SACK (RFC 2883), or nonsense.
    #[inline]
    fn take_reports(&mut self, now: Time, segment: &Segment) -> Reports {
        if segment.options.sack.is_empty() || !self.agreed.sack {
            return Reports::default();
        }
        let twice = self.rack.is_some() && self.is_duplicate_report(segment);
        if twice {
            self.note_duplicate_report(now);
        }
        let ack = self.snd.position(segment.ack).max(self.snd.una as i64);
        let (max, mss) = (self.snd.max as i64, u32::from(self.agreed.payload));
        let most = self.most_reports();
        let mut told = false;
        for block in segment.options.sack.as_slice() {
            let (left, right) = (self.snd.position(block.left), self.snd.position(block.right));
            if ack < left && left < right && right <= max {
                let range = self.in_whole_segments(Range::new(left as u64, right as u64));
                let has_room = |board: &Scoreboard| board.has_room_for(range, most);
                if range.is_empty() || !self.loss.scoreboard.as_deref().is_none_or(has_room) {
                    continue;
                }
                self.measure(now, range);
                if self.rack.is_some() {
                    self.note_delivery(now, range, segment);
                }
                let board = self.loss.trouble().scoreboard.get_or_insert_default();
                told |= board.report(range);
            }
        }
        if told && let Some(board) = &mut self.loss.trouble().scoreboard {
            board.update_loss(u32::from(self.config.dup_ack_threshold), mss);
        }
        Reports { told, twice }
    }

    /// How many disjoint reports are kept at most: what a receiver holds begins and ends where segments do (RFC 2018, section 4), and
    /// between two ranges one is missing. So there are never more than half as many as segments are out: the full ones, and
    /// one for each end of application data. Some are short for other reasons. A peer that reports slivers instead gets no
    /// further; what it may report is advice, and can be passed over (section 8).
    fn most_reports(&self) -> usize {
        let size = u64::from(self.agreed.payload.min(self.config.base_mss).max(1));
        let full = (self.snd.max - self.snd.una) / size;
        usize::try_from(full).unwrap_or(usize::MAX).saturating_add(self.snd.marks.len() + SPARE_REPORTS)
    }

    /// Whether the first block is a D-SACK: below what the segment acknowledges, or within the second (RFC 2883, section 4).
    #[cold]
    fn is_duplicate_report(&self, segment: &Segment) -> bool {
        let [first, rest @ ..] = segment.options.sack.as_slice() else { return false };
        let (left, right) = (self.snd.position(first.left), self.snd.position(first.right));
        let within = |block: &SackBlock| {
            self.snd.position(block.left) <= left && right <= self.snd.position(block.right)
        };
        left < right && (right <= self.snd.position(segment.ack) || rest.first().is_some_and(within))
    }

    /// The peer acknowledges what it had not before.
    #[inline]
    fn take_new_ack(&mut self, now: Time, ack: u64, segment: &Segment) {
        let una = self.snd.una;
        let (acked, flight) = (ack - una, self.snd.max - una);
        // What a report had told already has opened the window, or not, when it came.
        let told = self.told_before(Range::new(una, ack));
        self.take_sample(now, ack, segment.options.timestamps.map(|t| t.echo));
        self.snd.una = ack;
        self.snd.nxt = self.snd.nxt.max(ack);
        self.unanswered = 0;
        if let Some(loss) = self.loss.known() {
            loss.advance(ack);
        }
        if let Some(rack) = &mut self.rack {
            rack.acknowledge(ack);
        }
        self.snd.marks.forget(ack);
        self.note(now, Event::Acknowledged { offset: ack.clamp(1, self.snd.data_end()) - 1 });
        let restart = self.advance_recovery(now, (acked - told) as u32, flight);
        self.loss.settle(ack);
        self.snd.cwnd_limited = false;
        if !self.snd.is_outstanding() {
            if self.timers.is_persisting() {
                // A probe was taken: its backoff says nothing of the path.
                self.refresh_rto();
            }
            self.timers.stop_retransmit();
        } else if restart {
            self.restart_retransmit(now);
            self.note_retransmit_timer(now);
        }
        if self.snd.is_outstanding() {
            self.start_patience(now);
        } else {
            self.stop_patience();
        }
    }

    /// How much of `range` was known to have arrived: by SACK, or, as Linux counts where there is none, a segment for each duplicate
    /// ACK, all but one (`tcp_remove_reno_sacks()`).
    #[inline]
    fn told_before(&self, range: Range) -> u64 {
        if self.loss.dup_acks > 0 && !self.agreed.sack && self.config.growth.grows == Grows::WhenUsed {
            let mss = u64::from(self.agreed.payload);
            return (u64::from(self.loss.dup_acks) * mss).min(range.len().saturating_sub(mss));
        }
        self.loss.sacked_within(range)
    }

    /// What an ACK of new data means to recovery and congestion control. Returns whether the retransmission timer starts
    /// anew (RFC 6298, section 5.3; RFC 6582, section 3.2, step 3: in recovery only at the first partial ACK).
    #[inline]
    fn advance_recovery(&mut self, now: Time, bytes: u32, flight: u64) -> bool {
        let verdict = self.loss.on_new_ack(self.config.recovery, self.snd.una);
        match verdict {
            OnNewAck::Ordinary => {
                if let Some(loss) = self.loss.known() {
                    loss.dup_acks = 0;
                }
                self.open_window_unless_told(now, bytes, flight);
                self.note_window(now);
                true
            }
            OnNewAck::Exit => {
                let after_timeout = self.loss.phase == Phase::Loss;
                self.loss.trouble().leave();
                if let Some(rack) = &mut self.rack {
                    rack.recovered();
                }
                if after_timeout {
                    self.open_window_unless_told(now, bytes, flight);
                    self.note_window(now);
                } else if self.config.loss_means == LossMeans::Congestion {
                    self.signal(now, Signal::ExitRecovery, self.snd.max - self.snd.una);
                }
                self.note(now, Event::Phase(self.phase()));
                true
            }
            OnNewAck::Partial => {
                let first = !core::mem::replace(&mut self.loss.trouble().partial_seen, true);
                self.signal(now, Signal::PartialAck { bytes }, flight);
                if self.recovers_by_sack() && (self.loss.scoreboard.is_some() || self.rack.is_some()) {
                    return true;
                }
                // RFC 6582, section 3.2, step 3: deflate by what was acknowledged, add back a segment if it was one.
                let mss = u32::from(self.agreed.payload);
                let back = if bytes >= mss { mss } else { 0 };
                let loss = self.loss.trouble();
                loss.inflation = loss.inflation.saturating_sub(bytes).saturating_add(back);
                self.resend_first(Reason::PartialAck);
                first
            }
        }
    }

    /// A duplicate acknowledgment.
    fn take_dup_ack(&mut self, now: Time) {
        self.rare().counters.dup_acks_received += 1;
        self.loss.trouble().dup_acks += 1;
        self.measure_dup_ack();
        let una = self.snd.una;
        let fact = DupAck {
            n: self.loss.dup_acks,
            threshold: u32::from(self.config.dup_ack_threshold),
            una,
            by_time: self.rack.is_some(),
            first_is_lost: self.loss.scoreboard.as_ref().is_some_and(|board| board.is_lost(una)),
            peer_sends_naks: self.peer_sends_naks(),
        };
        let verdict = self.loss.on_dup_ack(&self.config, fact);
        match verdict {
            OnDupAck::Nothing => {
                let n = fact.n;
                self.signal(now, Signal::DupAck { n }, self.snd.max - una);
            }
            OnDupAck::Inflate => {
                if !(self.recovers_by_sack() && self.loss.scoreboard.is_some()) {
                    let loss = self.loss.trouble();
                    loss.inflation = loss.inflation.saturating_add(u32::from(self.agreed.payload));
                }
            }
            OnDupAck::Enter(phase) => self.enter_recovery(now, phase, fact.threshold),
        }
    }

    /// Whether the peer is known to send NAKs. The document's own layout agrees on nothing beforehand; until one comes, the
    /// peer may be one of those that know nothing of them (RFC 1106, section 5).
    fn peer_sends_naks(&self) -> bool {
        let agreed = self.agreed.nak && matches!(self.config.layout, Layout::Shared { .. });
        agreed || self.rare.as_ref().is_some_and(|rare| rare.counters.naks_received > 0)
    }

    /// A loss is noticed without a timeout (RFC 5681, section 3.2; RFC 6675, section 5, step 4).
    fn enter_recovery(&mut self, now: Time, phase: Phase, threshold: u32) {
        if self.forgives_loss(now, Reason::FastRetransmit) {
            return;
        }
        self.rare().counters.fast_retransmits += 1;
        let mss = u32::from(self.agreed.payload);
        // RFC 5681, equation 4: data sent by limited transmit does not count. It is what went beyond cwnd.
        let limited = if self.config.limited_transmit { threshold.saturating_sub(1).min(2) * mss } else { 0 };
        let flight = self.snd.max - self.snd.una;
        let beyond = flight.saturating_sub(u64::from(self.congestion.cwnd())).min(u64::from(limited));
        let flight = (flight - beyond).max(u64::from(mss));
        // Noise is what a NAK reports; who still counts duplicate ACKs beside NAKs takes them for what they always meant
        // (RFC 1106, section 4.3).
        if self.config.loss_means == LossMeans::Congestion || self.config.recovery == Recovery::Nak {
            self.signal(now, Signal::EnterRecovery, flight);
        }
        let loss = self.loss.trouble();
        loss.phase = phase;
        loss.recover = self.snd.max;
        loss.partial_seen = false;
        loss.inflation = 0;
        match &mut loss.scoreboard {
            Some(board) if self.config.recovery == Recovery::Sack => board.begin(self.snd.una),
            _ if phase == Phase::Fast => loss.inflation = threshold * mss,
            _ => {}
        }
        self.resend_first(Reason::FastRetransmit);
        self.timers.stop_retransmit();
        self.note(now, Event::Phase(self.phase()));
    }

    /// The first unacknowledged segment goes out next. It, and what is being timed with it, gives no sample
    /// (Karn's rule).
    fn resend_first(&mut self, reason: Reason) {
        let una = self.snd.una;
        let end = (una + u64::from(self.agreed.payload)).min(self.snd.max);
        // A report of the first byte itself cannot be true.
        let reported = self.loss.scoreboard.as_ref().and_then(|board| board.sacked.first());
        let end = reported.filter(|range| range.start > una).map_or(end, |range| range.start.min(end));
        self.loss.trouble().resend = Resend::new(Range::new(una, end), reason);
        self.snd.timed_end = 0;
    }

    /// The receiver names what is missing (RFC 1106, section 2): it is resent at once, the timer runs on, the sample in
    /// progress is dropped.
    #[cold]
    fn take_nak(&mut self, now: Time, nak: crate::wire::options::Nak) {
        self.rare().counters.naks_received += 1;
        let Ok(first) = u64::try_from(self.snd.position(nak.first)) else { return };
        let (una, max) = (self.snd.una, self.snd.max);
        self.note(now, Event::NakReceived { offset: first.max(1) - 1, count: nak.count });
        if self.config.recovery != Recovery::Nak {
            return;
        }
        let Some(range) = nak::answer(first, nak.count, u32::from(self.agreed.payload), una, max) else {
            return;
        };
        self.loss.trouble().resend = Resend::new(range, Reason::NakResend);
        self.snd.timed_end = 0;
        if self.config.loss_means == LossMeans::Congestion && range.start >= self.loss.recover {
            self.loss.trouble().recover = max;
            self.signal(now, Signal::EnterRecovery, max - una);
        }
    }

    /// A round-trip sample: where it is written down when each segment left, of the first one that `ack` covers; else of
    /// the segment being timed where its ACK has come; else of the echoed timestamp, which is ours whether the segment
    /// was resent or not (RFC 7323, section 4.1).
    #[inline]
    pub(crate) fn take_sample(&mut self, now: Time, ack: u64, echo: Option<u32>) {
        let waited_for = self.snd.timed_end;
        let timed = waited_for != 0 && ack >= waited_for;
        let known = self.rack.as_ref().and_then(|rack| rack.sent_once(self.snd.una));
        let left = known.or(timed.then_some(self.snd.timed_at));
        let rtt = match (left, echo) {
            (Some(left), _) => self.config.timer_grain.elapsed(left, now),
            (None, Some(echo)) if self.agreed.timestamps && (timed || waited_for == 0) => {
                let Some(rtt) = since_echoed(now, echo, self.first_sent) else { return };
                rtt
            }
            _ => return,
        };
        if timed {
            self.snd.timed_end = 0;
        }
        let kind = &self.config.rto;
        self.rto.sample(kind, rtt);
        if timed {
            // The next segment is timed once this one is acknowledged: that is a round trip.
            self.rto.round_trip_over(kind);
        }
        self.refresh_rto();
        self.stats.rtt_samples += 1;
        self.stats.rtt_sum_ns += rtt.as_ps() / 1000;
        self.note(now, Event::RttSample { rtt });
    }

    /// The peer's window is another.
    #[inline]
    fn window_changed(&mut self, now: Time, window: u32) {
        self.note(now, Event::PeerWindow { window });
        if self.timers.is_persisting() {
            self.timers.stop_retransmit();
            self.refresh_rto();
            self.restart_if_idle(now);
            if self.snd.is_outstanding() {
                self.restart_retransmit(now);
            }
        }
    }

    /// An ACK that acknowledges nothing new still answers a probe: the peer is there (RFC 9293, MUST-37). So it does a FIN
    /// that finds the window closed, and which the peer may refuse.
    #[inline]
    fn unanswered_probe(&mut self) {
        if self.timers.is_persisting() || self.snd.wnd == 0 {
            self.unanswered = 0;
        }
    }

    /// Notes where the retransmission timer stands.
    #[inline]
    pub(crate) fn note_retransmit_timer(&mut self, now: Time) {
        if self.is_heard() {
            let (deadline, timer) = self.timers.main();
            if deadline.is_never() {
                return;
            }
            self.note(now, Event::Armed { timer, deadline });
        }
    }
}

/// Our timestamp clock: milliseconds (RFC 7323, section 5.4, asks for 1 ms to 1 s).
#[inline]
pub fn timestamp(now: Time) -> u32 {
    (now.as_ps() / 1_000_000_000) as u32
}

/// How long ago the timestamp left that comes back now; `None` if no segment of ours can have carried it, of which `first` was the
/// first. TSecr repeats what an arrived segment said (RFC 7323, sections 3.2 and 4.1), so it is not ahead of our clock, which half
/// of the circle of 32 bits decides (Linux, `tcp_rtt_tsopt_us()`, takes no difference above `INT_MAX` either), and it is not older
/// than the connection. A peer that echoes anything else could set our timeout to whatever it likes.
pub(crate) fn since_echoed(now: Time, echo: u32, first: Coarse) -> Option<Span> {
    let ago = timestamp(now).wrapping_sub(echo);
    let span = Span::from_ms(u64::from(ago));
    // The tick of the clock in which the first one left began up to a millisecond before it.
    let alive = (now - first.instant()) + Span::from_ms(1);
    (ago.cast_signed() >= 0 && span <= alive).then_some(span)
}
