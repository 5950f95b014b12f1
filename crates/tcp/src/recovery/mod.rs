//! Loss recovery: which data is retransmitted, and when. Congestion control is separate: the sender passes each loss to it.
//!
//! `LossRecovery` owns the state. `send/ack/` and `send/timers/` report events to it and carry out its verdicts. The rules
//! of each kind are pure functions, one file for each kind: they read the state and return a verdict. `by_time` has what
//! the times of transmissions show.

mod by_time;
mod counted;
mod departures;
mod flight;
pub(crate) mod nak;
mod newreno;
pub(crate) mod prr;
mod rack;
mod reno;
pub mod rto;
mod sack;
pub(crate) mod scoreboard;
pub(crate) mod spurious;
mod state;
mod tahoe;
pub(crate) mod tail_probe;

pub(crate) use by_time::{Calm, Occasion, Timeout, Whole};
pub(crate) use departures::Concluded;
pub(crate) use flight::{Parts, Sent};
pub(crate) use state::{DupAck, Joins, OnDupAck, OnNewAck, Phase, Resend};

use crate::config::{DupAcks, Recovery};
use crate::ranges::{Range, RangeSet};
use crate::record::reason::Reason;
use crate::time::Time;
use departures::Log;
use flight::Timed;
use scoreboard::Scoreboard;
use state::{Loss, LossState};

/// The loss recovery of a sender.
#[derive(Debug, Default)]
pub(crate) struct LossRecovery {
    /// Losses and signs of losses.
    loss: Loss,
    /// The log of transmissions, if a mechanism needs the times of all of them, and the timed segment, for a sender that times one
    /// at a time.
    log: Log,
}

/// Queries.
impl LossRecovery {
    /// Whether nothing is lost, there is no sign of a loss, and no recent recovery can be confused with a new one.
    #[inline]
    pub(crate) fn is_quiet(&self) -> bool {
        self.loss.is_quiet()
    }

    #[inline]
    pub(crate) fn phase(&self) -> Phase {
        self.loss.phase
    }

    /// Duplicate ACKs in a row.
    #[inline]
    pub(crate) fn dup_acks(&self) -> u32 {
        self.loss.dup_acks
    }

    /// Bytes by which duplicate ACKs widen the window.
    #[inline]
    pub(crate) fn inflation(&self) -> u32 {
        self.loss.inflation
    }

    /// The end of the data that was outstanding when the last loss was detected.
    pub(crate) fn recover(&self) -> u64 {
        self.loss.recover
    }

    /// The data that is sent next regardless of windows.
    pub(crate) fn resend(&self) -> Option<Resend> {
        self.loss.resend
    }

    /// The SACK scoreboard, if the peer has reported anything.
    #[inline]
    pub(crate) fn scoreboard(&self) -> Option<&Scoreboard> {
        self.loss.scoreboard.as_ref()
    }

    /// What the peer reported by SACK.
    pub(crate) fn reported(&self) -> &RangeSet {
        self.loss.reported()
    }

    /// Bytes that the peer reported by SACK.
    #[inline]
    pub(crate) fn sacked(&self) -> u64 {
        self.loss.sacked()
    }

    /// Bytes within `range` that the peer reported by SACK.
    pub(crate) fn sacked_within(&self, range: Range) -> u64 {
        self.loss.sacked_within(range)
    }

    /// The segment that is timed, for the RTT sample of its ACK.
    #[inline]
    pub(crate) fn timed(&self) -> &Timed {
        self.log.timed()
    }
}

/// Prefetching.
impl LossRecovery {
    /// Reads a field of each cache line of the state of losses: see [`crate::Connection::fetch_losses`].
    #[inline]
    pub(crate) fn fetch(&self) -> u64 {
        let LossState { resend, scoreboard, dup_acks, .. } = &*self.loss;
        let middle = scoreboard.as_ref().map_or(0, Scoreboard::fetch);
        resend.map_or(0, |next| next.start) ^ middle ^ u64::from(*dup_acks)
    }
}

/// Verdicts.
impl LossRecovery {
    /// Applies the rule of the configured kind to a duplicate ACK.
    pub(crate) fn on_dup_ack(&self, kind: Recovery, beside_naks: DupAcks, fact: DupAck) -> OnDupAck {
        match kind {
            Recovery::Timeout => OnDupAck::Nothing,
            Recovery::Tahoe => tahoe::on_dup_ack(fact),
            Recovery::Reno => reno::on_dup_ack(&self.loss, fact),
            Recovery::NewReno => newreno::on_dup_ack(&self.loss, fact),
            Recovery::Sack if self.loss.scoreboard.is_some() => sack::on_dup_ack(&self.loss, fact),
            Recovery::Rack if fact.by_time => OnDupAck::Nothing,
            Recovery::Sack | Recovery::Rack => newreno::on_dup_ack(&self.loss, fact),
            Recovery::Nak => match beside_naks {
                DupAcks::Ignored if fact.peer_sends_naks => OnDupAck::Nothing,
                DupAcks::Ignored | DupAcks::Counted => tahoe::on_dup_ack(fact),
            },
        }
    }

