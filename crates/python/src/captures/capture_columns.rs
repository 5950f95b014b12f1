//! The columns of the tables of a capture, with their types. Times are relative to its first packet.

use crate::captures::gathered::Row;
use crate::tables::schema::Schema;
use crate::tables::table::Table;
use netspurt_budget::Limit;
use netspurt_tcp::time::Span;
use netspurt_trace::diagnosis::Vantage;
use netspurt_trace::follow::{
    Cause, ConnectionId, ConnectionReport, Distribution, Event, Flight, Happened, RttSample, StreamReport,
};
use netspurt_trace::{Side, Stamp};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;

/// Python's type of each column, by table and column.
pub(crate) fn schemas(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let schemas = PyDict::new(py);
    let of = |name: &str, fill: &dyn Fn(&mut Schema<'_>) -> PyResult<()>| {
        let mut schema = Schema::new(py);
        fill(&mut schema)?;
        schemas.set_item(name, schema.finish())
    };
    let origin = Stamp::default();
    of("connections", &|schema| connections(schema, &[], &BTreeMap::new(), origin))?;
    of("streams", &|schema| streams(schema, &[], origin))?;
    of("samples", &|schema| samples(schema, &[], origin))?;
    of("events", &|schema| events(schema, &[], origin))?;
    of("flight", &|schema| flight(schema, &[], origin))?;
    of("segments", &|schema| segments(schema, &[], origin))?;
    Ok(schemas)
}

/// One row for each connection.
pub(crate) fn connections<'py>(
    columns: &mut impl Table<'py>,
    rows: &[(ConnectionId, ConnectionReport)],
    limits: &BTreeMap<ConnectionId, (Limit, Vantage)>,
    origin: Stamp,
) -> PyResult<()> {
    let reports = || rows.iter().map(|(_, report)| report);
    columns.counts("connection", rows.iter().map(|(id, _)| id.0))?;
    columns.counts("interface", reports().map(|report| report.who.interface))?;
    columns.list("client", reports().map(|report| Some(report.who.client.ip().to_string())).collect())?;
    columns.counts("client_port", reports().map(|report| report.who.client.port()))?;
    columns.list("server", reports().map(|report| Some(report.who.server.ip().to_string())).collect())?;
    columns.counts("server_port", reports().map(|report| report.who.server.port()))?;
    columns.array("start_s", reports().map(|report| relative(report.first, origin)).collect())?;
    columns
        .array("duration_s", reports().map(|report| seconds(report.last.since(report.first))).collect())?;
    columns.words("opening", reports().map(|report| report.opening.name()))?;
    columns.words("closing", reports().map(|report| report.closing.name()))?;
    columns.list("handshake_rtt_s", reports().map(|report| report.handshake.map(seconds)).collect())?;
    columns.words("sender", reports().map(|report| side_name(report.sender())))?;
    let found = || rows.iter().map(|(id, _)| limits.get(id));
    columns.list("limit", found().map(|each| each.map(|(limit, _)| limit.name())).collect())?;
    columns.list("vantage", found().map(|each| each.map(|(_, vantage)| vantage.name())).collect())
}

