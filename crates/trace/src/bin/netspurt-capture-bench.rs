//! Measures reading and following of captures, for `tools/bench.py`.
//!
//! `netspurt-capture-bench FILE…` prints totals over all files.

use netspurt_trace::capture::CaptureReader;
use netspurt_trace::follow::{ConnectionId, ConnectionReport, Limits, RttSample, Watch, follow};
use std::path::Path;
use std::process::ExitCode;

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

fn main() -> ExitCode {
    let mut found = Found::default();
    let (mut octets, mut packets) = (0, 0);
    for name in std::env::args().skip(1) {
        let mut reader = match CaptureReader::open(Path::new(&name)) {
            Ok(reader) => reader,
            Err(error) => return fail(&error),
        };
        let (tally, outcome) = follow(&mut reader, Limits::default(), &mut found);
        if let Err(damage) = outcome {
            return fail(&damage);
        }
        octets += reader.octets_of_file();
        packets += tally.packets;
    }
    let Found { connections, samples, retransmitted } = found;
    println!(
        "octets {octets}  packets {packets}  connections {connections}  samples {samples}  retransmitted {retransmitted}"
    );
    ExitCode::SUCCESS
}

fn fail(error: &dyn core::fmt::Display) -> ExitCode {
    eprintln!("netspurt-capture-bench: {error}");
    ExitCode::FAILURE
}
