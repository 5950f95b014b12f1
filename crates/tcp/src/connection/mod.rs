//! [`Connection`]: what an application and a network see of TCP.

pub(crate) mod calls;
pub(crate) mod rare;
pub(crate) mod sizes;
pub(crate) mod socket_options;

use crate::config::{Config, Grows, Recovery, Reduces};
use crate::congestion::{Congestion, CongestionControl, Signal, Start, View};
use crate::connection::rare::{Counters, Rare};
use crate::opening::handshake::Reply;
use crate::opening::negotiate::{Agreed, agree, believed};
use crate::opening::state::{CloseReason, State};
use crate::receive::space::{AckDue, ReceiveSpace};
use crate::record::event::{Event, Phase};
use crate::record::reason::{Hold, Reason};
use crate::record::stats::Stats;
use crate::recovery::rack::Rack;
use crate::recovery::rto::{Rto, RtoEstimator};
use crate::recovery::timers::Timers;
use crate::recovery::{self, Loss};
use crate::send::space::{Decision, SendSpace};
use crate::send::transmit::Policy;
use crate::time::{Coarse, Span, Time};
use crate::wire::options::Options;
use crate::wire::segment::Segment;
use crate::wire::seq::Seq;
use std::collections::VecDeque;
use std::sync::Arc;

/// A segment on its way out, and why.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transmission {
    /// What. The driver fetches the payload bytes from its buffer at [`Payload::offset`](crate::wire::segment::Payload::offset).
    pub segment: Segment,
    /// Why.
    pub reason: Reason,
}

/// What [`Connection::transmit_into`] wrote down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Departure {
    /// Why the segment leaves.
    pub reason: Reason,
    /// Nothing follows: asking once more would bring `None`.
    pub last: bool,
}

/// One end of a TCP connection.
///
/// It does no I/O: a *driver* tells it what happened and asks it what to do. The methods are of four kinds.
///
/// * **The application**: [`open`](Self::open), [`write`](Self::write), [`read`](Self::read),
///   [`close`](Self::close), [`abort`](Self::abort).
/// * **The network**: [`handle_segment`](Self::handle_segment), for segments whose checksum was right and whose
///   addresses and ports are this connection's.
/// * **The clock**: [`next_deadline`](Self::next_deadline) names an instant; from then on
///   [`handle_deadline`](Self::handle_deadline) shall be called.
/// * **What comes out**: after every call of the first three kinds, call [`poll_transmit`](Self::poll_transmit) until it
///   returns `None`, then look at [`next_deadline`](Self::next_deadline) again.
///
/// `now` must never go back from one call to the next; its origin is the driver's choice. Payload bytes stay with the
/// driver: the connection speaks of ranges of the stream, counted in 64 bits from 0.
#[derive(Debug)]
pub struct Connection {
    pub(crate) config: Arc<Config>,
    pub(crate) state: State,
    /// Opened by [`Connection::listen`]: a reset in SYN-RECEIVED leads back to LISTEN.
    pub(crate) passive: bool,
    closed: Option<CloseReason>,
    /// Retransmissions in a row without an answer.
    pub(crate) unanswered: u8,
    pub(crate) hold: Hold,
    /// Bytes sent for the first time at this sending opportunity.
    pub(crate) run: u32,
    pub(crate) agreed: Agreed,
    pub(crate) snd: SendSpace,
    pub(crate) rcv: ReceiveSpace,
    pub(crate) loss: Loss,
    /// What loss detection by time knows, where that is used.
    pub(crate) rack: Option<Box<Rack>>,
    pub(crate) congestion: Congestion,
    pub(crate) rto: Rto,
    pub(crate) timers: Timers,
    /// TS.Recent, and when it was set (RFC 7323, section 5).
    pub(crate) ts_recent: u32,
    pub(crate) ts_recent_at: Time,
    /// When our SYN left first.
    pub(crate) first_sent: Coarse,
    /// The MSS that the peer announced.
    peer_mss: u16,
    pub(crate) stats: Counters,
    pub(crate) rare: Option<Box<Rare>>,
}

