//! The class `Run`.

use crate::captures::capture_columns::sacked;
use crate::captures::limits;
use crate::simulation::arrivals::{self, Arrival};
use crate::tables::columns::Columns;
use crate::tables::gather::Tasks;
use crate::tables::table::{Cell, Table};
use crate::tables::wide::Wide;
use netspurt_scenario::document;
use netspurt_sim::host::session::{ArrivalTally, VideoTally};
use netspurt_sim::record::datagrams::DatagramResult;
use netspurt_sim::record::probe::{End, Quantity, Sample, Wants};
use netspurt_sim::record::queue_quantiles::queue_quantiles;
use netspurt_sim::record::result::{
    FlowResult, GroupResult, LinkResult, RunResult, SessionResult, close_name,
};
use netspurt_tcp::time::{Span, Time};
use netspurt_trace::{Conversation, Side};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::collections::{BTreeMap, BTreeSet};

const QUEUE: &str = "queue";
const SEGMENTS: &str = "segments";
const DROPS: &str = "drops";
const MARKS: &str = "marks";
const PAGES: &str = "pages";
const ARRIVALS: &str = "arrivals";
const LIMITS: &str = "limits";

/// The valid names in `record`.
fn recordable() -> impl Iterator<Item = &'static str> {
    Quantity::ALL
        .into_iter()
        .map(Quantity::name)
        .chain([QUEUE, SEGMENTS, DROPS, MARKS, PAGES, ARRIVALS, LIMITS])
}

/// The kinds of records.
pub(crate) struct Recorded(BTreeSet<&'static str>);

impl Recorded {
    /// Reads what `record` names.
    pub(crate) fn new(names: &[String]) -> Result<Self, String> {
        let known: Vec<&'static str> = recordable().collect();
        let find = |name: &String| {
            known
                .iter()
                .copied()
                .find(|known| known == name)
                .ok_or_else(|| format!("cannot record '{name}'; valid names: {}", known.join(", ")))
        };
        names.iter().map(find).collect::<Result<_, _>>().map(Self)
    }

    /// The recordings that the simulator makes.
    pub(crate) fn wants(&self) -> Wants {
        self.0.iter().fold(Wants::NOTHING, |wants, &name| {
            wants.and(match name {
                QUEUE => Wants::QUEUE,
                SEGMENTS => Wants::SEGMENTS,
                DROPS => Wants::DROPS,
                MARKS => Wants::MARKS,
                PAGES => Wants::PAGES,
                LIMITS => Wants::LIMITS,
                ARRIVALS => Wants::SEGMENTS.and(Wants::DROPS),
                _ => Wants::SERIES,
            })
        })
    }

    /// Whether arrivals are recorded.
    pub(crate) fn arrivals(&self) -> bool {
        self.0.contains(ARRIVALS)
    }
}

/// The results of one simulation, as columns.
#[pyclass(frozen, module = "netspurt._core")]
pub(crate) struct Run {
    result: RunResult,
    arrivals: Vec<Arrival>,
    recorded: Recorded,
}

impl Run {
    pub(crate) fn new((result, arrivals): (RunResult, Vec<Arrival>), recorded: Recorded) -> Self {
        Self { result, arrivals, recorded }
    }

    /// Name, number and host of rows that belong to one end of a flow.
    fn who(
        &self,
        columns: &Columns<'_>,
        rows: impl ExactSizeIterator<Item = (u32, End)> + Clone,
    ) -> PyResult<()> {
        let flows = &self.result.flows;
        columns.names(
            "flow",
            flows.iter().map(|flow| &*flow.flow),
            rows.clone().map(|row| row.0 as usize),
        )?;
        columns.counts("index", rows.clone().map(|row| flows[row.0 as usize].index))?;
        let hosts = flows.iter().flat_map(|flow| [&*flow.from, &*flow.to]);
        columns.names("host", hosts, rows.map(|(flow, end)| 2 * flow as usize + end as usize))
    }

    /// Flows, groups and links as one table: the results of a task of a sweep.
    fn wide(&self, task: &str) -> PyResult<Wide> {
        let RunResult { flows, groups, links, .. } = &self.result;
        let mut wide = Wide::default();
        wide.begin("flow", flows.len());
        flow_columns(&mut wide, flows)?;
        wide.begin("group", groups.len());
        group_columns(&mut wide, groups)?;
        wide.begin("link", links.len());
        link_columns(&mut wide, links)?;
        wide.mark("digest", &Cell::from(self.result.digest.as_str()));
        wide.mark("seed", &Cell::from(self.result.seed));
        wide.mark("task", &Cell::from(task));
        Ok(wide)
    }

    /// Link and direction of rows that belong to a channel.
    fn place(&self, columns: &Columns<'_>, rows: impl ExactSizeIterator<Item = u32> + Clone) -> PyResult<()> {
        let links = &self.result.links;
        columns.names("link", links.iter().map(|link| &*link.link), rows.clone().map(|row| row as usize))?;
        columns.names(
            "direction",
            links.iter().map(|link| link.direction.as_str()),
            rows.map(|row| row as usize),
        )
    }

    fn queue<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (columns, rows) = (Columns::new(py), &self.result.recording.queues);
        columns.array("time_s", seconds(rows.iter().map(|row| row.time)))?;
        self.place(&columns, rows.iter().map(|row| row.channel))?;
        columns.array("value", rows.iter().map(|row| f64::from(row.packets)).collect())?;
        Ok(columns.finish())
    }

    fn quantity<'py>(&self, py: Python<'py>, quantity: Quantity) -> PyResult<Bound<'py, PyDict>> {
        let columns = Columns::new(py);
        let known = |row: &&Sample| row.quantity == quantity && in_units(row).is_some();
        let rows: Vec<&Sample> = self.result.recording.samples.iter().filter(known).collect();
        columns.array("time_s", seconds(rows.iter().map(|row| row.time)))?;
        self.who(&columns, rows.iter().map(|row| (row.flow, row.end)))?;
        columns.counts("connection", rows.iter().map(|row| row.connection))?;
        columns.words("end", rows.iter().map(|row| end_name(row.end)))?;
        columns.array("value", rows.iter().filter_map(|row| in_units(row)).collect())?;
        Ok(columns.finish())
    }
}

