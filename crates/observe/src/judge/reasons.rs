//! Why segments were retransmitted: what the capture shows, compared with the sender's own reasons.

use netspurt_sim::record::probe::{Dropped, End, Recording, Sent};
use netspurt_tcp::reason::Reason;
use netspurt_tcp::segment::{Flags, Segment};
use netspurt_tcp::seq::Seq;
use netspurt_trace::Side;
use netspurt_trace::follow::{Cause, ConnectionId, Endpoints, Event, Happened, Seen, Watch};
use std::collections::{BTreeMap, VecDeque};

/// How many segments with data had each pair of a true and a found cause; `None` for those that were not sent again, or not
/// recognized. Segments without either are not counted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reasons {
    pairs: BTreeMap<(Option<Cause>, Option<Cause>), u64>,
    /// Retransmitted segments that look like new data in the capture: their originals were lost before it, and
    /// so was everything that was sent between.
    hidden: u64,
}

impl Reasons {
    /// The true cause, the found one, and how many.
    pub fn pairs(&self) -> impl Iterator<Item = (Option<Cause>, Option<Cause>, u64)> + '_ {
        self.pairs.iter().map(|(&(truth, found), &count)| (truth, found, count))
    }

    /// Retransmissions that nothing in the capture shows.
    pub const fn hidden(&self) -> u64 {
        self.hidden
    }

    /// Retransmissions that the capture can show.
    pub fn visible(&self) -> u64 {
        self.pairs().filter(|(truth, _, _)| truth.is_some()).map(|(_, _, count)| count).sum()
    }

    /// How many were counted, and how many of them have the right cause.
    pub fn right(&self) -> (u64, u64) {
        let right = self.pairs().filter(|(truth, found, _)| truth == found).map(|(_, _, count)| count).sum();
        (self.pairs.values().sum(), right)
    }

    pub(super) fn add(&mut self, other: &Self) {
        for (&pair, count) in &other.pairs {
            *self.pairs.entry(pair).or_default() += count;
        }
        self.hidden += other.hidden;
    }
}

/// The port of the first connection that the first flow opens.
const PORT: u16 = 1024;

/// A segment: where it begins in the sequence space, and its length.
type Piece = (u32, u32);

/// A transmission: its timestamp, if it has one, and why it was a retransmission.
type Transmission = (Option<u32>, Option<Cause>);

/// The causes of retransmissions in one direction of the first flow, as its sender knows them.
#[derive(Debug)]
pub(super) struct Truth {
    /// For each segment, its transmissions in the order in which they left; those that pass the capture.
    causes: BTreeMap<Piece, VecDeque<Transmission>>,
}

impl Truth {
    /// `dropped_too` if the capture lies before all queues and sees packets that are dropped later.
    pub(super) fn of(recording: &Recording, end: End, dropped_too: bool) -> Self {
        let of_flow = |flow, connection| (flow, connection) == (0, 0);
        let mut sent: BTreeMap<Piece, Vec<(u64, Transmission)>> = BTreeMap::new();
        let mut acknowledged = None;
        for one in recording.segments.iter().filter(|one| of_flow(one.flow, one.connection)) {
            if one.end != end {
                note_ack(&mut acknowledged, one);
            } else if one.segment.payload.len > 0 {
                let alone = acknowledged == Some(one.segment.seq);
                let stamp = stamp(&one.segment);
                sent.entry(piece(one))
                    .or_default()
                    .push((one.time.as_ps(), (stamp, cause(one.reason, alone))));
            }
        }
        if !dropped_too {
            let mine = |drop: &&Dropped| of_flow(drop.flow, drop.connection) && drop.end == end;
            for drop in recording.drops.iter().filter(mine) {
                let (seq, len) = (drop.segment.seq.0, drop.segment.payload.len);
                let Some(all) = sent.get_mut(&(seq, len)) else { continue };
                let latest = all.iter().rposition(|(at, _)| *at <= drop.time.as_ps());
                latest.map(|index| all.remove(index));
            }
        }
        let causes =
            sent.into_iter().map(|(piece, all)| (piece, all.into_iter().map(|(_, why)| why).collect()));
        Self { causes: causes.collect() }
    }

    /// The cause of the transmission of `piece` that passes the capture now. The path may deliver transmissions in another
    /// order than they left: timestamps distinguish them, where the sender has them. `None` if there is none.
    fn take(&mut self, piece: Piece, stamp: Option<u32>) -> Option<Option<Cause>> {
        let all = self.causes.get_mut(&piece)?;
        let index = all.iter().position(|(other, _)| *other == stamp).unwrap_or(0);
        all.remove(index).map(|(_, cause)| cause)
    }
}

/// The sender's timestamp.
fn stamp(segment: &Segment) -> Option<u32> {
    segment.options.timestamps.map(|stamps| stamps.value)
}

fn piece(sent: &Sent) -> Piece {
    (sent.segment.seq.0, sent.segment.payload.len)
}

fn note_ack(acknowledged: &mut Option<Seq>, sent: &Sent) {
    let ack = sent.segment.ack;
    let newer = acknowledged.is_none_or(|before| ack.distance_from(before) > 0);
    if sent.segment.flags.has(Flags::ACK) && newer {
        *acknowledged = Some(ack);
    }
}

/// The cause of a transmission. A probe of the only segment that is outstanding looks like a timeout: the same packet after a
/// silence.
const fn cause(reason: Reason, alone: bool) -> Option<Cause> {
    match reason {
        Reason::Timeout | Reason::GoBackN => Some(Cause::Timeout),
        Reason::FastRetransmit
        | Reason::PartialAck
        | Reason::SackHole
        | Reason::SackRescue
        | Reason::RackLoss => Some(Cause::Fast),
        Reason::TailProbe => Some(if alone { Cause::Timeout } else { Cause::TailProbe }),
        Reason::NakResend => Some(Cause::Nak),
        _ => None,
    }
}

