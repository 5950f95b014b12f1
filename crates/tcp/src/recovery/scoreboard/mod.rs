//! The SACK scoreboard of RFC 6675: delivered data, lost data, bytes in the network, and the next retransmission.

#[cfg(test)]
pub(super) mod scoreboard_tests;

use crate::ranges::{Range, RangeSet};
use crate::record::reason::Reason;

/// The state of the data between `una` and the highest position sent.
#[derive(Debug, Default)]
pub(crate) struct Scoreboard {
    /// Reported by the peer.
    sacked: RangeSet,
    /// HighRxt: every hole below it was retransmitted in this recovery.
    high_rxt: u64,
    /// Every hole below it is lost by IsLost() (section 4). It only moves up while `una` stays.
    lost_below: u64,
    /// RescueRxt: whether the rescue retransmission of this recovery was made.
    rescued: bool,
}

impl Scoreboard {
    /// The place of the field that [`Self::fetch`] reads.
    #[cfg(test)]
    pub(super) const FETCHED: usize = core::mem::offset_of!(Self, high_rxt);

    /// Whether a reported range can be added if at most `most` disjoint ranges are kept.
    pub(crate) fn has_room_for(&self, range: Range, most: usize) -> bool {
        self.sacked.len() < most || self.sacked.touches(range)
    }

    /// Reads the field that is farthest from the reports: see [`crate::Connection::fetch_losses`].
    #[inline]
    pub(crate) fn fetch(&self) -> u64 {
        self.high_rxt
    }

    /// What the peer reported.
    pub(crate) fn reported(&self) -> &RangeSet {
        &self.sacked
    }

    /// Adds a reported range. Returns whether it contains new data.
    pub(crate) fn report(&mut self, range: Range) -> bool {
        self.sacked.insert(range).1 > 0
    }

    /// Everything below `una` is acknowledged.
    pub(crate) fn advance(&mut self, una: u64) {
        self.sacked.remove_below(una);
    }

    /// Updates the edge of loss. IsLost(): a hole is lost if `threshold` separate ranges, or more than
    /// (threshold − 1)·MSS bytes, are reported above it (section 4). So the edge is the start of the range at which
    /// one of the two sums, counted from the top, reaches its limit. A FIN at `data_end` makes its segment no longer.
    pub(crate) fn update_loss(&mut self, threshold: u32, mss: u32, data_end: u64) {
        let enough = u64::from(threshold.saturating_sub(1)) * u64::from(mss);
        let (mut ranges, mut bytes) = (0, 0);
        for range in self.sacked.iter_down() {
            ranges += 1;
            bytes += range.end.min(data_end).saturating_sub(range.start);
            if ranges >= threshold || bytes > enough {
                self.lost_below = self.lost_below.max(range.start);
                break;
            }
        }
    }

    /// IsLost() of a position that is not reported.
    pub(crate) fn is_lost(&self, position: u64) -> bool {
        position < self.lost_below
    }

    /// Recovery begins at `una`: nothing was retransmitted yet.
    pub(crate) fn begin(&mut self, una: u64) {
        self.high_rxt = una;
        self.rescued = false;
    }

    /// A segment was retransmitted in recovery. The rescue retransmission does not change HighRxt (NextSeg rule 4).
    pub(crate) fn resent(&mut self, range: Range, reason: Reason) {
        if reason == Reason::SackRescue {
            self.rescued = true;
        } else {
            self.high_rxt = self.high_rxt.max(range.end);
        }
    }

    /// pipe (section 4, SetPipe): bytes in the network. A hole counts unless it is lost, and counts again if it
    /// was retransmitted. So lost bytes that were not retransmitted do not count, and retransmitted bytes that are not lost
    /// count twice.
    pub(crate) fn pipe(&self, una: u64, max: u64) -> u64 {
        let holes = |from: u64, to: u64| {
            let within = Range::new(from.max(una), to.min(max));
            if within.is_empty() { 0 } else { within.len() - self.sacked.covered_within(within) }
        };
        let lost_and_waiting = holes(self.high_rxt, self.lost_below);
        let perhaps_twice = holes(self.lost_below, self.high_rxt);
        (max - una + perhaps_twice).saturating_sub(self.sacked.covered() + lost_and_waiting)
    }

