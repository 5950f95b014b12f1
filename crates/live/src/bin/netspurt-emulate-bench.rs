//! Measures the precision and the throughput of the emulator, for `tools/bench.py`.
//!
//! `netspurt-emulate-bench [SECONDS]` emulates a path three times, with datagrams in both directions or with one TCP
//! connection of the kernel, and prints delay errors and throughput. Without privileges it exits with status 77.
//! (`serve`, `fetch`, `echo` and `ask` are the programs that it runs on the hosts.)

use netspurt_live::emulator::{EmulateError, HostCommand, KernelTcp, Plan, Report, emulate};
use netspurt_sim::address;
use netspurt_sim::spec::{ChannelSpec, WorldSpec};
use netspurt_tcp::time::Span;
use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

/// The port of the servers.
const PORT: u16 = 5000;
/// The exit status with which test runners mark a skipped test.
const SKIPPED: i32 = 77;

fn main() -> io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let seconds = |word: Option<&String>| word.and_then(|word| word.parse().ok()).unwrap_or(3);
    match words.first().map(String::as_str) {
        Some("serve") => serve(),
        Some("fetch") => fetch(Duration::from_secs(seconds(words.get(1)))),
        Some("echo") => echo(),
        Some("ask") => ask(Duration::from_secs(seconds(words.get(1)))),
        _ => measure(seconds(words.first())),
    }
}

fn measure(seconds: u64) -> io::Result<()> {
    let ten = Span::from_ms(10);
    let hundred = ChannelSpec::new(100_000_000, ten).with_queue(200);
    let works = [
        ("datagrams", hundred.clone(), ["echo", "ask"]),
        ("at-100-mbit", hundred, ["serve", "fetch"]),
        ("no-limit", ChannelSpec { delay: Span::from_ms(1), ..ChannelSpec::default() }, ["serve", "fetch"]),
    ];
    for (name, link, programs) in works {
        match emulate(plan(&link, programs, seconds)?, &mut || false) {
            Ok(report) => print(name, &report),
            Err(error @ (EmulateError::NoNamespace(_) | EmulateError::Device(_))) => {
                eprintln!("skipped: {error}");
                std::process::exit(SKIPPED);
            }
            Err(error) => return Err(io::Error::other(error)),
        }
    }
    Ok(())
}

/// Two hosts: a client and a server.
fn plan(link: &ChannelSpec, [server, client]: [&str; 2], seconds: u64) -> io::Result<Plan> {
    let mut spec = WorldSpec::new("bench", Span::from_secs(seconds));
    let ends = [spec.node("client"), spec.node("server")];
    spec.link("path", ends, link);
    let myself = std::env::current_exe()?.into_os_string();
    let command = |host, words: [&str; 2]| HostCommand {
        host,
        words: std::iter::once(myself.clone()).chain(words.map(OsString::from)).collect(),
    };
    Ok(Plan {
        outside: None,
        spec,
        seed: 1,
        command: command(ends[0], [client, &seconds.to_string()]),
        beside: vec![command(ends[1], [server, ""])],
        mtu: 1500,
        tcp: KernelTcp { congestion: Some("cubic".to_owned()), initial_window: None },
        sysctls: Vec::new(),
        captures: Vec::new(),
    })
}

fn print(name: &str, report: &Report) {
    let back = &report.links[1];
    // Without packets there are no percentiles.
    let shown =
        |value: Option<f64>, digits: usize| value.map_or("-".to_owned(), |value| format!("{value:.digits$}"));
    let [p50, p99] =
        [0.5, 0.99].map(|share| back.error.spans.quantiles_s([share]).map(|[error]| error * 1e6));
    println!(
        "{name}  packets {}  error p50 {} us  p99 {} us  late {}  rate {} Mbit/s  drops {}  stolen {} s",
        back.packets,
        shown(p50, 1),
        shown(p99, 1),
        back.error.late,
        shown(back.rate_done.map(|rate| rate / 1e6), 1),
        back.drops.values().sum::<u64>(),
        shown(report.stolen, 2),
    );
}

fn serve() -> io::Result<()> {
    let listener = TcpListener::bind(("0.0.0.0", PORT))?;
    let (mut peer, _) = listener.accept()?;
    let piece = vec![7; 1 << 18];
    while peer.write_all(&piece).is_ok() {}
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "the clock of a measuring program does not affect what it measures"
)]
fn fetch(most: Duration) -> io::Result<()> {
    let (mut peer, begun) = (TcpStream::connect((address(1), PORT))?, Instant::now());
    let mut piece = vec![0; 1 << 18];
    while begun.elapsed() < most && peer.read(&mut piece)? > 0 {}
    Ok(())
}

fn echo() -> io::Result<()> {
    let socket = UdpSocket::bind(("0.0.0.0", PORT))?;
    let mut datagram = [0; 2048];
    loop {
        let (len, from) = socket.recv_from(&mut datagram)?;
        socket.send_to(&datagram[..len], from)?;
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the clock of a measuring program does not affect what it measures"
)]
fn ask(most: Duration) -> io::Result<()> {
    let (socket, begun) = (UdpSocket::bind(("0.0.0.0", 0))?, Instant::now());
    socket.connect((address(1), PORT))?;
    socket.set_read_timeout(Some(Duration::from_secs(1)))?;
    let mut datagram = [0; 2048];
    while begun.elapsed() < most {
        socket.send(&[0; 64])?;
        // A lost reply is not requested again; the next one is.
        let _ = socket.recv(&mut datagram);
    }
    Ok(())
}
