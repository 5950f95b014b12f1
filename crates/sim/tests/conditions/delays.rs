//! Delays that vary, on a link.

use crate::line::{MS, US, send};
use netspurt_sim::network::delay::{DelaySpec, Drawn, Kind, Recorded, Shape};
use netspurt_sim::spec::ChannelSpec;
use netspurt_tcp::time::Span;
use std::sync::Arc;

fn varying(kind: Kind, reorders: bool) -> ChannelSpec {
    ChannelSpec { varies: Some(DelaySpec { kind, reorders }), ..ChannelSpec::new(8_000_000, Span::ZERO) }
}

fn normal() -> Kind {
    let shape = Shape::Normal { mean: Span::from_ms(50), sd: Span::from_ms(5) };
    Kind::Drawn(Drawn { shape, correlation: 0.0 })
}

#[test]
fn packets_that_come_seldom_have_the_delays_that_are_drawn() {
    let sent: Vec<_> = (0..5000).map(|n| (n * 200 * MS, 1000)).collect();
    let passed = send(&varying(normal(), false), &sent);
    let delays: Vec<f64> =
        passed.arrived.iter().map(|&(n, at)| (at - sent[n].0 - 1000 * US) as f64 / MS as f64).collect();
    let n = delays.len() as f64;
    let mean = delays.iter().sum::<f64>() / n;
    let sd = (delays.iter().map(|delay| (delay - mean).powi(2)).sum::<f64>() / n).sqrt();
    assert!((mean - 50.0).abs() < 0.3 && (sd - 5.0).abs() < 0.2, "{mean} {sd}");
}

#[test]
fn order_is_kept_unless_the_link_is_set_to_reorder() {
    let sent: Vec<_> = (0..1000).map(|n| (n * MS, 1000)).collect();
    let kept = send(&varying(normal(), false), &sent);
    assert_eq!(kept.numbers(), (0..1000).collect::<Vec<_>>());
    let free = send(&varying(normal(), true), &sent);
    let mut numbers = free.numbers();
    assert_ne!(numbers, kept.numbers());
    numbers.sort_unstable();
    assert_eq!(numbers, kept.numbers(), "none is lost");
    // Who waits for those before is later, and nobody is earlier.
    let mut by_number = free.arrived;
    by_number.sort_unstable();
    let mut latest = 0;
    for ((number, kept), (_, free)) in kept.arrived.iter().zip(by_number) {
        latest = latest.max(free);
        assert_eq!(*kept, latest, "packet {number}");
    }
}

#[test]
fn a_recorded_delay_is_that_of_the_time_at_which_a_packet_leaves() {
    let values = [(0, Span::from_ms(10)), (20 * MS, Span::from_ms(30)), (60 * MS, Span::from_ms(1))];
    let recorded = Recorded::new(&values, None).unwrap();
    let link = varying(Kind::Recorded(Arc::new(recorded)), false);
    // The second packet leaves at 20 ms; the third would overtake the second.
    let passed = send(&link, &[(0, 1000), (19 * MS, 1000), (39 * MS, 1000), (90 * MS, 1000)]);
    assert_eq!(passed.times(), [11, 50, 70, 92].map(|ms| ms * MS));
}
