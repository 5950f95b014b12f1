//! Reads and follows captures.
//!
//! `capture FILE…` prints totals over all files.

use crate::Outcome;
use crate::request::Request;
use netspurt_trace::capture::CaptureReader;
use netspurt_trace::follow::{ConnectionId, ConnectionReport, Limits, RttSample, Watch, follow};
use std::path::Path;

#[derive(Default)]
struct Found {
    connections: u64,
    samples: u64,
    retransmitted: u64,
}

impl Watch for Found {
    fn sample(&mut self, _: ConnectionId, _: &RttSample) {
        self.samples += 1;
    }

    fn closed(&mut self, _: ConnectionId, report: &ConnectionReport) {
        self.connections += 1;
        self.retransmitted += report.streams.iter().map(|stream| stream.retransmissions()).sum::<u64>();
    }
}

pub(crate) fn measure(request: &Request) -> Outcome {
    let mut found = Found::default();
    let (mut octets, mut packets) = (0, 0);
    for name in request.words() {
        let mut reader = CaptureReader::open(Path::new(name))?;
        let (tally, outcome) = follow(&mut reader, Limits::default(), &mut found);
        outcome?;
        octets += reader.octets_of_file();
        packets += tally.packets;
    }
    let Found { connections, samples, retransmitted } = found;
    println!(
        "octets {octets}  packets {packets}  connections {connections}  samples {samples}  retransmitted {retransmitted}"
    );
    Ok(())
}
