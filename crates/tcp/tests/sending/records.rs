//! Ends of records, as MSG_EOR sets them in Linux: no segment carries bytes from both sides of one.

use crate::common::lone::{FULL, Lone, Out, ack, plain};
use netspurt_tcp::config::{Config, InitialWindow};
use netspurt_tcp::time::Span;
use netspurt_tcp::transmit::Transmit;

/// An MSS of 1000, a window of ten segments, and Nagle's rule.
fn lone() -> Lone {
    let config = Config {
        mss: 1000,
        initial_window: InitialWindow::Segments(10),
        transmit: Transmit::NagleStrict,
        ..plain()
    };
    Lone::established(config, FULL, 60_000)
}

fn ranges(out: &[Out]) -> Vec<(i64, u32)> {
    out.iter().map(|o| (i64::from(o.seq), o.segment.payload.len)).collect()
}

/// Writes records of these lengths while the window is full, and returns the segments that leave when it opens.
fn queued(lone: &mut Lone, records: &[u64]) -> Vec<Out> {
    assert_eq!(lone.writes(10_000).len(), 10);
    for &len in records {
        assert_eq!(lone.writes(len), []);
        lone.c.end_record();
    }
    lone.gets(ack(1, 10_001, 60_000))
}

#[test]
fn no_segment_spans_the_end_of_a_record() {
    let mut lone = lone();
    let out = queued(&mut lone, &[400, 1500, 300, 700]);
    // The last record is the end of all data: Nagle's rule holds it.
    assert_eq!(ranges(&out), [(10_001, 400), (10_401, 1000), (11_401, 500), (11_901, 300)]);
    assert_eq!(ranges(&lone.gets(ack(1, 12_201, 60_000))), [(12_201, 700)]);
}

#[test]
fn a_retransmission_keeps_to_its_record() {
    let mut lone = lone();
    queued(&mut lone, &[400, 400, 400]);
    // After the timeout the two records could share a segment.
    let again = lone.passes(Span::from_secs(2));
    assert_eq!(ranges(&again), [(10_001, 400), (10_401, 400)]);
}

#[test]
fn an_acknowledged_record_separates_nothing() {
    let mut lone = lone();
    lone.c.end_record();
    lone.writes(500);
    lone.c.end_record();
    lone.gets(ack(1, 501, 60_000));
    assert_eq!(ranges(&lone.writes(2000)), [(501, 1000), (1501, 1000)]);
}

#[test]
fn a_record_above_our_own_cap_leaves_in_parts() {
    let config = Config { send_window: Some(300), ..plain() };
    let mut lone = Lone::established(config, FULL, 60_000);
    lone.writes(0);
    lone.c.write(lone.now, 400).unwrap();
    lone.c.end_record();
    lone.c.write(lone.now, 400).unwrap();
    assert_eq!(ranges(&lone.poll()), [(1, 300)]);
    assert_eq!(ranges(&lone.gets(ack(1, 301, 60_000))), [(301, 100), (401, 200)]);
}
