//! A part of the time of a capture, of which alone limits and bytes are counted.
//!
//! A connection is followed as a whole, because round trips, windows and the capacity of the path are known only then. What it has outside
//! the range is left out at its end.

use super::sender::SenderView;
use crate::conversation::Side;
use crate::stamp::Stamp;
use netspurt_budget::Timeline;
use netspurt_tcp::time::{Span, Time};

/// A part of the time of a capture: what is at `until` is no longer in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    /// Its begin.
    pub from: Stamp,
    /// Its end.
    pub until: Stamp,
}

/// What a sender has counted until some time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Counts {
    /// Payload bytes: acknowledged, as `DirectionDiagnosis::bytes` counts them.
    pub(super) bytes: u64,
    /// Retransmissions.
    pub(super) resent: u64,
}

impl Counts {
    /// The counts of a view, of whose end and of whose peer packets were captured or not.
    pub(super) fn of(view: &SenderView, data: bool, acks: bool) -> Self {
        let bytes = match (data, acks) {
            (_, false) => view.bytes_sent(),
            (false, true) => view.bytes_acknowledged(),
            (true, true) => view.totals.bytes,
        };
        Self { bytes, resent: view.totals.resent }
    }

    const fn since(self, before: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_sub(before.bytes),
            resent: self.resent.saturating_sub(before.resent),
        }
    }
}

/// The counts of one sender for each case of [`Counts::of`], because only the end of a connection shows of which ends it has packets.
#[derive(Clone, Copy, Debug)]
struct Cases([Counts; 3]);

impl Cases {
    fn of(view: &SenderView) -> Self {
        Self([(true, true), (false, true), (true, false)].map(|(data, acks)| Counts::of(view, data, acks)))
    }

    const fn pick(&self, data: bool, acks: bool) -> Counts {
        let Self([both, no_data, no_acks]) = self;
        match (data, acks) {
            (_, false) => *no_acks,
            (false, true) => *no_data,
            (true, true) => *both,
        }
    }
}

/// What both senders had counted where a range begins and ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edges {
    range: Range,
    begin: Option<[Cases; 2]>,
    end: Option<[Cases; 2]>,
}

impl Edges {
    pub(super) const fn new(range: Range) -> Self {
        Self { range, begin: None, end: None }
    }

    /// A packet comes at `at`; the views have counted those before it.
    pub(super) fn pass(&mut self, at: Stamp, views: &[SenderView; 2]) {
        let cases = || views.each_ref().map(Cases::of);
        if at >= self.range.from && self.begin.is_none() {
            self.begin = Some(cases());
        }
        if at >= self.range.until && self.end.is_none() {
            self.end = Some(cases());
        }
    }

    /// Whether a connection from `first` on that lasted `lasts` nanoseconds has any time in the range.
    pub(super) const fn touch(&self, first: Stamp, lasts: u64) -> bool {
        first.0 < self.range.until.0 && first.0.saturating_add(lasts) >= self.range.from.0
    }

    /// The part of one sender of a connection that began at `first`.
    pub(super) fn part(&self, side: Side, first: Stamp, data: bool, acks: bool) -> Part {
        let time = |at: Stamp| Time::ZERO + Span::from_ns(at.0.saturating_sub(first.0).min(MOST_NS));
        let pick = |cases: [Cases; 2]| cases[side as usize].pick(data, acks);
        Part {
            from: time(self.range.from),
            until: time(self.range.until),
            // The packet that shows where the range begins may have been counted before the range was set.
            before: if self.range.from <= first { Some(Counts::default()) } else { self.begin.map(pick) },
            after: self.end.map(pick),
        }
    }
}

/// Later times would not fit into a [`Time`].
const MOST_NS: u64 = u64::MAX / 1000;

/// The part of a sender that is diagnosed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// Its begin and its end, since the begin of the connection.
    from: Time,
    until: Time,
    /// The counts where it begins and where it ends; `None` if no packet came later.
    before: Option<Counts>,
    after: Option<Counts>,
}

impl Part {
    /// All of a connection.
    pub(super) const WHOLE: Self = Self {
        from: Time::ZERO,
        until: Time::NEVER,
        before: Some(Counts { bytes: 0, resent: 0 }),
        after: None,
    };

    /// Where the part begins, since the begin of the connection.
    pub(super) const fn began(&self) -> Time {
        self.from
    }

    /// What a timeline has of the part.
    pub(super) fn cut(&self, timeline: &Timeline) -> Timeline {
        timeline.between(self.from, self.until)
    }

    /// What was counted before the part, and in it, if there were `all` in all.
    pub(super) fn count(&self, all: Counts) -> (Counts, Counts) {
        let before = self.before.unwrap_or(all);
        (before, self.after.unwrap_or(all).since(before))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn counts(bytes: u64, resent: u64) -> Counts {
        Counts { bytes, resent }
    }

    #[test]
    fn a_part_counts_what_comes_between_its_edges() {
        let all = counts(9000, 7);
        let part = |before, after| Part { from: Time::ZERO, until: Time::NEVER, before, after }.count(all).1;
        assert_eq!(part(Some(counts(1000, 2)), Some(counts(4000, 3))), counts(3000, 1));
        assert_eq!(
            part(Some(counts(1000, 2)), None),
            counts(8000, 5),
            "the connection ends before the range"
        );
        assert_eq!(part(None, None), counts(0, 0), "it has ended when the range begins");
        assert_eq!(Part::WHOLE.count(all), (counts(0, 0), all));
    }

    #[test]
    fn a_range_from_the_first_packet_on_leaves_out_nothing() {
        let all = counts(9000, 7);
        let counted = |from| {
            let edges = Edges::new(Range { from: Stamp(from), until: Stamp(200) });
            edges.part(Side::A, Stamp(100), true, true).count(all)
        };
        assert_eq!(counted(100), (counts(0, 0), all));
        assert_eq!(counted(101), (all, counts(0, 0)), "no packet comes later");
    }

    #[test]
    fn a_range_touches_connections_that_are_open_in_it() {
        let edges = Edges::new(Range { from: Stamp(100), until: Stamp(200) });
        let touches = |first, lasts| edges.touch(Stamp(first), lasts);
        assert!(touches(50, 50) && touches(150, 10) && touches(199, 0) && touches(0, 1000));
        assert!(!touches(50, 49), "it ends before");
        assert!(!touches(200, 10), "it begins after");
    }
}
