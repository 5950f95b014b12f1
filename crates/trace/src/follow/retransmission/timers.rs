//! Whether a timer of the sender caused a retransmission: what only a timer sends again, and what no timer can have sent yet.

use super::cause::Cause;
use super::evidence::{Evidence, Phase};
use super::times::{BUSY, plus};
use netspurt_tcp::time::Span;

/// Retransmission timers are longer (RFC 6298 has 1 s, Linux 200 ms).
pub(in crate::follow) const LEAST_TIMER: Span = Span::from_ms(150);

/// Whether no timer of a usual sender can have expired for it by now: it was sent too short a time ago.
///
/// The clock of the sender shows that time, if it has timestamps; else a queue may have held the earlier transmission, and so the
/// time is longer than it seems. Of a segment that was not captured before, only a later one is known: it may be a round trip
/// older than that. What follows an expired timer follows at once.
pub(super) fn is_too_soon_for_timer(e: &Evidence) -> bool {
    let (smoothed, least) = (e.behind.smoothed(), e.behind.least());
    let queue = Span::from_ps(smoothed.as_ps().saturating_sub(least.as_ps()));
    let older = if e.unseen { plus(e.ahead.smoothed(), smoothed) } else { Span::ZERO };
    let sent = e.by_clock.or(e.after.map(|after| plus(after, queue)));
    let soon = sent.is_some_and(|sent| plus(sent, older) < LEAST_TIMER);
    soon && e.phase != Phase::Timeout && !e.opening
}

/// The timer that sent it again if nothing else can have. `timer` says whether a retransmission timer can have expired, and
/// `numbered` whether it is no copy.
pub(super) fn only_timer(e: &Evidence, timer: bool, numbered: bool) -> Option<Cause> {
    let unasked = e.unasked && e.arrived && !e.last && e.phase == Phase::Open;
    if unasked || timer && needs_timer(e) {
        return Some(Cause::Timeout);
    }
    (numbered && !timer && is_probe(e)).then_some(Cause::TailProbe)
}

/// Whether the last segment is sent again although nothing is reported lost. Only a timer does that, and the shortest one is that
/// of a tail loss probe (RFC 8985, section 7).
fn is_probe(e: &Evidence) -> bool {
    let reported = e.dup_acks > 0 || e.reported_above > 0 || e.lately || e.known_for.is_some() || e.asked;
    e.phase == Phase::Open && e.last && !e.unseen && !reported
}

/// Whether the sender has known of the loss for so long that it will not react to the report. Some react once per
/// window only (RFC 6582, section 4) and then wait for the timer, whatever the number of duplicate ACKs. Duplicate ACKs permit
/// no new data, so such a sender is silent. One that was sending until now waits for no timer: its queue is long.
pub(super) fn is_overdue(e: &Evidence) -> bool {
    let round = plus(e.ahead.smoothed(), e.behind.smoothed());
    let reaction = plus(e.behind.smoothed(), round.max(BUSY));
    let silent = e.idle > BUSY;
    e.phase == Phase::Open && e.first && silent && e.known_for.is_some_and(|known_for| known_for > reaction)
}

/// Whether nothing but a timer can have made the sender retransmit this segment during recovery: the retransmission of the
/// first missing one was lost, or one that was repaired before is sent again.
///
/// During recovery, segments are retransmitted in the order of their positions (RFC 6675, section 4, NextSeg). RACK notices the
/// loss of a retransmission when one that was sent later is delivered (RFC 8985, section 6.2), so it responds to ACKs, which
/// come without pause, within about a round trip. Without RACK, the timer expires later and after a silence.
fn needs_timer(e: &Evidence) -> bool {
    if e.phase != Phase::Fast || !e.sacks || !e.first || e.lately && e.arrived {
        return false;
    }
    if e.again {
        let overtaken = e.overtaken.map(|overtaken| overtaken.known_for);
        if !e.arrived {
            return overtaken.is_none();
        }
        // It has arrived now, but the sender did not know.
        let waited = e.left_after.is_some_and(|left_after| left_after >= LEAST_TIMER);
        return waited && overtaken.is_none_or(|known_for| known_for < e.behind.least());
    }
    let round = plus(e.ahead.smoothed(), e.behind.smoothed());
    let longest = LEAST_TIMER.max(round.scale(3, 2));
    let silent = e.idle > BUSY.max(round.scale(1, 8));
    // What is remembered was not sent again before.
    let waited = || silent && e.by_clock.or(e.after).is_some_and(|sent| sent >= LEAST_TIMER);
    let arrived = e.arrived && (e.after.is_none() || waited());
    e.passed.is_some_and(|passed| arrived || e.unseen && silent && passed > longest)
}
