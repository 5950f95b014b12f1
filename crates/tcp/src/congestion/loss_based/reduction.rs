//! The last reduction of a window, as Linux remembers it.

use super::growth::Window;

/// What was before the last reduction, and whether its recovery goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Reduction {
    cwnd: u32,
    ssthresh: u32,
    in_recovery: bool,
}

impl Reduction {
    /// Nothing was reduced.
    pub(super) const NONE: Self = Self { cwnd: 0, ssthresh: 0, in_recovery: false };

    /// The window is about to be reduced: remembers it.
    pub(super) fn remember(&mut self, window: &Window, mss: u32) {
        (self.cwnd, self.ssthresh) = (window.cwnd, window.current_ssthresh(mss));
    }

    /// Sets the ssthresh that an undo restores, and returns the one before; with 0 it restores nothing (`prior_ssthresh`).
    pub(super) const fn set_ssthresh(&mut self, ssthresh: u32) -> u32 {
        core::mem::replace(&mut self.ssthresh, ssthresh)
    }

    /// A recovery begins.
    pub(super) const fn begin(&mut self) {
        self.in_recovery = true;
    }

    /// It is over.
    pub(super) const fn end(&mut self) {
        self.in_recovery = false;
    }

    /// Whether a recovery goes on: marks and timeouts do not reduce ssthresh again (`tcp_enter_loss()`).
    pub(super) const fn is_in_recovery(&self) -> bool {
        self.in_recovery
    }

    /// The reduction was spurious: restores both values unless they have grown (`tcp_undo_cwnd_reduction()`). What has been
    /// acknowledged since counts for the next segment (`snd_cwnd_cnt`).
    pub(super) fn undo(&mut self, window: &mut Window) {
        if self.ssthresh > 0 {
            window.cwnd = window.cwnd.max(self.cwnd);
            window.ssthresh = window.ssthresh.max(self.ssthresh);
        }
        self.end();
    }
}
