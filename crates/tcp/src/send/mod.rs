//! The sending half: the send sequence space, the decision what to send, transmission, and the processing of ACKs.
//!
//! `Sender` owns its state; its parts are the files of this folder. It does not depend on the receiver: requests to the
//! receiver are part of the verdicts that it returns.

mod mtu;
pub mod transmit;
mod write;

mod ack;
mod control;
pub(crate) mod decide;
mod departure;
mod extras;
mod info;
pub(crate) mod interface;
mod limits;
pub(crate) mod run;
pub(crate) mod space;
mod syn_data;
pub(crate) mod timers;

use crate::config::{Config, Recovery, WithoutSack};
use crate::congestion::{Congestion, CongestionControl, Start};
use crate::context::Context;
use crate::prediction::Prediction;
use crate::record::event::Phase;
use crate::record::reason::Hold;
use crate::recovery::rto::{Rto, RtoEstimator};
use crate::recovery::{self, LossRecovery};
use crate::time::{Coarse, Span, Time};
use crate::wire::segment::Segment;
use crate::wire::seq::Seq;
use extras::{Extras, Paced};
use space::SendSpace;
use timers::Timers;
use transmit::Policy;

pub(crate) use timers::timeouts::Expired;

/// The sending half of a connection.
#[derive(Debug)]
pub(crate) struct Sender {
    space: SendSpace,
    recovery: LossRecovery,
    congestion: Congestion,
    rto: Rto,
    timers: Timers,
    /// Bytes sent for the first time at this sending opportunity.
    run: u32,
    /// Whether cwnd has held back data since the last ACK.
    cwnd_limited: bool,
    /// The MSS that the peer announced.
    peer_mss: u16,
    /// Conditions that exclude the fast path.
    unusual: Prediction,
    extras: Option<Box<Extras>>,
}

/// The application has closed.
const CLOSING: Prediction = Prediction::bit(0);
/// A window probe is due.
const PROBE: Prediction = Prediction::bit(1);
/// Pacing or delivery rate measurement is in use.
const PACED: Prediction = Prediction::bit(2);
/// The search for the path MTU is active.
const MTU_SEARCH: Prediction = Prediction::bit(3);
/// The limits of the sender are measured.
const LIMITS: Prediction = Prediction::bit(4);
/// A mechanism depends on the network interface.
const INTERFACE: Prediction = Prediction::bit(5);
/// There is urgent data.
const URGENT: Prediction = Prediction::bit(6);
/// Ends of records separate the data.
const RECORDS: Prediction = Prediction::bit(7);

impl Sender {
    /// The initial state. `iss` is the initial sequence number.
    pub(crate) fn new(config: &Config, iss: Seq) -> Self {
        let cwnd = config.initial_window.bytes(u32::from(config.mss));
        let rto = Rto::new(&config.rto);
        Self {
            space: SendSpace::new(iss),
            recovery: LossRecovery::default(),
            congestion: Congestion::new(config.congestion_setup(), cwnd, iss.0),
            timers: Timers::new(rto.rto(&config.rto)),
            rto,
            run: 0,
            cwnd_limited: false,
            peer_mss: u16::MAX,
            unusual: Prediction::default(),
            extras: None,
        }
    }

    /// The send sequence space.
    #[inline]
    pub(crate) fn space(&self) -> &SendSpace {
        &self.space
    }

    /// Reads a field of each cache line: see [`crate::Connection::fetch`].
    #[inline]
    pub(crate) fn fetch(&self) -> u64 {
        self.timers.main().0.as_ps()
            ^ u64::from(self.cwnd())
            ^ self.space.written()
            ^ u64::from(self.recovery.is_quiet())
    }

    /// Whether there is a loss, or a sign of one.
    #[inline]
    pub(crate) fn has_losses(&self) -> bool {
        !self.recovery.is_quiet()
    }