#[pymethods]
impl Run {
    /// What limited each connection, as a JSON array; empty unless "limits" was recorded. See `netspurt why --json`. With a range, in
    /// seconds since the begin of the run, only that time is diagnosed.
    #[pyo3(signature = (range_s = None))]
    fn limits(&self, range_s: Option<(f64, f64)>) -> String {
        let at = |seconds: f64| Time::from_ps((seconds * 1e12).round() as u64);
        let range = range_s.map(|(from, until)| (at(from), at(until)));
        limits::flows(&self.result.recording.limits, &self.result.flows, range).to_string()
    }

    /// The seed of this run.
    #[getter]
    const fn seed(&self) -> u64 {
        self.result.seed
    }

    /// A hash of all events in order.
    #[getter]
    fn digest(&self) -> &str {
        &self.result.digest
    }

    /// The document that ``netspurt run --json`` prints.
    fn json(&self) -> PyResult<String> {
        document::to_text(&self.result).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    /// One row for each flow.
    fn flows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut columns = Columns::new(py);
        flow_columns(&mut columns, &self.result.flows)?;
        Ok(columns.finish())
    }

    /// One row for each name of flows.
    fn groups<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut columns = Columns::new(py);
        group_columns(&mut columns, &self.result.groups)?;
        Ok(columns.finish())
    }

    /// One row for each page that a session has fetched; empty unless recorded.
    fn pages<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (columns, rows) = (Columns::new(py), &self.result.recording.pages);
        self.who(&columns, rows.iter().map(|row| (row.flow, End::Client)))?;
        columns.counts("page", rows.iter().map(|row| row.page))?;
        columns.array("asked_s", seconds(rows.iter().map(|row| row.asked)))?;
        columns.array("delay_s", rows.iter().map(|row| (row.done - row.asked).as_secs_f64()).collect())?;
        columns.counts("files", rows.iter().map(|row| row.files))?;
        columns.counts("bytes", rows.iter().map(|row| row.bytes))?;
        columns.counts("connections", rows.iter().map(|row| row.connections))?;
        columns.counts("retransmitted", rows.iter().map(|row| row.retransmitted))?;
        columns.counts("timeouts", rows.iter().map(|row| row.timeouts))?;
        Ok(columns.finish())
    }

    /// One row for each direction of each link.
    fn links<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut columns = Columns::new(py);
        link_columns(&mut columns, &self.result.links)?;
        Ok(columns.finish())
    }

    /// One recorded series. Bytes, or seconds for "srtt", "rto" and "rtt" (one row for each sample), or packets for "queue".
    fn series<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyDict>> {
        let quantity = Quantity::ALL.into_iter().find(|quantity| quantity.name() == name);
        if quantity.is_none() && name != QUEUE {
            let known: Vec<_> = Quantity::ALL.into_iter().map(Quantity::name).chain([QUEUE]).collect();
            let message = format!("unknown series '{name}'; known: {}", known.join(", "));
            return Err(PyValueError::new_err(message));
        }
        if !self.recorded.0.contains(name) {
            let message = format!("the series '{name}' was not recorded: run with record=[\"{name}\"]");
            return Err(PyValueError::new_err(message));
        }
        quantity.map_or_else(|| self.queue(py), |quantity| self.quantity(py, quantity))
    }

    /// Of each direction of a link whose queue was recorded: the link, the direction, and the number of packets that its queue did not
    /// exceed for this share of the time.
    fn queue_quantiles(&self, share: f64) -> Vec<(&str, &str, u32)> {
        let named = |(channel, packets): (u32, u32)| {
            let link = self.result.links.get(channel as usize)?;
            Some((&*link.link, link.direction.as_str(), packets))
        };
        queue_quantiles(&self.result.recording.queues, share).into_iter().filter_map(named).collect()
    }

    /// One row for each segment that any host has sent; empty unless recorded. ``arrives_s``, if arrivals were
    /// recorded, is NaN for segments that did not arrive.
    fn segments<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (mut columns, rows) = (Columns::new(py), &self.result.recording.segments);
        let mut talks: BTreeMap<(u32, u32), Conversation> = BTreeMap::new();
        let fields: Vec<_> = rows
            .iter()
            .map(|row| {
                let side = if row.end == End::Client { Side::A } else { Side::B };
                talks.entry((row.flow, row.connection)).or_default().process(side, &row.segment)
            })
            .collect();
        columns.array("time_s", seconds(rows.iter().map(|row| row.time)))?;
        self.who(&columns, rows.iter().map(|row| (row.flow, row.end)))?;
        columns.counts("connection", rows.iter().map(|row| row.connection))?;
        columns.array("from_client", rows.iter().map(|row| row.end == End::Client).collect())?;
        columns.array("seq", fields.iter().map(|fields| fields.seq).collect())?;
        columns.counts("length", rows.iter().map(|row| row.segment.payload.len))?;
        columns.array("ack", fields.iter().map(|fields| fields.ack.unwrap_or(-1)).collect())?;
        columns.counts("window", fields.iter().map(|fields| fields.window))?;
        columns.words("reason", rows.iter().map(|row| row.reason.name()))?;
        columns.array("nak", fields.iter().map(|fields| fields.nak.unwrap_or(-1)).collect())?;
        sacked(&mut columns, fields.iter().zip(rows).map(|(fields, row)| fields.sack(&row.segment)))?;
        if self.recorded.arrivals() {
            let times = arrivals::matched(&self.result.recording, &self.arrivals);
            columns.array(
                "arrives_s",
                times.iter().map(|time| time.map_or(f64::NAN, Time::as_secs_f64)).collect(),
            )?;
        }
        Ok(columns.finish())
    }

    /// One row for each lost packet; empty unless recorded.
    fn drops<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (columns, rows) = (Columns::new(py), &self.result.recording.drops);
        columns.array("time_s", seconds(rows.iter().map(|row| row.time)))?;
        self.place(&columns, rows.iter().map(|row| row.channel))?;
        self.who(&columns, rows.iter().map(|row| (row.flow, row.end)))?;
        columns.counts("connection", rows.iter().map(|row| row.connection))?;
        columns.array("from_client", rows.iter().map(|row| row.end == End::Client).collect())?;
        columns.counts("size", rows.iter().map(|row| row.size))?;
        columns.counts("length", rows.iter().map(|row| row.segment.payload.len))?;
        columns.words("cause", rows.iter().map(|row| row.cause.name()))?;
        columns.counts("queue_packets", rows.iter().map(|row| row.queue_packets))?;
        columns.counts("queue_bytes", rows.iter().map(|row| row.queue_bytes))?;
        Ok(columns.finish())
    }

    /// One row for each packet that a queue marked; empty unless recorded.
    fn marks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (columns, rows) = (Columns::new(py), &self.result.recording.marks);
        columns.array("time_s", seconds(rows.iter().map(|row| row.time)))?;
        self.place(&columns, rows.iter().map(|row| row.channel))?;
        self.who(&columns, rows.iter().map(|row| (row.flow, row.end)))?;
        columns.counts("connection", rows.iter().map(|row| row.connection))?;
        columns.array("from_client", rows.iter().map(|row| row.end == End::Client).collect())?;
        columns.counts("length", rows.iter().map(|row| row.segment.payload.len))?;
        columns.counts("queue_packets", rows.iter().map(|row| row.queue_packets))?;
        columns.counts("queue_bytes", rows.iter().map(|row| row.queue_bytes))?;
        Ok(columns.finish())
    }

    /// Flows, groups and links as one Parquet file with the given metadata; equal runs give equal bytes. The first
    /// columns are ``task``, ``seed`` and ``digest``. The rows are also added to ``rows``, if given.
    #[pyo3(signature = (task, metadata, rows = None))]
    fn parquet<'py>(
        &self,
        py: Python<'py>,
        task: &str,
        metadata: Vec<(String, String)>,
        rows: Option<&Tasks>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let file = py.detach(|| -> PyResult<_> {
            let wide = self.wide(task)?;
            if let Some(rows) = rows {
                rows.add(task, &wide);
            }
            Ok(wide.parquet(&metadata))
        })?;
        let file =
            file.map_err(|what| PyRuntimeError::new_err(format!("{what}, which a file cannot store")))?;
        Ok(PyBytes::new(py, &file))
    }

    fn __repr__(&self) -> String {
        format!("<netspurt._core.Run of {:?}, seed {}>", self.result.scenario, self.result.seed)
    }
}

