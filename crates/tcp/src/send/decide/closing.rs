//! The fast path of a sender behind whose data a FIN follows.

use crate::context::Context;
use crate::record::reason::Hold;
use crate::send::decide::ordinary::Ordinary;
use crate::send::{CLOSING, PACED, Sender};

impl Sender {
    /// Decides by the fast path after the application has closed. If it decides, the result is the same as that of
    /// [`Self::decide`].
    pub(crate) fn decide_in_closing(&self, cx: &Context) -> Ordinary {
        let snd = &self.space;
        let undisturbed =
            self.unusual.without(CLOSING).is_empty() && snd.nxt == snd.max && self.recovery.is_quiet();
        if !undisturbed {
            Ordinary::Other
        } else if snd.fin_sent() {
            Ordinary::NoData(Hold::NoData)
        } else if snd.data_end() - snd.nxt > u64::from(cx.agreed.payload) {
            self.decide_undisturbed(cx)
        } else {
            // The last segment takes the FIN with it.
            Ordinary::Other
        }
    }

    /// Whether there is nothing to send: all data, and the FIN that follows it, has been sent, and nothing is lost.
    #[inline]
    pub(crate) fn has_sent_everything(&self) -> bool {
        let end = self.space.data_end() + u64::from(self.is_closing());
        self.unusual.without(CLOSING.and(PACED)).is_empty()
            && self.space.nxt == self.space.max
            && self.space.max == end
            && self.recovery.is_quiet()
    }
}
