//! [`Connection`]: the interface of TCP to application and network.
//!
//! The connection owns the sender, the receiver and their shared state. It connects them: the steps for a segment, the
//! handshake, the calls of the application, the deadlines.

pub(crate) mod calls;
mod deadline;
mod digest;
mod ecn;
mod fast_open;
pub(crate) mod fetch;
mod handshake;
mod input;
mod output;
#[cfg(test)]
mod pairs;
pub(crate) mod prediction;
mod sizes;
#[cfg(test)]
mod slivers;
pub(crate) mod socket_options;
pub mod syn_cookie;
mod time_wait;

use crate::config::{Config, GivesUp};
use crate::congestion::CongestionControl;
use crate::context::Context;
use crate::opening::negotiate::{agree, peer_offer};
use crate::opening::reply::Reply;
use crate::opening::state::{CloseReason, State};
use crate::receive::receiver::{AckDue, Receiver};
use crate::record::event::Event;
use crate::record::info::{Info, Segments};
use crate::record::limits::Limits;
use crate::record::reason::{Held, Hold, Reason};
use crate::record::stats::Stats;
use crate::recovery::rto::RtoEstimator;
use crate::send::Sender;
use crate::send::space::{AckVerdict, Decision, Plan};
use crate::send::transmit::Policy;
use crate::time::{Span, Time};
use crate::wire::options::Options;
use crate::wire::segment::{Flags, Segment};
use crate::wire::seq::Seq;
use std::sync::Arc;

/// A segment to send, and the reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transmission {
    /// The segment. The driver fetches the payload bytes from its buffer at
    /// [`Payload::offset`](crate::wire::segment::Payload::offset).
    pub segment: Segment,
    /// Why.
    pub reason: Reason,
}

/// The result of [`Connection::transmit_into`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Departure {
    /// Why the segment is sent.
    pub reason: Reason,
    /// No other segment follows: the next call would return `None`.
    pub last: bool,
}

/// One end of a TCP connection.
///
/// It does no I/O. A *driver* passes events to it and performs its output. The methods are of four kinds.
///
/// * **The application**: [`open`](Self::open), [`write`](Self::write), [`read`](Self::read),
///   [`close`](Self::close), [`abort`](Self::abort).
/// * **The network**: [`handle_segment`](Self::handle_segment), for segments with a correct checksum and the addresses
///   and ports of this connection.
/// * **The clock**: [`next_deadline`](Self::next_deadline) returns an instant; call
///   [`handle_deadline`](Self::handle_deadline) at that instant.
/// * **Output**: after every call of the first three kinds, call [`poll_transmit`](Self::poll_transmit) until it
///   returns `None`, then read [`next_deadline`](Self::next_deadline) again.
///
/// `now` must never decrease from one call to the next; the driver chooses its origin. Payload bytes stay with the
/// driver. The connection uses ranges of the stream with 64-bit offsets from 0.
#[derive(Debug)]
pub struct Connection {
    /// The state that sender and receiver share.
    cx: Context,
    snd: Sender,
    rcv: Receiver,
}

impl Connection {
    /// A connection in CLOSED, for [`open`](Self::open). `iss` is the initial send sequence number, which the driver
    /// draws: see [`crate::isn`].
    pub fn new(config: Arc<Config>, iss: Seq) -> Self {
        Self {
            snd: Sender::new(&config, iss),
            rcv: Receiver::new(config.receive_window),
            cx: Context::new(config),
        }
    }

    /// A connection in LISTEN, which answers the next SYN. A driver creates one for each SYN to a listening port.
    pub fn listen(config: Arc<Config>, iss: Seq) -> Self {
        let mut tcp = Self::new(config, iss);
        tcp.cx.listen();
        tcp
    }

    /// The state of RFC 9293, figure 5.
    #[inline]
    pub fn state(&self) -> State {
        self.cx.state()
    }

    /// Why the connection is closed; `None` while it is not.
    #[inline]
    pub fn closed(&self) -> Option<CloseReason> {
        self.cx.closed
    }

    /// Stream bytes that the peer has acknowledged.
    #[inline]
    pub fn acknowledged(&self) -> u64 {
        self.snd.acknowledged()
    }

    /// Stream bytes that the application has written.
    #[inline]
    pub fn written(&self) -> u64 {
        self.snd.space().written()
    }

    /// Stream bytes that the application has written and that have never been sent.
    pub fn unsent(&self) -> u64 {
        self.snd.unsent()
    }

    /// The unsent bytes of the last packet that the application has begun: what a write is added to. Only known with the rules of
    /// Linux, and if packets are single segments (`gso_max_segs` 1).
    pub fn unsent_in_last_packet(&self) -> Option<u64> {
        let is_known = self.cx.config.counts_as_linux() && !self.cx.config.push_bursts;
        is_known.then(|| self.snd.unsent_in_last_packet(self.payload_of_burst()))
    }

