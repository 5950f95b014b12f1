//! The snapshot of the connection state.

use crate::congestion::pacing::UNLIMITED;
use crate::context::Context;
use crate::record::info::{Info, Segments};
use crate::send::Sender;

impl Sender {
    /// The outstanding segments, if losses are detected by time.
    pub(crate) fn segments(&self) -> Option<Segments> {
        self.recovery.segments()
    }

    /// The snapshot of the connection; nearly all of it is state of the sender. The receiver adds the rest.
    pub(crate) fn info(&self, cx: &Context) -> Info {
        let paced = self.paced();
        let sample = paced.and_then(|paced| paced.rate.latest());
        let (peer_shift, own_shift) = cx.agreed.shifts();
        let (reorderings, reordering_extent) = self.recovery.reordering();
        Info {
            phase: self.phase(),
            unacknowledged: self.space.max.saturating_sub(self.space.una),
            sacked: self.recovery.sacked() + self.recovery.counted(),
            lost: self.recovery.lost(),
            resent: self.recovery.resent() + self.syn_data_again(cx),
            probed: self.recovery.probed(),
            recovery_window: self.recovery.prr_window(),
            reduces_for_mark: self.recovery.is_reducing(),
            out_of_order: 0,
            dup_acks: self.recovery.dup_acks(),
            unanswered: self.retransmissions(),
            backoff: self.timers.backoff(),
            backoff_of_probes: self.backoff_of_probes(),
            probes_window: self.timers.is_persisting(),
            peer_shift,
            own_shift,
            timestamps: cx.agreed.timestamps,
            sack: cx.agreed.sack,
            rtt_deviation: self.rto.deviation(),
            min_rtt: self.recovery.least_rtt(),
            reorderings,
            reordering_extent,
            dup_acks_needed: self
                .recovery
                .dup_acks_needed(cx.config.dup_ack_threshold, u64::from(cx.agreed.payload)),
            pacing_rate: paced.map(|paced| paced.pacer.rate()).filter(|rate| *rate != UNLIMITED),
            delivery_rate: sample.map(|interval| interval.rate()),
            is_app_limited: sample.is_some_and(|interval| interval.app_limited),
            path: self.congestion.path(),
            path_mtu: self.effective_mtu(),
            ecn: cx.ecn_state().is_some_and(|memory| memory.is_agreed()),
            ecn_seen: cx.ecn_state().is_some_and(|memory| memory.has_seen_capable()),
            accurate_ecn: cx.ecn_state().and_then(|memory| memory.accurate_info()),
        }
    }
}
