//! What an emulation did: asked and done.

use netspurt_sim::network::channel::Channel;
use netspurt_sim::record::sketch::Sketch;
use netspurt_sim::spec::{LinkSpec, WorldSpec};
use netspurt_tcp::time::{Span, Time};
use std::collections::BTreeMap;
use std::process::ExitStatus;

/// A packet that comes more than this after its time is late.
pub const LATE: Span = Span::from_ms(1);

/// How far the delays of packets were from what was asked.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DelayError {
    /// How much too late each packet was handed over; none is ever too early.
    pub spans: Sketch,
    /// How many more than [`LATE`].
    pub late: u64,
}

impl DelayError {
    pub(super) fn note(&mut self, asked: Time, done: Time) {
        let error = done.since(asked);
        self.spans.add(error);
        self.late += u64::from(error > LATE);
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.spans.merge(&other.spans);
        self.late += other.late;
    }
}

/// What one direction of a link did.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkReport {
    /// Name in the scenario.
    pub link: String,
    /// `from->to`.
    pub direction: String,
    /// Bits per second that were asked for; `None` for no limit.
    pub rate_asked: Option<u64>,
    /// Bits per second between the first packet and the last.
    pub rate_done: Option<f64>,
    /// The propagation delay that was asked for.
    pub delay_asked: Span,
    /// By how much packets that took this link came later than they should, at the end of their whole way.
    pub error: DelayError,
    /// Packets transmitted, lost ones included.
    pub packets: u64,
    /// Octets transmitted.
    pub bytes: u64,
    /// Packets that did not arrive, by cause; a cause that can occur here is listed even if it did not.
    pub drops: BTreeMap<&'static str, u64>,
    /// Packets marked with congestion experienced.
    pub marked: u64,
    /// Packets held back by reordering.
    pub held: u64,
    /// Packets doubled.
    pub duplicated: u64,
    /// Packets damaged.
    pub corrupted: u64,
    /// Most packets that ever waited.
    pub queue_max_packets: u32,
}

/// What went on at one host.
#[derive(Clone, PartialEq, Debug)]
pub struct HostReport {
    /// Name in the scenario.
    pub host: String,
    /// Its addresses: that of IPv4, and that of IPv6 where the system has it.
    pub addresses: Vec<std::net::IpAddr>,
    /// Packets that it sent into the network.
    pub sent: u64,
    /// Packets handed over to it.
    pub received: u64,
    /// Packets that it sent to nobody in the network, and that were thrown away.
    pub stray: u64,
    /// Packets that found too much under way, and were thrown away.
    pub refused: u64,
    /// Packets that its kernel did not take.
    pub rejected: u64,
    /// How its command ended; `None` if it did not before the emulation.
    pub status: Option<Ended>,
}

impl HostReport {
    pub(super) const fn new(host: String, addresses: Vec<std::net::IpAddr>) -> Self {
        Self { host, addresses, sent: 0, received: 0, stray: 0, refused: 0, rejected: 0, status: None }
    }
}

/// How a command ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// With this status.
    Status(i32),
    /// By a signal.
    Signal(i32),
}

impl Ended {
    /// The number by which a shell tells of it.
    pub const fn code(self) -> i32 {
        match self {
            Self::Status(code) => code,
            Self::Signal(signal) => 128 + signal,
        }
    }
}

impl From<ExitStatus> for Ended {
    fn from(status: ExitStatus) -> Self {
        use std::os::unix::process::ExitStatusExt as _;
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Status(code),
            (None, signal) => Self::Signal(signal.unwrap_or_default()),
        }
    }
}

/// What an emulation did.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    /// How the command ended; `None` if somebody else ended the emulation.
    pub ended: Option<Ended>,
    /// For how long the command ran, in seconds.
    pub seconds: f64,
    /// Seconds that the machine's processors were taken away meanwhile, by whoever emulates the machine itself: packets
    /// that were due then are late. `None` where the system does not say.
    pub stolen: Option<f64>,
    /// Processes of earlier emulations that were killed before this one began.
    pub removed: usize,
    /// For each link its two directions.
    pub links: Vec<LinkReport>,
    /// Hosts with commands, in the order of the scenario.
    pub hosts: Vec<HostReport>,
}

/// What the links of `spec` did: `errors` are those of each channel, `busy` is the time between the first packet and the last.
pub(super) fn links(
    spec: &WorldSpec,
    channels: &[Channel],
    errors: Vec<DelayError>,
    busy: Span,
) -> Vec<LinkReport> {
    let ways = spec.links.iter().flat_map(|link| [(link, 0), (link, 1)]);
    let report = |(((link, way), channel), error): (((&LinkSpec, usize), &Channel), DelayError)| {
        let [from, to] = [way, 1 - way].map(|end| &spec.nodes[link.ends[end].0 as usize].name);
        let counters = channel.counters();
        LinkReport {
            link: link.name.to_string(),
            direction: format!("{from}->{to}"),
            rate_asked: link.directions[way].rate,
            rate_done: (busy > Span::ZERO).then(|| 8.0 * counters.bytes as f64 / busy.as_secs_f64()),
            delay_asked: link.directions[way].delay,
            error,
            packets: counters.packets,
            bytes: counters.bytes,
            drops: channel.drops_by_name(None),
            marked: counters.marked,
            held: counters.held,
            duplicated: counters.doubled,
            corrupted: counters.damaged,
            queue_max_packets: counters.queue_max,
        }
    };
    ways.zip(channels).zip(errors).map(report).collect()
}
