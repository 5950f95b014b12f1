//! State that sender and receiver share: configuration, negotiated options, connection state, counters and events.

use crate::config::Config;
use crate::congestion::ecn;
use crate::opening::fast_open;
use crate::opening::negotiate::Agreed;
use crate::opening::reply::Reply;
use crate::opening::state::{CloseReason, State};
use crate::prediction::Prediction;
use crate::record::event::Event;
use crate::record::stats::Stats;
use crate::time::{Span, Time};
use crate::wire::segment::Segment;
use std::collections::VecDeque;
use std::sync::Arc;

/// The shared part of a connection. Sender and receiver read it and record counters and events in it.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) config: Arc<Config>,
    state: State,
    /// The connection was opened by [`Connection::listen`](crate::Connection::listen). A reset in SYN-RECEIVED returns
    /// it to LISTEN.
    pub(crate) passive: bool,
    pub(crate) agreed: Agreed,
    /// Why the connection is closed; `None` while it is not.
    pub(crate) closed: Option<CloseReason>,
    /// The conditions that exclude the fast path.
    unusual: Prediction,
    pub(crate) stats: Counters,
    rare: Option<Box<Rare>>,
}

/// Counters that every connection updates.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counters {
    pub(crate) segments_sent: u64,
    pub(crate) segments_received: u64,
    pub(crate) rtt_samples: u64,
    pub(crate) rtt_sum_ns: u64,
}

/// State that few connections need. It is allocated on first use.
#[derive(Debug)]
struct Rare {
    /// All counters except those of [`Counters`], which stay zero here.
    counters: Stats,
    /// Recorded events that the driver has not fetched; `None` if events are not recorded.
    log: Option<VecDeque<(Time, Event)>>,
    /// A reset that waits for transmission.
    reply: Option<Reply>,
    /// An ACK that waits for transmission, before all else.
    ready: Option<Box<Segment>>,
    /// Challenge ACKs sent in the present interval of one second, and its start (RFC 5961, section 7).
    challenged: u32,
    challenged_since: Time,
    /// When the last ACK answered an invalid segment, if that is limited.
    answered_invalid: Option<Time>,
    /// Payload bytes of a full segment of the present burst, if they are fewer than of others.
    burst_payload: u32,
    /// When the next keep-alive probe is due, and the number of consecutive unanswered probes.
    keep_alive: Time,
    keep_alives: u8,
    /// State of ECN, if both ends use it.
    ecn: Option<ecn::Memory>,
    /// State of Fast Open, if it is in use.
    fast_open: Option<Box<fast_open::Memory>>,
}

impl Default for Rare {
    fn default() -> Self {
        Self {
            counters: Stats::default(),
            log: None,
            reply: None,
            ready: None,
            challenged: 0,
            challenged_since: Time::ZERO,
            answered_invalid: None,
            burst_payload: 0,
            keep_alive: Time::NEVER,
            keep_alives: 0,
            ecn: None,
            fast_open: None,
        }
    }
}

/// The connection is in neither of ESTABLISHED and FIN-WAIT-1. The sender knows which of them it is: `CLOSING`.
const OTHER_STATE: Prediction = Prediction::bit(0);
/// Both ends use ECN.
const ECN: Prediction = Prediction::bit(1);
/// Events are recorded.
const RECORDING: Prediction = Prediction::bit(2);
/// A reset waits for transmission.
const REPLY: Prediction = Prediction::bit(3);
/// Data of our SYN must be retransmitted.
const SYN_DATA: Prediction = Prediction::bit(4);
/// The next ACK answers a segment that was refused, and carries no data.
const BARE_ACK: Prediction = Prediction::bit(5);
/// The keep-alive timer runs. It excludes answers and runs only.
const KEEP_ALIVE: Prediction = Prediction::bit(6);
/// The segments of the present burst are shorter than others.
const SHORT_BURST: Prediction = Prediction::bit(7);

impl Context {
    /// Payload bytes that the MSS that we announced permits the peer, less the timestamps that both use.
    pub(crate) fn announced_payload(&self) -> u32 {
        // The option with its padding (RFC 7323, appendix A).
        u32::from(self.config.mss).saturating_sub(if self.agreed.timestamps { 12 } else { 0 })
    }

