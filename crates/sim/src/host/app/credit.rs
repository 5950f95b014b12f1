//! How much the application protocol lets a server send: the flow control of HTTP/2 (RFC 9113, section 5.2).

/// Bytes of a frame that gives credit: WINDOW_UPDATE (RFC 9113, sections 4.1 and 6.9).
const UPDATE: u64 = 13;

/// The files that are fetched, and how much may be sent without credit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StreamsSpec {
    /// Number of files.
    pub streams: u64,
    /// Bytes of each file.
    pub bytes: u64,
    /// Bytes of the request for each file.
    pub request: u64,
    /// Bytes of one file that may be sent without credit.
    pub window: u64,
    /// Bytes of all files together that may be sent without credit.
    pub connection_window: u64,
}

impl StreamsSpec {
    /// Bytes of all files.
    pub(super) const fn total(&self) -> u64 {
        self.streams.saturating_mul(self.bytes)
    }

    const fn requests(&self) -> u64 {
        self.streams.saturating_mul(self.request)
    }

    /// Bytes that may be sent without credit.
    fn allowance(&self) -> u64 {
        self.streams.saturating_mul(self.window).min(self.connection_window)
    }

    /// Bytes that the client reads before it gives credit for as many.
    fn quantum(&self) -> u64 {
        (self.allowance() / 2).max(1)
    }

    /// Bytes of the frames that give credit once.
    fn update(&self) -> u64 {
        if self.streams.saturating_mul(self.window) <= self.connection_window {
            UPDATE.saturating_mul(self.streams + 1)
        } else {
            UPDATE
        }
    }

    /// Bytes that the client should have written after it has read `read` bytes: its requests, and credit for the data
    /// still to come.
    pub(super) fn written_after(&self, read: u64) -> u64 {
        let still_to_come = self.total().saturating_sub(self.allowance()).div_ceil(self.quantum());
        self.requests() + (read / self.quantum()).min(still_to_come) * self.update()
    }

    /// Bytes that the server may have written after it has read `read` bytes.
    pub(super) fn permitted_after(&self, read: u64) -> u64 {
        if read < self.requests() {
            return 0;
        }
        let credits = (read - self.requests()) / self.update();
        self.allowance().saturating_add(credits.saturating_mul(self.quantum())).min(self.total())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEC: StreamsSpec = StreamsSpec {
        streams: 1,
        bytes: 1_000_000,
        request: 100,
        window: 65_535,
        connection_window: 1 << 20,
    };

    #[test]
    fn credit_for_half_a_window_comes_as_often_as_half_a_window_was_read() {
        assert_eq!(SPEC.permitted_after(99), 0, "nothing before the request is whole");
        assert_eq!(SPEC.permitted_after(100), 65_535);
        assert_eq!(SPEC.written_after(32_766), 100);
        assert_eq!(SPEC.written_after(32_767), 100 + 26, "for the stream and for the connection");
        assert_eq!(SPEC.permitted_after(100 + 25), 65_535);
        assert_eq!(SPEC.permitted_after(100 + 26), 65_535 + 32_767);
    }

    #[test]
    fn no_credit_is_given_for_data_that_does_not_arrive() {
        let written = SPEC.written_after(SPEC.total());
        assert_eq!(SPEC.permitted_after(written), SPEC.total());
        assert!(SPEC.permitted_after(written - SPEC.update()) < SPEC.total());
    }

    #[test]
    fn the_smaller_of_both_windows_counts() {
        let several = StreamsSpec { streams: 4, connection_window: 100_000, ..SPEC };
        assert_eq!((several.allowance(), several.update()), (100_000, 13));
        let few = StreamsSpec { streams: 4, window: 20_000, ..several };
        assert_eq!((few.allowance(), few.update()), (80_000, 65));
    }
}
