//! The cause of a retransmission, as far as packets at one capture point show it.

mod cause;
mod evidence;
pub(super) mod probes;
pub(super) mod reordering;
pub(super) mod spurious;
mod timers;
mod times;

pub use cause::Cause;
pub(super) use evidence::{Evidence, Phase};
use netspurt_tcp::time::Span;
pub(super) use timers::LEAST_TIMER;
use timers::{is_overdue, is_too_soon_for_timer, only_timer};
use times::BUSY;
pub(super) use times::plus;

/// A copy that arrives sooner than this, without any sign of loss, was made by the network or by the capture.
pub(super) const AT_ONCE: Span = Span::from_ms(5);

/// The kind of data that is seen again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    /// A retransmission.
    Resent(Cause),
    /// A copy that the network or the capture made; `copies` finds those that the packets alone show.
    Copied,
}

/// Whether it follows a silence, so that a timer caused it and not an ACK.
///
/// A response follows its ACK after the RTT between capture point and sender. An RTO is never shorter than the whole
/// RTT (RFC 6298, section 2), so half of it distinguishes the two, or all of it if a loss was reported. After a shorter
/// time it is a timer's if the sender was silent too: a response that was queued arrives close behind the packets
/// before it.
pub(super) fn is_silent(e: &Evidence) -> bool {
    let behind = e.behind.smoothed();
    let round = plus(e.ahead.smoothed(), behind);
    let slack = if is_reported(e) { round } else { round.scale(1, 2) };
    let stray = plus(behind, e.behind.variation().saturating_mul(4));
    e.quiet > plus(behind, slack.max(BUSY))
        || e.after.is_some() && e.quiet.min(e.idle) > plus(behind, stray.max(BUSY))
}

/// Classifies data that is seen again.
pub(super) fn judge(e: &Evidence) -> Verdict {
    use Verdict::{Copied, Resent};
    let round = plus(e.ahead.smoothed(), e.behind.smoothed());
    let after = e.after.unwrap_or(Span::MAX);
    if e.same_packet == Some(true) {
        return Copied;
    }
    let numbered = e.same_packet == Some(false) || e.left_after.is_some();
    let timer = !is_too_soon_for_timer(e);
    if e.rescue && e.phase == Phase::Fast {
        // A NAK's data is retransmitted even if it was first sent just now.
        return Resent(if timer && is_silent(e) { Cause::Timeout } else { Cause::Fast });
    }
    // A segment that was reported lost is retransmitted, even if its original has come meanwhile.
    if !numbered && !e.lately && nobody_could_know(e, after) {
        return Copied;
    }
    if e.opening {
        // Only the timer retransmits a SYN.
        return if after < AT_ONCE && !numbered { Copied } else { Resent(Cause::Timeout) };
    }
    let reported = is_reported(e);
    if let Some(cause) = only_timer(e, timer, numbered) {
        return Resent(cause);
    }
    if waited_for_reordering(e) {
        return Resent(Cause::Fast);
    }
    if is_silent(e) {
        if e.last && !e.first && e.phase == Phase::Open {
            return Resent(Cause::TailProbe);
        }
        if timer {
            return Resent(Cause::Timeout);
        }
    }
    if e.asked {
        return Resent(Cause::Nak);
    }
    let prompt = is_prompt(e, e.quiet);
    if e.phase == Phase::Timeout {
        // Some senders count duplicate ACKs during recovery after a timeout.
        let third =
            e.again && e.first && e.dup_acks >= 3 && e.known_for.is_some_and(|since| is_prompt(e, since));
        return Resent(if third { Cause::Fast } else { Cause::Timeout });
    }
    if timer && (is_overdue(e) || e.first && !prompt && !is_reported_itself(e)) && after >= round {
        return Resent(Cause::Timeout);
    }
    if reported && !e.again {
        return Resent(Cause::Fast);
    }
    // A lost retransmission: RFC 8985 detects it by later transmissions, and acts on an ACK.
    if reported && prompt && after < round.scale(3, 2) || is_lost_by_time(e) {
        return Resent(Cause::Fast);
    }
    if prompt && !e.again && !e.arrived && (e.first && e.dup_acks > 0 || e.reported_above > 0) {
        return Resent(Cause::Fast);
    }
    if timer && e.after.is_some() && after >= plus(round, e.ahead.variation().saturating_mul(4)).max(BUSY) {
        return Resent(Cause::Timeout);
    }
    if let Some(left_after) = e.left_after.filter(|_| e.arrived) {
        // Both transmissions were delayed: only the clock of the sender shows how long it waited.
        let timer = left_after > plus(round, BUSY.saturating_mul(5)).max(LEAST_TIMER);
        return Resent(if timer { Cause::Timeout } else { Cause::Fast });
    }
    if after < AT_ONCE && !numbered { Copied } else { Resent(Cause::Unexplained) }
}

