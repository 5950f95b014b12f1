//! Recognizes window probes and keep-alives, which look like retransmissions.

/// The kind of a probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::follow) enum Probe {
    /// A window probe (RFC 9293, section 3.8.6.1).
    Window,
    /// A keep-alive (RFC 9293, section 3.8.4).
    KeepAlive,
}

/// Distinguishes probes from data. The segment starts at `start` and has `len` sequence numbers; `una` is acknowledged,
/// `next` is the next new position, and `window` is the receiver's if known.
///
/// Both kinds have one byte of old or unusable data, or none. BSD's window probes contain the byte after the window;
/// Linux's are empty and have the sequence number before the acknowledged one, like keep-alives.
#[inline]
pub(in crate::follow) const fn probe(
    start: i64,
    len: u32,
    una: i64,
    next: i64,
    window: Option<u32>,
) -> Option<Probe> {
    if len > 1 {
        return None;
    }
    let closed = matches!(window, Some(0));
    if closed && ((len == 1 && start == una) || (len == 0 && start == una - 1)) {
        return Some(Probe::Window);
    }
    if start == next - 1 && una == next { Some(Probe::KeepAlive) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_at_a_closed_window_is_a_window_probe() {
        assert_eq!(probe(100, 1, 100, 100, Some(0)), Some(Probe::Window));
        assert_eq!(probe(100, 1, 100, 101, Some(0)), Some(Probe::Window));
        assert_eq!(probe(99, 0, 100, 100, Some(0)), Some(Probe::Window));
        assert_eq!(probe(100, 1, 100, 101, Some(1)), None);
        assert_eq!(probe(100, 1000, 100, 1100, Some(0)), None);
    }

    #[test]
    fn the_previous_sequence_number_is_a_keep_alive_if_all_is_acknowledged() {
        assert_eq!(probe(99, 0, 100, 100, Some(9)), Some(Probe::KeepAlive));
        assert_eq!(probe(99, 1, 100, 100, None), Some(Probe::KeepAlive));
        assert_eq!(probe(99, 1, 99, 100, Some(9)), None, "a retransmitted byte");
        assert_eq!(probe(100, 0, 100, 100, Some(9)), None, "an ACK");
    }
}
