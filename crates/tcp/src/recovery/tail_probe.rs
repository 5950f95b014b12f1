//! Tail loss probes: if no ACK arrives, one segment is sent before the retransmission timer expires (RFC 8985, section 7).

use crate::time::Span;

/// How long a peer may delay its ACK of a lone segment (section 7.2, `TLP.max_ack_delay`; Linux: `TCP_RTO_MIN`).
const ACK_DELAY: Span = Span::from_ms(200);

/// The probe timeout before the first RTT sample (section 7.2).
const UNMEASURED: Span = Span::from_secs(1);

/// An outstanding probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Probe(Option<Out>);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Out {
    /// TLP.end_seq: the end of the outstanding data when it was sent.
    end: u64,
    /// TLP.is_retrans: it carried no new data.
    is_resend: bool,
}

/// What an ACK shows about the probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    /// Nothing that matters.
    Nothing,
    /// The probe repaired a loss: congestion control gets a signal.
    RepairedLoss,
}

impl Probe {
    /// None is outstanding.
    pub(crate) const NONE: Self = Self(None);

    /// Whether no probe is outstanding.
    #[inline]
    pub(crate) fn is_over(self) -> bool {
        self.0.is_none()
    }

    /// Whether a probe is outstanding that was sent when the data ended at `end`.
    #[inline]
    pub(crate) fn ends_at(self, end: u64) -> bool {
        self.0.is_some_and(|out| out.end == end)
    }

    /// Whether a probe without new data is outstanding.
    pub(crate) fn is_resend(self) -> bool {
        self.0.is_some_and(|out| out.is_resend)
    }

    /// A probe is sent.
    pub(crate) fn sent(&mut self, end: u64, is_resend: bool) {
        self.0 = Some(Out { end, is_resend });
    }

    /// Section 7.4.2: processes an ACK up to `ack`. `again`: the end of what its D-SACK reports; one of other data says nothing
    /// about the probe. `is_duplicate`: the ACK acknowledges and reports nothing new.
    pub(crate) fn answered(&mut self, ack: u64, again: Option<u64>, is_duplicate: bool) -> Answer {
        let Some(Out { end, is_resend }) = self.0.filter(|out| ack >= out.end) else {
            return Answer::Nothing;
        };
        if !is_resend || again == Some(end) {
            self.0 = None;
        } else if ack > end {
            self.0 = None;
            return Answer::RepairedLoss;
        } else if is_duplicate {
            self.0 = None;
        }
        Answer::Nothing
    }
}

/// PTO: two RTTs; more if the ACK of a single segment may be delayed (section 7.2).
#[inline]
pub(crate) fn timeout(srtt: Option<Span>, is_lone: bool) -> Span {
    match srtt {
        None => UNMEASURED,
        Some(srtt) if is_lone => srtt.saturating_mul(2) + ACK_DELAY,
        Some(srtt) => srtt.saturating_mul(2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe(is_resend: bool) -> Probe {
        let mut probe = Probe::NONE;
        probe.sent(1001, is_resend);
        probe
    }

    #[test]
    fn a_probe_with_new_data_repairs_no_loss() {
        let mut new = probe(false);
        assert_eq!(new.answered(1000, None, false), Answer::Nothing);
        assert!(!new.is_over());
        assert_eq!(new.answered(1101, None, false), Answer::Nothing);
        assert!(new.is_over());
    }

    #[test]
    fn a_resent_tail_that_is_not_reported_twice_had_been_lost() {
        let mut lost = probe(true);
        assert_eq!(lost.answered(1001, None, false), Answer::Nothing);
        assert_eq!(lost.answered(1101, None, false), Answer::RepairedLoss);
        let mut twice = probe(true);
        assert_eq!(twice.answered(1001, Some(501), false), Answer::Nothing);
        assert!(!twice.is_over(), "other data");
        assert_eq!(twice.answered(1001, Some(1001), false), Answer::Nothing);
        assert!(twice.is_over());
        let mut silent = probe(true);
        silent.answered(1001, None, true);
        assert!(silent.is_over());
    }

    #[test]
    fn the_ack_of_a_lone_segment_may_take_its_time() {
        let srtt = Some(Span::from_ms(50));
        assert_eq!(timeout(srtt, false), Span::from_ms(100));
        assert_eq!(timeout(srtt, true), Span::from_ms(300));
        assert_eq!(timeout(None, true), Span::from_secs(1));
    }
}