/// Whether a segment sent later was delivered, either just now or within the longest time that RFC 8985 (section 6.2,
/// step 4) waits for reordering: one RTT more than the RTT itself.
fn is_lost_by_time(e: &Evidence) -> bool {
    let round = plus(e.ahead.smoothed(), e.behind.smoothed());
    let Some(overtaken) = e.overtaken.filter(|_| !e.arrived) else { return false };
    is_prompt(e, overtaken.known_for) || e.after.is_some_and(|after| after < plus(round.scale(2, 1), BUSY))
}

/// Whether a segment sent later was delivered and the sender waited no longer than RFC 8985 does for reordering
/// (section 6.2, step 5): the latest RTT and a quarter more since the transmission, or half with a clock of 10 ms, and
/// less than what any timer adds (at least 200 ms). During recovery each loss waits for itself.
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

/// Whether a sender with RACK may have retransmitted a segment that opened a gap `after` ago: one report of what was sent later is
/// enough for it, and a quarter of a round trip without an ACK of the segment itself (RFC 8985, section 6.2).
pub(super) fn waited_after_report(e: &Evidence, after: Span) -> bool {
    let round = plus(e.ahead.smoothed(), e.behind.smoothed());
    let wait = plus(round, round.scale(1, 8))..=plus(round.scale(3, 2), BUSY);
    e.sacks && e.reported_above > 0 && e.phase == Phase::Open && wait.contains(&after)
}

/// Whether a segment sent now can be a response to a packet received `since` ago.
fn is_prompt(e: &Evidence, since: Span) -> bool {
    since <= plus(e.behind.smoothed().scale(5, 4), Span::from_ms(1))
}

/// Whether the time is shorter than any RTT from the capture point to the sender.
pub(super) fn nobody_could_know(e: &Evidence, after: Span) -> bool {
    after < e.behind.least().scale(3, 4)
}

/// Whether the receiver has reported it lost: by the third duplicate ACK (RFC 5681, section 3.2), by more than two
/// segments after it (RFC 6675, section 4, IsLost), or, during recovery, by any data after it. The last outstanding
/// segment may then be sent as a rescue retransmission (RFC 6675, section 4, NextSeg rule 4).
///
/// Data that was delivered by now may have been reported lost shortly before.
pub(super) const fn is_reported(e: &Evidence) -> bool {
    let repairing = matches!(e.phase, Phase::Fast);
    if e.arrived {
        return e.lately || repairing;
    }
    is_reported_itself(e) || repairing && (e.first || e.reported_above > 0 || e.last)
}

