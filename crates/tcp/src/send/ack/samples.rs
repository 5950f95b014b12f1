//! Round-trip samples (RFC 6298, section 3; RFC 7323, section 4.1).

use crate::context::Context;
use crate::record::event::Event;
use crate::send::Sender;
use crate::time::{Span, Time};
use crate::wire::options::echo_age;

impl Sender {
    /// The sample of an ACK of `acked`, in Linux, if some of it was sent more than once: no segment of it gives one. The first
    /// segment that the same ACK reports does, if it was sent once, at `reported`; otherwise the echoed timestamp.
    #[cold]
    pub(super) fn take_ambiguous_sample(
        &mut self,
        cx: &mut Context,
        now: Time,
        ack: u64,
        reported: Option<Time>,
        echo: Option<u32>,
    ) {
        let echo = echo.filter(|&echo| cx.agreed.timestamps && echo != 0);
        let rtt = match (reported, echo) {
            (Some(sent), _) => Some(now - sent),
            (None, Some(echo)) => self.echoed_round_trip(now, echo),
            (None, None) => None,
        };
        if reported.is_none() {
            self.replace_rate_rtt(rtt);
        }
        let Some(rtt) = rtt else { return };
        self.learn_sample(cx, now, rtt, self.recovery.timed().acknowledged_by(ack).is_some());
    }

    /// The age of an echoed timestamp, at least one tick of the clock. It counts for the minimum RTT too.
    fn echoed_round_trip(&mut self, now: Time, echo: u32) -> Option<Span> {
        let rtt = echo_age(now, echo, self.space.first_sent)?.max(Span::from_ms(1));
        self.recovery.learn_least(now, rtt);
        Some(rtt)
    }

    /// An ACK of nothing new reports data above a gap. In Linux the first segment of it that was sent once, at `sent`, gives a
    /// sample. A round trip ends with it if ACKs without a sample, up to `ack`, have reached its end (`tcp_rtt_estimator()`). The
    /// retransmission timer restarts if the segment was sent before the first outstanding one was last sent
    /// (`tcp_clean_rtx_queue()`).
    #[cold]
    pub(super) fn take_report_sample(&mut self, cx: &mut Context, now: Time, ack: u64, sent: Time) {
        let ends_round = self.recovery.timed().acknowledged_by(ack).is_some();
        self.learn_sample(cx, now, now - sent, ends_round);
        if self.recovery.is_first_sent_after(sent) {
            self.restart_by_ack(cx, now);
            self.note_retransmit_timer(cx, now);
        }
    }

    /// An RTT sample. If transmission times of all segments are known: of the first segment that `ack` covers. Otherwise, if
    /// the timed segment is acknowledged: of that segment. Otherwise of the echoed timestamp, which is valid even if the
    /// segment was retransmitted (RFC 7323, section 4.1).
    #[inline]
    pub(crate) fn take_sample(&mut self, cx: &mut Context, now: Time, ack: u64, echo: Option<u32>) {
        let first = self.recovery.first_sent_once();
        self.take_sample_since(cx, now, ack, (first, echo));
    }

    /// The same; `first` says when the first segment that `ack` covers was sent, if that is known of all segments.
    #[inline(always)]
    pub(crate) fn take_sample_since(
        &mut self,
        cx: &mut Context,
        now: Time,
        ack: u64,
        (first, echo): (Option<Time>, Option<u32>),
    ) {
        let timed = self.recovery.timed();
        let by_one = timed.acknowledged_by(ack);
        let rtt = match (first.or(by_one), echo) {
            (Some(sent), _) => cx.config.timer_grain.elapsed(sent, now),
            (None, Some(echo)) if cx.agreed.timestamps && timed.permits_sample(ack) => {
                let Some(rtt) = echo_age(now, echo, self.space.first_sent) else { return };
                rtt
            }
            _ => return,
        };
        self.learn_sample(cx, now, rtt, by_one.is_some());
    }

    /// Takes a sample. `ends_round`: a round trip of the estimator ends with it.
    #[inline(always)]
    pub(in crate::send) fn learn_sample(&mut self, cx: &mut Context, now: Time, rtt: Span, ends_round: bool) {
        let rto = if ends_round {
            // The next segment is timed once this one is acknowledged: that is a round trip.
            self.recovery.forget_timed();
            self.rto.learn_at_round_end(&cx.config.rto, rtt)
        } else {
            self.rto.learn(&cx.config.rto, rtt)
        };
        self.timers.reset_rto(rto);
        cx.stats.rtt_samples += 1;
        cx.stats.rtt_sum_ns += rtt.as_ps() / 1000;
        cx.note(now, Event::RttSample { rtt });
    }
}
