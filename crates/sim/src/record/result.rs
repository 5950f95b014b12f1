//! The result of a run.

use crate::host::session::{ArrivalTally, VideoTally};
use crate::network::loss::Cause;
use crate::network::medium::Contention;
use crate::network::token_bucket::policer::Colours;
use crate::record::datagrams::DatagramResult;
use crate::record::probe::Recording;
use crate::record::sketch::Sketch;
use netspurt_tcp::acking::Acking;
use netspurt_tcp::state::CloseReason;
use netspurt_tcp::stats::Stats;
use netspurt_tcp::transmit::Transmit;
use std::collections::BTreeMap;
use std::sync::Arc;

/// One flow.
#[derive(Clone, Debug)]
pub struct FlowResult {
    /// Name in the scenario.
    pub flow: Arc<str>,
    /// Number among the flows of the same name.
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
    /// When it was done: the last byte of a bulk transfer was acknowledged, or the last byte of the last response was read.
    pub end_s: Option<f64>,
    /// When the receiving application read the last byte.
    pub delivered_s: Option<f64>,
    /// Bits delivered per second, from the start to the end of the flow or of the simulation.
    pub goodput_bps: f64,
    /// Segments sent by the end that sends the data.
    pub segments_sent: u64,
    /// Of these, segments with data or FIN that had been sent before.
    pub retransmitted: u32,
    /// Number of times that its retransmission timer ran out.
    pub timeouts: u32,
    /// Number of times that it entered recovery without a timeout.
    pub fast_retransmits: u32,
    /// Segments with an ECN-capable codepoint, sent by the end that sends the data. None where ECN was not negotiated.
    pub ecn_capable_sent: u32,
    /// Number of times that its window shrank because the other end reported congestion marks.
    pub ecn_reductions: u32,
    /// Segments with such a mark that arrived at the end that receives the data.
    pub marks_received: u32,
    /// Marked packets that were reported to the sender, where they are counted (RFC 9768).
    pub marks_reported: u32,
    /// NAKs sent by the end that receives the data.
    pub naks_sent: u32,
    /// Mean of the round-trip times measured by the end that sends the data.
    pub rtt_mean_s: Option<f64>,
    /// Whether everything that was asked for is done.
    pub completed: bool,
    /// Bytes delivered in place of other bytes (RFC 1110), at either end.
    pub wrong_bytes: u64,
    /// Number of times that an end held a short segment for an ACK that the other end delayed until its timer ran out.
    pub held_tails: u64,
    /// Total time of these waits.
    pub held_tail_s: f64,
    /// The end that held segments, or held them for longer: "client" or "server".
    pub held_at: Option<&'static str>,
    /// The transmission policy that held them.
    pub held_by: Option<Transmit>,
    /// The delayed-ACK policy for which they were held.
    pub held_for: Option<Acking>,
    /// Why the connection ended, as the client knows it; `None` if it has not ended.
    pub closed: Option<CloseReason>,
    /// Results of its session, if it has one.
    pub session: Option<Box<SessionResult>>,
    /// Results of its video, if it plays one.
    pub video: Option<VideoTally>,
    /// Results of its transfers, if they arrive in an open loop.
    pub arrivals: Option<Box<ArrivalTally>>,
    /// Results of its datagrams, if it sends any.
    pub datagrams: Option<Box<DatagramResult>>,
    /// Counters of the client's connection, or of all connections of its session together.
    pub client: Stats,
    /// Counters of the server's connection, or of all connections of its session together.
    pub server: Stats,
}

/// A summary of times, in seconds. Quantiles are exact up to 4096 values in each flow, otherwise within 0.4 %; they are
/// interpolated linearly between neighbours.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Times {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub median: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Minimum.
    pub min: f64,
    /// Maximum.
    pub max: f64,
}

impl Times {
    /// The summary of a sketch; `None` if the sketch is empty.
    pub fn of(sketch: &Sketch) -> Option<Self> {
        let [median, p95, p99] = sketch.quantiles_s([0.5, 0.95, 0.99])?;
        let (mean, min, max) = (sketch.mean_s()?, sketch.min_s()?, sketch.max_s()?);
        Some(Self { mean, median, p95, p99, min, max })
    }
}

/// Results of a session.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SessionResult {
    /// Pages fetched.
    pub pages: u64,
    /// Time from requesting a page to its last byte.
    pub page_delay: Option<Times>,
    /// Files fetched; files that were fetched as one count as one.
    pub transfers: u64,
    /// Time from requesting a file to its last byte.
    pub transfer_time: Option<Times>,
    /// Network power: bits delivered per second, divided by the median delay of a page in seconds.
    pub power_bit_per_s2: Option<f64>,
    /// Connections opened, including attempts.
    pub connections: u32,
    /// Of these, connections that ended before everything had arrived; the missing files were requested again.
    pub broken: u32,
    /// Number of times that a connection had to wait for a free port.
    pub port_waits: u32,
}

