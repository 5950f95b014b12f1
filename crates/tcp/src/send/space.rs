//! The send sequence space: what may go now, and what must go again.
//!
//! Positions count from our SYN, which is 0; stream offset `n` is position `n + 1`; the FIN stands behind the last byte.
//! What to send is decided by [`Connection::decide`], which changes nothing and names its reason.

use crate::config::Recovery;
use crate::congestion::cwnd_validation::Usage;
use crate::connection::Connection;
use crate::opening::state::State;
use crate::ranges::Range;
use crate::receive::space::AckDue;
use crate::record::reason::{Hold, Reason};
use crate::recovery::{Phase, Resend};
use crate::send::marks::Marks;
use crate::send::transmit::{Situation, Transmit, Verdict, judge};
use crate::time::Time;
use crate::wire::segment::Flags;
use crate::wire::seq::Seq;

/// What to send, and why.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Plan {
    /// Position of the first byte, SYN or FIN.
    pub(crate) start: u64,
    /// Bytes of data.
    pub(crate) len: u32,
    /// SYN, FIN and PSH as they apply; ACK is added where the state has it.
    pub(crate) flags: Flags,
    pub(crate) reason: Reason,
}

/// What a connection would do if it were asked now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Decision {
    Send(Plan),
    /// A short segment, and the transmission policy will want to know.
    Short(Plan),
    /// The last one for now, and why nothing follows.
    Last(Plan, Hold),
    Hold(Hold),
}

/// The send sequence space.
#[derive(Debug)]
pub(crate) struct SendSpace {
    iss: Seq,
    /// SND.UNA.
    pub(crate) una: u64,
    /// SND.NXT: goes back to `una` at a timeout.
    pub(crate) nxt: u64,
    /// Behind the highest position ever sent.
    pub(crate) max: u64,
    /// SND.WND: the peer's window.
    pub(crate) wnd: u32,
    /// The largest window that the peer ever offered (MAX.SND.WND of RFC 5961).
    pub(crate) max_wnd: u32,
    /// SND.WL1.
    pub(crate) wl1: Seq,
    /// SND.WL2.
    pub(crate) wl2: Seq,
    /// Bytes that the application has written.
    pub(crate) written: u64,
    /// Positions behind each end of application data that is not yet acknowledged.
    pub(crate) marks: Marks,
    /// The application has closed.
    pub(crate) closing: bool,
    /// A byte shall go into a closed window.
    pub(crate) probe: bool,
    /// cwnd held something back since the last ACK.
    pub(crate) cwnd_limited: bool,
    /// How far cwnd is used, where that matters.
    pub(crate) usage: Usage,
    /// The segment being timed: position that its ACK must reach, 0 if none.
    pub(crate) timed_end: u64,
    pub(crate) timed_at: Time,
    /// When the last segment with data left.
    pub(crate) last_sent: Time,
}

impl SendSpace {
    pub(crate) fn new(iss: Seq) -> Self {
        Self {
            iss,
            una: 0,
            nxt: 0,
            max: 0,
            wnd: 0,
            max_wnd: 0,
            wl1: Seq(0),
            wl2: Seq(0),
            written: 0,
            marks: Marks::default(),
            closing: false,
            probe: false,
            cwnd_limited: false,
            usage: Usage::default(),
            timed_end: 0,
            timed_at: Time::ZERO,
            last_sent: Time::ZERO,
        }
    }

    /// The sequence number of a position.
    #[inline]
    pub(crate) fn seq(&self, position: u64) -> Seq {
        self.iss.plus(position as u32)
    }

    /// The position of an acknowledgment number: the one nearest to SND.UNA.
    #[inline]
    pub(crate) fn position(&self, seq: Seq) -> i64 {
        self.una as i64 + i64::from(seq.distance_from(self.seq(self.una)))
    }

    /// Position of the FIN: behind the last byte written.
    #[inline]
    pub(crate) fn data_end(&self) -> u64 {
        1 + self.written
    }

    /// Whether our FIN has been sent.
    #[inline]
    pub(crate) fn fin_sent(&self) -> bool {
        self.max > self.data_end()
    }

    /// Whether our FIN has been acknowledged.
    #[inline]
    pub(crate) fn fin_acknowledged(&self) -> bool {
        self.una > self.data_end()
    }

    /// Whether anything is unacknowledged.
    #[inline]
    pub(crate) fn is_outstanding(&self) -> bool {
        self.una < self.max
    }

