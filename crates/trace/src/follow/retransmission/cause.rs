//! The causes of retransmissions, and their names. Must not live here: how one is recognized.

/// The cause of a retransmission.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Cause {
    /// The retransmission timer expired, now or shortly before: the data that was outstanding then is retransmitted.
    Timeout,
    /// Duplicate ACKs or SACK reported a loss (RFC 5681, section 3.2; RFC 6675; RFC 8985).
    Fast,
    /// A tail loss probe: the last segment, after a silence, so that the receiver reports the ones before it (RFC 8985,
    /// section 7).
    TailProbe,
    /// A NAK requested it (RFC 1106).
    Nak,
    /// Nothing in the capture explains it.
    Unexplained,
}

impl Cause {
    /// Every cause, in declaration order.
    pub const ALL: [Self; 5] = [Self::Timeout, Self::Fast, Self::TailProbe, Self::Nak, Self::Unexplained];

    /// The name used in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Fast => "fast",
            Self::TailProbe => "tail-probe",
            Self::Nak => "nak",
            Self::Unexplained => "unexplained",
        }
    }
}
