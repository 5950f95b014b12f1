//! Benchmarks of the simulator: `bulk`, `web` and `idle` of the project's performance goals.
//!
//! `netspurt-bench bulk [FLOWS] [SECONDS] [newreno|delayed|linux|linux-each] [fused|plain] [THREADS]` prints what was done
//! and how fast. `linux-each` acknowledges every segment, as `newreno` does here. For instructions run it under `valgrind --tool=callgrind` with two lengths and take the difference.
//! `netspurt-bench web [SECONDS] [SEED]` does the same for many short connections.
//! `netspurt-bench scenario FILE [SEED]` runs a scenario file on one thread and does the same.
//! `netspurt-bench idle [FLOWS]` prints the resident memory that each idle flow costs.

use netspurt_scenario::Scenario;
use netspurt_sim::World;
use netspurt_sim::host::app::AppSpec;
use netspurt_sim::network::loss::Cause;
use netspurt_sim::parallel::{self, Partition};
use netspurt_sim::record::result::SessionResult;
use netspurt_sim::spec::{ChannelSpec, WorldSpec};
use netspurt_tcp::acking::Acking;
use netspurt_tcp::config::{Config, InitialWindow, MssCounts, Recovery, WindowOption};
use netspurt_tcp::congestion;
use netspurt_tcp::profile;
use netspurt_tcp::time::{Span, Time};
use std::process::ExitCode;
use std::sync::Arc;

const MSS: u16 = 1460;

/// NewReno with SACK; `ssthresh` in bytes.
fn newreno(ssthresh: u32) -> Config {
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

#[expect(clippy::disallowed_methods, reason = "a benchmark measures wall-clock time")]
fn now() -> std::time::Instant {
    std::time::Instant::now()
}

fn bulk(flows: u32, duration: Span, tcp: fn(u32) -> Config, fuse: bool, threads: usize) {
    let mut spec = dumbbell(flows, duration, tcp, AppSpec::Bulk { bytes: None });
    spec.fuse = fuse;
    let begun = now();
    let partition = Partition::best(&spec, threads);
    let mut result = parallel::run(spec, 1, partition.as_ref(), &mut |_| false).expect("a connected world");
    result.performance.took(begun.elapsed().as_secs_f64());
    let performance = result.performance;
    let delivered: u64 = result.flows.iter().map(|flow| flow.bytes_delivered).sum();
    let retransmitted: u64 = result.flows.iter().map(|flow| u64::from(flow.retransmitted)).sum();
    let timeouts: u64 = result.flows.iter().map(|flow| u64::from(flow.timeouts)).sum();
    println!(
        "flows {flows}  data packets {}  events {}  wall {:.3} s  {:.2} million data packets/s  \
         goodput {:.1} Mbit/s  utilisation {:.4}  retransmitted {retransmitted}  timeouts {timeouts}  \
         queue {:.0} (max {})  digest {}",
        performance.data_packets,
        performance.events,
        performance.wall_s.unwrap_or(0.0),
        performance.data_packets_per_s.unwrap_or(0.0) * 1e-6,
        delivered as f64 * 8e-6 / duration.as_secs_f64(),
        result.links[0].utilisation,
        result.links[0].queue_mean_packets,
        result.links[0].queue_max_packets,
        result.digest,
    );
}

/// The load of RFC 2415: sixteen people with web pages and one with large files behind a T1 line, for so many seconds.
fn web(seconds: u32, seed: u64) {
    let scenario = Scenario::parse(WEB, "web", &[("duration", &format!("\"{seconds} s\""))]);
    let spec = scenario.and_then(|scenario| scenario.build("web")).expect("a good scenario");
    let begun = now();
    let mut result = World::new(spec, seed, None).expect("a connected world").run(&|| false);
    result.performance.took(begun.elapsed().as_secs_f64());
    let performance = result.performance;
    let count = |of: fn(&SessionResult) -> u64| -> u64 {
        result.groups.iter().filter_map(|group| group.session.as_ref()).map(of).sum()
    };
    println!(
        "web {seconds} s  data packets {}  events {}  wall {:.3} s  {:.2} million data packets/s  pages {}  \
         connections {}  drops {}  utilisation {:.4}  digest {}",
        performance.data_packets,
        performance.events,
        performance.wall_s.unwrap_or(0.0),
        performance.data_packets_per_s.unwrap_or(0.0) * 1e-6,
        count(|session| session.pages),
        count(|session| u64::from(session.connections)),
        result.links[1].drops_by(Cause::Queue),
        result.links[1].utilisation,
        result.digest,
    );
}

/// A scenario file.
fn scenario(file: &str, seed: u64) -> Result<(), String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let scenario = Scenario::parse(&text, file, &[]).map_err(|error| error.to_string())?;
    let spec = scenario.build(file).map_err(|error| error.to_string())?;
    let world = World::new(spec, seed, None).map_err(|error| format!("{file}: {error:?}"))?;
    let begun = now();
    let mut result = world.run(&|| false);
    result.performance.took(begun.elapsed().as_secs_f64());
    let performance = result.performance;
    println!(
        "{file}  data packets {}  events {}  wall {:.3} s  {:.2} million data packets/s  digest {}",
        performance.data_packets,
        performance.events,
        performance.wall_s.unwrap_or(0.0),
        performance.data_packets_per_s.unwrap_or(0.0) * 1e-6,
        result.digest,
    );
    Ok(())
}

