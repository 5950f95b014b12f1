//! Where on the path a capture was taken.

pub(super) mod behind;
pub(super) mod bursts;
pub(super) mod repairs;

/// A reply of the sender within this time shows that it was captured in the sender's host.
pub(in crate::diagnosis) const IN_HOST_NS: u64 = 100_000;

/// The capture point, as seen from the sender of the data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Vantage {
    /// At the sender, or so close that it makes no difference.
    Sender,
    /// At the receiver.
    Receiver,
    /// Between both.
    Between,
    /// One of the two round trips was not measured.
    Unknown,
}

impl Vantage {
    /// The name used in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
            Self::Between => "between",
            Self::Unknown => "unknown",
        }
    }

    /// The place of the capture, from the least round trips in nanoseconds to the sender and to the receiver.
    ///
    /// Less than a tenth of the whole counts as being at that end; so does less than 200 µs where the other side is longer.
    pub(super) const fn of(behind: Option<u64>, ahead: Option<u64>) -> Self {
        let (Some(behind), Some(ahead)) = (behind, ahead) else {
            return Self::Unknown;
        };
        let whole = behind + ahead;
        if behind <= ahead && (behind * 10 <= whole || behind < 200_000 && behind * 3 < whole) {
            Self::Sender
        } else if ahead < behind && (ahead * 10 <= whole || ahead < 200_000 && ahead * 3 < whole) {
            Self::Receiver
        } else {
            Self::Between
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shorter_round_trip_shows_the_capture_point() {
        assert_eq!(Vantage::of(Some(100_000), Some(40_000_000)), Vantage::Sender);
        assert_eq!(Vantage::of(Some(39_000_000), Some(1_000_000)), Vantage::Receiver);
        assert_eq!(Vantage::of(Some(15_000_000), Some(25_000_000)), Vantage::Between);
        assert_eq!(Vantage::of(None, Some(25_000_000)), Vantage::Unknown);
    }
}
