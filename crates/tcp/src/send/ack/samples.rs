//! Round-trip samples (RFC 6298, section 3; RFC 7323, section 4.1).

use crate::context::Context;
use crate::record::event::Event;
use crate::send::Sender;
use crate::time::Time;
use crate::wire::options::echo_age;

impl Sender {
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
        if by_one.is_some() {
            self.recovery.forget_timed();
        }
        let rto = self.rto.learn(&cx.config.rto, rtt);
        self.timers.reset_rto(rto);
        if by_one.is_some() {
            // The next segment is timed once this one is acknowledged: that is a round trip.
            self.rto.round_trip_over(&cx.config.rto);
            self.refresh_rto(cx);
        }
        cx.stats.rtt_samples += 1;
        cx.stats.rtt_sum_ns += rtt.as_ps() / 1000;
        cx.note(now, Event::RttSample { rtt });
    }
}
