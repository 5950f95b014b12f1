//! Detects spurious recoveries and timeouts: by an ACK that answers the original transmission (Eifel, RFC 3522), or by
//! D-SACKs of all retransmissions (RFC 3708, section 2).

/// What has shown a recovery or a timeout to be spurious.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shown {
    /// The echo of a timestamp before the first retransmission; or nothing was sent again yet.
    Echo,
    /// D-SACKs of all retransmissions.
    Duplicates,
    /// Data that was sent once before a timeout is delivered after it (F-RTO).
    Delivery,
}

/// The state that shows whether a recovery was spurious.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Undo {
    /// The first unacknowledged position at its start.
    una: u64,
    /// Number of retransmitted segments that no D-SACK has reported.
    unreported: u32,
    /// The timestamp value (TSval) of the first retransmission.
    stamp: Option<u32>,
}

impl Undo {
    /// A recovery begins. Retransmissions of an earlier recovery may still be in flight and may also cause D-SACKs. Their
    /// number and the timestamp of the first one are arguments (Linux, `tcp_init_undo()`).
    pub(crate) const fn new(una: u64, unreported: u32, stamp: Option<u32>) -> Self {
        Self { una, unreported, stamp }
    }

    /// The timestamp value of the first retransmission.
    pub(crate) const fn stamp(&self) -> Option<u32> {
        self.stamp
    }

    /// A segment is retransmitted with this timestamp.
    pub(crate) fn resent(&mut self, stamp: u32) {
        self.stamp.get_or_insert(stamp);
        self.unreported += 1;
    }

    /// RFC 3522, section 3.2: the first ACK of retransmitted data echoes an older timestamp, so it answers the original.
    pub(crate) fn answers_original(&self, ack: u64, echo: u32) -> bool {
        ack > self.una && self.stamp.is_some_and(|stamp| (echo.wrapping_sub(stamp) as i32) < 0)
    }

    /// Whether nothing was retransmitted yet, and an ACK up to `ack` acknowledges data of the recovery.
    pub(crate) const fn has_resent_nothing(&self, ack: u64) -> bool {
        ack > self.una && self.stamp.is_none()
    }

    /// Whether something was retransmitted, and D-SACKs have reported all of it.
    pub(crate) const fn has_all_twice(&self) -> bool {
        self.unreported == 0 && self.stamp.is_some()
    }

    /// Processes a D-SACK of data up to `end`. It counts only for data of this recovery (`tcp_check_dsack()`). Returns
    /// whether all retransmissions are reported now.
    pub(crate) fn reported_twice(&mut self, end: u64) -> bool {
        if end <= self.una {
            return false;
        }
        let last = self.unreported == 1;
        self.unreported = self.unreported.saturating_sub(1);
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ack_with_an_older_timestamp_answers_the_original() {
        let mut undo = Undo::new(1000, 0, None);
        assert!(!undo.answers_original(2000, 1), "nothing was sent again");
        assert!(undo.has_resent_nothing(1001) && !undo.has_resent_nothing(1000));
        undo.resent(50);
        undo.resent(60);
        assert!(!undo.has_resent_nothing(2000));
        assert!(undo.answers_original(2000, 49));
        assert!(!undo.answers_original(2000, 50));
        assert!(!undo.answers_original(1000, 49), "it acknowledges nothing of it");
        let mut wrapped = Undo::new(1000, 0, None);
        wrapped.resent(3);
        assert!(wrapped.answers_original(2000, u32::MAX));
    }

    #[test]
    fn what_an_earlier_recovery_sent_again_is_no_original() {
        let mut undo = Undo::new(1000, 1, Some(40));
        undo.resent(50);
        assert!(!undo.answers_original(2000, 45));
        assert!(undo.answers_original(2000, 39));
    }

    #[test]
    fn all_that_was_sent_again_must_have_arrived_twice() {
        let mut undo = Undo::new(1000, 1, Some(1));
        undo.resent(2);
        assert!(!undo.reported_twice(2000));
        assert!(!undo.reported_twice(1000), "data of an earlier recovery");
        assert!(!undo.has_all_twice());
        assert!(undo.reported_twice(3000));
        assert!(undo.has_all_twice());
        assert!(!undo.reported_twice(3000));
    }
}
