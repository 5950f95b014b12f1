//! Long-lived flows over a dumb-bell topology: the work *bulk* of the performance goals.
//!
//! `bulk [FLOWS] [SECONDS] [newreno|delayed|linux|linux-each] [fused|plain] [THREADS]` prints what was done and how fast.
//! `linux-each` acknowledges every segment, as `newreno` does here. For instructions run it under `valgrind --tool=callgrind` with
//! two lengths and take the difference.

use crate::pace::pace;
use crate::request::{Request, wrong};
use crate::{Outcome, clock};
use netspurt_sim::host::app::AppSpec;
use netspurt_sim::parallel::{self, Partition};
use netspurt_sim::spec::{ChannelSpec, WorldSpec};
use netspurt_tcp::acking::Acking;
use netspurt_tcp::config::{Config, InitialWindow, MssCounts, Recovery, WindowOption};
use netspurt_tcp::congestion;
use netspurt_tcp::profile;
use netspurt_tcp::time::{Span, Time};
use std::sync::Arc;

const MSS: u16 = 1460;

/// NewReno with SACK; `ssthresh` in bytes.
pub(crate) fn newreno(ssthresh: u32) -> Config {
    let newreno = profile::by_name("newreno").expect("a built-in profile").config.clone();
    Config {
        mss: MSS,
        mss_counts: MssCounts::Data,
        receive_window: 16 << 20,
        send_buffer: 1 << 40,
        window_option: WindowOption::Rfc7323,
        timestamps: false,
        sack: true,
        recovery: Recovery::Sack,
        congestion: congestion::Kind::NewReno,
        initial_window: InitialWindow::Segments(2),
        initial_ssthresh: ssthresh,
        acking: Acking::EverySegment,
        ..newreno
    }
}

/// The same with an ACK for every other segment.
fn delayed(ssthresh: u32) -> Config {
    Config { acking: Acking::Delayed { every: 2, delay: Span::from_ms(40) }, ..newreno(ssthresh) }
}

/// Linux as it is, but for the size of its buffers and of its first slow start.
fn linux(ssthresh: u32) -> Config {
    let linux = profile::by_name("linux").expect("a built-in profile").config.clone();
    Config { receive_window: 16 << 20, send_buffer: 1 << 40, initial_ssthresh: ssthresh, ..linux }
}

/// The same with an ACK for every segment, to compare it with `newreno`.
fn linux_each(ssthresh: u32) -> Config {
    Config { acking: Acking::EverySegment, ..linux(ssthresh) }
}

/// N hosts, a router, the bottleneck, a router, N hosts.
fn dumbbell(flows: u32, duration: Span, tcp: fn(u32) -> Config, app: AppSpec) -> WorldSpec {
    // The pipe holds 2000 segments of bandwidth × delay and the queue 2000 more: slow start ends well inside.
    let share = (2400 / flows.max(1)).max(2);
    let config = Arc::new(tcp(share * u32::from(MSS)));
    let mut spec = WorldSpec::new("bulk", duration);
    let (left, right) = (spec.node("left"), spec.node("right"));
    let bottleneck = ChannelSpec::new(1_000_000_000, Span::from_ms(10)).with_queue(2000);
    spec.link("bottleneck", [left, right], &bottleneck);
    for i in 0..flows {
        let (from, to) = (spec.node(&format!("a{i}")), spec.node(&format!("b{i}")));
        let access = ChannelSpec::new(10_000_000_000, Span::from_ms(1));
        spec.link(&format!("a{i}"), [from, left], &access);
        spec.link(&format!("b{i}"), [right, to], &access);
        // Staggered over a tenth of a second, so that the flows do not beat in time.
        spec.flow("bulk", [from, to], app.clone(), &config).start =
            Time::ZERO + Span::from_ms(100).scale(u64::from(i), u64::from(flows));
    }
    spec
}

pub(crate) fn measure(request: &Request) -> Outcome {
    let tcp = match request.word(2) {
        "" | "newreno" => newreno,
        "delayed" => delayed,
        "linux" => linux,
        "linux-each" => linux_each,
        other => {
            let what = format!("expected newreno, delayed, linux or linux-each, not {other:?}");
            return Err(wrong(what));
        }
    };
    let fuse = match request.word(3) {
        "" | "fused" => true,
        "plain" => false,
        other => return Err(wrong(format!("expected fused or plain, not {other:?}"))),
    };
    let duration = Span::from_secs(request.number(1, 30)?);
    bulk(request.number(0, 16)?, duration, tcp, fuse, request.number(4, 1)?);
    Ok(())
}

fn bulk(flows: u32, duration: Span, tcp: fn(u32) -> Config, fuse: bool, threads: usize) {
    let mut spec = dumbbell(flows, duration, tcp, AppSpec::Bulk { bytes: None });
    spec.fuse = fuse;
    let begun = clock::now();
    let partition = Partition::best(&spec, threads);
    let result = parallel::run(spec, 1, partition.as_ref(), &mut |_| false).expect("a connected world");
    let pace = pace(result.performance, begun);
    let delivered: u64 = result.flows.iter().map(|flow| flow.bytes_delivered).sum();
    let retransmitted: u64 = result.flows.iter().map(|flow| u64::from(flow.retransmitted)).sum();
    let timeouts: u64 = result.flows.iter().map(|flow| u64::from(flow.timeouts)).sum();
    println!(
        "flows {flows}  {pace}  \
         goodput {:.1} Mbit/s  utilisation {:.4}  retransmitted {retransmitted}  timeouts {timeouts}  \
         queue {:.0} (max {})  digest {}",
        delivered as f64 * 8e-6 / duration.as_secs_f64(),
        result.links[0].utilisation,
        result.links[0].queue_mean_packets,
        result.links[0].queue_max_packets,
        result.digest,
    );
}