impl Connection {
    /// A connection in CLOSED, for [`open`](Self::open). `iss` is the initial send sequence number, which the driver
    /// draws: see [`crate::opening::isn`].
    pub fn new(config: Arc<Config>, iss: Seq) -> Self {
        let cwnd = config.initial_window.bytes(u32::from(config.mss));
        let rto = Rto::new(&config.rto);
        Self {
            state: State::Closed,
            passive: false,
            closed: None,
            unanswered: 0,
            hold: Hold::NotOpen,
            run: 0,
            agreed: Agreed { mss: config.mss, payload: config.mss, header_len: 20, ..Agreed::default() },
            snd: SendSpace::new(iss),
            rcv: ReceiveSpace::new(config.receive_window),
            loss: Loss::default(),
            rack: None,
            congestion: Congestion::new(&config, cwnd, iss.0),
            timers: Timers::new(rto.rto(&config.rto)),
            rto,
            ts_recent: 0,
            ts_recent_at: Time::ZERO,
            first_sent: Coarse::default(),
            peer_mss: u16::MAX,
            stats: Counters::default(),
            rare: None,
            config,
        }
    }

    /// A connection in LISTEN: the next SYN makes it answer. A driver makes one for each SYN to a listening port.
    pub fn listen(config: Arc<Config>, iss: Seq) -> Self {
        Self { state: State::Listen, passive: true, ..Self::new(config, iss) }
    }

    /// The state of RFC 9293, figure 5.
    #[inline]
    pub fn state(&self) -> State {
        self.state
    }

    /// Why it is over, once it is.
    #[inline]
    pub fn closed(&self) -> Option<CloseReason> {
        self.closed
    }

    /// Stream bytes that the peer has acknowledged.
    #[inline]
    pub fn acknowledged(&self) -> u64 {
        self.snd.una.clamp(1, self.snd.data_end()) - 1
    }

    /// Stream bytes that the application has written.
    #[inline]
    pub fn written(&self) -> u64 {
        self.snd.written
    }

    /// Stream bytes that the application has written and that have never been sent.
    pub fn unsent(&self) -> u64 {
        self.snd.data_end().saturating_sub(self.snd.max.max(1))
    }

    /// Stream bytes received in order.
    #[inline]
    pub fn received(&self) -> u64 {
        (self.rcv.nxt - u64::from(self.rcv.is_finished())).max(1) - 1
    }

