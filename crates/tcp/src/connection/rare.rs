//! What hardly any connection ever needs, kept out of the way of all others.

use crate::opening::handshake::Reply;
use crate::record::event::Event;
use crate::record::stats::Stats;
use crate::time::Time;
use std::collections::VecDeque;

/// Made when first needed.
#[derive(Debug)]
pub(crate) struct Rare {
    /// A segment that stands outside the sequence: a reset.
    pub(crate) reply: Option<Reply>,
    /// SND.UP: position behind urgent data that we send, 0 if none.
    pub(crate) send_urgent: u64,
    /// Position behind the last short segment sent, under the policy that asks for it.
    pub(crate) short_end: u64,
    /// Position behind the data that a policy may hold no longer: uncorked, or kept back up to the ceiling.
    pub(crate) released: u64,
    /// What the delayed-ACK policy remembers, if it is one that does.
    pub(crate) acking: Option<Box<crate::receive::acking::Memory>>,
    /// RCV.UP: position behind urgent data that the peer sends, 0 if none.
    pub(crate) receive_urgent: u64,
    /// Challenge ACKs sent in the second that began at the instant (RFC 5961, section 7).
    pub(crate) challenged: u32,
    pub(crate) challenged_since: Time,
    /// The user's own policy for short segments.
    pub(crate) policy: Option<Box<dyn crate::send::transmit::Policy>>,
    /// When the next keep-alive probe is due, and how many in a row had no answer.
    pub(crate) keep_alive: Time,
    pub(crate) keep_alives: u8,
    /// When the user's patience is over.
    pub(crate) patience: Time,
    /// Path MTU in bytes, 0 if unknown.
    pub(crate) path_mtu: u32,
    /// What probes know of it, where they are sent.
    pub(crate) mtu_search: Option<Box<crate::send::path_mtu::Search>>,
    /// Counters of what is out of the ordinary; those of [`Counters`] stand still.
    pub(crate) counters: Stats,
    /// What is remembered of ECN, if both ends use it.
    pub(crate) ecn: Option<crate::congestion::ecn::Memory>,
    /// Pacing and the measure of deliveries, where either is in use.
    pub(crate) paced: Option<Box<crate::send::paced::Paced>>,
    /// What is remembered of Fast Open, where it is tried.
    pub(crate) fast_open: Option<Box<crate::opening::fast_open::Memory>>,
    /// How the receive window grows, where it does.
    pub(crate) tuning: Option<Box<crate::receive::autotuning::Tuning>>,
    /// The send buffer as it has grown.
    pub(crate) send_buffer: u64,
    /// What limits the sender, where that is measured; and whether a writer waits for room.
    pub(crate) limits: Option<Box<crate::record::limits::Clock>>,
    pub(crate) no_room: bool,
    /// The interface below, where anything depends on it.
    pub(crate) interface: Option<crate::send::tso::Interface>,
    /// When what the pacer or the interface holds back may leave.
    pub(crate) turn: Time,
    /// Events not yet taken, if anybody listens.
    pub(crate) log: Option<VecDeque<(Time, Event)>>,
}

impl Default for Rare {
    fn default() -> Self {
        Self {
            reply: None,
            send_urgent: 0,
            short_end: 0,
            released: 0,
            acking: None,
            receive_urgent: 0,
            policy: None,
            challenged: 0,
            challenged_since: Time::ZERO,
            keep_alive: Time::NEVER,
            keep_alives: 0,
            patience: Time::NEVER,
            path_mtu: 0,
            mtu_search: None,
            counters: Stats::default(),
            ecn: None,
            paced: None,
            fast_open: None,
            tuning: None,
            send_buffer: 0,
            limits: None,
            no_room: false,
            interface: None,
            turn: Time::NEVER,
            log: None,
        }
    }
}

impl Rare {
    /// Nothing of it has a say in what is sent, and nobody listens.
    #[inline]
    pub(crate) fn is_calm(&self) -> bool {
        let plain = self.acking.is_none() && self.log.is_none() && self.ecn.is_none();
        // Who measures limits asks the full procedure when the sender stops.
        let plain = plain && self.limits.is_none() && self.interface.is_none() && self.mtu_search.is_none();
        let repeats = self.fast_open.as_ref().is_some_and(|memory| memory.again > 0);
        plain && self.paced.is_none() && self.reply.is_none() && self.send_urgent == 0 && !repeats
    }

    /// Nothing of it has a say in what an ordinary segment means.
    #[inline]
    pub(crate) fn predicts(&self) -> bool {
        self.ecn.is_none() && self.paced.is_none() && self.mtu_search.is_none()
    }

    /// What is left of it as a connection goes back to LISTEN: what the driver has chosen, and what was counted and recorded.
    pub(crate) fn as_listener(self) -> Self {
        let Self { reply, policy, path_mtu, counters, fast_open, limits, log, .. } = self;
        let fast_open = fast_open.and_then(|memory| memory.as_listener());
        Self { reply, policy, path_mtu, counters, fast_open, limits, log, ..Self::default() }
    }

    /// The earliest of its deadlines.
    pub(crate) fn deadline(&self) -> Time {
        self.keep_alive.min(self.patience).min(self.turn)
    }
}

/// Counters that every connection moves.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counters {
    pub(crate) segments_sent: u64,
    pub(crate) segments_received: u64,
    pub(crate) rtt_samples: u64,
    pub(crate) rtt_sum_ns: u64,
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
        ends[0].stats.rtt_samples = count;
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