    /// Stream bytes received in order.
    #[inline]
    pub fn received(&self) -> u64 {
        self.rcv.received()
    }

    /// Counters.
    pub fn stats(&self) -> Stats {
        self.cx.all_counters()
    }

    /// Of the counters, how many segments were sent again, and how often the retransmission timer expired.
    #[inline]
    pub fn repairs(&self) -> [u32; 2] {
        self.cx.repairs()
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.cx.config
    }

    /// Why nothing was sent when [`poll_transmit`](Self::poll_transmit) last returned `None`.
    pub fn holding(&self) -> Hold {
        self.snd.holding()
    }

    /// Congestion window in bytes, without the inflation of fast recovery.
    pub fn cwnd(&self) -> u32 {
        self.snd.cwnd()
    }

    /// Slow start threshold in bytes; `u32::MAX` is infinite.
    pub fn ssthresh(&self) -> u32 {
        self.snd.ssthresh()
    }

    /// The sender's estimate of the bytes in flight.
    pub fn flight(&self) -> u32 {
        self.snd.bytes_in_network(&self.cx) as u32
    }

    /// Whether a segment that starts at this sequence number may still be in flight. An ICMP message is accepted only
    /// for such a segment (RFC 5927, section 4.1).
    pub fn has_outstanding(&self, seq: Seq) -> bool {
        self.snd.has_outstanding(seq)
    }

    /// The peer's window in bytes.
    pub fn peer_window(&self) -> u32 {
        self.snd.space().wnd()
    }

    /// The window that we have announced, in bytes from the next expected one on.
    pub fn receive_window(&self) -> u32 {
        self.rcv.window()
    }

    /// The largest window that the peer has announced so far.
    pub fn largest_peer_window(&self) -> u32 {
        self.snd.space().max_wnd()
    }

    /// Payload bytes of a full segment that is sent now: SACK blocks may leave less room (Linux, `tcp_current_mss()`).
    pub fn next_payload(&self) -> u32 {
        self.payload_beside_reports()
    }

    /// Payload bytes of a full segment.
    pub fn segment_payload(&self) -> u32 {
        u32::from(self.cx.agreed.payload)
    }

    /// Smoothed RTT, if there is a sample.
    pub fn srtt(&self) -> Option<Span> {
        self.snd.srtt(&self.cx)
    }

    /// The retransmission timeout in force, backoff included.
    pub fn rto(&self) -> Span {
        self.snd.timeout()
    }

    /// Starts or stops recording events. It does not change the behaviour of the connection.
    pub fn record_events(&mut self, on: bool) {
        self.cx.record_events(on);
    }

    /// Removes and returns the oldest recorded event.
    pub fn poll_event(&mut self) -> Option<(Time, Event)> {
        self.cx.poll_event()
    }

    /// Starts or stops measuring what limits the sender. It does not change the behaviour of the connection.
    pub fn measure_limits(&mut self, now: Time, on: bool) {
        self.snd.measure_limits(now, on);
    }

    /// The duration of each limit, if it is measured.
    pub fn limits(&self, now: Time) -> Option<Limits> {
        self.snd.limits(now)
    }

    /// Records whether the application waits for space in the send buffer, for the limits that are measured.
    pub fn note_room(&mut self, now: Time, has_room: bool) {
        self.snd.note_room(&self.cx, now, has_room);
    }

    /// A snapshot of the state, in the terms of Linux's TCP_INFO where it has one.
    pub fn info(&self) -> Info {
        Info { out_of_order: self.rcv.out_of_order(), ..self.snd.info(&self.cx) }
    }

    /// The number of parts of the data that has arrived out of order, between which data is missing. Each takes memory, whatever
    /// its length: 40 bytes if they are many.
    pub fn parts(&self) -> usize {
        self.rcv.parts()
    }

    /// The outstanding segments, of which a short one counts as one, if losses are detected by time. The work is proportional to
    /// their number.
    pub fn segments(&self) -> Option<Segments> {
        self.snd.segments()
    }

    /// The short segment that the transmission policy held back when [`poll_transmit`](Self::poll_transmit) last
    /// returned `None`. `None` if there is no such segment, or if something other than the policy holds it back.
    pub fn held(&self, now: Time) -> Option<Held> {
        self.snd.held(now)
    }

    /// The largest number of segments in one TSO burst in Linux: the data of one millisecond at the pacing rate, more
    /// on a short path, but at least `least` (`tcp_tso_autosize()`), and at most half of cwnd (`tcp_cwnd_test()`).
    pub fn segments_together(&self, least: u64) -> u64 {
        self.snd.segments_together(&self.cx, least)
    }