    /// Takes in the peer's window if the segment is not older than the one that set it (RFC 9293, section 3.10.7.4).
    /// The acknowledgment decides first: a peer that resends goes back in sequence, never in what it acknowledges, and
    /// counting its old window from its new acknowledgment would reach beyond what it ever announced.
    #[inline]
    pub(crate) fn update_window(&mut self, seq: Seq, ack: Seq, window: u32) -> bool {
        let ahead = ack.distance_from(self.wl2);
        let current = ahead > 0 || (ahead == 0 && seq.distance_from(self.wl1) >= 0);
        if current {
            self.wl1 = seq;
            self.wl2 = ack;
            self.wnd = window;
            self.max_wnd = self.max_wnd.max(window);
        }
        current
    }

    /// The plan that sends `range` again: its data, and the FIN if that was sent and the range reaches it.
    pub(crate) fn again(&self, range: Range, reason: Reason) -> Plan {
        let data_end = range.end.min(self.data_end());
        let len = data_end.saturating_sub(range.start) as u32;
        self.plan(range.start, len, reason, self.fin_sent())
    }

    /// A plan for `len` bytes at `start`, with PSH where an end of application data lies in it, and FIN if it may stand
    /// there and the bytes reach it.
    #[inline]
    pub(crate) fn plan(&self, start: u64, len: u32, reason: Reason, fin: bool) -> Plan {
        let end = start + u64::from(len);
        let mut flags = Flags::NONE;
        if self.marks.lies_in(start, end) {
            flags = flags | Flags::PSH;
        }
        if fin && end == self.data_end() {
            flags = flags | Flags::FIN;
        }
        Plan { start, len, flags, reason }
    }
}

impl Connection {
    /// What to send now, or why nothing: a pure decision.
    #[inline]
    pub(crate) fn decide(&self, now: Time) -> Decision {
        let decision = if self.state.may_send() { self.decide_data(now) } else { self.decide_unopened(now) };
        let decision = self.in_its_turn(now, decision);
        let Decision::Hold(hold) = decision else { return decision };
        match self.rcv.due {
            // What is over says nothing more, though what it has received may still be read.
            AckDue::Now(reason) if self.state != State::Closed => {
                let start = self.ack_position(reason);
                Decision::Last(Plan { start, len: 0, flags: Flags::NONE, reason }, hold)
            }
            AckDue::No | AckDue::Later | AckDue::Now(_) => Decision::Hold(hold),
        }
    }

    /// Where a segment that occupies nothing stands. It must fall into the peer's window, or the peer answers it with an
    /// ACK of its own, and so for ever: behind all that was sent, though a timeout has sent SND.NXT back; but not behind
    /// what lies beyond the window, such as a probing byte or a FIN. A keep-alive stands one before (RFC 9293,
    /// section 3.8.4), so that the peer does answer.
    #[inline]
    pub(crate) fn ack_position(&self, reason: Reason) -> u64 {
        match reason {
            Reason::KeepAlive => return self.snd.max - 1,
            // Likewise: a probe without a byte.
            Reason::WindowProbe => return self.snd.una - 1,
            _ => {}
        }
        self.snd.max.min(self.snd.una + u64::from(self.snd.wnd))
    }

    /// A SYN, or nothing.
    fn decide_unopened(&self, now: Time) -> Decision {
        let reason = match self.state {
            State::SynSent => Reason::Open,
            State::SynReceived => Reason::Accept,
            _ => return Decision::Hold(Hold::NotOpen),
        };
        if self.snd.nxt == 0 {
            Decision::Send(Plan { start: 0, len: self.syn_room(), flags: Flags::SYN, reason })
        } else if self.is_open_early() {
            self.decide_data(now)
        } else {
            Decision::Hold(Hold::NotOpen)
        }
    }

    #[inline]
    fn decide_data(&self, now: Time) -> Decision {
        if !self.loss.is_quiet() || self.snd.probe {
            return self.decide_repair();
        }
        if let Some(decision) = self.decide_mtu_probe(now) {
            return decision;
        }
        self.decide_next()
    }

    /// Something is lost, or may be, or a closed window is to be probed.
    fn decide_repair(&self) -> Decision {
        if let Some(Resend { start, len, reason }) = self.loss.resend {
            let first = Range::new(start, start + u64::from(len.min(u32::from(self.agreed.payload))));
            return Decision::Send(self.snd.again(first, reason));
        }
        if self.snd.probe {
            return Decision::Send(self.snd.plan(self.snd.nxt, self.probe_len(), Reason::WindowProbe, false));
        }
        if self.loss.phase != Phase::Open
            && let Some(rack) = &self.rack
        {
            return self.decide_by_time(rack);
        }
        if self.loss.phase == Phase::Fast
            && let Some(decision) = self.decide_by_scoreboard()
        {
            return decision;
        }
        self.decide_next()
    }

