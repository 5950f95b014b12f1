//! The state of a connection in TIME-WAIT, and when a SYN may replace it.

use crate::connection::Connection;
use crate::opening::state::State;
use crate::opening::time_wait::TimeWait;
use crate::wire::segment::{Flags, Segment};

impl Connection {
    /// The state to store for this connection, if it is in TIME-WAIT.
    pub fn time_wait(&self) -> Option<TimeWait> {
        (self.cx.state() == State::TimeWait).then(|| TimeWait {
            until: self.snd.waits_until(),
            expected: self.rcv.seq(self.rcv.nxt()),
            ts_recent: self.cx.agreed.timestamps.then_some(self.rcv.ts_recent()),
        })
    }

    /// Whether this segment may open a new connection in place of this one, by [`TimeWait::accepts_syn`]. The driver
    /// then drops this connection and creates a new one.
    pub fn may_be_replaced(&self, syn: &Segment) -> bool {
        let is_syn = syn.flags.has(Flags::SYN) && !syn.flags.any(Flags::ACK | Flags::RST);
        let timestamp = syn.options.timestamps.map(|timestamps| timestamps.value);
        is_syn && self.time_wait().is_some_and(|waiting| waiting.accepts_syn(syn.seq, timestamp))
    }
}
