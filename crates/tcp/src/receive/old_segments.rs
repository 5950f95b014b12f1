//! Old segments as Linux treats them: which of them it accepts, and which it reports.

use crate::ranges::Range;
use crate::receive::receiver::Receiver;

/// One lap of the sequence space.
const LAP: i64 = 1 << 32;

impl Receiver {
    /// Whether a segment ends between the last acknowledgment that we sent and RCV.NXT (`tcp_sequence()`).
    pub(crate) fn ends_since_last_ack(&self, start: i64, seq_len: u32) -> bool {
        let end = start + i64::from(seq_len);
        end <= self.nxt as i64 && (end as u32).wrapping_sub(self.last_ack) as i32 >= 0
    }

    /// Records an old segment for D-SACK, also one from before the SYN (`tcp_send_dupack()`).
    pub(crate) fn note_any_duplicate(&mut self, start: i64, len: u32) {
        let end = (start + i64::from(len)).min(self.nxt as i64);
        if len > 0 && start < end {
            // A lap higher, positions before the SYN are not negative; the sequence numbers are the same.
            let lap = if start < 0 { LAP } else { 0 };
            let range = Range::new((start + lap) as u64, (end + lap) as u64);
            self.reassembly.get_or_insert_default().duplicate = Some(range);
        }
    }
}
