//! What a sender itself knows about why it sends nothing.

use super::apps::Apps;
use super::measures::Measures;
use netspurt_budget::Limit;
use netspurt_tcp::Connection;
use netspurt_tcp::event::Phase;
use netspurt_tcp::reason::Hold;
use netspurt_tcp::state::State;
use netspurt_tcp::time::{Span, Time};

/// Why a sender does not send more at some time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Held {
    /// This limit, independent of what happens later.
    By(Limit),
    /// Pacing, in a congestion window that is nearly full. Where the path is not full either, the window is the limit.
    Paced,
    /// Everything is sent but not acknowledged. What happens later decides between `application` and `round-trip`.
    AllSent,
    /// A short segment is held. What happens later decides: if an ACK releases it, the limit is `nagle-delayed-ack`; if
    /// more data fills it, the `application` was too slow.
    Short,
}

/// A change at some time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Change {
    pub(super) at: Time,
    pub(super) held: Held,
    /// Bytes written so far; an increase ends [`Held::AllSent`].
    pub(super) written: u64,
    /// Bytes acknowledged so far.
    pub(super) acknowledged: u64,
    /// Bytes sent so far.
    pub(super) sent: u64,
}

/// The log of one sender.
#[derive(Debug)]
pub(super) struct SenderLog {
    pub(super) opened: Time,
    pub(super) changes: Vec<Change>,
    /// Waits for a timer that has expired: begin, end, and the limit.
    pub(super) waits: Vec<(Time, Time, Limit)>,
    /// When segments arrived, and what they acknowledged.
    pub(super) acks: Vec<(u64, u64)>,
    /// When data that had arrived in order at the other end was due to be acknowledged, and up to which byte.
    pub(super) arrived: Vec<(u64, u64)>,
    /// When data arrived in order at the other end, whether its ACK was due or not, and up to which byte.
    pub(super) reached: Vec<(u64, u64)>,
    /// When new data was sent, and up to which byte.
    pub(super) departed: Vec<(u64, u64)>,
    /// Since when a policer's drops count, and when cwnd had regained its earlier value.
    pub(super) policed: Vec<(u64, u64)>,
    /// cwnd before the drops that count at present.
    policed_from: Option<u32>,
    /// Whether their repair has begun.
    policed_repaired: bool,
    cwnd: u32,
    /// cwnd before a pause that reduced it, until it has regained that value.
    idle_from: Option<u32>,
    /// When data, SYN or FIN was last acknowledged.
    pub(super) acknowledged_at: Time,
    pub(super) acknowledged: u64,
    /// By the clock of the sender, which may be coarse.
    pub(super) rtt_least: Option<Span>,
    pub(super) measures: Measures,
    /// The counters at the last call.
    segments: (u64, u64),
    timeouts: u32,
    pub(super) retransmitted: u32,
    naks_received: u32,
    rtt_sum_ns: u64,
    /// The largest window of the peer.
    window_most: u64,
    /// When it last sent or received a segment.
    pub(super) active_at: Time,
    /// Whether data was outstanding when it was last served.
    pub(super) outstanding: bool,
    /// Whether data after the first missing byte was reported as received.
    later_arrived: bool,
    /// The limit of the timer recovery in progress.
    repair: Limit,
    /// The segment of a tail loss probe: until this position is acknowledged, it is being repaired.
    probed_until: u64,
    /// The full window or the full send buffer that held the sender last, and until when.
    full: Option<(Time, Limit)>,
    /// Whether it still holds it.
    is_full: bool,
}

impl SenderLog {
    pub(super) const fn new(now: Time) -> Self {
        Self {
            opened: now,
            changes: Vec::new(),
            waits: Vec::new(),
            acks: Vec::new(),
            arrived: Vec::new(),
            reached: Vec::new(),
            departed: Vec::new(),
            policed: Vec::new(),
            policed_from: None,
            policed_repaired: false,
            cwnd: 0,
            idle_from: None,
            acknowledged_at: now,
            acknowledged: 0,
            rtt_least: None,
            measures: Measures::new(),
            segments: (0, 0),
            timeouts: 0,
            retransmitted: 0,
            naks_received: 0,
            rtt_sum_ns: 0,
            window_most: 0,
            active_at: now,
            outstanding: false,
            later_arrived: false,
            repair: Limit::Timeout,
            probed_until: 0,
            full: None,
            is_full: false,
        }
    }

    /// A policer dropped a packet of this sender.
    pub(super) fn policed(&mut self, at: u64) {
        if self.policed_from.is_none() {
            self.policed_repaired = false;
            // If cwnd exceeds its earlier value and soon meets the policer again, the policer limited it all the time.
            match self.policed.last_mut() {
                Some(last) if at.saturating_sub(last.1) <= last.1 - last.0 => last.1 = u64::MAX,
                _ => self.policed.push((at, u64::MAX)),
            }
        }
        self.policed_from = Some(self.policed_from.unwrap_or(0).max(self.cwnd));
    }