/// A segment with data.
#[derive(Clone, Copy, Debug)]
struct Now {
    truth: Option<Cause>,
    found: Option<Cause>,
    /// Nothing from it on was captured before.
    is_next: bool,
}

/// Compares the causes while a capture is followed.
#[derive(Debug)]
pub(super) struct Comparison {
    truth: Truth,
    side: Side,
    id: Option<ConnectionId>,
    /// The segment that is being processed, and the finding about it.
    now: Option<Now>,
    /// Behind the last byte of everything that was captured.
    next: Option<Seq>,
    pub(super) reasons: Reasons,
}

impl Comparison {
    pub(super) fn new(truth: Truth, side: Side) -> Self {
        Self { truth, side, id: None, now: None, next: None, reasons: Reasons::default() }
    }

    /// Counts the segment that was processed last.
    pub(super) fn count(&mut self) {
        match self.now.take() {
            None | Some(Now { truth: None, found: None, .. }) => {}
            // Whether it is hidden must not depend on what is found.
            Some(Now { truth: Some(_), is_next: true, .. }) => self.reasons.hidden += 1,
            Some(now) => *self.reasons.pairs.entry((now.truth, now.found)).or_default() += 1,
        }
    }
}

impl Watch for Comparison {
    fn opened(&mut self, id: ConnectionId, who: &Endpoints) {
        if self.id.is_none() && who.client.port() == PORT {
            self.id = Some(id);
        }
    }

    fn segment(&mut self, id: ConnectionId, seen: &Seen<'_>) {
        if self.id != Some(id) || seen.side != self.side || seen.segment.payload.len == 0 {
            return;
        }
        self.count();
        let (seq, len) = (seen.segment.seq, seen.segment.payload.len);
        let is_next = self.next.is_none_or(|next| seq.distance_from(next) >= 0);
        if self.next.is_none_or(|next| seq.plus(len).distance_from(next) > 0) {
            self.next = Some(seq.plus(len));
        }
        let cause = self.truth.take((seq.0, len), stamp(seen.segment));
        self.now = cause.map(|truth| Now { truth, found: None, is_next });
    }

    fn happened(&mut self, id: ConnectionId, happened: &Happened) {
        if self.id == Some(id)
            && happened.side == self.side
            && let Event::Retransmitted { cause, .. } = happened.event
            && let Some(now) = &mut self.now
        {
            now.found = Some(cause);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::{Place, draw, run};

    #[test]
    fn a_sender_records_the_reason_of_each_retransmission() {
        assert_eq!(cause(Reason::SackHole, false), Some(Cause::Fast));
        assert_eq!(cause(Reason::TailProbe, false), Some(Cause::TailProbe));
        assert_eq!(cause(Reason::TailProbe, true), Some(Cause::Timeout));
        assert_eq!(cause(Reason::NewData, false), None);
    }

    #[test]
    fn what_is_found_does_not_decide_what_is_hidden() {
        let truth = Truth { causes: BTreeMap::new() };
        let mut comparison = Comparison::new(truth, Side::A);
        for found in [None, Some(Cause::Fast)] {
            comparison.now = Some(Now { truth: Some(Cause::Fast), found, is_next: true });
            comparison.count();
        }
        assert_eq!((comparison.reasons.hidden(), comparison.reasons.visible()), (2, 0));
    }

    #[test]
    fn timestamps_show_which_transmission_passes() {
        let mut truth = Truth { causes: BTreeMap::new() };
        let all = [(Some(100), None), (Some(400), Some(Cause::Timeout))];
        truth.causes.insert((1, 1000), all.into());
        assert_eq!(truth.take((1, 1000), Some(400)), Some(Some(Cause::Timeout)), "it overtook the original");
        assert_eq!(truth.take((1, 1000), Some(100)), Some(None));
        assert_eq!(truth.take((1, 1000), Some(100)), None);
    }

    /// Each transmission was delayed, so the copies follow their originals closely.
    #[test]
    fn the_clock_of_the_sender_shows_its_timers_behind_a_path_that_held_everything() {
        let file = std::env::temp_dir().join(format!("netspurt-held-{}.pcapng", std::process::id()));
        let trials = run(&draw(1197), &[Place::Receiver], &file).unwrap();
        std::fs::remove_file(&file).unwrap();
        let (all, right) = trials[0].reasons.right();
        assert!(all > 1000 && right * 100 > all * 95, "{right} of {all}");
    }

    #[test]
    fn random_losses_are_repaired_for_the_reasons_that_a_capture_shows() {
        let file = std::env::temp_dir().join(format!("netspurt-reasons-{}.pcapng", std::process::id()));
        let case = draw(140);
        assert_eq!(case.kind, "random-loss");
        let trials = run(&case, &Place::ALL, &file).unwrap();
        std::fs::remove_file(&file).unwrap();
        for (trial, place) in trials.iter().zip(Place::ALL) {
            let (all, right) = trial.reasons.right();
            assert!(all > 20 && right * 100 > all * 95, "{}: {right} of {all}", place.name());
        }
    }

    /// Everything after the black hole began was lost before the capture, so the first retransmission looks like new data.
    #[test]
    fn timeouts_behind_a_black_hole_are_no_fast_retransmissions() {
        let file = std::env::temp_dir().join(format!("netspurt-hole-{}.pcapng", std::process::id()));
        let trials = run(&draw(1164), &[Place::Receiver], &file).unwrap();
        std::fs::remove_file(&file).unwrap();
        let (all, right) = trials[0].reasons.right();
        assert!(all > 1000 && right * 100 > all * 95, "{right} of {all}");
    }
}
