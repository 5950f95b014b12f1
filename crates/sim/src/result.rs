//! What a run leaves behind.

use crate::loss::Cause;
use crate::medium::Contention;
use crate::probe::Recording;
use netspurt_tcp::state::CloseReason;
use netspurt_tcp::stats::Stats;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::sync::Arc;

/// One flow.
#[derive(Clone, Debug, Serialize)]
pub struct FlowResult {
    /// Name in the scenario.
    pub flow: Arc<str>,
    /// Number among those of the same name.
    pub index: u32,
    /// The host that opened the connection.
    pub from: Arc<str>,
    /// The host that accepted it.
    pub to: Arc<str>,
    /// Bytes that the application was asked to deliver; `None` for a transfer without end.
    pub bytes_asked: Option<u64>,
    /// Bytes that the receiving application has read: the server's of a bulk transfer, the client's of an exchange.
    pub bytes_delivered: u64,
    /// When it started.
    pub start_s: f64,
    /// When it was done: the last byte of a bulk transfer acknowledged, the last byte of the last response read.
    pub end_s: Option<f64>,
    /// When the receiving application had read the last byte.
    pub delivered_s: Option<f64>,
    /// Bits delivered in each second from start to end, or to the end of the simulation.
    pub goodput_bps: f64,
    /// Segments sent by the end that sends the data.
    pub segments_sent: u64,
    /// Segments among them with data or FIN already sent before.
    pub retransmitted: u32,
    /// Times its retransmission timer ran out.
    pub timeouts: u32,
    /// Times it entered recovery without.
    pub fast_retransmits: u32,
    /// NAKs sent by the end that receives the data.
    pub naks_sent: u32,
    /// Mean of the round-trip times measured by the end that sends the data.
    pub rtt_mean_s: Option<f64>,
    /// Whether everything that was asked for was done.
    pub completed: bool,
    /// Bytes delivered in place of others (RFC 1110), at either end.
    pub wrong_bytes: u64,
    /// Why the connection is over, if it is, as the client sees it.
    #[serde(serialize_with = "close_reason")]
    pub closed: Option<CloseReason>,
    /// Counters of the client's connection.
    #[serde(skip)]
    pub client: Stats,
    /// Counters of the server's connection.
    #[serde(skip)]
    pub server: Stats,
}

fn close_reason<S: Serializer>(reason: &Option<CloseReason>, serializer: S) -> Result<S::Ok, S::Error> {
    reason.map(close_name).serialize(serializer)
}

/// The name of a reason in files.
pub const fn close_name(reason: CloseReason) -> &'static str {
    match reason {
        CloseReason::Finished => "finished",
        CloseReason::Reset => "reset",
        CloseReason::Refused => "refused",
        CloseReason::Aborted => "aborted",
        CloseReason::TimedOut => "timed-out",
        CloseReason::UserTimeout => "user-timeout",
        CloseReason::KeepAliveTimeout => "keep-alive-timeout",
    }
}

/// One direction of a link.
#[derive(Clone, Debug, Serialize)]
pub struct LinkResult {
    /// Name in the scenario.
    pub link: Arc<str>,
    /// `from->to`.
    pub direction: String,
    /// Packets transmitted, lost ones included.
    pub packets: u64,
    /// Octets transmitted, framing included.
    pub bytes: u64,
    /// Packets that did not arrive, by cause; a cause that can occur here is listed even if it did not.
    pub drops: BTreeMap<&'static str, u64>,
    /// Packets held back by reordering.
    pub held: u64,
    /// Packets doubled.
    pub duplicated: u64,
    /// Packets damaged.
    pub corrupted: u64,
    /// Share of the time from 0 to [`RunResult::active_s`] in which the transmitter was busy.
    pub utilisation: f64,
    /// Packets waiting, averaged over the same time.
    pub queue_mean_packets: f64,
    /// Most packets that ever waited.
    pub queue_max_packets: u32,
    /// How a station of a hub got on with the others, where they compete: `deferrals` and `collisions`.
    #[serde(flatten)]
    pub contention: Option<Contention>,
}

impl LinkResult {
    /// Packets that did not arrive because of `cause`.
    pub fn drops_by(&self, cause: Cause) -> u64 {
        self.drops.get(cause.name()).copied().unwrap_or(0)
    }
}

/// What the run cost.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Performance {
    /// Entries taken from the event queue.
    pub events: u64,
    /// Segments with data that hosts have sent.
    pub data_packets: u64,
    /// Wall-clock time: to be filled in by whoever has a clock.
    pub wall_s: Option<f64>,
    /// Data packets in a second of wall-clock time: likewise.
    pub data_packets_per_s: Option<f64>,
}

impl Performance {
    /// Fills in what only the caller can know.
    pub fn took(&mut self, wall_s: f64) {
        self.wall_s = Some(wall_s);
        self.data_packets_per_s = (wall_s > 0.0).then(|| self.data_packets as f64 / wall_s);
    }
}

/// A whole run.
#[derive(Clone, Debug, Serialize)]
pub struct RunResult {
    /// Name of the scenario.
    pub scenario: Arc<str>,
    /// The seed.
    pub seed: u64,
    /// A hash of what happened: 16 hexadecimal digits.
    pub digest: String,
    /// How long the simulation was to last.
    pub duration_s: f64,
    /// How long anything went on: until the last flow was done and the last link idle, or to the end.
    pub active_s: f64,
    /// The run was stopped before its end.
    pub interrupted: bool,
    /// One for each flow, in the scenario's order.
    pub flows: Vec<FlowResult>,
    /// Two for each link, in the scenario's order.
    pub links: Vec<LinkResult>,
    /// Packets discarded by hosts because the checksum was wrong.
    pub checksum_drops: u64,
    /// What the run cost.
    pub performance: Performance,
    /// What was recorded.
    #[serde(skip)]
    pub recording: Recording,
}
