//! The round trip between the capture point and the sender: the least one, and the present one with the queues on it;
//! and the ACKs that are on their way there.

/// The least of so many to twice as many samples stands for the present.
const RECENT: u64 = 8;

/// An ACK on its way to the sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ack {
    pub(super) at: u64,
    pub(super) packet: u64,
    pub(super) ack: i64,
    /// Bytes acknowledged or reported by SACK for the first time.
    pub(super) delivered: u32,
    /// The round trip from here to the receiver in nanoseconds, if it was measured.
    pub(super) ahead: Option<u64>,
    pub(super) window: u32,
    /// Without data.
    pub(super) bare: bool,
    /// The highest rate of a train that ended with it, in kilobytes per second.
    pub(super) train: u32,
}

/// Round trips in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Behind {
    /// The least one; `None` without a sample.
    least: Option<u64>,
    /// The least of the latest samples; that of the window that fills, and of the one before it.
    pub(super) now: u64,
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
    pub(super) fn least(&self) -> u64 {
        self.least.unwrap_or(0)
    }

    /// A sample. Returns whether it is the least one.
    pub(super) fn note(&mut self, ns: u64) -> bool {
        let is_least = self.least.is_none_or(|least| ns < least);
        if is_least {
            self.least = Some(ns);
        }
        is_least
    }

    /// A sample shows the present one too.
    pub(super) fn note_recent(&mut self, ns: u64) {
        self.recent[0] = self.recent[0].min(ns);
        self.samples += 1;
        if self.samples.is_multiple_of(RECENT) {
            self.recent = [u64::MAX, self.recent[0]];
        }
        self.now = self.recent[0].min(self.recent[1]);
    }

    /// Whether any sample has shown the present one.
    pub(super) const fn has_recent(&self) -> bool {
        self.samples > 0
    }
}
