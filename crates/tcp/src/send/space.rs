//! The send sequence space.
//!
//! Positions count from our SYN, which is 0. Stream offset `n` is position `n + 1`. The FIN follows the last byte.
//! [`Connection::decide`] decides what to send and returns the reason; it changes no state.

use crate::congestion::cwnd_validation::Usage;
use crate::ranges::Range;
use crate::record::reason::{Hold, Reason};
use crate::send::write::marks::Marks;
use crate::time::{Coarse, Time};
use crate::wire::segment::Flags;
use crate::wire::seq::Seq;

/// What to send, and why.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Plan {
    /// Position of the first byte, SYN or FIN.
    pub(crate) start: u64,
    /// Bytes of data.
    pub(crate) len: u32,
    /// SYN, FIN and PSH. The output adds ACK.
    pub(crate) flags: Flags,
    pub(crate) reason: Reason,
}

/// The decision of a sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Decision {
    Send(Plan),
    /// Send a short segment, which the transmission policy needs to record.
    Short(Plan),
    /// Send the last segment for now, with the reason why no other follows.
    Last(Plan, Hold),
    Hold(Hold),
}

/// The result of the check of an acknowledgment number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AckVerdict {
    Acceptable,
    /// Below SND.UNA by more than the largest window of the peer.
    TooOld,
    /// It acknowledges data that was never sent.
    Unsent,
}

/// The send sequence space.
#[derive(Debug)]
pub(crate) struct SendSpace {
    iss: Seq,
    /// SND.UNA.
    pub(super) una: u64,
    /// SND.NXT. A timeout sets it back to `una`.
    pub(super) nxt: u64,
    /// SND.MAX: the position after the highest one ever sent.
    pub(super) max: u64,
    /// SND.WND: the peer's window.
    pub(super) wnd: u32,
    /// The largest window that the peer ever announced (MAX.SND.WND of RFC 5961).
    pub(super) max_wnd: u32,
    /// SND.WL1.
    pub(super) wl1: Seq,
    /// SND.WL2.
    pub(super) wl2: Seq,
    /// Bytes that the application has written.
    pub(super) written: u64,
    /// The positions after each unacknowledged end of application data.
    pub(super) marks: Marks,
    /// When our SYN was first sent.
    pub(super) first_sent: Coarse,
    /// The state of cwnd validation.
    pub(super) usage: Usage,
    /// When the last segment with data was sent.
    pub(super) last_sent: Time,
}

impl SendSpace {
    pub(crate) fn new(iss: Seq) -> Self {
        Self {
            iss,
            una: 0,
            nxt: 0,
            max: 0,
            wnd: 0,
            max_wnd: 0,
            wl1: Seq(0),
            wl2: Seq(0),
            written: 0,
            marks: Marks::default(),
            first_sent: Coarse::default(),
            usage: Usage::default(),
            last_sent: Time::ZERO,
        }
    }

    /// SND.UNA.
    #[inline]
    pub(crate) fn una(&self) -> u64 {
        self.una
    }

    /// SND.NXT.
    #[inline]
    pub(crate) fn nxt(&self) -> u64 {
        self.nxt
    }

    /// SND.MAX: the position after the highest one ever sent.
    #[inline]
    pub(crate) fn max(&self) -> u64 {
        self.max
    }

    /// MAX.SND.WND: the peer's largest window so far.
    #[inline]
    pub(crate) fn max_wnd(&self) -> u32 {
        self.max_wnd
    }

    /// SND.WND: the peer's window.
    #[inline]
    pub(crate) fn wnd(&self) -> u32 {
        self.wnd
    }

    /// SND.WL1.
    pub(crate) fn wl1(&self) -> Seq {
        self.wl1
    }

    /// When the latest sequence numbers were sent.
    pub(crate) fn last_sent(&self) -> Time {
        self.last_sent
    }

    /// Bytes that the application has written.
    #[inline]
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// Whether an end of application data lies in this range.
    #[inline]
    pub(crate) fn is_marked(&self, start: u64, end: u64) -> bool {
        self.marks.lies_in(start, end)
    }

    /// Whether an acknowledgment number equals SND.UNA.
    #[inline]
    pub(crate) fn acknowledges_nothing_new(&self, ack: Seq) -> bool {
        ack == self.seq(self.una)
    }

