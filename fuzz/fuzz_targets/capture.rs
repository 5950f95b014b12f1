//! Any file taken for a capture: reading ends, with or without damage, and what was followed adds up.
#![no_main]

use libfuzzer_sys::fuzz_target;
use netspurt_trace::capture::CaptureReader;
use netspurt_trace::follow::{ConnectionId, ConnectionReport, Limits, RttSample, Watch, follow};
use std::io::Cursor;
use std::path::Path;

/// pcap, little-endian, microseconds, raw IP: what follows are records.
const HEADER: [u8; 24] =
    [0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 101, 0, 0, 0];

/// Counts what it is told, and finds fault with what cannot be.
#[derive(Default)]
struct Sums {
    packets: u64,
    open: i64,
}

impl Watch for Sums {
    fn opened(&mut self, _: ConnectionId, _: &netspurt_trace::follow::Endpoints) {
        self.open += 1;
    }

    fn sample(&mut self, _: ConnectionId, sample: &RttSample) {
        assert!(sample.sent <= sample.at, "measured before it was sent");
        assert!(sample.len > 0, "nothing was answered");
    }

    fn closed(&mut self, _: ConnectionId, report: &ConnectionReport) {
        self.open -= 1;
        for stream in &report.streams {
            self.packets += stream.packets;
            assert!(stream.segments <= stream.packets);
            assert!(stream.retransmissions() <= stream.segments);
            assert!(stream.spurious <= stream.retransmissions());
        }
    }
}

fuzz_target!(|input: &[u8]| {
    let Some((&choice, bytes)) = input.split_first() else { return };
    let file = if choice & 1 == 0 { bytes.to_vec() } else { packets(bytes) };
    let Ok(mut reader) = CaptureReader::new(Box::new(Cursor::new(file)), Path::new("fuzzed")) else { return };
    let mut sums = Sums::default();
    let (tally, _) = follow(&mut reader, Limits::default(), &mut sums);
    assert_eq!(sums.open, 0, "each connection that was opened is closed");
    assert_eq!(sums.packets, tally.segments, "each segment belongs to a connection");
    assert!(tally.segments <= tally.packets);
});

/// A capture that is whole, of packets that are not: each piece of the input begins with its length and the time since the
/// piece before.
fn packets(mut bytes: &[u8]) -> Vec<u8> {
    let mut file = HEADER.to_vec();
    let mut micros = 0_u32;
    while let [len, gap, rest @ ..] = bytes {
        let (packet, rest) = rest.split_at(usize::from(*len).min(rest.len()));
        micros += u32::from(*gap);
        let size = packet.len() as u32;
        for word in [micros / 1_000_000, micros % 1_000_000, size, size] {
            file.extend(word.to_le_bytes());
        }
        file.extend(packet);
        bytes = rest;
    }
    file
}
