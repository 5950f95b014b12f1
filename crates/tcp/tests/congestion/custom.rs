//! A user's own algorithms take part without a change to the crate.

use crate::common::{End, Pair};
use netspurt_tcp::Connection;
use netspurt_tcp::config::{Config, InitialWindow};
use netspurt_tcp::congestion::{CongestionControl, Signal, Start, View};
use netspurt_tcp::event::Event;
use netspurt_tcp::profile;
use netspurt_tcp::reason::Hold;
use netspurt_tcp::rto::RtoEstimator;
use netspurt_tcp::segment::{Flags, Segment};
use netspurt_tcp::seq::Seq;
use netspurt_tcp::state::State;
use netspurt_tcp::time::{Span, Time};
use netspurt_tcp::transmit::{Policy, Situation};
use std::sync::{Arc, Mutex};

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
    let mut pair = Pair::new(Config { mss: 1000, ..reno.clone() }, reno, Span::from_ms(50));
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

/// Tells what it began with.
#[derive(Debug)]
struct Began(Arc<Mutex<Vec<Start>>>);

impl CongestionControl for Began {
    fn begin(&mut self, start: &Start) {
        self.0.lock().expect("nobody panics").push(*start);
    }
    fn on(&mut self, _: Signal, _: &View) {}
    fn cwnd(&self) -> u32 {
        2000
    }
    fn ssthresh(&self) -> u32 {
        u32::MAX
    }
}

#[test]
fn a_congestion_control_begins_again_when_the_size_of_segments_is_settled() {
    let reno = profile::by_name("reno").expect("a built-in profile").config.clone();
    let client = Config {
        mss: 1000,
        initial_window: InitialWindow::Segments(3),
        initial_ssthresh: 9000,
        ..reno.clone()
    };
    let server = Config { mss: 500, ..reno };
    let mut pair = Pair::new(client, server, Span::from_ms(50));
    let began = Arc::default();
    pair.client.set_congestion(Box::new(Began(Arc::clone(&began))));
    pair.open();
    let told: Vec<_> = began.lock().expect("nobody panics").iter().map(|s| (s.cwnd, s.ssthresh)).collect();
    assert_eq!(told, [(3000, 9000), (1500, 9000)]);
}

/// Holds every short segment, for nothing in particular.
#[derive(Debug)]
struct Never;

impl Policy for Never {
    fn hold(&self, _: &Situation) -> Option<Hold> {
        Some(Hold::Own)
    }
    fn is_released_by_acks(&self) -> bool {
        false
    }
}

#[test]
fn a_segment_held_by_a_custom_policy_is_sent_after_200_ms() {
    let reno = profile::by_name("reno").expect("a built-in profile").config.clone();
    let mut pair = Pair::new(Config { mss: 1000, ..reno.clone() }, reno, Span::from_ms(50));
    pair.client.set_transmit(Box::new(Never));
    let mut pair = pair.open();
    pair.write(End::Client, 1300);
    let began = pair.now;
    while pair.step(began + Span::from_ms(240)) {}
    assert_eq!((pair.server_read, pair.client.holding()), (1000, Hold::Own));
    while pair.step(began + Span::from_secs(2)) {}
    assert_eq!(pair.server_read, 1300);
}

#[test]
fn the_users_own_algorithms_and_the_record_stay_when_a_listener_is_reset() {
    let reno = profile::by_name("reno").expect("a built-in profile").config.clone();
    let mut listener = Connection::listen(Arc::new(Config { mss: 1000, ..reno }), Seq(1));
    listener.set_congestion(Box::new(TwoSegments));
    listener.set_rto(Box::new(TwiceTheLast::default()));
    listener.record_events(true);
    let syn =
        |seq, flags| Segment { seq: Seq(seq), flags, window: 9000, header_len: 20, ..Segment::default() };
    listener.handle_segment(Time::ZERO, &syn(100, Flags::SYN));
    assert!(listener.poll_transmit(Time::ZERO).is_some());
    listener.handle_segment(Time::ZERO, &syn(101, Flags::RST));
    assert_eq!(
        (listener.state(), listener.cwnd(), listener.rto()),
        (State::Listen, 2000, Span::from_secs(7))
    );
    let states = core::iter::from_fn(|| listener.poll_event()).filter_map(|(_, event)| match event {
        Event::State { from, to } => Some((from, to)),
        _ => None,
    });
    let expected = [(State::Listen, State::SynReceived), (State::SynReceived, State::Listen)];
    assert_eq!(states.collect::<Vec<_>>(), expected);
    let stats = listener.stats();
    assert_eq!((stats.segments_received, stats.segments_sent), (2, 1));
}
