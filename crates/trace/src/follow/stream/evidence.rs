//! What a stream knows when data is seen again.

use super::Stream;
use crate::follow::retransmission::{Evidence, Phase, is_reported_itself};
use crate::follow::rtt::estimate::Estimate;
use crate::follow::stream::edges::{Edges, Repair};
use crate::follow::stream::pieces::{Piece, Sending};
use crate::stamp::Stamp;

impl Stream {
    /// What is known when the data from `start` to `end` is seen again; `last` is its last transmission.
    pub(super) fn evidence(
        &self,
        start: i64,
        end: i64,
        last: Option<&Sending>,
        opening: bool,
        behind: &Estimate,
        at: Stamp,
    ) -> Evidence {
        let Edges { una, next } = self.edges.unwrap_or(Edges { una: start, next: end });
        let since = last.map_or(self.news, |last| last.at.max(self.news));
        // Whether the sender cannot have received an ACK of that time when it sent this segment.
        let not_yet_received = |then: Stamp| at.since(then) < behind.smoothed().scale(5, 4);
        let Repair { phase, before: (before, over), .. } = self.repair;
        let recent = phase == Phase::Open && not_yet_received(over);
        let phase = if recent { before } else { phase };
        let passed = self.passed.since(start).map(|then| at.since(then));
        let left_out = phase == Phase::Timeout
            && self.repair.leaves_out(start, next, passed.is_some() || recent, self.report.segment_most);
        let phase = if left_out { Phase::Open } else { phase };
        let evidence = Evidence {
            opening,
            after: last.map(|last| at.since(last.at)),
            quiet: at.since(since),
            idle: at.since(self.pieces.newest().map_or(self.resent_at, |newest| newest.max(self.resent_at))),
            repaired: at.since(self.resent_at),
            first: start <= una,
            last: end == next,
            arrived: end <= una || self.reported.holds(start, end),
            lately: self
                .reported_last
                .is_some_and(|range| (range.start..range.end).contains(&start) && not_yet_received(range.at)),
            rescue: false,
            again: false,
            same_packet: None,
            left_after: None,
            by_clock: None,
            asked: self.asked.is_some_and(|asked| {
                (asked.start..asked.end).contains(&start) && last.is_none_or(|last| last.at < asked.at)
            }),
            known_for: self.known.map(|known| at.since(known)),
            dup_acks: self.duplicate_acks,
            reported_above: self.reported.above(end),
            unseen: false,
            sacks: self.sacks,
            unasked: !self.sacks && self.report.duplicate_acks == 0,
            passed,
            overtaken: last.filter(|_| self.sacks).and_then(|last| self.delivered.overtook(last, end, at)),
            segment: self.report.segment_most,
            phase,
            ahead: self.estimate,
            behind: *behind,
        };
        // A sender that has learned that its timeout was needless takes it back (RFC 4015), and repairs what is reported.
        let undone = phase == Phase::Timeout && self.repair.needless && is_reported_itself(&evidence);
        Evidence { phase: if undone { Phase::Open } else { phase }, ..evidence }
    }

    /// What is known when data that may have been captured before, as `known`, and that fills no gap is seen again.
    pub(super) fn evidence_again(
        &self,
        known: Option<&Piece>,
        (start, end): (i64, i64),
        opening: bool,
        sending: Sending,
        behind: &Estimate,
    ) -> Evidence {
        let last = known.map(|piece| piece.last);
        let mut evidence = self.evidence(start, end, last.as_ref(), opening, behind, sending.at);
        evidence.again = known.is_some_and(|piece| piece.resent && piece.last.at >= self.repair.since)
            && self.repair.phase != Phase::Open;
        evidence.rescue = evidence.last && !evidence.again && !self.repair.rescued && self.sacks;
        // What was acknowledged long ago is not remembered; the newest data left after it.
        evidence.left_after =
            last.or_else(|| self.pieces.newest_sending()).and_then(|last| sending.left_after(&last));
        evidence.by_clock = last.and_then(|last| sending.left_after(&last));
        evidence.same_packet = last
            .filter(|last| last.identification != 0 && sending.identification != 0)
            .map(|last| last.identification == sending.identification);
        evidence
    }
}
