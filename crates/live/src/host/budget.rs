//! The memory of all buffers of a host, and how large a buffer may become.

/// Every buffer may have this size, whatever the others have: each connection makes progress.
pub(super) const SHARE: usize = 1 << 16;

/// The out-of-order data of every connection may have so many parts, whatever the others have.
pub(super) const PARTS: usize = 1024;

/// The memory that a part takes, in bytes: a node of the connection's tree of ranges.
pub(super) const PART: usize = 40;

/// The memory that the buffers of all connections have, in bytes, and its limit.
#[derive(Debug)]
pub(super) struct Budget {
    held: usize,
    most: usize,
}

impl Budget {
    pub(super) const fn new(most: usize) -> Self {
        Self { held: 0, most }
    }

    /// The memory of a connection has changed.
    #[inline]
    pub(super) const fn note(&mut self, before: usize, now: usize) {
        self.held = self.held + now - before;
    }

    /// Whether all of the memory is in use.
    #[inline]
    pub(super) const fn is_used_up(&self) -> bool {
        self.held >= self.most
    }

    /// The memory of all buffers.
    pub(super) const fn held(&self) -> usize {
        self.held
    }

    /// How large a buffer may become that has `size` bytes now. Sizes are powers of two.
    #[inline]
    pub(super) fn largest(&self, size: usize) -> usize {
        let most = size.saturating_add(self.most.saturating_sub(self.held));
        most.checked_ilog2().map_or(0, |log| 1 << log).max(SHARE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_may_grow_into_what_is_free_and_always_has_its_share() {
        let mut budget = Budget::new(1 << 20);
        assert_eq!(budget.largest(0), 1 << 20);
        budget.note(0, 800_000);
        assert_eq!(budget.largest(0), 1 << 17, "248 576 bytes are free");
        assert!(!budget.is_used_up());
        assert_eq!(budget.largest(1 << 18), 1 << 18);
        budget.note(100_000, 700_000);
        assert_eq!((budget.held(), budget.is_used_up()), (1_400_000, true));
        assert_eq!((budget.largest(0), budget.largest(1 << 17)), (SHARE, 1 << 17));
        budget.note(1_400_000, 0);
        assert_eq!(budget.largest(4096), 1 << 20);
    }
}