/// See [`web`].
const WEB: &str = r#"duration = "360 s"
[link.line]
between = ["left", "right"]
rate = "1.5 Mbit/s"
delay = "25 ms"
queue = { kind = "drop-tail", limit = "25 packets" }
[link.clients]
between = ["client", "left"]
rate = "10 Mbit/s"
delay = "4 ms"
[link.servers]
between = ["right", "server"]
rate = "10 Mbit/s"
delay = "4 ms"
[tcp]
profile = "reno"
mss = "1460 B"
receive_window = "16060 B"
[[flow]]
from = "client"
to = "server"
count = 16
[flow.app]
kind = "web"
files = 4
size = { kind = "lomax", median = "1500 B", shape = 1.2, max = "1 MB" }
think = { kind = "uniform", min = "1 s", max = "5 s" }
first = { kind = "uniform", min = "0 s", max = "5 s" }
[[flow]]
app = { kind = "files", size = "1 MB" }
from = "client"
to = "server"
"#;

/// Resident memory in bytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) * 1024
}

/// Flows that exchange one small message and then wait, on one pair of hosts.
fn idle(flows: u32) {
    let mut spec = WorldSpec::new("idle", Span::from_secs(3600));
    let ends = [spec.node("a"), spec.node("b")];
    spec.link("l", ends, &ChannelSpec::new(100_000_000_000, Span::from_us(10)));
    let config = Arc::new(newreno(1 << 20));
    let app =
        AppSpec::RequestResponse { request: 100, response: 100, exchanges: 2, gap: Span::from_secs(1800) };
    let before = resident();
    let alike = spec.flow("idle", ends, app, &config);
    (alike.count, alike.stagger) = (flows, Span::from_us(10));
    let described = resident();
    let mut world = World::new(spec, 1, None).expect("a connected world");
    world.run_until(Time::ZERO + Span::from_secs(900));
    let settled = resident();
    let each = |bytes: u64| bytes as f64 / f64::from(flows);
    let alive = (0..flows).filter(|&flow| world.connections(flow).is_some()).count();
    println!(
        "idle flows {flows} (alive {alive})  {:.0} bytes each, of which {:.0} description; connection {} bytes, \
         events {}",
        each(settled.saturating_sub(before)),
        each(described.saturating_sub(before)),
        size_of::<netspurt_tcp::Connection>(),
        world.network().events(),
    );
}

fn main() -> ExitCode {
    match measure() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("netspurt-bench: {why}");
            ExitCode::FAILURE
        }
    }
}

fn measure() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let word = |i: usize| arguments.get(i).map_or("", String::as_str);
    let number = |i: usize, default: u32| word(i).parse().unwrap_or(default);
    match word(0) {
        "idle" => idle(number(1, 100_000)),
        "scenario" => scenario(word(1), u64::from(number(2, 1)))?,
        "web" => web(number(1, 360), u64::from(number(2, 1))),
        "bulk" => {
            let tcp = match word(3) {
                "delayed" => delayed,
                "linux" => linux,
                "linux-each" => linux_each,
                _ => newreno,
            };
            let duration = Span::from_secs(u64::from(number(2, 30)));
            bulk(number(1, 16), duration, tcp, word(4) != "plain", number(5, 1) as usize);
        }
        "" => {
            for flows in [1, 16, 256] {
                bulk(flows, Span::from_secs(30), newreno, true, 1);
            }
            web(3600, 1);
            idle(100_000);
        }
        other => return Err(format!("no such benchmark: {other:?} (bulk, web, scenario or idle)")),
    }
    Ok(())
}
