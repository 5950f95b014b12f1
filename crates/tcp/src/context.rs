//! What both halves of a connection share: its configuration, what was negotiated, its state, and what it records.

use crate::config::Config;
use crate::congestion::ecn;
use crate::opening::fast_open;
use crate::opening::negotiate::Agreed;
use crate::opening::reply::Reply;
use crate::opening::state::{CloseReason, State};
use crate::prediction::Prediction;
use crate::record::event::Event;
use crate::record::stats::Stats;
use crate::time::Time;
use std::collections::VecDeque;
use std::sync::Arc;

/// The shared part of a connection. Sender and receiver read it, and record in it.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) config: Arc<Config>,
    state: State,
    /// Opened by [`Connection::listen`](crate::Connection::listen): a reset in SYN-RECEIVED leads back to LISTEN.
    pub(crate) passive: bool,
    pub(crate) agreed: Agreed,
    /// Why it is over, once it is.
    pub(crate) closed: Option<CloseReason>,
    /// What keeps segments from the short way.
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

/// What few connections need. It is allocated on first use.
#[derive(Debug)]
struct Rare {
    /// Counters other than [`Counters`], which stay zero here.
    counters: Stats,
    /// Events not yet taken, if they are recorded.
    log: Option<VecDeque<(Time, Event)>>,
    /// A segment outside the sequence space that is to be sent: a reset.
    reply: Option<Reply>,
    /// Challenge ACKs sent in the second that began at the instant (RFC 5961, section 7).
    challenged: u32,
    challenged_since: Time,
    /// When the next keep-alive probe is due, and how many in a row had no answer.
    keep_alive: Time,
    keep_alives: u8,
    /// State of ECN, if both ends use it.
    ecn: Option<ecn::Memory>,
    /// State of Fast Open, where it is tried.
    fast_open: Option<Box<fast_open::Memory>>,
}

impl Default for Rare {
    fn default() -> Self {
        Self {
            counters: Stats::default(),
            log: None,
            reply: None,
            challenged: 0,
            challenged_since: Time::ZERO,
            keep_alive: Time::NEVER,
            keep_alives: 0,
            ecn: None,
            fast_open: None,
        }
    }
}

/// The connection is in any other state than ESTABLISHED.
const NOT_ESTABLISHED: Prediction = Prediction::bit(0);
/// Both ends use ECN.
const ECN: Prediction = Prediction::bit(1);
/// Events are recorded.
const RECORDING: Prediction = Prediction::bit(2);
/// A reset is to be sent.
const REPLY: Prediction = Prediction::bit(3);
/// Data of our SYN must be sent again.
const SYN_DATA: Prediction = Prediction::bit(4);

impl Context {
    /// A connection in CLOSED with nothing agreed.
    pub(crate) fn new(config: Arc<Config>) -> Self {
        Self {
            state: State::Closed,
            passive: false,
            agreed: Agreed::before_a_syn(&config),
            closed: None,
            unusual: NOT_ESTABLISHED,
            stats: Counters::default(),
            rare: None,
            config,
        }
    }

    fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// The connection returns to LISTEN: what a SYN brought is forgotten. Configuration, counters and recorded events stay.
    pub(crate) fn return_to_listen(&mut self, now: Time) {
        if let Some(rare) = self.rare.take() {
            let Rare { counters, log, reply, fast_open, .. } = *rare;
            let fast_open = fast_open.and_then(|memory| memory.of_a_listener());
            self.rare = Some(Box::new(Rare { counters, log, reply, fast_open, ..Rare::default() }));
        }
        self.agreed = Agreed::before_a_syn(&self.config);
        self.unusual.set(ECN.and(SYN_DATA), false);
        self.enter(now, State::Listen);
    }

    /// Counters of unusual events, to be increased.
    pub(crate) fn counters(&mut self) -> &mut Stats {
        &mut self.rare().counters
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

    /// Starts or stops recording events.
    pub(crate) fn record_events(&mut self, on: bool) {
        if on {
            self.rare().log = Some(VecDeque::new());
        } else if let Some(rare) = &mut self.rare {
            rare.log = None;
        }
        self.unusual.set(RECORDING, on);
    }

    /// The oldest event not yet taken.
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

    /// Whether events are recorded. What only events need is computed only then.
    #[inline]
    pub(crate) fn is_recording(&self) -> bool {
        self.unusual.has(RECORDING)
    }

    /// The state of RFC 9293, figure 5.
    #[inline]
    pub(crate) fn state(&self) -> State {
        self.state
    }

    /// Listens: the next SYN makes it answer.
    pub(crate) fn listen(&mut self) {
        self.state = State::Listen;
        self.passive = true;
    }

    /// Enters a state.
    pub(crate) fn enter(&mut self, now: Time, to: State) {
        let from = core::mem::replace(&mut self.state, to);
        self.unusual.set(NOT_ESTABLISHED, to != State::Established);
        self.note(now, Event::State { from, to });
    }

    /// A reset is to be sent.
    pub(crate) fn reply(&mut self, reply: Reply) {
        self.rare().reply = Some(reply);
        self.unusual.set(REPLY, true);
    }

    /// The reset that is to be sent, once.
    #[inline]
    pub(crate) fn take_reply(&mut self) -> Option<Reply> {
        if !self.unusual.has(REPLY) {
            return None;
        }
        self.unusual.set(REPLY, false);
        self.rare.as_mut()?.reply.take()
    }

    /// Counts a challenge ACK; returns whether the limit per second permits it (RFC 5961, section 7).
    #[cold]
    pub(crate) fn may_challenge(&mut self, now: Time) -> bool {
        let limit = self.config.challenge_acks_per_second;
        let rare = self.rare();
        if rare.challenged == 0 || now - rare.challenged_since >= crate::time::Span::from_secs(1) {
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
        self.rare.as_ref().map_or(Time::NEVER, |rare| rare.keep_alive)
    }

    /// Whether the keep-alive timer runs.
    #[inline]
    pub(crate) fn has_keep_alive(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| !rare.keep_alive.is_never())
    }

    /// Whether nothing unusual has ever happened.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.rare.is_none()
    }

