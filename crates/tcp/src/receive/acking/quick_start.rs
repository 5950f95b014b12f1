//! Every segment at once while the connection is young, then every second one: the delayed ACK of `Agent/TCP/BayFullTcp` in ns-2
//! (`need_send()`), which the authors of RFC 2415 used.
//!
//! *Young* is anew what comes out of order or behind a hole. Afterwards bytes are counted, not segments: an ACK is due when two
//! full segments' worth is unacknowledged. What waits leaves at the next tick of a clock that runs freely.

/// Whether all that has arrived in order is acknowledged at once: `received` bytes in all, `unacknowledged` of them not yet
/// acknowledged; the connection is young until `young_until` bytes have come.
pub(super) const fn is_due(
    received: u64,
    unacknowledged: u64,
    young_until: u64,
    mss: u32,
    every: u8,
) -> bool {
    received < young_until || unacknowledged >= every as u64 * mss as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_young_connection_acknowledges_every_byte() {
        assert!(is_due(16_383, 1, 16_384, 1460, 2));
        assert!(!is_due(16_384, 1, 16_384, 1460, 2));
    }

    #[test]
    fn an_old_one_acknowledges_two_full_segments() {
        assert!(is_due(100_000, 2920, 16_384, 1460, 2));
        assert!(!is_due(100_000, 2919, 16_384, 1460, 2));
    }
}