    /// Counters.
    pub fn stats(&self) -> Stats {
        let often = self.stats;
        let rare = self.rare.as_ref().map(|rare| rare.counters).unwrap_or_default();
        Stats {
            segments_sent: often.segments_sent,
            segments_received: often.segments_received,
            rtt_samples: often.rtt_samples,
            rtt_sum_ns: often.rtt_sum_ns,
            ..rare
        }
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Why nothing was sent when [`poll_transmit`](Self::poll_transmit) last returned `None`.
    pub fn holding(&self) -> Hold {
        self.hold
    }

    /// Congestion window in bytes, without the inflation of fast recovery.
    pub fn cwnd(&self) -> u32 {
        self.congestion.cwnd()
    }

    /// Slow start threshold in bytes; `u32::MAX` is infinite.
    pub fn ssthresh(&self) -> u32 {
        self.congestion.ssthresh()
    }

    /// Bytes in the network as far as the sender can tell.
    pub fn flight(&self) -> u32 {
        self.in_network() as u32
    }

    /// Whether a segment that began at this sequence number may still be on its way: what an ICMP message must be about
    /// to be believed (RFC 5927, section 4.1).
    pub fn has_outstanding(&self, seq: Seq) -> bool {
        let position = self.snd.position(seq);
        position >= self.snd.una as i64 && position < self.snd.max as i64
    }

    /// The peer's window in bytes.
    pub fn peer_window(&self) -> u32 {
        self.snd.wnd
    }

    /// The MSS that the peer announced.
    pub(crate) fn peer_mss(&self) -> u16 {
        self.peer_mss
    }

    /// Payload bytes of a full segment.
    pub fn segment_payload(&self) -> u32 {
        u32::from(self.agreed.payload)
    }

    /// Smoothed round-trip time, once there is one.
    pub fn srtt(&self) -> Option<Span> {
        self.rto.srtt(&self.config.rto)
    }

    /// The retransmission timeout in force, backoff included.
    pub fn rto(&self) -> Span {
        self.timers.rto()
    }

    /// When [`handle_deadline`](Self::handle_deadline) wants to be called; [`Time::NEVER`] if nothing is armed.
    #[inline]
    pub fn next_deadline(&self) -> Time {
        let next = self.timers.next().min(self.reordering_deadline());
        self.rare.as_ref().map_or(next, |rare| next.min(rare.deadline()))
    }

    /// Starts (or stops) recording events. What a connection does is the same either way.
    pub fn record_events(&mut self, on: bool) {
        if on {
            self.rare().log = Some(VecDeque::new());
        } else if let Some(rare) = &mut self.rare {
            rare.log = None;
        }
    }

    /// The oldest event not yet taken.
    pub fn poll_event(&mut self) -> Option<(Time, Event)> {
        self.rare.as_mut()?.log.as_mut()?.pop_front()
    }

    /// The next segment to send. Call until `None` after every other call.
    #[inline]
    pub fn poll_transmit(&mut self, now: Time) -> Option<Transmission> {
        let mut segment = Segment::default();
        let Departure { reason, .. } = self.transmit_into(now, &mut segment)?;
        Some(Transmission { segment, reason })
    }

    /// The same for a driver that counts instructions: the segment is made where it shall stay, and the last one says
    /// that it is the last. `segment` is overwritten whole if there is one, and is of no meaning otherwise; what stood
    /// there before must be a segment too, without options where its header has no room for any.
    #[inline]
    pub fn transmit_into(&mut self, now: Time, segment: &mut Segment) -> Option<Departure> {
        self.transmit_ordinary(now, segment)
    }

    /// The same by the full procedure, whatever the segment is: for a driver that has other costs.
    pub fn transmit_any(&mut self, now: Time, segment: &mut Segment) -> Option<Departure> {
        if let Some(rare) = &mut self.rare
            && let Some(reply) = rare.reply.take()
        {
            return Some(Departure { reason: self.send_reply(now, reply, segment), last: false });
        }
        if let Some(plan) = self.handshake_ack() {
            return Some(Departure { reason: self.emit(now, plan, segment), last: false });
        }
        match self.decide(now) {
            Decision::Send(plan) => {
                self.run = self.run.saturating_add(plan.len);
                Some(Departure { reason: self.emit(now, plan, segment), last: false })
            }
            Decision::Short(plan) => {
                let reason = self.emit(now, plan, segment);
                self.rare().short_end = self.snd.max;
                Some(Departure { reason, last: false })
            }
            Decision::Hold(why @ (Hold::Pacing | Hold::Autocork)) => {
                self.wait_for_turn(why);
                None
            }
            Decision::Last(plan, why @ (Hold::Pacing | Hold::Autocork)) => {
                let reason = self.emit(now, plan, segment);
                self.wait_for_turn(why);
                Some(Departure { reason, last: true })
            }
            Decision::Last(plan, why) => {
                let reason = self.emit(now, plan, segment);
                self.rest(now, why);
                Some(Departure { reason, last: true })
            }
            Decision::Hold(why) => {
                self.rest(now, why);
                None
            }
        }
    }

    /// [`hold_back`](Self::hold_back), where what limits the sender may be measured.
    fn rest(&mut self, now: Time, why: Hold) {
        self.hold_back(now, why);
        self.turn_limit(now);
    }

    /// Nothing can be sent, and why: an idle sender before a closed window must probe it.
    #[inline]
    pub(crate) fn hold_back(&mut self, now: Time, why: Hold) {
        if why.is_policy() {
            self.hold_tail(now, why);
        }
        if self.config.growth.grows == Grows::WhenUsed && self.run > 0 {
            self.note_usage(why);
        }
        self.hold = why;
        match why {
            Hold::CongestionWindow => self.snd.cwnd_limited = true,
            Hold::Burst => self.snd.cwnd_limited |= self.waits_for_cwnd(),
            Hold::ReceiveWindow => self.timers.persist(now, self.config.timer_grain),
            _ => {}
        }
        self.run = 0;
    }

    /// A sending opportunity is over: how far it used cwnd.
    #[cold]
    fn note_usage(&mut self, why: Hold) {
        let full = self.in_network() + u64::from(self.agreed.payload) > u64::from(self.recovery_window());
        let SendSpace { una, max, .. } = self.snd;
        let limits = why == Hold::CongestionWindow || why == Hold::Burst && self.waits_for_cwnd();
        self.snd.usage.note(una, max, limits || full);
    }

    /// Whether it is cwnd that cuts short what waits.
    #[cold]
    fn waits_for_cwnd(&self) -> bool {
        let (room, limit) = self.allowed(self.snd.nxt);
        limit == Hold::CongestionWindow && room <= self.unsent()
    }

    /// Whether the sender uses as much of cwnd as an ACK must find used to open it.
    #[inline]
    fn uses_cwnd(&self) -> bool {
        let (cwnd, ssthresh) = (self.congestion.cwnd(), self.congestion.ssthresh());
        match self.config.growth.grows {
            Grows::Always | Grows::WhenLimiting => self.snd.cwnd_limited,
            Grows::WhenUsed => self.snd.usage.opens(cwnd, cwnd < ssthresh),
        }
    }

    /// Notes an event if anybody listens.
    #[inline]
    pub(crate) fn note(&mut self, now: Time, event: Event) {
        if let Some(rare) = &mut self.rare
            && let Some(log) = &mut rare.log
        {
            log.push_back((now, event));
        }
    }

    /// Whether anybody listens: what only events need is worked out then alone.
    #[inline]
    pub(crate) fn is_heard(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.log.is_some())
    }