/// Whether it was reported lost itself, and not only as a further loss after others.
pub(super) const fn is_reported_itself(e: &Evidence) -> bool {
    e.first && e.dup_acks >= 3 || e.reported_above > 2 * e.segment as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::follow::rtt::estimate::Estimate;
    use crate::follow::stream::delivered::Overtaken;

    const fn ms(n: u64) -> Span {
        Span::from_ms(n)
    }

    fn round_trip(rtt: Span) -> Estimate {
        let mut estimate = Estimate::default();
        estimate.process(rtt);
        estimate
    }

    /// Captured at the sender; the receiver is 100 ms away.
    fn at_sender() -> Evidence {
        Evidence { segment: 1000, ahead: round_trip(ms(100)), after: Some(ms(100)), ..Evidence::default() }
    }

    /// Captured at the receiver.
    fn at_receiver() -> Evidence {
        Evidence { segment: 1000, behind: round_trip(ms(100)), after: Some(ms(100)), ..Evidence::default() }
    }

    #[test]
    fn a_fast_retransmit_follows_the_third_duplicate_ack_and_a_timeout_follows_silence() {
        let third = Evidence { first: true, dup_acks: 3, ..at_sender() };
        assert_eq!(judge(&third), Verdict::Resent(Cause::Fast));
        let late = Evidence { quiet: ms(300), after: Some(ms(400)), ..third };
        assert_eq!(judge(&late), Verdict::Resent(Cause::Timeout));
        let far = Evidence { first: true, dup_acks: 3, quiet: ms(100), ..at_receiver() };
        assert_eq!(
            judge(&far),
            Verdict::Resent(Cause::Fast),
            "the duplicate ACKs travel to the sender first"
        );
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
    fn retransmissions_after_a_timeout_have_its_cause() {
        let next = Evidence { phase: Phase::Timeout, dup_acks: 3, first: true, ..at_sender() };
        assert_eq!(judge(&next), Verdict::Resent(Cause::Timeout));
    }

    #[test]
    fn the_last_segment_alone_after_a_silence_is_a_tail_loss_probe() {
        let tail = Evidence { last: true, quiet: ms(200), after: Some(ms(200)), ..at_sender() };
        assert_eq!(judge(&tail), Verdict::Resent(Cause::TailProbe));
        assert_eq!(judge(&Evidence { first: true, ..tail }), Verdict::Resent(Cause::Timeout));
    }

    #[test]
    fn the_last_segment_is_a_probe_if_no_loss_is_reported_and_no_other_timer_is_so_short() {
        let last = Evidence { last: true, left_after: Some(ms(7)), after: Some(ms(7)), ..at_sender() };
        assert_eq!(judge(&last), Verdict::Resent(Cause::TailProbe));
        let acknowledged = Evidence { arrived: true, first: true, ..last };
        assert_eq!(
            judge(&acknowledged),
            Verdict::Resent(Cause::TailProbe),
            "the ACK has not reached the sender"
        );
        let reported = Evidence { reported_above: 3000, ..last };
        assert_ne!(judge(&reported), Verdict::Resent(Cause::TailProbe));
        assert_ne!(judge(&Evidence { last: false, ..last }), Verdict::Resent(Cause::TailProbe));
    }

    #[test]
    fn data_is_sent_again_by_a_timer_if_its_receiver_never_reported_a_loss() {
        let held = Evidence { arrived: true, first: true, after: None, quiet: ms(0), ..at_receiver() };
        assert_eq!(judge(&held), Verdict::Resent(Cause::Unexplained));
        assert_eq!(judge(&Evidence { unasked: true, ..held }), Verdict::Resent(Cause::Timeout));
    }

    #[test]
    fn a_second_retransmission_of_what_has_just_arrived_needs_the_timer_if_the_sender_did_not_know() {
        let again = Evidence {
            first: true,
            sacks: true,
            arrived: true,
            again: true,
            phase: Phase::Fast,
            after: Some(ms(100)),
            ..at_receiver()
        };
        let left_after =
            |time| judge(&Evidence { left_after: Some(ms(time)), by_clock: Some(ms(time)), ..again });
        assert_eq!([140, 280].map(left_after), [Cause::Fast, Cause::Timeout].map(Verdict::Resent));
        let known = |time| {
            let overtaken = Some(Overtaken { known_for: ms(time), rtt: ms(0) });
            let clock = Some(ms(280));
            judge(&Evidence { left_after: clock, by_clock: clock, overtaken, ..again })
        };
        assert_eq!([20, 110].map(known), [Cause::Timeout, Cause::Fast].map(Verdict::Resent), "RACK");
    }

    #[test]
    fn a_lost_retransmission_needs_the_timer() {
        let lost = Evidence { first: true, dup_acks: 9, phase: Phase::Fast, again: true, ..at_sender() };
        let timer = Evidence { after: Some(ms(900)), quiet: ms(20), ..lost };
        assert_eq!(judge(&timer), Verdict::Resent(Cause::Timeout));
        assert_eq!(judge(&Evidence { after: Some(ms(101)), ..lost }), Verdict::Resent(Cause::Fast), "RACK");
    }

    #[test]
    fn a_segment_that_later_retransmissions_passed_was_lost_again() {
        let hole = Evidence {
            first: true,
            sacks: true,
            reported_above: 9000,
            known_for: Some(ms(300)),
            after: Some(ms(400)),
            unseen: true,
            phase: Phase::Fast,
            ..at_receiver()
        };
        let passed = |passed, idle| judge(&Evidence { passed: Some(ms(passed)), idle: ms(idle), ..hole });
        assert_eq!(judge(&hole), Verdict::Resent(Cause::Fast), "the first one that is repaired");
        assert_eq!(passed(310, 1), Verdict::Resent(Cause::Fast), "RACK");
        assert_eq!(passed(110, 40), Verdict::Resent(Cause::Fast), "RACK after a pause of the path");
        assert_eq!(passed(310, 40), Verdict::Resent(Cause::Timeout));
        let arrived = Evidence { arrived: true, unseen: false, after: None, ..hole };
        assert_eq!(judge(&arrived), Verdict::Resent(Cause::Fast), "it was on its way");
        let again = Evidence { passed: Some(ms(50)), ..arrived };
        assert_eq!(judge(&again), Verdict::Resent(Cause::Timeout), "it was repaired before");
        let remembered = |idle| judge(&Evidence { after: Some(ms(400)), idle: ms(idle), ..again });
        assert_eq!(
            remembered(1),
            Verdict::Resent(Cause::Fast),
            "the sender did not know that it had arrived"
        );
        assert_eq!(remembered(40), Verdict::Resent(Cause::Timeout));
    }

    #[test]
    fn no_timer_expires_for_a_segment_that_was_sent_shortly_before() {
        // Duplicate ACKs have asked for it for longer than a sender takes to answer them, and now nothing is sent.
        let hole =
            Evidence { first: true, dup_acks: 9, known_for: Some(ms(300)), idle: ms(20), ..at_sender() };
        let of = |after| judge(&Evidence { after: Some(ms(after)), ..hole });
        assert_eq!([140, 160].map(of), [Cause::Fast, Cause::Timeout].map(Verdict::Resent));
        let by_clock = |clock| judge(&Evidence { after: Some(ms(300)), by_clock: Some(ms(clock)), ..hole });
        let found = [140, 160].map(by_clock);
        assert_eq!(found, [Cause::Fast, Cause::Timeout].map(Verdict::Resent), "a queue has held the first");
        let unseen = Evidence { unseen: true, after: Some(ms(140)), ..hole };
        assert_eq!(judge(&unseen), Verdict::Resent(Cause::Timeout), "it was sent before what is known");
    }

    #[test]
    fn a_retransmission_after_which_nothing_was_delivered_needs_the_timer() {
        let again = Evidence {
            first: true,
            sacks: true,
            again: true,
            reported_above: 9000,
            phase: Phase::Fast,
            after: Some(ms(295)),
            ..at_sender()
        };
        assert_eq!(judge(&again), Verdict::Resent(Cause::Timeout));
        let overtaken = Some(Overtaken { known_for: ms(0), rtt: ms(100) });
        assert_eq!(judge(&Evidence { overtaken, ..again }), Verdict::Resent(Cause::Fast), "RACK");
    }

    #[test]
    fn a_loss_report_may_still_travel_to_the_sender_when_the_segment_arrives() {
        let overtaken =
            Evidence { arrived: true, first: true, quiet: ms(90), after: Some(ms(160)), ..at_receiver() };
        assert_eq!(judge(&Evidence { lately: true, ..overtaken }), Verdict::Resent(Cause::Fast));
        assert_eq!(judge(&overtaken), Verdict::Resent(Cause::Timeout), "no loss was reported");
    }

    #[test]
    fn a_sender_that_ignored_the_report_needs_the_timer() {
        let reported = Evidence { first: true, dup_acks: 90, known_for: Some(ms(1)), ..at_sender() };
        assert_eq!(judge(&reported), Verdict::Resent(Cause::Fast));
        let long = Evidence { known_for: Some(ms(250)), after: Some(ms(300)), idle: ms(100), ..reported };
        assert_eq!(judge(&long), Verdict::Resent(Cause::Timeout));
        let busy = Evidence { idle: ms(1), ..long };
        assert_eq!(judge(&busy), Verdict::Resent(Cause::Fast), "the duplicate ACKs were queued");
    }

    #[test]
    fn a_copy_arrives_sooner_than_any_response_could() {
        let copy = Evidence { after: Some(ms(1)), dup_acks: 3, first: true, ..at_receiver() };
        assert_eq!(judge(&copy), Verdict::Copied);
        assert_eq!(
            judge(&Evidence { after: Some(ms(1)), ..at_sender() }),
            Verdict::Copied,
            "no sign of loss"
        );
        assert_eq!(judge(&Evidence { same_packet: Some(true), ..copy }), Verdict::Copied);
        let number = Evidence { same_packet: Some(false), ..copy };
        assert_eq!(
            judge(&number),
            Verdict::Resent(Cause::Fast),
            "for another loss, and its sender uses IP identifications"
        );
    }

    #[test]
    fn silence_of_both_ends_distinguishes_the_timer_from_a_response() {
        let after = Some(ms(200));
        let early = Evidence { quiet: ms(30), first: true, dup_acks: 2, idle: ms(200), after, ..at_sender() };
        assert_eq!(
            judge(&early),
            Verdict::Resent(Cause::Timeout),
            "at the sender, the response is immediate"
        );
        let queued = Evidence { idle: ms(1), dup_acks: 3, ..early };
        assert_eq!(judge(&queued), Verdict::Resent(Cause::Fast), "it was queued");
    }

    #[test]
    fn a_wait_for_reordering_is_not_a_timeout() {
        let overtaken = Some(Overtaken { known_for: ms(25), rtt: ms(100) });
        let patient =
            Evidence { overtaken, quiet: ms(25), after: Some(ms(125)), idle: ms(125), ..at_sender() };
        assert_eq!(judge(&patient), Verdict::Resent(Cause::Fast));
        let longer =
            Evidence { quiet: ms(100), after: Some(ms(200)), idle: ms(200), repaired: ms(200), ..patient };
        assert_eq!(judge(&longer), Verdict::Resent(Cause::Timeout));
        let timer = Evidence { overtaken: None, after: Some(ms(155)), ..patient };
        assert_eq!(judge(&timer), Verdict::Resent(Cause::Timeout));
        let next = Evidence { phase: Phase::Fast, repaired: ms(30), ..longer };
        assert_eq!(judge(&next), Verdict::Resent(Cause::Fast));
        assert_eq!(judge(&Evidence { again: true, ..next }), Verdict::Resent(Cause::Timeout));
    }

    #[test]
    fn a_rescue_retransmission_may_follow_the_first_transmission() {
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
    fn a_newer_transmission_is_no_copy_however_soon_it_arrives() {
        let both = Evidence { arrived: true, after: Some(ms(3)), quiet: ms(1), ..at_receiver() };
        assert_eq!(judge(&both), Verdict::Copied);
        let newer = |by| judge(&Evidence { left_after: Some(ms(by)), ..both });
        assert_eq!(newer(300), Verdict::Resent(Cause::Timeout), "both were delayed");
        assert_eq!(newer(110), Verdict::Resent(Cause::Fast), "no timer is so short");
    }

    #[test]
    fn a_retransmission_without_explanation_is_unexplained() {
        let odd = Evidence { after: Some(ms(60)), quiet: ms(10), ..at_sender() };
        assert_eq!(judge(&odd), Verdict::Resent(Cause::Unexplained));
    }
}
