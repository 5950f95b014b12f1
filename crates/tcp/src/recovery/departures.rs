//! The log of transmissions with what is inferred from it. It exists if losses are detected by time, or if delivery rates are
//! measured. An end that sends no data has none after the handshake: many connections send data in one direction only.

use super::counted::Counted;
use super::flight::{Flight, LeastRtt, Timed};
use super::rack::Rack;
use super::tail_probe::Answer;
use crate::time::Span;

/// The log of transmissions, and what is inferred from it.
#[derive(Debug)]
pub(super) struct Departures {
    pub(super) flight: Flight,
    /// The minimum RTT.
    pub(super) least: LeastRtt,
    /// The timed segment.
    pub(super) timed: Timed,
    /// The state of loss detection by time, if it is used.
    pub(super) rack: Option<Rack>,
}

impl Departures {
    const fn new(least: LeastRtt, rack: Option<Rack>) -> Self {
        Self { flight: Flight::new(), least, timed: Timed::NONE, rack }
    }

    /// Everything below `una` is acknowledged.
    #[inline]
    pub(super) fn acknowledge(&mut self, una: u64) {
        self.flight.forget_below(una);
        if let Some(rack) = &mut self.rack {
            rack.acknowledge(una);
        }
    }
}

/// What the log of a connection serves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Purpose {
    /// Delivery rates only.
    Rates,
    /// Losses are detected by time.
    ByTime,
    /// The same; duplicate ACKs count as reports, because there is no SACK.
    ByCount,
}

impl Purpose {
    const fn rack(self) -> Option<Rack> {
        match self {
            Self::Rates => None,
            Self::ByTime => Some(Rack::new(None)),
            Self::ByCount => Some(Rack::new(Some(Counted::NONE))),
        }
    }
}

/// What a log without an entry reads as, for each purpose.
static EMPTY: [Departures; 3] = [
    Departures::new(LeastRtt::NONE, Purpose::Rates.rack()),
    Departures::new(LeastRtt::NONE, Purpose::ByTime.rack()),
    Departures::new(LeastRtt::NONE, Purpose::ByCount.rack()),
];

/// The log of a sender, if it has one, and its timed segment.
#[derive(Debug)]
pub(super) enum Log {
    /// No mechanism needs a log.
    Off(Timed),
    /// Nothing is logged: no data was sent yet, or none will be sent any more. The minimum RTT is kept.
    Empty(Purpose, LeastRtt),
    Used(Box<Departures>),
}

impl Default for Log {
    fn default() -> Self {
        Self::Off(Timed::NONE)
    }
}

impl Log {
    /// Transmissions are logged from now on.
    pub(super) fn begin(&mut self, purpose: Purpose) {
        match self {
            Self::Off(timed) => {
                let timed = *timed;
                *self = Self::Used(Box::new(Departures {
                    timed,
                    ..Departures::new(LeastRtt::NONE, purpose.rack())
                }));
            }
            Self::Empty(..) => {}
            Self::Used(departures) => departures.rack = departures.rack.take().or(purpose.rack()),
        }
    }

    /// The handshake is over. Frees the memory of the log if it has nothing but an RTT of the handshake.
    #[cold]
    pub(super) fn release_unless_used(&mut self) {
        if let Self::Used(departures) = self
            && let Some(rack) = &departures.rack
            && rack.rtt() == departures.least.get().unwrap_or(Span::ZERO)
        {
            self.release_memory();
        }
    }

    /// Frees the memory that outstanding segments do not need, and all of it if none is outstanding and there was no loss.
    #[cold]
    pub(super) fn release_memory(&mut self) {
        let Self::Used(departures) = self else { return };
        departures.flight.release_memory();
        if let Some(rack) = &departures.rack
            && departures.flight.len() == 0
            && rack.has_no_losses()
        {
            let purpose = if rack.counted.is_none() { Purpose::ByTime } else { Purpose::ByCount };
            *self = Self::Empty(purpose, departures.least);
        }
    }

    /// The log, if there is one. An empty one reads as a new one; its minimum RTT is that of [`Self::least`].
    #[inline]
    pub(super) fn read(&self) -> Option<&Departures> {
        match self {
            Self::Used(departures) => Some(departures),
            Self::Empty(purpose, _) => Some(&EMPTY[*purpose as usize]),
            Self::Off(_) => None,
        }
    }

    /// The log, if it is not empty.
    #[inline]
    pub(super) fn used(&self) -> Option<&Departures> {
        if let Self::Used(departures) = self { Some(departures) } else { None }
    }

    /// The same for a change that has no effect on an empty log.
    #[inline]
    pub(super) fn used_mut(&mut self) -> Option<&mut Departures> {
        if let Self::Used(departures) = self { Some(departures) } else { None }
    }