    /// Reads what [`crate::Connection::fetch_losses`] loads of a sender.
    #[inline]
    pub(crate) fn fetch_losses(&self) -> u64 {
        self.recovery.fetch()
    }

    /// State that few connections need; allocated on first use.
    fn extras(&mut self) -> &mut Extras {
        self.extras.get_or_insert_default()
    }

    /// Stream bytes that the peer has acknowledged.
    #[inline]
    pub(crate) fn acknowledged(&self) -> u64 {
        self.space.una.clamp(1, self.space.data_end()) - 1
    }

    /// The reason why nothing was sent at the last call.
    pub(crate) fn holding(&self) -> Hold {
        self.timers.hold
    }

    /// Congestion window in bytes, without the inflation of fast recovery.
    #[inline]
    pub(crate) fn cwnd(&self) -> u32 {
        self.congestion.cwnd()
    }

    /// Slow start threshold in bytes; `u32::MAX` is infinite.
    pub(crate) fn ssthresh(&self) -> u32 {
        self.congestion.ssthresh()
    }

    /// The smoothed RTT, if there is a sample.
    #[inline]
    pub(crate) fn srtt(&self, cx: &Context) -> Option<Span> {
        self.rto.srtt(&cx.config.rto)
    }

    /// The present retransmission timeout, including backoff.
    pub(crate) fn timeout(&self) -> Span {
        self.timers.rto()
    }

    /// The earliest deadline of the sender.
    #[inline]
    pub(crate) fn next_deadline(&self) -> Time {
        let mut next = self.timers.main().0.min(self.recovery.reordering_deadline());
        if let Some(extras) = &self.extras {
            next = next.min(extras.deadline());
        }
        next
    }

    /// Stops all timers.
    pub(crate) fn stop_timers(&mut self) {
        self.timers.stop_retransmit();
        self.recovery.stop_reordering_timer();
        if let Some(extras) = &mut self.extras {
            (extras.user_timeout, extras.turn) = (Time::NEVER, Time::NEVER);
        }
    }

    /// The connection has ended: stops all timers and clears recovery.
    pub(crate) fn finish(&mut self) {
        self.stop_timers();
        self.recovery.finish();
        self.release_memory();
    }

    /// No data will be sent any more.
    fn release_memory(&mut self) {
        self.recovery.release_memory();
        self.congestion.release_memory();
    }

    /// Sets the initial cwnd.
    pub(crate) fn begin_with(&mut self, cx: &Context, cwnd: u32) {
        let start = self.start_with(cx, cwnd);
        if !self.congestion.begin(&start) {
            self.congestion = Congestion::new(cx.config.congestion_setup(), cwnd, start.seed);
        }
    }

    fn start_with(&self, cx: &Context, cwnd: u32) -> Start {
        Start { cwnd, ssthresh: cx.config.initial_ssthresh, seed: self.space.seq(0).0 }
    }

    /// Replaces congestion control by a user-defined algorithm, before the connection opens.
    pub(crate) fn set_congestion(&mut self, cx: &Context, own: Box<dyn CongestionControl>) {
        let cwnd = cx.config.initial_window.bytes(u32::from(cx.config.mss));
        self.congestion = Congestion::custom(own, &self.start_with(cx, cwnd));
    }

    /// Replaces the policy for short segments by a user-defined one, before the connection opens.
    pub(crate) fn set_transmit(&mut self, own: Box<dyn Policy>) {
        self.extras().policy = Some(own);
    }

    /// Replaces the RTO estimator by a user-defined one, before the connection opens.
    pub(crate) fn set_rto(&mut self, cx: &Context, own: Box<dyn RtoEstimator>) {
        self.rto = Rto::Custom(own);
        self.refresh_rto(cx);
    }

    /// The phase of the sender, for events.
    pub(crate) fn phase(&self) -> Phase {
        match self.recovery.phase() {
            recovery::Phase::Fast => Phase::Recovery,
            recovery::Phase::Loss => Phase::TimeoutRecovery,
            recovery::Phase::Open if self.cwnd() < self.ssthresh() => Phase::SlowStart,
            recovery::Phase::Open => Phase::CongestionAvoidance,
        }
    }

