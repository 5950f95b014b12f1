//! Ends of records: no segment carries bytes from both sides of one (Linux, MSG_EOR of send(2)).

use crate::context::Context;
use crate::record::reason::Hold;
use crate::send::space::{Decision, Plan};
use crate::send::{RECORDS, Sender};

impl Sender {
    /// Ends a record after all written data. An end that everything before has been acknowledged for separates nothing.
    pub(crate) fn end_record(&mut self) {
        let (una, end) = (self.space.una, self.space.data_end());
        let records = &mut self.extras().records.get_or_insert_default().ends;
        while records.front().is_some_and(|&earlier| earlier <= una) {
            records.pop_front();
        }
        if end > una && records.back() != Some(&end) {
            records.push_back(end);
        }
        let some = !records.is_empty();
        self.unusual.set(RECORDS, some);
    }

    /// The data of our SYN up to `end`, which the peer did not accept, keeps a packet of its own (`tcp_rcv_fastopen_synack()`).
    #[cold]
    pub(in crate::send) fn separate_syn_data(&mut self, end: u64) {
        let records = &mut self.extras().records.get_or_insert_default().ends;
        if let Err(place) = records.binary_search(&end) {
            records.insert(place, end);
        }
        self.unusual.set(RECORDS, true);
    }

    /// The end of the record of the byte at `start`; `None` if no end lies behind it.
    pub(in crate::send) fn record_end(&self, start: u64) -> Option<u64> {
        let records = &self.extras.as_ref()?.records.as_ref()?.ends;
        records.get(records.partition_point(|&end| end <= start)).copied()
    }

    /// Decides about the last bytes of a record behind which another begins. No policy for short segments holds them:
    /// more data could not join them (`tcp_write_xmit()` applies Nagle's rule to the last packet alone). `None`
    /// if the bytes at `start` are no such tail.
    pub(in crate::send) fn decide_record_tail(
        &self,
        cx: &Context,
        start: u64,
        stop: u64,
    ) -> Option<Decision> {
        let end = self.record_end(start).filter(|&end| end < stop)?;
        let len = end - start;
        if len >= u64::from(cx.agreed.payload) {
            return None;
        }
        let (allowed, limit) = self.allowed(cx, start);
        if allowed < len {
            // A cap of our own stays, so waiting for more of it would never end.
            return (limit != Hold::SendWindow).then_some(Decision::Hold(limit));
        }
        Some(Decision::Send(self.space.plan(start, len as u32, self.reason_for_next(cx, start), false)))
    }

    /// The decision with its segment cut at the end of a record.
    pub(in crate::send) fn cut_at_record(&self, decision: Decision) -> Decision {
        match decision {
            Decision::Send(plan) => Decision::Send(self.cut(plan)),
            Decision::Short(plan) => Decision::Short(self.cut(plan)),
            Decision::Last(plan, why) => Decision::Last(self.cut(plan), why),
            Decision::Hold(_) => decision,
        }
    }

    fn cut(&self, plan: Plan) -> Plan {
        match self.record_end(plan.start) {
            Some(end) if end < plan.start + u64::from(plan.len) => {
                self.space.plan(plan.start, (end - plan.start) as u32, plan.reason, false)
            }
            _ => plan,
        }
    }
}
