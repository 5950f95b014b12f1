//! Why a sender sent something again, as far as the packets at one place tell.

use super::delivered::Overtaken;
use super::estimate::Estimate;
use netspurt_tcp::time::Span;

/// A round-trip time that is shorter than this is taken for as much: a host may be busy for a while.
const BUSY: Span = Span::from_ms(10);

/// Less than this after its like, and without any loss in sight, a packet is a copy that the network, or the capture,
/// made.
const AT_ONCE: Span = Span::from_ms(5);

/// Why data went again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Cause {
    /// The retransmission timer ran out, now or not long ago: what was outstanding then is sent again.
    Timeout,
    /// Duplicate ACKs or SACK reported a loss (RFC 5681, section 3.2; RFC 6675; RFC 8985).
    Fast,
    /// After a silence the last segment went again, to draw a report on those before it (RFC 8985, section 7).
    TailProbe,
    /// The receiver asked for it (RFC 1106).
    Nak,
    /// Nothing that was captured explains it.
    Unexplained,
}

impl Cause {
    /// Every cause, in declaration order.
    pub const ALL: [Self; 5] = [Self::Timeout, Self::Fast, Self::TailProbe, Self::Nak, Self::Unexplained];

    /// The name used in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Fast => "fast",
            Self::TailProbe => "tail-probe",
            Self::Nak => "nak",
            Self::Unexplained => "unexplained",
        }
    }
}

/// What a sender is repairing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Phase {
    /// Nothing.
    #[default]
    Open,
    /// What duplicate ACKs or SACK reported.
    Fast,
    /// All that was outstanding when the timer ran out.
    Timeout,
}

/// What is known when something comes again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Evidence {
    /// It carries the SYN.
    pub(super) opening: bool,
    /// Since it was last seen; `None` if it was acknowledged so long ago that nobody remembers.
    pub(super) after: Option<Span>,
    /// Since the last ACK, or since it was last seen, whichever was later.
    pub(super) quiet: Span,
    /// Since anything came from its sender.
    pub(super) idle: Span,
    /// Since its sender sent anything again.
    pub(super) repaired: Span,
    /// Nothing before it is outstanding.
    pub(super) first: bool,
    /// Nothing behind it was sent.
    pub(super) last: bool,
    /// All of it is acknowledged or reported.
    pub(super) arrived: bool,
    /// It was reported lost, and the sender may have heard that before it heard anything else.
    pub(super) lately: bool,
    /// It is the last segment outstanding, SACK is in use, and the last one did not go again in this phase before.
    pub(super) rescue: bool,
    /// It went again in this phase before.
    pub(super) again: bool,
    /// By IP's own identification; `None` if its sender does not number packets.
    pub(super) same_packet: Option<bool>,
    /// A NAK has asked for it since.
    pub(super) asked: bool,
    /// Since a loss at the left edge was reported by three duplicate ACKs or by SACK; `None` if it was not.
    pub(super) known_for: Option<Span>,
    /// Duplicate ACKs in a row.
    pub(super) dup_acks: u32,
    /// Bytes behind it that SACK has reported.
    pub(super) reported_above: u64,
    /// SACK is in use, and something that was sent after it has arrived.
    pub(super) overtaken: Option<Overtaken>,
    /// The longest segment so far.
    pub(super) segment: u32,
    /// What its sender is repairing.
    pub(super) phase: Phase,
    /// From here to the receiver and back.
    pub(super) ahead: Estimate,
    /// From here to the sender and back.
    pub(super) behind: Estimate,
}

/// What came again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    /// Its sender sent it again.
    Resent(Cause),
    /// A copy that somebody on the way made.
    Copied,
}

/// Whether it comes after a silence, by a timer therefore, and not in answer to an ACK.
///
/// An answer follows its ACK by the time from here to the sender and back. A retransmission timeout is never shorter than
/// the whole round trip (RFC 6298, section 2), so half of one, or all of it if a loss was reported anyhow, tells the two
/// apart. Sooner than that it is a timer's if the sender was silent as well: what answers an ACK and has to wait in a
/// queue on the way comes close behind what waits there before it.
pub(super) fn is_silent(e: &Evidence) -> bool {
    let behind = e.behind.smoothed();
    let round = plus(e.ahead.smoothed(), behind);
    let slack = if is_reported(e) { round } else { round.scale(1, 2) };
    let stray = plus(behind, e.behind.variation().saturating_mul(4));
    e.quiet > plus(behind, slack.max(BUSY))
        || e.after.is_some() && e.quiet.min(e.idle) > plus(behind, stray.max(BUSY))
}

