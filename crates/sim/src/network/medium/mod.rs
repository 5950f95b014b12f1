//! A medium that several stations share. One frame at a time passes it. One file for each access method.
//!
//! A medium does not depend on packets or queues. Its caller (`network/medium/hub.rs`) reports that a station has a frame,
//! requests the `Step`s that are due at the present time, carries them out, and reports their results.

mod csma_cd;
mod first_come;
pub(super) mod hub;
pub(super) mod stations;
mod step;

pub(crate) use csma_cd::CsmaCd;
pub(crate) use first_come::FirstCome;
pub use step::Contention;
pub(crate) use step::{Step, Then};

/// The longest delay in picoseconds at which stations that send at `rate` detect a collision in time: half a slot.
pub const fn longest_delay(rate: u64) -> u64 {
    CsmaCd::longest_delay(rate)
}

/// The access methods.
#[derive(Debug)]
pub(crate) enum Medium {
    FirstCome(FirstCome),
    CsmaCd(CsmaCd),
}

impl Medium {
    /// Whether a frame that arrives at this station at `now` is sent at once.
    pub(crate) fn is_clear(&self, station: u32, now: u64) -> bool {
        match self {
            Self::FirstCome(medium) => medium.is_clear(now),
            Self::CsmaCd(medium) => medium.is_clear(station, now),
        }
    }

    /// Whether a station is about to send a frame that has left its queue.
    pub(crate) fn holds(&self, station: u32) -> bool {
        match self {
            Self::FirstCome(medium) => medium.holds(station),
            Self::CsmaCd(medium) => medium.holds(station),
        }
    }

    /// A frame from its queue has reached the station.
    pub(crate) fn request(&mut self, station: u32, now: u64) {
        match self {
            Self::FirstCome(medium) => medium.request(station),
            Self::CsmaCd(medium) => medium.request(station, now),
        }
    }

    /// A frame has reached the station, and the medium is clear.
    pub(crate) fn begin(&mut self, station: u32, now: u64) {
        match self {
            Self::FirstCome(medium) => medium.begin(station),
            Self::CsmaCd(medium) => medium.begin(station, now),
        }
    }

    /// What is to be done at `now`. Ask again when it is done.
    pub(crate) fn step(&mut self, now: u64) -> Option<Step> {
        match self {
            Self::FirstCome(medium) => medium.step(now),
            Self::CsmaCd(medium) => medium.step(now),
        }
    }

    /// The station has taken a frame, or has found none, since its queue had dropped them all.
    pub(crate) fn took(&mut self, station: u32, found: bool) {
        match self {
            Self::FirstCome(medium) => medium.took(station, found),
            Self::CsmaCd(medium) => medium.took(station, found),
        }
    }

    /// A station's queue has dropped a frame that was waiting.
    pub(crate) fn withdraw(&mut self, station: u32) {
        match self {
            Self::FirstCome(medium) => medium.withdraw(station),
            Self::CsmaCd(_) => {}
        }
    }

    /// The last bit of the station's frame leaves at `end`, and a frame's gap later the medium is `free`.
    pub(crate) fn sent(&mut self, station: u32, end: u64, free: u64, then: Then) {
        match self {
            Self::FirstCome(medium) => medium.sent(free),
            Self::CsmaCd(medium) => medium.sent(station, end, then),
        }
    }

    /// The station has dropped its frame.
    pub(crate) fn gave_up(&mut self, station: u32, then: Then) {
        match self {
            Self::FirstCome(_) => unreachable!("who waits for its turn does not give up"),
            Self::CsmaCd(medium) => medium.gave_up(station, then),
        }
    }

    /// When there is something to be done next.
    pub(crate) fn next(&self) -> Option<u64> {
        match self {
            Self::FirstCome(medium) => medium.next(),
            Self::CsmaCd(medium) => medium.next(),
        }
    }

    /// How a station got on, where stations get in each other's way.
    pub(crate) fn contention(&self, station: u32) -> Option<Contention> {
        match self {
            Self::FirstCome(_) => None,
            Self::CsmaCd(medium) => Some(medium.contention(station)),
        }
    }
}