    /// A keep-alive probe is due at `at`.
    pub(crate) fn set_keep_alive(&mut self, at: Time) {
        if !at.is_never() || self.rare.is_some() {
            self.rare().keep_alive = at;
        }
    }

    /// Keep-alive probes in a row without an answer.
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

    /// The same, to be read.
    #[inline]
    pub(crate) fn ecn_state(&self) -> Option<&ecn::Memory> {
        self.rare.as_ref()?.ecn.as_ref()
    }

    /// Both ends use ECN, or do not any more.
    pub(crate) fn set_ecn(&mut self, memory: Option<ecn::Memory>) {
        self.unusual.set(ECN, memory.is_some());
        self.rare().ecn = memory;
    }

    /// State of Fast Open, where it is tried.
    pub(crate) fn fast(&self) -> Option<&fast_open::Memory> {
        self.rare.as_ref()?.fast_open.as_deref()
    }

    /// The same, to be changed.
    pub(crate) fn fast_mut(&mut self) -> Option<&mut fast_open::Memory> {
        self.rare.as_mut()?.fast_open.as_deref_mut()
    }

    /// Fast Open is tried.
    pub(crate) fn set_fast_open(&mut self, memory: Box<fast_open::Memory>) {
        self.rare().fast_open = Some(memory);
    }

    /// Whether a SYN with a valid cookie has opened this connection before its handshake is over.
    pub(crate) fn is_open_early(&self) -> bool {
        self.state == State::SynReceived && self.fast().is_some_and(|memory| memory.open)
    }

    /// Whether this end tried to open with data: data on the SYN of a peer that did so too is left for it to retransmit.
    pub(crate) fn opens_fast(&self) -> bool {
        self.fast().is_some_and(|memory| matches!(memory.side, fast_open::Side::Client(_)))
    }

    /// Our SYN carried data up to `end` that the peer did not take, and that must be sent again; 0 if it took all.
    pub(crate) fn set_syn_data_again(&mut self, end: u64) {
        if let Some(memory) = self.fast_mut() {
            memory.again = end;
        }
        self.unusual.set(SYN_DATA, end > 0);
    }

    /// Whether an arriving segment may take the short way, as far as this is concerned.
    #[inline]
    pub(crate) fn predicts_arrival(&self) -> bool {
        !self.unusual.has(NOT_ESTABLISHED.and(ECN))
    }

    /// Whether a departing one may.
    #[inline]
    pub(crate) fn predicts_departure(&self) -> bool {
        self.unusual.is_empty()
    }

    /// The state without the configuration, for a digest.
    pub(crate) fn without_config(&self) -> impl core::fmt::Debug {
        // Every field is named, so that a new one is not forgotten.
        let Self { config: _, state, passive, agreed, closed, unusual, stats, rare } = self;
        (state, passive, agreed, closed, unusual, stats, rare)
    }

    /// The same without counters, recorded events, the limit of challenge ACKs and the keep-alive timer.
    pub(crate) fn without_counters(&self) -> impl core::fmt::Debug {
        let Self { config: _, state, passive, agreed, closed, unusual, stats: _, rare } = self;
        let rare = rare.as_deref();
        let reply = rare.and_then(|rare| rare.reply.as_ref());
        let ecn = rare.and_then(|rare| rare.ecn.as_ref());
        let fast_open = rare.and_then(|rare| rare.fast_open.as_ref());
        (state, passive, agreed, closed, unusual, reply, ecn, fast_open)
    }

    /// The counters of another, for a test that compares all else.
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
        // At a sample for each of a million ACKs a second, 32 bits are used up after 72 minutes.
        let config = Arc::new(profile::by_name("linux").expect("a built-in profile").config.clone());
        let mut ends = [Connection::new(Arc::clone(&config), Seq(1)), Connection::listen(config, Seq(2))];
        let count = u64::from(u32::MAX);
        ends[0].set_rtt_samples(count);
        ends[0].open(Time::ZERO);
        for (from, to, ms) in [(0, 1, 0), (1, 0, 10)] {
            let now = Time::ZERO + Span::from_ms(ms);
            let out = ends[from].poll_transmit(now).expect("a SYN, or its answer");
            ends[to].handle_segment(now + Span::from_ms(10), &out.segment);
        }
        assert_eq!(ends[0].stats().rtt_samples, count + 1);
        assert_eq!(ends[0].stats().rtt_sum_ns, 20_000_000);
    }
}