/// Judges what came again.
pub(super) fn judge(e: &Evidence) -> Verdict {
    use Verdict::{Copied, Resent};
    let round = plus(e.ahead.smoothed(), e.behind.smoothed());
    let after = e.after.unwrap_or(Span::MAX);
    if e.same_packet == Some(true) {
        return Copied;
    }
    let numbered = e.same_packet == Some(false);
    if e.rescue && e.phase == Phase::Fast {
        // It goes whenever there is nothing else to send, even if it was sent for the first time just now.
        return Resent(if is_silent(e) { Cause::Timeout } else { Cause::Fast });
    }
    if !numbered && nobody_could_know(e, after) {
        return Copied;
    }
    if e.opening {
        // A SYN is sent again by the timer only.
        return if after < AT_ONCE && !numbered { Copied } else { Resent(Cause::Timeout) };
    }
    let reported = is_reported(e);
    if waited_for_reordering(e) {
        return Resent(Cause::Fast);
    }
    if is_silent(e) {
        let probes = e.last && !e.first && e.phase == Phase::Open;
        return Resent(if probes { Cause::TailProbe } else { Cause::Timeout });
    }
    if e.asked {
        return Resent(Cause::Nak);
    }
    let prompt = is_prompt(e, e.quiet);
    if e.phase == Phase::Timeout {
        // Some senders let duplicate ACKs count though a timeout is being repaired.
        let third =
            e.again && e.first && e.dup_acks >= 3 && e.known_for.is_some_and(|since| is_prompt(e, since));
        return Resent(if third { Cause::Fast } else { Cause::Timeout });
    }
    if (is_overdue(e) || e.first && !prompt && !is_told(e)) && after >= round {
        return Resent(Cause::Timeout);
    }
    if reported && !e.again {
        return Resent(Cause::Fast);
    }
    // Sent again and lost again: RFC 8985 learns that from what was sent later, and acts on an ACK.
    if reported && prompt && after < round.scale(3, 2) || is_lost_by_time(e) {
        return Resent(Cause::Fast);
    }
    if prompt && !e.again && !e.arrived && (e.first && e.dup_acks > 0 || e.reported_above > 0) {
        return Resent(Cause::Fast);
    }
    if e.after.is_some() && after >= plus(round, e.ahead.variation().saturating_mul(4)).max(BUSY) {
        return Resent(Cause::Timeout);
    }
    if after < AT_ONCE && !numbered { Copied } else { Resent(Cause::Unexplained) }
}

/// Whether the sender has known of the loss for so long that it does not act on the report: some react once in a window
/// only (RFC 6582, section 4), and wait for the timer then, however many duplicate ACKs come.
fn is_overdue(e: &Evidence) -> bool {
    let round = plus(e.ahead.smoothed(), e.behind.smoothed());
    let patience = plus(e.behind.smoothed(), round.max(BUSY));
    e.phase == Phase::Open && e.first && e.known_for.is_some_and(|known_for| known_for > patience)
}

/// Whether something sent later has arrived, only now as it seems or so that it has waited for no longer than the most
/// that RFC 8985 (section 6.2, step 4) grants what may be late, which is a round trip beyond the one it needs.
fn is_lost_by_time(e: &Evidence) -> bool {
    let round = plus(e.ahead.smoothed(), e.behind.smoothed());
    let Some(overtaken) = e.overtaken.filter(|_| !e.arrived) else { return false };
    is_prompt(e, overtaken.known_for) || e.after.is_some_and(|after| after < plus(round.scale(2, 1), BUSY))
}

/// Whether something sent later has arrived, and its sender has waited for it no longer than RFC 8985 does (section
/// 6.2, step 5), in case it comes after all: what the latest arrival took and a quarter of a round trip from when it
/// went, or half as a clock of 10 ms has it, and less than any timer adds (200 ms at least). While losses are being
/// repaired, each waits for itself.
fn waited_for_reordering(e: &Evidence) -> bool {
    let Some(overtaken) = e.overtaken else { return false };
    let smoothed = plus(e.ahead.smoothed(), e.behind.smoothed());
    let round = plus(overtaken.rtt, e.behind.smoothed()).max(smoothed);
    let least = plus(e.ahead.least(), e.behind.least());
    let wait = plus(round, plus(smoothed.scale(1, 2), BUSY).min(Span::from_ms(150)));
    let first_wait = e.after.is_some_and(|after| least <= after && after <= wait);
    let next_wait = e.phase == Phase::Fast && !e.again && e.repaired < round;
    e.phase != Phase::Timeout && !e.arrived && (first_wait || next_wait)
}

