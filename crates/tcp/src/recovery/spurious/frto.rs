//! F-RTO with SACK: whether a timeout was spurious (RFC 5682, section 3.1; Linux, `tcp_process_loss()`).
//!
//! A timeout is spurious if data that was sent once before it is delivered after it. To find out, the sender sends new data
//! before further retransmissions.

/// The state of F-RTO after a timeout.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Frto {
    /// The timeout counts as real.
    #[default]
    Off,
    /// The timeout may be spurious. Lost data may be retransmitted.
    Open,
    /// The first retransmission is acknowledged: only new data is sent until the next ACK (step 2 b).
    Probing,
}

/// An ACK in the recovery of a timeout that does not show the timeout to be spurious.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LaterAck {
    /// It acknowledges new data.
    pub(crate) advances: bool,
    /// It reports new data by SACK, or it is a duplicate ACK.
    pub(crate) shows_gap: bool,
    /// New data was sent since the timeout.
    pub(crate) sent_new: bool,
    /// New data and room in the peer's window for it exist.
    pub(crate) may_send_new: bool,
}

impl Frto {
    /// The state after a timeout. It may be spurious if no recovery was under way, or if it repeats one without any ACK
    /// in between (section 3.1, step 1; `tcp_enter_loss()`).
    pub(crate) const fn after_timeout(in_recovery: bool, is_repeated: bool) -> Self {
        if in_recovery && !is_repeated { Self::Off } else { Self::Open }
    }

    /// The state after a further ACK (steps 2 and 3).
    pub(crate) const fn after(self, ack: LaterAck) -> Self {
        match self {
            Self::Off => Self::Off,
            Self::Open | Self::Probing if ack.sent_new => {
                if ack.shows_gap {
                    Self::Off
                } else {
                    Self::Open
                }
            }
            Self::Open | Self::Probing if ack.advances => {
                if ack.may_send_new {
                    Self::Probing
                } else {
                    Self::Off
                }
            }
            Self::Open | Self::Probing => Self::Open,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: LaterAck =
        LaterAck { advances: true, shows_gap: false, sent_new: false, may_send_new: true };

    #[test]
    fn a_timeout_during_a_recovery_counts_as_real_unless_it_is_repeated() {
        assert_eq!(Frto::after_timeout(false, false), Frto::Open);
        assert_eq!(Frto::after_timeout(true, false), Frto::Off);
        assert_eq!(Frto::after_timeout(true, true), Frto::Open);
    }

    #[test]
    fn new_data_is_sent_after_the_first_retransmission_is_acknowledged() {
        assert_eq!(Frto::Open.after(FIRST), Frto::Probing);
        assert_eq!(Frto::Open.after(LaterAck { may_send_new: false, ..FIRST }), Frto::Off);
        assert_eq!(Frto::Open.after(LaterAck { advances: false, ..FIRST }), Frto::Open, "step 2");
        assert_eq!(Frto::Off.after(FIRST), Frto::Off);
    }

    #[test]
    fn a_gap_below_the_new_data_shows_that_the_timeout_was_real() {
        let next = LaterAck { sent_new: true, ..FIRST };
        assert_eq!(Frto::Probing.after(LaterAck { shows_gap: true, ..next }), Frto::Off);
        assert_eq!(Frto::Probing.after(next), Frto::Open);
    }
}