    /// One byte into a closed window (RFC 9293, section 3.8.6.1); of one that is open but silly, all that it permits
    /// (section 3.8.6.2.1, rule 4).
    #[cold]
    fn probe_len(&self) -> u32 {
        let (permitted, _) = self.allowed(self.snd.nxt);
        let waiting = self.snd.data_end().saturating_sub(self.snd.nxt);
        permitted.min(waiting).clamp(1, u64::from(self.agreed.payload)) as u32
    }

    /// NextSeg() of RFC 6675, section 4, while pipe leaves room for a segment; `None` without a scoreboard.
    fn decide_by_scoreboard(&self) -> Option<Decision> {
        let board = self.loss.scoreboard.as_ref()?;
        if self.config.recovery != Recovery::Sack {
            return None;
        }
        let (una, max, mss) = (self.snd.una, self.snd.max, u32::from(self.agreed.payload));
        if board.pipe(una, max) + u64::from(mss) > u64::from(self.congestion.cwnd()) {
            return Some(Decision::Hold(Hold::CongestionWindow));
        }
        if let Some(hole) = board.next_hole(una, mss, true) {
            return Some(Decision::Send(self.snd.again(hole, Reason::SackHole)));
        }
        let fresh = self.decide_next();
        if matches!(fresh, Decision::Send(_) | Decision::Short(_)) {
            return Some(fresh);
        }
        if let Some(hole) = board.next_hole(una, mss, false) {
            return Some(Decision::Send(self.snd.again(hole, Reason::SackHole)));
        }
        let rescue = board.rescue(una, self.loss.recover, max, mss);
        Some(rescue.map_or(fresh, |range| Decision::Send(self.snd.again(range, Reason::SackRescue))))
    }

    /// The segment at SND.NXT: new data, or what a timeout has sent us back to.
    pub(crate) fn decide_next(&self) -> Decision {
        let snd = &self.snd;
        let (start, stop) = self.next_range();
        let available = stop.saturating_sub(start);
        let fin_waits = snd.closing && start <= snd.data_end();
        if available == 0 {
            return if fin_waits && start == snd.data_end() {
                let reason = self.reason_at(start, Reason::Fin);
                Decision::Send(snd.plan(start, 0, reason, true))
            } else {
                Decision::Hold(Hold::NoData)
            };
        }
        let (allowed, limit) = self.allowed(start);
        let situation = Situation {
            available,
            allowed,
            mss: u32::from(self.agreed.payload),
            unacknowledged: snd.nxt - snd.una,
            // A cap of our own is all the window there will ever be: waiting for more would be waiting for ever.
            max_window: snd.max_wnd.min(self.config.send_window.unwrap_or(u32::MAX)),
            short_unacknowledged: self.short_unacknowledged(),
            before: self.before(),
            end: self.end_of_data(start, fin_waits),
            cutting: self.config.cutting,
        };
        let own = self.rare.as_ref().and_then(|rare| rare.policy.as_deref());
        let verdict = match own {
            None => judge(&self.config.transmit, &situation),
            Some(own) => judge(own, &situation),
        };
        match verdict {
            Verdict::Send(len) => {
                let fresh = if self.repeats_syn_data(start) {
                    Reason::SynDataAgain
                } else if self.loss.dup_acks > 0 && self.loss.phase == Phase::Open && self.at_cwnd() {
                    Reason::LimitedTransmit
                } else {
                    Reason::NewData
                };
                let plan = snd.plan(start, len, self.reason_at(start, fresh), snd.closing);
                // Behind the last one there will be none to wait for it.
                let remembered = (self.config.transmit == Transmit::Minshall || own.is_some())
                    && len < u32::from(self.agreed.payload)
                    && !fin_waits
                    && start == snd.max
                    && plan.reason != Reason::SynDataAgain;
                if remembered { Decision::Short(plan) } else { Decision::Send(plan) }
            }
            Verdict::Hold(Hold::SillyWindow) => Decision::Hold(limit),
            Verdict::Hold(why) => Decision::Hold(why),
        }
    }

