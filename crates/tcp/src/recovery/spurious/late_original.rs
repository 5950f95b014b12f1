//! What an ACK of the original of a retransmission means within a fast recovery (Linux, `tcp_try_undo_partial()`): the hole was
//! filled by a segment that was only late.

/// The verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OnLateOriginal {
    /// Nothing else was sent again: the recovery was spurious.
    Undo,
    /// Other retransmissions are in the network. Until the next ACK nothing more is marked lost or retransmitted, and only new
    /// data is sent.
    SendOnlyNew,
}

/// `resends`: whether other retransmissions are in the network.
pub(crate) const fn on_late_original(resends: bool) -> OnLateOriginal {
    if resends { OnLateOriginal::SendOnlyNew } else { OnLateOriginal::Undo }
}
