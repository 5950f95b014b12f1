//! Congestion marks of arriving segments (RFC 3168, section 6.1.3; RFC 8257, section 3.2; RFC 9768).

use crate::config::OldSegments;
use crate::congestion::ecn::Answer;
use crate::context::Context;
use crate::receive::receiver::Receiver;
use crate::record::reason::Reason;
use crate::time::Time;
use crate::wire::segment::{Ecn, Segment};

impl Receiver {
    /// Processes the mark of an acceptable segment. A mark on a segment without data is ignored (section 6.1.5), except
    /// with accurate ECN.
    #[inline]
    pub(crate) fn take_mark(&mut self, cx: &mut Context, now: Time, segment: &Segment) {
        let may_receive = cx.state().may_receive();
        let Some(memory) = cx.ecn() else { return };
        let counts = memory.accurate().is_some();
        if !(counts || segment.payload.len > 0 && may_receive) {
            return;
        }
        let answer = if let Some(accurate) = memory.accurate() {
            let unacknowledged = segment.payload.len > 0 || self.progress().1 > 0;
            accurate.receiver.arrives(segment, unacknowledged)
        } else {
            let end = self.position(segment.seq) + i64::from(segment.payload.len);
            // Linux does not look at a mark on data that has arrived before (`tcp_data_queue()`).
            let looks = cx.config.old_segments != OldSegments::Linux || end > self.nxt as i64;
            let Some(memory) = cx.ecn() else { return };
            memory.process_data(segment, looks)
        };
        if segment.ecn == Ecn::Ce {
            cx.counters().marks_received += 1;
        }
        match answer {
            Answer::Ordinary => {}
            Answer::Quickly => self.hurry(now, cx.config.acking),
            Answer::AtOnce => self.acknowledge(Reason::Ack),
        }
    }
}