const fn end_name(end: End) -> &'static str {
    match end {
        End::Client => "client",
        End::Server => "server",
    }
}

fn seconds(times: impl Iterator<Item = Time>) -> Vec<f64> {
    times.map(Time::as_secs_f64).collect()
}

/// The value of a sample in the units of the output; `None` if there is none yet.
fn in_units(sample: &Sample) -> Option<f64> {
    match sample.quantity {
        Quantity::Srtt | Quantity::Rto | Quantity::Rtt => {
            (sample.value != u64::MAX).then(|| Span::from_ps(sample.value).as_secs_f64())
        }
        Quantity::Ssthresh if sample.value == u64::from(u32::MAX) => Some(f64::INFINITY),
        _ => Some(sample.value as f64),
    }
}

fn flow_columns<'py>(columns: &mut impl Table<'py>, flows: &[FlowResult]) -> PyResult<()> {
    let every = || 0..flows.len();
    columns.names("flow", flows.iter().map(|flow| &*flow.flow), every())?;
    columns.counts("index", flows.iter().map(|flow| flow.index))?;
    columns.names("from", flows.iter().map(|flow| &*flow.from), every())?;
    columns.names("to", flows.iter().map(|flow| &*flow.to), every())?;
    columns.list("bytes_asked", flows.iter().map(|flow| flow.bytes_asked).collect())?;
    columns.counts("bytes_delivered", flows.iter().map(|flow| flow.bytes_delivered))?;
    columns.array("start_s", flows.iter().map(|flow| flow.start_s).collect())?;
    columns.list("end_s", flows.iter().map(|flow| flow.end_s).collect())?;
    columns.list("delivered_s", flows.iter().map(|flow| flow.delivered_s).collect())?;
    columns.array("goodput_bps", flows.iter().map(|flow| flow.goodput_bps).collect())?;
    columns.counts("segments_sent", flows.iter().map(|flow| flow.segments_sent))?;
    columns.counts("retransmitted", flows.iter().map(|flow| flow.retransmitted))?;
    columns.counts("timeouts", flows.iter().map(|flow| flow.timeouts))?;
    columns.counts("fast_retransmits", flows.iter().map(|flow| flow.fast_retransmits))?;
    columns.counts("ecn_capable_sent", flows.iter().map(|flow| flow.ecn_capable_sent))?;
    columns.counts("ecn_reductions", flows.iter().map(|flow| flow.ecn_reductions))?;
    columns.counts("marks_received", flows.iter().map(|flow| flow.marks_received))?;
    columns.counts("marks_reported", flows.iter().map(|flow| flow.marks_reported))?;
    columns.counts("naks_sent", flows.iter().map(|flow| flow.naks_sent))?;
    columns.list("rtt_mean_s", flows.iter().map(|flow| flow.rtt_mean_s).collect())?;
    columns.array("completed", flows.iter().map(|flow| flow.completed).collect())?;
    columns.counts("wrong_bytes", flows.iter().map(|flow| flow.wrong_bytes))?;
    columns.counts("held_tails", flows.iter().map(|flow| flow.held_tails))?;
    columns.array("held_tail_s", flows.iter().map(|flow| flow.held_tail_s).collect())?;
    columns.list("held_at", flows.iter().map(|flow| flow.held_at).collect())?;
    columns.list("held_by", flows.iter().map(|flow| flow.held_by.map(document::transmit_name)).collect())?;
    columns.list("held_for", flows.iter().map(|flow| flow.held_for.map(document::acking_name)).collect())?;
    columns.list("closed", flows.iter().map(|flow| flow.closed.map(close_name)).collect())?;
    session_columns(columns, flows.iter().map(|flow| flow.session.as_deref()))?;
    video_columns(columns, flows.iter().map(|flow| flow.video))?;
    arrival_columns(columns, flows.iter().map(|flow| flow.arrivals.as_deref()))?;
    datagram_columns(columns, flows.iter().map(|flow| flow.datagrams.as_deref()))
}