    /// Whether recovery uses the peer's SACK reports.
    #[inline]
    pub(crate) fn recovers_by_sack(&self, cx: &Context) -> bool {
        matches!(cx.config.recovery, Recovery::Sack | Recovery::Rack) && cx.agreed.sack
    }

    /// Starts the user timeout, if one is set.
    #[inline]
    pub(crate) fn start_user_timeout(&mut self, cx: &Context, now: Time) {
        if let Some(timeout) = cx.config.user_timeout {
            self.extras().user_timeout = now + timeout;
        }
    }

    /// Stops the user timeout.
    #[inline]
    pub(crate) fn stop_user_timeout(&mut self) {
        if let Some(rare) = &mut self.extras {
            rare.user_timeout = Time::NEVER;
        }
    }

    /// Whether a segment that began at this sequence number is outstanding. Only ICMP messages about such segments are
    /// accepted (RFC 5927, section 4.1).
    pub(crate) fn has_outstanding(&self, seq: Seq) -> bool {
        let position = self.space.position(seq);
        position >= self.space.una as i64 && position < self.space.max as i64
    }

    #[inline]
    pub(crate) fn paced(&self) -> Option<&Paced> {
        self.extras.as_ref()?.paced.as_deref()
    }

    #[inline]
    fn paced_mut(&mut self) -> Option<&mut Paced> {
        self.extras.as_mut()?.paced.as_deref_mut()
    }

    /// The RTT of the present ACK, if deliveries are measured; otherwise the last known one, if losses are detected by time.
    pub(crate) fn latest_rtt(&self) -> Option<Span> {
        match self.paced() {
            Some(paced) => paced.rate.rtt(),
            None => self.recovery.latest_rtt(),
        }
    }

    /// The MSS that the peer announced.
    pub(crate) fn peer_mss(&self) -> u16 {
        self.peer_mss
    }

    /// The peer announces this MSS.
    pub(crate) fn set_peer_mss(&mut self, mss: u16) {
        self.peer_mss = mss;
    }

    /// Retransmissions in a row without an answer.
    pub(crate) fn unanswered(&self) -> u8 {
        self.timers.unanswered
    }

    /// The application has closed.
    #[inline]
    pub(crate) fn is_closing(&self) -> bool {
        self.unusual.has(CLOSING)
    }

    /// The application closes: a FIN follows the written data.
    pub(crate) fn close(&mut self) {
        self.unusual.set(CLOSING, true);
    }

    /// Both SYN segments are known: applies the negotiated options.
    pub(crate) fn begin(&mut self, cx: &Context) {
        if cx.config.recovery == Recovery::Rack {
            match cx.config.without_sack {
                _ if cx.agreed.sack => self.recovery.begin_by_time(),
                WithoutSack::Linux => self.recovery.begin_counting(),
                WithoutSack::NewReno => {}
            }
        }
        self.begin_pacing(cx);
        self.begin_interface(cx);
        // The initial window counts segments of the size that holds from now on.
        self.begin_with(cx, cx.config.initial_window.bytes(u32::from(cx.agreed.payload)));
    }

    /// Processes the window of the peer's SYN, which acknowledges ours up to `ack` if there is one (RFC 9293, section 3.10.7.3).
    pub(crate) fn first_window(&mut self, cx: &mut Context, seq: Seq, ack: Option<Seq>, window: u32) {
        let una = self.space.seq(self.space.una);
        self.note_window_source(seq, ack.unwrap_or(una));
        self.space.wnd = window;
        self.space.max_wnd = window;
        self.size_segments(cx);
    }

    /// Sets SND.WL1 and SND.WL2, the numbers of the segment that last set the window.
    #[inline]
    pub(crate) fn note_window_source(&mut self, seq: Seq, ack: Seq) {
        self.space.wl1 = seq;
        self.space.wl2 = ack;
    }

