//! Recovery without SACK as in Linux: each duplicate ACK counts as the report of one segment (`tcp_add_reno_sack()`).
//!
//! How many segments have arrived is known, but not which ones. Counted segments are not in the network, so cwnd is not
//! inflated, and PRR, undo and F-RTO apply as with SACK. Duplicate ACKs and partial ACKs show the next lost segment
//! (`tcp_newreno_mark_lost()`); times show none.
//!
//! The rules are here; `applied.rs` applies them.

mod applied;

use super::{LossState, OnNewAck, Phase};

/// The largest threshold of duplicate ACKs (`net.ipv4.tcp_max_reordering`).
const MOST_REORDERING: u64 = 300;

/// What duplicate ACKs report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Counted {
    /// Bytes (`sacked_out`).
    bytes: u32,
    /// So many duplicate ACKs reveal a loss (`reordering`); 0 until more of them than outstanding segments have come.
    threshold: u16,
}

/// The data that was sent and not acknowledged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Outstanding {
    bytes: u64,
    /// Bytes of it that are marked lost.
    lost: u64,
    mss: u64,
}

/// What an ACK adds to what is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Counting {
    /// Bytes that it is the first to report as delivered.
    newly: u64,
    /// There were more reports than segments, which sets the threshold anew.
    overtaken: bool,
}

impl Counted {
    /// Nothing.
    pub(super) const NONE: Self = Self { bytes: 0, threshold: 0 };

    pub(super) fn bytes(self) -> u64 {
        u64::from(self.bytes)
    }

    /// Forgets the reports, and keeps the threshold.
    pub(super) fn forget(self) -> Self {
        Self { bytes: 0, ..self }
    }

    /// The duplicate ACKs that reveal a loss; `configured` until the order of segments was seen to change.
    fn threshold(self, configured: u8) -> u64 {
        if self.threshold > 0 { u64::from(self.threshold) } else { u64::from(configured) }
    }

    /// A duplicate ACK reports a segment (`tcp_add_reno_sack()`).
    fn add(&mut self, data: Outstanding) -> Counting {
        let before = self.bytes();
        self.bytes = self.bytes.saturating_add(u32::try_from(data.mss).unwrap_or(u32::MAX));
        let overtaken = self.limit(data, 0);
        Counting { newly: self.bytes().saturating_sub(before), overtaken }
    }

    /// `acked` bytes are acknowledged; `data` remains. One segment of them fills the hole; the others had been counted
    /// (`tcp_remove_reno_sacks()`). What is newly delivered is at least a segment.
    fn acknowledge(&mut self, acked: u64, data: Outstanding) -> Counting {
        let newly = acked.saturating_sub(self.bytes()).max(data.mss.min(acked));
        let eaten = u32::try_from(acked.saturating_sub(data.mss)).unwrap_or(u32::MAX);
        self.bytes = self.bytes.saturating_sub(eaten);
        Counting { newly, overtaken: self.limit(data, acked) }
    }

    /// At least one segment, or the lost ones, cannot be among those reported (`tcp_limit_reno_sacked()`). More reports show
    /// that segments overtook each other: from now on as many duplicate ACKs reveal a loss as segments were outstanding
    /// (`tcp_check_reno_reordering()`). Returns whether they do.
    fn limit(&mut self, data: Outstanding, acked: u64) -> bool {
        let most = data.bytes.saturating_sub(data.lost.max(data.mss));
        let overtaken = self.bytes() > most;
        if overtaken {
            self.bytes = u32::try_from(most).unwrap_or(u32::MAX);
            let segments = (data.bytes + acked).div_ceil(data.mss.max(1));
            self.threshold = segments.min(MOST_REORDERING) as u16;
        }
        overtaken
    }
}

/// An ACK of everything below `una` in fast recovery. Recovery ends only with an ACK beyond the data that was outstanding
/// at the loss: duplicate ACKs of that data must not begin another one (`tcp_is_non_sack_preventing_reopen()`).
pub(super) fn on_new_ack(state: &LossState, una: u64) -> OnNewAck {
    if una > state.recover { OnNewAck::Exit } else { OnNewAck::Partial }
}

/// The same after a timeout: it ends with an ACK beyond that data, too.
pub(super) fn on_new_ack_after_timeout(state: &LossState, una: u64) -> OnNewAck {
    if una > state.recover { OnNewAck::Exit } else { OnNewAck::Ordinary }
}

/// Whether the first outstanding segment, at `una`, is lost. `enough`: bytes reported by the duplicate ACKs that reveal a
/// loss. `advanced`: the present ACK acknowledges new data.
fn shows_loss(state: &LossState, counted: Counted, una: u64, enough: u64, advanced: bool) -> bool {
    match state.phase {
        Phase::Open => counted.bytes() >= enough && una > state.recover,
        Phase::Fast => advanced && una < state.recover,
        Phase::Loss => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    #[test]
    fn an_ack_delivers_what_the_duplicates_had_not_reported_and_at_least_a_segment() {
        let mut counted = Counted::NONE;
        (0..3).for_each(|_| assert_eq!(counted.add(data(20)).newly, MSS));
        assert_eq!(counted.acknowledge(2 * MSS, data(18)).newly, MSS, "both count, and the one in the hole");
        assert_eq!(counted.bytes(), 2 * MSS);
        assert_eq!(counted.acknowledge(6 * MSS, data(12)).newly, 4 * MSS);
        assert_eq!((counted.bytes(), counted.threshold), (0, 0));
    }

    #[test]
    fn what_is_counted_leaves_room_for_the_lost_segment() {
        let mut counted = Counted::NONE;
        let added = [(); 3].map(|()| counted.add(data(3)));
        assert_eq!(added.map(|one| one.newly), [MSS, MSS, 0]);
        assert_eq!(added.map(|one| one.overtaken), [false, false, true]);
    }

    #[test]
    fn more_reports_than_segments_raise_the_threshold_to_the_number_of_segments() {
        let mut counted = Counted::NONE;
        add(&mut counted, 9, 10);
        assert_eq!(counted.threshold(3), 3);
        counted.add(data(10));
        assert_eq!((counted.bytes(), counted.threshold(3)), (9 * MSS, 10));
        assert_eq!(counted.forget().threshold(3), 10, "it stays");
        add(&mut counted, 600, 500);
        assert_eq!(counted.threshold(3), MOST_REORDERING);
        // Reports that do not fit below what an ACK leaves show it, too.
        let mut counted = Counted::NONE;
        add(&mut counted, 6, 20);
        counted.acknowledge(MSS, data(5));
        assert_eq!((counted.bytes(), counted.threshold(3)), (4 * MSS, 6));
    }

    /// So many duplicate ACKs while `segments` are outstanding.
    fn add(counted: &mut Counted, times: usize, segments: u64) {
        for _ in 0..times {
            counted.add(data(segments));
        }
    }

    fn data(segments: u64) -> Outstanding {
        Outstanding { bytes: segments * MSS, lost: 0, mss: MSS }
    }
}