fn group_columns<'py>(columns: &mut impl Table<'py>, groups: &[GroupResult]) -> PyResult<()> {
    columns.names("flow", groups.iter().map(|group| &*group.flow), 0..groups.len())?;
    columns.counts("flows", groups.iter().map(|group| group.flows))?;
    columns.counts("bytes_delivered", groups.iter().map(|group| group.bytes_delivered))?;
    columns.array("goodput_bps", groups.iter().map(|group| group.goodput_bps).collect())?;
    columns.counts("segments_sent", groups.iter().map(|group| group.segments_sent))?;
    columns.counts("retransmitted", groups.iter().map(|group| group.retransmitted))?;
    columns.counts("timeouts", groups.iter().map(|group| group.timeouts))?;
    session_columns(columns, groups.iter().map(|group| group.session.as_ref()))?;
    video_columns(columns, groups.iter().map(|group| group.video))?;
    arrival_columns(columns, groups.iter().map(|group| group.arrivals.as_ref()))?;
    datagram_columns(columns, groups.iter().map(|group| group.datagrams.as_ref()))
}

/// Results of sessions, one row for each flow or group; no columns without sessions.
fn session_columns<'a, 'py>(
    columns: &mut impl Table<'py>,
    rows: impl Iterator<Item = Option<&'a SessionResult>>,
) -> PyResult<()> {
    optional_columns(columns, rows.map(|row| row.map(|row| (row.counts(), row.measures()))).collect())
}

