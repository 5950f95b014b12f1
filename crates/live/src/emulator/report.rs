//! The results of an emulation: requested and reached values.

use netspurt_sim::network::channel::Channel;
use netspurt_sim::record::sketch::Sketch;
use netspurt_sim::spec::{LinkSpec, WorldSpec};
use netspurt_tcp::time::{Span, Time};
use std::collections::BTreeMap;
use std::process::ExitStatus;

/// A packet that is delivered later than this is late.
pub const LATE: Span = Span::from_ms(1);

/// Errors of the packets' delays.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DelayError {
    /// By how much packets were delivered too late; none is early.
    pub spans: Sketch,
    /// Number of packets with more than [`LATE`].
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

/// The results of one direction of a link.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkReport {
    /// Name in the scenario.
    pub link: String,
    /// `from->to`.
    pub direction: String,
    /// Requested rate in bit/s; `None` for no limit.
    pub rate_asked: Option<u64>,
    /// Rate in bit/s between the first packet and the last.
    pub rate_done: Option<f64>,
    /// Requested propagation delay.
    pub delay_asked: Span,
    /// Delay error of the packets that took this link, over their whole path.
    pub error: DelayError,
    /// Packets transmitted, lost ones included.
    pub packets: u64,
    /// Bytes transmitted.
    pub bytes: u64,
    /// Dropped packets by cause; possible causes are listed even if their count is zero.
    pub drops: BTreeMap<&'static str, u64>,
    /// Packets marked with congestion experienced.
    pub marked: u64,
    /// Packets delayed by reordering.
    pub held: u64,
    /// Packets duplicated.
    pub duplicated: u64,
    /// Packets damaged.
    pub corrupted: u64,
    /// Maximum queue length in packets.
    pub queue_max_packets: u32,
}

/// The results of a host.
#[derive(Clone, PartialEq, Debug)]
pub struct HostReport {
    /// Name in the scenario.
    pub host: String,
    /// Its IPv4 address, and its IPv6 address if the system supports it.
    pub addresses: Vec<std::net::IpAddr>,
    /// The congestion controls of its kernel's connections; if there were none, the one that new connections get. Empty
    /// for the caller's own network.
    pub congestion: Vec<String>,
    /// Packets that it sent into the network.
    pub sent: u64,
    /// Packets delivered to it.
    pub received: u64,
    /// Packets that it sent to addresses outside the network; they were dropped.
    pub stray: u64,
    /// Packets dropped because of the limit of bytes in the network.
    pub refused: u64,
    /// Packets that its kernel did not accept.
    pub rejected: u64,
    /// How its command ended; `None` if it still ran at the end of the emulation.
    pub status: Option<Ended>,
}

impl HostReport {
    pub(super) const fn new(host: String, addresses: Vec<std::net::IpAddr>) -> Self {
        let congestion = Vec::new();
        Self {
            host,
            addresses,
            congestion,
            sent: 0,
            received: 0,
            stray: 0,
            refused: 0,
            rejected: 0,
            status: None,
        }
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
    /// The exit status that a shell reports.
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

/// The results of an emulation.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    /// How the command ended; `None` if the emulation was stopped.
    pub ended: Option<Ended>,
    /// Duration of the command in seconds.
    pub seconds: f64,
    /// CPU steal time in seconds during the command: packets due in that time are late. `None` if the system does not
    /// report it.
    pub stolen: Option<f64>,
    /// Number of processes of earlier emulations that were killed at the start.
    pub removed: usize,
    /// Both directions of each link.
    pub links: Vec<LinkReport>,
    /// Hosts with commands, in the order of the scenario.
    pub hosts: Vec<HostReport>,
}

/// The results of the links of `spec`: `errors` of each channel, `busy` is the time between the first packet and the
/// last.
pub(super) fn links(
    spec: &WorldSpec,
    channels: &[Channel],
    errors: Vec<DelayError>,
    busy: Span,
) -> Vec<LinkReport> {
    let report = |(((link, way), channel), error): (((&LinkSpec, usize), &Channel), DelayError)| {
        let counters = channel.counters();
        LinkReport {
            link: link.name.to_string(),
            direction: name_of(spec, link, way),
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
    directions(spec).zip(channels).zip(errors).map(report).collect()
}

/// Both directions of each link, in the order of the channels: the link, and the number of the direction.
pub(super) fn directions(spec: &WorldSpec) -> impl Iterator<Item = (&LinkSpec, usize)> {
    spec.links.iter().flat_map(|link| [(link, 0), (link, 1)])
}

/// The name of a direction of a link.
pub(super) fn name_of(spec: &WorldSpec, link: &LinkSpec, way: usize) -> String {
    let [from, to] = [way, 1 - way].map(|end| &spec.nodes[link.ends[end].0 as usize].name);
    format!("{from}->{to}")
}
