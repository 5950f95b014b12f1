//! What TCP itself costs: two connections that hand each other segments, without a network between them.
//!
//! `loopback [SEGMENTS]`; for instructions run it under `valgrind --tool=callgrind` with two lengths and take the
//! difference.

use netspurt_tcp::config::{Config, InitialWindow, MssCounts, Recovery, WindowOption};
use netspurt_tcp::seq::Seq;
use netspurt_tcp::time::{Span, Time};
use netspurt_tcp::{Connection, congestion, profile};
use std::collections::VecDeque;
use std::sync::Arc;

fn main() {
    let wanted: u64 = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(1_000_000);
    let newreno = profile::by_name("newreno").expect("a built-in profile").config.clone();
    let config = Arc::new(Config {
        mss: 1460,
        mss_counts: MssCounts::Data,
        receive_window: 1 << 20,
        send_buffer: 1 << 50,
        window_option: WindowOption::Rfc7323,
        timestamps: false,
        sack: true,
        recovery: Recovery::Sack,
        congestion: congestion::Kind::NewReno,
        initial_window: InitialWindow::Segments(2),
        initial_ssthresh: 40 * 1460,
        acking: netspurt_tcp::acking::Acking::EverySegment,
        ..newreno
    });
    let mut now = Time::ZERO;
    let mut ends = [Connection::new(Arc::clone(&config), Seq(1)), Connection::listen(config, Seq(1))];
    let mut wire: VecDeque<(usize, netspurt_tcp::segment::Segment)> = VecDeque::new();
    ends[0].open(now);
    let (mut written, mut data) = (false, 0_u64);
    let mut segment = netspurt_tcp::segment::Segment::default();
    while data < wanted {
        for (end, connection) in ends.iter_mut().enumerate() {
            let _ = connection.read(now, u64::MAX);
            while let Some(departure) = connection.transmit_into(now, &mut segment) {
                data += u64::from(segment.payload.len > 0);
                wire.push_back((1 - end, segment));
                if departure.last {
                    break;
                }
            }
        }
        let (to, arrived) = wire.pop_front().expect("segments flow for ever");
        now += Span::from_us(10);
        ends[to].handle_segment(now, &arrived);
        if !written && ends[0].state().is_synchronized() {
            written = ends[0].write(now, 1 << 49).is_ok();
        }
    }
    println!("{data} data segments, {} bytes delivered", ends[1].received());
}
