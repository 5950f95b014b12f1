//! What a run leaves behind.

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
    /// Times its window shrank because the other end told of congestion marks.
    pub ecn_reductions: u32,
    /// Segments that came to the end that receives the data with such a mark.
    pub marks_received: u32,
    /// Marked packets that the sender has been told of, where they are counted (RFC 9768).
    pub marks_told: u32,
    /// NAKs sent by the end that receives the data.
    pub naks_sent: u32,
    /// Mean of the round-trip times measured by the end that sends the data.
    pub rtt_mean_s: Option<f64>,
    /// Whether everything that was asked for was done.
    pub completed: bool,
    /// Bytes delivered in place of others (RFC 1110), at either end.
    pub wrong_bytes: u64,
    /// Times that an end held a short segment for an ACK that the other end was delaying, until that one's timer ran out.
    pub held_tails: u64,
    /// How long both waited in all.
    pub held_tail_s: f64,
    /// The end that held segments, or held them longer: "client" or "server".
    pub held_at: Option<&'static str>,
    /// The transmission policy that held them.
    pub held_by: Option<Transmit>,
    /// The delayed-ACK policy for which they were held.
    pub held_for: Option<Acking>,
    /// Why the connection is over, if it is, as the client sees it.
    pub closed: Option<CloseReason>,
    /// What its session did, if it is one.
    pub session: Option<Box<SessionResult>>,
    /// What came of its video, if it plays one.
    pub video: Option<VideoTally>,
    /// What came of its transfers, if they arrive in an open loop.
    pub arrivals: Option<Box<ArrivalTally>>,
    /// What came of its datagrams, if it sends such.
    pub datagrams: Option<Box<DatagramResult>>,
    /// Counters of the client's connection, or of all its session's together.
    pub client: Stats,
    /// Counters of the server's connection, or of all its session's together.
    pub server: Stats,
}

/// Spans of time summed up, in seconds. Quantiles are exact up to 4096 values in each flow, else within 0.4 %; between
/// neighbours they are linear.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Times {
    /// Mean.
    pub mean: f64,
    /// Half were shorter.
    pub median: f64,
    /// 95 of 100 were shorter.
    pub p95: f64,
    /// 99 of 100 were shorter.
    pub p99: f64,
    /// The shortest.
    pub min: f64,
    /// The longest.
    pub max: f64,
}

impl Times {
    /// What a sketch says; `None` if it has heard of nothing.
    pub fn of(sketch: &Sketch) -> Option<Self> {
        let [median, p95, p99] = sketch.quantiles_s([0.5, 0.95, 0.99])?;
        let (mean, min, max) = (sketch.mean_s()?, sketch.min_s()?, sketch.max_s()?);
        Some(Self { mean, median, p95, p99, min, max })
    }
}

/// What a session did.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SessionResult {
    /// Pages fetched.
    pub pages: u64,
    /// From asking for a page to its last byte.
    pub page_delay: Option<Times>,
    /// Files fetched; several that were fetched as one count as one.
    pub transfers: u64,
    /// From asking for a file to its last byte.
    pub transfer_time: Option<Times>,
    /// Network power: bits delivered in each second over the median delay of a page in seconds.
    pub power_bit_per_s2: Option<f64>,
    /// Connections opened, or wanted.
    pub connections: u32,
    /// Connections among them that were over before all had come; what was missing was asked for again.
    pub broken: u32,
    /// Times a connection had to wait for a free port.
    pub port_waits: u32,
}

impl SessionResult {
    /// What was counted, by the names that files and tables have for it.
    pub fn counts(&self) -> [(&'static str, u64); 5] {
        [
            ("pages", self.pages),
            ("transfers", self.transfers),
            ("connections", u64::from(self.connections)),
            ("broken", u64::from(self.broken)),
            ("port_waits", u64::from(self.port_waits)),
        ]
    }

    /// What was measured, likewise; nothing if there was nothing to measure.
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
    /// How many there are.
    pub flows: u32,
    /// Bytes that their receiving applications have read.
    pub bytes_delivered: u64,
    /// Bits delivered in each second from the start of the first to the end of the last, or of the simulation.
    pub goodput_bps: f64,
    /// Segments sent by the ends that send the data.
    pub segments_sent: u64,
    /// Segments among them with data or FIN already sent before.
    pub retransmitted: u64,
    /// Times their retransmission timers ran out.
    pub timeouts: u64,
    /// What their sessions did, if they are such.
    pub session: Option<SessionResult>,
    /// What came of their videos, if they play such.
    pub video: Option<VideoTally>,
    /// What came of their transfers, if they arrive in an open loop.
    pub arrivals: Option<ArrivalTally>,
    /// What came of their datagrams, if they send such.
    pub datagrams: Option<DatagramResult>,
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
#[derive(Clone, Debug)]
pub struct LinkResult {
    /// Name in the scenario.
    pub link: Arc<str>,
    /// `from->to`.
    pub direction: String,
    /// Packets transmitted, lost ones included.
    pub packets: u64,
    /// Bytes transmitted, framing included.
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
    /// Share of the time from 0 to [`RunResult::active_s`] in which the transmitter was busy.
    pub utilisation: f64,
    /// Packets waiting, averaged over the same time.
    pub queue_mean_packets: f64,
    /// Most packets that ever waited.
    pub queue_max_packets: u32,
    /// How a station of a hub got on with the others, where they compete: `deferrals` and `collisions`.
    pub contention: Option<Contention>,
    /// How many packets a policer found green, yellow and red: `policed_green` and so on.
    pub colours: Option<Colours>,
}

impl LinkResult {
    /// Packets that did not arrive because of `cause`.
    pub fn drops_by(&self, cause: Cause) -> u64 {
        self.drops.get(cause.name()).copied().unwrap_or(0)
    }
}

/// A change of a link that took place.
#[derive(Clone, PartialEq, Debug)]
pub struct ChangeResult {
    /// When.
    pub time_s: f64,
    /// What was set, such as `link.up.rate`.
    pub path: Arc<str>,
    /// To what, as the scenario writes it.
    pub value: Arc<str>,
}

/// What the run cost.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
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
    /// How long anything went on: until the last flow was done and the last link idle, or to the end.
    pub active_s: f64,
    /// The run was stopped before its end.
    pub interrupted: bool,
    /// One for each flow, in the scenario's order.
    pub flows: Vec<FlowResult>,
    /// One for each name of flows, in the scenario's order.
    pub groups: Vec<GroupResult>,
    /// Two for each link, in the scenario's order.
    pub links: Vec<LinkResult>,
    /// The changes of links that took place, in order; the first 10000 of them.
    pub changes: Vec<ChangeResult>,
    /// Packets discarded by hosts because the checksum was wrong.
    pub checksum_drops: u64,
    /// Packets that came when their connection was over at both ends. In life a host answers them with a reset, or an ACK
    /// from TIME-WAIT, of 40 bytes that nobody hears; here they are discarded.
    pub late_packets: u64,
    /// What the run cost.
    pub performance: Performance,
    /// What was recorded.
    pub recording: Recording,
}
