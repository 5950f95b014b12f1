//! Segments that look like retransmissions and are questions: is the window still closed, is anybody there?

/// What is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Probe {
    /// Whether the window has opened (RFC 9293, section 3.8.6.1).
    Window,
    /// Whether the peer is still there (RFC 9293, section 3.8.4).
    KeepAlive,
}

/// Tells a question from data. A segment at `start` with `len` sequence numbers is meant; `una` is acknowledged, `next`
/// comes next, and the receiver's `window` is known if it has said anything yet.
///
/// Both kinds are a byte, or none at all, that has been sent before or that nobody asked for: BSD's probes carry the
/// byte behind the window, Linux's no byte and the number before the acknowledged one, and so do keep-alives.
#[inline]
pub(super) const fn probe(start: i64, len: u32, una: i64, next: i64, window: Option<u32>) -> Option<Probe> {
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
    fn a_byte_at_a_closed_window_is_a_probe_new_or_not() {
        assert_eq!(probe(100, 1, 100, 100, Some(0)), Some(Probe::Window));
        assert_eq!(probe(100, 1, 100, 101, Some(0)), Some(Probe::Window));
        assert_eq!(probe(99, 0, 100, 100, Some(0)), Some(Probe::Window));
        assert_eq!(probe(100, 1, 100, 101, Some(1)), None);
        assert_eq!(probe(100, 1000, 100, 1100, Some(0)), None);
    }

    #[test]
    fn the_number_before_the_next_one_is_a_keep_alive_if_all_is_acknowledged() {
        assert_eq!(probe(99, 0, 100, 100, Some(9)), Some(Probe::KeepAlive));
        assert_eq!(probe(99, 1, 100, 100, None), Some(Probe::KeepAlive));
        assert_eq!(probe(99, 1, 99, 100, Some(9)), None, "a byte sent again");
        assert_eq!(probe(100, 0, 100, 100, Some(9)), None, "an ACK");
    }
}