    /// Applies the rule of the configured kind to an ACK of everything below `una`.
    pub(crate) fn on_new_ack(&self, kind: Recovery, una: u64) -> OnNewAck {
        match (self.loss.phase, kind) {
            (Phase::Open, _) => OnNewAck::Ordinary,
            (Phase::Loss, _) if self.counts_dup_acks() => counted::on_new_ack_after_timeout(&self.loss, una),
            (Phase::Loss, _) => self.loss.on_new_ack_after_timeout(una),
            (Phase::Fast, _) if self.counts_dup_acks() => counted::on_new_ack(&self.loss, una),
            (Phase::Fast, Recovery::Reno) => reno::on_new_ack(),
            (Phase::Fast, _) => newreno::on_new_ack(&self.loss, una),
        }
    }
}

/// Events.
impl LossRecovery {
    /// The connection has ended: forgets all losses.
    pub(crate) fn finish(&mut self) {
        self.loss = Loss::default();
    }

    /// Times the first transmission of data up to `end`, if no segment is being timed.
    #[inline]
    pub(crate) fn time_segment(&mut self, now: Time, end: u64) {
        if let Some(timed) = self.log.timed_mut() {
            timed.send(now, end);
        }
    }

    /// The same, unless [`Self::log_calmly`] has timed it.
    #[inline(always)]
    pub(crate) fn time_unlogged(&mut self, now: Time, end: u64) {
        if let Log::Off(timed) = &mut self.log {
            timed.send(now, end);
        }
    }

    /// The timed segment gives no sample: it was retransmitted (Karn's rule), or its sample was taken.
    #[inline]
    pub(crate) fn forget_timed(&mut self) {
        if let Some(timed) = self.log.timed_mut() {
            timed.forget();
        }
    }

    /// Counts a duplicate ACK. Returns the number of them in a row.
    pub(crate) fn note_dup_ack(&mut self) -> u32 {
        let loss = self.loss.trouble();
        loss.dup_acks += 1;
        loss.dup_acks
    }

    /// The duplicate ACKs in a row have ended.
    #[inline]
    pub(crate) fn forget_dup_acks(&mut self) {
        if let Some(loss) = self.loss.known() {
            loss.dup_acks = 0;
        }
    }

    /// A partial ACK. Returns whether it is the first of this recovery.
    pub(crate) fn note_partial_ack(&mut self) -> bool {
        !core::mem::replace(&mut self.loss.trouble().partial_seen, true)
    }

    /// Widens the window by `bytes` that have left the network.
    pub(crate) fn inflate(&mut self, bytes: u32) {
        let loss = self.loss.trouble();
        loss.inflation = loss.inflation.saturating_add(bytes);
    }

    /// A partial ACK deflates the window by what it acknowledges, and adds back `back` bytes.
    pub(crate) fn deflate(&mut self, bytes: u32, back: u32) {
        let loss = self.loss.trouble();
        loss.inflation = loss.inflation.saturating_sub(bytes).saturating_add(back);
    }

    /// A loss is detected without a timeout. `max` is SND.MAX.
    pub(crate) fn enter(&mut self, phase: Phase, max: u64) {
        let loss = self.loss.trouble();
        (loss.phase, loss.recover, loss.reduces_until) = (phase, max, 0);
        (loss.partial_seen, loss.inflation) = (false, 0);
    }

    /// The scoreboard decides what is retransmitted in this recovery. Returns false if there is none.
    pub(crate) fn begin_by_scoreboard(&mut self, una: u64) -> bool {
        let Some(board) = &mut self.loss.trouble().scoreboard else { return false };
        board.begin(una);
        true
    }

    /// All outstanding data is retransmitted in order, after a timeout or because it was too long for the path.
    pub(crate) fn go_back(&mut self, max: u64) {
        let loss = self.loss.trouble();
        (loss.phase, loss.recover, loss.reduces_until) = (Phase::Loss, max, 0);
        (loss.dup_acks, loss.inflation) = (0, 0);
        loss.resend = None;
    }