/// Results of videos, likewise.
fn video_columns<'py>(
    columns: &mut impl Table<'py>,
    rows: impl Iterator<Item = Option<VideoTally>>,
) -> PyResult<()> {
    optional_columns(columns, rows.map(|row| row.map(|row| (row.counts(), row.measures()))).collect())
}

/// Results of transfers that arrive, likewise.
fn arrival_columns<'a, 'py>(
    columns: &mut impl Table<'py>,
    rows: impl Iterator<Item = Option<&'a ArrivalTally>>,
) -> PyResult<()> {
    optional_columns(columns, rows.map(|row| row.map(|row| (row.counts(), row.measures()))).collect())
}

/// Results of datagrams, likewise.
fn datagram_columns<'a, 'py>(
    columns: &mut impl Table<'py>,
    rows: impl Iterator<Item = Option<&'a DatagramResult>>,
) -> PyResult<()> {
    optional_columns(columns, rows.map(|row| row.map(|row| (row.counts(), row.measures()))).collect())
}

/// Counts and measures by their names.
type Named<const C: usize, const M: usize> = ([(&'static str, u64); C], [(&'static str, Option<f64>); M]);

/// Counts and measures by their names, which are the same in every row that has any; no columns without such a row.
fn optional_columns<'py, const C: usize, const M: usize>(
    columns: &mut impl Table<'py>,
    rows: Vec<Option<Named<C, M>>>,
) -> PyResult<()> {
    let Some((counts, measures)) = rows.iter().flatten().next() else { return Ok(()) };
    for (at, (name, _)) in counts.iter().enumerate() {
        columns.list(name, rows.iter().map(|row| row.map(|row| row.0[at].1)).collect())?;
    }
    for (at, (name, _)) in measures.iter().enumerate() {
        columns.list(name, rows.iter().map(|row| row.and_then(|row| row.1[at].1)).collect())?;
    }
    Ok(())
}

