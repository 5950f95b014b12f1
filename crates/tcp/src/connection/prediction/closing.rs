//! The fast path of a connection whose application has closed while data waits: FIN-WAIT-1. A server that closes behind its
//! answer sends most of it there.
//!
//! The FIN itself, and the data that leaves with it, take the full path.

use crate::connection::prediction::Situation;
use crate::connection::{Connection, Departure};
use crate::receive::receiver::AckDue;
use crate::time::Time;
use crate::wire::segment::Segment;

impl Connection {
    /// Processes an ACK of a part of the outstanding data, or of the data before an outstanding FIN. Returns `false`, without any
    /// change, if the segment needs the full path.
    #[inline]
    pub(super) fn process_ack_in_closing(&mut self, now: Time, segment: &Segment) -> bool {
        segment.payload.len == 0
            && self.expects_header(segment)
            && self.snd.predicts_ack_in_closing()
            && !self.cx.is_recording()
            && self.snd.take_predicted_ack(&mut self.cx, now, segment)
    }

    /// [`Self::transmit_ordinary`] for such a connection.
    #[cold]
    #[inline(never)]
    pub(super) fn transmit_in_closing(&mut self, now: Time, segment: &mut Segment) -> Option<Departure> {
        // An ACK may repeat the FIN (FreeBSD, `tcp_output()`).
        let acknowledges_behind_fin = self.snd.space().fin_sent() && matches!(self.rcv.due(), AckDue::Now(_));
        if acknowledges_behind_fin {
            return self.transmit_any(now, segment);
        }
        self.carry_out(now, (self.snd.decide_in_closing(&self.cx), Situation::Undisturbed), segment)
    }
}