    /// Sets the path MTU from the route of the driver. For ICMP messages use
    /// [`handle_packet_too_big`](Self::handle_packet_too_big).
    pub fn set_path_mtu(&mut self, mtu: u32) {
        self.snd.set_path_mtu(&mut self.cx, mtu);
    }

    /// Handles an ICMP "packet too big" message: a packet with this sequence number exceeded the MTU of a link, `mtu`
    /// bytes (RFC 1191; RFC 8201). Returns whether the message is accepted. The segment must be in flight and longer
    /// than `mtu` (RFC 5927, section 4.1 and RFC 8201, section 4). The sender retransmits segments that are too long at
    /// once, without a reaction of congestion control.
    pub fn handle_packet_too_big(&mut self, now: Time, seq: Seq, mtu: u32) -> bool {
        self.snd.hear_too_big(&mut self.cx, now, seq, mtu)
    }

    /// Replaces the configured congestion control with a user-defined one. Call it before the connection is opened.
    pub fn set_congestion(&mut self, own: Box<dyn CongestionControl>) {
        self.snd.set_congestion(&self.cx, own);
    }

    /// Replaces the configured policy for short segments with a user-defined one. Call it before the connection is
    /// opened.
    pub fn set_transmit(&mut self, own: Box<dyn Policy>) {
        self.snd.set_transmit(own);
    }

    /// Replaces the configured RTO estimator with a user-defined one. Call it before the connection is opened.
    pub fn set_rto(&mut self, own: Box<dyn RtoEstimator>) {
        self.snd.set_rto(&self.cx, own);
    }

    /// Whether the last segment that arrived was refused, and the ACK that answers it has not been sent yet.
    pub fn answers_refused(&self) -> bool {
        self.cx.answers_refused()
    }

    /// Whether an arriving acknowledgment number is refused, because that was never sent or is too old. A segment with it is dropped.
    pub fn refuses_ack(&self, ack: Seq) -> bool {
        self.judge_ack(ack) != AckVerdict::Acceptable
    }

    /// The next segment to send. After every other call, call it until it returns `None`.
    #[inline]
    pub fn poll_transmit(&mut self, now: Time) -> Option<Transmission> {
        let mut segment = Segment::default();
        let Departure { reason, .. } = self.transmit_into(now, &mut segment)?;
        Some(Transmission { segment, reason })
    }

    /// The same for a driver that needs fewer instructions. It writes the segment in place and reports whether it is
    /// the last. If it returns a departure, `segment` is overwritten as a whole; otherwise its content is undefined.
    /// Before the call it must hold a segment whose header length is that of its options.
    #[inline]
    pub fn transmit_into(&mut self, now: Time, segment: &mut Segment) -> Option<Departure> {
        self.transmit_ordinary(now, segment)
    }

    /// The same without the fast path. Drivers for which the code size matters more than the time use it.
    pub fn transmit_any(&mut self, now: Time, segment: &mut Segment) -> Option<Departure> {
        if let Some(ready) = self.cx.take_ready() {
            *segment = *ready;
            return Some(Departure { reason: Reason::DuplicateAck, last: false });
        }
        if let Some(reply) = self.cx.take_reply() {
            return Some(Departure { reason: self.send_reply(now, reply, segment), last: false });
        }
        if self.cx.take_bare_answer()
            && let Some(plan) = self.bare_ack()
        {
            return Some(Departure { reason: self.emit(now, plan, segment), last: false });
        }
        if let Some(plan) = self.handshake_ack() {
            return Some(Departure { reason: self.emit(now, plan, segment), last: false });
        }
        let mut decision = self.decide(now);
        if self.shortens_burst(&decision) {
            decision = self.decide_beside_reports(now);
        }
        let (plan, hold) = match decision {
            Decision::Send(plan) | Decision::Short(plan) => (Some(plan), None),
            Decision::Last(plan, why) => (Some(plan), Some(why)),
            Decision::Hold(why) => (None, Some(why)),
        };
        if let Decision::Send(plan) | Decision::Short(plan) = decision {
            // A FIN occupies cwnd, too.
            self.snd.count_run(plan.len.max(u32::from(plan.flags.has(Flags::FIN))));
        }
        // A segment that only SACK blocks make shorter than others is a full one (Linux, `tcp_minshall_update()`).
        let short = matches!(decision, Decision::Short(plan) if plan.len < self.payload_beside_reports());
        let reason = plan.map(|plan| self.emit(now, plan, segment));
        if short {
            self.snd.note_short_segment();
        }
        let hold = hold.or_else(|| self.rests_behind(&plan?));
        debug_assert!(hold.is_none_or(|why| self.decide(now) == Decision::Hold(why)), "{hold:?}");
        if let Some(why) = hold {
            self.cx.end_burst();
            self.snd.rest(&mut self.cx, now, why);
        }
        reason.map(|reason| Departure { reason, last: hold.is_some() })
    }