/// Whether an answer that goes now may be to what was heard so long ago.
fn is_prompt(e: &Evidence, since: Span) -> bool {
    since <= plus(e.behind.smoothed().scale(5, 4), Span::from_ms(1))
}

/// Sooner than any packet has made the way from here to the sender and back.
pub(super) fn nobody_could_know(e: &Evidence, after: Span) -> bool {
    after < e.behind.least().scale(3, 4)
}

/// Whether the receiver has reported it lost: by the third duplicate ACK (RFC 5681, section 3.2), by more than two
/// segments behind it (RFC 6675, section 4, IsLost), or, once losses are being repaired, by anything behind it. The
/// last segment outstanding may go then as a rescue (RFC 6675, section 4, NextSeg rule 4).
///
/// What has arrived by now may have been reported lost a moment ago.
pub(super) const fn is_reported(e: &Evidence) -> bool {
    let repairing = matches!(e.phase, Phase::Fast);
    if e.arrived {
        return e.lately || repairing;
    }
    is_told(e) || repairing && (e.first || e.reported_above > 0 || e.last)
}

/// Whether it was reported lost by itself, and not only as one more loss after others.
const fn is_told(e: &Evidence) -> bool {
    e.first && e.dup_acks >= 3 || e.reported_above > 2 * e.segment as u64
}

