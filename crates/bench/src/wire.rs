//! The speed of our TCP against the kernel's TCP (CUBIC, its default) over a TUN device with packets of 1500
//! bytes, in a temporary network namespace. Needs root, or `unshare --user --map-root-user`.
//!
//! `wire receives|sends MEGABYTES [plain]` prints the bytes that our host received or sent, the seconds,
//! and the CPU seconds of its thread, kernel time included and alone. `wire receives MEGABYTES offload CONNECTIONS`
//! divides the bytes among connections that are open at once. `wire kernel MEGABYTES plain CONNECTIONS` does the
//! same with the kernel at both ends, over the loopback interface: what many connections cost without us.
//! `wire trips COUNT` prints percentiles of the RTT of one byte.

use crate::Outcome;
use crate::clock::{self, cpu_of_thread};
use crate::request::{Request, wrong};
use netspurt_live::host::app::{Sink, Source};
use netspurt_live::host::{Application, Driver, Host, Limits, Mss, Next, Other, Settings, Stream};
use netspurt_live::tun::{Device, Links, Network, Offload};
use netspurt_tcp::profile;
use netspurt_tcp::time::Time;
use nix::poll::PollFlags;
use nix::sched::{CloneFlags, unshare};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::TcpCongestion;
use std::error::Error;
use std::ffi::OsString;
use std::io::{Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::time::Instant;

const OURS: Ipv4Addr = Ipv4Addr::new(10, 99, 1, 2);
const MTU: u32 = 1500;
/// As `netspurt host` sets it.
const QUEUE: u32 = 10_000;
const MEGABYTE: usize = 1_000_000;

pub(crate) fn measure(request: &Request) -> Outcome {
    let count = request.number::<usize>(1, 1000)?;
    let offload = if request.word(2) == "plain" { Offload::Nothing } else { Offload::Segments };
    let connections = request.number::<usize>(3, 1)?.max(1);
    unshare(CloneFlags::CLONE_NEWNET)?;
    let device = Device::create("bench", offload)?;
    let (links, index) = (Links::open()?, Links::index("bench")?);
    links.set_mtu(index, MTU)?;
    links.set_queue(index, QUEUE)?;
    links.set_up(index)?;
    links.add_address(index, "10.99.1.1/24".parse()?)?;
    let total = count * MEGABYTE;
    let stop = Arc::new(EventFd::from_flags(EfdFlags::EFD_NONBLOCK)?);
    let thread = std::thread::Builder::new().name("host".to_owned()).spawn({
        let stop = Arc::clone(&stop);
        move || run(device, total, &stop)
    })?;
    match request.word(0) {
        "receives" if connections > 1 => receives_from_many((OURS, 9), total, connections)?,
        "kernel" => kernel_receives(&links, total, connections)?,
        "" | "receives" => receives(total)?,
        "sends" => sends(total)?,
        "trips" => trips(count)?,
        other => return Err(wrong(format!("no such measurement: {other}"))),
    }
    stop.write(1)?;
    let (cpu, own) = thread.join().map_err(|_| "the host's thread failed")??;
    println!("host cpu seconds {cpu}  outside the kernel {own}");
    Ok(())
}

/// Runs the host until it is stopped. Returns its CPU time, and how much of it was outside the kernel.
fn run(device: Device, total: usize, stop: &EventFd) -> Result<(f64, f64), String> {
    let config = profile::by_name("linux").ok_or("no such profile")?.config.clone();
    let networks = vec![Network { address: IpAddr::V4(OURS), bits: 24 }];
    let settings =
        Settings { networks, mtu: MTU, config, mss: Mss::OfDevice, limits: Limits::default(), key: [7; 16] };
    let mut host = Host::new(settings).map_err(|error| error.to_string())?;
    host.listen(9, Box::new(|_| Some(Box::new(Sink))));
    host.listen(19, Box::new(move |_| Some(Box::new(Source::new(Some(total as u64))))));
    host.listen(7, Box::new(|_| Some(Box::new(Echo))));
    let mut driver = Driver::new(host, device, None);
    loop {
        let mut others = [Other::new(stop.as_fd(), PollFlags::POLLIN)];
        driver.turn(&mut others, Time::NEVER).map_err(|error| error.to_string())?;
        if !others[0].events.is_empty() {
            let usage = getrusage(UsageWho::RUSAGE_THREAD).map_err(|error| error.to_string())?;
            let own = usage.user_time();
            let own = own.tv_sec() as f64 + own.tv_usec() as f64 / 1e6;
            return Ok((cpu_of_thread().as_secs_f64(), own));
        }
    }
}

/// Returns every byte to the sender.
struct Echo;

impl Application for Echo {
    fn serve(&mut self, stream: &mut Stream<'_>) -> Next {
        let (first, second) = stream.readable();
        let bytes = [first, second].concat();
        let written = stream.write(&bytes);
        stream.consume(written);
        if stream.peer_finished() {
            stream.close();
        }
        Next::Waits
    }
}

fn connect(to: (Ipv4Addr, u16)) -> std::io::Result<TcpStream> {
    let stream = TcpStream::connect(to)?;
    setsockopt(&stream, TcpCongestion, &OsString::from("cubic"))?;
    Ok(stream)
}

fn receives(total: usize) -> std::io::Result<()> {
    let mut stream = connect((OURS, 9))?;
    let block = vec![7; 1 << 18];
    let begun = clock::now();
    let mut left = total;
    while left > 0 {
        left -= stream.write(&block[..block.len().min(left)])?;
    }
    stream.shutdown(Shutdown::Write)?;
    // Our host closes when it has received everything.
    stream.read_to_end(&mut Vec::new())?;
    report(total, begun);
    Ok(())
}

/// The same from many kernel connections at once, all of them written to by one thread.
fn receives_from_many(to: (Ipv4Addr, u16), total: usize, connections: usize) -> Result<(), Box<dyn Error>> {
    let share = total / connections;
    let block = vec![7; 1 << 16];
    let mut streams = Vec::with_capacity(connections);
    let epoll = Epoll::new(EpollCreateFlags::empty())?;
    for index in 0..connections {
        let stream = connect(to)?;
        stream.set_nonblocking(true)?;
        epoll.add(&stream, EpollEvent::new(EpollFlags::EPOLLOUT, index as u64))?;
        streams.push((stream, share));
    }
    let begun = clock::now();
    let mut ready = vec![EpollEvent::empty(); 64];
    let mut open = connections;
    while open > 0 {
        let count = epoll.wait(&mut ready, EpollTimeout::NONE)?;
        for event in &ready[..count] {
            let (stream, left) = &mut streams[event.data() as usize];
            // One block a turn, so that no connection is far ahead of the others.
            match stream.write(&block[..block.len().min(*left)]) {
                Ok(len) => *left -= len,
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error.into()),
            }
            if *left == 0 {
                epoll.delete(&*stream)?;
                stream.shutdown(Shutdown::Write)?;
                open -= 1;
            }
        }
    }
    for (stream, _) in &mut streams {
        stream.set_nonblocking(false)?;
        stream.read_to_end(&mut Vec::new())?;
    }
    report(share * connections, begun);
    Ok(())
}