    /// NextSeg() rules 1 and 3 (section 4): the next hole to retransmit above HighRxt; only a lost one, or any.
    pub(crate) fn next_hole(&self, una: u64, mss: u32, only_lost: bool) -> Option<Range> {
        let mut start = una.max(self.high_rxt);
        let highest = self.sacked.last()?.end;
        let mut next = self.sacked.at_or_after(start);
        if let Some(range) = next
            && range.start <= start
        {
            start = range.end;
            next = self.sacked.at_or_after(start);
        }
        if start >= highest || (only_lost && !self.is_lost(start)) {
            return None;
        }
        let end = next.map_or(highest, |range| range.start).min(start + u64::from(mss));
        Some(Range::new(start, end))
    }

    /// NextSeg() rule 4: once in a recovery, the last outstanding segment, so that it causes an ACK.
    pub(crate) fn rescue(&self, una: u64, recover: u64, max: u64, mss: u32) -> Option<Range> {
        if self.rescued || una >= recover || self.high_rxt >= max {
            return None;
        }
        let start = max.saturating_sub(u64::from(mss)).max(una).max(self.sacked.last().map_or(0, |r| r.end));
        (start < max).then_some(Range::new(start, max))
    }

    /// A timeout (section 5.1): forgets retransmissions and losses, and keeps the reports.
    pub(crate) fn start_over(&mut self) {
        self.high_rxt = 0;
        self.lost_below = 0;
        self.rescued = false;
    }

    /// Forgets the reports too: the peer may have reneged (RFC 2018, section 8).
    pub(crate) fn forget(&mut self) {
        self.sacked.clear();
        self.start_over();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u32 = 100;
    /// The end of the data.
    const END: u64 = 1001;

    fn board(reports: &[(u64, u64)]) -> Scoreboard {
        let mut board = Scoreboard::default();
        for &(start, end) in reports {
            board.report(Range::new(start, end));
        }
        board.update_loss(3, MSS, END);
        board
    }

    #[test]
    fn three_separate_ranges_above_a_hole_make_it_lost() {
        let two = board(&[(50, 60), (70, 80)]);
        assert!(!two.is_lost(1));
        let three = board(&[(50, 60), (70, 80), (90, 95)]);
        assert!(three.is_lost(1));
        assert!(!three.is_lost(60));
    }

    #[test]
    fn more_than_two_segments_above_a_hole_make_it_lost() {
        assert!(!board(&[(101, 301)]).is_lost(1));
        assert!(board(&[(101, 302)]).is_lost(1));
        assert!(!board(&[(END - 200, END + 1)]).is_lost(1), "a FIN makes its segment no longer");
    }

    #[test]
    fn pipe_leaves_out_what_arrived_and_what_is_lost_until_it_is_resent() {
        let mut b = board(&[(101, 501)]);
        b.begin(1);
        assert_eq!(b.pipe(1, 1001), 1000 - 400 - 100);
        b.resent(Range::new(1, 101), Reason::SackHole);
        assert_eq!(b.pipe(1, 1001), 1000 - 400);
    }

    #[test]
    fn pipe_counts_twice_what_is_resent_without_being_lost() {
        let mut b = board(&[(101, 201)]);
        b.begin(1);
        assert_eq!(b.pipe(1, 1001), 1000 - 100);
        b.resent(Range::new(1, 101), Reason::SackHole);
        assert_eq!(b.pipe(1, 1001), 1000 - 100 + 100);
    }

    #[test]
    fn holes_are_resent_from_below_and_once() {
        let mut b = board(&[(101, 201), (301, 401), (501, 601)]);
        b.begin(1);
        let first = b.next_hole(1, MSS, true).unwrap();
        assert_eq!(first, Range::new(1, 101));
        b.resent(first, Reason::SackHole);
        assert_eq!(b.next_hole(1, MSS, true), None, "the hole at 201 has only two ranges above it");
        let second = b.next_hole(1, MSS, false).unwrap();
        assert_eq!(second, Range::new(201, 301));
        b.resent(second, Reason::SackHole);
        assert_eq!(b.next_hole(1, MSS, false), Some(Range::new(401, 501)));
    }

    #[test]
    fn the_last_segment_is_rescued_once() {
        let mut b = board(&[(101, 601)]);
        b.begin(1);
        b.resent(Range::new(1, 101), Reason::SackHole);
        let rescue = b.rescue(1, 801, 801, MSS).unwrap();
        assert_eq!(rescue, Range::new(701, 801));
        b.resent(rescue, Reason::SackRescue);
        assert_eq!(b.rescue(1, 801, 801, MSS), None);
    }
}
