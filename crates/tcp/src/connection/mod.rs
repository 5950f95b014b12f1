//! [`Connection`]: what an application and a network see of TCP.
//!
//! The connection owns the sender, the receiver and what they share, and wires them: a segment's steps, the handshake, the
//! calls of the application, deadlines.

pub(crate) mod calls;
mod deadline;
mod digest;
mod ecn;
mod fast_open;
mod handshake;
mod input;
mod output;
#[cfg(test)]
mod pairs;
mod prediction;
mod sizes;
pub(crate) mod socket_options;
pub mod syn_cookie;
mod time_wait;

use crate::config::Config;
use crate::congestion::CongestionControl;
use crate::context::Context;
use crate::opening::negotiate::{agree, believed};
use crate::opening::reply::Reply;
use crate::opening::state::{CloseReason, State};
use crate::receive::receiver::{AckDue, Receiver};
use crate::record::event::Event;
use crate::record::info::Info;
use crate::record::limits::Limits;
use crate::record::reason::{Held, Hold, Reason};
use crate::record::stats::Stats;
use crate::recovery::rto::RtoEstimator;
use crate::send::Sender;
use crate::send::space::{Decision, Plan};
use crate::send::transmit::Policy;
use crate::time::{Span, Time};
use crate::wire::options::Options;
use crate::wire::segment::{Flags, Segment};
use crate::wire::seq::Seq;
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
    /// What both halves share.
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

    /// A connection in LISTEN: the next SYN makes it answer. A driver makes one for each SYN to a listening port.
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

    /// Why it is over, once it is.
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

    /// Stream bytes received in order.
    #[inline]
    pub fn received(&self) -> u64 {
        self.rcv.received()
    }

    /// Counters.
    pub fn stats(&self) -> Stats {
        self.cx.all_counters()
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

    /// Bytes in the network as far as the sender can tell.
    pub fn flight(&self) -> u32 {
        self.snd.in_network(&self.cx) as u32
    }

    /// Whether a segment that began at this sequence number may still be on its way: what an ICMP message must be about
    /// to be believed (RFC 5927, section 4.1).
    pub fn has_outstanding(&self, seq: Seq) -> bool {
        self.snd.has_outstanding(seq)
    }

    /// The peer's window in bytes.
    pub fn peer_window(&self) -> u32 {
        self.snd.space().wnd()
    }

    /// Payload bytes of a full segment.
    pub fn segment_payload(&self) -> u32 {
        u32::from(self.cx.agreed.payload)
    }

    /// Smoothed round-trip time, once there is one.
    pub fn srtt(&self) -> Option<Span> {
        self.snd.srtt(&self.cx)
    }

    /// The retransmission timeout in force, backoff included.
    pub fn rto(&self) -> Span {
        self.snd.timeout()
    }

    /// Starts or stops recording events. What a connection does is the same either way.
    pub fn record_events(&mut self, on: bool) {
        self.cx.record_events(on);
    }

    /// The oldest event not yet taken.
    pub fn poll_event(&mut self) -> Option<(Time, Event)> {
        self.cx.poll_event()
    }

    /// Starts or stops measuring what limits the sender. What a connection does is the same either way.
    pub fn measure_limits(&mut self, now: Time, on: bool) {
        self.snd.measure_limits(now, on);
    }

    /// For how long each limit has held, if that is measured.
    pub fn limits(&self, now: Time) -> Option<Limits> {
        self.snd.limits(now)
    }

    /// The application has found no room for what it wants to write, and waits.
    pub fn note_no_room(&mut self) {
        self.snd.note_no_room();
    }

    /// A look at the state, in the terms of Linux's TCP_INFO where it has one.
    pub fn info(&self) -> Info {
        self.snd.info(&self.cx)
    }

    /// The short segment that the transmission policy holds back, as it stood when
    /// [`poll_transmit`](Self::poll_transmit) last returned `None`; `None` if nothing is held, or if something other than the
    /// policy holds it.
    pub fn held(&self, now: Time) -> Option<Held> {
        self.snd.held(now)
    }

    /// How many segments Linux hands over together at most, and at least `least` where that is more than the path's share:
    /// what it would send in a millisecond if it were paced, more on a short path (`tcp_tso_autosize()`), but no more than
    /// half of cwnd (`tcp_cwnd_test()`).
    pub fn segments_together(&self, least: u64) -> u64 {
        self.snd.segments_together(&self.cx, least)
    }

    /// The path MTU has become known, or has changed: what a driver knows of a route. A message from the network goes to
    /// [`hear_too_big`](Self::hear_too_big).
    pub fn set_path_mtu(&mut self, mtu: u32) {
        self.snd.set_path_mtu(&mut self.cx, mtu);
    }

    /// A router reports that a packet with this sequence number was longer than the next link takes, which is `mtu` bytes
    /// (RFC 1191; RFC 8201). Returns whether it is believed: the segment must be under way, and longer than that (RFC 5927,
    /// section 4.1 and RFC 8201, section 4). What was too long leaves again at once; congestion control is not involved.
    pub fn hear_too_big(&mut self, now: Time, seq: Seq, mtu: u32) -> bool {
        self.snd.hear_too_big(&mut self.cx, now, seq, mtu)
    }

    /// Puts the user's own congestion control in place of the configured one; before the connection is opened.
    pub fn set_congestion(&mut self, own: Box<dyn CongestionControl>) {
        self.snd.set_congestion(&self.cx, own);
    }

    /// Puts the user's own policy for short segments in place of the configured one; before the connection is opened.
    pub fn set_transmit(&mut self, own: Box<dyn Policy>) {
        self.snd.set_transmit(own);
    }

    /// Puts the user's own estimator of the retransmission timeout in place of the configured one; before the connection is
    /// opened.
    pub fn set_rto(&mut self, own: Box<dyn RtoEstimator>) {
        self.snd.set_rto(&self.cx, own);
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
        if let Some(reply) = self.cx.take_reply() {
            return Some(Departure { reason: self.send_reply(now, reply, segment), last: false });
        }
        if let Some(plan) = self.handshake_ack() {
            return Some(Departure { reason: self.emit(now, plan, segment), last: false });
        }
        let decision = self.decide(now);
        let (plan, hold) = match decision {
            Decision::Send(plan) | Decision::Short(plan) => (Some(plan), None),
            Decision::Last(plan, why) => (Some(plan), Some(why)),
            Decision::Hold(why) => (None, Some(why)),
        };
        if let Decision::Send(plan) = decision {
            self.snd.count_run(plan.len);
        }
        let reason = plan.map(|plan| self.emit(now, plan, segment));
        if let Decision::Short(_) = decision {
            self.snd.note_short_segment();
        }
        if let Some(why) = hold {
            self.snd.rest(&mut self.cx, now, why);
        }
        reason.map(|reason| Departure { reason, last: hold.is_some() })
    }

    /// What to send now, or why nothing: a pure decision.
    #[inline]
    fn decide(&self, now: Time) -> Decision {
        let decision = self.snd.decide(&self.cx, now, self.rcv.is_in_order());
        let Decision::Hold(hold) = decision else { return decision };
        match self.rcv.due() {
            // What is over says nothing more, though what it has received may still be read.
            AckDue::Now(reason) if self.cx.state() != State::Closed => {
                let start = self.snd.ack_position(reason);
                Decision::Last(Plan { start, len: 0, flags: Flags::NONE, reason }, hold)
            }
            AckDue::No | AckDue::Later | AckDue::Now(_) => Decision::Hold(hold),
        }
    }

    /// No timer runs any more.
    fn stop_timers(&mut self) {
        self.snd.stop_timers();
        self.rcv.stop_delayed_ack();
        self.cx.set_keep_alive(Time::NEVER);
    }

    /// The connection is over.
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

    /// The connection is over, and a reset goes to the peer if it knows of the connection.
    fn give_up(&mut self, now: Time, why: CloseReason) {
        if matches!(
            self.cx.state(),
            State::SynReceived | State::Established | State::FinWait1 | State::FinWait2 | State::CloseWait
        ) {
            let position = self.snd.ack_position(Reason::Reset);
            self.cx.reply(Reply::abort(self.snd.space().seq(position), self.rcv.seq(self.rcv.nxt())));
        }
        self.finish(now, why);
    }

    /// Both SYN segments are known: settles what holds.
    fn settle(&mut self, now: Time, heard: &Options) {
        let config = &self.cx.config;
        self.snd.set_peer_mss(believed(config, heard).mss.unwrap_or(config.mss));
        self.cx.agreed = agree(config, heard, self.snd.path_mtu());
        self.snd.begin_mtu_search(&mut self.cx, now);
        let (payload, largest) = (u32::from(self.cx.agreed.payload), self.cx.agreed.largest_window());
        self.rcv.limit_buffer(largest);
        if self.cx.config.round_buffers {
            self.rcv.round_buffer(payload, largest);
        }
        self.rcv.begin_tuning(&self.cx, now);
        self.snd.begin(&self.cx);
    }

    /// So many round-trip samples have been taken.
    #[cfg(test)]
    pub(crate) fn set_rtt_samples(&mut self, count: u64) {
        self.cx.stats.rtt_samples = count;
    }
}
