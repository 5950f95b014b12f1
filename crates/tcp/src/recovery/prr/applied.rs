//! The gradual reduction of a sender's window: in a recovery, or for a congestion mark.

use super::{Progress, Prr, Start};
use crate::config::PrrRule;
use crate::recovery::rack::Rack;
use crate::recovery::tail_probe::Probe;
use crate::recovery::{LossRecovery, Phase};

impl LossRecovery {
    /// The window of a recovery with PRR.
    pub(crate) fn prr_window(&self) -> Option<u64> {
        let prr = self.rack()?.repairs.prr.as_ref()?;
        (self.loss.phase == Phase::Fast || self.is_reducing()).then(|| prr.window())
    }

    /// cwnd of Linux when an ACK shows that a recovery was spurious: that of PRR, also if the ACK has just ended the recovery.
    pub(crate) fn window_at_undo(&self) -> Option<u64> {
        let ended = self.rack().filter(|rack| rack.ended).and_then(|rack| rack.repairs.prr.as_ref());
        self.prr_window().or(ended.map(Prr::window))
    }

    /// The window of PRR in a recovery that was undone and goes on: cwnd keeps it (`tcp_end_cwnd_reduction()`).
    pub(crate) fn undone_window(&self) -> Option<u64> {
        let rack = self.rack()?;
        self.prr_window().filter(|_| rack.counted.is_some() && rack.repairs.undo.is_none())
    }

    /// Whether a congestion mark is reducing the window gradually (TCP_CA_CWR).
    #[inline]
    pub(crate) fn is_reducing(&self) -> bool {
        self.loss.reduces_until > 0
    }

    /// A congestion mark begins to reduce the window. `prr` is the rule, if any, and cwnd before that. Nothing undoes an earlier
    /// recovery any more (`tcp_enter_cwr()`).
    pub(crate) fn begin_reduction(&mut self, max: u64, prr: Option<(PrrRule, u32)>) {
        self.loss.trouble().reduces_until = max;
        if let Some(rack) = self.rack_for_change() {
            // A loss that a probe may have repaired reduces nothing more (`tcp_init_cwnd_reduction()`).
            rack.probe = Probe::NONE;
            let repairs = rack.repairs.change();
            repairs.undo = None;
            repairs.prr = prr.map(|(rule, cwnd)| {
                let cwnd = u64::from(cwnd);
                Prr::new(rule, Start { outstanding: cwnd, sacked: 0, newly: 0, cwnd })
            });
        }
    }

    /// The reduction for a mark ends with an ACK of data that was sent after it.
    pub(crate) fn end_reduction(&mut self, una: u64) {
        if self.is_reducing() && una > self.loss.reduces_until {
            self.loss.trouble().reduces_until = 0;
            if let Some(rack) = self.rack_mut() {
                rack.repairs.end_reduction();
            }
        }
    }

    /// An ACK in a recovery with PRR.
    pub(crate) fn proceed(&mut self, progress: Progress) {
        if let Some(prr) = self.rack_mut().and_then(Rack::prr_mut) {
            prr.on_ack(progress);
        }
    }
}
