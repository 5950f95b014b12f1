//! SACK blocks of one byte, which no receiver reports: the work and the memory that they cost a connection.

use super::Connection;
use crate::config::{Config, InitialWindow, profile};
use crate::ranges::work;
use crate::time::{Span, Time};
use crate::wire::options::{Options, SackBlock};
use crate::wire::segment::{Flags, Segment};
use crate::wire::seq::Seq;
use std::sync::Arc;

/// As many as CVE-2019-11478 needs to hurt.
const SLIVERS: u32 = 330_000;
/// Full segments of a megabyte.
const SEGMENTS: u64 = 718;
const ISS: Seq = Seq(1000);
const IRS: Seq = Seq(5000);

/// A connection with that many full segments in flight.
fn in_flight(profile: &str, segments: u64) -> (Connection, Time) {
    let config = Config {
        initial_window: InitialWindow::Segments(20_000),
        send_buffer: 1 << 30,
        initial_send_buffer: None,
        ..profile::by_name(profile).expect("a profile").config.clone()
    };
    let mut now = Time::ZERO;
    let mut tcp = Connection::new(Arc::new(config), ISS);
    tcp.open(now);
    assert!(tcp.poll_transmit(now).is_some());
    now += Span::from_ms(10);
    let options = Options { mss: Some(1460), window_scale: Some(10), sack_permitted: true, ..Options::NONE };
    let flags = Flags::SYN | Flags::ACK;
    tcp.handle_segment(now, &Segment { seq: IRS, ack: ISS.plus(1), flags, window: 60_000, options, ..ack() });
    assert!(tcp.poll_transmit(now).is_some());
    tcp.handle_segment(now, &ack());
    tcp.write(now, segments * 1460).expect("an open connection");
    while tcp.poll_transmit(now).is_some() {}
    assert_eq!(u64::from(tcp.flight()), segments * 1460);
    (tcp, now + Span::from_ms(10))
}

fn ack() -> Segment {
    Segment {
        seq: IRS.plus(1),
        ack: ISS.plus(1),
        flags: Flags::ACK,
        window: 60_000,
        header_len: 20,
        ..Segment::default()
    }
}

/// Reports the slivers, three an ACK, in an order without any. Returns the largest number of ranges that were kept, and
/// the largest work for one ACK with all that leaves because of it.
fn report(tcp: &mut Connection, now: Time, segments: u64) -> (u64, u64) {
    let (mut kept, mut most) = (0, 0);
    let places = segments as u32 * 1460 / 3 - 2;
    let _ = work::take();
    for n in 0..SLIVERS / 3 {
        let mut report = ack();
        for k in 0..3 {
            let left = ISS.plus(3 + 3 * ((3 * n + k).wrapping_mul(7919) % places));
            report.options.sack.push(SackBlock { left, right: left.plus(1) });
        }
        report.header_len = 48;
        tcp.handle_segment(now, &report);
        let mut steps = 1;
        while tcp.poll_transmit(now).is_some() {
            steps += 1;
        }
        kept = kept.max(tcp.info().sacked);
        most = most.max(work::take() / steps);
    }
    (kept, most)
}

#[test]
fn slivers_cost_logarithmic_work_and_no_more_memory_than_segments() {
    for profile in ["rfc", "freebsd", "linux"] {
        let [few, many] = [SEGMENTS, 16 * SEGMENTS].map(|segments| {
            let (mut tcp, now) = in_flight(profile, segments);
            let (kept, most) = report(&mut tcp, now, segments);
            println!("{profile}: {segments} segments, {kept} ranges, {most} elements for a step");
            assert!(kept <= 2 * segments, "{profile}: {kept} ranges of {segments} segments");
            most
        });
        assert!(few < 1500 && many < 2 * few, "{profile}: {few}, {many} elements for a step");
    }
}
