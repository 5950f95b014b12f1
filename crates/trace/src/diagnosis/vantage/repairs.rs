//! The round trip to a sender without timestamps, from the segments that it sends again.
//!
//! A sender sends a missing segment again at once when the third duplicate ACK arrives (RFC 5681, section 3.2), and the next one when
//! an ACK acknowledges only a part of what was outstanding (RFC 6582, section 3.2). Away from that sender, the time from
//! this ACK to the segment is the round trip between here and the sender, with all queues on it. Whatever else it had to send: no
//! application and no window makes it wait.

/// Duplicate ACKs after which a segment counts as lost.
const DUPLICATES: u8 = 3;

/// When ACKs have asked for the first missing segment.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::diagnosis) struct Asked {
    /// The first missing byte.
    front: i64,
    /// When the first ACK up to it was captured.
    since: u64,
    duplicates: u8,
    /// When the last of the duplicate ACKs was that ask for it.
    by_duplicates: Option<u64>,
}

impl Asked {
    /// An ACK of everything below `ack` is captured; `bare` if it has no data.
    pub(in crate::diagnosis) fn note_ack(&mut self, at: u64, ack: i64, bare: bool) {
        if ack > self.front {
            *self = Self { front: ack, since: at, ..Self::default() };
        } else if ack == self.front && bare && self.duplicates < DUPLICATES {
            self.duplicates += 1;
            self.by_duplicates = (self.duplicates == DUPLICATES).then_some(at);
        }
    }

    /// Nanoseconds since an ACK has asked for the segment at `start`, which is sent again after duplicate ACKs; `None` if no ACK is
    /// known that has. `repairing`: whether others were sent again before it, so that an ACK of these has asked for it.
    pub(in crate::diagnosis) fn take(&mut self, at: u64, start: i64, repairing: bool) -> Option<u64> {
        let asked =
            if repairing { (self.duplicates < DUPLICATES).then_some(self.since) } else { self.by_duplicates };
        let asked = asked.filter(|_| start == self.front)?;
        // The next time that it is sent, it was lost again.
        self.front = i64::MIN;
        Some(at.saturating_sub(asked))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_third_duplicate_ack_asks_for_a_segment_and_only_once() {
        let mut asked = Asked::default();
        for (at, ack) in [(10, 1000), (20, 1000), (30, 1000)] {
            asked.note_ack(at, ack, true);
        }
        assert_eq!(asked.take(90, 1000, false), None, "only two are duplicates");
        for at in [40, 50] {
            asked.note_ack(at, 1000, true);
        }
        assert_eq!(asked.take(95, 2000, false), None, "another segment");
        assert_eq!(asked.take(100, 1000, false), Some(60));
        assert_eq!(asked.take(300, 1000, false), None);
    }

    #[test]
    fn an_ack_of_a_part_asks_for_the_next_segment() {
        let mut asked = Asked::default();
        asked.note_ack(10, 1000, true);
        asked.note_ack(80, 5000, true);
        assert_eq!(asked.take(130, 5000, true), Some(50));
    }
}