    /// The position of an acknowledgment number, if it was sent.
    pub(crate) fn acknowledged_by(&self, ack: Seq) -> Option<u64> {
        u64::try_from(self.position(ack)).ok().filter(|position| *position <= self.max)
    }

    /// Whether an acknowledgment number is below SND.UNA.
    #[inline]
    pub(crate) fn is_old_ack(&self, ack: Seq) -> bool {
        ack.distance_from(self.seq(self.una)) < 0
    }

    /// Whether an acknowledgment number is acceptable: SND.UNA − MAX.SND.WND ≤ SEG.ACK ≤ SND.NXT (RFC 5961, section 5).
    #[inline]
    pub(crate) fn judge_ack(&self, ack: Seq) -> AckVerdict {
        let ack = self.position(ack);
        if ack > self.max as i64 {
            AckVerdict::Unsent
        } else if ack < self.una as i64 - i64::from(self.max_wnd) {
            AckVerdict::TooOld
        } else {
            AckVerdict::Acceptable
        }
    }

    /// The sequence number of a position.
    #[inline]
    pub(crate) fn seq(&self, position: u64) -> Seq {
        self.iss.plus(position as u32)
    }

    /// The position of an acknowledgment number: the one nearest to SND.UNA.
    #[inline]
    pub(crate) fn position(&self, seq: Seq) -> i64 {
        self.una as i64 + i64::from(seq.distance_from(self.seq(self.una)))
    }

    /// The position of the FIN, after the last byte written.
    #[inline]
    pub(crate) fn data_end(&self) -> u64 {
        1 + self.written
    }

    /// Whether our FIN has been sent.
    #[inline]
    pub(crate) fn fin_sent(&self) -> bool {
        self.max > self.data_end()
    }

    /// Whether our FIN has been acknowledged.
    #[inline]
    pub(crate) fn fin_acknowledged(&self) -> bool {
        self.una > self.data_end()
    }

    /// Whether anything is unacknowledged.
    #[inline]
    pub(crate) fn is_outstanding(&self) -> bool {
        self.una < self.max
    }

    /// Whether a segment with these numbers is not older than the last one that updated the window.
    #[inline]
    pub(super) fn is_latest(&self, seq: Seq, ack: Seq) -> bool {
        let ahead = ack.distance_from(self.wl2);
        ahead > 0 || (ahead == 0 && seq.distance_from(self.wl1) >= 0)
    }

    /// Updates the peer's window if the segment is not older than the one that set it (RFC 9293, section 3.10.7.4). The
    /// acknowledgment number has priority over the sequence number. A retransmission has an old sequence number and a
    /// new acknowledgment number. An old window with a newer acknowledgment number would exceed the announced right
    /// edge.
    #[inline]
    pub(crate) fn update_window(&mut self, seq: Seq, ack: Seq, window: u32) -> bool {
        let current = self.is_latest(seq, ack);
        if current {
            self.wl1 = seq;
            self.wl2 = ack;
            self.wnd = window;
            self.max_wnd = self.max_wnd.max(window);
        }
        current
    }

    /// Whether Linux takes the window from a segment (`tcp_may_update_window()`): one with the numbers of the last one must open
    /// or close it.
    pub(crate) fn may_update_window(&self, seq: Seq, ack: Seq, window: u32) -> bool {
        let is_repeated = ack == self.wl2 && seq == self.wl1;
        self.is_latest(seq, ack) && (!is_repeated || window > self.wnd || window == 0)
    }

    /// The plan that retransmits `range`: its data, and the FIN if it was sent and the range includes it.
    pub(crate) fn again(&self, range: Range, reason: Reason) -> Plan {
        let data_end = range.end.min(self.data_end());
        let len = data_end.saturating_sub(range.start) as u32;
        self.plan(range.start, len, reason, self.fin_sent())
    }

    /// A plan for `len` bytes at `start`. It has PSH if an end of application data lies in it. It has FIN if `fin`
    /// permits it and the bytes reach the end.
    #[inline]
    pub(crate) fn plan(&self, start: u64, len: u32, reason: Reason, fin: bool) -> Plan {
        let end = start + u64::from(len);
        let mut flags = Flags::NONE;
        if self.marks.lies_in(start, end) {
            flags = flags | Flags::PSH;
        }
        if fin && end == self.data_end() {
            flags = flags | Flags::FIN;
        }
        Plan { start, len, flags, reason }
    }
}