    /// No timer runs any more.
    pub(crate) fn stop_timers(&mut self) {
        self.timers.stop_all();
        if let Some(rare) = &mut self.rare {
            (rare.keep_alive, rare.patience, rare.turn) = (Time::NEVER, Time::NEVER, Time::NEVER);
        }
    }

    /// The user waits for something from now on, if there is a limit to that.
    #[inline]
    pub(crate) fn start_patience(&mut self, now: Time) {
        if let Some(patience) = self.config.user_timeout {
            self.rare().patience = now + patience;
        }
    }

    /// The user waits for nothing any more.
    #[inline]
    pub(crate) fn stop_patience(&mut self) {
        if let Some(rare) = &mut self.rare {
            rare.patience = Time::NEVER;
        }
    }

    /// The place for what hardly any connection needs.
    pub(crate) fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// A reset shall go out.
    pub(crate) fn reply(&mut self, reply: Reply) {
        self.rare().reply = Some(reply);
    }

    /// Enters a state.
    pub(crate) fn enter(&mut self, now: Time, to: State) {
        let from = core::mem::replace(&mut self.state, to);
        self.note(now, Event::State { from, to });
    }

    /// The connection is over.
    pub(crate) fn finish(&mut self, now: Time, why: CloseReason) {
        if self.closed.is_none() {
            self.closed = Some(why);
            self.stop_timers();
            self.rcv.due = AckDue::No;
            self.loss = Loss::default();
            self.enter(now, State::Closed);
            self.note(now, Event::Closed(why));
        }
    }

    /// The connection is over, and the peer is told where it knows of it.
    pub(crate) fn give_up(&mut self, now: Time, why: CloseReason) {
        if matches!(
            self.state,
            State::SynReceived | State::Established | State::FinWait1 | State::FinWait2 | State::CloseWait
        ) {
            let position = self.ack_position(Reason::Reset);
            self.reply(Reply::abort(self.snd.seq(position), self.rcv.seq(self.rcv.nxt)));
        }
        self.finish(now, why);
    }

    /// Both SYN segments are known: settles what holds.
    pub(crate) fn settle(&mut self, now: Time, heard: &Options) {
        self.peer_mss = believed(&self.config, heard).mss.unwrap_or(self.config.mss);
        self.agreed = agree(&self.config, heard, self.path_mtu());
        self.begin_mtu_search(now);
        self.rcv.limit_buffer(self.agreed.largest_window());
        if self.config.round_buffers {
            self.rcv.round_buffer(u32::from(self.agreed.payload), self.agreed.largest_window());
        }
        self.begin_tuning(now);
        self.begin_rack();
        self.begin_pacing();
        self.begin_interface();
        // The initial window counts segments of the size that holds from now on.
        self.begin_with(self.config.initial_window.bytes(u32::from(self.agreed.payload)));
    }

    /// Congestion control begins with this cwnd.
    pub(crate) fn begin_with(&mut self, cwnd: u32) {
        let start = self.start_with(cwnd);
        if !self.congestion.begin(&start) {
            self.congestion = Congestion::new(&self.config, cwnd, start.seed);
        }
    }

