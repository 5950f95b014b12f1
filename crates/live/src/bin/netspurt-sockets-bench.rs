//! Measures what watching sockets costs, for `tools/bench.py`.
//!
//! `netspurt-sockets-bench [SOCKETS] [SECONDS]` opens this number of TCP sockets on the loopback interface (1000), half
//! of them in a process of their own, watches them at 10 Hz (10 s), and prints the CPU time of the watch.

use netspurt_live::sockets::{Keep, Watch};
use nix::time::{ClockId, clock_gettime};
use std::io::{self, Read as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::time::Duration;

const INTERVAL: Duration = Duration::from_millis(100);

fn main() -> io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, otherwise| words.get(at).and_then(|word| word.parse().ok()).unwrap_or(otherwise);
    match words.first().map(String::as_str) {
        Some("connect") => connect(number(1, 1) as usize, number(2, 1) as u16),
        _ => measure(number(0, 1000) as usize, number(1, 10)),
    }
}

/// Opens connections, and holds them until the parent ends.
fn connect(connections: usize, port: u16) -> io::Result<()> {
    let server = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let _held: Vec<TcpStream> =
        (0..connections).map(|_| TcpStream::connect(server)).collect::<io::Result<_>>()?;
    io::stdin().read_to_end(&mut Vec::new()).map(|_| ())
}

#[expect(clippy::disallowed_methods, reason = "the polls are to be 100 ms apart")]
fn measure(sockets: usize, seconds: u64) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let port = listener.local_addr()?.port().to_string();
    let mut child = Command::new(std::env::current_exe()?)
        .args(["connect", &(sockets / 2).to_string(), &port])
        .stdin(Stdio::piped())
        .spawn()?;
    let mut accepted = Vec::new();
    for _ in 0..sockets / 2 {
        accepted.push(listener.accept()?.0);
    }
    let mut watch = Watch::open(None, Keep::Sums).map_err(io::Error::other)?;
    watch.poll().map_err(io::Error::other)?;
    let (polls, before) = (10 * seconds, cpu());
    for _ in 0..polls {
        std::thread::sleep(INTERVAL);
        watch.poll().map_err(io::Error::other)?;
    }
    let used = cpu().saturating_sub(before);
    let watched = watch.sockets().count();
    let each = used.as_secs_f64() * 1e6 / (polls as f64 * watched as f64);
    let share = 100.0 * used.as_secs_f64() / (polls as f64 * INTERVAL.as_secs_f64());
    println!("sockets {watched} polls {polls} us a socket {each:.3} percent of a core {share:.3}");
    drop(child.stdin.take());
    child.wait().map(|_| ())
}

/// CPU time of this thread, in the kernel too.
fn cpu() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}
