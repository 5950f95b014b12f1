//! The round trip between the capture point and the sender: the least one, and the present one with the queues on it;
//! and the ACKs that are on their way there.

/// The present value is the minimum of this many samples at least, and twice as many at most.
const RECENT: u64 = 8;

/// An ACK on its way to the sender.
#[derive(Clone, Copy, Debug)]
pub(in crate::diagnosis) struct Ack {
    pub(in crate::diagnosis) at: u64,
    pub(in crate::diagnosis) packet: u64,
    pub(in crate::diagnosis) ack: i64,
    /// Its timestamp; 0 without one.
    pub(in crate::diagnosis) stamp: u32,
    /// Bytes acknowledged or reported by SACK for the first time.
    pub(in crate::diagnosis) delivered: u32,
    /// The round trip from here to the receiver in nanoseconds, if it was measured.
    pub(in crate::diagnosis) ahead: Option<u64>,
    pub(in crate::diagnosis) window: u32,
    /// Without data.
    pub(in crate::diagnosis) bare: bool,
    /// The highest rate of a train that ended with it, in kilobytes per second.
    pub(in crate::diagnosis) train: u32,
}

/// Round trips in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(in crate::diagnosis) struct Behind {
    /// The least one; `None` without a sample.
    least: Option<u64>,
    /// The least of the latest samples; that of the window that fills, and of the one before it.
    pub(in crate::diagnosis) now: u64,
    recent: [u64; 2],
    samples: u64,
}

impl Default for Behind {
    fn default() -> Self {
        Self { least: None, now: 0, recent: [u64::MAX; 2], samples: 0 }
    }
}

impl Behind {
    /// The least one; 0 without a sample.
    pub(in crate::diagnosis) fn least(&self) -> u64 {
        self.least.unwrap_or(0)
    }

    /// A sample. Returns whether it is the least one.
    pub(in crate::diagnosis) fn note(&mut self, ns: u64) -> bool {
        let is_least = self.least.is_none_or(|least| ns < least);
        if is_least {
            self.least = Some(ns);
        }
        is_least
    }

    /// A sample shows the present one too.
    pub(in crate::diagnosis) fn note_recent(&mut self, ns: u64) {
        self.recent[0] = self.recent[0].min(ns);
        self.samples += 1;
        if self.samples.is_multiple_of(RECENT) {
            self.recent = [u64::MAX, self.recent[0]];
        }
        self.now = self.recent[0].min(self.recent[1]);
    }

    /// Whether any sample has shown the present one.
    pub(in crate::diagnosis) const fn has_recent(&self) -> bool {
        self.samples > 0
    }
}
