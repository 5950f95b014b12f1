//! Additional features of a direction of a link: it goes down and up, its delay and the size of its queue change, a policer
//! or a shaper precedes it. Links without these features have no `Conditions`, and cost nothing more.

use crate::network::delay::Delay;
use crate::network::gather::Gather;
use crate::network::loss::Cause;
use crate::network::middlebox::Middlebox;
use crate::network::queue::OnArrival;
use crate::network::schedule::Schedule;
use crate::network::token_bucket::policer::{Action, Colours, Policer};
use crate::network::token_bucket::shaper::Gate;
use crate::random::Stream;
use crate::spec::{ChannelSpec, Room};
use netspurt_tcp::segment::Ecn;
use netspurt_tcp::time::Span;
use std::fmt::Display;

/// The additional features of one direction of a link.
#[derive(Clone, Debug)]
pub(crate) struct Conditions {
    /// Whether packets can leave.
    up: Option<Schedule<bool>>,
    pub(crate) middlebox: Option<Middlebox>,
    pub(crate) gather: Option<Gather>,
    policer: Option<Policer>,
    shaper: Option<Gate>,
    delay: Option<Schedule<Span>>,
    varying: Option<Delay>,
    room: Option<Schedule<Room>>,
    /// When the last packet arrived. If order is preserved, a change of the delay causes no reordering.
    arrived: u64,
}

impl Conditions {
    /// The features of `spec`; `None` if there are none.
    pub(crate) fn new(spec: &ChannelSpec, room: Room, (seed, name): (u64, &dyn Display)) -> Option<Self> {
        let changes = &spec.changes;
        let schedule = |some: bool| some.then_some(());
        let all = Self {
            up: schedule(!changes.up.is_empty()).map(|()| Schedule::new(true, &changes.up)),
            middlebox: spec.middlebox.map(Middlebox::new),
            gather: Gather::new(spec.aggregation, spec.thinning),
            policer: spec.policer.map(Policer::new),
            shaper: spec.shaper.as_ref().map(Gate::new),
            delay: schedule(!changes.delay.is_empty()).map(|()| Schedule::new(spec.delay, &changes.delay)),
            varying: spec
                .varies
                .as_ref()
                .map(|how| Delay::new(how, Stream::new(seed, &format!("{name}/delay")))),
            room: schedule(!changes.room.is_empty()).map(|()| Schedule::new(room, &changes.room)),
            arrived: 0,
        };
        let none = all.up.is_none()
            && all.middlebox.is_none()
            && all.gather.is_none()
            && all.policer.is_none()
            && all.shaper.is_none()
            && all.delay.is_none()
            && all.varying.is_none()
            && all.room.is_none();
        (!none).then_some(all)
    }

    /// Whether packets may be marked or dropped before the queue.
    pub(crate) const fn polices(&self) -> bool {
        self.policer.is_some() || self.shaper.is_some()
    }

    /// The fate of a packet of `size` bytes that arrives at `now`.
    pub(crate) fn police(&mut self, now: u64, size: u32, ecn: Ecn) -> OnArrival {
        if self.shaper.as_ref().is_some_and(|shaper| !shaper.lets_through(size)) {
            return OnArrival::Drop(Cause::Shaper);
        }
        match self.policer.as_mut().map_or(Action::Pass, |policer| policer.judge(now, size)) {
            Action::Pass => OnArrival::Pass,
            Action::Mark if ecn.is_capable() => OnArrival::Mark,
            Action::Mark | Action::Drop => OnArrival::Drop(Cause::Policer),
        }
    }

    /// The number of packets of each colour.
    pub(crate) fn colours(&self) -> Option<Colours> {
        self.policer.as_ref().map(|policer| policer.colours)
    }

    /// The drop causes that can occur.
    pub(crate) fn causes(&self) -> impl Iterator<Item = Cause> {
        let policer = self.policer.as_ref().map(|_| Cause::Policer);
        let idle =
            self.middlebox.as_ref().filter(|middlebox| middlebox.forgets()).map(|_| Cause::IdleTimeout);
        let thinned = self.gather.as_ref().filter(|gather| gather.thins()).map(|_| Cause::AckThinning);
        policer.into_iter().chain(self.shaper.as_ref().map(|_| Cause::Shaper)).chain(idle).chain(thinned)
    }

    /// Whether a transmission may have to wait although the transmitter is free.
    pub(crate) const fn may_be_closed(&self) -> bool {
        self.up.is_some() || self.shaper.is_some()
    }

    /// The first time from `start` on at which the transmission of a packet of this many bytes may start. The packet need not
    /// be sent afterwards.
    pub(crate) fn opens(&mut self, start: u64, size: u32) -> u64 {
        let mut at = start;
        loop {
            let up = self.up.as_mut().map_or(at, |up| up.first_true(at));
            let opens = self.shaper.as_ref().map_or(up, |shaper| shaper.ready(up, size));
            if opens == at || opens == u64::MAX {
                return opens;
            }
            at = opens;
        }
    }

    /// The transmission of a packet of this many bytes starts at `start`.
    pub(crate) fn leaves(&mut self, start: u64, size: u32) {
        if let Some(shaper) = &mut self.shaper {
            shaper.take(start, size);
        }
    }

    /// When a packet arrives whose last bit leaves at `departure`, unless the fixed delay of the link applies.
    pub(crate) fn arrival(&mut self, departure: u64) -> Option<u64> {
        let delay = match (&mut self.varying, &mut self.delay) {
            (Some(varying), _) => varying.next(departure),
            (None, Some(schedule)) => schedule.at(departure).as_ps(),
            (None, None) => return None,
        };
        let arrival = departure.saturating_add(delay);
        if !self.reorders() {
            self.arrived = self.arrived.max(arrival);
            return Some(self.arrived);
        }
        Some(arrival)
    }

    /// Whether packets may overtake each other.
    pub(crate) fn reorders(&self) -> bool {
        self.varying.as_ref().is_some_and(|varying| varying.reorders)
    }

    /// The size of the queue at `now`, if it changes.
    pub(crate) fn room(&mut self, now: u64) -> Option<Room> {
        Some(self.room.as_mut()?.at(now))
    }
}
