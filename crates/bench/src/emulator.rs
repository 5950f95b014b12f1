//! The precision and the throughput of the emulator.
//!
//! `emulator [SECONDS]` emulates a path three times, with datagrams in both directions or with one TCP
//! connection of the kernel, and prints delay errors and throughput. Without privileges it is skipped.
//! (`serve`, `fetch`, `echo` and `ask` are the programs that it runs on the hosts.)

use crate::request::{Request, Skipped};
use crate::{Outcome, clock};
use netspurt_live::emulator::{EmulateError, HostCommand, KernelTcp, Plan, Report, emulate};
use netspurt_sim::address;
use netspurt_sim::spec::{ChannelSpec, WorldSpec};
use netspurt_tcp::time::Span;
use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::time::Duration;

/// The port of the servers.
const PORT: u16 = 5000;

pub(crate) fn measure(request: &Request) -> Outcome {
    let most = || request.number(1, 3).map(Duration::from_secs);
    match request.word(0) {
        "serve" => serve()?,
        "fetch" => fetch(most()?)?,
        "echo" => echo()?,
        "ask" => ask(most()?)?,
        _ => emulate_paths(request.number(0, 3)?)?,
    }
    Ok(())
}

fn emulate_paths(seconds: u64) -> Outcome {
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
                return Err(Skipped(error.to_string()).into());
            }
            Err(error) => return Err(error.into()),
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
    let command = |host, [program, seconds]: [&str; 2]| HostCommand {
        host,
        words: [myself.clone()]
            .into_iter()
            .chain(["emulator", program, seconds].map(OsString::from))
            .collect(),
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

fn fetch(most: Duration) -> io::Result<()> {
    let (mut peer, begun) = (TcpStream::connect((address(1), PORT))?, clock::now());
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

fn ask(most: Duration) -> io::Result<()> {
    let (socket, begun) = (UdpSocket::bind(("0.0.0.0", 0))?, clock::now());
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