/// Two rows for each connection: the client's stream and the server's.
pub(crate) fn streams<'py>(
    columns: &mut impl Table<'py>,
    rows: &[(ConnectionId, ConnectionReport)],
    origin: Stamp,
) -> PyResult<()> {
    let who: Vec<(u64, Side)> = rows.iter().flat_map(|(id, _)| [(id.0, Side::A), (id.0, Side::B)]).collect();
    let all: Vec<&StreamReport> = rows.iter().flat_map(|(_, report)| &report.streams).collect();
    columns.counts("connection", who.iter().map(|&(id, _)| id))?;
    columns.words("from", who.iter().map(|&(_, side)| side_name(side)))?;
    count(columns, &all, "packets", |s| s.packets)?;
    count(columns, &all, "segments", |s| s.segments)?;
    count(columns, &all, "bytes", |s| s.bytes)?;
    count(columns, &all, "acknowledged_bytes", |s| s.acknowledged)?;
    let time = |at: Option<Stamp>| at.map(|at| relative(at, origin));
    columns.list("data_from_s", all.iter().map(|s| time(s.data_from)).collect())?;
    columns.list("data_until_s", all.iter().map(|s| time(s.data_until)).collect())?;
    columns.list("goodput_bps", all.iter().map(|s| s.goodput_bps()).collect())?;
    count(columns, &all, "retransmitted", StreamReport::retransmissions)?;
    for cause in Cause::ALL {
        let name = format!("retransmitted_{}", cause.name().replace('-', "_"));
        columns.counts(&name, all.iter().map(|s| s.retransmitted[cause as usize]))?;
    }
    count(columns, &all, "retransmitted_bytes", |s| s.retransmitted_bytes)?;
    count(columns, &all, "spurious", |s| s.spurious)?;
    count(columns, &all, "reordered", |s| s.reordered)?;
    count(columns, &all, "reordering_extent", |s| s.reordering_extent)?;
    count(columns, &all, "duplicated", |s| s.duplicated)?;
    count(columns, &all, "unseen_bytes", |s| s.unseen_bytes)?;
    count(columns, &all, "duplicate_acks", |s| s.duplicate_acks)?;
    count(columns, &all, "zero_windows", |s| s.zero_windows)?;
    count(columns, &all, "window_probes", |s| s.window_probes)?;
    count(columns, &all, "keep_alives", |s| s.keep_alives)?;
    count(columns, &all, "marked", |s| s.marked)?;
    count(columns, &all, "flight_max", |s| s.flight_most)?;
    columns.list("window_max", all.iter().map(|s| s.window_most.map(u64::from)).collect())?;
    count(columns, &all, "segment_max", |s| s.segment_most.into())?;
    columns.list("mss", all.iter().map(|s| s.mss.map(u64::from)).collect())?;
    columns.list("window_scale", all.iter().map(|s| s.window_scale.map(u64::from)).collect())?;
    columns.array("sack", all.iter().map(|s| s.sack_permitted).collect())?;
    columns.array("timestamps", all.iter().map(|s| s.timestamps).collect())?;
    distribution(columns, "rtt", all.iter().map(|s| &s.rtt))?;
    distribution(columns, "rtt_timestamps", all.iter().map(|s| &s.rtt_timestamps))
}

fn count<'py>(
    columns: &mut impl Table<'py>,
    streams: &[&StreamReport],
    name: &str,
    value: fn(&StreamReport) -> u64,
) -> PyResult<()> {
    columns.counts(name, streams.iter().map(|stream| value(stream)))
}

fn distribution<'a, 'py>(
    columns: &mut impl Table<'py>,
    name: &str,
    all: impl Iterator<Item = &'a Distribution> + Clone,
) -> PyResult<()> {
    columns.counts(&format!("{name}_samples"), all.clone().map(Distribution::count))?;
    let mut column = |what: &str, value: &dyn Fn(&Distribution) -> Option<Span>| {
        columns.list(&format!("{name}_{what}_s"), all.clone().map(|d| value(d).map(seconds)).collect())
    };
    column("min", &Distribution::least)?;
    column("mean", &Distribution::mean)?;
    column("median", &|d| d.quantile(0.5))?;
    column("p95", &|d| d.quantile(0.95))?;
    column("max", &Distribution::largest)
}

/// The time, connection and direction of each row.
fn placed<'py>(
    columns: &mut impl Table<'py>,
    rows: impl ExactSizeIterator<Item = (ConnectionId, Stamp, Side)> + Clone,
    origin: Stamp,
) -> PyResult<()> {
    columns.array("time_s", rows.clone().map(|(_, at, _)| relative(at, origin)).collect())?;
    columns.counts("connection", rows.clone().map(|(id, ..)| id.0))?;
    columns.words("from", rows.map(|(.., side)| side_name(side)))
}