    /// The log for an entry, or for a change that an empty log must not miss.
    #[inline]
    pub(super) fn change(&mut self) -> Option<&mut Departures> {
        if let Self::Empty(purpose, least) = *self {
            self.fill(purpose, least);
        }
        self.used_mut()
    }

    /// Whether losses are detected by time.
    #[inline]
    pub(super) fn is_by_time(&self) -> bool {
        match self {
            Self::Used(departures) => departures.rack.is_some(),
            Self::Off(_) => false,
            Self::Empty(purpose, _) => *purpose != Purpose::Rates,
        }
    }

    #[cold]
    fn fill(&mut self, purpose: Purpose, least: LeastRtt) {
        let mut departures = Departures::new(least, purpose.rack());
        if let Some(rack) = &mut departures.rack {
            rack.begin(least.get().unwrap_or(Span::ZERO));
        }
        *self = Self::Used(Box::new(departures));
    }

    /// The minimum RTT, if there is a log.
    #[inline]
    pub(super) fn least(&self) -> Option<Span> {
        match self {
            Self::Used(departures) => departures.least.get(),
            Self::Empty(_, least) => least.get(),
            Self::Off(_) => None,
        }
    }

    /// The segment that is timed.
    #[inline]
    pub(super) fn timed(&self) -> &Timed {
        match self {
            Self::Off(timed) => timed,
            Self::Used(departures) => &departures.timed,
            Self::Empty(..) => &Timed::NONE,
        }
    }

    /// The same for a change.
    #[inline]
    pub(super) fn timed_mut(&mut self) -> Option<&mut Timed> {
        match self {
            Self::Off(timed) => Some(timed),
            Self::Used(departures) => Some(&mut departures.timed),
            Self::Empty(..) => None,
        }
    }
}

/// What an ACK shows once its reports are processed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Concluded {
    /// Bytes that it is the first to report as delivered.
    pub(crate) delivered: u64,
    /// What it shows about a tail loss probe.
    pub(crate) answer: Answer,
}

#[cfg(test)]
mod tests {
    use crate::ranges::Range;
    use crate::recovery::LossRecovery;
    use crate::recovery::departures::Log;
    use crate::time::{Span, Time};

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// After a handshake with an RTT of 40 ms.
    fn opened() -> LossRecovery {
        let mut recovery = LossRecovery::default();
        recovery.begin_by_time();
        recovery.note_first_round_trip(at(40), Span::from_ms(40));
        recovery.release_handshake();
        recovery
    }

    #[test]
    fn an_end_that_sends_no_data_keeps_of_its_log_only_the_minimum_rtt() {
        let recovery = opened();
        assert!(matches!(recovery.log, Log::Empty(..)), "{recovery:?}");
        assert!(recovery.is_by_time() && recovery.is_logging() && recovery.is_calm());
        assert_eq!(recovery.least_rtt(), Some(Span::from_ms(40)));
        assert_eq!((recovery.latest_rtt(), recovery.first_sent()), (None, None));
        assert_eq!(recovery.pipe(1, 1, 0), Some(0));
        assert_eq!(recovery.delivered(), Some(0));
        assert_eq!(recovery.reordering_deadline(), Time::NEVER);
    }

    #[test]
    fn the_first_transmission_brings_the_log_back_with_the_rtt_of_the_handshake() {
        let mut recovery = opened();
        recovery.note_first_transmission(at(100), 1, 1001);
        recovery.set_timeout(at(300));
        let Log::Used(departures) = &recovery.log else { panic!("{recovery:?}") };
        assert_eq!(departures.rack.as_ref().map(|rack| rack.rtt()), Some(Span::from_ms(40)));
        assert_eq!(recovery.timeout_beside_probe(2001), Some((true, at(300))));
        assert_eq!(recovery.first_sent(), Some(at(100)));
        recovery.release_handshake();
        assert_eq!(recovery.first_sent(), Some(at(100)), "outstanding data keeps it");
        recovery.note_delivery(at(130), Range::new(1, 1001), |_| true);
        recovery.advance(1001);
        assert_eq!(recovery.latest_rtt(), Some(Span::from_ms(30)));
    }

    #[test]
    fn memory_is_freed_when_nothing_is_outstanding_except_after_a_loss() {
        let mut recovery = opened();
        recovery.note_first_transmission(at(100), 1, 1001);
        recovery.advance(1001);
        recovery.release_memory();
        assert!(matches!(recovery.log, Log::Empty(..)), "{recovery:?}");
        recovery.note_first_transmission(at(200), 1001, 2001);
        recovery.log_again(at(500), Range::new(1001, 2001));
        recovery.advance(2001);
        recovery.release_memory();
        assert!(matches!(recovery.log, Log::Used(_)), "{recovery:?}");
    }
}
