//! Positions and times that a stream remembers: its edges, requests of the receiver, and the sender's recovery.

use crate::follow::retransmission::Phase;
use crate::stamp::Stamp;

/// The first position that is not acknowledged, and the one after the last byte seen.
#[derive(Clone, Copy, Debug)]
pub(in crate::follow) struct Edges {
    pub(in crate::follow) una: i64,
    pub(in crate::follow) next: i64,
}

/// The receiver reports that `start` to `end` is missing.
#[derive(Clone, Copy, Debug)]
pub(in crate::follow) struct Asked {
    pub(in crate::follow) at: Stamp,
    pub(in crate::follow) start: i64,
    pub(in crate::follow) end: i64,
}

/// The sender's recovery: its start and its end position.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::follow) struct Repair {
    pub(in crate::follow) phase: Phase,
    pub(in crate::follow) since: Stamp,
    pub(in crate::follow) until: i64,
    /// Whether the last outstanding segment was retransmitted.
    pub(in crate::follow) rescued: bool,
    /// Whether an ACK has shown that the timeout that began it was needless.
    pub(in crate::follow) needless: bool,
    /// Whether the latest ACK reports that data of this recovery arrived twice (RFC 2883).
    pub(in crate::follow) copied: bool,
    /// The recovery before, and when it ended.
    pub(in crate::follow) before: (Phase, Stamp),
}

impl Repair {
    /// Whether the retransmission of the data at `start` is no part of the repair after a timeout. `next` is the next new position,
    /// `passed` says whether later data was repaired before, and `segment` is the length of a full segment.
    ///
    /// After a timeout, all that was outstanding then is sent again before anything new, but for two segments that show whether
    /// the timeout was needless (RFC 5682, section 2.1). A sender that sends more skips what is missing: it has taken the timeout
    /// back. What left after the timeout does not belong to its repair either.
    pub(in crate::follow) const fn leaves_out(
        &self,
        start: i64,
        next: i64,
        passed: bool,
        segment: u32,
    ) -> bool {
        let skipped = !passed && next - self.until > 2 * segment as i64;
        start >= self.until || skipped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sender_that_sends_new_data_before_what_is_missing_has_taken_the_timeout_back() {
        let repair = Repair { phase: Phase::Timeout, until: 9000, ..Repair::default() };
        assert!(!repair.leaves_out(5000, 11_000, false, 1000), "two segments test whether it was needless");
        assert!(repair.leaves_out(5000, 12_000, false, 1000));
        assert!(!repair.leaves_out(5000, 12_000, true, 1000), "it was sent again before, and was lost");
    }

    #[test]
    fn what_left_after_a_timeout_is_no_part_of_its_repair() {
        let repair = Repair { phase: Phase::Timeout, until: 9000, ..Repair::default() };
        assert!(!repair.leaves_out(8000, 10_000, false, 1000));
        assert!(repair.leaves_out(9000, 10_000, false, 1000));
    }
}
