//! Whether a segment that fills a gap was reordered in the network, or was lost before the capture point and
//! retransmitted (after Jaiswal, Iannaccone, Diot, Kurose, Towsley: "Measurement and classification of out-of-sequence
//! packets in a Tier-1 IP backbone", IEEE/ACM Transactions on Networking 15(1), 2007, section III).

use crate::follow::retransmission::{
    Cause, Evidence, Phase, Verdict, is_reported, judge, nobody_could_know, plus, waited_after_report,
};
use crate::follow::stream::pieces::Sending;
use netspurt_tcp::time::Span;

/// IP identifications with a larger distance are not from one counter.
const NEAR: i16 = 64;

/// The kind of a segment that fills a gap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::follow) enum Late {
    /// The first transmission, which arrives after later ones.
    Overtaken,
    /// A retransmission of a segment that was lost before the capture point.
    Resent(Cause),
}

/// Classifies a segment that fills a gap; `opener` is the segment that created the gap.
///
/// The sender's timestamps and IP identifications decide if it has them: a segment sent after the opener is a
/// retransmission. Otherwise it is one if the sender had a reason and enough time for a retransmission.
pub(in crate::follow) fn judge_late(e: &Evidence, this: &Sending, opener: &Sending) -> Late {
    let resent = || match judge(e) {
        Verdict::Resent(cause) => Late::Resent(cause),
        // The report that caused it was not the opener's: segments sent later have been delivered in this recovery (RFC 8985).
        Verdict::Copied => Late::Resent(match e.phase {
            Phase::Fast => Cause::Fast,
            Phase::Timeout => Cause::Timeout,
            Phase::Open => Cause::Unexplained,
        }),
    };
    if let (Some(this), Some(opener)) = (this.value, opener.value) {
        match this.wrapping_sub(opener).cast_signed() {
            0 => {}
            1.. => return resent(),
            _ => return Late::Overtaken,
        }
    }
    if this.identification != 0 && opener.identification != 0 {
        match this.identification.wrapping_sub(opener.identification).cast_signed() {
            1..=NEAR => return resent(),
            before if (-NEAR..0).contains(&before) => return Late::Overtaken,
            _ => {}
        }
    }
    let after = e.after.unwrap_or(Span::MAX);
    if nobody_could_know(e, after) {
        return Late::Overtaken;
    }
    if waited_after_report(e, after) {
        return Late::Resent(Cause::Fast);
    }
    let round = plus(e.ahead.smoothed(), e.behind.smoothed());
    if e.asked
        || is_reported(e) && after >= e.behind.least()
        || after > plus(round, round.max(Span::from_ms(50)))
    {
        return resent();
    }
    Late::Overtaken
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::follow::rtt::estimate::Estimate;
    use crate::stamp::Stamp;

    fn sending(value: Option<u32>, identification: u16) -> Sending {
        Sending { at: Stamp(0), value, identification }
    }

    fn evidence(after_ms: u64) -> Evidence {
        let mut behind = Estimate::default();
        behind.process(Span::from_ms(100));
        let after = Span::from_ms(after_ms);
        Evidence { segment: 1000, behind, after: Some(after), quiet: after, ..Evidence::default() }
    }

    #[test]
    fn the_senders_timestamps_decide() {
        let late = |value| judge_late(&evidence(300), &sending(Some(value), 0), &sending(Some(5), 0));
        assert_eq!(late(4), Late::Overtaken);
        assert_eq!(late(u32::MAX), Late::Overtaken, "the clock wraps");
        assert_eq!(late(6), Late::Resent(Cause::Timeout));
    }

    #[test]
    fn a_retransmission_soon_after_the_opener_belongs_to_the_recovery() {
        let soon = |phase| {
            let e = Evidence { phase, first: true, ..evidence(10) };
            judge_late(&e, &sending(Some(6), 0), &sending(Some(5), 0))
        };
        assert_eq!(soon(Phase::Fast), Late::Resent(Cause::Fast));
        assert_eq!(soon(Phase::Timeout), Late::Resent(Cause::Timeout));
        assert_eq!(soon(Phase::Open), Late::Resent(Cause::Unexplained));
    }

    #[test]
    fn ip_identifications_decide_without_timestamps() {
        let late = |number| judge_late(&evidence(300), &sending(None, number), &sending(None, 500));
        assert_eq!(late(499), Late::Overtaken);
        assert_eq!(late(501), Late::Resent(Cause::Timeout));
    }

    #[test]
    fn without_both_time_and_cause_decide() {
        let nothing = sending(None, 0);
        let late = |e: &Evidence| judge_late(e, &nothing, &nothing);
        assert_eq!(late(&evidence(10)), Late::Overtaken);
        assert_eq!(late(&Evidence { dup_acks: 4, first: true, ..evidence(10) }), Late::Overtaken);
        let reported = Evidence { dup_acks: 4, first: true, ..evidence(105) };
        assert_eq!(late(&reported), Late::Resent(Cause::Fast));
        assert_eq!(late(&evidence(400)), Late::Resent(Cause::Timeout));
    }
}