    pub(crate) fn start_with(&self, cwnd: u32) -> Start {
        Start { cwnd, ssthresh: self.config.initial_ssthresh, seed: self.snd.seq(0).0 }
    }

    /// Puts the user's own congestion control in place of the configured one; before the connection is opened.
    pub fn set_congestion(&mut self, own: Box<dyn CongestionControl>) {
        let cwnd = self.config.initial_window.bytes(u32::from(self.config.mss));
        self.congestion = Congestion::custom(own, &self.start_with(cwnd));
    }

    /// Puts the user's own policy for short segments in place of the configured one; before the connection is opened.
    pub fn set_transmit(&mut self, own: Box<dyn Policy>) {
        self.rare().policy = Some(own);
    }

    /// Puts the user's own estimator of the retransmission timeout in place of the configured one; before the connection is
    /// opened.
    pub fn set_rto(&mut self, own: Box<dyn RtoEstimator>) {
        self.rto = Rto::Custom(own);
        self.refresh_rto();
    }

    /// What congestion control may see, `flight` bytes having been outstanding.
    pub(crate) fn view(&self, now: Time, flight: u64) -> View {
        let own = self.config.send_window.unwrap_or(u32::MAX);
        View {
            now,
            mss: u32::from(self.agreed.payload),
            flight: flight.min(u64::from(u32::MAX)) as u32,
            window: self.congestion.cwnd().min(self.snd.wnd).min(own),
            srtt: self.srtt(),
            rtt: self.latest_rtt(),
            paced: self.config.pacing,
            acknowledged: self.snd.una,
            sent: self.snd.max,
            cwnd_limited: self.uses_cwnd(),
        }
    }

    /// Tells congestion control.
    pub(crate) fn signal(&mut self, now: Time, signal: Signal, flight: u64) {
        let cuts = matches!(signal, Signal::EnterRecovery | Signal::Timeout { .. } | Signal::EcnCe);
        let flight = match self.config.reduces {
            Reduces::Cwnd if cuts => u64::from(self.congestion.cwnd()),
            Reduces::Cwnd | Reduces::Flight => flight,
        };
        let view = self.view(now, flight);
        self.congestion.on(signal, &view);
        self.note_reduction(signal);
        self.note_window(now);
    }

    /// The same for an ACK of new data outside recovery, not noted.
    #[inline]
    pub(crate) fn open_window(&mut self, now: Time, bytes: u32, flight: u64) {
        if !self.congestion.acked(bytes, u32::from(self.agreed.payload)) {
            let view = self.view(now, flight);
            self.congestion.on(Signal::Acked { bytes }, &view);
        }
    }

    /// Notes the windows of congestion control.
    #[inline]
    pub(crate) fn note_window(&mut self, now: Time) {
        if self.is_heard() {
            let (cwnd, ssthresh) = (self.congestion.cwnd(), self.congestion.ssthresh());
            self.note(now, Event::Window { cwnd, ssthresh });
        }
    }

    /// RFC 5681, section 4.1: a window that has not been used for an RTO says nothing any more.
    #[inline]
    pub(crate) fn restart_if_idle(&mut self, now: Time) {
        if !self.snd.is_outstanding() && self.config.idle_restart && self.snd.max > 1 {
            self.restart_after(now, now - self.snd.last_sent);
        }
    }

    #[cold]
    fn restart_after(&mut self, now: Time, pause: Span) {
        if pause > self.timers.rto() {
            self.signal(now, Signal::IdleRestart, 0);
        }
    }

    /// Which phase the sender is in, for events.
    pub(crate) fn phase(&self) -> Phase {
        match self.loss.phase {
            recovery::Phase::Fast => Phase::Recovery,
            recovery::Phase::Loss => Phase::TimeoutRecovery,
            recovery::Phase::Open if self.cwnd() < self.ssthresh() => Phase::SlowStart,
            recovery::Phase::Open => Phase::CongestionAvoidance,
        }
    }

    /// Whether this side repairs losses by the peer's SACK reports.
    #[inline]
    pub(crate) fn recovers_by_sack(&self) -> bool {
        matches!(self.config.recovery, Recovery::Sack | Recovery::Rack) && self.agreed.sack
    }
}
