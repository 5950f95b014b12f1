//! One range of positions.

/// Positions from `start` up to, not including, `end`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Range {
    /// The first position.
    pub start: u64,
    /// The position behind the last.
    pub end: u64,
}

impl Range {
    /// From `start` up to, not including, `end`.
    pub const fn new(start: u64, end: u64) -> Self {
        Self { start, end }
    }

    /// How many positions.
    pub const fn len(self) -> u64 {
        self.end.saturating_sub(self.start)
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.end <= self.start
    }
}
