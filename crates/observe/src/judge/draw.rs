//! The random numbers from which a case is made, and the parts of its scenario file.

use netspurt_sim::random::Stream;

/// Where the numbers of a case come from.
pub(super) struct Draw {
    pub(super) random: Stream,
    pub(super) kind: &'static str,
    /// A limit of the path beside `kind`, in a mixture.
    pub(super) second: Option<&'static str>,
    /// Lines of the link between the routers, in place of those of a link with a drop-tail queue.
    pub(super) path: Option<String>,
    /// Further lines for the TCP of all hosts.
    pub(super) tcp: &'static str,
    /// Flows that share the path, in place of three endless transfers.
    pub(super) others: Option<String>,
    /// Bits per second of the bottleneck.
    pub(super) rate: f64,
    /// Least round trip in seconds.
    pub(super) rtt: f64,
    /// How long the bottleneck would need for the transfer.
    pub(super) seconds: f64,
}

impl Draw {
    /// Nothing is drawn yet.
    pub(super) const fn new(random: Stream) -> Self {
        let (kind, second, path, others) = ("", None, None, None);
        Self { random, kind, second, path, tcp: "", others, rate: 0.0, rtt: 0.0, seconds: 0.0 }
    }

    /// One of `n` things.
    pub(super) fn pick(&mut self, n: usize) -> usize {
        (self.random.unit() * n as f64) as usize
    }

    /// One of these names.
    pub(super) fn one_of(&mut self, names: &[&'static str]) -> &'static str {
        names[self.pick(names.len())]
    }

    /// Evenly distributed on a logarithmic scale.
    pub(super) fn between(&mut self, least: f64, most: f64) -> f64 {
        least * (most / least).powf(self.random.unit())
    }

    /// Bytes on their way on a full path without queue.
    pub(super) fn product(&self) -> f64 {
        self.rate * self.rtt / 8.0
    }

    /// A window that is too small for the path.
    pub(super) fn small_window(&mut self) -> u64 {
        let share = self.between(0.1, 0.8);
        ((self.product() * share) as u64).max(8_000)
    }
}

/// Lines of the scenario file, by the section in which they stand.
#[derive(Default)]
pub(super) struct Settings {
    pub(super) both: String,
    pub(super) sender: String,
    pub(super) receiver: String,
    pub(super) reader: String,
    /// Of the bottleneck.
    pub(super) loss: String,
    pub(super) others: String,
    /// Sections at the end.
    pub(super) changes: String,
}