/// One row for each RTT sample.
pub(crate) fn samples<'py>(
    columns: &mut impl Table<'py>,
    rows: &[(ConnectionId, RttSample)],
    origin: Stamp,
) -> PyResult<()> {
    placed(columns, rows.iter().map(|(id, row)| (*id, row.at, row.side)), origin)?;
    columns.words("method", rows.iter().map(|(_, row)| row.method.name()))?;
    columns.array("ack", rows.iter().map(|(_, row)| row.ack).collect())?;
    columns.counts("length", rows.iter().map(|(_, row)| row.len))?;
    columns.array("sent_s", rows.iter().map(|(_, row)| relative(row.sent, origin)).collect())?;
    columns.array("rtt_s", rows.iter().map(|(_, row)| seconds(row.rtt())).collect())
}

/// One row for each event.
pub(crate) fn events<'py>(
    columns: &mut impl Table<'py>,
    rows: &[(ConnectionId, Happened)],
    origin: Stamp,
) -> PyResult<()> {
    placed(columns, rows.iter().map(|(id, row)| (*id, row.at, row.side)), origin)?;
    columns.words("event", rows.iter().map(|(_, row)| row.event.name()))?;
    columns.words("reason", rows.iter().map(|(_, row)| row.event.reason()))?;
    columns.array("seq", rows.iter().map(|(_, row)| row.start).collect())?;
    columns.counts("length", rows.iter().map(|(_, row)| row.len))?;
    let after = |event: &Event| match *event {
        Event::Retransmitted { after, .. } => after,
        Event::Reordered { late, .. } => Some(late),
        _ => None,
    };
    columns.list("after_s", rows.iter().map(|(_, row)| after(&row.event).map(seconds)).collect())?;
    let count = |event: &Event| match *event {
        Event::Reordered { extent, .. } => Some(extent),
        Event::DuplicateAck { count } => Some(u64::from(count)),
        _ => None,
    };
    columns.list("count", rows.iter().map(|(_, row)| count(&row.event)).collect())
}

/// One row for each change of the bytes in flight.
pub(crate) fn flight<'py>(
    columns: &mut impl Table<'py>,
    rows: &[(ConnectionId, Flight)],
    origin: Stamp,
) -> PyResult<()> {
    placed(columns, rows.iter().map(|(id, row)| (*id, row.at, row.side)), origin)?;
    columns.counts("flight", rows.iter().map(|(_, row)| row.bytes))?;
    columns.counts("window", rows.iter().map(|(_, row)| row.window))
}

/// One row for each segment.
pub(crate) fn segments<'py>(
    columns: &mut impl Table<'py>,
    rows: &[(ConnectionId, Row)],
    origin: Stamp,
) -> PyResult<()> {
    columns.array("time_s", rows.iter().map(|(_, row)| relative(row.at, origin)).collect())?;
    columns.counts("connection", rows.iter().map(|(id, _)| id.0))?;
    columns.array("from_client", rows.iter().map(|(_, row)| row.side == Side::A).collect())?;
    columns.array("seq", rows.iter().map(|(_, row)| row.fields.seq).collect())?;
    columns.counts("length", rows.iter().map(|(_, row)| row.len))?;
    columns.array("ack", rows.iter().map(|(_, row)| row.fields.ack.unwrap_or(-1)).collect())?;
    columns.counts("window", rows.iter().map(|(_, row)| row.fields.window))?;
    columns.array("nak", rows.iter().map(|(_, row)| row.fields.nak.unwrap_or(-1)).collect())?;
    sacked(columns, rows.iter().map(|(_, row)| row.sack))
}

/// The first SACK block of each segment, or -1.
pub(crate) fn sacked<'py>(
    columns: &mut impl Table<'py>,
    blocks: impl Iterator<Item = Option<(i64, i64)>> + Clone,
) -> PyResult<()> {
    columns.array("sack_from", blocks.clone().map(|block| block.map_or(-1, |(from, _)| from)).collect())?;
    columns.array("sack_until", blocks.map(|block| block.map_or(-1, |(_, until)| until)).collect())
}

const fn side_name(side: Side) -> &'static str {
    match side {
        Side::A => "client",
        Side::B => "server",
    }
}

fn seconds(span: Span) -> f64 {
    span.as_secs_f64()
}

/// Seconds since the capture's first packet; negative if the file is not in order of time.
fn relative(at: Stamp, origin: Stamp) -> f64 {
    at.0.wrapping_sub(origin.0).cast_signed() as f64 / 1e9
}