fn link_columns<'py>(columns: &mut impl Table<'py>, links: &[LinkResult]) -> PyResult<()> {
    let every = || 0..links.len();
    columns.names("link", links.iter().map(|link| &*link.link), every())?;
    columns.names("direction", links.iter().map(|link| link.direction.as_str()), every())?;
    columns.counts("packets", links.iter().map(|link| link.packets))?;
    columns.counts("bytes", links.iter().map(|link| link.bytes))?;
    let causes: BTreeSet<&str> = links.iter().flat_map(|link| link.drops.keys().copied()).collect();
    for cause in causes {
        let count = |link: &LinkResult| link.drops.get(cause).copied().unwrap_or(0);
        columns.counts(&format!("drops_{cause}"), links.iter().map(count))?;
    }
    columns.counts("marked", links.iter().map(|link| link.marked))?;
    columns.counts("held", links.iter().map(|link| link.held))?;
    columns.counts("duplicated", links.iter().map(|link| link.duplicated))?;
    columns.counts("corrupted", links.iter().map(|link| link.corrupted))?;
    columns.array("utilisation", links.iter().map(|link| link.utilisation).collect())?;
    columns.array("queue_mean_packets", links.iter().map(|link| link.queue_mean_packets).collect())?;
    columns.counts("queue_max_packets", links.iter().map(|link| link.queue_max_packets))?;
    if links.iter().any(|link| link.contention.is_some()) {
        let met = || links.iter().map(|link| link.contention.unwrap_or_default());
        columns.counts("deferrals", met().map(|met| met.deferrals))?;
        columns.counts("collisions", met().map(|met| met.collisions))?;
    }
    Ok(())
}