pub(super) const fn plus(a: Span, b: Span) -> Span {
    Span::from_ps(a.as_ps().saturating_add(b.as_ps()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(n: u64) -> Span {
        Span::from_ms(n)
    }

    fn round_trip(rtt: Span) -> Estimate {
        let mut estimate = Estimate::default();
        estimate.hear(rtt);
        estimate
    }

    /// Captured at the sender, 100 ms from the receiver.
    fn at_sender() -> Evidence {
        Evidence { segment: 1000, ahead: round_trip(ms(100)), after: Some(ms(100)), ..Evidence::default() }
    }

    /// Captured at the receiver.
    fn at_receiver() -> Evidence {
        Evidence { segment: 1000, behind: round_trip(ms(100)), after: Some(ms(100)), ..Evidence::default() }
    }

    #[test]
    fn the_third_duplicate_ack_is_answered_at_once_and_the_timer_in_silence() {
        let third = Evidence { first: true, dup_acks: 3, ..at_sender() };
        assert_eq!(judge(&third), Verdict::Resent(Cause::Fast));
        let late = Evidence { quiet: ms(300), after: Some(ms(400)), ..third };
        assert_eq!(judge(&late), Verdict::Resent(Cause::Timeout));
        let far = Evidence { first: true, dup_acks: 3, quiet: ms(100), ..at_receiver() };
        assert_eq!(judge(&far), Verdict::Resent(Cause::Fast), "the duplicate ACKs had to go to the sender");
    }

    #[test]
    fn sack_reports_a_loss_without_three_duplicate_acks() {
        let hole = Evidence { reported_above: 2001, ..at_sender() };
        assert_eq!(judge(&hole), Verdict::Resent(Cause::Fast));
        let more = Evidence { reported_above: 1, phase: Phase::Fast, ..at_sender() };
        assert_eq!(judge(&more), Verdict::Resent(Cause::Fast));
        let rescue = Evidence { last: true, phase: Phase::Fast, ..at_sender() };
        assert_eq!(judge(&rescue), Verdict::Resent(Cause::Fast));
    }

    #[test]
    fn what_follows_a_timeout_belongs_to_it() {
        let next = Evidence { phase: Phase::Timeout, dup_acks: 3, first: true, ..at_sender() };
        assert_eq!(judge(&next), Verdict::Resent(Cause::Timeout));
    }

    #[test]
    fn the_last_segment_alone_after_a_silence_is_a_probe() {
        let tail = Evidence { last: true, quiet: ms(200), after: Some(ms(200)), ..at_sender() };
        assert_eq!(judge(&tail), Verdict::Resent(Cause::TailProbe));
        assert_eq!(judge(&Evidence { first: true, ..tail }), Verdict::Resent(Cause::Timeout));
    }

    #[test]
    fn a_retransmission_that_is_lost_as_well_takes_the_timer() {
        let lost = Evidence { first: true, dup_acks: 9, phase: Phase::Fast, again: true, ..at_sender() };
        let timer = Evidence { after: Some(ms(900)), quiet: ms(20), ..lost };
        assert_eq!(judge(&timer), Verdict::Resent(Cause::Timeout));
        assert_eq!(judge(&Evidence { after: Some(ms(101)), ..lost }), Verdict::Resent(Cause::Fast), "RACK");
    }

    #[test]
    fn a_report_may_be_on_its_way_to_the_sender_when_the_segment_arrives_after_all() {
        let overtaken = Evidence { arrived: true, first: true, quiet: ms(90), ..at_receiver() };
        assert_eq!(judge(&Evidence { lately: true, ..overtaken }), Verdict::Resent(Cause::Fast));
        assert_eq!(judge(&overtaken), Verdict::Resent(Cause::Timeout), "nobody reported anything");
    }

    #[test]
    fn a_sender_that_ignored_the_report_takes_the_timer() {
        let told = Evidence { first: true, dup_acks: 90, known_for: Some(ms(1)), ..at_sender() };
        assert_eq!(judge(&told), Verdict::Resent(Cause::Fast));
        let long = Evidence { known_for: Some(ms(250)), after: Some(ms(300)), ..told };
        assert_eq!(judge(&long), Verdict::Resent(Cause::Timeout));
    }

    #[test]
    fn a_copy_comes_sooner_than_anybody_could_know() {
        let copy = Evidence { after: Some(ms(1)), dup_acks: 3, first: true, ..at_receiver() };
        assert_eq!(judge(&copy), Verdict::Copied);
        assert_eq!(
            judge(&Evidence { after: Some(ms(1)), ..at_sender() }),
            Verdict::Copied,
            "no loss in sight"
        );
        assert_eq!(judge(&Evidence { same_packet: Some(true), ..copy }), Verdict::Copied);
        let number = Evidence { same_packet: Some(false), ..copy };
        assert_eq!(
            judge(&number),
            Verdict::Resent(Cause::Fast),
            "for another loss, and its sender numbers packets"
        );
    }

    #[test]
    fn the_timer_is_told_from_an_answer_by_the_silence_of_both_ends() {
        let early = Evidence { quiet: ms(30), first: true, dup_acks: 2, idle: ms(200), ..at_sender() };
        assert_eq!(
            judge(&early),
            Verdict::Resent(Cause::Timeout),
            "who captures at the sender sees it answer at once"
        );
        let queued = Evidence { idle: ms(1), dup_acks: 3, ..early };
        assert_eq!(judge(&queued), Verdict::Resent(Cause::Fast), "it came out of a queue");
    }

    #[test]
    fn who_waits_for_what_may_be_late_does_not_wait_for_the_timer() {
        let overtaken = Some(Overtaken { known_for: ms(25), rtt: ms(100) });
        let patient =
            Evidence { overtaken, quiet: ms(25), after: Some(ms(125)), idle: ms(125), ..at_sender() };
        assert_eq!(judge(&patient), Verdict::Resent(Cause::Fast));
        let longer =
            Evidence { quiet: ms(100), after: Some(ms(200)), idle: ms(200), repaired: ms(200), ..patient };
        assert_eq!(judge(&longer), Verdict::Resent(Cause::Timeout));
        assert_eq!(judge(&Evidence { overtaken: None, ..patient }), Verdict::Resent(Cause::Timeout));
        let next = Evidence { phase: Phase::Fast, repaired: ms(30), ..longer };
        assert_eq!(judge(&next), Verdict::Resent(Cause::Fast));
        assert_eq!(judge(&Evidence { again: true, ..next }), Verdict::Resent(Cause::Timeout));
    }

    #[test]
    fn a_rescue_may_follow_upon_the_first_sending() {
        let just_now = Evidence { last: true, after: Some(ms(0)), ..at_receiver() };
        let rescue = Evidence { rescue: true, phase: Phase::Fast, ..just_now };
        assert_eq!(judge(&rescue), Verdict::Resent(Cause::Fast));
        assert_eq!(judge(&Evidence { rescue: false, ..rescue }), Verdict::Copied);
        assert_eq!(judge(&Evidence { phase: Phase::Open, ..rescue }), Verdict::Copied);
    }

    #[test]
    fn a_nak_is_an_order() {
        assert_eq!(judge(&Evidence { asked: true, ..at_sender() }), Verdict::Resent(Cause::Nak));
    }

    #[test]
    fn what_nothing_explains_is_called_so() {
        let odd = Evidence { after: Some(ms(60)), quiet: ms(10), ..at_sender() };
        assert_eq!(judge(&odd), Verdict::Resent(Cause::Unexplained));
    }
}