    /// The first window. Only a server knows whether segments carry timestamps.
    pub(crate) fn first_window(&self) -> u32 {
        let segment = if self.passive { self.announced_payload() } else { u32::from(self.config.mss) };
        self.config.first_window(segment)
    }

    /// What is accepted behind the peer's SYN: what ours announces, or in Linux all of the first window, which later segments
    /// announce.
    pub(crate) fn accepted_window(&self) -> u32 {
        let counts_memory = self.config.counts_received_memory();
        let most = if counts_memory { self.agreed.largest_window() } else { self.agreed.syn_window() };
        most.min(self.first_window())
    }

    /// A connection in CLOSED, before any negotiation.
    pub(crate) fn new(config: Arc<Config>) -> Self {
        Self {
            state: State::Closed,
            passive: false,
            agreed: Agreed::before_syn(&config),
            closed: None,
            unusual: OTHER_STATE,
            stats: Counters::default(),
            rare: None,
            config,
        }
    }

    fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// Returns to LISTEN and discards all that the last SYN set. Configuration, counters and recorded events stay.
    pub(crate) fn return_to_listen(&mut self, now: Time) {
        if let Some(rare) = self.rare.take() {
            let Rare { counters, log, reply, ready, fast_open, .. } = *rare;
            let fast_open = fast_open.and_then(|memory| memory.for_listener());
            self.rare = Some(Box::new(Rare { counters, log, reply, ready, fast_open, ..Rare::default() }));
        }
        self.agreed = Agreed::before_syn(&self.config);
        self.unusual.set(ECN.and(SYN_DATA).and(KEEP_ALIVE), false);
        self.enter(now, State::Listen);
    }

    /// The counters of rare events, for updates.
    pub(crate) fn counters(&mut self) -> &mut Stats {
        &mut self.rare().counters
    }

    /// Reads the counters of losses: see [`crate::Connection::fetch_losses`].
    #[inline]
    pub(crate) fn fetch_counters(&self) -> u64 {
        let Some(rare) = self.rare.as_deref() else { return 0 };
        let Stats { retransmitted, dup_acks_received, .. } = rare.counters;
        u64::from(retransmitted ^ dup_acks_received)
    }

    /// All counters.
    pub(crate) fn all_counters(&self) -> Stats {
        let usual = self.stats;
        Stats {
            segments_sent: usual.segments_sent,
            segments_received: usual.segments_received,
            rtt_samples: usual.rtt_samples,
            rtt_sum_ns: usual.rtt_sum_ns,
            ..self.rare.as_ref().map(|rare| rare.counters).unwrap_or_default()
        }
    }

    /// Of the counters, those of segments sent again and of timeouts.
    #[inline]
    pub(crate) fn repairs(&self) -> [u32; 2] {
        self.rare.as_ref().map_or([0; 2], |rare| [rare.counters.retransmitted, rare.counters.timeouts])
    }

    /// Starts or stops recording events.
    pub(crate) fn record_events(&mut self, on: bool) {
        if on {
            self.rare().log = Some(VecDeque::new());
        } else if let Some(rare) = &mut self.rare {
            rare.log = None;
        }
        self.unusual.set(RECORDING, on);
    }

    /// Removes and returns the oldest recorded event.
    pub(crate) fn poll_event(&mut self) -> Option<(Time, Event)> {
        self.rare.as_mut()?.log.as_mut()?.pop_front()
    }

    /// Records an event if events are recorded.
    #[inline]
    pub(crate) fn note(&mut self, now: Time, event: Event) {
        if self.is_recording()
            && let Some(rare) = &mut self.rare
            && let Some(log) = &mut rare.log
        {
            log.push_back((now, event));
        }
    }

    /// Whether events are recorded. Callers compute values that only events need only if it is true.
    #[inline]
    pub(crate) fn is_recording(&self) -> bool {
        self.unusual.has(RECORDING)
    }

    /// The state of RFC 9293, figure 5.
    #[inline]
    pub(crate) fn state(&self) -> State {
        self.state
    }

    /// Enters LISTEN and waits for a SYN.
    pub(crate) fn listen(&mut self) {
        self.state = State::Listen;
        self.passive = true;
    }

