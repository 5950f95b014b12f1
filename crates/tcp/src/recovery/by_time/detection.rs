//! When losses are looked for, and what is found.

use crate::recovery::departures::Departures;
use crate::recovery::rack::Found;
use crate::recovery::{LossRecovery, Phase};
use crate::time::{Span, Time};

/// What makes the sender look for losses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Occasion {
    Ack,
    ReorderingTimer,
}

impl Occasion {
    /// Whether what was `found` begins a recovery of a revealed loss within that of a timeout. With an ACK, only the loss of a
    /// retransmission does (`FLAG_LOST_RETRANS` in `tcp_fastretrans_alert()`), with the timer any (`tcp_rack_reo_timeout()`).
    fn ends_timeout(self, found: Found) -> bool {
        match self {
            Self::Ack => found.again,
            Self::ReorderingTimer => found.any,
        }
    }
}

impl LossRecovery {
    /// Marks lost segments. `enough`: reported bytes that make the loss of a segment likely. `as_linux`: a reordering timer that
    /// runs, or is due, goes on if nothing waits for it any more (`tcp_rack_mark_lost()`), and the recovery of a timeout may become one of a revealed loss.
    /// `in_ticks` rounds a wait to the clock of the timer. Returns whether any segment was marked, and whether a recovery must
    /// begin.
    pub(crate) fn detect(
        &mut self,
        (now, occasion): (Time, Occasion),
        una: u64,
        srtt: Option<Span>,
        (enough, as_linux): (u64, bool),
        in_ticks: impl Fn(Span) -> Span,
    ) -> (bool, bool) {
        let Self { log, loss } = self;
        let Some(departures) = log.used_mut() else { return (false, false) };
        let Departures { flight, least, rack: Some(rack), .. } = departures else { return (false, false) };
        // The scoreboard counts bytes (RFC 6675); Linux compares packets (`tcp_rack_reo_wnd()`).
        let in_packets = !rack.short.is_empty() && loss.sacked() + rack.short.reported() >= enough;
        let first = in_packets || loss.scoreboard.as_ref().is_some_and(|board| board.is_lost(una));
        let window = rack.repairs.reordering.window(*least, first || loss.phase != Phase::Open, srtt);
        let running = if as_linux { rack.deadline } else { Time::NEVER };
        // An ACK that ends a recovery and delivers nothing does not look at the time (`tcp_rack_mark_lost()`).
        let mut found = Found::default();
        if !as_linux || rack.advanced || occasion == Occasion::ReorderingTimer {
            found = rack.detect(flight, now, window, loss.reported());
            rack.deadline =
                if rack.deadline.is_never() { running } else { now + in_ticks(rack.deadline - now) };
        }
        let unrepaired = rack.take_unrepaired(loss.reported());
        let begins = match loss.phase {
            Phase::Open => found.any || unrepaired,
            Phase::Loss => as_linux && occasion.ends_timeout(found),
            Phase::Fast => false,
        };
        (found.any, begins)
    }

    /// The reports of an ACK are known, and losses will be looked for: a D-SACK among them may widen the reordering window.
    pub(crate) fn widen_reordering_window(&mut self, now: Time) {
        if let Some(rack) = self.rack_mut()
            && let Some(newest) = rack.take_delivered_newest()
            && let Some(repairs) = rack.repairs.known()
        {
            repairs.reordering.widen_by(now, newest);
        }
    }

    /// Whether the present ACK has ended a recovery.
    pub(crate) fn has_ended(&self) -> bool {
        self.rack().is_some_and(|rack| rack.ended)
    }

    /// Whether any ACK may show a loss: in a recovery or a reduction, at its end, or while data was reported, lost or sent again at
    /// the ACK before. Otherwise Linux looks for losses only if an ACK is not a usual one (`tcp_ack_is_dubious()`).
    pub(crate) fn awaits_trouble(&self) -> bool {
        let is_disordered = self.rack().is_some_and(|rack| rack.disordered || rack.ended);
        self.loss.phase != Phase::Open || self.is_reducing() || is_disordered
    }

    /// Whether an ACK was examined for losses. If so, notes whether any data is reported, lost or sent again, outside a recovery
    /// (`tcp_try_keep_open()`).
    pub(crate) fn note_disorder(&mut self, looked: bool) {
        let in_disorder = || {
            self.sacked() > 0
                || self.lost() > 0
                || self.resent() > 0
                || self.counts_dup_acks() && self.dup_acks() > 0
        };
        let disordered = looked && self.loss.phase == Phase::Open && in_disorder();
        let keeps = looked && self.loss.phase != Phase::Open;
        let rack = if disordered { self.rack_for_change() } else { self.rack_mut() };
        if let Some(rack) = rack {
            rack.disordered = disordered || keeps && rack.disordered;
            rack.advanced &= looked;
        }
    }

    /// Whether losses may have to be looked for: something was delivered since the last time.
    pub(crate) fn has_advanced(&self) -> bool {
        self.rack().is_some_and(|rack| rack.advanced)
    }
}
