//! A user's own algorithms take part without a change to the crate.

mod common;

use common::{End, Pair};
use netspurt_tcp::congestion::{CongestionControl, Signal, View};
use netspurt_tcp::profile;
use netspurt_tcp::rto::RtoEstimator;
use netspurt_tcp::time::Span;

/// Never more than two segments.
#[derive(Debug)]
struct TwoSegments;

impl CongestionControl for TwoSegments {
    fn on(&mut self, _: Signal, _: &View) {}
    fn cwnd(&self) -> u32 {
        2000
    }
    fn ssthresh(&self) -> u32 {
        u32::MAX
    }
}

/// Twice the last round trip.
#[derive(Debug, Default)]
struct TwiceTheLast(Option<Span>);

impl RtoEstimator for TwiceTheLast {
    fn sample(&mut self, rtt: Span) {
        self.0 = Some(rtt);
    }
    fn rto(&self) -> Span {
        self.0.map_or(Span::from_secs(7), |rtt| rtt + rtt)
    }
    fn srtt(&self) -> Option<Span> {
        self.0
    }
    fn max(&self) -> Span {
        Span::from_secs(60)
    }
}

#[test]
fn a_congestion_control_of_the_users_own_limits_the_flight() {
    let reno = profile::by_name("reno").expect("a built-in profile").config.clone();
    let mut pair =
        Pair::new(netspurt_tcp::config::Config { mss: 1000, ..reno.clone() }, reno, Span::from_ms(50));
    pair.client.set_congestion(Box::new(TwoSegments));
    let mut pair = pair.open();
    pair.write(End::Client, 100_000);
    let mut most = 0;
    while pair.step(pair.now + Span::from_secs(5)) {
        most = most.max(pair.client.flight());
    }
    assert_eq!((pair.server_read, most), (100_000, 2000));
}

#[test]
fn an_estimator_of_the_users_own_sets_the_timeout() {
    let reno = profile::by_name("reno").expect("a built-in profile").config.clone();
    let mut pair = Pair::new(reno.clone(), reno, Span::from_ms(50));
    pair.client.set_rto(Box::new(TwiceTheLast::default()));
    assert_eq!(pair.client.rto(), Span::from_secs(7));
    let pair = pair.open();
    assert_eq!(pair.client.rto(), Span::from_ms(200));
}