impl SessionResult {
    /// The counters, by their names in files and tables.
    pub fn counts(&self) -> [(&'static str, u64); 5] {
        [
            ("pages", self.pages),
            ("transfers", self.transfers),
            ("connections", u64::from(self.connections)),
            ("broken", u64::from(self.broken)),
            ("port_waits", u64::from(self.port_waits)),
        ]
    }

    /// The measurements, by their names in files and tables; nothing if there was nothing to measure.
    pub fn measures(&self) -> [(&'static str, Option<f64>); 13] {
        let (page, file) = (self.page_delay, self.transfer_time);
        [
            ("page_delay_mean_s", page.map(|times| times.mean)),
            ("page_delay_median_s", page.map(|times| times.median)),
            ("page_delay_p95_s", page.map(|times| times.p95)),
            ("page_delay_p99_s", page.map(|times| times.p99)),
            ("page_delay_min_s", page.map(|times| times.min)),
            ("page_delay_max_s", page.map(|times| times.max)),
            ("transfer_time_mean_s", file.map(|times| times.mean)),
            ("transfer_time_median_s", file.map(|times| times.median)),
            ("transfer_time_p95_s", file.map(|times| times.p95)),
            ("transfer_time_p99_s", file.map(|times| times.p99)),
            ("transfer_time_min_s", file.map(|times| times.min)),
            ("transfer_time_max_s", file.map(|times| times.max)),
            ("power_bit_per_s2", self.power_bit_per_s2),
        ]
    }
}

/// All flows of one name together.
#[derive(Clone, PartialEq, Debug)]
pub struct GroupResult {
    /// Their name in the scenario.
    pub flow: Arc<str>,
    /// Number of flows.
    pub flows: u32,
    /// Bytes that their receiving applications have read.
    pub bytes_delivered: u64,
    /// Bits delivered per second, from the start of the first flow to the end of the last, or of the simulation.
    pub goodput_bps: f64,
    /// Segments sent by the ends that send the data.
    pub segments_sent: u64,
    /// Of these, segments with data or FIN that had been sent before.
    pub retransmitted: u64,
    /// Number of times that their retransmission timers ran out.
    pub timeouts: u64,
    /// Results of their sessions, if they have any.
    pub session: Option<SessionResult>,
    /// Results of their videos, if they play any.
    pub video: Option<VideoTally>,
    /// Results of their transfers, if they arrive in an open loop.
    pub arrivals: Option<ArrivalTally>,
    /// Results of their datagrams, if they send any.
    pub datagrams: Option<DatagramResult>,
}

/// The name of a cause in files.
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
#[derive(Clone, Debug)]
pub struct LinkResult {
    /// Name in the scenario.
    pub link: Arc<str>,
    /// `from->to`.
    pub direction: String,
    /// Packets transmitted, including those lost afterwards.
    pub packets: u64,
    /// Bytes transmitted, including framing.
    pub bytes: u64,
    /// Packets lost, by cause. A cause that is possible here is listed even if its count is 0.
    pub drops: BTreeMap<&'static str, u64>,
    /// Packets marked with congestion experienced.
    pub marked: u64,
    /// Packets delayed by reordering.
    pub held: u64,
    /// Packets duplicated.
    pub duplicated: u64,
    /// Packets damaged.
    pub corrupted: u64,
    /// Share of the time from 0 to [`RunResult::active_s`] during which the transmitter was busy.
    pub utilisation: f64,
    /// Mean number of packets waiting, over the same time.
    pub queue_mean_packets: f64,
    /// Maximum number of packets waiting.
    pub queue_max_packets: u32,
    /// Counters of a station of a hub, where stations compete: `deferrals` and `collisions`.
    pub contention: Option<Contention>,
    /// Number of packets that a policer marked green, yellow and red: `policed_green` and so on.
    pub colours: Option<Colours>,
}

impl LinkResult {
    /// Packets lost because of `cause`.
    pub fn drops_by(&self, cause: Cause) -> u64 {
        self.drops.get(cause.name()).copied().unwrap_or(0)
    }
}

/// A change of a link that took place.
#[derive(Clone, PartialEq, Debug)]
pub struct ChangeResult {
    /// The time.
    pub time_s: f64,
    /// The key that was set, such as `link.up.rate`.
    pub path: Arc<str>,
    /// The new value, as the scenario writes it.
    pub value: Arc<str>,
}

/// The cost of the run.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Performance {
    /// Entries taken from the event queue.
    pub events: u64,
    /// Segments with data sent by hosts.
    pub data_packets: u64,
    /// Wall-clock time. The simulator has no clock: the caller fills it in.
    pub wall_s: Option<f64>,
    /// Data packets per second of wall-clock time, also filled in by the caller.
    pub data_packets_per_s: Option<f64>,
}

impl Performance {
    /// Fills in the values that only the caller knows.
    pub fn took(&mut self, wall_s: f64) {
        self.wall_s = Some(wall_s);
        self.data_packets_per_s = (wall_s > 0.0).then(|| self.data_packets as f64 / wall_s);
    }
}

/// A whole run.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// Name of the scenario.
    pub scenario: Arc<str>,
    /// The seed.
    pub seed: u64,
    /// A hash of what happened: 16 hexadecimal digits.
    pub digest: String,
    /// How long the simulation was to last.
    pub duration_s: f64,
    /// Time of the last activity: until the last flow was done and the last link idle, or to the end.
    pub active_s: f64,
    /// The run was stopped before its end.
    pub interrupted: bool,
    /// One for each flow, in the scenario's order.
    pub flows: Vec<FlowResult>,
    /// One for each name of flows, in the scenario's order.
    pub groups: Vec<GroupResult>,
    /// Two for each link, in the scenario's order.
    pub links: Vec<LinkResult>,
    /// The changes of links that took place, in order; only the first 10000 are kept.
    pub changes: Vec<ChangeResult>,
    /// Packets that hosts discarded because their checksum was wrong.
    pub checksum_drops: u64,
    /// Packets that arrived when their connection was over at both ends. A real host answers them with a reset, or with an
    /// ACK from TIME-WAIT, of 40 bytes that nothing processes; here they are discarded.
    pub late_packets: u64,
    /// The cost of the run.
    pub performance: Performance,
    /// The records.
    pub recording: Recording,
}