    /// Where the next segment begins, and where it must stop at the latest. After a timeout, what SACK reports as
    /// received is passed over.
    fn next_range(&self) -> (u64, u64) {
        let (nxt, end) = (self.snd.nxt, self.snd.data_end());
        if nxt < self.snd.max
            && let Some(board) = &self.loss.scoreboard
            && let Some(reported) = board.sacked.at_or_after(nxt)
        {
            if reported.start <= nxt {
                let behind = board.sacked.at_or_after(reported.end).map_or(end, |next| next.start.min(end));
                return (reported.end, behind);
            }
            return (nxt, reported.start.min(end));
        }
        (nxt, end)
    }

    /// Why data at `start` is sent: `fresh` if it never was before. Recovery from a timeout may be over, or replaced by
    /// a fast retransmit (Tahoe, Reno), before SND.NXT has caught up. A byte that probed a closed window is not held
    /// against the segment that carries it at last.
    #[inline]
    fn reason_at(&self, start: u64, fresh: Reason) -> Reason {
        let probed = self.loss.phase == Phase::Open && start + 1 == self.snd.max;
        if start >= self.snd.max || probed {
            fresh
        } else if start == self.snd.una && self.loss.phase == Phase::Loss {
            Reason::Timeout
        } else {
            Reason::GoBackN
        }
    }

    /// Bytes in the network as far as the sender can tell.
    #[inline]
    pub(crate) fn in_network(&self) -> u64 {
        let (una, nxt) = (self.snd.una, self.snd.nxt);
        if let Some(rack) = &self.rack
            && !self.loss.is_quiet()
        {
            return rack.pipe(una, self.snd.max, self.loss.sacked());
        }
        let Some(board) = &self.loss.scoreboard else { return nxt - una };
        let by_sack = self.config.recovery == Recovery::Sack;
        match self.loss.phase {
            Phase::Fast if by_sack => board.pipe(una, self.snd.max),
            // Other recoveries count what left the network by duplicate ACKs: not twice.
            Phase::Fast => nxt - una,
            Phase::Open if !(by_sack && self.config.limited_transmit) => nxt - una,
            Phase::Open | Phase::Loss => {
                (nxt - una).saturating_sub(board.sacked.covered_within(Range::new(una, nxt)))
            }
        }
    }

    /// cwnd with what duplicate ACKs add to it.
    #[inline]
    pub(crate) fn inflated_cwnd(&self) -> u32 {
        self.congestion.cwnd().saturating_add(self.loss.inflation)
    }

    /// Whether cwnd is used up, were it not for what duplicate ACKs say has left the network.
    fn at_cwnd(&self) -> bool {
        self.snd.nxt - self.snd.una >= u64::from(self.congestion.cwnd())
    }

    /// How many bytes from `start` on the windows permit, and which of them is the tightest.
    pub(crate) fn allowed(&self, start: u64) -> (u64, Hold) {
        let snd = &self.snd;
        let whole = |window: u64| {
            let mss = u64::from(self.agreed.payload);
            // A window below one segment is used as it is, or nothing could ever go.
            if self.config.whole_segments && window > mss { window / mss * mss } else { window }
        };
        // One segment may always be out, or nothing would ever come back.
        let least = u32::from(self.agreed.payload);
        let cwnd = u64::from(self.recovery_window().saturating_add(self.limited_transmit()).max(least));
        let mut allowed = whole(cwnd).saturating_sub(self.in_network());
        let mut limit = Hold::CongestionWindow;
        let peer = (snd.una + whole(u64::from(snd.wnd))).saturating_sub(start);
        if peer < allowed {
            allowed = peer;
            limit = Hold::ReceiveWindow;
        }
        if let Some(cap) = self.config.send_window {
            let own = (snd.una + whole(u64::from(cap))).saturating_sub(start);
            if own < allowed {
                allowed = own;
                limit = Hold::SendWindow;
            }
        }
        (allowed, limit)
    }

    /// Room for new data on the first two duplicate ACKs (RFC 3042). Where SACK reports rule, what they name has left
    /// the network already and makes the room by itself.
    #[inline]
    fn limited_transmit(&self) -> u32 {
        let counts = self.config.limited_transmit
            && self.loss.phase == Phase::Open
            && self.loss.dup_acks > 0
            && (!self.recovers_by_sack() || self.loss.sacked() == 0);
        if counts { self.loss.dup_acks.min(2) * u32::from(self.agreed.payload) } else { 0 }
    }
}