    /// After a timeout, reports of the peer are kept, except if it may have discarded the reported data (RFC 2018, section
    /// 8): if it reported the byte at `una`, which it does not acknowledge. Where duplicate ACKs reveal losses, a second
    /// timeout in a row (`is_repeated`) raises the same doubt. Loss detection by time keeps the reports, as Linux does
    /// (`tcp_timeout_mark_lost()`). Returns whether they were forgotten.
    pub(crate) fn doubt_reports(&mut self, una: u64, is_repeated: bool) -> bool {
        let is_repeated = is_repeated && !self.is_by_time();
        let Some(board) = &mut self.loss.trouble().scoreboard else { return false };
        let reneged = board.reported().first().is_some_and(|range| range.start <= una);
        if is_repeated || reneged {
            board.forget()
        } else {
            board.start_over()
        }
        is_repeated || reneged
    }

    /// No outstanding data counts as retransmitted.
    pub(crate) fn forget_retransmissions(&mut self) {
        if let Some(board) = &mut self.loss.trouble().scoreboard {
            board.start_over();
        }
    }

    /// Recovery has ended with an ACK.
    pub(crate) fn leave(&mut self) {
        let trouble = self.loss.trouble();
        let is_fast = trouble.phase == Phase::Fast;
        // A recovery that has continued the reduction for a mark ends it, too.
        if is_fast {
            trouble.reduces_until = 0;
        }
        trouble.leave();
        self.end_by_time(is_fast);
    }

    /// The data that was outstanding when recovery began ends at `max` from now on.
    pub(crate) fn extend(&mut self, max: u64) {
        self.loss.trouble().recover = max;
    }

    /// `range` is sent next, regardless of windows.
    pub(crate) fn send_next(&mut self, range: Range, reason: Reason) {
        self.loss.trouble().resend = Resend::new(range, reason);
    }

    /// Nothing is sent regardless of windows.
    pub(crate) fn cancel_next(&mut self) {
        self.loss.trouble().resend = None;
    }

    /// `range` is retransmitted; a full segment has `mss` bytes. `by_scoreboard`: the scoreboard has chosen it, in fast recovery.
    pub(crate) fn note_resent(&mut self, range: Range, reason: Reason, by_scoreboard: bool, mss: u32) {
        let by_time = self.is_by_time();
        let Some(loss) = self.loss.known() else { return };
        if let Some(resend) = loss.resend
            && resend.start == range.start
        {
            // SACK blocks may have made a segment shorter. Where losses are detected by time, the windows permit the rest or
            // not (`tcp_retransmit_skb()`).
            let was_cut = by_time && resend.len <= mss;
            loss.resend = resend.rest(range.end).filter(|_| !was_cut);
        }
        if loss.phase == Phase::Fast
            && by_scoreboard
            && let Some(board) = &mut loss.scoreboard
        {
            board.resent(range, reason);
        }
    }

    /// Whether a reported range can be added if at most `most` disjoint ranges are kept.
    pub(crate) fn has_room_for(&self, range: Range, most: usize) -> bool {
        self.scoreboard().is_none_or(|board| board.has_room_for(range, most))
    }

    /// The peer reports `range`. Returns whether it contains new data.
    pub(crate) fn report(&mut self, range: Range) -> bool {
        if let Some(rack) = self.rack_mut() {
            rack.report(range);
        }
        self.loss.trouble().scoreboard.get_or_insert_default().report(range)
    }

    /// New reports have been added: computes what is lost by RFC 6675. The data ends at `data_end`.
    pub(crate) fn update_scoreboard(&mut self, threshold: u32, mss: u32, data_end: u64) {
        if let Some(board) = &mut self.loss.trouble().scoreboard {
            board.update_loss(threshold, mss, data_end);
        }
    }

    /// Everything below `una` is acknowledged.
    #[inline]
    pub(crate) fn advance(&mut self, una: u64) {
        if let Some(loss) = self.loss.known() {
            loss.advance(una);
        }
        if let Some(departures) = self.log.used_mut() {
            departures.acknowledge(una);
        }
        if self.loss.has_short {
            self.note_whether_short();
        }
    }

    /// Recovery has processed an ACK of everything below `una`. Removes state that is no longer needed.
    #[inline]
    pub(crate) fn settle(&mut self, una: u64) {
        self.loss.settle(una);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::fetch::reach_every_line;
    use core::mem::offset_of;

    #[test]
    fn the_state_of_losses_is_prefetched_as_a_whole() {
        let middle = offset_of!(LossState, scoreboard) + Scoreboard::FETCHED;
        let fetched = [offset_of!(LossState, resend), middle, offset_of!(LossState, dup_acks)];
        assert!(reach_every_line(size_of::<LossState>(), &fetched), "{fetched:?}");
    }
}