/// The same with the kernel as the receiver, too.
fn kernel_receives(links: &Links, total: usize, connections: usize) -> Result<(), Box<dyn Error>> {
    links.set_up(Links::index("lo")?)?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 9))?;
    let receiver = std::thread::spawn(move || kernel_reads(&listener, connections));
    receives_from_many((Ipv4Addr::LOCALHOST, 9), total, connections)?;
    Ok(receiver.join().map_err(|_| "the receiver failed")??)
}

/// Accepts connections, and reads from all of them until their ends.
fn kernel_reads(listener: &TcpListener, connections: usize) -> std::io::Result<()> {
    let epoll = Epoll::new(EpollCreateFlags::empty())?;
    let mut streams = Vec::with_capacity(connections);
    for index in 0..connections {
        let (stream, _) = listener.accept()?;
        epoll.add(&stream, EpollEvent::new(EpollFlags::EPOLLIN, index as u64))?;
        streams.push(Some(stream));
    }
    let (mut ready, mut block) = (vec![EpollEvent::empty(); 64], vec![0; 1 << 18]);
    let mut open = connections;
    while open > 0 {
        let count = epoll.wait(&mut ready, EpollTimeout::NONE)?;
        for event in &ready[..count] {
            let stream = &mut streams[event.data() as usize];
            if let Some(reading) = stream
                && reading.read(&mut block)? == 0
            {
                // Its end closes it, which takes it from the list, too.
                *stream = None;
                open -= 1;
            }
        }
    }
    Ok(())
}

fn sends(total: usize) -> std::io::Result<()> {
    let mut stream = connect((OURS, 19))?;
    let mut block = vec![0; 1 << 18];
    let begun = clock::now();
    let mut got = 0;
    loop {
        match stream.read(&mut block)? {
            0 => break,
            len => got += len,
        }
    }
    assert_eq!(got, total, "all that was sent");
    report(got, begun);
    Ok(())
}

fn report(bytes: usize, begun: Instant) {
    println!("bytes {bytes}  seconds {}", begun.elapsed().as_secs_f64());
}

fn trips(count: usize) -> std::io::Result<()> {
    let mut stream = connect((OURS, 7))?;
    stream.set_nodelay(true)?;
    let mut times = Vec::with_capacity(count);
    let mut byte = [0];
    for _ in 0..count.max(1) {
        let begun = clock::now();
        stream.write_all(&byte)?;
        stream.read_exact(&mut byte)?;
        times.push(begun.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    let at = |share: usize| times[(times.len() - 1) * share / 100];
    println!("p50 us {}  p99 us {}", at(50), at(99));
    Ok(())
}