    /// Whether a segment with these numbers may set the window.
    pub(crate) fn is_latest(&self, seq: Seq, ack: Seq) -> bool {
        self.space.is_latest(seq, ack)
    }

    /// A segment announces the present window.
    #[inline]
    pub(crate) fn confirm_window(&mut self, seq: Seq, ack: Seq) {
        if self.space.is_latest(seq, ack) {
            self.note_window_source(seq, ack);
        }
    }

    /// The segment at `seq` has set the window last.
    pub(crate) fn expect_window_from(&mut self, seq: Seq) {
        self.space.wl1 = seq;
    }

    /// Linux takes the window of the ACK of its SYN-ACK for the first one of a client (`tcp_create_openreq_child()`), and bounds
    /// the segments by it before congestion control begins to pace (`tcp_sync_mss()` in `tcp_v4_syn_recv_sock()`).
    pub(crate) fn begin_with_window(&mut self, cx: &mut Context, segment: &Segment) {
        self.space.max_wnd = cx.agreed.read_window(segment.window, &segment.options);
        if cx.config.half_window_segments {
            self.size_segments(cx);
        }
    }

    /// Adds bytes sent at this sending opportunity.
    #[inline]
    pub(crate) fn count_run(&mut self, len: u32) {
        self.run = self.run.saturating_add(len);
    }

    /// A short segment was sent; the transmission policy records it.
    pub(crate) fn note_short_segment(&mut self) {
        self.extras().short_end = self.space.max;
    }

    /// Our SYN or SYN-ACK is retransmitted.
    pub(crate) fn send_syn_again(&mut self) {
        self.space.nxt = 0;
        self.recovery.forget_timed();
    }

    /// The distance from `position` to the end of urgent data, if that is above it.
    #[inline]
    pub(crate) fn urgent_behind(&self, position: u64) -> Option<u16> {
        let end = self.extras.as_ref().map_or(0, |extras| extras.send_urgent);
        (end > position).then(|| u16::try_from(end - position).unwrap_or(u16::MAX))
    }

    /// When our SYN was first sent.
    pub(crate) fn first_sent(&self) -> Coarse {
        self.space.first_sent
    }

    /// TIME-WAIT until `end`.
    pub(crate) fn wait_out(&mut self, end: Time) {
        self.release_memory();
        self.timers.wait_out(end);
    }

    /// When TIME-WAIT ends.
    pub(crate) fn waits_until(&self) -> Time {
        self.timers.main().0
    }

    /// The connection returns to LISTEN, as if no SYN had arrived. Only the settings of the driver remain.
    pub(crate) fn return_to_listen(&mut self, cx: &mut Context) {
        let mut fresh = Self::new(&cx.config, self.space.seq(0));
        if let Rto::Custom(_) = self.rto {
            core::mem::swap(&mut fresh.rto, &mut self.rto);
            fresh.refresh_rto(cx);
        }
        let start = fresh.start_with(cx, fresh.cwnd());
        if self.congestion.begin(&start) {
            core::mem::swap(&mut fresh.congestion, &mut self.congestion);
        }
        let extras = self.extras.take().map(|extras| Box::new(extras.of_a_listener()));
        fresh.unusual.set(LIMITS, extras.as_ref().is_some_and(|extras| extras.limits.is_some()));
        fresh.extras = extras;
        *self = fresh;
        let mtu = self.path_mtu();
        if mtu > 0 {
            self.set_path_mtu(cx, mtu);
        }
    }
}

/// The duration of a recovery timer that should run for `wait`.
fn in_ticks(cx: &Context, wait: Span) -> Span {
    let tick = cx.config.reordering_tick.as_ps();
    if tick == 0 { wait } else { Span::from_ps((wait.as_ps().div_ceil(tick) + 2) * tick) }
}