    /// The data up to `received` has arrived in order at the other end; `at_once` if it does not delay its ACK.
    pub(super) fn arrives(&mut self, now: Time, received: u64, at_once: bool) {
        note_progress(&mut self.reached, now, received);
        if at_once {
            note_progress(&mut self.arrived, now, received);
        }
    }

    /// What cwnd shows: whether it has regained its value before a policer's drops, and whether a pause reduced it.
    fn follow_cwnd(&mut self, now: Time, connection: &Connection, phase: Phase) {
        let cwnd = connection.cwnd();
        let stats = connection.stats();
        let repairs = matches!(phase, Phase::Recovery | Phase::TimeoutRecovery);
        self.policed_repaired |= repairs;
        if let Some(before) = self.policed_from
            && self.policed_repaired
            && !repairs
            && cwnd >= before
            && let Some(last) = self.policed.last_mut()
        {
            last.1 = last.0.max(now.as_ps());
            self.policed_from = None;
        }
        let undisturbed = stats.retransmitted == self.retransmitted && stats.timeouts == self.timeouts;
        if !undisturbed || repairs || self.idle_from.is_some_and(|before| cwnd >= before) {
            self.idle_from = None;
        } else if cwnd < self.cwnd && self.is_acknowledged() && connection.is_open() {
            self.idle_from = Some(self.idle_from.unwrap_or(0).max(self.cwnd));
        }
        self.cwnd = cwnd;
    }

    /// The sender was served.
    pub(super) fn served(&mut self, now: Time, connection: &Connection, apps: Apps) {
        let (stats, info) = (connection.stats(), connection.info());
        self.follow_cwnd(now, connection, info.phase);
        self.window_most = self.window_most.max(u64::from(connection.peer_window()));
        let outstanding = info.unacknowledged;
        if stats.timeouts > self.timeouts {
            if self.timeouts == 0 || info.phase != Phase::TimeoutRecovery || self.is_outside_timeout() {
                self.repair = if self.later_arrived { Limit::Timeout } else { Limit::TailLoss };
            }
            self.waits.push((self.active_at, now, self.repair));
        } else if stats.retransmitted > self.retransmitted
            // A NAK requests missing data, also in the middle of the transfer (RFC 1106).
            && stats.naks_received == self.naks_received
            && !matches!(info.phase, Phase::Recovery | Phase::TimeoutRecovery)
        {
            self.waits.push((self.active_at, now, Limit::TailLoss));
            self.probed_until = connection.acknowledged() + outstanding;
        }
        if stats.rtt_sum_ns > self.rtt_sum_ns {
            let sample = Span::from_ns(stats.rtt_sum_ns - self.rtt_sum_ns);
            self.rtt_least = Some(self.rtt_least.map_or(sample, |least| least.min(sample)));
        }
        let rtt = self.round_trip(now, connection, info.phase);
        self.measures.note(now, connection, outstanding, rtt);
        let segments = (stats.segments_sent, stats.segments_received);
        if segments.1 != self.segments.1 {
            self.acks.push((now.as_ps(), connection.acknowledged()));
        }
        if segments != self.segments {
            (self.segments, self.active_at) = (segments, now);
        }
        (self.timeouts, self.retransmitted, self.rtt_sum_ns) =
            (stats.timeouts, stats.retransmitted, stats.rtt_sum_ns);
        self.naks_received = stats.naks_received;
        self.later_arrived = info.sacked > 0 || info.dup_acks > 0;
        if connection.acknowledged() > self.acknowledged || !self.is_acknowledged() && outstanding == 0 {
            (self.acknowledged_at, self.acknowledged) = (now, connection.acknowledged());
        }
        self.outstanding = outstanding > 0;
        note_progress(&mut self.departed, now, connection.acknowledged() + outstanding);
        let held = self.held(now, connection, info.phase, outstanding, apps);
        self.follow_full(now, held, connection.holding());
        let written = connection.written();
        if self.changes.last().is_none_or(|last| last.held != held || last.written != written) {
            let acknowledged = connection.acknowledged();
            let sent = acknowledged + outstanding;
            self.changes.push(Change { at: now, held, written, acknowledged, sent });
        }
    }

    /// The round trip that an ACK of new data completes now, by the clock of the simulator. Those of data that was sent again are unknown.
    fn round_trip(&self, now: Time, connection: &Connection, phase: Phase) -> Option<Span> {
        let acknowledged = connection.acknowledged();
        if acknowledged <= self.acknowledged || matches!(phase, Phase::Recovery | Phase::TimeoutRecovery) {
            return None;
        }
        let index = self.departed.partition_point(|departed| departed.1 < acknowledged);
        self.departed.get(index).map(|departed| now.since(Time::from_ps(departed.0)))
    }

    /// Notes until when a full window or a full send buffer held the sender: the present hold, which began now or before.
    fn follow_full(&mut self, now: Time, held: Held, hold: Hold) {
        if let (Some(full), true) = (&mut self.full, self.is_full) {
            full.0 = now;
        }
        self.is_full = false;
        if let Held::By(limit @ (Limit::ReceiveWindow | Limit::SlowReceiver | Limit::SendBuffer)) = held
            && hold != Hold::Pacing
        {
            (self.full, self.is_full) = (Some((now, limit)), true);
        }
    }

