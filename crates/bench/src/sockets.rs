//! What watching sockets costs.
//!
//! `sockets [SOCKETS] [SECONDS]` opens this number of TCP sockets on the loopback interface (1000), half
//! of them in a process of their own, watches them at 10 Hz (10 s), and prints the CPU time of the watch.

use crate::Outcome;
use crate::clock::cpu_of_thread;
use crate::request::Request;
use netspurt_live::sockets::{Keep, Watch};
use std::io::{self, Read as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::time::Duration;

const INTERVAL: Duration = Duration::from_millis(100);

pub(crate) fn measure(request: &Request) -> Outcome {
    match request.word(0) {
        "connect" => connect(request.number(1, 1)?, request.number(2, 1)?)?,
        _ => watch(request.number(0, 1000)?, request.number(1, 10)?)?,
    }
    Ok(())
}

/// Opens connections, and holds them until the parent ends.
fn connect(connections: usize, port: u16) -> io::Result<()> {
    let server = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let _held: Vec<TcpStream> =
        (0..connections).map(|_| TcpStream::connect(server)).collect::<io::Result<_>>()?;
    io::stdin().read_to_end(&mut Vec::new()).map(|_| ())
}

#[expect(clippy::disallowed_methods, reason = "the polls are to be 100 ms apart")]
fn watch(sockets: usize, seconds: u64) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let port = listener.local_addr()?.port().to_string();
    let mut child = Command::new(std::env::current_exe()?)
        .args(["sockets", "connect", &(sockets / 2).to_string(), &port])
        .stdin(Stdio::piped())
        .spawn()?;
    let mut accepted = Vec::new();
    for _ in 0..sockets / 2 {
        accepted.push(listener.accept()?.0);
    }
    let mut watch = Watch::open(None, Keep::Sums).map_err(io::Error::other)?;
    watch.poll().map_err(io::Error::other)?;
    let (polls, before) = (10 * seconds, cpu_of_thread());
    for _ in 0..polls {
        std::thread::sleep(INTERVAL);
        watch.poll().map_err(io::Error::other)?;
    }
    let used = cpu_of_thread().saturating_sub(before);
    let watched = watch.sockets().count();
    let each = used.as_secs_f64() * 1e6 / (polls as f64 * watched as f64);
    let share = 100.0 * used.as_secs_f64() / (polls as f64 * INTERVAL.as_secs_f64());
    println!("sockets {watched} polls {polls} us a socket {each:.3} percent of a core {share:.3}");
    drop(child.stdin.take());
    child.wait().map(|_| ())
}
