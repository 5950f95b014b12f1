//! What a medium and its stations say to each other.

/// What is to be done next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// This station takes the next frame from its queue. Answer with [`Medium::took`](super::Medium::took).
    Take(u32),
    /// The frame that it took gets through: its first bit left at `start`. Answer with [`Medium::sent`](super::Medium::sent).
    Sent {
        /// Which one.
        station: u32,
        /// When, by the clock or shortly before.
        start: u64,
    },
    /// It gives up the frame that it took. Answer with [`Medium::gave_up`](super::Medium::gave_up).
    GivenUp(u32),
}

/// How a station got on with the others.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Contention {
    /// Frames whose first attempt had to wait for others.
    pub deferrals: u64,
    /// Attempts that ended in a collision.
    pub collisions: u64,
}

/// Whether a station's queue holds another frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Then {
    More,
    Nothing,
}