    /// Enters `to` and records the change.
    pub(crate) fn enter(&mut self, now: Time, to: State) {
        let from = core::mem::replace(&mut self.state, to);
        self.unusual.set(OTHER_STATE, !matches!(to, State::Established | State::FinWait1));
        self.note(now, Event::State { from, to });
    }

    /// A reset waits for transmission.
    pub(crate) fn reply(&mut self, reply: Reply) {
        self.rare().reply = Some(reply);
        self.unusual.set(REPLY, true);
    }

    /// Removes and returns the reset that waits for transmission.
    #[inline]
    pub(crate) fn take_reply(&mut self) -> Option<Reply> {
        if !self.unusual.has(REPLY) {
            return None;
        }
        self.unusual.set(REPLY, false);
        self.rare.as_mut()?.reply.take()
    }

    /// An ACK that is complete leaves before all else.
    #[cold]
    pub(crate) fn send_first(&mut self, ack: Segment) {
        self.rare().ready = Some(Box::new(ack));
        self.unusual.set(REPLY, true);
    }

    /// Removes and returns the ACK that leaves before all else.
    #[inline]
    pub(crate) fn take_ready(&mut self) -> Option<Box<Segment>> {
        if !self.unusual.has(REPLY) {
            return None;
        }
        let rare = self.rare.as_mut()?;
        let ready = rare.ready.take();
        let waits = rare.reply.is_some();
        self.unusual.set(REPLY, waits);
        ready
    }

