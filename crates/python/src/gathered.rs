//! Results of a capture since the last call.

use netspurt_trace::follow::{ConnectionId, ConnectionReport, Flight, Happened, RttSample, Seen, Watch};
use netspurt_trace::{Side, Stamp, Told};

pub(crate) const SAMPLES: &str = "samples";
pub(crate) const EVENTS: &str = "events";
pub(crate) const FLIGHT: &str = "flight";
pub(crate) const SEGMENTS: &str = "segments";

/// One segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) at: Stamp,
    pub(crate) side: Side,
    pub(crate) told: Told,
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
    /// How many more connections may be stored, and how many were not.
    room: u64,
    pub(crate) unlisted: u64,
}

impl Gathered {
    /// Records what `record` names, and at most `most` connections.
    pub(crate) fn new(record: &[String], most: u64) -> Result<Self, String> {
        let mut all = Self { room: most, ..Self::default() };
        for name in record {
            match name.as_str() {
                SAMPLES => all.samples = Some(Vec::new()),
                EVENTS => all.events = Some(Vec::new()),
                FLIGHT => all.flights = Some(Vec::new()),
                SEGMENTS => all.segments = Some(Vec::new()),
                _ => {
                    return Err(format!(
                        "cannot record '{name}'; valid names: {SAMPLES}, {EVENTS}, {FLIGHT}, {SEGMENTS}"
                    ));
                }
            }
        }
        Ok(all)
    }
}

impl Watch for Gathered {
    fn segment(&mut self, id: ConnectionId, seen: &Seen<'_>) {
        if let Some(segments) = &mut self.segments {
            let Seen { at, side, told, segment, .. } = *seen;
            let len = segment.payload.len;
            segments.push((id, Row { at, side, told: *told, len, sack: told.sack(segment) }));
        }
    }

    fn sample(&mut self, id: ConnectionId, sample: &RttSample) {
        if let Some(samples) = &mut self.samples {
            samples.push((id, *sample));
        }
    }

    fn happened(&mut self, id: ConnectionId, happened: &Happened) {
        if let Some(events) = &mut self.events {
            events.push((id, *happened));
        }
    }

    fn flight(&mut self, id: ConnectionId, flight: &Flight) {
        if let Some(flights) = &mut self.flights {
            flights.push((id, *flight));
        }
    }

    fn closed(&mut self, id: ConnectionId, report: &ConnectionReport) {
        if self.room == 0 {
            self.unlisted += 1;
        } else {
            self.room -= 1;
            self.connections.push((id, report.clone()));
        }
    }
}
