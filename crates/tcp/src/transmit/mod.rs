//! When a short segment may leave. Each policy is a file with its rule; all are judged through one pure function.

mod nagle;

use crate::reason::Hold;

/// The choice of a transmission policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transmit {
    /// At once.
    NoDelay,
    /// Nagle's rule, each segment judged alone: a short one waits while anything is unacknowledged (RFC 896;
    /// RFC 9293, section 3.7.4).
    NagleStrict,
}

/// What a policy may look at.
#[derive(Clone, Copy, Debug)]
pub struct Situation {
    /// Bytes written and not yet sent.
    pub available: u64,
    /// Bytes that the windows permit.
    pub allowed: u64,
    /// Bytes of a full segment.
    pub mss: u32,
    /// Bytes sent and not acknowledged.
    pub unacknowledged: u64,
    /// The largest window that the peer ever offered.
    pub max_window: u32,
    /// The application has closed: no more will come behind what is available.
    pub closing: bool,
}

/// What a policy says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Send a segment of so many bytes now.
    Send(u32),
    /// Wait.
    Hold(Hold),
}

/// Judges the next segment: silly-window avoidance first (RFC 9293, section 3.8.6.2.1), then the policy.
#[inline]
pub fn judge(policy: Transmit, s: &Situation) -> Verdict {
    let full = u64::from(s.mss);
    if s.available.min(s.allowed) >= full {
        return Verdict::Send(s.mss);
    }
    if s.available > s.allowed {
        // The window, not the data, makes it short: worth sending only if it is the best the peer can offer.
        let worth = s.unacknowledged == 0 && s.allowed > 0 && s.allowed >= u64::from(s.max_window) / 2;
        return if worth { Verdict::Send(s.allowed as u32) } else { Verdict::Hold(Hold::SillyWindow) };
    }
    let may_leave = s.closing
        || match policy {
            Transmit::NoDelay => true,
            Transmit::NagleStrict => nagle::strict(s.unacknowledged),
        };
    if may_leave { Verdict::Send(s.available as u32) } else { Verdict::Hold(Hold::ShortSegment) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: Situation = Situation {
        available: 0,
        allowed: 10_000,
        mss: 1000,
        unacknowledged: 0,
        max_window: 10_000,
        closing: false,
    };

    #[test]
    fn a_full_segment_always_leaves() {
        let s = Situation { available: 5000, unacknowledged: 4000, ..BASE };
        assert_eq!(judge(Transmit::NagleStrict, &s), Verdict::Send(1000));
    }

    #[test]
    fn nagle_holds_a_tail_while_anything_is_unacknowledged() {
        let s = Situation { available: 300, unacknowledged: 1, ..BASE };
        assert_eq!(judge(Transmit::NagleStrict, &s), Verdict::Hold(Hold::ShortSegment));
        assert_eq!(judge(Transmit::NoDelay, &s), Verdict::Send(300));
        let idle = Situation { unacknowledged: 0, ..s };
        assert_eq!(judge(Transmit::NagleStrict, &idle), Verdict::Send(300));
    }

    #[test]
    fn the_last_tail_before_the_end_leaves_at_once() {
        let s = Situation { available: 300, unacknowledged: 1, closing: true, ..BASE };
        assert_eq!(judge(Transmit::NagleStrict, &s), Verdict::Send(300));
    }

    #[test]
    fn a_sliver_of_window_is_not_used() {
        let s = Situation { available: 5000, allowed: 300, ..BASE };
        assert_eq!(judge(Transmit::NoDelay, &s), Verdict::Hold(Hold::SillyWindow));
    }

    #[test]
    fn half_of_the_largest_window_is_used_when_nothing_is_out() {
        let s = Situation { available: 5000, allowed: 300, max_window: 600, ..BASE };
        assert_eq!(judge(Transmit::NoDelay, &s), Verdict::Send(300));
        let busy = Situation { unacknowledged: 100, ..s };
        assert_eq!(judge(Transmit::NoDelay, &busy), Verdict::Hold(Hold::SillyWindow));
    }
}
