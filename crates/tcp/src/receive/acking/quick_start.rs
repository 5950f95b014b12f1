//! Every segment immediately while the connection is young, then every second one: the delayed ACK of
//! `Agent/TCP/BayFullTcp` in ns-2 (`need_send()`), which the authors of RFC 2415 used.
//!
//! Out-of-order data makes the connection young again. Later the policy counts bytes: an ACK is due when two full
//! segments of data are unacknowledged. A delayed ACK is sent at the next tick of a free-running clock.

/// Whether an ACK is due. `received` bytes have arrived in order, `unacknowledged` of them are not acknowledged. The
/// connection is young until `young_until` bytes have arrived.
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
