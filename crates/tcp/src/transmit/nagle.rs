//! Nagle's rule (RFC 896; RFC 9293, section 3.7.4).

/// Strict: each segment is judged alone, and a short one leaves only if nothing is unacknowledged.
pub(super) fn strict(unacknowledged: u64) -> bool {
    unacknowledged == 0
}
