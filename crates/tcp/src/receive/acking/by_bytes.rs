//! ACKs by bytes, as in 4.4BSD and its descendants (`tcp_output()`, window updates). The number of segments does not
//! matter. An ACK is due when the reader has moved the right edge of the window by two full segments or by half of the
//! buffer. All other data waits for the timer.
//!
//! With full segments and a fast reader this acknowledges every second segment, as RFC 1122, section 4.2.3.2, requires.
//! With short segments or a single last one, the ACK is delayed.

/// Whether the reader has freed enough; `growth` is the possible increase of the announced window.
pub(crate) const fn is_due(growth: u64, buffer: u32, mss: u32, segments: u8) -> bool {
    growth >= segments as u64 * mss as u64 || 2 * growth >= buffer as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_segments_freed_or_half_of_the_buffer_are_enough() {
        assert!(is_due(2920, 65_535, 1460, 2) && !is_due(2919, 65_535, 1460, 2));
        assert!(is_due(2190, 4380, 1460, 2) && !is_due(2189, 4380, 1460, 2));
    }
}