    /// What released the data that pacing spreads: the window or the send buffer that held the sender within the last round
    /// trip.
    fn released(&self, now: Time, connection: &Connection) -> Option<Limit> {
        let round = connection.srtt().unwrap_or(Span::ZERO);
        self.full.filter(|(until, _)| now < *until + round).map(|(_, limit)| limit)
    }

    /// Whether the window opens for the first time.
    fn is_opening(connection: &Connection, phase: Phase) -> bool {
        phase == Phase::SlowStart && connection.stats().retransmitted == 0
    }

    /// Whether the last change was not a recovery by timer.
    fn is_outside_timeout(&self) -> bool {
        self.changes
            .last()
            .is_none_or(|last| !matches!(last.held, Held::By(Limit::Timeout | Limit::TailLoss)))
    }

    /// Whether the last change was that everything was acknowledged.
    fn is_acknowledged(&self) -> bool {
        self.changes
            .last()
            .is_none_or(|last| matches!(last.held, Held::By(Limit::Application | Limit::Teardown)))
    }

    /// Why the window is full: only data that the application has not read makes it smaller.
    fn by_window(&self, connection: &Connection, apps: Apps) -> Limit {
        let window = u64::from(connection.peer_window());
        let smaller = window * 20 < self.window_most * 17;
        if smaller || apps.unread * 2 > window { Limit::SlowReceiver } else { Limit::ReceiveWindow }
    }

    fn held(&self, now: Time, connection: &Connection, phase: Phase, outstanding: u64, apps: Apps) -> Held {
        if !connection.is_open() && connection.closed().is_none() && connection.acknowledged() == 0 {
            return Held::By(Limit::Handshake);
        }
        // A FIN that is outstanding is no data.
        if connection.acknowledged() == connection.written() {
            let closing = connection.closed().is_some() || !may_write(connection);
            return Held::By(match (apps.waits_for_credit, closing) {
                (true, _) => Limit::ApplicationWindow,
                (false, true) => Limit::Teardown,
                (false, false) => Limit::Application,
            });
        }
        if phase == Phase::TimeoutRecovery {
            return Held::By(self.repair);
        }
        if connection.acknowledged() < self.probed_until {
            return Held::By(Limit::TailLoss);
        }
        if phase == Phase::Recovery {
            return Held::By(Limit::FastRecovery);
        }
        if connection.unsent() == 0 && apps.waits_for_credit {
            return Held::By(Limit::ApplicationWindow);
        }
        // A writer with more data that does not write waits for room.
        let full = may_write(connection)
            && (apps.waits_for_room || connection.room() < u64::from(connection.segment_payload()));
        if connection.unsent() == 0 {
            return if full { Held::By(Limit::SendBuffer) } else { Held::AllSent };
        }
        Held::By(match connection.holding() {
            Hold::ReceiveWindow | Hold::SillyWindow => self.by_window(connection, apps),
            // The pacing rate grows with the window.
            Hold::Pacing | Hold::CongestionWindow | Hold::SendWindow | Hold::Burst
                if self.idle_from.is_some() =>
            {
                Limit::IdleRestart
            }
            // The pacing rate follows the rate of delivery, which the full window or buffer has set. A larger one would raise
            // both; without pacing the next segments would wait for it longer.
            Hold::Pacing if let Some(limit) = self.released(now, connection) => limit,
            Hold::Pacing if Self::is_opening(connection, phase) => Limit::SlowStart,
            // Without pacing, the window would be full before a quarter of a round trip has passed.
            Hold::Pacing if nearly_full(connection.peer_window(), outstanding) => {
                self.by_window(connection, apps)
            }
            Hold::Pacing if nearly_full(connection.cwnd(), outstanding) => return Held::Paced,
            Hold::Pacing => Limit::Pacing,
            Hold::Nagle | Hold::Minshall | Hold::EndOfData | Hold::Cork | Hold::Own | Hold::Autocork => {
                // The segment is short only because the send buffer has no more room for the application.
                let payload = u64::from(connection.segment_payload());
                if full && outstanding >= 2 * payload {
                    Limit::SendBuffer
                } else {
                    return Held::Short;
                }
            }
            Hold::NotOpen => Limit::Handshake,
            Hold::NoData => return Held::AllSent,
            Hold::CongestionWindow | Hold::SendWindow | Hold::Burst => {
                if Self::is_opening(connection, phase) { Limit::SlowStart } else { Limit::CongestionWindow }
            }
        })
    }
}

/// Notes that a position was reached at `now`, if none so far was.
fn note_progress(log: &mut Vec<(u64, u64)>, now: Time, position: u64) {
    if log.last().is_none_or(|last| last.1 < position) {
        log.push((now.as_ps(), position));
    }
}

/// Whether the rest of the window is less than a quarter of what is outstanding.
fn nearly_full(window: u32, outstanding: u64) -> bool {
    u64::from(window).saturating_sub(outstanding) * 4 < outstanding
}

/// Whether the application may write more: it has not closed.
fn may_write(connection: &Connection) -> bool {
    matches!(connection.state(), State::SynReceived | State::Established | State::CloseWait)
}
