//! Delayed ACKs of connections whose policy remembers something, and what a reader has to do with ACKs.

use crate::connection::Connection;
use crate::receive::acking::{Acking, Arrival};
use crate::receive::space::{AckDue, Text};
use crate::record::reason::Reason;
use crate::time::Time;

impl Connection {
    /// Since when the acknowledgment of received data is being delayed, to a microsecond; `None` if none is.
    pub fn ack_delayed_since(&self, now: Time) -> Option<Time> {
        self.rcv.waits_since(now)
    }

    /// As [`Self::schedule_ack`], for a policy that looks at more than a count of segments.
    #[cold]
    pub(crate) fn schedule_ack_otherwise(&mut self, now: Time, text: Text, len: u32) {
        let acking = self.config.acking;
        let when = if acking.remembers() {
            self.ask_memory(now, text, len)
        } else {
            self.rcv.schedule_ack(now, text, acking)
        };
        if let Some(when) = when {
            self.timers.delayed_ack = self.timers.delayed_ack.min(when);
        }
    }

    /// What a policy with a memory says of a segment. Returns the instant, if a timer shall wait for it.
    fn ask_memory(&mut self, now: Time, text: Text, len: u32) -> Option<Time> {
        let acking = self.config.acking;
        let (received, unacknowledged) = self.rcv.progress();
        let arrival = Arrival {
            len,
            received,
            unacknowledged,
            window: self.rcv.window(),
            mss: u32::from(self.agreed.payload),
            rto: self.timers.rto(),
            srtt: self.srtt(),
            armed: self.timers.delayed_ack,
        };
        let memory = self.rare().acking.get_or_insert_with(|| Box::new(acking.memory()));
        if let Text::InOrder { fills_gap: false } = text {
            let due = acking.arrives(now, &arrival, memory);
            self.rcv.acknowledge_when(now, due, false)
        } else {
            acking.is_alarmed(&arrival, memory);
            self.rcv.schedule_ack(now, text, acking)
        }
    }

    /// A Fast Open is answered, and a writer has waited for that.
    pub(crate) fn open_with_unsent(&mut self, now: Time) {
        let acking = self.config.acking;
        if acking.remembers() && self.opens_fast() && self.waits_behind_syn() {
            let memory = self.rare().acking.get_or_insert_with(|| Box::new(acking.memory()));
            acking.opens_with_data(now, memory);
        }
    }

    /// The timer had to send the ACK: some policies learn from it.
    #[cold]
    pub(crate) fn remember_vain_wait(&mut self) {
        let rto = self.timers.rto();
        if let Some(memory) = self.rare.as_mut().and_then(|rare| rare.acking.as_mut()) {
            self.config.acking.waited_in_vain(rto, memory);
        }
    }

    /// The application has read, so that the window could grow by `growth`: where not segments alone are counted, that may be the
    /// moment to acknowledge what waits.
    #[cold]
    pub(crate) fn acknowledge_what_was_read(&mut self, growth: u64) {
        let mss = u32::from(self.agreed.payload);
        match self.config.acking {
            Acking::DelayedBytes { every, .. } | Acking::FreeTickBytes { every, .. } => {
                self.rcv.acknowledge_bytes(growth, mss, every);
            }
            _ => self.rcv.update_window_by(growth, mss),
        }
        let memory = self.rare.as_ref().and_then(|rare| rare.acking.as_ref());
        if memory.is_some_and(|memory| memory.is_due_once_read())
            && self.rcv.due == AckDue::Later
            && self.rcv.readable() == 0
        {
            self.rcv.acknowledge(Reason::Ack);
        }
    }
}
