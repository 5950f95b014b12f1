//! What makes a direction of a link more than a rate, a delay and a queue: it goes down and up, its delay and its queue's
//! room change. Links of which nothing of this is said have none, and pay nothing.

use crate::network::schedule::Schedule;
use crate::spec::{ChannelSpec, Room};
use netspurt_tcp::time::Span;

/// What else there is to one direction of a link.
#[derive(Clone, Debug)]
pub(crate) struct Conditions {
    /// Whether packets can leave.
    up: Option<Schedule<bool>>,
    delay: Option<Schedule<Span>>,
    room: Option<Schedule<Room>>,
    /// When the last packet arrived: none overtakes it because the delay has changed.
    arrived: u64,
}

impl Conditions {
    /// What `spec` asks for; `None` if it is nothing.
    pub(crate) fn new(spec: &ChannelSpec, room: Room) -> Option<Self> {
        let changes = &spec.changes;
        let schedule = |some: bool| some.then_some(());
        let all = Self {
            up: schedule(!changes.up.is_empty()).map(|()| Schedule::new(true, &changes.up)),
            delay: schedule(!changes.delay.is_empty()).map(|()| Schedule::new(spec.delay, &changes.delay)),
            room: schedule(!changes.room.is_empty()).map(|()| Schedule::new(room, &changes.room)),
            arrived: 0,
        };
        (all.up.is_some() || all.delay.is_some() || all.room.is_some()).then_some(all)
    }

    /// The first time from `start` on at which a packet of so many octets may begin to leave. It may be asked of packets
    /// that do not leave after all.
    pub(crate) fn opens(&mut self, start: u64, _size: u32) -> u64 {
        self.up.as_mut().map_or(start, |up| up.first_true(start))
    }

    /// When a packet arrives whose last bit leaves at `departure`, if the link's own delay does not say it.
    pub(crate) fn arrival(&mut self, departure: u64) -> Option<u64> {
        let delay = self.delay.as_mut()?.at(departure);
        self.arrived = self.arrived.max(departure.saturating_add(delay.as_ps()));
        Some(self.arrived)
    }

    /// How much may wait at `now`, if that changes.
    pub(crate) fn room(&mut self, now: u64) -> Option<Room> {
        Some(self.room.as_mut()?.at(now))
    }
}
