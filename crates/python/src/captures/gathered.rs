//! Results of a capture since the last call.

use netspurt_budget::Limit;
use netspurt_tcp::time::Span;
use netspurt_trace::diagnosis::{Diagnoser, Vantage};
use netspurt_trace::follow::{
    ConnectionId, ConnectionReport, Endpoints, Flight, Happened, RttSample, Seen, Watch,
};
use netspurt_trace::{Side, Stamp, StreamFields};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) const SAMPLES: &str = "samples";
pub(crate) const EVENTS: &str = "events";
pub(crate) const FLIGHT: &str = "flight";
pub(crate) const SEGMENTS: &str = "segments";
pub(crate) const LIMITS: &str = "limits";

/// One segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) at: Stamp,
    pub(crate) side: Side,
    pub(crate) fields: StreamFields,
    pub(crate) len: u32,
    pub(crate) sack: Option<(i64, i64)>,
}

/// Rows for tables; `None` if they are not recorded.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    pub(crate) connections: Vec<(ConnectionId, ConnectionReport)>,
    pub(crate) samples: Option<Vec<(ConnectionId, RttSample)>>,
    pub(crate) events: Option<Vec<(ConnectionId, Happened)>>,
    pub(crate) flights: Option<Vec<(ConnectionId, Flight)>>,
    pub(crate) segments: Option<Vec<(ConnectionId, Row)>>,
    /// What limited each connection.
    limits: Option<Diagnoser>,
    /// The connections whose rows are recorded; `None` for all.
    only: Option<BTreeSet<u64>>,
    /// The calls of a connection are repeated for its limits; its rows are recorded already.
    repeated: bool,
    /// How many more connections may be stored, and how many were not.
    room: u64,
    pub(crate) unlisted: u64,
}

impl Gathered {
    /// Records what `record` names, rows of the connections `only`, and at most `most` connections.
    pub(crate) fn new(record: &[String], most: u64, only: Option<Vec<u64>>) -> Result<Self, String> {
        let only = only.map(|numbers| numbers.into_iter().collect());
        let mut all = Self { room: most, only, ..Self::default() };
        for name in record {
            match name.as_str() {
                SAMPLES => all.samples = Some(Vec::new()),
                EVENTS => all.events = Some(Vec::new()),
                FLIGHT => all.flights = Some(Vec::new()),
                SEGMENTS => all.segments = Some(Vec::new()),
                LIMITS => all.limits = Some(Diagnoser::new(1)),
                _ => {
                    return Err(format!(
                        "cannot record '{name}'; valid names: {SAMPLES}, {EVENTS}, {FLIGHT}, {SEGMENTS}, {LIMITS}"
                    ));
                }
            }
        }
        Ok(all)
    }

    /// The limits of the connections that ended since the last call, of the direction with more bytes, and where each
    /// was captured.
    pub(crate) fn take_limits(&mut self) -> BTreeMap<ConnectionId, (Limit, Vantage)> {
        let found = self.limits.as_mut().map(Diagnoser::take).unwrap_or_default();
        found.iter().map(|each| (each.id, (each.main().limit(), each.main().vantage))).collect()
    }

    fn records(&self, id: ConnectionId) -> bool {
        !self.repeated && self.only.as_ref().is_none_or(|only| only.contains(&id.0))
    }
}

impl Watch for Gathered {
    fn opened(&mut self, id: ConnectionId, who: &Endpoints) {
        if let Some(limits) = &mut self.limits {
            limits.opened(id, who);
        }
    }

    fn turnaround(&mut self, id: ConnectionId, side: Side, at: Stamp, span: Span) {
        if let Some(limits) = &mut self.limits {
            limits.turnaround(id, side, at, span);
        }
    }

    fn segment(&mut self, id: ConnectionId, seen: &Seen<'_>) {
        if let Some(limits) = &mut self.limits {
            limits.segment(id, seen);
        }
        if !self.records(id) {
            return;
        }
        if let Some(segments) = &mut self.segments {
            let Seen { at, side, fields, segment, .. } = *seen;
            let len = segment.payload.len;
            segments.push((id, Row { at, side, fields: *fields, len, sack: fields.sack(segment) }));
        }
    }

    fn sample(&mut self, id: ConnectionId, sample: &RttSample) {
        if let Some(limits) = &mut self.limits {
            limits.sample(id, sample);
        }
        if !self.records(id) {
            return;
        }
        if let Some(samples) = &mut self.samples {
            samples.push((id, *sample));
        }
    }

    fn happened(&mut self, id: ConnectionId, happened: &Happened) {
        if let Some(limits) = &mut self.limits {
            limits.happened(id, happened);
        }
        if !self.records(id) {
            return;
        }
        if let Some(events) = &mut self.events {
            events.push((id, *happened));
        }
    }

    fn flight(&mut self, id: ConnectionId, flight: &Flight) {
        if let Some(limits) = &mut self.limits {
            limits.flight(id, flight);
        }
        if !self.records(id) {
            return;
        }
        if let Some(flights) = &mut self.flights {
            flights.push((id, *flight));
        }
    }

    fn rests(&mut self, id: ConnectionId) {
        if let Some(limits) = &mut self.limits {
            limits.rests(id);
        }
    }

    fn wakes(&mut self, _id: ConnectionId) -> bool {
        self.repeated = self.limits.is_some();
        self.repeated
    }

    fn awake(&mut self, _id: ConnectionId) {
        self.repeated = false;
    }

    fn closed(&mut self, id: ConnectionId, report: &ConnectionReport) {
        if let Some(limits) = &mut self.limits {
            limits.closed(id, report);
        }
        if self.room == 0 {
            self.unlisted += 1;
        } else {
            self.room -= 1;
            self.connections.push((id, report.clone()));
        }
    }
}