    /// The reason why nothing follows the segment of a plan that was just sent, if that is certain without another decision.
    #[inline]
    fn rests_behind(&self, plan: &Plan) -> Option<Hold> {
        if plan.flags.has(Flags::SYN) {
            return (!self.cx.is_open_early()).then_some(Hold::NotOpen);
        }
        let rests = self.snd.has_sent_everything() && !matches!(self.rcv.due(), AckDue::Now(_));
        rests.then_some(Hold::NoData)
    }

    /// Decides what to send now, or why nothing. It changes no state.
    #[inline]
    fn decide(&self, now: Time) -> Decision {
        let decision = self.snd.decide(&self.cx, now, self.rcv.is_in_order());
        let Decision::Hold(hold) = decision else { return decision };
        match self.rcv.due() {
            // A closed connection sends no ACKs, although its received data may still be read.
            AckDue::Now(reason) if self.cx.state() != State::Closed => {
                let start = self.snd.ack_position(&self.cx, reason);
                Decision::Last(Plan { start, len: 0, flags: Flags::NONE, reason }, hold)
            }
            AckDue::No | AckDue::Later | AckDue::Now(_) => Decision::Hold(hold),
        }
    }

    /// The same for the first segment of a burst that SACK blocks have just made shorter. If only an ACK leaves, it may take the
    /// report with it, so that another reason holds back what follows: that is decided behind it.
    #[cold]
    fn decide_beside_reports(&mut self, now: Time) -> Decision {
        let decision = self.decide(now);
        let Decision::Last(ack, _) = decision else { return decision };
        self.cx.end_burst();
        Decision::Send(ack)
    }

    /// The ACK that is due, alone.
    #[cold]
    fn bare_ack(&self) -> Option<Plan> {
        let AckDue::Now(reason) = self.rcv.due() else { return None };
        let start = self.snd.ack_position(&self.cx, reason);
        let is_open = self.cx.state() != State::Closed;
        is_open.then_some(Plan { start, len: 0, flags: Flags::NONE, reason })
    }

    /// Stops all timers.
    fn stop_timers(&mut self) {
        self.snd.stop_timers();
        self.rcv.stop_delayed_ack();
        self.cx.set_keep_alive(Time::NEVER);
    }

    /// Closes the connection.
    fn finish(&mut self, now: Time, why: CloseReason) {
        if self.cx.closed.is_none() {
            self.cx.closed = Some(why);
            self.snd.finish();
            self.rcv.finish_acks();
            self.cx.set_keep_alive(Time::NEVER);
            self.cx.enter(now, State::Closed);
            self.cx.note(now, Event::Closed(why));
        }
    }

    /// Closes the connection and sends a reset if the peer has state for it.
    fn give_up(&mut self, now: Time, why: CloseReason) {
        // RFC 9293, sections 3.8.3 and 3.10.8: what has waited too long for an ACK is closed, and no segment is sent.
        // FreeBSD sends a reset (`tcp_drop()`), Linux none (`tcp_write_err()`), but for keep-alives.
        let is_silent = matches!(why, CloseReason::TimedOut | CloseReason::UserTimeout)
            && self.cx.config.gives_up == GivesUp::Silently;
        if !is_silent
            && matches!(
                self.cx.state(),
                State::SynReceived
                    | State::Established
                    | State::FinWait1
                    | State::FinWait2
                    | State::CloseWait
            )
        {
            let position = self.snd.ack_position(&self.cx, Reason::Reset);
            self.cx.reply(Reply::abort(self.snd.space().seq(position), self.rcv.seq(self.rcv.nxt())));
        }
        self.finish(now, why);
    }

    /// Sets the result of the negotiation after both SYN segments.
    fn settle(&mut self, now: Time, peer: &Options) {
        let config = &self.cx.config;
        self.snd.set_peer_mss(peer_offer(config, peer).mss.unwrap_or(config.mss));
        self.cx.agreed = agree(config, peer, self.snd.path_mtu());
        self.snd.begin_mtu_search(&mut self.cx, now);
        let (mss, largest) = (u32::from(self.cx.agreed.mss), self.cx.agreed.largest_window());
        self.rcv.limit_buffer(largest);
        if self.cx.config.round_buffers {
            self.rcv.round_buffer(mss, largest);
        }
        self.rcv.begin_tuning(&self.cx, now);
        self.snd.begin(&self.cx);
    }

    /// Sets the number of RTT samples.
    #[cfg(test)]
    pub(crate) fn set_rtt_samples(&mut self, count: u64) {
        self.cx.stats.rtt_samples = count;
    }
}
