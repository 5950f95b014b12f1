//! Records what was dropped, and when links were down.

use super::direction::Direction;
use super::queues::{Full, Interval};
use crate::network::loss::Cause;
use crate::network::schedule::Change;
use crate::spec::{ChannelSpec, LossSpec};
use netspurt_tcp::segment::Segment;
use std::collections::BTreeMap;

/// A packet that was lost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drop {
    pub(super) at: u64,
    /// Stream offset of its first byte, and of the byte after its last one; equal without data.
    pub(super) range: (u64, u64),
    pub(super) cause: Cause,
    /// For a packet that was too long: when later data of its sender passed the same link first.
    pub(super) passed: Option<u64>,
}

/// The log of lost packets, and the times at which links are down.
#[derive(Debug, Default)]
pub(super) struct Troubles {
    drops: BTreeMap<Direction, Vec<Drop>>,
    downs: Vec<(u32, Interval)>,
    /// The links at which packets of a direction were too long, with the places of those behind which no data has passed.
    closed: BTreeMap<(Direction, u32), Vec<usize>>,
}

impl Troubles {
    /// Adds a channel of a run that ends at `end`.
    pub(super) fn describe(&mut self, number: u32, channel: &ChannelSpec, end: u64) {
        let up = channel.changes.up.iter().map(|change| (change, change.value));
        self.note_downs(number, up, end);
        for (place, loss) in channel.loss.each().iter().enumerate() {
            if !matches!(loss, LossSpec::PacketError { .. }) {
                continue;
            }
            let of_it = channel.changes.loss.iter().filter(|(which, _)| *which == place);
            self.note_downs(number, of_it.map(|(_, change)| (change, change.value < 1.0)), end);
        }
    }

    /// Notes when a channel carries nothing, from the changes of the scenario.
    fn note_downs<'a, T: 'a>(
        &mut self,
        number: u32,
        changes: impl Iterator<Item = (&'a Change<T>, bool)>,
        end: u64,
    ) {
        let mut events: Vec<(u64, bool)> = Vec::new();
        for (change, passes) in changes {
            let mut at = change.last_by(0).or_else(|| Some(change.next_after(0)));
            while let Some(now) = at.filter(|&now| now < end) {
                events.push((now, passes));
                at = Some(change.next_after(now));
            }
        }
        events.sort_unstable();
        let mut since = None;
        for (now, passes) in events {
            match since {
                None if !passes => since = Some(now),
                Some(from) if passes => {
                    self.downs.push((number, (from, now)));
                    since = None;
                }
                _ => {}
            }
        }
        self.downs.extend(since.map(|from| (number, (from, end))));
    }

    pub(super) fn dropped(
        &mut self,
        at: u64,
        channel: u32,
        direction: Direction,
        (segment, cause): (&Segment, Cause),
    ) {
        let drops = self.drops.entry(direction).or_default();
        if cause == Cause::TooBig {
            self.closed.entry((direction, channel)).or_default().push(drops.len());
        }
        drops.push(Drop { at, range: range_of(segment), cause, passed: None });
    }

    /// A packet passes a channel.
    pub(super) fn passed(&mut self, at: u64, channel: u32, direction: Direction, segment: &Segment) {
        let Some(closed) = self.closed.get_mut(&(direction, channel)) else { return };
        let (begin, end) = range_of(segment);
        let Some(drops) = self.drops.get_mut(&direction).filter(|_| begin < end) else { return };
        closed.retain(|&place| {
            let drop = &mut drops[place];
            let later = drop.range.1 <= begin;
            if later {
                drop.passed = Some(at);
            }
            !later
        });
    }

    /// The packets of a direction that were lost, in order of time.
    pub(super) fn drops_of(&self, direction: Direction) -> &[Drop] {
        self.drops.get(&direction).map_or(&[], Vec::as_slice)
    }

    /// Whether data of `direction` between these stream offsets was lost before `until`.
    pub(super) fn lost(&self, direction: Direction, (first, end): (u64, u64), until: u64) -> bool {
        let before = self.drops_of(direction).iter().take_while(|drop| drop.at <= until);
        before.into_iter().any(|drop| drop.range.0 < end && drop.range.1 > first)
    }

    /// The periods in which a link on the path of a direction, or on the path back, carried nothing.
    pub(super) fn downs_of<'a>(
        &'a self,
        direction: Direction,
        full: &'a Full,
    ) -> impl Iterator<Item = Interval> + 'a {
        let on_the_way =
            move |channel| full.uses(channel, direction) || full.uses(channel, direction.reverse());
        self.downs.iter().filter(move |down| on_the_way(down.0)).map(|down| down.1)
    }
}

/// The stream offsets of a segment's first byte and of the byte after its last one; equal without data.
fn range_of(segment: &Segment) -> (u64, u64) {
    let (offset, len) = (segment.payload.offset, u64::from(segment.payload.len));
    if len > 0 { (offset, offset + len) } else { (0, 0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netspurt_tcp::time::{Span, Time};

    #[test]
    fn a_link_is_down_from_one_change_to_the_other_each_time() {
        let every = Some(Span::from_ps(100));
        let change = |at, value| Change { at: Time::from_ps(at), every, until: None, value };
        let changes = [change(10, false), change(30, true)];
        let mut troubles = Troubles::default();
        troubles.note_downs(7, changes.iter().map(|change| (change, change.value)), 220);
        assert_eq!(troubles.downs, [(7, (10, 30)), (7, (110, 130)), (7, (210, 220))]);
    }
}