    /// Whether one waits.
    pub(crate) fn has_ready(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.ready.is_some())
    }

    /// The ACK that is due answers a refused segment. Linux sends it at once and without data (`tcp_send_dupack()`,
    /// `tcp_send_challenge_ack()`).
    #[cold]
    pub(crate) fn answer_bare(&mut self) {
        self.unusual.set(BARE_ACK, self.config.answers_bare());
    }

    /// Whether an ACK that carries no data is due.
    pub(crate) fn answers_refused(&self) -> bool {
        self.unusual.has(BARE_ACK)
    }

    /// Whether the ACK that is due carries no data; the next one does again.
    #[inline]
    pub(crate) fn take_bare_answer(&mut self) -> bool {
        let bare = self.unusual.has(BARE_ACK);
        if bare {
            self.unusual.set(BARE_ACK, false);
        }
        bare
    }

    /// SACK blocks leave only `payload` bytes in the first segment of a burst, and the others of it are not longer.
    #[cold]
    pub(crate) fn begin_short_burst(&mut self, payload: u32) {
        self.rare().burst_payload = payload;
        self.unusual.set(SHORT_BURST, true);
    }

    /// Whether the segments of the present burst are shorter than others.
    #[inline]
    pub(crate) fn is_short_burst(&self) -> bool {
        self.unusual.has(SHORT_BURST)
    }

    /// The present burst is over.
    #[inline]
    pub(crate) fn end_burst(&mut self) {
        self.unusual.set(SHORT_BURST, false);
    }

    /// Payload bytes of a full segment of the present burst.
    #[inline]
    pub(crate) fn burst_payload(&self) -> u32 {
        let full = u32::from(self.agreed.payload);
        if !self.is_short_burst() {
            return full;
        }
        self.rare.as_deref().map_or(full, |rare| rare.burst_payload.min(full))
    }

    /// Whether an invalid segment may be answered now. If so, the next interval begins (Linux,
    /// `tcp_oow_rate_limited()`).
    #[cold]
    pub(crate) fn may_answer_invalid(&mut self, now: Time) -> bool {
        let interval = self.config.invalid_ratelimit;
        if interval == Span::ZERO {
            return true;
        }
        let last = &mut self.rare().answered_invalid;
        let permitted = last.is_none_or(|last| now - last >= interval);
        if permitted {
            *last = Some(now);
        }
        permitted
    }

    /// When an invalid segment was last answered.
    pub(crate) fn answered_invalid(&self) -> Option<Time> {
        self.rare.as_ref()?.answered_invalid
    }

    /// The limit of answers to invalid segments counts from `last`. Those of a TIME-WAIT socket of Linux count anew
    /// (`tcp_time_wait()`).
    #[cold]
    pub(crate) fn set_answered_invalid(&mut self, last: Option<Time>) {
        if last != self.answered_invalid() {
            self.rare().answered_invalid = last;
        }
    }

    /// Counts a challenge ACK; returns whether both limits permit it (RFC 5961, section 7).
    #[cold]
    pub(crate) fn may_challenge(&mut self, now: Time) -> bool {
        if !self.may_answer_invalid(now) {
            return false;
        }
        let limit = self.config.challenge_acks_per_second;
        let rare = self.rare();
        if rare.challenged == 0 || now - rare.challenged_since >= Span::from_secs(1) {
            rare.challenged_since = now;
            rare.challenged = 0;
        }
        let permitted = rare.challenged < limit;
        if permitted {
            rare.challenged += 1;
            rare.counters.challenge_acks += 1;
        }
        permitted
    }

    /// When the next keep-alive probe is due; [`Time::NEVER`] if none is.
    #[inline]
    pub(crate) fn keep_alive(&self) -> Time {
        // The rare state is elsewhere in memory: it is not read while the timer does not run.
        let rare = self.rare.as_ref().filter(|_| self.has_keep_alive());
        rare.map_or(Time::NEVER, |rare| rare.keep_alive)
    }

    /// Whether the keep-alive timer runs.
    #[inline]
    pub(crate) fn has_keep_alive(&self) -> bool {
        self.unusual.has(KEEP_ALIVE)
    }

    /// Sets the time of the next keep-alive probe.
    pub(crate) fn set_keep_alive(&mut self, at: Time) {
        if !at.is_never() || self.has_keep_alive() {
            self.rare().keep_alive = at;
            self.unusual.set(KEEP_ALIVE, !at.is_never());
        }
    }

    /// The number of consecutive unanswered keep-alive probes.
    pub(crate) fn keep_alives(&mut self) -> &mut u8 {
        &mut self.rare().keep_alives
    }

    /// State of ECN, if both ends use it.
    #[inline]
    pub(crate) fn ecn(&mut self) -> Option<&mut ecn::Memory> {
        if !self.unusual.has(ECN) {
            return None;
        }
        self.rare.as_mut()?.ecn.as_mut()
    }

    /// The same for reading.
    #[inline]
    pub(crate) fn ecn_state(&self) -> Option<&ecn::Memory> {
        self.rare.as_ref().filter(|_| self.unusual.has(ECN))?.ecn.as_ref()
    }

    /// Turns ECN on or off.
    pub(crate) fn set_ecn(&mut self, memory: Option<ecn::Memory>) {
        self.unusual.set(ECN, memory.is_some());
        self.rare().ecn = memory;
    }

    /// State of Fast Open, if it is in use.
    pub(crate) fn fast_open(&self) -> Option<&fast_open::Memory> {
        self.rare.as_ref()?.fast_open.as_deref()
    }

    /// The same for changes.
    pub(crate) fn fast_open_mut(&mut self) -> Option<&mut fast_open::Memory> {
        self.rare.as_mut()?.fast_open.as_deref_mut()
    }

    /// Starts to use Fast Open.
    pub(crate) fn set_fast_open(&mut self, memory: Box<fast_open::Memory>) {
        self.rare().fast_open = Some(memory);
    }

    /// Whether a SYN with a valid cookie has opened this connection before the end of its handshake.
    pub(crate) fn is_open_early(&self) -> bool {
        self.state == State::SynReceived && self.fast_open().is_some_and(|memory| memory.open)
    }

    /// Whether this end sent a Fast Open SYN. If the peer did so too, data on the peer's SYN is not accepted; the peer
    /// retransmits it.
    pub(crate) fn is_fast_open_client(&self) -> bool {
        self.fast_open().is_some_and(|memory| matches!(memory.side, fast_open::Side::Client(_)))
    }

    /// The end of the data of our SYN that must be retransmitted; 0 if there is none.
    #[inline]
    pub(crate) fn syn_data_to_retransmit(&self) -> u64 {
        // The rare state is elsewhere in memory: it is not read while there is none.
        let memory = if self.unusual.has(SYN_DATA) { self.fast_open() } else { None };
        memory.map_or(0, |memory| memory.retransmit_until)
    }

    /// Sets the end of the data of our SYN that the peer did not accept and that must be retransmitted; 0 if there is
    /// none.
    pub(crate) fn set_syn_data_to_retransmit(&mut self, end: u64) {
        if let Some(memory) = self.fast_open_mut() {
            memory.retransmit_until = end;
        }
        self.unusual.set(SYN_DATA, end > 0);
    }

    /// Whether the shared state permits the fast path for an arriving segment.
    #[inline]
    pub(crate) fn predicts_arrival(&self) -> bool {
        !self.unusual.has(OTHER_STATE.and(ECN))
    }

    /// The same for a connection whose packets may be marked.
    #[inline]
    pub(crate) fn predicts_measured_arrival(&self) -> bool {
        !self.unusual.has(OTHER_STATE)
    }

    /// Whether congestion marks are echoed by flags alone, or there are none.
    #[inline]
    fn echoes_by_flags(&self) -> bool {
        self.ecn_state().is_none_or(|memory| memory.accurate_state().is_none())
    }

    /// Whether ECN is in use.
    #[inline]
    pub(crate) fn has_ecn(&self) -> bool {
        self.unusual.has(ECN)
    }

    /// Whether the shared state permits the fast path for a departing segment.
    #[inline]
    pub(crate) fn predicts_departure(&self) -> bool {
        self.unusual.without(KEEP_ALIVE).is_empty()
    }

    /// The same for a connection whose packets may be marked, if flags echo the marks.
    #[inline]
    pub(crate) fn predicts_measured_departure(&self) -> bool {
        self.unusual.without(KEEP_ALIVE.and(ECN)).is_empty() && self.echoes_by_flags()
    }

    /// Whether the shared state permits answers and runs.
    #[inline]
    pub(crate) fn predicts_answer(&self) -> bool {
        self.unusual.is_empty()
    }

    /// The state without the configuration, for a digest.
    pub(crate) fn without_config(&self) -> impl core::fmt::Debug {
        // Every field is named, so that a new one is not forgotten.
        let Self { config: _, state, passive, agreed, closed, unusual, stats, rare } = self;
        (state, passive, agreed, closed, unusual, stats, rare)
    }

    /// The same without counters, recorded events, the limits of challenge ACKs and the keep-alive timer.
    pub(crate) fn without_counters(&self) -> impl core::fmt::Debug {
        let Self { config: _, state, passive, agreed, closed, unusual, stats: _, rare } = self;
        // The first belongs to the ACK that is due, which may change. Nothing else reads it.
        let unusual = unusual.without(BARE_ACK.and(KEEP_ALIVE));
        let rare = rare.as_deref();
        let reply = rare.and_then(|rare| rare.reply.as_ref());
        let ecn = rare.and_then(|rare| rare.ecn.as_ref());
        let fast_open = rare.and_then(|rare| rare.fast_open.as_ref());
        (state, passive, agreed, closed, unusual, reply, ecn, fast_open)
    }

    /// Copies the counters of `other`, for a test that compares everything else.
    #[cfg(test)]
    pub(crate) fn take_counters_of(&mut self, other: &mut Self) {
        self.stats = other.stats;
        self.rare().counters = other.rare().counters;
    }
}

#[cfg(test)]
mod tests {
    use crate::Connection;
    use crate::config::profile;
    use crate::time::{Span, Time};
    use crate::wire::seq::Seq;
    use std::sync::Arc;

    #[test]
    fn more_than_two_to_the_32_samples_are_counted() {
        // With a million RTT samples per second, a 32-bit counter overflows after 72 minutes.
        let config = Arc::new(profile::by_name("linux").expect("a built-in profile").config.clone());
        let mut ends = [Connection::new(Arc::clone(&config), Seq(1)), Connection::listen(config, Seq(2))];
        let count = u64::from(u32::MAX);
        ends[0].set_rtt_samples(count);
        ends[0].open(Time::ZERO);
        for (from, to, ms) in [(0, 1, 0), (1, 0, 10)] {
            let now = Time::ZERO + Span::from_ms(ms);
            let out = ends[from].poll_transmit(now).expect("a SYN or a SYN-ACK");
            ends[to].handle_segment(now + Span::from_ms(10), &out.segment);
        }
        assert_eq!(ends[0].stats().rtt_samples, count + 1);
        assert_eq!(ends[0].stats().rtt_sum_ns, 20_000_000);
    }
}
